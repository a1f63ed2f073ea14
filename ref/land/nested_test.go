package land

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/store"
)

func native(o *Options)      { o.Normalize = Native }
func oneRowParts(o *Options) { o.partRows = 1 }

// stored gives a column of a run as its parts hold it, each value as JSON.
func stored(t testing.TB, s *store.Store, run, column string) []string {
	t.Helper()
	out := []string{}
	for _, p := range runOf(t, s, run).Parts {
		f, err := file.OpenParquetFile(path.Join(s.Root(), "tables/t/data/runs", run, "n1", p.Name), false)
		if err != nil {
			t.Fatal(err)
		}
		r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		tab, err := r.ReadTable(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range tab.Schema().FieldIndices(column) {
			for _, chunk := range tab.Column(k).Data().Chunks() {
				for i := range chunk.Len() {
					out = append(out, shown(chunk, i))
				}
			}
		}
		f.Close()
	}
	return out
}

func shown(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case array.ExtensionArray:
		return shown(a.Storage(), i)
	case *array.Struct:
		var out []string
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			if a.Field(k).IsValid(i) {
				out = append(out, f.Name+":"+shown(a.Field(k), i))
			}
		}
		return "{" + strings.Join(out, " ") + "}"
	case *array.Map:
		from, to := a.ValueOffsets(i)
		var out []string
		for k := from; k < to; k++ {
			out = append(out, shown(a.Keys(), int(k))+"="+shown(a.Items(), int(k)))
		}
		return "<" + strings.Join(out, " ") + ">"
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		var out []string
		for k := from; k < to; k++ {
			out = append(out, shown(a.ListValues(), int(k)))
		}
		return "[" + strings.Join(out, " ") + "]"
	case *array.Binary:
		return fmt.Sprintf("%x", a.Value(i))
	case *array.FixedSizeBinary:
		return fmt.Sprintf("%x", a.Value(i))
	case *array.Float16:
		return fmt.Sprint(schema.HalfValue(a.Value(i).Uint16()))
	}
	return a.ValueStr(i)
}

func wantType(t testing.TB, s *store.Store, column, want string) {
	t.Helper()
	if got := columnType(t, s, column); got != want {
		t.Errorf("the column is %s, not %s", got, want)
	}
}

func wantStored(t testing.TB, s *store.Store, run, column string, want ...string) {
	t.Helper()
	if got := stored(t, s, run, column); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("run %s holds %s = %s\nnot %s", run, column, strings.Join(got, " | "), strings.Join(want, " | "))
	}
}

// v makes a row of each value.
func v(values ...string) string {
	var b strings.Builder
	for _, x := range values {
		fmt.Fprintf(&b, "{\"v\":%s}\n", x)
	}
	return b.String()
}

func TestNativeInfersOverTheWholeBatch(t *testing.T) {
	for _, c := range []struct {
		name, rows, typ string
		want            []string
	}{
		{"fields join", v(`{"a":1}`, `{"b":"x"}`, `null`, `{"a":2.5,"b":null}`), "struct<a: float64, b: utf8>", []string{"{a:1}", "{b:x}", "null", "{a:2.5}"}},
		{"nested", v(`{"a":[{"x":1},{"y":true}]}`, `{"a":[]}`), "struct<a: list<struct<x: int64, y: boolean>>>", []string{"{a:[{x:1} {y:true}]}", "{a:[]}"}},
		{"lists", v(`[1,null]`, `[]`, `[0.5]`), "list<float64>", []string{"[1 null]", "[]", "[0.5]"}},
		{"escapes in names", v(`{"a\"\u00e9 b":1}`), `struct<"a\"é b": int64>`, []string{`{a"é b:1}`}},
		{"object and list", v(`{"a":1}`, `[1]`), "json", []string{`{"a":1}`, `[1]`}},
		{"number, then object", v(`7`, `0.5`, `{"b":1,"a":1}`, `"x"`, `true`), "json", []string{`7`, `0.5`, `{"a":1,"b":1}`, `"x"`, `true`}},
		{"text, then object, then number", v(`"7"`, `{"a":1}`, `7`), "json", []string{`"7"`, `{"a":1}`, `7`}},
		{"number and text, then object", v(`1`, `"x"`, `{}`), "json", []string{`1`, `"x"`, `{}`}},
		{"several kinds in a field", v(`{"a":1}`, `{"a":"x"}`), "json", []string{`{"a":1}`, `{"a":"x"}`}},
		{"nothing to type", v(`{}`, `{"a":null}`), "json", []string{`{}`, `{"a":null}`}},
		{"empty lists", v(`[]`, `[null]`), "json", []string{`[]`, `[null]`}},
		{"a name no field has", v(`{"":1}`), "json", []string{`{"":1}`}},
		{"case", v(`{"a":1,"A":2}`), "json", []string{`{"A":2,"a":1}`}},
		{"an integer past int64", v(`{"a":9223372036854775808}`), "json", []string{`{"a":9223372036854775808}`}},
		{"digits that a float loses", v(`{"a":9007199254740993}`, `{"a":0.5}`), "json", []string{`{"a":9007199254740993}`, `{"a":0.5}`}},
		{"deep", v(strings.Repeat("[", 17) + "1" + strings.Repeat("]", 17)), "json", []string{strings.Repeat("[", 17) + "1" + strings.Repeat("]", 17)}},
		{"scalars are what they were", v(`7`, `8`), "int64", []string{"7", "8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range []func(*Options){func(*Options) {}, oneRowParts, func(o *Options) { o.MemoryBytes = 1 }} {
				s := openStore(t, plain)
				r, err := land(s, "r1", c.rows, native, change)
				must(t, r, err)
				wantType(t, s, "v", c.typ)
				wantStored(t, s, "r1", "v", c.want...)
				if r, err := land(s, "r1", c.rows, native); err != nil || !r.Replayed {
					t.Errorf("landed again: %v %v", r, err)
				}
			}
		})
	}
}

func TestNativeMeetsWhatTheTableHolds(t *testing.T) {
	s := openStore(t, plain)
	first := v(`{"a":1,"b":{"c":"x"}}`)
	r, err := land(s, "r1", first, native)
	must(t, r, err)
	r, err = land(s, "r2", v(`{"b":{"d":[1]},"e":true}`, `{"a":0.5}`), native)
	must(t, r, err)
	wantType(t, s, "v", "struct<a: float64, b: struct<c: utf8, d: list<int64>>, e: boolean>")
	wantStored(t, s, "r2", "v", "{b:{d:[1]} e:true}", "{a:0.5}")
	if r, err := land(s, "r1", first, native); err != nil || !r.Replayed {
		t.Errorf("the first run again, now that the table has more: %v %v", r, err)
	}
	// Without native the type the table has is the type, and a key it lacks is refused.
	if _, err := land(s, "r3", v(`{"a":1}`, `{"b":{"z":1}}`)); !errors.Is(err, fault.StoreSchemaIncompatible) || !strings.Contains(fmt.Sprint(err), `"v.b.z"`) || !strings.Contains(fmt.Sprint(err), ":2") {
		t.Errorf("an unknown key: %v", err)
	}
	for _, bad := range []string{`7`, `[1]`, `{"a":"x"}`, `{"b":7}`, `{"e":[]}`} {
		before := tree(t, s)
		if _, err := land(s, "r4", v(`{"a":1}`, bad), native); !errors.Is(err, fault.StoreSchemaIncompatible) {
			t.Errorf("%s: %v", bad, err)
		}
		if tree(t, s) != before {
			t.Errorf("%s left something", bad)
		}
	}
	// What the table has as json stays json, whatever comes.
	r, err = land(s, "r5", "{\"j\":{\"a\":1}}\n")
	must(t, r, err)
	r, err = land(s, "r6", "{\"j\":[1]}\n{\"j\":\"x\"}\n{\"j\":7}\n", native)
	must(t, r, err)
	wantType(t, s, "j", "json")
	wantStored(t, s, "r6", "j", "[1]", `"x"`, "7")
	// And a number stays one.
	r, err = land(s, "r7", "{\"n\":1}\n")
	must(t, r, err)
	if _, err := land(s, "r8", "{\"n\":{\"a\":1}}\n", native); !errors.Is(err, fault.StoreSchemaIncompatible) {
		t.Errorf("an object into int64: %v", err)
	}
}

func TestNativeRefusesScalarsOfTwoKinds(t *testing.T) {
	s := openStore(t, plain)
	_, err := land(s, "r1", v(`1`, `null`, `"x"`), native)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.StoreSchemaIncompatible || !strings.Contains(f.Message, "rows.jsonl:3") {
		t.Errorf("without an object beside them they have no type: %v", err)
	}
	if _, err := land(s, "r1", v(`{"a":1}`), func(o *Options) { o.Normalize = "xml" }); !errors.Is(err, fault.StoreDeclarationInvalid) {
		t.Error(err)
	}
}

// A batch may be asked for its digest before it is committed: the types are settled once.
func TestNativeDigestTwice(t *testing.T) {
	s := openStore(t, plain)
	b, err := Read(context.Background(), s, Options{Table: "t", Input: strings.NewReader(v(`{"a":1}`, `{"b":2}`)), SiteID: "s", Normalize: Native})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	one, err := b.Digest(nil)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := b.Digest(json.RawMessage(`null`)); err != nil || two == one {
		t.Fatal(two, err)
	}
	r, err := b.Commit(context.Background(), Ending{RunID: "r1"})
	must(t, r, err)
	tb, _ := s.Table("t")
	if m, err := tb.ReadRun("r1", "n1"); err != nil || m.BatchDigest != one {
		t.Fatal(m, err)
	}
}
