package ducktest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"contextful/ref/schema"

	"pgregory.net/rapid"
)

// RandomType draws a column type of at most the given depth; names are such as need quoting.
func RandomType(depth int) *rapid.Generator[schema.Type] {
	return rapid.Custom(func(t *rapid.T) schema.Type {
		top := 11
		if depth > 0 {
			top = 15
		}
		switch k := rapid.IntRange(0, top).Draw(t, "kind"); k {
		case 0, 1, 2, 3, 4, 5, 6, 7:
			return schema.Of([]schema.Kind{schema.Boolean, schema.Int32, schema.Int64, schema.Float64, schema.Utf8, schema.JSON, schema.Timestamp, schema.Binary}[k])
		case 8:
			return schema.Of(schema.Variant)
		case 9:
			return schema.Type{Kind: schema.FixedBinary, Width: rapid.IntRange(1, 3).Draw(t, "width")}
		case 10, 11:
			return schema.Type{Kind: []schema.Kind{schema.Vector32, schema.Vector16}[k-10], Dim: rapid.IntRange(1, 3).Draw(t, "dim")}
		case 12:
			elem := RandomType(depth-1).Draw(t, "item")
			return schema.Type{Kind: schema.List, Elem: &elem}
		case 13:
			elem := RandomType(depth-1).Draw(t, "value")
			return schema.Type{Kind: schema.Map, Elem: &elem}
		}
		out := schema.Type{Kind: schema.Struct}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b.c", "d e", "ü", `q"x`, "select", "element"}), 1, 3, rapid.ID).Draw(t, "fields") {
			out.Fields = append(out.Fields, schema.Field{Name: name, Type: RandomType(depth-1).Draw(t, "field")})
		}
		return out
	})
}

// RandomValue draws a value of the type as arrow-go's RecordFromJSON reads it, null among them.
func RandomValue(typ schema.Type) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return nil
		}
		return randomValue(t, typ)
	})
}

func randomValue(t *rapid.T, typ schema.Type) any {
	number := func() json.Number {
		return json.Number(fmt.Sprint(float64(rapid.IntRange(-8, 8).Draw(t, "eighths")) / 8))
	}
	switch typ.Kind {
	case schema.Boolean:
		return rapid.Bool().Draw(t, "boolean")
	case schema.Int32:
		return rapid.Int32().Draw(t, "int32")
	case schema.Int64:
		return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "int64")))
	case schema.Float64:
		return number()
	case schema.Utf8:
		return rapid.SampledFrom([]string{"", "x", `"`, "\n", "null", "été"}).Draw(t, "text")
	case schema.JSON:
		return rapid.SampledFrom([]string{`{}`, `{"a":[1,null]}`, `"x"`, `null`, `1.50`}).Draw(t, "document")
	case schema.Timestamp:
		return time.Unix(0, rapid.Int64Range(-1<<40, 1<<60).Draw(t, "nanos")).UTC().Format("2006-01-02T15:04:05.000000000Z")
	case schema.Binary:
		return base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes"))
	case schema.FixedBinary:
		return base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), typ.Width, typ.Width).Draw(t, "bytes"))
	case schema.Variant:
		return rapid.SampledFrom([]map[string]any{
			{"kind": "string", "string": "x"}, {"kind": "int64", "int64": json.Number("9007199254740993")}, {"kind": "float64", "float64": 0.5},
			{"kind": "boolean", "boolean": false}, {"kind": "bytes", "bytes": "AA=="},
		}).Draw(t, "variant")
	case schema.Vector32, schema.Vector16:
		items := make([]any, typ.Dim)
		for i := range items {
			items[i] = number()
		}
		return items
	case schema.List:
		return rapid.SliceOfN(RandomValue(*typ.Elem), 0, 3).Draw(t, "items")
	case schema.Map:
		entries := []any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "k", `q"`, "a.b"}), 0, 3, rapid.ID).Draw(t, "keys") {
			entries = append(entries, map[string]any{"key": k, "value": RandomValue(*typ.Elem).Draw(t, "value")})
		}
		return entries
	}
	object := map[string]any{}
	for _, f := range typ.Fields {
		object[f.Name] = RandomValue(f.Type).Draw(t, "member")
	}
	return object
}
