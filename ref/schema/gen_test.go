package schema

import (
	"fmt"

	"pgregory.net/rapid"
)

// genType draws a type of at most the given depth.
func genType(depth int) *rapid.Generator[Type] {
	return rapid.Custom(func(t *rapid.T) Type {
		top := 9
		if depth > 0 {
			top = 12
		}
		switch k := rapid.IntRange(0, top).Draw(t, "kind"); k {
		case 0, 1, 2, 3, 4, 5, 6:
			return Of([]Kind{Boolean, Int32, Int64, Float64, Utf8, JSON, Timestamp}[k])
		case 7:
			return Of(rapid.SampledFrom([]Kind{Binary, Variant}).Draw(t, "b"))
		case 8:
			return Type{Kind: FixedBinary, Width: rapid.IntRange(1, 3).Draw(t, "w")}
		case 9:
			return Type{Kind: rapid.SampledFrom([]Kind{Vector32, Vector16}).Draw(t, "v"), Dim: rapid.IntRange(1, 2).Draw(t, "d")}
		case 10:
			e := genType(depth-1).Draw(t, "item")
			return Type{Kind: List, Elem: &e}
		case 11:
			e := genType(depth-1).Draw(t, "value")
			return Type{Kind: Map, Elem: &e}
		default:
			out := Type{Kind: Struct}
			names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c d", "ü", `q"`}), 1, 3, rapid.ID).Draw(t, "fields")
			for _, n := range names {
				out.Fields = append(out.Fields, Field{n, genType(depth-1).Draw(t, "f")})
			}
			return out
		}
	})
}

// genSchema draws settled schemas over few names and mostly joinable types, so that merges often succeed.
func genSchema() *rapid.Generator[*Schema] {
	return rapid.Custom(func(t *rapid.T) *Schema {
		s := &Schema{}
		for i, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "B"}), 0, 4, rapid.ID).Draw(t, "names") {
			c := Column{Name: n, Nullable: true}
			switch rapid.IntRange(0, 3).Draw(t, fmt.Sprint("style", i)) {
			case 0:
				c.Type = genType(2).Draw(t, "any")
			case 1:
				c.Type = Of(rapid.SampledFrom([]Kind{Int64, Float64}).Draw(t, "number"))
			default:
				c.Type = Of(rapid.SampledFrom([]Kind{Utf8, JSON}).Draw(t, "text"))
			}
			if rapid.Bool().Draw(t, "described") {
				c.Metadata = map[string]string{"note": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "note")}
			}
			if rapid.Bool().Draw(t, "dated") {
				if c.Metadata == nil {
					c.Metadata = map[string]string{}
				}
				// Two spellings of one instant, neighbours of which the text sorts the other way, and what is no instant.
				c.Metadata[MetaFirstLandedAt] = rapid.SampledFrom([]string{"2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000000000Z",
					"2024-01-01T00:00:00.000000001Z", "2024-01-01T01:00:00+02:00", "never", ""}).Draw(t, "first")
			}
			s.Columns = append(s.Columns, c)
		}
		if rapid.Bool().Draw(t, "stamped") {
			s.Columns = append(s.Columns, Injected()...)
		}
		if rapid.Bool().Draw(t, "keyed") {
			s.Metadata = map[string]string{"contextful.primary_key": rapid.SampledFrom([]string{`["a"]`, `["b"]`}).Draw(t, "pk")}
		}
		return s
	})
}
