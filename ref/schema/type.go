package schema

import (
	"strconv"
	"strings"
)

// Kind is the outermost constructor of a Type.
type Kind uint8

// The kinds. The zero Kind is no type at all: a column in which no value has been seen yet.
const (
	None Kind = iota
	Boolean
	Int32
	Int64
	Float64
	Utf8
	JSON
	Timestamp   // UTC nanoseconds since 1970 in 64 bits
	Binary      // bytes of any length
	FixedBinary // Width bytes
	Vector32    // Dim float32 values
	Vector16    // Dim float16 values
	Struct      // Fields
	List        // Elem
	Map         // utf8 keys, Elem values
	Variant     // one value of string, int64, float64, boolean or bytes, tagged
)

// Type is one column type. Equal compares; == does not (Fields is a slice).
type Type struct {
	Kind   Kind
	Width  int     // FixedBinary: bytes, >= 1
	Dim    int     // Vector32, Vector16: items, >= 1
	Elem   *Type   // List: item, Map: value
	Fields []Field // Struct, in order
}

// Field is a member of a struct.
type Field struct {
	Name string
	Type Type
}

// Bounds of the language: what a declaration or a schema.json may ask for.
const (
	MaxDepth  = 16       // constructors inside constructors
	MaxDim    = 1 << 16  // items of a vector
	MaxWidth  = 32 << 10 // bytes of binary(n)
	MaxFields = 10_000   // fields of one struct, columns of one table
	MaxJSON   = 16 << 20 // bytes of a schema.json
	maxText   = 64 << 10 // bytes of a type's text
	maxName   = 16 << 10 // bytes of a column's name
)

var scalarNames = [...]string{
	Boolean: "boolean", Int32: "int32", Int64: "int64", Float64: "float64", Utf8: "utf8", JSON: "json",
	Timestamp: "timestamp", Binary: "binary", Variant: "variant",
}

// Of is the type of a kind that needs no parameters: Of(Int64).
func Of(k Kind) Type { return Type{Kind: k} }

// Scalar reports whether the type is one of boolean int32 int64 float64 utf8 json timestamp binary.
func (t Type) Scalar() bool { return t.Kind >= Boolean && t.Kind <= Binary }

// Equal reports whether both are the same type, fields of a struct in any order.
func (t Type) Equal(o Type) bool {
	if t.Kind != o.Kind || t.Width != o.Width || t.Dim != o.Dim || (t.Elem == nil) != (o.Elem == nil) || len(t.Fields) != len(o.Fields) {
		return false
	}
	if t.Elem != nil && !t.Elem.Equal(*o.Elem) {
		return false
	}
	for i, f := range t.Fields {
		g := o.Fields[i]
		if g.Name != f.Name {
			j := fieldIndex(o.Fields, f.Name)
			if j < 0 {
				return false
			}
			g = o.Fields[j]
		}
		if !f.Type.Equal(g.Type) {
			return false
		}
	}
	return true
}

func fieldIndex(fields []Field, name string) int {
	for i := range fields {
		if fields[i].Name == name {
			return i
		}
	}
	return -1
}

// String prints the type as a declaration writes it; ParseType reads it back.
func (t Type) String() string {
	var b strings.Builder
	t.print(&b)
	return b.String()
}

func (t Type) print(b *strings.Builder) {
	switch t.Kind {
	case FixedBinary:
		b.WriteString("binary(" + strconv.Itoa(t.Width) + ")")
	case Vector32:
		b.WriteString("float32[" + strconv.Itoa(t.Dim) + "]")
	case Vector16:
		b.WriteString("float16[" + strconv.Itoa(t.Dim) + "]")
	case List:
		b.WriteString("list<")
		t.Elem.print(b)
		b.WriteByte('>')
	case Map:
		b.WriteString("map<utf8, ")
		t.Elem.print(b)
		b.WriteByte('>')
	case Struct:
		b.WriteString("struct<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(printName(f.Name))
			b.WriteString(": ")
			f.Type.print(b)
		}
		b.WriteByte('>')
	default:
		if int(t.Kind) < len(scalarNames) && scalarNames[t.Kind] != "" {
			b.WriteString(scalarNames[t.Kind])
			return
		}
		b.WriteString("null")
	}
}

func printName(name string) string {
	for i := 0; i < len(name); i++ {
		if !bareByte(name[i]) {
			return strconv.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

func bareByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
