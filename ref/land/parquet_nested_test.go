package land

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
)

// parquetOf writes rows given as JSON under a schema.
func parquetOf(t testing.TB, rows string, fields ...arrow.Field) []byte {
	t.Helper()
	sc := arrow.NewSchema(fields, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, sc, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	return encoded(t, rec)
}

func vectorOf(n int32, item arrow.DataType) arrow.DataType {
	return arrow.FixedSizeListOfField(n, arrow.Field{Name: "element", Type: item})
}

func nestedParquet(t testing.TB) []byte {
	return parquetOf(t, `[
		{"s":{"a":1,"l":["x",null],"in":{"t":"1969-12-31 23:59:59.999999Z"}},"m":[{"key":"z","value":1},{"key":"a","value":null}],"l":[[1],[],null],"b":"AAE=","v":[1.5,-2]},
		{"s":{"a":null,"l":[],"in":null},"m":[],"l":[],"b":null,"v":[0,1]},
		{"s":null,"m":null,"l":null,"b":"/+8=","v":[3,4]}]`,
		field("s", arrow.StructOf(field("a", arrow.PrimitiveTypes.Int16), field("l", arrow.ListOf(arrow.BinaryTypes.String)),
			field("in", arrow.StructOf(field("t", arrow.FixedWidthTypes.Timestamp_us))))),
		field("m", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float32)), field("l", arrow.LargeListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64))),
		field("b", &arrow.FixedSizeBinaryType{ByteWidth: 2}), field("v", vectorOf(2, arrow.FixedWidthTypes.Float16)))
}

func TestParquetNested(t *testing.T) {
	data := nestedParquet(t)
	s := openStore(t, plain)
	r, err := land(s, "r1", "", parquetInput(data))
	must(t, r, err)
	for column, want := range map[string]string{"s": "struct<a: int32, l: list<utf8>, in: struct<t: timestamp>>", "m": "map<utf8, float64>", "l": "list<list<int64>>",
		"b": "binary(2)", "v": "float16[2]"} {
		wantType(t, s, column, want)
	}
	wantStored(t, s, "r1", "s", "{a:1 l:[x null] in:{t:1969-12-31T23:59:59.999999Z}}", "{l:[]}", "null")
	wantStored(t, s, "r1", "m", "<a=null z=1>", "<>", "null")
	wantStored(t, s, "r1", "l", "[[1] [] null]", "[]", "null")
	wantStored(t, s, "r1", "b", "0001", "null", "ffef")
	wantStored(t, s, "r1", "v", "[1.5 -2]", "[0 1]", "[3 4]")
	// What this build wrote lands again, nulls of vectors included, and means the same.
	r, err = land(s, "r2", "{\"v\":[1,2]}\n{\"m\":{\"k\":1}}\n{\"v\":null,\"s\":{\"l\":[\"y\"]}}\n")
	must(t, r, err)
	wantStored(t, s, "r2", "v", "[1 2]", "null", "null")
	r, err = land(s, "r3", "", parquetInput(nestedParquet(t)), func(o *Options) { o.Normalize = Native })
	must(t, r, err)
	tb, _ := s.Table("t")
	one, _ := tb.ReadRun("r1", "n1")
	if three, _ := tb.ReadRun("r3", "n1"); three.BatchDigest != one.BatchDigest {
		t.Error("one content has two digests")
	}
}

func TestParquetNestedMeets(t *testing.T) {
	s := openStore(t, plain)
	r, err := land(s, "r1", v(`{"a":1,"b":{"c":[1]}}`), types("v", "struct<a: int64, b: struct<c: list<int64>>>"))
	must(t, r, err)
	// A producer's file adds a field, and takes the table's types where nothing is lost.
	add := parquetOf(t, `[{"v":{"b":{"c":[2,null],"d":true},"a":7}}]`, field("v", arrow.StructOf(
		field("b", arrow.StructOf(field("c", arrow.ListOf(arrow.PrimitiveTypes.Int8)), field("d", arrow.FixedWidthTypes.Boolean))), field("a", arrow.PrimitiveTypes.Int32))))
	r, err = land(s, "r2", "", parquetInput(add))
	must(t, r, err)
	wantType(t, s, "v", "struct<a: int64, b: struct<c: list<int64>, d: boolean>>")
	wantStored(t, s, "r2", "v", "{b:{c:[2 null] d:true} a:7}")
	for name, bad := range map[string][]byte{
		"another item":        parquetOf(t, `[{"v":{"b":{"c":["x"]}}}]`, field("v", arrow.StructOf(field("b", arrow.StructOf(field("c", arrow.ListOf(arrow.BinaryTypes.String))))))),
		"a list":              parquetOf(t, `[{"v":[1]}]`, field("v", arrow.ListOf(arrow.PrimitiveTypes.Int64))),
		"a scalar":            parquetOf(t, `[{"v":1}]`, field("v", arrow.PrimitiveTypes.Int64)),
		"a name but for case": parquetOf(t, `[{"v":{"A":1}}]`, field("v", arrow.StructOf(field("A", arrow.PrimitiveTypes.Int64)))),
	} {
		if _, err := land(s, "r3", "", parquetInput(bad)); !errors.Is(err, fault.StoreSchemaIncompatible) && !errors.Is(err, fault.StoreColumnAmbiguous) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A declaration turns what it can, and refuses the rest.
	lists := parquetOf(t, `[{"e":[1,2]},{"e":null}]`, field("e", arrow.ListOf(arrow.PrimitiveTypes.Float32)))
	r, err = land(s, "r4", "", parquetInput(lists), types("e", "float16[2]"))
	must(t, r, err)
	wantStored(t, s, "r4", "e", "[1 2]", "null")
	for typ, code := range map[string]fault.Code{"float16[3]": fault.StoreSchemaIncompatible, "int64": fault.StoreSchemaIncompatible, "list<utf8>": fault.StoreSchemaIncompatible,
		"struct<a: int64>": fault.StoreSchemaIncompatible, "map<utf8, float64>": fault.StoreSchemaIncompatible, "binary(2)": fault.StoreSchemaIncompatible} {
		if _, err := land(openStore(t, plain), "r1", "", parquetInput(lists), types("e", typ)); !errors.Is(err, code) {
			t.Errorf("declared %s: %v", typ, err)
		}
	}
	part := parquetOf(t, `[{"v":{"a":1,"b":2}}]`, field("v", arrow.StructOf(field("a", arrow.PrimitiveTypes.Int64), field("b", arrow.PrimitiveTypes.Int64))))
	if _, err := land(openStore(t, plain), "r1", "", parquetInput(part), types("v", "struct<a: int64>")); !errors.Is(err, fault.StoreSchemaIncompatible) || !strings.Contains(err.Error(), `"v.b"`) {
		t.Errorf("a field that is not declared: %v", err)
	}
}

func TestParquetNestedRefusals(t *testing.T) {
	deepType := arrow.DataType(arrow.PrimitiveTypes.Int64)
	for range 16 {
		deepType = arrow.ListOf(deepType)
	}
	for name, c := range map[string]struct {
		rows string
		f    arrow.Field
		code fault.Code
		says string
	}{
		"deep":     {`[{"v":null}]`, field("v", deepType), fault.StoreUnsupported, "16"},
		"case":     {`[{"v":{"a":1,"A":2}}]`, field("v", arrow.StructOf(field("a", arrow.PrimitiveTypes.Int64), field("A", arrow.PrimitiveTypes.Int64))), fault.StoreColumnAmbiguous, "v.A"},
		"date":     {`[{"v":null}]`, field("v", arrow.ListOf(arrow.FixedWidthTypes.Date32)), fault.StoreUnsupported, "v"},
		"instant":  {`[{"v":["2300-01-01 00:00:00Z"]}]`, field("v", arrow.ListOf(arrow.FixedWidthTypes.Timestamp_us)), fault.StoreInputMalformed, `"v[]"`},
		"keys":     {`[{"v":[{"key":"a","value":1},{"key":"a","value":1}]}]`, field("v", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)), fault.StoreInputMalformed, "twice"},
		"number":   {`[{"v":[{"key":1,"value":1}]}]`, field("v", arrow.MapOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)), fault.StoreUnsupported, "v"},
		"uint64":   {`[{"v":[18446744073709551615]}]`, field("v", arrow.ListOf(arrow.PrimitiveTypes.Uint64)), fault.StoreInputMalformed, "int64"},
		"odd name": {`[{"v":{"a\u0001":1}}]`, field("v", arrow.StructOf(field("a\x01", arrow.PrimitiveTypes.Int64))), fault.StoreInputMalformed, "control"},
	} {
		s := openStore(t, plain)
		_, err := land(s, "r1", "", parquetInput(parquetOf(t, c.rows, c.f)))
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != c.code || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A damaged file is refused, or read: it takes nothing down.
func TestParquetNestedDamaged(t *testing.T) {
	data := nestedParquet(t)
	rs := newRules(nil, nil, nil, false)
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		c := newCollector("in", rs, newSpool(t.TempDir(), 1<<30))
		err := parquetRows(bytes.NewReader(bad), "in", t.TempDir(), rs)(context.Background(), c.take)
		if err == nil {
			_, err = c.digest(nil)
		}
		if err != nil && fault.CodeOf(err) == "" {
			t.Errorf("%v has no code", err)
		}
	}
}
