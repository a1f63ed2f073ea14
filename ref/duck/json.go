package duck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// group is a list of files that one read_parquet reads.
type group struct {
	files  []File
	names  []string // as DuckDB opens them
	turned bool     // timestamps read as TIMESTAMP_NS, otherwise as TIMESTAMPTZ
	// bits tells for a json column which files hold plain text in it: a '1' or '0' for each. A column without such a file is
	// not in it.
	bits  map[string][]byte
	index string // the column that holds a row's place in names, "" where nothing asks for it
	// inner has the type that a column has in all files of the group, where plain text in it is to be read as json.
	inner  map[string]schema.Type
	writes bool // the rows go into a part
	// origin is Table.Origin, places what it says of each of names.
	origin string
	places []int
	shapes []*shape // what each file holds
	rows   int64    // of all files, as they promise
}

func (g *group) add(f File, name string, place int, rows int64, s *shape) {
	g.files, g.names, g.places, g.shapes = append(g.files, f), append(g.names, name), append(g.places, place), append(g.shapes, s)
	g.rows += rows
}

// place is the SQL of Table.Origin. A group of one file needs no index of it.
func (g *group) place() string {
	if len(g.places) == 0 {
		return "CAST(NULL AS BIGINT)"
	}
	if g.index == "" {
		return fmt.Sprintf("CAST(%d AS BIGINT)", g.places[0])
	}
	list := make([]string, len(g.places))
	for i, n := range g.places {
		list[i] = strconv.Itoa(n)
	}
	return "CAST([" + strings.Join(list, ", ") + "][CAST(" + Ident(g.index) + " AS BIGINT) + 1] AS BIGINT)"
}

// fileIndex is DuckDB's own name for a file's place in the list; a column of that name hides it.
const fileIndex = "file_index"

// raw finds the files whose json columns hold the plain text of the time when the column was utf8 (store.reconcile.lattice).
// Nothing is guessed from the text itself: 123 landed as text is the string "123". One group stays one group, since what
// follows depends on a row's file alone; it is split where a column hides DuckDB's index of the file, and where another
// writer annotated its parts.
func (g *group) raw(fsys vfs.FS, columns []schema.Column) ([]group, error) {
	if len(g.files) == 0 {
		return nil, nil
	}
	var documents []string
	var nested []schema.Column
	hidden := false
	for _, c := range columns {
		hidden = hidden || schema.FoldName(c.Name) == fileIndex
		if c.Type.Kind == schema.JSON {
			documents = append(documents, c.Name)
		} else if hasJSON(c.Type) {
			nested = append(nested, c)
		}
	}
	if len(documents)+len(nested) == 0 && (g.origin == "" || !hidden) {
		if g.origin != "" {
			g.index = unused(columns)
		}
		return []group{*g}, nil
	}
	var out []group
	at := map[string]int{}
	for i, f := range g.files {
		text, annotated, err := textColumns(fsys, f)
		if err != nil {
			return nil, err
		}
		bits := map[string]byte{}
		for _, name := range documents {
			bits[name] = '0'
			if text(name) {
				bits[name] = '1'
			}
		}
		alike := strings.Join(annotated, "\x00")
		if hidden {
			alike = fmt.Sprint(annotated, bits)
		}
		if hidden && g.origin != "" {
			alike = f.Path
		}
		inner, err := textInside(fsys, f, nested)
		if err != nil {
			return nil, err
		}
		for _, c := range nested {
			if t, ok := inner[c.Name]; ok {
				alike += fmt.Sprintf("\x00%s %s", c.Name, t)
			}
		}
		n, ok := at[alike]
		if !ok {
			n = len(out)
			at[alike] = n
			out = append(out, group{turned: g.turned, writes: g.writes, bits: map[string][]byte{}, inner: inner, origin: g.origin})
		}
		out[n].add(f, g.names[i], g.places[i], max(f.Rows, 0), g.shapes[i])
		for name, bit := range bits {
			out[n].bits[name] = append(out[n].bits[name], bit)
		}
	}
	for i := range out {
		out[i].settle(columns)
		if g.origin != "" && !hidden {
			out[i].index = unused(columns)
		}
	}
	return out, nil
}

// settle forgets the columns without plain text and names the index where some files have it and others not.
func (g *group) settle(columns []schema.Column) {
	for name, bits := range g.bits {
		if !slices.Contains(bits, '1') {
			delete(g.bits, name)
		} else if slices.Contains(bits, '0') {
			g.index = unused(columns)
		}
	}
}

// textColumns says which columns of a part are plain text for one whose column is json, and which Parquet's annotation makes json.
func textColumns(fsys vfs.FS, f File) (text func(string) bool, annotated []string, err error) {
	if f.JSON != nil {
		return func(name string) bool { return !slices.Contains(*f.JSON, name) }, nil, nil
	}
	info, err := colfile.ReadInfo(fsys, f.Path)
	if err != nil {
		return nil, nil, err
	}
	in, err := schema.FromArrow(info.Schema)
	if err != nil {
		return nil, nil, err
	}
	return func(name string) bool {
		t, ok := in.Lookup(name)
		return ok && t.Kind == schema.Utf8
	}, info.Annotated, nil
}

// textInside gives the types that a file has of those of the columns in which text of it is to be read as json.
func textInside(fsys vfs.FS, f File, columns []schema.Column) (map[string]schema.Type, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	in, err := columnsOf(fsys, f.Path)
	if err != nil {
		return nil, err
	}
	found := map[string]schema.Type{}
	for _, c := range columns {
		if from, ok := in.Lookup(c.Name); ok && becomesJSON(from, c.Type) {
			found[c.Name] = from
		}
	}
	return found, nil
}

// hasJSON says whether a value of type t holds json at any depth.
func hasJSON(t schema.Type) bool {
	switch t.Kind {
	case schema.JSON:
		return true
	case schema.List, schema.Map:
		return hasJSON(*t.Elem)
	case schema.Struct:
		return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return hasJSON(f.Type) })
	}
	return false
}

// becomesJSON says whether text in values of type from is json in those of type to.
func becomesJSON(from, to schema.Type) bool {
	switch {
	case to.Kind == schema.JSON:
		return from.Kind == schema.Utf8
	case from.Kind != to.Kind:
		return false
	case to.Kind == schema.List || to.Kind == schema.Map:
		return becomesJSON(*from.Elem, *to.Elem)
	case to.Kind == schema.Struct:
		return slices.ContainsFunc(from.Fields, func(f schema.Field) bool {
			i := slices.IndexFunc(to.Fields, func(g schema.Field) bool { return g.Name == f.Name })
			return i >= 0 && becomesJSON(f.Type, to.Fields[i].Type)
		})
	}
	return false
}

// rebuilt is value, which is of type from, with its text quoted where to has json. Fields that only to has are left to the cast.
func rebuilt(value string, from, to schema.Type, depth int) string {
	if !becomesJSON(from, to) {
		return value
	}
	item := fmt.Sprintf("x%d", depth)
	switch to.Kind {
	case schema.JSON:
		return quoted(value)
	case schema.List:
		return "list_transform(" + value + ", lambda " + item + ": " + rebuilt(item, *from.Elem, *to.Elem, depth+1) + ")"
	case schema.Map:
		entry := "{'key': " + item + ".key, 'value': " + rebuilt(item+".value", *from.Elem, *to.Elem, depth+1) + "}"
		return "map_from_entries(list_transform(map_entries(" + value + "), lambda " + item + ": " + entry + "))"
	}
	var fields []string
	for _, f := range from.Fields {
		if i := slices.IndexFunc(to.Fields, func(g schema.Field) bool { return g.Name == f.Name }); i >= 0 {
			member := "struct_extract(" + value + ", " + Text(f.Name) + ")"
			fields = append(fields, Ident(f.Name)+" := "+rebuilt(member, f.Type, to.Fields[i].Type, depth))
		}
	}
	return "CASE WHEN " + value + " IS NULL THEN NULL ELSE struct_pack(" + strings.Join(fields, ", ") + ") END"
}

// unused is a name that none of the columns has.
func unused(columns []schema.Column) string {
	name := "_file"
	for slices.ContainsFunc(columns, func(c schema.Column) bool { return schema.FoldName(c.Name) == name }) {
		name += "_"
	}
	return name
}

// document is the expression of a json column that plain text has joined.
func (g *group) document(column string) string {
	name, bits := Ident(column), string(g.bits[column])
	asString := quoted(name)
	if !strings.Contains(bits, "0") {
		return asString
	}
	return fmt.Sprintf("CASE WHEN get_bit(%s::BIT, %s::INTEGER) = 1 THEN %s ELSE %s END", Text(bits), Ident(g.index), asString, name)
}

// quoted is text as the JSON string of it, in the very bytes in which a landing writes it: two spellings of one string would
// be two keys. The engine writes the hexadecimal digits of an escape in capitals, so the control characters whose escape has
// such a digit take the long way.
func quoted(text string) string {
	slow := `replace(replace(` + text + `, '\', '\\'), '"', '\"')`
	for c := range 0x20 {
		escape := fmt.Sprintf(`\u%04x`, c)
		if short := strings.IndexByte("\b\t\n\f\r", byte(c)); short >= 0 {
			escape = `\` + "btnfr"[short:short+1]
		}
		slow = fmt.Sprintf("replace(%s, chr(%d), '%s')", slow, c, escape)
	}
	return `CASE WHEN ` + text + ` IS NULL THEN NULL WHEN regexp_matches(` + text + `, '[\x0b\x0e\x0f\x1a-\x1f]') THEN '"' || ` + slow +
		` || '"' ELSE CAST(to_json(` + text + `) AS VARCHAR) END`
}
