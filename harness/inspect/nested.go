package inspect

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// half is the number that the bits of an IEEE 754 binary16 stand for. The library's own conversion loses those below 2^-14.
func half(bits uint16) float32 {
	sign, exponent, fraction := float64(1), int(bits>>10&0x1f), float64(bits&0x3ff)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return float32(math.Copysign(math.Ldexp(fraction, -24), sign))
	case 0x1f:
		if fraction != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(math.Copysign(math.Ldexp(1024+fraction, exponent-25), sign))
}

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
		return half(a.Value(i).Uint16())
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
