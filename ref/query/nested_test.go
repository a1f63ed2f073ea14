package query

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
)

func TestNestedCells(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	for sql, want := range map[string]string{
		`SELECT [1.5::FLOAT, 'nan', 'inf', '-inf', '-0.0', 2]::FLOAT[6], NULL::FLOAT[2]`:                                              `[[1.5,"NaN","inf","-inf",-0.0,2.0],null]`,
		`SELECT MAP {TIMESTAMPTZ '2024-01-01 00:00:00.5Z': 1}, MAP {'\x00\xff'::BLOB: NULL}`:                                          `[{"2024-01-01T00:00:00.5Z":1},{"AP8=":null}]`,
		`SELECT MAP {1.5::DOUBLE: 'a', 'nan'::DOUBLE: 'b'}, MAP {[1, 2]: 3}, MAP {{'a': 1}: 2}, MAP {9007199254740993: true}`:         `[{"1.5":"a","NaN":"b"},{"[1,2]":3},{"{\"a\":1}":2},{"9007199254740993":true}]`,
		`SELECT {'m': MAP {'z': [MAP {'y': 9007199254740993}], 'a': NULL}}, [NULL, MAP {'x': 1}]`:                                     `[{"m":{"a":null,"z":[{"y":"9007199254740993"}]}},[null,{"x":1}]]`,
		`SELECT NULL::MAP(VARCHAR, INTEGER), {'m': NULL::MAP(INTEGER, INTEGER)}, MAP {}, MAP {'k': INTERVAL 1 DAY}`:                   `[null,{"m":null},{},{"k":"1 day"}]`,
		`SELECT {'a"b': 1, 'select': {'c.d': [DATE '2024-01-01']}}, [union_value(n := 5)]`:                                            `[{"a\"b":1,"select":{"c.d":["2024-01-01"]}},["5"]]`,
		`SELECT len(map_keys(m)) FROM (SELECT map_from_entries(list_transform(range(20000), lambda i: {'key': i, 'value': i})) AS m)`: `[20000]`,
	} {
		expect(t, st, sql, "["+want+"]")
	}
}

// TestNestedFilesOfOtherSchemas: what a column had in each run reads as the type it has come to have, folded or not.
func TestNestedFilesOfOtherSchemas(t *testing.T) {
	for i, c := range []struct{ name, older, value, newer, next, want string }{
		{"a field more", "struct<a: int64>", `{"a": 1}`, "struct<a: int64, b: utf8>", `{"a": 2, "b": "x"}`, `{"a":1,"b":null}|{"a":2,"b":"x"}`},
		{"another order", "struct<a: int64, b: int64>", `{"a": 1, "b": 2}`, "struct<b: int64, a: int64>", `{"a": 10, "b": 20}`, `{"a":1,"b":2}|{"a":10,"b":20}`},
		{"wider items", "list<int64>", `[1, null]`, "list<float64>", `[0.5]`, `[1.0,null]|[0.5]`},
		{"wider values", "map<utf8, int64>", `[{"key": "k", "value": 1}]`, "map<utf8, float64>", `[{"key": "j", "value": 0.5}]`, `{"k":1.0}|{"j":0.5}`},
		{"text inside becomes json", `struct<"d e": list<utf8>>`, `{"d e": ["7", null, "a\u0001"]}`, `struct<"d e": list<json>>`, `{"d e": ["{\"a\":1}"]}`,
			`{"d e":["\"7\"",null,"\"a\\u0001\""]}|{"d e":["{\"a\":1}"]}`},
		{"text in a map becomes json", "map<utf8, utf8>", `[{"key": "k", "value": "x"}]`, "map<utf8, json>", `[{"key": "k", "value": "[1]"}]`, `{"k":"\"x\""}|{"k":"[1]"}`},
		{"text in a field becomes json", "struct<a: utf8, b: int64>", `{"a": "x", "b": 1}`, "struct<a: json, c: int64>", `{"a": "null", "c": 2}`,
			`{"a":"\"x\"","b":1,"c":null}|{"a":"null","b":null,"c":2}`},
		{"deep", "list<struct<m: map<utf8, struct<a: int64>>>>", `[{"m": [{"key": "k", "value": {"a": 1}}]}]`,
			"list<struct<x: float16[2], m: map<utf8, struct<b: binary(1), a: float64>>>>", `[{"x": [1, 2], "m": []}, null]`,
			`[{"m":{"k":{"a":1.0,"b":null}},"x":null}]|[{"m":{},"x":[1.0,2.0]},null]`},
		{"null and empty", "list<int64>", `[]`, "list<int64>", `null`, `[]|`},
		{"instants", "struct<t: timestamp>", `{"t": "2024-01-01T00:00:00.000000001Z"}`, "struct<t: timestamp, u: list<timestamp>>", `{"t": null, "u": ["1969-12-31T23:59:59.999999999Z"]}`,
			`{"t":"2024-01-01T00:00:00.000000001Z","u":null}|{"t":null,"u":["1969-12-31T23:59:59.999999999Z"]}`},
	} {
		for _, turned := range []bool{false, true} {
			store := ducktest.Open(t, "alpha", "", "[[pipeline.tables]]\nname = \"t\"\n")
			runs := [][3]string{{c.older, c.value, "1"}, {c.newer, c.next, "2"}}
			if turned {
				runs[0], runs[1] = runs[1], runs[0]
			}
			for k, r := range runs {
				ducktest.Land(t, store, ducktest.Landing{Table: "t", Run: "r" + r[2], Columns: []string{"id int64", "c " + r[0]},
					Rows: []string{`[` + r[2] + `, ` + r[1] + `]`}, At: ducktest.Epoch.Add(time.Duration(k) * time.Second)})
			}
			text, err := ask(t, store, `SELECT c FROM t ORDER BY id`)
			if err != nil {
				t.Errorf("%d %s: %v", i, c.name, err)
				continue
			}
			if got := cellsOf(text); !sameObjects(got, c.want) {
				t.Errorf("%s (%v): %s", c.name, turned, got)
			}
		}
	}
}

// cellsOf is the only column of an answer.
func cellsOf(text string) string {
	_, rows, _ := strings.Cut(text, `"rows":[`)
	rows, _, _ = strings.Cut(rows, `],"truncated"`)
	var cells []string
	for _, line := range strings.Split(rows, ",\n") {
		cell := strings.TrimSuffix(strings.TrimPrefix(line, "["), "]")
		if cell == "null" {
			cell = ""
		}
		cells = append(cells, cell)
	}
	return strings.Join(cells, "|")
}

// sameObjects compares without the order of an object's members.
func sameObjects(a, b string) bool {
	left, right := strings.Split(a, "|"), strings.Split(b, "|")
	for i := range left {
		var l, r any
		_, _ = json.Unmarshal([]byte(left[i]), &l), json.Unmarshal([]byte(right[i]), &r)
		if len(left) != len(right) || !reflect.DeepEqual(l, r) {
			return false
		}
	}
	return true
}

func TestPartsThatAreNotWhatTheTableSays(t *testing.T) {
	for _, c := range []struct{ table, part, value string }{
		{"int64", "struct<a: int64>", `{"a": 1}`},
		{"struct<a: int64>", "int64", `1`},
		{"struct<a: int64>", "list<int64>", `[1]`},
		{"list<int64>", "utf8", `"x"`},
		{"float32[2]", "float32[3]", `[1, 2, 3]`},
		{"map<utf8, int64>", "struct<a: int64>", `{"a": 1}`},
		{"timestamp", "list<timestamp>", `[]`},
	} {
		columns := func(typ string) []string { return []string{"id int64", "c " + typ} }
		st := ducktest.Open(t, "alpha", "", "[[pipeline.tables]]\nname = \"t\"\n[[pipeline.tables]]\nname = \"u\"\n")
		ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: "r", Columns: columns(c.table), Rows: []string{`[1, null]`}})
		ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "r", Columns: columns(c.part), Rows: []string{`[1, ` + c.value + `]`}})
		part := "data/runs/r/alpha/part-00000.parquet"
		body, err := os.ReadFile(st.Path("tables/u/" + part))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(st.Path("tables/t/"+part), body, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := ask(t, st, `SELECT * FROM t`)
		if fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%s in a table of %s: %v %s", c.part, c.table, err, out)
		}
	}
}
