package land

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
)

const plain = "[[pipeline.tables]]\nname = \"t\"\n"
const keyed = "[[pipeline.tables]]\nname = \"t\"\nprimary_key = [\"id\"]\n"

func land(s *store.Store, run, rows string, change ...func(*Options)) (Report, error) {
	o := Options{Table: "t", Input: strings.NewReader(rows), InputName: "rows.jsonl", RunID: run, SiteID: "site"}
	for _, c := range change {
		c(&o)
	}
	return Run(context.Background(), s, o)
}

func must(t testing.TB, r Report, err error) Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func types(pairs ...string) func(*Options) {
	return func(o *Options) {
		o.Types = map[string]schema.Type{}
		for i := 0; i < len(pairs); i += 2 {
			ty, err := schema.ParseType(pairs[i+1])
			if err != nil {
				panic(err)
			}
			o.Types[pairs[i]] = ty
		}
	}
}

func csvFormat(o *Options) { o.Format, o.InputName = CSV, "rows.csv" }

// runOf is the manifest of a run of table t.
func runOf(t testing.TB, s *store.Store, run string) *manifest.Run {
	t.Helper()
	tb, err := s.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	m, err := tb.ReadRun(run, "n1")
	if err != nil || m == nil {
		t.Fatal("run", run, m, err)
	}
	return m
}

// read gives the rows of a run as text: "name=value …" sorted by name, nulls left out, injected columns only on request.
func read(t testing.TB, s *store.Store, run string, injected bool) []string {
	t.Helper()
	var rows []string
	for _, p := range runOf(t, s, run).Parts {
		f, err := os.Open(filepath.Join(s.Root(), "tables/t/data/runs", run, "n1", p.Name))
		if err != nil {
			t.Fatal(err)
		}
		sc, err := colfile.NewScanner(context.Background(), f, p.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := sc.Next()
			if err != nil {
				t.Fatal(err)
			}
			if rec == nil {
				break
			}
			for i := range int(rec.NumRows()) {
				var cells []string
				for j, c := range rec.Columns() {
					if name := rec.ColumnName(j); !c.IsNull(i) && (injected || !schema.IsInjected(name)) {
						cells = append(cells, name+"="+cell(c, i))
					}
				}
				sort.Strings(cells)
				rows = append(rows, strings.Join(cells, " "))
			}
			rec.Release()
		}
		sc.Close()
		f.Close()
	}
	return rows
}

func cell(a arrow.Array, i int) string {
	if ts, ok := a.(*array.Timestamp); ok {
		return fmt.Sprint(int64(ts.Value(i)))
	}
	if b, ok := a.(*array.Binary); ok {
		return fmt.Sprintf("%x", b.Value(i))
	}
	return a.ValueStr(i)
}

func columnType(t testing.TB, s *store.Store, name string) string {
	t.Helper()
	tb, err := s.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := tb.Schema()
	if err != nil || sc == nil {
		t.Fatal(sc, err)
	}
	ty, ok := sc.Lookup(name)
	if !ok {
		return "absent"
	}
	return ty.String()
}

// tree is everything under the store root, with contents: what must not change under a refusal.
func tree(t testing.TB, s *store.Store) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.Root(), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".lock") {
			return err
		}
		data, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s %x\n", p, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantRefusal wants a landing's error to have the code and name what says says, and the store to be as it was before (see tree).
func wantRefusal(t *testing.T, s *store.Store, before string, err error, code fault.Code, says []string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("%v, want %s", err, code)
	}
	for _, say := range says {
		if !strings.Contains(err.Error(), say) {
			t.Errorf("%v does not name %s", err, say)
		}
	}
	if tree(t, s) != before {
		t.Error("the refusal changed the store")
	}
}

func TestTypeRules(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		with       func(*Options)
		want       []string
		types      string // of column v in schema.json
	}{
		{"integers", "{\"v\":1}\n{\"v\":9007199254740993}\n{\"v\":-9223372036854775808}\n", nil, []string{"v=1", "v=9007199254740993", "v=-9223372036854775808"}, "int64"},
		{"integer minus zero", "{\"v\":-0}", nil, []string{"v=0"}, "int64"},
		{"float minus zero", "{\"v\":-0.0}", nil, []string{"v=-0"}, "float64"},
		{"exponent is a float", "{\"v\":1e3}", nil, []string{"v=1000"}, "float64"},
		{"int and float", "{\"v\":1}\n{\"v\":0.5}\n{\"v\":3}", nil, []string{"v=1", "v=0.5", "v=3"}, "float64"},
		{"float and int", "{\"v\":0.5}\n{\"v\":1}", nil, []string{"v=0.5", "v=1"}, "float64"},
		{"boolean", "{\"v\":true}\n{\"v\":false}", nil, []string{"v=true", "v=false"}, "boolean"},
		{"text", `{"v":"a\u00e9\n\ud83d\ude00"}`, nil, []string{"v=aé\n😀"}, "utf8"},
		{"a date stays text", `{"v":"2024-01-01T00:00:00Z"}`, nil, []string{"v=2024-01-01T00:00:00Z"}, "utf8"},
		{"nested is json", "{\"v\":{\"b\":[1, 2.50],\"a\":\"x\"}}", nil, []string{`v={"a":"x","b":[1,2.50]}`}, "json"},
		{"all null has no type", "{\"v\":null,\"w\":1}\n{\"w\":2}", nil, []string{"w=1", "w=2"}, "absent"},
		{"late column", "{\"w\":1}\n{\"v\":\"x\"}", nil, []string{"w=1", "v=x"}, "utf8"},
		{"empty object", "{}\n{}", nil, []string{"", ""}, "absent"},
		{"blank lines and carriage returns", "\r\n{\"v\":1}\r\n \n{\"v\":2}\n\n", nil, []string{"v=1", "v=2"}, "int64"},
		{"declared timestamp", `{"v":"2024-01-01T01:00:00.123456789+01:00"}`, types("v", "timestamp"), []string{"v=1704067200123456789"}, "timestamp"},
		{"first instant", `{"v":"1677-09-21T00:12:43.145224192Z"}`, types("v", "timestamp"), []string{"v=-9223372036854775808"}, "timestamp"},
		{"last instant", `{"v":"2262-04-11T23:47:16.854775807Z"}`, types("v", "timestamp"), []string{"v=9223372036854775807"}, "timestamp"},
		{"declared int32", `{"v":-2147483648}`, types("v", "int32"), []string{"v=-2147483648"}, "int32"},
		{"declared float64", "{\"v\":1}\n{\"v\":12345678901234567890}", types("v", "float64"), []string{"v=1", "v=1.2345678901234567e+19"}, "float64"},
		{"declared binary", `{"v":"AP8="}`, types("v", "binary"), []string{"v=00ff"}, "binary"},
		{"text then json", "{\"v\":\"a\\n\"}\n{}\n{\"v\":[1]}\n{\"v\":\"[1]\"}", nil, []string{`v="a\n"`, "", "v=[1]", `v="[1]"`}, "json"},
		{"json then text", "{\"v\":{}}\n{\"v\":\"x\"}", nil, []string{"v={}", `v="x"`}, "json"},
		{"declared json takes all", "{\"v\":\"s\"}\n{\"v\":1.50}\n{\"v\":true}\n{\"v\":{}}\n{\"v\":null}", types("v", "json"), []string{`v="s"`, "v=1.50", "v=true", "v={}", ""}, "json"},
		{"declared utf8", `{"v":"x"}`, types("v", "utf8"), []string{"v=x"}, "utf8"},
		{"csv text", "v,w\n1,\n\"a,\"\"b\",x\n", csvFormat, []string{"v=1 w=", `v=a,"b w=x`}, "utf8"},
		{"csv empty lines of one column", "v\n\n5\r\n\r\n\n", func(o *Options) { csvFormat(o); types("v", "int64")(o) }, []string{"", "v=5", "", ""}, "int64"},
		{"csv empty lines of one text column", "v\nx\n\n", csvFormat, []string{"v=x", "v="}, "utf8"},
		{"csv empty lines of two columns", "\nv,w\n\n5,6\n\n", csvFormat, []string{"v=5 w=6"}, "utf8"},
		{"csv line ends", "v,w\r\n\"a\r\nb\",\"c\nd\"\r\n\"\r\",\"\r\r\n\"\r\n", csvFormat, []string{"v=a\r\nb w=c\nd", "v=\r w=\r\r\n"}, "utf8"},
		{"csv typed", "v\n5\n\"\"\n-7\n", func(o *Options) { csvFormat(o); types("v", "int64")(o) }, []string{"v=5", "", "v=-7"}, "int64"},
		{"csv float", "v\n1e3\n2\n", func(o *Options) { csvFormat(o); types("v", "float64")(o) }, []string{"v=1000", "v=2"}, "float64"},
		{"csv boolean", "v\ntrue\n", func(o *Options) { csvFormat(o); types("v", "boolean")(o) }, []string{"v=true"}, "boolean"},
		{"csv timestamp", "v\n1970-01-01T00:00:01Z\n", func(o *Options) { csvFormat(o); types("v", "timestamp")(o) }, []string{"v=1000000000"}, "timestamp"},
		{"csv json", "v\n\"{ \"\"a\"\" : 1 }\"\n", func(o *Options) { csvFormat(o); types("v", "json")(o) }, []string{`v={"a":1}`}, "json"},
		{"csv drops injected", "v,_run_id,_commit_seq\nx,evil,7\n", csvFormat, []string{"v=x"}, "utf8"},
		{"allowed names", `{"v":1,"_lang":"en","_modality":"text","_provenance":{},"_prompt_hash":"h"}`, nil,
			[]string{`_lang=en _modality=text _prompt_hash=h _provenance={} v=1`}, "int64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, plain)
			change := []func(*Options){}
			if c.with != nil {
				change = append(change, c.with)
			}
			r, err := land(s, "r1", c.rows, change...)
			r = must(t, r, err)
			if r.Rows != int64(len(c.want)) || r.Parts != 1 || r.CommitSeq != 1 || r.Replayed {
				t.Errorf("%+v", r)
			}
			if got := read(t, s, "r1", false); strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("rows %q, want %q", got, c.want)
			}
			if got := columnType(t, s, "v"); got != c.types {
				t.Errorf("v is %s, want %s", got, c.types)
			}
		})
	}
}

// Each row: a first landing, a second, and what comes of it.
func TestSecondLanding(t *testing.T) {
	for _, c := range []struct {
		name, decl, first, second string
		with                      func(*Options) // of both
		code                      fault.Code
		says                      []string
		rows, ty                  string
	}{
		{name: "int into float stays int", decl: plain, first: `{"v":0.5}`, second: `{"v":3}`, rows: "v=3", ty: "float64"},
		{name: "float into int", decl: plain, first: `{"v":3}`, second: `{"v":0.5}`, rows: "v=0.5", ty: "float64"},
		{name: "text into json is its string", decl: plain, first: `{"v":{}}`, second: `{"v":"{}"}`, rows: `v="{}"`, ty: "json"},
		{name: "json into text", decl: plain, first: `{"v":"x"}`, second: `{"v":[1]}`, rows: `v=[1]`, ty: "json"},
		{name: "both into text", decl: plain, first: `{"v":"x"}`, second: "{\"v\":\"y\"}\n{\"v\":[1]}", rows: `v="y"|v=[1]`, ty: "json"},
		{name: "both into json", decl: plain, first: `{"v":{}}`, second: "{\"v\":\"y\"}\n{\"v\":[1]}", rows: `v="y"|v=[1]`, ty: "json"},
		{name: "text and json into int", decl: plain, first: `{"v":1}`, second: "{\"v\":\"y\"}\n{\"v\":[1]}", code: fault.StoreSchemaIncompatible, says: []string{"int64", "utf8"}},
		{name: "text into int", decl: plain, first: `{"v":3}`, second: "{\"w\":1}\n{\"v\":\"x\"}", code: fault.StoreSchemaIncompatible, says: []string{"rows.jsonl:2", "stored as int64", "utf8"}},
		{name: "int into text", decl: plain, first: `{"v":"x"}`, second: `{"v":1}`, code: fault.StoreSchemaIncompatible, says: []string{"stored as utf8", "int64"}},
		{name: "int into json", decl: plain, first: `{"v":{}}`, second: `{"v":1}`, code: fault.StoreSchemaIncompatible, says: []string{"stored as json", "int64"}},
		{name: "bool into text", decl: plain, first: `{"v":"x"}`, second: `{"v":true}`, code: fault.StoreSchemaIncompatible, says: []string{"boolean"}},
		{name: "new column beside", decl: plain, first: `{"v":1}`, second: `{"w":1}`, rows: "w=1", ty: "int64"},
		{name: "case", decl: plain, first: `{"v":1}`, second: `{"V":1}`, code: fault.StoreColumnAmbiguous, says: []string{`"v"`, `"V"`}},
		{name: "key widened", decl: keyed, first: `{"id":1}`, second: `{"id":1.5}`, code: fault.StoreKeyWidened, says: []string{`"id"`}},
		{name: "key narrowed", decl: keyed, first: `{"id":1.5}`, second: `{"id":1}`, code: fault.StoreKeyWidened, says: []string{`"id"`}},
		{name: "key widened within", decl: keyed, first: `{"id":1}`, second: "{\"id\":1}\n{\"id\":1.5}", code: fault.StoreKeyWidened, says: []string{`"id"`}},
		{name: "other column of a keyed table", decl: keyed, first: `{"id":1,"v":1}`, second: `{"id":2,"v":1.5}`, rows: "id=2 v=1.5", ty: "float64"},
		{name: "null key", decl: keyed, first: `{"id":1}`, second: "{\"id\":null,\"v\":1}\n{\"id\":2}", rows: "v=1|id=2", ty: "int64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, c.decl)
			first, err := land(s, "r1", c.first)
			must(t, first, err)
			before := tree(t, s)
			second, err := land(s, "r2", c.second)
			if c.code != "" {
				wantRefusal(t, s, before, err, c.code, c.says)
				return
			}
			must(t, second, err)
			if got := strings.Join(read(t, s, "r2", false), "|"); got != c.rows {
				t.Errorf("rows %q, want %q", got, c.rows)
			}
			if got := columnType(t, s, "v"); got != c.ty {
				t.Errorf("v is %s, want %s", got, c.ty)
			}
			// The second run again, now that the schema has moved on, is still the same run.
			again, err := land(s, "r2", c.second)
			if again = must(t, again, err); !again.Replayed || again.CommitSeq != second.CommitSeq {
				t.Errorf("%+v", again)
			}
			again, err = land(s, "r1", c.first)
			if again = must(t, again, err); !again.Replayed || again.CommitSeq != first.CommitSeq {
				t.Errorf("%+v", again)
			}
		})
	}
}

func TestStoredTypeIsTaken(t *testing.T) {
	s := openStore(t, plain)
	first, err := land(s, "r1", `{"at":"2024-01-01T00:00:00Z","n":1,"raw":"AA=="}`, types("at", "timestamp", "n", "int32", "raw", "binary"))
	must(t, first, err)
	second, err := land(s, "r2", `{"at":"1970-01-01T00:00:00.000000005Z","n":7,"raw":"/w=="}`)
	must(t, second, err)
	if got := read(t, s, "r2", false)[0]; got != "at=5 n=7 raw=ff" {
		t.Error(got)
	}
	third, err := land(s, "r3", "at,n,raw\n1970-01-01T00:00:01Z,8,/w==\n,,\n", csvFormat)
	must(t, third, err)
	if got := strings.Join(read(t, s, "r3", false), "|"); got != "at=1000000000 n=8 raw=ff|" {
		t.Error(got)
	}
	for _, rows := range []string{`{"n":3000000000}`, `{"n":1.5}`, `{"at":"soon"}`, `{"at":5}`, `{"raw":"?"}`} {
		if _, err := land(s, "r4", rows); fault.CodeOf(err) != fault.StoreSchemaIncompatible {
			t.Errorf("%s: %v", rows, err)
		}
	}
}

func TestInjectedColumns(t *testing.T) {
	s := openStore(t, plain)
	r, err := land(s, "r1", "{\"v\":1,\"_run_id\":\"evil\",\"_ingested_at\":{\"a\":[1]},\"_authored_by\":\"me\",\"_row_seq\":99}\n{\"v\":2}")
	must(t, r, err)
	at := fmt.Sprint(noon.UnixNano())
	got := read(t, s, "r1", true)
	for i, row := range got {
		want := fmt.Sprintf("_commit_seq=1 _ingested_at=%s _row_seq=%d _run_id=r1 _site_id=site v=%d", at, i, i+1)
		if row != want {
			t.Errorf("%s, want %s", row, want)
		}
	}
	info, err := colfile.ReadInfo(s.FS(), filepath.Join(s.Root(), "tables/t/data/runs/r1/n1/part-00000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range info.Schema.Fields() {
		if f.Nullable == schema.IsInjected(f.Name) {
			t.Errorf("%s has nullable %t", f.Name, f.Nullable)
		}
	}
	if columnType(t, s, "_ingested_at") != "timestamp" || columnType(t, s, "_authored_by") != "absent" {
		t.Error("schema.json does not hold the injected columns")
	}
}

func TestReplayAndConflict(t *testing.T) {
	s := openStore(t, plain)
	rows := "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"c\":{\"y\":1,\"x\":2}}\n"
	at := func(p string) func(*Options) { return func(o *Options) { o.Position = []byte(p) } }
	first, err := land(s, "r1", rows, at(`{"off": 1, "file":"f"}`))
	must(t, first, err)
	before := tree(t, s)
	again, err := land(s, "r1", "{\"b\":\"x\",\"a\":1,\"z\":null}\n{\"c\":{\"x\":2,\"y\":1},\"a\":2}", at(`{"file":"f","off":1}`))
	again = must(t, again, err)
	if !again.Replayed || again.Rows != 2 || again.CommitSeq != 1 || again.Parts != 1 {
		t.Errorf("%+v", again)
	}
	for _, other := range []string{"{\"a\":1,\"b\":\"x\"}", strings.Replace(rows, "x", "y", 1), rows + "{}\n"} {
		if _, err := land(s, "r1", other, at(`{"off":1,"file":"f"}`)); fault.CodeOf(err) != fault.StoreRunConflict || !strings.Contains(err.Error(), "r1") {
			t.Errorf("%v", err)
		}
	}
	if _, err := land(s, "r1", rows); fault.CodeOf(err) != fault.StoreRunConflict {
		t.Errorf("another position: %v", err)
	}
	if tree(t, s) != before {
		t.Error("a replay or a conflict changed the store")
	}
	second, err := land(s, "r2", rows)
	if second = must(t, second, err); second.CommitSeq != 2 {
		t.Errorf("%+v", second)
	}
}

func TestManifestOfALanding(t *testing.T) {
	s := openStore(t, "[[pipeline.tables]]\nname = \"t\"\nwrite_mode = \"replace\"\nprimary_key = [\"id\"]\n")
	r, err := land(s, "r1", `{"id":1}`, func(o *Options) { o.Position = []byte(`{"n":9007199254740993}`) })
	must(t, r, err)
	m := runOf(t, s, "r1")
	p := m.Parts[0]
	var cursor bytes.Buffer
	if err := json.Compact(&cursor, m.Cursor); err != nil {
		t.Fatal(err)
	}
	if !m.Replacement || m.RowCount != 1 || m.SiteID != "site" || len(m.BatchDigest) != 64 || cursor.String() != `{"n":9007199254740993}` ||
		!m.CommittedAt.Equal(noon) || *m.CommitSeq != 1 || p.Rows != 1 || len(p.SHA256) != 64 || p.FineColumns == nil || len(*p.FineColumns) != 0 {
		t.Errorf("%+v", m)
	}
	tb, err := s.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := tb.Schema()
	if err != nil || sc.Metadata[store.MetaPrimaryKey] != `["id"]` {
		t.Error(sc, err)
	}
	changed := openAt(t, s.Root(), "[[pipeline.tables]]\nname = \"t\"\nwrite_mode = \"replace\"\nprimary_key = [\"id\", \"page\"]\n")
	if _, err := land(changed, "r2", `{"id":2}`); fault.CodeOf(err) != fault.StoreDeclarationChanged || !strings.Contains(err.Error(), "primary_key") {
		t.Error(err)
	}
}

// Every captured document has its name and the instant of its capture, in whichever block it stands.
func TestDocumentsAreWhole(t *testing.T) {
	s := openStore(t, "[[pipeline.tables]]\nname = \"t\"\n[pipeline.tables.snapshot]\ndocument = \"doc\"\ncaptured_at = \"at\"\n")
	whole := `{"doc":"d","at":"2024-01-01T00:00:00Z"}` + "\n"
	for _, c := range []struct{ bad, names string }{
		{`{"at":"2024-01-01T00:00:00Z"}`, `"doc"`}, {`{"doc":null,"at":"2024-01-01T00:00:00Z"}`, `"doc"`}, {`{"doc":"d"}`, `"at"`}, {`{"doc":"d","at":null}`, `"at"`}, {`{}`, `"at"`},
	} {
		for _, rows := range []string{c.bad, whole + c.bad + "\n" + whole, strings.Repeat(whole, 60_000) + c.bad} {
			_, err := land(s, "r", rows)
			line := fmt.Sprintf(":%d:", strings.Count(rows[:strings.Index(rows, c.bad)], "\n")+1)
			if !errors.Is(err, fault.StoreInputMalformed) || !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), line) {
				t.Errorf("%s in %d bytes, line %s: %v", c.bad, len(rows), line, err)
			}
		}
	}
	if _, err := land(s, "r", whole); err != nil {
		t.Error(err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("cable cut") }

func TestInputThatBreaks(t *testing.T) {
	s := openStore(t, plain)
	for _, format := range []string{JSONL, CSV} {
		_, err := land(s, "r1", "", func(o *Options) {
			o.Format, o.Input = format, io.MultiReader(strings.NewReader("{}\n"), brokenReader{})
		})
		if err == nil || !strings.Contains(err.Error(), "cable cut") {
			t.Errorf("%s: %v", format, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, s, Options{Table: "t", Input: strings.NewReader("{}"), RunID: "r", SiteID: "s"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
