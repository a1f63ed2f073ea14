package colfile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/schema"
)

// stored is the type under which values of dt lie in a file. A vector lies there as a list: the library writes no vector that is
// null, and the bytes are the same.
func stored(dt arrow.DataType) arrow.DataType {
	switch t := dt.(type) {
	case *arrow.FixedSizeListType:
		return arrow.ListOfField(storedField(t.ElemField()))
	case *arrow.ListType:
		return arrow.ListOfField(storedField(t.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(t.KeyField(), storedField(t.ItemField()))
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i] = storedField(fields[i])
		}
		return arrow.StructOf(fields...)
	}
	return dt
}

func storedField(f arrow.Field) arrow.Field {
	f.Type = stored(f.Type)
	return f
}

// Retype gives the values of a as the type to, at every depth: a list as a vector and a vector as a list, floats as halves, bytes
// as bytes of one length, instants of one unit in another zone; struct fields go by place. Bytes that stay the same are shared.
// An error says which value has no place in the type.
func Retype(a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), to, arrow.CheckMetadata()) {
		a.Retain()
		return a, nil
	}
	switch t := to.(type) {
	case *arrow.FixedSizeListType:
		if from, ok := a.(*array.List); ok {
			return asVector(from, t)
		}
	case *arrow.ListType:
		switch from := a.(type) {
		case *array.FixedSizeList:
			return asList(from, t)
		case *array.List:
			return withChildren(a, to, t.Elem())
		}
	case *arrow.MapType:
		if _, ok := a.(*array.Map); ok {
			return withChildren(a, to, t.Elem())
		}
	case *arrow.StructType:
		if from, ok := a.(*array.Struct); ok && from.NumField() == t.NumFields() {
			children := make([]arrow.DataType, t.NumFields())
			for i, f := range t.Fields() {
				children[i] = f.Type
			}
			return withChildren(a, to, children...)
		}
	case *arrow.FixedSizeBinaryType:
		if from, ok := a.(*array.Binary); ok {
			return asFixed(from, t)
		}
	case *arrow.Float16Type:
		if from, ok := a.(*array.Float32); ok {
			return asHalves(from), nil
		}
	case *arrow.TimestampType:
		if from, ok := a.DataType().(*arrow.TimestampType); ok && from.Unit == t.Unit {
			return withChildren(a, to)
		}
	}
	if a.DataType().ID() == to.ID() && !arrow.IsNested(to.ID()) && arrow.TypeEqual(a.DataType(), to) {
		return withChildren(a, to)
	}
	return nil, fmt.Errorf("values of type %s have no place in a column of type %s", a.DataType(), to)
}

// withChildren is a under the type to, its children retyped.
func withChildren(a arrow.Array, to arrow.DataType, children ...arrow.DataType) (arrow.Array, error) {
	data := a.Data()
	inner := make([]arrow.ArrayData, 0, len(children))
	defer func() {
		for _, c := range inner {
			c.Release()
		}
	}()
	for i, child := range children {
		from := array.MakeFromData(data.Children()[i])
		out, err := Retype(from, child)
		from.Release()
		if err != nil {
			return nil, err
		}
		out.Data().Retain()
		inner = append(inner, out.Data())
		out.Release()
	}
	d := array.NewData(to, data.Len(), data.Buffers(), inner, data.NullN(), data.Offset())
	defer d.Release()
	return array.MakeFromData(d), nil
}

// asVector lays the values of lists side by side, room for the null ones included.
func asVector(a *array.List, to *arrow.FixedSizeListType) (arrow.Array, error) {
	dim := int64(to.Len())
	width, ok := to.Elem().(arrow.FixedWidthDataType)
	if !ok || width.BitWidth()%8 != 0 {
		return nil, fmt.Errorf("there is no vector of %s", to.Elem())
	}
	items, err := Retype(a.ListValues(), to.Elem())
	if err != nil {
		return nil, err
	}
	defer items.Release()
	size := int64(width.BitWidth() / 8)
	from := items.Data().Buffers()[1].Bytes()
	from = from[int64(items.Data().Offset())*size:]
	out := make([]byte, int64(a.Len())*dim*size)
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		begin, end := a.ValueOffsets(i)
		if end-begin != dim {
			return nil, fmt.Errorf("a vector of %d items has no place in a column of type %s", end-begin, to)
		}
		if items.NullN() > 0 {
			for j := begin; j < end; j++ {
				if items.IsNull(int(j)) {
					return nil, fmt.Errorf("a vector with a null item has no place in a column of type %s", to)
				}
			}
		}
		copy(out[int64(i)*dim*size:], from[begin*size:end*size])
	}
	child := array.NewData(to.Elem(), a.Len()*int(dim), []*memory.Buffer{nil, memory.NewBufferBytes(out)}, nil, 0, 0)
	defer child.Release()
	d := array.NewData(to, a.Len(), []*memory.Buffer{validity(a)}, []arrow.ArrayData{child}, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// asList closes the room that a vector keeps for null ones.
func asList(a *array.FixedSizeList, to *arrow.ListType) (arrow.Array, error) {
	dim := int64(a.DataType().(*arrow.FixedSizeListType).Len())
	items, err := Retype(a.ListValues(), to.Elem())
	if err != nil {
		return nil, err
	}
	defer items.Release()
	if items.NullN() > 0 && a.NullN() == 0 {
		return nil, fmt.Errorf("a vector with a null item has no place in a column of type %s", a.DataType())
	}
	ends := make([]int32, 1, a.Len()+1)
	if a.NullN() == 0 {
		begin := int64(0)
		if a.Len() > 0 {
			begin, _ = a.ValueOffsets(0)
		}
		for i := range a.Len() {
			ends = append(ends, int32(int64(i+1)*dim))
		}
		slice := array.NewSlice(items, begin, begin+int64(a.Len())*dim)
		defer slice.Release()
		return listOf(to, a.Len(), nil, ends, slice), nil
	}
	width, ok := to.Elem().(arrow.FixedWidthDataType)
	if !ok || width.BitWidth()%8 != 0 {
		return nil, fmt.Errorf("there is no vector of %s", to.Elem())
	}
	size := int64(width.BitWidth() / 8)
	from := items.Data().Buffers()[1].Bytes()[int64(items.Data().Offset())*size:]
	out := make([]byte, 0, int64(a.Len()-a.NullN())*dim*size)
	for i := range a.Len() {
		if a.IsValid(i) {
			begin, end := a.ValueOffsets(i)
			for j := begin; items.NullN() > 0 && j < end; j++ {
				if items.IsNull(int(j)) {
					return nil, fmt.Errorf("a vector with a null item has no place in a column of type %s", a.DataType())
				}
			}
			out = append(out, from[begin*size:end*size]...)
		}
		ends = append(ends, int32(int64(len(out))/size))
	}
	child := array.NewData(to.Elem(), len(out)/int(size), []*memory.Buffer{nil, memory.NewBufferBytes(out)}, nil, 0, 0)
	defer child.Release()
	packed := array.MakeFromData(child)
	defer packed.Release()
	return listOf(to, a.Len(), a, ends, packed), nil
}

// listOf makes a list array of items; nulls, where it is not nil, says which lists are null.
func listOf(to *arrow.ListType, n int, nulls arrow.Array, ends []int32, items arrow.Array) arrow.Array {
	count := 0
	var valid *memory.Buffer
	if nulls != nil {
		valid, count = validity(nulls), nulls.NullN()
	}
	d := array.NewData(to, n, []*memory.Buffer{valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends))}, []arrow.ArrayData{items.Data()}, count, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// validity copies the bits of a without its offset; nil where nothing is null.
func validity(a arrow.Array) *memory.Buffer {
	if a.NullN() == 0 {
		return nil
	}
	bits := make([]byte, bitutil.BytesForBits(int64(a.Len())))
	for i := range a.Len() {
		if a.IsValid(i) {
			bitutil.SetBit(bits, i)
		}
	}
	return memory.NewBufferBytes(bits)
}

func asFixed(a *array.Binary, to *arrow.FixedSizeBinaryType) (arrow.Array, error) {
	out := make([]byte, a.Len()*to.ByteWidth)
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		v := a.Value(i)
		if len(v) != to.ByteWidth {
			return nil, fmt.Errorf("%d bytes have no place in a column of type %s", len(v), to)
		}
		copy(out[i*to.ByteWidth:], v)
	}
	d := array.NewData(to, a.Len(), []*memory.Buffer{validity(a), memory.NewBufferBytes(out)}, nil, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

func asHalves(a *array.Float32) arrow.Array {
	out := make([]float16.Num, a.Len())
	for i, v := range a.Float32Values() {
		out[i] = float16.FromBits(schema.HalfBits(float64(v)))
	}
	d := array.NewData(arrow.FixedWidthTypes.Float16, a.Len(), []*memory.Buffer{validity(a), memory.NewBufferBytes(arrow.Float16Traits.CastToBytes(out))}, nil, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d)
}
