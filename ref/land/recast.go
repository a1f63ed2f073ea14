package land

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/schema"
)

// same reports whether both types lie in memory alike: equal, with the fields of structs in one order.
func same(a, b schema.Type) bool { return a.Equal(b) && a.String() == b.String() }

// recast gives nested values that came as one type in a type that the lattice has made of it and others: structs have gained fields,
// numbers or texts have been promoted. The result is the caller's.
func recast(a arrow.Array, from, to schema.Type) arrow.Array {
	if same(from, to) {
		a.Retain()
		return a
	}
	if !deep(to) {
		if text, ok := a.(*array.String); ok {
			return quoted(text)
		}
		return asFloats(a)
	}
	n := a.Len()
	buffers := []*memory.Buffer{validity(a)}
	var kids []arrow.ArrayData
	switch v := a.(type) {
	case *array.Struct:
		at := make(map[string]int, len(from.Fields))
		for i, f := range from.Fields {
			at[f.Name] = i
		}
		for _, f := range to.Fields {
			var k arrow.Array
			if i, ok := at[f.Name]; ok {
				k = recast(v.Field(i), from.Fields[i].Type, f.Type)
			} else {
				k = array.MakeArrayOfNull(memory.DefaultAllocator, heldType(f.Type), n)
			}
			defer k.Release()
			kids = append(kids, k.Data())
		}
	case array.ListLike:
		offsets, begin, end := rebased(v, n)
		buffers = append(buffers, offsets)
		items := v.ListValues()
		m, isMap := a.(*array.Map)
		if isMap {
			items = m.Items()
		}
		cut := array.NewSlice(items, begin, end)
		defer cut.Release()
		k := recast(cut, *from.Elem, *to.Elem)
		defer k.Release()
		kids = append(kids, k.Data())
		if isMap {
			keys := array.NewSlice(m.Keys(), begin, end)
			defer keys.Release()
			entries := array.NewData(heldType(to).(*arrow.MapType).Elem(), int(end-begin), []*memory.Buffer{nil}, []arrow.ArrayData{keys.Data(), k.Data()}, 0, 0)
			defer entries.Release()
			kids = []arrow.ArrayData{entries}
		}
	}
	d := array.NewData(heldType(to), n, buffers, kids, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// asFloats turns int64, of a slice too, into float64.
func asFloats(a arrow.Array) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	ints, _ := a.(*array.Int64)
	b.Reserve(a.Len())
	for i := range a.Len() {
		if ints == nil || a.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(float64(ints.Value(i)))
	}
	return b.NewArray()
}
