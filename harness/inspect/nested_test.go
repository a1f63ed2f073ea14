package inspect

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"
)

func TestNestedCellsOfAPart(t *testing.T) {
	f := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	sc := arrow.NewSchema([]arrow.Field{
		f("s", arrow.StructOf(f("a", arrow.PrimitiveTypes.Int64), f("l", arrow.ListOf(arrow.BinaryTypes.String)))),
		f("m", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)),
		f("v", arrow.FixedSizeListOfField(2, arrow.Field{Name: "element", Type: arrow.FixedWidthTypes.Float16})),
		f("b", &arrow.FixedSizeBinaryType{ByteWidth: 2}),
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, sc, bytes.NewReader([]byte(
		`[{"s":{"a":1,"l":["x",null,""]},"m":[{"key":"k","value":0.5}],"v":[1.5,-0.25],"b":"AAE="},
		  {"s":{"a":null,"l":[]},"m":[],"v":[0,1],"b":null},{"s":null,"m":null,"v":[0,0],"b":null}]`)))
	require.NoError(t, err)
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "part.parquet")
	out, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(sc, out, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	g, err := ParquetRows(path)
	require.NoError(t, err)
	require.Equal(t, []any{map[string]any{"a": int64(1), "l": []any{"x", nil, ""}}, map[string]any{"k": 0.5}, []any{float32(1.5), float32(-0.25)}, "AAE="}, g.Rows[0])
	require.Equal(t, []any{map[string]any{"a": nil, "l": []any{}}, map[string]any{}, []any{float32(0), float32(1)}, nil}, g.Rows[1])
	require.Nil(t, g.Rows[2][0])
	require.Nil(t, g.Rows[2][1])
}

func TestTypesOfASchemaAreWrittenAsDeclared(t *testing.T) {
	text := `{"fields":[
	{"name":"v","type":{"name":"fixedsizelist","listSize":3},"children":[{"name":"element","type":{"name":"floatingpoint","precision":"HALF"}}]},
	{"name":"m","type":{"name":"map"},"children":[{"name":"entries","type":{"name":"struct"},"children":[{"name":"key","type":{"name":"utf8"}},{"name":"value","type":{"name":"list"},"children":[{"name":"element","type":{"name":"int","bitWidth":64}}]}]}]},
	{"name":"s","type":{"name":"struct"},"children":[{"name":"a","type":{"name":"bool"}},{"name":"b c","type":{"name":"utf8"}}]},
	{"name":"x","type":{"name":"struct"},"metadata":[{"key":"ARROW:extension:name","value":"contextful.variant"}],"children":[{"name":"kind","type":{"name":"utf8"}}]}]}`
	fields, err := DecodeSchema("s", []byte(text))
	require.NoError(t, err)
	var got []string
	for _, f := range fields {
		got = append(got, f.Type)
	}
	require.Equal(t, []string{"float16[3]", "map<utf8, list<int64>>", `struct<a: boolean, "b c": utf8>`, "variant"}, got)
}
