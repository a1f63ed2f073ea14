package land

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// node gathers the values at one place of a column whose type is known and no plain scalar: the column itself, a field, an
// item, a value of a map. Rows are counted by what holds it: a field has its struct's rows, an item its place among all items.
//
// Vectors and binary(n) are held as bytes of any length, so that a null takes no room: dressed gives them their Arrow type.
type node struct {
	typ  schema.Type
	path string // as a refusal names it: a.b, a[], a{}
	// declared: the type is the declaration's, else the table's
	declared bool
	leaf     *column
	presence
	ends []int32
	kids []*node // of a struct or variant its fields, of a list the item, of a map key and value
	at   map[string]int
	seen []int // row in which a field stood last, plus one
	list int   // items so far
}

// deep reports whether values of the type go through a node.
func deep(t schema.Type) bool { return t.Kind != schema.None && !t.Scalar() }

// newNode makes the places of t. owner says whose type it is: the declaration's or the table's.
func newNode(path string, t schema.Type, owner *rule) *node {
	n := &node{typ: t, path: path, declared: owner.declared.Kind != schema.None}
	kid := func(at string, t schema.Type) { n.kids = append(n.kids, newNode(at, t, owner)) }
	switch t.Kind {
	case schema.Struct:
		n.at, n.seen = make(map[string]int, len(t.Fields)), make([]int, len(t.Fields))
		for i, f := range t.Fields {
			n.at[f.Name] = i
			kid(path+"."+f.Name, f.Type)
		}
	case schema.List:
		kid(path+"[]", *t.Elem)
	case schema.Map:
		kid(path+"{key}", schema.Of(schema.Utf8))
		kid(path+"{}", *t.Elem)
	case schema.Variant:
		for _, f := range schema.VariantFields().Fields {
			kid(path+"."+f.Name, f.Type)
		}
	default:
		r := &rule{}
		if n.declared {
			r.declared = t
		} else {
			r.stored = t
		}
		n.leaf = &column{name: path, rule: r, inexact: -1, want: t.Kind}
		if deep(t) {
			n.leaf.kind = schema.Binary
		}
	}
	return n
}

// refuse is the incompatibility of an arriving value.
func (n *node) refuse(arriving, shown string) error {
	if shown != "" {
		arriving += " (" + clip(shown) + ")"
	}
	how := "stored as"
	if n.declared {
		how = "declared"
	}
	return &rowError{code: fault.StoreSchemaIncompatible, row: -1, column: n.path,
		text: fmt.Sprintf("column %q is %s %s and arrives as %s", n.path, how, shortType(n.typ), arriving)}
}

func shortType(t schema.Type) string {
	text := t.String()
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}

// mark makes row present, and the rows before it that nobody marked null.
func (n *node) mark(row int) {
	n.pad(row)
	n.value()
	if n.typ.Kind == schema.List || n.typ.Kind == schema.Map {
		n.ends = append(n.ends, int32(n.list))
	}
}

func (n *node) pad(row int) {
	for n.n < row {
		if n.typ.Kind == schema.List || n.typ.Kind == schema.Map {
			last := int32(0)
			if n.n > 0 {
				last = n.ends[n.n-1]
			}
			n.ends = append(n.ends, last)
		}
		n.null()
	}
}

// finish gives rows values as the spool holds them: of the type that held says.
func (n *node) finish(rows int) arrow.Array {
	if n.leaf != nil {
		if n.leaf.kind == schema.None {
			n.leaf.kind = n.typ.Kind
		}
		return n.leaf.finish(rows)
	}
	n.pad(rows)
	buffers := []*memory.Buffer{n.buffer()}
	inner := rows
	if n.typ.Kind == schema.List || n.typ.Kind == schema.Map {
		ends := make([]int32, 1, rows+1)
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(append(ends, n.ends...))))
		inner = n.list
	}
	var kids []arrow.ArrayData
	for _, k := range n.kids {
		a := k.finish(inner)
		defer a.Release()
		kids = append(kids, a.Data())
	}
	held := heldType(n.typ)
	if m, ok := held.(*arrow.MapType); ok {
		entries := array.NewData(m.Elem(), inner, []*memory.Buffer{nil}, kids, 0, 0)
		defer entries.Release()
		kids = []arrow.ArrayData{entries}
	}
	d := array.NewData(held, rows, buffers, kids, n.nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// heldType is how the spool holds a type: as the parts do, but for vectors and binary(n), which are bytes.
func heldType(t schema.Type) arrow.DataType {
	field := func(name string, t schema.Type) arrow.Field {
		return arrow.Field{Name: name, Type: heldType(t), Nullable: true}
	}
	fields := func(list []schema.Field) arrow.DataType {
		out := make([]arrow.Field, len(list))
		for i, f := range list {
			out[i] = field(f.Name, f.Type)
		}
		return arrow.StructOf(out...)
	}
	switch t.Kind {
	case schema.FixedBinary, schema.Vector32, schema.Vector16:
		return arrow.BinaryTypes.Binary
	case schema.List:
		return arrow.ListOfField(field("element", *t.Elem))
	case schema.Map:
		return arrow.MapOfFields(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, field("value", *t.Elem))
	case schema.Struct:
		return fields(t.Fields)
	case schema.Variant:
		return fields(schema.VariantFields().Fields)
	}
	return t.ArrowField("", true).Type
}

// weight is how many cells of about eight bytes one row takes at most where its values are null or absent.
func weight(t schema.Type) int {
	switch t.Kind {
	case schema.FixedBinary:
		return t.Width/8 + 1
	case schema.Struct:
		w := 1
		for _, f := range t.Fields {
			w += weight(f.Type)
		}
		return w
	case schema.Variant:
		return 7
	}
	return 1
}
