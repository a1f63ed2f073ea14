package fold

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/query"
	"contextful/ref/schema"
	"contextful/ref/store"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

const jsonTables = `
[[pipeline.tables]]
name = "u"
[[pipeline.tables]]
name = "k"
primary_key = ["a"]
[[pipeline.tables]]
name = "p"
partition_by = ["a"]
`

// texts are what a producer may send as plain text: some of it looks like JSON, some needs every kind of escape.
var texts = []string{"", "x", "123", "null", "true", `"x"`, `{"a":1}`, "[1, 2]", "it's", `back\slash`, `\u001F`, "é\u2028😀", "a\nb\tc", "\x00\x01\x1f\x0b\x7f", "\"\x1a\\", "' || 'x"}

var documents = []string{`"x"`, `""`, "123", "true", `{"a":1}`, `{"a":{"b":[1,2.50,"ü"]}}`, "[]", `"\u001f"`}

func quote(text string) string {
	out, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// cellsOf reads a table's columns in the order of landing; a null is nil.
func cellsOf(t *testing.T, st *store.Store, table string, asOf *manifest.Instant, columns ...string) [][]any {
	t.Helper()
	var out bytes.Buffer
	sql := "SELECT " + duck.Idents(columns) + " FROM " + table + " ORDER BY _commit_seq, _row_seq"
	if _, err := query.Run(context.Background(), st, query.Options{SQL: sql, Out: &out, Bounds: query.Bounds{AsOf: asOf}, Engine: duck.Options{TempDir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rows [][]any }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Rows
}

// Text and JSON in one column read as JSON in any order of arrival, and folds change nothing (store.reconcile.lattice#json-utf8).
func TestTextJoinsJSON(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		for _, order := range [][]string{{"utf8", "json"}, {"json", "utf8"}} {
			t.Run(fmt.Sprint(order, foreign), func(t *testing.T) {
				st := ducktest.Open(t, "alpha", "", jsonTables)
				var want [][]any
				for i, typ := range order {
					var rows []string
					for _, v := range map[string][]string{"utf8": texts, "json": documents}[typ] {
						rows = append(rows, "["+quote(v)+"]")
						if typ == "utf8" {
							v = quote(v)
						}
						want = append(want, []any{v})
					}
					rows, want = append(rows, "[null]"), append(want, []any{nil})
					ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: fmt.Sprint("r", i), Columns: []string{"a " + typ}, Rows: rows, Foreign: foreign})
				}
				check := func() {
					t.Helper()
					if got := cellsOf(t, st, "u", nil, "a"); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("read\n%q\nwant\n%q", got, want)
					}
				}
				check()
				_, view := folded(t, st, "u")
				check()
				if names := view.Head.Parts[0].JSONColumns; names == nil || !slices.Equal(*names, []string{"a"}) {
					t.Error("the fold does not record the json column")
				}
				if got := ask(t, st, "SELECT count(*) FROM u WHERE json_valid(a)"); got != fmt.Sprint(len(texts)+len(documents)) {
					t.Error(got, "valid documents")
				}
				// Text that comes after the fold, from a node that has not heard of json.
				ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "late", Columns: []string{"a utf8"}, Rows: []string{`["{}"]`}, Foreign: foreign})
				want = append(want, []any{`"{}"`})
				check()
				folded(t, st, "u")
				check()
				if typ, _ := resolve(t, st, "u").Schema.Lookup("a"); typ.Kind != schema.JSON {
					t.Error("the schema says", typ)
				}
			})
		}
	}
}

// A string is one key, whether it came as text or as a JSON string.
func TestJSONKeys(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", jsonTables)
	var old, renewed []string
	for i, v := range texts {
		old = append(old, fmt.Sprintf("[%s, %d]", quote(v), i))
		renewed = append(renewed, fmt.Sprintf("[%s, %d]", quote(quote(v)), 100+i))
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "k", Run: "r1", Columns: []string{"a utf8", "n int64"}, Rows: old})
	ducktest.Land(t, st, ducktest.Landing{Table: "k", Run: "r2", Columns: []string{"a json", "n int64"}, Rows: renewed, At: ducktest.Epoch.Add(time.Second)})
	check := func() {
		t.Helper()
		if got := ask(t, st, "SELECT count(*), min(n), count(DISTINCT a) FROM k"); got != fmt.Sprintf("%d,100,%[1]d", len(texts)) {
			t.Error(got)
		}
	}
	check()
	folded(t, st, "k")
	check()
	ducktest.Land(t, st, ducktest.Landing{Table: "k", Run: "r3", Columns: []string{"a utf8", "n int64"}, Rows: old[:1], At: ducktest.Epoch.Add(time.Minute)})
	folded(t, st, "k")
	if got := ask(t, st, `SELECT n FROM k WHERE a = '""'`); got != "0" {
		t.Error(got)
	}
}

// DuckDB's own word for a file's place may be a column, and another writer may annotate its parts.
func TestJSONBesideOddParts(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", jsonTables)
	ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "r1", Columns: []string{"a utf8", "File_Index int64"}, Rows: []string{`["hello", 7]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "r2", Columns: []string{"a json", "b json"}, Rows: []string{`["1", "{}"]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "r3", Columns: []string{"b utf8"}, Rows: []string{`["1"]`}})
	run := ducktest.Land(t, st, ducktest.Landing{Table: "u", Run: "r4", Columns: []string{"a json"}, Rows: []string{`["2"]`}, Foreign: true})
	session, err := duck.Open(context.Background(), duck.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	part := st.Path(key.RunDir("u", run.RunID, run.NodeID)) + "/" + run.Parts[0].Name
	copied := filepath.Join(t.TempDir(), "p.parquet")
	if _, err := session.Exec(context.Background(), "COPY (SELECT a::JSON AS a, * EXCLUDE (a) FROM "+duck.ReadParquet([]string{part})+") TO "+duck.Text(copied)+" (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(copied)
	if err == nil {
		err = os.WriteFile(part, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([][]any{{`"hello"`, nil}, {"1", "{}"}, {nil, `"1"`}, {"2", nil}})
	for range 2 {
		if got := fmt.Sprint(cellsOf(t, st, "u", nil, "a", "b")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := ask(t, st, "SELECT sum(file_index) FROM u"); got != "7" {
			t.Error(got)
		}
		if len(resolve(t, st, "u").Runs) > 0 {
			folded(t, st, "u")
		}
	}
}

// Any history of landings as text, as JSON or without the column reads as a plain model says, before and after every fold.
func TestJSONHistories(t *testing.T) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		t.Fatal(err)
	}
	columns := []string{"a", "b"}
	rapid.Check(t, func(r *rapid.T) {
		st := ducktest.Open(t, "alpha", "", jsonTables)
		table := rapid.SampledFrom([]string{"u", "p"}).Draw(r, "table")
		type cell struct {
			text string
			kind string // utf8, json or null
		}
		var rows [][]cell
		types := map[string]string{}
		check := func() {
			var want, got []string
			for _, row := range rows {
				var line []any
				for i, c := range row {
					switch {
					case c.kind == "null":
						line = append(line, nil)
					case c.kind == "utf8" && types[columns[i]] == "json":
						line = append(line, quote(c.text))
					default:
						line = append(line, c.text)
					}
				}
				want = append(want, fmt.Sprintf("%q", line))
			}
			for _, row := range cellsOf(t, st, table, nil, columns...) {
				got = append(got, fmt.Sprintf("%q", row))
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				r.Fatalf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		landed := false
		for step := range rapid.IntRange(2, 7).Draw(r, "steps") {
			if landed && rapid.IntRange(0, 2).Draw(r, "op") == 0 {
				if len(resolve(t, st, table).Runs) > 0 {
					folded(t, st, table)
				}
				check()
				continue
			}
			l := ducktest.Landing{Table: table, Run: fmt.Sprint("r", step), Foreign: rapid.Bool().Draw(r, "foreign"), At: ducktest.Epoch.Add(time.Duration(step) * time.Second)}
			kinds := []string{}
			for _, name := range columns {
				kind := rapid.SampledFrom([]string{"utf8", "json", "null"}).Draw(r, name)
				if step < 2 && kind == "null" {
					kind = "utf8" // both columns are there before anyone asks
				}
				if kinds = append(kinds, kind); kind == "null" {
					continue
				}
				l.Columns = append(l.Columns, name+" "+kind)
				if types[name] != "json" {
					types[name] = kind
				}
			}
			for range rapid.IntRange(1, 4).Draw(r, "rows") {
				var cells []string
				row := make([]cell, len(columns))
				for i, kind := range kinds {
					row[i].kind = kind
					switch kind {
					case "utf8":
						row[i].text = rapid.OneOf(rapid.SampledFrom(texts), rapid.String()).Draw(r, "text")
					case "json":
						row[i].text = rapid.SampledFrom(documents).Draw(r, "document")
					default:
						continue
					}
					if rapid.IntRange(0, 4).Draw(r, "null") == 0 {
						row[i].kind = "null"
						cells = append(cells, "null")
						continue
					}
					cells = append(cells, quote(row[i].text))
				}
				l.Rows, rows = append(l.Rows, "["+strings.Join(cells, ",")+"]"), append(rows, row)
			}
			ducktest.Land(t, st, l)
			landed = true
			check()
		}
	})
}
