package decl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"contextful/ref/key"
)

// place is one section of a document: how its header is written, and its keys in the order of the struct.
type place struct {
	header string // "" for the top of the file
	typ    reflect.Type
	keys   []string
}

// field is a key and the type of its value.
type field struct {
	key string
	typ reflect.Type
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("toml"); tag != "" {
			fields = append(fields, field{tag, t.Field(i).Type})
		}
	}
	return fields
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range fieldsOf(t) {
		if f.key == name {
			return f.typ, true
		}
	}
	return nil, false
}

// placesOf lists the sections of a document, the top first and each before those in it.
func placesOf(root reflect.Type) []place {
	var places []place
	var walk func(t reflect.Type, header, path string)
	walk = func(t reflect.Type, header, path string) {
		p := place{header: header, typ: t}
		at := len(places)
		places = append(places, p)
		for _, f := range fieldsOf(t) {
			p.keys = append(p.keys, f.key)
			if inner := entry(f.typ); inner.Kind() == reflect.Struct {
				name := strings.TrimPrefix(path+"."+f.key, ".")
				walk(inner, bracketed(name, f.typ), name)
			}
		}
		places[at] = p
	}
	walk(root, "", "")
	return places
}

func bracketed(name string, t reflect.Type) string {
	if isSections(bare(t)) {
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}

// hintFor says what was meant by words[i], which is no key of the section t.
func hintFor(root, t reflect.Type, words []word, i int) string {
	places := placesOf(root)
	here := places[slices.IndexFunc(places, func(p place) bool { return p.typ == t })]
	name := words[i].text
	for _, k := range here.keys {
		if strings.EqualFold(k, name) {
			return fmt.Sprintf("it is written %q", k)
		}
	}
	declaration := root == reflect.TypeFor[fileDoc]()
	// A name such as "tables" is known, one level down.
	if table, meant := tableNamed(words[i:]); meant && declaration && (here.header == "" || here.header == "[project]") {
		return "a table is declared as" + tableExample(table)
	}
	if close := Nearest(name, here.keys); close != "" {
		return fmt.Sprintf("did you mean %q?", close)
	}
	var homes, elsewhere []string
	for _, p := range places {
		if slices.Contains(p.keys, name) && p.header != "" {
			homes = append(homes, p.header)
		}
		elsewhere = append(elsewhere, p.keys...)
	}
	if len(homes) > 0 {
		hint := fmt.Sprintf("%s belongs to %s", name, listed(homes, "or"))
		if here.header != "" && len(here.keys) < 7 {
			hint += fmt.Sprintf("; %s has the keys %s", here.header, listed(here.keys, "and"))
		}
		return hint
	}
	if here.header == "" {
		if other, file := otherDocument(declaration); slices.Contains(placesOf(other)[0].keys, name) {
			return fmt.Sprintf("[%s] belongs to %s", name, file)
		}
	}
	if close := Nearest(name, elsewhere); close != "" {
		return fmt.Sprintf("did you mean %q?", close)
	}
	if here.header != "" {
		return fmt.Sprintf("%s has the keys %s", here.header, listed(here.keys, "and"))
	}
	var sections []string
	for _, p := range places[1:] {
		if strings.Count(p.header, ".") == 0 || p.header == "[[pipeline.tables]]" {
			sections = append(sections, p.header)
		}
	}
	return "the sections are " + listed(sections, "and")
}

// otherDocument is the one that a section stands in where it does not stand in this one.
func otherDocument(declaration bool) (reflect.Type, string) {
	if declaration {
		return reflect.TypeFor[configDoc](), "config.toml in the store's directory, .contextful/context/<project>"
	}
	return reflect.TypeFor[fileDoc](), FileName
}

func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// DeclareHint shows how a table is declared: the lines to put at the end of contextful.toml. p may be nil.
func (p *Project) DeclareHint(table string) string {
	if key.ValidTable(table) != nil {
		return "a table's name is made of letters, digits, '.', '_' and '-', with / between its parts"
	}
	hint := "declare a new one at the end of " + FileName + ":"
	if p == nil || slices.ContainsFunc(p.Pipelines, func(l Pipeline) bool { return l.Path == p.Path }) {
		return hint + tableExample(table)
	}
	id := p.Name
	if strings.Contains(id, "/") || p.Pipeline(id) != nil {
		id += "-tables"
		id = strings.ReplaceAll(id, "/", "-")
	}
	return hint + fmt.Sprintf("\n[pipeline]\nid = %q", id) + tableExample(table)
}
