package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/report.schema.json anew")

const schemaFile = "../../docs/report.schema.json"

// TestSchema: the published schema is the one the model has, and a report with every field filled in obeys it.
func TestSchema(t *testing.T) {
	want := schema(t)
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, want, 0o644))
	}
	got, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the model changed: look at SchemaVersion, then run this test with -update")

	var root map[string]any
	require.NoError(t, json.Unmarshal(got, &root))
	for name, r := range map[string]*Report{"filled": rich(), "empty": empty()} {
		text, err := json.Marshal(r)
		require.NoError(t, err)
		var v any
		require.NoError(t, json.Unmarshal(text, &v))
		require.Empty(t, check(root, root, v, name))
	}
	var v any
	require.NoError(t, json.Unmarshal([]byte(`{"complete":"yes","scenarios":[{"verdict":"green"}],"more":1}`), &v))
	wrong := strings.Join(check(root, root, v, "x"), "\n")
	for _, want := range []string{"x.more: unknown", "x.complete: want boolean", "x.scenarios[0].verdict: green is not allowed", "x: clauses is missing"} {
		require.Contains(t, wrong, want)
	}
}

func empty() *Report {
	r := &Report{}
	r.Summarise()
	r.Judge()
	return r
}

// schema derives a JSON Schema from the model; the model's comments are its descriptions.
func schema(t *testing.T) []byte {
	t.Helper()
	g := &generator{defs: map[string]any{}, docs: comments(t)}
	root := g.object(reflect.TypeOf(Report{}))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "contextful-conform/report/1"
	root["title"] = "report.json of contextful-conform"
	root["$defs"] = g.defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(root))
	return b.Bytes()
}

type generator struct {
	defs map[string]any
	docs map[string]string
}

func (g *generator) of(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeOf(time.Time{}):
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeOf(Pass):
		return map[string]any{"enum": Verdicts()}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = nil
			g.defs[t.Name()] = g.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	panic("no schema for " + t.String())
}

func (g *generator) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := g.of(f.Type)
		if doc := g.docs[t.Name()+"."+f.Name]; doc != "" {
			p["description"] = doc
		}
		if f.Name == "SchemaVersion" {
			p = map[string]any{"const": SchemaVersion}
		}
		properties[name] = p
		if !strings.Contains(opts, "omitempty") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "description": g.docs[t.Name()], "properties": properties, "required": required, "additionalProperties": false}
}

func comments(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "model.go", nil, parser.ParseComments)
	require.NoError(t, err)
	docs := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			return true
		}
		ts := d.Specs[0].(*ast.TypeSpec)
		docs[ts.Name.Name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
		if st, ok := ts.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				for _, name := range field.Names {
					docs[ts.Name.Name+"."+name.Name] = strings.TrimSpace(field.Comment.Text())
				}
			}
		}
		return true
	})
	return docs
}

// check is as much of JSON Schema as the published file uses.
func check(root, s map[string]any, v any, at string) []string {
	if ref, ok := s["$ref"].(string); ok {
		s = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if c, ok := s["const"]; ok && c != v {
		return []string{fmt.Sprintf("%s: want %v", at, c)}
	}
	if list, ok := s["enum"].([]any); ok {
		for _, e := range list {
			if e == v {
				return nil
			}
		}
		return []string{fmt.Sprintf("%s: %v is not allowed", at, v)}
	}
	bad := []string{fmt.Sprintf("%s: want %v", at, s["type"])}
	switch s["type"] {
	case "string":
		text, ok := v.(string)
		if !ok {
			return bad
		}
		if s["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
				return []string{at + ": " + err.Error()}
			}
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return bad
		}
	case "integer", "number":
		n, ok := v.(float64)
		if !ok || s["type"] == "integer" && n != float64(int64(n)) {
			return bad
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			return bad
		}
		var wrong []string
		for i, e := range list {
			wrong = append(wrong, check(root, s["items"].(map[string]any), e, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return wrong
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return bad
		}
		return checkObject(root, s, o, at)
	}
	return nil
}

func checkObject(root, s, o map[string]any, at string) []string {
	var wrong, names []string
	for name := range o {
		names = append(names, name)
	}
	sort.Strings(names)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range names {
		p, ok := properties[name].(map[string]any)
		if !ok {
			p, ok = s["additionalProperties"].(map[string]any)
		}
		if !ok {
			wrong = append(wrong, at+"."+name+": unknown")
			continue
		}
		wrong = append(wrong, check(root, p, o[name], at+"."+name)...)
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := o[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %s is missing", at, name))
		}
	}
	return wrong
}
