package inspect

import (
	"encoding/json"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// nestedCell is a cell that is no plain scalar: a list or a vector is []any, a struct or a map map[string]any, each item as
// cell gives it. The items of a Float16 vector come as the float32 they are equal to.
func nestedCell(a arrow.Array, i int) any {
	switch a := a.(type) {
	case array.ExtensionArray:
		return cell(a.Storage(), i)
	case *array.Dictionary:
		return cell(a.Dictionary(), a.GetValueIndex(i))
	case *array.Float32:
		return a.Value(i)
	case *array.Float16:
		return a.Value(i).Float32()
	case *array.Map:
		from, to := a.ValueOffsets(i)
		out := map[string]any{}
		for k := from; k < to; k++ {
			out[a.Keys().ValueStr(int(k))] = cell(a.Items(), int(k))
		}
		return out
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		out := make([]any, 0, to-from)
		for k := from; k < to; k++ {
			out = append(out, cell(a.ListValues(), int(k)))
		}
		return out
	case *array.Struct:
		out := map[string]any{}
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			out[f.Name] = cell(a.Field(k), i)
		}
		return out
	}
	text, err := json.Marshal(a.GetOneForMarshal(i))
	if err != nil {
		return a.ValueStr(i)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return a.ValueStr(i)
	}
	return v
}
