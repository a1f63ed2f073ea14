package land

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/schema"
)

// textAsJSON is the type a column of type t lands as where the table's is merged: text that joins json, at any depth, lands as the
// JSON strings of it, so that no part holds text where another holds documents.
func textAsJSON(t, merged schema.Type) schema.Type {
	switch {
	case t.Kind == schema.Utf8 && merged.Kind == schema.JSON:
		return merged
	case t.Kind != merged.Kind:
		return t
	case t.Elem != nil:
		e := textAsJSON(*t.Elem, *merged.Elem)
		t.Elem = &e
	case t.Kind == schema.Struct:
		at := make(map[string]schema.Type, len(merged.Fields))
		for _, f := range merged.Fields {
			at[f.Name] = f.Type
		}
		fields := make([]schema.Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = schema.Field{Name: f.Name, Type: textAsJSON(f.Type, at[f.Name])}
		}
		t.Fields = fields
	}
	return t
}

// dressedType is the Arrow type of what a part's writer is handed: the part's own, but for vectors, which come as lists, since a null
// one takes room in a list of fixed size and the Parquet library writes none.
func dressedType(dt arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		f.Type = dressedType(f.Type)
		return f
	}
	switch dt := dt.(type) {
	case *arrow.FixedSizeListType:
		return arrow.ListOfField(dt.ElemField())
	case *arrow.ListType:
		return arrow.ListOfField(field(dt.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(dt.KeyField(), field(dt.ItemField()))
	case *arrow.StructType:
		fields := dt.Fields()
		for i := range fields {
			fields[i] = field(fields[i])
		}
		return arrow.StructOf(fields...)
	}
	return dt
}

// dress gives values that the spool held as type t the Arrow type of the part, as, which differs by textAsJSON alone. The result is
// the caller's.
func dress(a arrow.Array, t, as schema.Type) arrow.Array {
	if !deep(as) {
		if text, ok := a.(*array.String); ok && as.Kind == schema.JSON && t.Kind == schema.Utf8 {
			return quoted(text)
		}
		a.Retain()
		return a
	}
	target := dressedType(as.ArrowField("", true).Type)
	n := a.Len()
	valid := validity(a)
	buffers := []*memory.Buffer{valid}
	var kids []arrow.ArrayData
	hold := func(k arrow.Array) {
		kids = append(kids, k.Data())
	}
	switch v := a.(type) {
	case *array.Binary:
		if as.Kind == schema.FixedBinary {
			data := make([]byte, 0, n*as.Width)
			for i := range n {
				if v.IsValid(i) {
					data = append(data, v.Value(i)...)
				} else {
					data = append(data, make([]byte, as.Width)...)
				}
			}
			buffers = append(buffers, memory.NewBufferBytes(data))
			break
		}
		items, offsets := numbers(v, target.(*arrow.ListType).Elem())
		defer items.Release()
		hold(items)
		buffers = append(buffers, offsets)
	case *array.Struct:
		fields, types := as.Fields, t.Fields
		if as.Kind == schema.Variant {
			fields, types = schema.VariantFields().Fields, schema.VariantFields().Fields
		}
		for i, f := range fields {
			k := dress(v.Field(i), types[i].Type, f.Type)
			defer k.Release()
			hold(k)
		}
	case array.ListLike:
		offsets, from, to := rebased(v, n)
		buffers = append(buffers, offsets)
		if m, ok := a.(*array.Map); ok {
			keys := array.NewSlice(m.Keys(), from, to)
			defer keys.Release()
			cut := array.NewSlice(m.Items(), from, to)
			defer cut.Release()
			items := dress(cut, *t.Elem, *as.Elem)
			defer items.Release()
			entries := array.NewData(target.(*arrow.MapType).Elem(), int(to-from), []*memory.Buffer{nil}, []arrow.ArrayData{keys.Data(), items.Data()}, 0, 0)
			defer entries.Release()
			kids = append(kids, entries)
			break
		}
		cut := array.NewSlice(v.ListValues(), from, to)
		defer cut.Release()
		items := dress(cut, *t.Elem, *as.Elem)
		defer items.Release()
		hold(items)
	}
	d := array.NewData(target, n, buffers, kids, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// validity is a's own bits from its first row on, nil where nothing is null.
func validity(a arrow.Array) *memory.Buffer {
	if a.NullN() == 0 {
		return nil
	}
	bits := make([]byte, (a.Len()+7)/8)
	for i := range a.Len() {
		if a.IsValid(i) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return memory.NewBufferBytes(bits)
}

// rebased gives offsets that begin at 0, and the stretch of items they speak of.
func rebased(list array.ListLike, n int) (offsets *memory.Buffer, from, to int64) {
	out := make([]int32, 1, n+1)
	for i := range n {
		first, end := list.ValueOffsets(i)
		if i == 0 {
			from, to = first, first
		}
		if list.IsValid(i) {
			to = end
		}
		out = append(out, int32(to-from))
	}
	return memory.NewBufferBytes(bytesOf(out)), from, to
}

// numbers reads the bytes of vectors as the items of a list.
func numbers(v *array.Binary, item arrow.DataType) (arrow.Array, *memory.Buffer) {
	width := item.(arrow.FixedWidthDataType).Bytes()
	var data []byte
	offsets := make([]byte, 4, 4*v.Len()+4)
	for i := range v.Len() {
		if v.IsValid(i) {
			data = append(data, v.Value(i)...)
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)/width))
	}
	d := array.NewData(item, len(data)/width, []*memory.Buffer{nil, memory.NewBufferBytes(data)}, nil, 0, 0)
	defer d.Release()
	return array.MakeFromData(d), memory.NewBufferBytes(offsets)
}
