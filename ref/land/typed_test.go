package land

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"contextful/ref/fault"
)

func TestTypedValues(t *testing.T) {
	for _, c := range []struct {
		typ, rows string
		want      []string
	}{
		{"binary", v(`""`, `"AAE="`, `null`), []string{"", "0001", "null"}},
		{"binary(2)", v(`"AAE="`, `null`, `"/+8="`), []string{"0001", "null", "ffef"}},
		{"float32[2]", v(`null`, `[1, -0.5]`, `[3.4e38,1e-45]`, `["NaN","-inf"]`, `null`), []string{"null", "[1 -0.5]", "[3.4e+38 1e-45]", "[NaN -Inf]", "null"}},
		{"float16[3]", v(`[0.1, 65504, 65519.99]`, `null`, `[2049, 2051, -0]`, `[6e-8, 2.9e-8, "inf"]`),
			[]string{"[0.099975586 65504 65504]", "null", "[2048 2052 -0]", "[5.9604645e-08 0 +Inf]"}},
		{"struct<a: int64, b: struct<c: utf8>>", v(`{}`, `{"b":{"c":""},"a":null}`, `{"b":null}`, `{"b":{}}`, `null`), []string{"{}", "{b:{c:}}", "{}", "{b:{}}", "null"}},
		{"list<int32>", v(`[]`, `[ 1 , null ]`, `null`), []string{"[]", "[1 null]", "null"}},
		{"list<list<utf8>>", v(`[[],null,["a",""]]`), []string{"[[] null [a ]]"}},
		{"map<utf8, float64>", v(`{"b":1,"a":null,"":-0.0}`, `{}`), []string{"<=-0 a=null b=1>", "<>"}},
		{"map<utf8, list<struct<x: timestamp>>>", v(`{"k":[{"x":"1969-12-31T23:59:59.999999999Z"},null]}`), []string{"<k=[{x:1969-12-31T23:59:59.999999999Z} null]>"}},
		{"list<json>", v(`[1, "x", {"b":1,"a":[]}, null]`), []string{`[1 "x" {"a":[],"b":1} null]`}},
		{"list<binary(1)>", v(`["AA==",null]`), []string{"[00 null]"}},
		{"list<float32[2]>", v(`[[1,2],null,[3,4]]`, `null`), []string{"[[1 2] null [3 4]]", "null"}},
		{"struct<v: float16[1], w: binary(3)>", v(`{"v":[1]}`, `{"w":"AAEC"}`, `null`), []string{"{v:[1]}", "{w:000102}", "null"}},
		{"variant", v(`"7"`, `7`, `7.0`, `true`, `null`, `{"kind":"bytes","bytes":"AA=="}`, `{"kind":"int64","int64":-9223372036854775808,"string":null}`,
			`{"kind":"string","string":""}`, `{"kind":"float64","float64":"NaN"}`, `{"kind":null}`, `{"boolean":false,"kind":"boolean"}`),
			[]string{"{kind:string string:7}", "{kind:int64 int64:7}", "{kind:float64 float64:7}", "{kind:boolean boolean:true}", "null", "{kind:bytes bytes:AA==}",
				"{kind:int64 int64:-9223372036854775808}", "{kind:string string:}", "{kind:float64 float64:NaN}", "null", "{kind:boolean boolean:false}"}},
		{"list<variant>", v(`[1,"1",null]`), []string{"[{kind:int64 int64:1} {kind:string string:1} null]"}},
		{"float64", v(`"NaN"`, `"inf"`, `"-inf"`, `-0`, `1`), []string{"NaN", "+Inf", "-Inf", "-0", "1"}},
		{"struct<\"a b\": int64, select: utf8, x.y: boolean>", v(`{"a b":1,"select":"é","x.y":true}`), []string{"{a b:1 select:é x.y:true}"}},
	} {
		t.Run(c.typ, func(t *testing.T) {
			var before string
			for _, change := range []func(*Options){func(*Options) {}, oneRowParts, func(o *Options) { o.MemoryBytes = 1 }} {
				s := openStore(t, plain)
				r, err := land(s, "r1", c.rows, types("v", c.typ), change)
				must(t, r, err)
				wantType(t, s, "v", c.typ)
				wantStored(t, s, "r1", "v", c.want...)
				// Once the table has the type, the same values land as it without anybody saying so.
				if c.typ == "float64" {
					continue
				}
				r, err = land(s, "r2", c.rows, change)
				must(t, r, err)
				wantType(t, s, "v", c.typ)
				wantStored(t, s, "r2", "v", c.want...)
				tb, _ := s.Table("t")
				m, _ := tb.ReadRun("r1", "n1")
				if m2, _ := tb.ReadRun("r2", "n1"); m2.BatchDigest != m.BatchDigest && !strings.Contains(c.typ, "float64") || before != "" && before != m.BatchDigest {
					t.Errorf("the digest of one content: %s, %s, %s", before, m.BatchDigest, m2.BatchDigest)
				}
				before = m.BatchDigest
			}
		})
	}
}

func TestTypedRefusals(t *testing.T) {
	for _, c := range []struct {
		typ, value string
		code       fault.Code
		says       []string
	}{
		{"binary(2)", `"AA=="`, fault.StoreSchemaIncompatible, []string{`"v"`, "binary(2)", "1 bytes"}},
		{"binary(2)", `"AAF="`, fault.StoreSchemaIncompatible, []string{"base64"}}, // stray bits
		{"binary(2)", `"AAE"`, fault.StoreSchemaIncompatible, nil},
		{"binary(2)", `"AA\nE="`, fault.StoreSchemaIncompatible, nil},
		{"binary", `"AA\r\n=="`, fault.StoreSchemaIncompatible, nil},
		{"binary", `" AA=="`, fault.StoreSchemaIncompatible, nil},
		{"binary", `[1]`, fault.StoreSchemaIncompatible, nil},
		{"binary(2)", `7`, fault.StoreSchemaIncompatible, []string{"int64"}},
		{"float32[2]", `[1]`, fault.StoreSchemaIncompatible, []string{"float32[2]", "1 numbers"}},
		{"float32[2]", `[1,2,3]`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `[]`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `[1,null]`, fault.StoreSchemaIncompatible, []string{"null"}},
		{"float32[2]", `[1,"2"]`, fault.StoreSchemaIncompatible, []string{"utf8"}},
		{"float32[2]", `[1,[2]]`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `[1,true]`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `"[1,2]"`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `[1,4e38]`, fault.StoreSchemaIncompatible, []string{"float32"}},
		{"float16[2]", `[1,65520]`, fault.StoreSchemaIncompatible, []string{"float16", "65520"}},
		{"float16[2]", `[1,1e999]`, fault.StoreSchemaIncompatible, nil},
		{"float32[2]", `[1,]`, fault.StoreInputMalformed, nil},
		{"float32[2]", `[1 2]`, fault.StoreInputMalformed, nil},
		{"float32[2]", `[1,2`, fault.StoreInputMalformed, nil},
		{"struct<a: struct<b: list<struct<c: int64>>>>", `{"a":{"b":[{"c":1},{"d":2}]}}`, fault.StoreSchemaIncompatible, []string{`"v.a.b[].d"`}},
		{"struct<a: int64>", `{"A":1}`, fault.StoreSchemaIncompatible, []string{`"v.A"`}},
		{"struct<a: int64>", `{"b":null}`, fault.StoreSchemaIncompatible, []string{`"v.b"`}},
		{"struct<a: int64>", `{"a":1,"a":1}`, fault.StoreInputMalformed, []string{"twice"}},
		{"struct<a: int64>", `{"a":0.5}`, fault.StoreSchemaIncompatible, []string{`"v.a"`, "int64", "float64"}},
		{"struct<a: int64>", `{"a":9223372036854775808}`, fault.StoreInputMalformed, []string{"v.a"}},
		{"struct<a: int32>", `{"a":2147483648}`, fault.StoreSchemaIncompatible, []string{`"v.a"`}},
		{"struct<a: int64>", `[]`, fault.StoreSchemaIncompatible, []string{"array"}},
		{"struct<a: int64>", `7`, fault.StoreSchemaIncompatible, []string{"int64"}},
		{"struct<a: int64>", `{"a":1x}`, fault.StoreInputMalformed, nil},
		{"struct<a: timestamp>", `{"a":"2263-01-01T00:00:00Z"}`, fault.StoreInputMalformed, []string{`"v.a"`, "2262"}},
		{"list<int64>", `{"a":1}`, fault.StoreSchemaIncompatible, []string{"object"}},
		{"list<int64>", `["x"]`, fault.StoreSchemaIncompatible, []string{`"v[]"`}},
		{"list<int64>", `[1`, fault.StoreInputMalformed, nil},
		{"map<utf8, int64>", `{"a":1,"b":2,"a":1}`, fault.StoreInputMalformed, []string{"twice", `"a"`}},
		{"map<utf8, int64>", `{"a":"x"}`, fault.StoreSchemaIncompatible, []string{`"v{}"`}},
		{"map<utf8, int64>", `{"a":7x}`, fault.StoreInputMalformed, nil},
		{"map<utf8, int64>", `[1]`, fault.StoreSchemaIncompatible, nil},
		{"variant", `[1]`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"kind":"int64","int64":1,"string":"1"}`, fault.StoreSchemaIncompatible, []string{"string", "int64"}},
		{"variant", `{"kind":"string","int64":1}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"kind":"string"}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"int64":1}`, fault.StoreSchemaIncompatible, []string{"kind"}},
		{"variant", `{"kind":"date","string":"x"}`, fault.StoreSchemaIncompatible, []string{"date"}},
		{"variant", `{"kind":"kind"}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"kind":"string","string":"x","more":1}`, fault.StoreSchemaIncompatible, []string{`"v.more"`}},
		{"variant", `{"kind":"bytes","bytes":"A"}`, fault.StoreSchemaIncompatible, []string{"base64"}},
		{"variant", `{"kind":"bytes","bytes":7}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"kind":"int64","int64":7.5}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `{"kind":"int64","int64":7x}`, fault.StoreInputMalformed, nil},
		{"variant", `{"kind":7,"int64":7}`, fault.StoreSchemaIncompatible, nil},
		{"variant", `9223372036854775808`, fault.StoreInputMalformed, []string{"int64"}},
		{"list<json>", `[` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `]`, fault.StoreInputMalformed, []string{"512"}},
	} {
		t.Run(c.typ+" "+clip(c.value), func(t *testing.T) {
			s := openStore(t, plain)
			_, err := land(s, "r1", v(`null`, c.value), types("v", c.typ))
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != c.code || !strings.Contains(f.Message, "rows.jsonl:2") {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			for _, w := range append(c.says, "v") {
				if !strings.Contains(f.Message+f.Hint, w) {
					t.Errorf("%v does not name %s", f, w)
				}
			}
		})
	}
}

// Undeclared values meet what the table stores by the lattice, at every depth.
func TestStoredNestedTypes(t *testing.T) {
	for _, c := range []struct {
		typ, first, second, merged string
		want                       []string // nil: refused
		says                       []string
	}{
		{"list<int64>", `[1]`, `[0.5,1,null]`, "list<float64>", []string{"[0.5 1 null]"}, nil},
		{"list<float64>", `[1]`, `[7]`, "list<float64>", []string{"[7]"}, nil},
		{"map<utf8, utf8>", `{"a":"x"}`, `{"b":{"c":1},"a":"y"}`, "map<utf8, json>", []string{`<a="y" b={"c":1}>`}, nil},
		{"map<utf8, json>", `{"a":{}}`, `{"b":"x"}`, "map<utf8, json>", []string{`<b="x">`}, nil},
		{"struct<a: list<int64>, b: binary(1)>", `{"a":[1]}`, `{"b":"AA==","a":[0.5]}`, "struct<a: list<float64>, b: binary(1)>", []string{"{b:00 a:[0.5]}"}, nil},
		{"struct<a: int64>", `{"a":1}`, `{"b":1}`, "", nil, []string{`"v.b"`}},
		{"struct<a: int64, v: float32[2]>", `{"a":1}`, `{"v":[1]}`, "", nil, []string{`"v.v"`, "float32[2]"}},
		{"list<int64>", `[1]`, `{"a":1}`, "", nil, []string{`"v"`}},
		{"map<utf8, int64>", `{"a":1}`, `[1]`, "", nil, []string{`"v"`}},
		{"struct<a: list<int64>>", `{}`, `{"a":[1,"x"]}`, "", nil, []string{`"v.a[]"`, "int64", "utf8"}},
		{"list<int64>", `[1]`, `7`, "", nil, []string{`"v"`}},
		{"list<int64>", `[1]`, `"x"`, "", nil, []string{`"v"`}},
		{"variant", `1`, `[1]`, "", nil, []string{`"v"`}},
		{"float16[1]", `[1]`, `[1,2]`, "", nil, []string{`"v"`}},
	} {
		t.Run(fmt.Sprint(c.typ, " ", c.second), func(t *testing.T) {
			s := openStore(t, plain)
			r, err := land(s, "r1", v(c.first), types("v", c.typ))
			must(t, r, err)
			r, err = land(s, "r2", v(`null`, c.second))
			if c.want == nil {
				var f *fault.Error
				if !errors.As(err, &f) || f.Code != fault.StoreSchemaIncompatible {
					t.Fatalf("got %v", err)
				}
				for _, w := range c.says {
					if !strings.Contains(f.Message, w) {
						t.Errorf("%v does not name %s", f, w)
					}
				}
				return
			}
			must(t, r, err)
			wantType(t, s, "v", c.merged)
			wantStored(t, s, "r2", "v", append([]string{"null"}, c.want...)...)
			if r, err := land(s, "r1", v(c.first), types("v", c.typ)); err != nil || !r.Replayed {
				t.Errorf("landed again: %v %v", r, err)
			}
		})
	}
	s := openStore(t, plain)
	r, err := land(s, "r1", v(`{"a":1}`), types("v", "struct<a: int64>"))
	must(t, r, err)
	r, err = land(s, "r2", v(`{"b":"x"}`), types("v", "struct<b: utf8>"))
	must(t, r, err)
	wantType(t, s, "v", "struct<a: int64, b: utf8>")
	for _, bad := range []string{"struct<A: int64>", "list<int64>", "int64", "struct<a: utf8>", "map<utf8, int64>"} {
		if _, err := land(s, "r3", v(`null`, `{}`), types("v", bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestNestedCSV(t *testing.T) {
	s := openStore(t, plain)
	rows := "v,b,s,x\n\"[1, 2]\",AAE=,\"{\"\"a\"\":1}\",\"\"\"7\"\"\"\n,,,7\n"
	kinds := types("v", "float32[2]", "b", "binary(2)", "s", "struct<a: int64>", "x", "variant")
	r, err := land(s, "r1", rows, csvFormat, kinds)
	must(t, r, err)
	wantStored(t, s, "r1", "v", "[1 2]", "null")
	wantStored(t, s, "r1", "b", "0001", "null")
	wantStored(t, s, "r1", "s", "{a:1}", "null")
	wantStored(t, s, "r1", "x", "{kind:string string:7}", "{kind:int64 int64:7}")
	r, err = land(s, "r2", rows, csvFormat) // as the table has it
	must(t, r, err)
	wantStored(t, s, "r2", "s", "{a:1}", "null")
	for _, bad := range []string{"v\n[1]\n", "v\n\"[1,2] x\"\n", "b\nAAE\n", "s\n{\n", "s\n \n", "x\nplain\n", "s\n\"{\"\"c\"\":1}\"\n"} {
		if _, err := land(s, "r3", bad, csvFormat); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
