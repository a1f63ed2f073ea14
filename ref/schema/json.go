package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"contextful/ref/fault"
)

type docSchema struct {
	Fields   []docField `json:"fields"`
	Metadata docPairs   `json:"metadata,omitempty"`
}

type docField struct {
	Name       string         `json:"name"`
	Nullable   bool           `json:"nullable"`
	Type       docType        `json:"type"`
	Children   []docField     `json:"children"`
	Dictionary jsontext.Value `json:"dictionary,omitempty"`
	Metadata   docPairs       `json:"metadata,omitempty"`
}

type docType struct {
	Name       string `json:"name"`
	BitWidth   int    `json:"bitWidth,omitempty"`
	IsSigned   *bool  `json:"isSigned,omitempty"`
	Precision  string `json:"precision,omitempty"`
	Unit       string `json:"unit,omitempty"`
	Timezone   string `json:"timezone,omitempty"`
	ByteWidth  int    `json:"byteWidth,omitempty"`
	ListSize   int    `json:"listSize,omitempty"`
	KeysSorted *bool  `json:"keysSorted,omitempty"`
}

type docPair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// docPairs prints as Arrow's list of pairs and reads that or an object.
type docPairs []docPair

func (p *docPairs) UnmarshalJSON(data []byte) error {
	trimmed := bytes.TrimSpace(data)
	*p = nil
	if len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		return nil
	}
	if trimmed[0] == '{' {
		m := map[string]string{}
		if err := json.Unmarshal(trimmed, &m); err != nil {
			return err
		}
		*p = pairs(m)
		return nil
	}
	var list []docPair
	if err := json.Unmarshal(trimmed, &list); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.Key] {
			return fmt.Errorf("the metadata key %q stands twice", e.Key)
		}
		seen[e.Key] = true
	}
	*p = list
	return nil
}

func pairs(m map[string]string) docPairs {
	var out docPairs
	for k, v := range m {
		out = append(out, docPair{k, v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

func (p docPairs) take(drop string) map[string]string {
	var m map[string]string
	for _, e := range p {
		if e.Key == drop {
			continue
		}
		if m == nil {
			m = map[string]string{}
		}
		m[e.Key] = e.Value
	}
	return m
}

func (p docPairs) get(key string) string {
	for _, e := range p {
		if e.Key == key {
			return e.Value
		}
	}
	return ""
}

// Encode prints schema.json: the same schema always prints the same bytes, which end in a newline.
func Encode(s *Schema) ([]byte, error) {
	doc := docSchema{Fields: make([]docField, len(s.Columns)), Metadata: pairs(s.Metadata)}
	for i, c := range s.Columns {
		if c.Type.Kind == None {
			return nil, fault.New(fault.StoreSchemaIncompatible, c.Name, fmt.Sprintf("column %q has no type yet and cannot be stored", c.Name))
		}
		doc.Fields[i] = toDoc(c.Name, c.Nullable, c.Type, c.Metadata)
	}
	var buf bytes.Buffer
	enc := stdjson.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("schema.json: %w", err)
	}
	if buf.Len() > MaxJSON {
		return nil, fault.New(fault.StoreSchemaIncompatible, "", fmt.Sprintf("schema.json would be %d bytes, more than %d", buf.Len(), MaxJSON))
	}
	return buf.Bytes(), nil
}

func toDoc(name string, nullable bool, t Type, md map[string]string) docField {
	yes, no := true, false
	f := docField{Name: name, Nullable: nullable, Children: []docField{}, Metadata: pairs(md)}
	extension := ""
	switch t.Kind {
	case Boolean:
		f.Type = docType{Name: "bool"}
	case Int32:
		f.Type = docType{Name: "int", BitWidth: 32, IsSigned: &yes}
	case Int64:
		f.Type = docType{Name: "int", BitWidth: 64, IsSigned: &yes}
	case Float64:
		f.Type = docType{Name: "floatingpoint", Precision: "DOUBLE"}
	case Utf8, JSON:
		f.Type = docType{Name: "utf8"}
		if t.Kind == JSON {
			extension = extensionJSON
		}
	case Timestamp:
		f.Type = docType{Name: "timestamp", Unit: "NANOSECOND", Timezone: "UTC"}
	case Binary:
		f.Type = docType{Name: "binary"}
	case FixedBinary:
		f.Type = docType{Name: "fixedsizebinary", ByteWidth: t.Width}
	case Vector32, Vector16:
		f.Type = docType{Name: "fixedsizelist", ListSize: t.Dim}
		item := docType{Name: "floatingpoint", Precision: "SINGLE"}
		if t.Kind == Vector16 {
			item.Precision = "HALF"
		}
		f.Children = []docField{{Name: "element", Type: item, Children: []docField{}}}
	case List:
		f.Type = docType{Name: "list"}
		f.Children = []docField{toDoc("element", true, *t.Elem, nil)}
	case Map:
		f.Type = docType{Name: "map", KeysSorted: &no}
		f.Children = []docField{{Name: "entries", Type: docType{Name: "struct"},
			Children: []docField{toDoc("key", false, Of(Utf8), nil), toDoc("value", true, *t.Elem, nil)}}}
	case Struct:
		f.Type = docType{Name: "struct"}
		for _, m := range t.Fields {
			f.Children = append(f.Children, toDoc(m.Name, true, m.Type, nil))
		}
	case Variant:
		f.Type = docType{Name: "struct"}
		extension = extensionVar
		for _, m := range variantFields() {
			f.Children = append(f.Children, toDoc(m.Name, true, m.Type, nil))
		}
	default:
		f.Type = docType{Name: "null"}
	}
	if extension != "" {
		f.Metadata = append(docPairs{{extensionKey, extension}}, f.Metadata...)
		sort.SliceStable(f.Metadata, func(i, j int) bool { return f.Metadata[i].Key < f.Metadata[j].Key })
	}
	return f
}

func variantFields() []Field {
	return []Field{{"kind", Of(Utf8)}, {"string", Of(Utf8)}, {"int64", Of(Int64)}, {"float64", Of(Float64)}, {"boolean", Of(Boolean)}, {"bytes", Of(Utf8)}}
}

// Decode reads a schema.json of at most 16 MiB. Duplicate members, invalid UTF-8, trailing bytes, a type outside the
// language, a bad or repeated name are StoreManifestInvalid, two names differing in case StoreColumnAmbiguous; both name path
// and column. Unknown members are ignored.
func Decode(data []byte, path string) (*Schema, error) {
	invalid := func(why string) error {
		return fault.New(fault.StoreManifestInvalid, path, fmt.Sprintf("%s is no schema: %s", path, why))
	}
	if len(data) > MaxJSON {
		return nil, invalid(fmt.Sprintf("it is %d bytes, more than %d", len(data), MaxJSON))
	}
	var doc docSchema
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, invalid(err.Error())
	}
	if doc.Fields == nil {
		return nil, invalid(`it has no "fields"`)
	}
	if len(doc.Fields) > MaxFields {
		return nil, invalid(fmt.Sprintf("it has %d columns, more than %d", len(doc.Fields), MaxFields))
	}
	s := &Schema{Metadata: doc.Metadata.take("")}
	seen := make(map[string]string, len(doc.Fields))
	for i := range doc.Fields {
		f := &doc.Fields[i]
		if why := CheckName(f.Name); why != "" {
			return nil, invalid(fmt.Sprintf("the column name %q %s", f.Name, why))
		}
		fold := FoldName(f.Name)
		if other, ok := seen[fold]; ok {
			if other == f.Name {
				return nil, invalid(fmt.Sprintf("column %q stands twice", f.Name))
			}
			return nil, ambiguous(other, f.Name)
		}
		seen[fold] = f.Name
		t, err := fromDoc(f, f.Name, 1)
		if err != nil {
			return nil, invalid(err.Error())
		}
		s.Columns = append(s.Columns, Column{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: f.Metadata.take(extensionKey)})
	}
	return s, nil
}

func fromDoc(f *docField, path string, depth int) (Type, error) {
	bad := func(why string) (Type, error) { return Type{}, fmt.Errorf("column %q %s", path, why) }
	if depth > MaxDepth {
		return bad(fmt.Sprintf("nests deeper than %d", MaxDepth))
	}
	if len(f.Dictionary) > 0 && string(f.Dictionary) != "null" {
		return bad("is dictionary-encoded")
	}
	children, extension := 0, f.Metadata.get(extensionKey)
	t := Type{}
	switch d := f.Type; d.Name {
	case "bool":
		t = Of(Boolean)
	case "int":
		switch signed := d.IsSigned != nil && *d.IsSigned; {
		case signed && d.BitWidth == 32:
			t = Of(Int32)
		case signed && d.BitWidth == 64:
			t = Of(Int64)
		default:
			return bad(fmt.Sprintf("is an integer of %d bits (signed: %t), not of 32 or 64 signed", d.BitWidth, signed))
		}
	case "floatingpoint":
		if d.Precision != "DOUBLE" {
			return bad(fmt.Sprintf("has the precision %q, not DOUBLE", d.Precision))
		}
		t = Of(Float64)
	case "utf8", "largeutf8":
		t = Of(Utf8)
		if extension == extensionJSON {
			t = Of(JSON)
		}
	case "timestamp":
		if d.Unit != "NANOSECOND" || d.Timezone != "UTC" && d.Timezone != "Etc/UTC" && d.Timezone != "+00:00" {
			return bad(fmt.Sprintf("is a timestamp in %q, zone %q, not in NANOSECOND, UTC", d.Unit, d.Timezone))
		}
		t = Of(Timestamp)
	case "binary", "largebinary":
		t = Of(Binary)
	case "fixedsizebinary":
		if d.ByteWidth < 1 || d.ByteWidth > MaxWidth {
			return bad(fmt.Sprintf("has the width %d", d.ByteWidth))
		}
		t = Type{Kind: FixedBinary, Width: d.ByteWidth}
	case "fixedsizelist":
		if d.ListSize < 1 || d.ListSize > MaxDim || len(f.Children) != 1 || f.Children[0].Type.Name != "floatingpoint" {
			return bad("is a fixed-size list but no vector of float32 or float16")
		}
		t, children = Type{Kind: Vector32, Dim: d.ListSize}, 1
		switch f.Children[0].Type.Precision {
		case "SINGLE":
		case "HALF":
			t.Kind = Vector16
		default:
			return bad("is a fixed-size list but no vector of float32 or float16")
		}
	case "list", "largelist":
		if len(f.Children) != 1 {
			return bad("is a list without exactly one child")
		}
		e, err := fromDoc(&f.Children[0], path+"[]", depth+1)
		if err != nil {
			return t, err
		}
		t, children = Type{Kind: List, Elem: &e}, 1
	case "map":
		if len(f.Children) != 1 || len(f.Children[0].Children) != 2 || f.Children[0].Children[0].Type.Name != "utf8" {
			return bad("is a map without entries of a utf8 key and a value")
		}
		e, err := fromDoc(&f.Children[0].Children[1], path+"{}", depth+1)
		if err != nil {
			return t, err
		}
		t, children = Type{Kind: Map, Elem: &e}, 1
	case "struct":
		st, err := fromDocStruct(f, path, depth)
		if err != nil {
			return t, err
		}
		t, children = st, len(f.Children)
		if extension == extensionVar {
			if !st.Equal(Type{Kind: Struct, Fields: variantFields()}) {
				return bad("is marked a variant and has other fields")
			}
			t = Of(Variant)
		}
	default:
		return bad(fmt.Sprintf("has the type %q, which no column type is", strings.ToValidUTF8(d.Name, "?")))
	}
	if len(f.Children) != children {
		return bad(fmt.Sprintf("has %d children where %d belong", len(f.Children), children))
	}
	return t, nil
}

func fromDocStruct(f *docField, path string, depth int) (Type, error) {
	t := Type{Kind: Struct}
	if len(f.Children) > MaxFields {
		return t, fmt.Errorf("column %q has %d fields, more than %d", path, len(f.Children), MaxFields)
	}
	if len(f.Children) == 0 {
		return t, fmt.Errorf("column %q is a struct without a field", path)
	}
	seen := map[string]string{}
	for i := range f.Children {
		m := &f.Children[i]
		if why := CheckName(m.Name); why != "" {
			return t, fmt.Errorf("column %q has the field name %q, which %s", path, m.Name, why)
		}
		if other, ok := seen[FoldName(m.Name)]; ok {
			return t, fmt.Errorf("column %q has the fields %q and %q, one name but for case", path, other, m.Name)
		}
		seen[FoldName(m.Name)] = m.Name
		mt, err := fromDoc(m, path+"."+m.Name, depth+1)
		if err != nil {
			return t, err
		}
		t.Fields = append(t.Fields, Field{m.Name, mt})
	}
	return t, nil
}
