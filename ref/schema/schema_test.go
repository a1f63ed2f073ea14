package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"contextful/ref/fault"
)

func mustType(t *testing.T, text string) Type {
	t.Helper()
	ty, err := ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return ty
}

func TestParseTypeCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"boolean": "boolean", " int32 ": "int32", "binary(32)": "binary(32)", "binary ( 7 )": "binary(7)", "float16[384]": "float16[384]",
		"list<list< utf8 >>": "list<list<utf8>>", "map<utf8,int64>": "map<utf8, int64>", "variant": "variant",
		`struct<a:int64,"b c" : list<json>>`: `struct<a: int64, "b c": list<json>>`,
	} {
		if got := mustType(t, in).String(); got != want {
			t.Errorf("%q reads as %q, want %q", in, got, want)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	for _, in := range []string{"", "int", "Int64", "int64 int64", "binary(0)", "binary(01)", "binary(-1)", "binary(9999999)", "float32", "float32[]",
		"float32[0]", "list", "list<>", "list<int64", "map<int64, utf8>", "map<utf8>", "struct<>", "struct<a>", "struct<a:>", "struct<a: int64, A: utf8>",
		"struct<a: int64, a: int64>", `struct<"": int64>`, `struct<"x: int64>`, "null", "timestamp(3)", "int64\x00", "\xff",
		strings.Repeat("list<", 20) + "utf8" + strings.Repeat(">", 20), strings.Repeat("x", 100_000)} {
		if _, err := ParseType(in); !errors.Is(err, fault.StoreTypeUnknown) {
			t.Errorf("%.40q: got %v, want StoreTypeUnknown", in, err)
		}
	}
}

func TestMergeTypeTable(t *testing.T) {
	for _, c := range [][3]string{
		{"int64", "float64", "float64"}, {"utf8", "json", "json"}, {"int32", "int32", "int32"},
		{"list<int64>", "list<float64>", "list<float64>"}, {"map<utf8, utf8>", "map<utf8, json>", "map<utf8, json>"},
		{"struct<a: int64>", "struct<b: utf8>", "struct<a: int64, b: utf8>"},
		{"int32", "int64", ""}, {"int32", "float64", ""}, {"utf8", "int64", ""}, {"json", "int64", ""}, {"boolean", "int64", ""},
		{"timestamp", "utf8", ""}, {"binary", "binary(3)", ""}, {"binary(2)", "binary(3)", ""}, {"float32[2]", "float32[3]", ""},
		{"float32[2]", "float16[2]", ""}, {"list<int64>", "map<utf8, int64>", ""}, {"int64", "list<int64>", ""}, {"list<utf8>", "json", ""},
		{"variant", "utf8", ""}, {"binary", "utf8", ""},
	} {
		for i := range 2 {
			got, err := MergeType(mustType(t, c[i]), mustType(t, c[1-i]))
			if c[2] == "" {
				if !errors.Is(err, fault.StoreSchemaIncompatible) {
					t.Errorf("%s with %s: %v %v, want a refusal", c[i], c[1-i], got, err)
				}
			} else if err != nil || !got.Equal(mustType(t, c[2])) {
				t.Errorf("%s with %s: %v %v, want %s", c[i], c[1-i], got, err, c[2])
			}
		}
	}
}

func table(cols ...string) *Schema {
	s := &Schema{}
	for i := 0; i < len(cols); i += 2 {
		ty, err := ParseType(cols[i+1])
		if err != nil {
			panic(err)
		}
		s.Columns = append(s.Columns, Column{Name: cols[i], Type: ty, Nullable: true})
	}
	return s
}

// What Merge lets pass, Decode reads: a struct that grew past the bound would leave a table that nobody can read any more.
func TestMergeBoundsStructs(t *testing.T) {
	record := func(from, n int) *Schema {
		st := Type{Kind: Struct}
		for i := range n {
			st.Fields = append(st.Fields, Field{fmt.Sprintf("f%d", from+i), Of(Int64)})
		}
		l := Type{Kind: List, Elem: &st}
		return &Schema{Columns: []Column{{Name: "l", Type: Type{Kind: Struct, Fields: []Field{{"in", l}}}, Nullable: true}}}
	}
	for what, pair := range map[string][2]*Schema{"first": {nil, record(0, MaxFields+1)}, "grown": {record(0, MaxFields), record(1, MaxFields)}} {
		if _, err := Merge(pair[0], pair[1], nil); !errors.Is(err, fault.StoreSchemaIncompatible) || !strings.Contains(err.Error(), `"l.in[]"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s, err := Merge(record(0, MaxFields), record(0, MaxFields), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data, "schema.json"); err != nil {
		t.Error(err)
	}
}

func TestMergeNamesWhatItRefuses(t *testing.T) {
	for _, c := range []struct {
		a, b *Schema
		keys []string
		code fault.Code
		says []string
	}{
		{table("n", "int64"), table("n", "utf8"), nil, fault.StoreSchemaIncompatible, []string{`"n"`, "int64", "utf8"}},
		{table("x", "struct<a: list<int64>>"), table("x", "struct<a: list<utf8>>"), nil, fault.StoreSchemaIncompatible, []string{`"x.a[]"`, "int64", "utf8"}},
		{table("id", "int64"), table("id", "float64"), []string{"id"}, fault.StoreKeyWidened, []string{`"id"`}},
		{table("id", "float64"), table("id", "int64"), []string{"id"}, fault.StoreKeyWidened, []string{`"id"`}},
		{table("Name", "utf8"), table("name", "utf8"), nil, fault.StoreColumnAmbiguous, []string{`"Name"`, `"name"`}},
		{table("x", "struct<a: utf8>"), table("x", "struct<A: utf8>"), nil, fault.StoreColumnAmbiguous, []string{`"x.A"`, `"x.a"`}},
		{table(), table("Ä", "utf8", "ä", "utf8"), nil, fault.StoreColumnAmbiguous, []string{"Ä", "ä"}},
		{&Schema{Metadata: map[string]string{"contextful.primary_key": "1"}}, &Schema{Metadata: map[string]string{"contextful.primary_key": "2"}}, nil,
			fault.StoreDeclarationChanged, []string{"primary_key"}},
	} {
		_, err := Merge(c.a, c.b, c.keys)
		if !errors.Is(err, c.code) {
			t.Errorf("got %v, want %s", err, c.code)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%v does not name %s", err, s)
			}
		}
	}
}

func TestMergeOrder(t *testing.T) {
	stored := table("b", "int64", "a", "utf8")
	stored.Columns = append(stored.Columns, Injected()...)
	out, err := Merge(stored, table("z", "utf8", "a", "utf8", "c", "json"), []string{"b"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range out.Columns {
		names = append(names, c.Name)
		if c.Nullable == IsInjected(c.Name) {
			t.Errorf("%s has nullable %t", c.Name, c.Nullable)
		}
	}
	if got := strings.Join(names, " "); got != "b a z c _ingested_at _run_id _site_id _row_seq _commit_seq" {
		t.Fatal(got)
	}
}

func TestLatticeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genSchema().Draw(t, "a"), genSchema().Draw(t, "b"), genSchema().Draw(t, "c")
		same := func(law string, x *Schema, xe error, y *Schema, ye error) {
			if (xe == nil) != (ye == nil) {
				t.Fatalf("%s: %v against %v", law, xe, ye)
			}
			if xe == nil && !x.Equal(y) {
				t.Fatalf("%s: %v against %v", law, x, y)
			}
		}
		ab, abErr := Merge(a, b, nil)
		ba, baErr := Merge(b, a, nil)
		same("commutative", ab, abErr, ba, baErr)
		chain := func(x, y *Schema, err error, flip bool) (*Schema, error) {
			if err != nil {
				return nil, err
			}
			if flip {
				return Merge(y, x, nil)
			}
			return Merge(x, y, nil)
		}
		bc, bcErr := Merge(b, c, nil)
		left, leftErr := chain(ab, c, abErr, false)
		right, rightErr := chain(bc, a, bcErr, true)
		same("associative", left, leftErr, right, rightErr)
		aa, aaErr := Merge(a, a, nil)
		if one, err := Merge(nil, a, nil); err == nil {
			same("idempotent", aa, aaErr, one, nil)
			again, err := Merge(one, a, nil)
			same("absorbing", again, err, one, nil)
		}
		// What the bucket has first, merged on both sides, ends at the same bytes.
		if abErr == nil {
			x, _ := Encode(ab)
			back, err := Merge(ab, b, nil)
			if err != nil {
				t.Fatal(err)
			}
			if y, _ := Encode(back); string(x) != string(y) {
				t.Fatalf("merging again changed the bytes:\n%s\n%s", x, y)
			}
		}
	})
}

func TestTypeRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ty := genType(3).Draw(t, "type")
		back, err := ParseType(ty.String())
		if err != nil || back.String() != ty.String() {
			t.Fatalf("%s reads back as %s, %v", ty, back, err)
		}
		s := &Schema{Columns: []Column{{Name: "c", Type: ty, Nullable: true, Metadata: map[string]string{"k": "v"}}}, Metadata: map[string]string{"m": "n"}}
		data, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		dec, err := Decode(data, "schema.json")
		if err != nil || !dec.Equal(s) || dec.Columns[0].Type.String() != ty.String() {
			t.Fatalf("%s\n%v %v", data, dec, err)
		}
		arr, err := FromArrow(s.Arrow())
		if err != nil || !arr.Equal(s) {
			t.Fatalf("through Arrow: %v %v", arr, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	field := func(ty string) string {
		return `{"fields":[{"name":"a","nullable":true,"children":[],"type":` + ty + `}]}`
	}
	for _, in := range []string{"", "null", "[]", "{}", `{"fields":[]} x`, `{"fields":[],"fields":[]}`, `{"fields":[{"name":""}]}`, "{\"fields\":[{\"name\":\"\xff\"}]}",
		field(`{"name":"int","bitWidth":16,"isSigned":true}`), field(`{"name":"date","unit":"DAY"}`), field(`{"name":"timestamp","unit":"SECOND"}`),
		field(`{"name":"floatingpoint","precision":"SINGLE"}`), field(`{"name":"list"}`), field(`{"name":"struct"}`), field(`{"name":"fixedsizebinary","byteWidth":-1}`),
		`{"fields":[{"name":"a","type":{"name":"bool"}},{"name":"a","type":{"name":"bool"}}]}`, strings.Repeat(" ", MaxJSON+1),
		strings.Repeat(`{"fields":[{"name":"a","type":{"name":"list"},"children":[`, 1) + strings.Repeat(`{"name":"e","type":{"name":"list"},"children":[`, 40) + strings.Repeat("]}", 41) + "]}"} {
		if _, err := Decode([]byte(in), "t/schema.json"); !errors.Is(err, fault.StoreManifestInvalid) || !strings.Contains(err.Error(), "t/schema.json") {
			t.Errorf("%.60q: %v", in, err)
		}
	}
	if _, err := Decode([]byte(`{"fields":[{"name":"a","type":{"name":"bool"}},{"name":"A","type":{"name":"bool"}}]}`), "s"); !errors.Is(err, fault.StoreColumnAmbiguous) {
		t.Error(err)
	}
	s, err := Decode([]byte(`{"fields":[{"name":"a","type":{"name":"utf8"},"nullable":true,"new":1,"metadata":{"ARROW:extension:name":"arrow.json","k":"v"}}],"metadata":{"x":"y"},"later":[]}`), "s")
	if err != nil || s.Columns[0].Type.Kind != JSON || s.Columns[0].Metadata["k"] != "v" || s.Metadata["x"] != "y" {
		t.Error(s, err)
	}
}

func TestFromArrowForeign(t *testing.T) {
	f := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	s, err := FromArrow(arrow.NewSchema([]arrow.Field{
		f("a", arrow.PrimitiveTypes.Uint16), f("b", arrow.PrimitiveTypes.Uint32), f("c", arrow.PrimitiveTypes.Float32), f("d", arrow.BinaryTypes.LargeString),
		f("e", &arrow.TimestampType{Unit: arrow.Second}), f("f", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}),
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Kind{Int32, Int64, Float64, Utf8, Timestamp, Utf8} {
		if s.Columns[i].Type.Kind != want {
			t.Errorf("%s is %s", s.Columns[i].Name, s.Columns[i].Type)
		}
	}
	for _, dt := range []arrow.DataType{arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 9, Scale: 2}, arrow.FixedWidthTypes.Time64ns,
		arrow.ListOf(arrow.FixedWidthTypes.Date32), arrow.StructOf()} {
		if _, err := FromArrow(arrow.NewSchema([]arrow.Field{f("odd", dt)}, nil)); !errors.Is(err, fault.StoreUnsupported) || !strings.Contains(err.Error(), `"odd`) {
			t.Errorf("%s: %v", dt, err)
		}
	}
	if _, err := FromArrow(arrow.NewSchema([]arrow.Field{f("a", arrow.PrimitiveTypes.Int64), f("A", arrow.PrimitiveTypes.Int64)}, nil)); !errors.Is(err, fault.StoreColumnAmbiguous) {
		t.Error(err)
	}
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"int64", "struct<a: list<map<utf8, float32[3]>>, \"b c\": binary(2)>", "list<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		ty, err := ParseType(in)
		if err != nil {
			return
		}
		if back, err := ParseType(ty.String()); err != nil || !back.Equal(ty) {
			t.Fatalf("%q prints as %q: %v", in, ty.String(), err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	seed := table("a", "int64", "b", "struct<x: list<float16[2]>, y: map<utf8, json>>", "c", "variant", "d", "binary(3)")
	data, err := Encode(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"fields":[]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Decode(in, "s")
		if err != nil {
			return
		}
		again, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again, "s")
		if err != nil || !back.Equal(s) {
			t.Fatalf("%s\n%v", again, err)
		}
	})
}
