package decl

import (
	"fmt"
	"reflect"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"

	"github.com/pelletier/go-toml/v2/unstable"
)

// checkKeys holds a document to the keys that the target has, each spelt exactly and with a value of its kind. The TOML library
// takes Cluster_by for cluster_by and one [pipeline.tables] for a list of them; another reader of the same file would not. A
// document that is no TOML passes: the decoder says where it breaks.
func checkKeys(path string, data []byte, target any) error {
	g := &grammar{path: path, root: reflect.TypeOf(target).Elem(), parser: &unstable.Parser{}}
	g.parser.Reset(data)
	var header []word
	for g.parser.NextExpression() {
		if g.refusal != nil {
			continue // what is no TOML further down comes first
		}
		e := g.parser.Expression()
		switch keys := g.words(e); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			header = keys
			g.header(keys, e.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			g.value(g.root, append(header[:len(header):len(header)], keys...), e.Value())
		}
	}
	if g.parser.Error() != nil || g.refusal == nil {
		return nil
	}
	return g.refusal
}

// grammar walks one document beside the struct that it is decoded into, and keeps its first refusal.
type grammar struct {
	path    string
	root    reflect.Type
	parser  *unstable.Parser
	refusal *fault.Error
}

// word is one part of a dotted key and the line on which it stands.
type word struct {
	text string
	line int
}

func (g *grammar) words(e *unstable.Node) []word {
	var words []word
	for it := e.Key(); it.Next(); {
		n := it.Node()
		words = append(words, word{string(n.Data), g.parser.Shape(n.Raw).Start.Line})
	}
	return words
}

func dotted(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.text
	}
	return strings.Join(parts, ".")
}

func (g *grammar) refuse(at word, hint, format string, args ...any) {
	if g.refusal == nil {
		g.refusal = invalid(g.path, "line %d: "+format, append([]any{at.line}, args...)...).WithHint(hint)
	}
}

// find follows a key from a type to the type of its value; false where it refused. words before from are known already.
func (g *grammar) find(t reflect.Type, words []word, from int) (reflect.Type, bool) {
	for i := from; i < len(words); i++ {
		if t = entry(t); t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		if t.Kind() != reflect.Struct {
			g.refuse(words[i], example(words[i-1].text, t, ""), "key %q is %s and holds no key %q", dotted(words[:i]), wants(t), words[i].text)
			return nil, false
		}
		f, ok := fieldOf(t, words[i].text)
		if !ok {
			last := words[len(words)-1]
			g.refuse(last, hintFor(g.root, t, words, i), "unknown key %q", dotted(words))
			return nil, false
		}
		t = f
	}
	return t, true
}

// header checks [a.b] or [[a.b]].
func (g *grammar) header(words []word, list bool) {
	t, ok := g.find(g.root, words, 0)
	if !ok {
		return
	}
	name, last := dotted(words), words[len(words)-1]
	switch t = bare(t); {
	case isSections(t) && !list:
		g.refuse(last, "write [["+name+"]] above each of them", "there may be several %q, and [%s] would be the only one", name, name)
	case isSections(t) || !list && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
	case list && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		hint := "write [" + name + "]"
		if name == "pipeline" {
			hint += "; each further pipeline has a file of its own in pipelines/"
		}
		g.refuse(last, hint, "there is one %q, and [[%s]] would begin a list of them", name, name)
	default:
		g.refuse(last, example(last.text, t, ""), "key %q wants %s and is written as a section", name, wants(t))
	}
}

// value checks what stands at a key below t, whose last word is new.
func (g *grammar) value(t reflect.Type, words []word, v *unstable.Node) {
	if t, ok := g.find(t, words, 0); ok {
		g.kind(t, words, v)
	}
}

// kind holds a value to a type, and what is in it to what the type holds.
func (g *grammar) kind(t reflect.Type, words []word, v *unstable.Node) {
	t = bare(t)
	last := words[len(words)-1]
	switch {
	case v.Kind == unstable.InlineTable && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		for it := v.Children(); it.Next(); {
			inner := append(words[:len(words):len(words)], g.words(it.Node())...)
			if t, ok := g.find(t, inner, len(words)); ok {
				g.kind(t, inner, it.Node().Value())
			}
		}
	case v.Kind == unstable.Array && t.Kind() == reflect.Slice:
		n := 0
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			n++
			if elem := bare(t.Elem()); elem.Kind() == reflect.Struct || isA(elem, it.Node().Kind) {
				g.kind(elem, words, it.Node())
			} else {
				g.refuse(last, example(last.text, t, ""), "key %q wants %s, and number %d of the list is %s", dotted(words), wants(t), n, has(it.Node()))
			}
		}
	case !isA(t, v.Kind):
		given := ""
		if v.Kind == unstable.String {
			given = string(v.Data)
		}
		g.refuse(last, example(last.text, t, given), "key %q wants %s and has %s", dotted(words), wants(t), has(v))
	}
}

// bare is a type without its pointer.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isSections says whether a type is a list of sections, written [[…]].
func isSections(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && bare(t.Elem()).Kind() == reflect.Struct
}

// entry is what keys below a key name fields of: of a list of sections the section.
func entry(t reflect.Type) reflect.Type {
	if t = bare(t); isSections(t) {
		return bare(t.Elem())
	}
	return t
}

func isA(t reflect.Type, k unstable.Kind) bool {
	switch t.Kind() {
	case reflect.String:
		return k == unstable.String
	case reflect.Bool:
		return k == unstable.Bool
	case reflect.Int64:
		return k == unstable.Integer
	}
	return false
}

func wants(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.Map:
		return "names with a text each"
	case reflect.Slice:
		if isSections(t) {
			return "a list of sections"
		}
		return "a list of texts"
	}
	return "a section"
}

func has(v *unstable.Node) string {
	switch v.Kind {
	case unstable.String:
		return "a text"
	case unstable.Bool:
		return string(v.Data)
	case unstable.Integer:
		return "a whole number"
	case unstable.Float:
		return "a number with a fraction"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or a time"
}

// example is a line that would do; given is a text that stood in place of a list. No other value is repeated: it may be a secret.
func example(name string, t reflect.Type, given string) string {
	switch t = bare(t); t.Kind() {
	case reflect.String:
		return fmt.Sprintf(`a text stands in quotes: %s = "…"`, name)
	case reflect.Bool:
		return fmt.Sprintf("write %s = true, or false, without quotes", name)
	case reflect.Int64:
		return fmt.Sprintf("write %s = 5, without quotes", name)
	case reflect.Map:
		return fmt.Sprintf(`write %s = { name = "…" }`, name)
	case reflect.Slice:
		if isSections(t) {
			return fmt.Sprintf("begin each with a line of its own in double brackets that ends in %s", name)
		}
		if given == "" {
			given = "…"
		}
		return fmt.Sprintf(`a list stands in brackets: %s = [%q]`, name, given)
	}
	return fmt.Sprintf("write its keys below a line in brackets that ends in %s", name)
}

// tableExample is the lines that declare a table.
func tableExample(name string) string {
	return fmt.Sprintf("\n[[pipeline.tables]]\nname = %q", name)
}

// tableNamed finds the table that somebody meant to declare in a way there is not, such as [tables.trades].
func tableNamed(words []word) (name string, meant bool) {
	for _, w := range words {
		switch {
		case w.text == "tables" || w.text == "table":
			meant = true
		case meant && name == "" && key.ValidTable(w.text) == nil:
			name = w.text
		}
	}
	if name == "" {
		name = "trades"
	}
	return name, meant
}
