package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A Field is a column of schema.json. Type is written as the declaration language does where it has a word for it
// ("int64", "timestamp", "json", "struct<a: list<int64>>"), else as the Arrow type's own name.
type Field struct {
	Name     string
	Type     string
	Nullable bool
	// FirstLandedAt is the field's metadata of that name, "" where it has none.
	FirstLandedAt string
}

type schemaField struct {
	Name     string         `json:"name"`
	Type     map[string]any `json:"type"`
	Nullable bool           `json:"nullable"`
	Metadata any            `json:"metadata"`
	Children []schemaField  `json:"children"`
}

// Schema reads a table's schema.json (Arrow's JSON form); fs.ErrNotExist where there is none.
func Schema(root, table string) ([]Field, error) {
	path := filepath.Join(TableDir(root, table), "schema.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return DecodeSchema(path, text)
}

// DecodeSchema reads the text of a schema.json.
func DecodeSchema(what string, text []byte) ([]Field, error) {
	var doc struct {
		Fields []schemaField `json:"fields"`
		Schema *struct {
			Fields []schemaField `json:"fields"`
		} `json:"schema"`
	}
	if err := decode(what, text, &doc); err != nil {
		return nil, err
	}
	if doc.Schema != nil {
		doc.Fields = doc.Schema.Fields
	}
	if doc.Fields == nil {
		return nil, wrong("%s has no fields", what)
	}
	var out []Field
	for _, f := range doc.Fields {
		out = append(out, Field{Name: f.Name, Type: typeName(f), Nullable: f.Nullable, FirstLandedAt: metadata(f.Metadata, "first_landed_at")})
	}
	return out, nil
}

func typeName(f schemaField) string {
	name, _ := f.Type["name"].(string)
	switch name {
	case "bool":
		return "boolean"
	case "int":
		return fmt.Sprintf("int%v", f.Type["bitWidth"])
	case "floatingpoint":
		switch f.Type["precision"] {
		case "DOUBLE":
			return "float64"
		case "SINGLE":
			return "float32"
		}
		return "float16"
	case "utf8", "largeutf8":
		if extension(f.Metadata) == "arrow.json" {
			return "json"
		}
		return "utf8"
	case "fixedsizebinary":
		return fmt.Sprintf("binary(%v)", f.Type["byteWidth"])
	}
	return nestedName(name, f)
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// nestedName writes a type with children; one whose children are not what its name promises keeps Arrow's name.
func nestedName(name string, f schemaField) string {
	switch kids := f.Children; {
	case name == "fixedsizelist" && len(kids) == 1:
		return fmt.Sprintf("%s[%v]", typeName(kids[0]), f.Type["listSize"])
	case (name == "list" || name == "largelist") && len(kids) == 1:
		return "list<" + typeName(kids[0]) + ">"
	case name == "map" && len(kids) == 1 && len(kids[0].Children) == 2:
		return fmt.Sprintf("map<%s, %s>", typeName(kids[0].Children[0]), typeName(kids[0].Children[1]))
	case name == "struct" && extension(f.Metadata) == "contextful.variant":
		return "variant"
	case name == "struct" && len(kids) > 0:
		var fields []string
		for _, k := range kids {
			label := k.Name
			if !bare.MatchString(label) {
				label = strconv.Quote(label)
			}
			fields = append(fields, label+": "+typeName(k))
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	}
	return name
}

// extension is the Arrow extension name of a field.
func extension(m any) string { return metadata(m, "ARROW:extension:name") }

// metadata looks a key up in a field's metadata, which is a list of key and value, or an object.
func metadata(m any, key string) string {
	switch m := m.(type) {
	case map[string]any:
		s, _ := m[key].(string)
		return s
	case []any:
		for _, kv := range m {
			if o, ok := kv.(map[string]any); ok && o["key"] == key {
				s, _ := o["value"].(string)
				return s
			}
		}
	}
	return ""
}
