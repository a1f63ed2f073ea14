package query

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

const declaration = `
[[pipeline.tables]]
name = "docs"
primary_key = ["id"]
order_by = "rev"
[[pipeline.tables]]
name = "events"
[[pipeline.tables]]
name = "filings/annual.v1"
[[pipeline.tables]]
name = "state"
write_mode = "replace"
[[pipeline.tables]]
name = "captures"
masks = { x = "hash" }
`

func ask(t *testing.T, st *store.Store, sql string, change ...func(*Options)) (string, error) {
	t.Helper()
	var out bytes.Buffer
	o := Options{SQL: sql, Out: &out, Engine: duck.Options{TempDir: t.TempDir()}}
	for _, c := range change {
		c(&o)
	}
	_, err := Run(context.Background(), st, o)
	return out.String(), err
}

// rows gives the rows of a JSON answer as compact text.
func rows(t *testing.T, st *store.Store, sql string, change ...func(*Options)) string {
	t.Helper()
	text, err := ask(t, st, sql, change...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var doc struct {
		Rows json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v in %s", sql, err, text)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, doc.Rows); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

func expect(t *testing.T, st *store.Store, sql, want string, change ...func(*Options)) {
	t.Helper()
	if got := rows(t, st, sql, change...); got != want {
		t.Errorf("%s\n got %s\nwant %s", sql, got, want)
	}
}

func TestKeyedTableIsExactToTheNanosecond(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	columns := []string{"id int64", "rev timestamp", "v utf8"}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r1", Columns: columns, Rows: []string{
		`[1, "2024-01-01T00:00:00.000000001Z", "late"]`, `[2, "2024-01-01T00:00:00.000000000Z", "first"]`, `[3, null, "nothing"]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r2", Columns: columns, Foreign: true, Rows: []string{
		`[1, "2024-01-01T00:00:00.000000000Z", "early"]`, `[2, "2024-01-01T00:00:00.000000999Z", "second"]`, `[3, "1900-01-01T00:00:00Z", "something"]`}})
	expect(t, st, `SELECT id, v, rev FROM docs ORDER BY id`,
		`[[1,"late","2024-01-01T00:00:00.000000001Z"],[2,"second","2024-01-01T00:00:00.000000999Z"],[3,"something","1900-01-01T00:00:00Z"]]`)
	expect(t, st, `SELECT typeof(rev), typeof(_ingested_at) FROM docs LIMIT 1`, `[["TIMESTAMP_NS","TIMESTAMP WITH TIME ZONE"]]`)
	// Equal order_by: then the landing's instant, the run id, the row's place decide.
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r0", Columns: columns, At: ducktest.Epoch.Add(time.Microsecond), Rows: []string{
		`[1, "2024-01-01T00:00:00.000000001Z", "newer landing"]`, `[1, "2024-01-01T00:00:00.000000001Z", "same landing, later row"]`}})
	expect(t, st, `SELECT v FROM docs WHERE id = 1`, `[["same landing, later row"]]`)
}

func TestUnionOfRunsAndAdditiveColumns(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "a", Columns: []string{"n int64", "x int64"}, Rows: []string{`[9007199254740993, 1]`, `[2, 2]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "b", Columns: []string{"x float64", "s utf8"}, Rows: []string{`[0.5, "ü"]`}})
	expect(t, st, `SELECT n, x, s FROM events ORDER BY x`, `[[null,0.5,"ü"],["9007199254740993",1.0,null],["2",2.0,null]]`)
	expect(t, st, `SELECT n FROM events WHERE n < 5`, `[[2]]`)
	expect(t, st, `SELECT [n], {'a': n, 'b': s} FROM events WHERE n > 5`, `[[["9007199254740993"],{"a":"9007199254740993","b":null}]]`)
	if err := os.WriteFile(st.Path("tables/events/data/runs/a/alpha/part-00009.parquet"), []byte("PAR1 stray"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, st, `SELECT count(*) FROM events`, `[[3]]`)
	expect(t, st, `SELECT count(*), sum(n)::VARCHAR FROM main.events`, `[[3,"9007199254740995"]]`)
}

func TestNamesPathsAndStatements(t *testing.T) {
	st := ducktest.Open(t, "alpha", "odd [a-z]* 'q' {x} ?", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "filings/annual.v1", Run: "a", Columns: []string{`se"le'ct int64`, "a.b utf8", "with space utf8", "group int64", "ünï utf8"},
		Rows: []string{`[1, "dot", "space", 7, "é"]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "e", Columns: []string{"n int64", "at timestamp"}, Rows: []string{`[5, "2024-01-01T00:00:00.000000007Z"]`}})
	expect(t, st, `SELECT "se""le'ct", "a.b", "with space", "group", "ünï" FROM "filings/annual.v1"`, `[[1,"dot","space",7,"é"]]`)
	expect(t, st, `SELECT f."a.b" FROM main."filings/annual.v1" f, EVENTS e`, `[["dot"]]`)
	expect(t, st, `WITH events AS (SELECT n + 1 AS n FROM events) SELECT n FROM events`, `[[6]]`)
	expect(t, st, `WITH x AS (SELECT 1 AS a), y AS (SELECT a + 1 AS b FROM x) SELECT * FROM x, y; -- done`, `[[1,2]]`)
	expect(t, st, `FROM events SELECT n /* ; */ ;;`, `[[5]]`)
	expect(t, st, `;VALUES (1), (2)`, `[[1],[2]]`)
	expect(t, st, `SELECT e';\';' AS a, $$;'$$ AS b, ';' AS c`, `[[";';",";'",";"]]`)
	expect(t, st, `SELECT n AS a, n AS a FROM events`, `[[5,5]]`)
	expect(t, st, `SELECT column_name FROM (DESCRIBE events) LIMIT 1`, `[["n"]]`)
	expect(t, st, `SELECT * FROM range(3) r(i) WHERE i > (SELECT min(n) - 4 FROM events)`, `[[2]]`)
	expect(t, st, `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3) SELECT i FROM c`, `[[1],[2],[3]]`)
	expect(t, st, `SELECT "at" FROM events`, `[["2024-01-01T00:00:00.000000007Z"]]`)
	expect(t, st, `SELECT count(*) FROM state`, `[[0]]`)
	text, err := ask(t, st, `SELECT n AS a, n AS a FROM events`)
	if err != nil || !strings.HasPrefix(text, `{"columns":["a","a"],`) {
		t.Error(text, err)
	}
}

func TestCells(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	for sql, want := range map[string]string{
		`SELECT 'NaN'::DOUBLE, 'inf'::DOUBLE, '-inf'::FLOAT, 1e300, 0.1::FLOAT, -0.0::DOUBLE`:                                              `["NaN","inf","-inf",1e+300,0.1,-0.0]`,
		`SELECT 9007199254740991, -9007199254740991`:                                                                                       `[9007199254740991,-9007199254740991]`,
		`SELECT 9007199254740992, -9007199254740992, 170141183460469231731687303715884105727, 18446744073709551615::UBIGINT`:               `["9007199254740992","-9007199254740992","170141183460469231731687303715884105727","18446744073709551615"]`,
		`SELECT TIMESTAMPTZ '2024-01-01 02:00:00+02', TIMESTAMP '2024-01-01 00:00:00.5', DATE '2024-02-29', TIME '01:02:03'`:               `["2024-01-01T00:00:00Z","2024-01-01T00:00:00.5Z","2024-02-29","01:02:03"]`,
		`SELECT TIMESTAMP_NS '2262-04-11 23:47:16.854775806', 'infinity'::TIMESTAMP`:                                                       `["2262-04-11T23:47:16.854775806Z","infinity"]`,
		`SELECT '\xff\x00'::BLOB, NULL, true, [1.5, NULL], [1, 2]::INTEGER[2], {'b': 1, 'a': ['x']}, MAP {'k': 1, 'a': 2}, MAP {1: 'one'}`: `["/wA=",null,true,[1.5,null],[1,2],{"b":1,"a":["x"]},{"a":2,"k":1},{"1":"one"}]`,
		`SELECT '{"n": 9007199254740993}'::JSON, ['1'::JSON], {'j': '[9007199254740993]'::JSON}, MAP {'k': DATE '2024-01-01'}`:             `["{\"n\": 9007199254740993}",["1"],{"j":"[9007199254740993]"},{"k":"2024-01-01"}]`,
		`SELECT 1.50::DECIMAL(4,2), 12345678901234567.5::DECIMAL(20,2), INTERVAL 1 DAY, 'a'::ENUM('a','b'), uuid() IS NOT NULL`:            `[1.5,"12345678901234567.5","1 day","a",true]`,
		`SELECT chr(10) || '"\' || chr(1) || 'é' || '<&>'`:                                                                                 `["\n\"\\\u0001é<&>"]`,
		`SELECT [9007199254740993, 1], {'a': [1]}`:                                                                                         `[["9007199254740993","1"],{"a":[1]}]`,
		`SELECT {'when': TIMESTAMP_NS '2024-01-01 00:00:00.000000001', 'd': 1.5::DECIMAL(3,1), 'b': 'x'::BLOB}`:                            `[{"when":"2024-01-01T00:00:00.000000001Z","d":1.5,"b":"eA=="}]`,
	} {
		expect(t, st, sql, "["+want+"]")
	}
	csv, err := ask(t, st, `SELECT NULL AS "a,b", '' AS e, 'x"y' AS q, 9007199254740993 AS n, [1] AS l, 'NaN'::DOUBLE AS f`, func(o *Options) { o.Format = CSV })
	if want := "\"a,b\",e,q,n,l,f\n,\"\",\"x\"\"y\",9007199254740993,[1],NaN\n"; err != nil || csv != want {
		t.Errorf("%q %v", csv, err)
	}
	table, err := ask(t, st, `SELECT 'a' AS name, NULL AS b UNION ALL SELECT 'long' || chr(27), 'x'`, func(o *Options) { o.Format = Table })
	if want := "name   b\n-----  ----\na      NULL\nlong   x\n"; err != nil || table != want {
		t.Errorf("%q %v", table, err)
	}
}

func TestLimitAndOrder(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	limit := func(n int64) func(*Options) { return func(o *Options) { o.Limit = n } }
	text, err := ask(t, st, `SELECT i FROM range(5) r(i)`, limit(2))
	if err != nil || text != "{\"columns\":[\"i\"],\"rows\":[[0],\n[1]],\"truncated\":true}\n" {
		t.Errorf("%q %v", text, err)
	}
	if text, err = ask(t, st, `SELECT i FROM range(2) r(i)`, limit(2)); err != nil || !strings.Contains(text, `"truncated":false`) {
		t.Errorf("%q %v", text, err)
	}
	// More than a page and more than a vector, in the statement's own order.
	text, err = ask(t, st, `SELECT i FROM range(300000) r(i) ORDER BY (i * 7919) % 300007`, func(o *Options) { o.Format = CSV })
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(text)[1:]
	if len(lines) != 300000 {
		t.Fatal(len(lines))
	}
	last := int64(-1)
	for _, line := range lines {
		var n int64
		for _, c := range line {
			n = n*10 + int64(c-'0')
		}
		at := n * 7919 % 300007
		if at <= last {
			t.Fatalf("%d stands after a row that sorts behind it", n)
		}
		last = at
	}
}

func TestLockDown(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "e", Columns: []string{"n int64"}, Rows: []string{`[5]`}})
	outside := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(outside, []byte("a\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	part := st.Path("tables/events/data/runs/e/alpha/part-00000.parquet")
	for _, sql := range []string{
		`COPY (SELECT 1) TO '` + outside + `'`, `COPY events TO '/tmp/y.csv'`, `ATTACH '` + outside + `.db' AS d`, `INSTALL httpfs`, `LOAD httpfs`,
		`SELECT * FROM read_text('/etc/passwd')`, `SELECT * FROM read_csv('` + outside + `')`, `SELECT * FROM '` + outside + `'`,
		`SELECT * FROM read_parquet('` + part + `')`, `SELECT * FROM parquet_metadata('` + part + `')`, `SELECT * FROM glob('/etc/*')`,
		`SELECT (SELECT max(content) FROM read_text('/etc/passwd'))`, `WITH x AS (SELECT * FROM read_blob('/etc/passwd')) SELECT * FROM x`,
		`PRAGMA database_list`, `SET memory_limit = '1TB'`, `RESET TimeZone`, `SELECT 1; SELECT 2`, `SELECT 1; DROP TABLE x`, ``, `  -- nothing`, `;`,
		`CREATE TABLE x AS SELECT 1`, `INSERT INTO events VALUES (1)`, `DELETE FROM events`, `UPDATE events SET n = 1`, `CALL duckdb_settings()`,
		`SELECT * FROM duckdb_settings()`, `SELECT * FROM information_schema.tables`, `SELECT * FROM system.main.duckdb_views`, `EXPLAIN SELECT 1`,
		`SHOW TABLES`, `SELECT * FROM query('SELECT 1')`, `SELECT * FROM query_table('events')`, `EXPORT DATABASE '/tmp/z'`, `CHECKPOINT`, `BEGIN`,
		`SELECT * FROM checkpoint()`, `SELECT * FROM sql_auto_complete('SEL')`, `PREPARE p AS SELECT 1`, `EXECUTE p`, `USE main`, `SELECT ?`, `SELECT $1`,
		`PIVOT events ON n USING count(*)`, "SELECT 1 \x00", `VACUUM`, `DETACH memory`, `SELECT * FROM pragma_table_info('events')`, `SELECT * FROM "/etc/passwd"`,
		`SELECT * FROM 's3://b/x.parquet'`, `SELECT * FROM seq_scan('events')`,
	} {
		out, err := ask(t, st, sql)
		if code := fault.CodeOf(err); code != fault.QueryRefused || out != "" {
			t.Errorf("%q: %v printed %q", sql, err, out)
		}
	}
	for sql, code := range map[string]fault.Code{
		`SELECT * FROM nosuch`: fault.StoreTableUnknown, `SELEC 1`: fault.QueryFailed, `SELECT nosuch FROM events`: fault.QueryFailed,
		`SELECT 1/'x' FROM events`: fault.QueryFailed, `WITH a AS (DELETE FROM events RETURNING *) SELECT * FROM a`: fault.QueryFailed,
		`SELECT * FROM captures`: fault.StoreUnsupported, `SELECT error('boom')`: fault.QueryFailed,
	} {
		out, err := ask(t, st, sql)
		if fault.CodeOf(err) != code || out != "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v printed %q", sql, err, out)
		}
	}
	if _, err := os.Stat("/tmp/y.csv"); err == nil {
		t.Error("a file was written")
	}
}

func TestEngineLockItself(t *testing.T) {
	// The second fence, were the first one to let something through.
	s, err := duck.Open(context.Background(), duck.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	allowed := filepath.Join(t.TempDir(), "ok.csv")
	if err := os.WriteFile(allowed, []byte("a\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.LockDown(context.Background(), []string{allowed}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`SELECT * FROM read_text('/etc/passwd')`, `COPY (SELECT 1) TO '/tmp/y.csv'`, `ATTACH '/tmp/y.db'`, `INSTALL httpfs`,
		`SET enable_external_access = true`, `SET memory_limit = '9GB'`} {
		if _, err := s.Exec(context.Background(), sql); fault.CodeOf(s.Explain(err)) != fault.QueryRefused {
			t.Errorf("%s: %v", sql, s.Explain(err))
		}
	}
	if n, err := s.Int(context.Background(), `SELECT count(*) FROM read_csv('`+allowed+`')`); err != nil || n != 1 {
		t.Error(n, err)
	}
}

func TestSpillsUnderTheLock(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	temp := t.TempDir()
	text, err := ask(t, st, `SELECT max(x), count(*) FROM (SELECT md5(i::VARCHAR) AS x FROM range(3000000) r(i) ORDER BY 1)`, func(o *Options) {
		o.Engine = duck.Options{MemoryLimit: 64 << 20, TempDir: temp, Threads: 2}
	})
	if err != nil || !strings.Contains(text, "3000000") {
		t.Fatal(text, err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Error("left behind", left, err)
	}
}

func TestBoundsDamageAndBrokenNeighbours(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	for i, run := range []string{"a", "b"} {
		ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: run, Columns: []string{"n int64"}, Rows: []string{`[` + string(rune('1'+i)) + `]`}, At: ducktest.Epoch.Add(time.Duration(i) * time.Hour)})
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	at := manifest.At(ducktest.Epoch.Add(time.Minute))
	asOf := func(o *Options) { o.AsOf = &at }
	expect(t, st, `SELECT n FROM events`, `[[1]]`, asOf)
	if text, err := ask(t, st, `SELECT n FROM events`, asOf); err != nil || !strings.Contains(text, `"contextful.bounds":{"as_of":"2024-05-01T12:01:00.000000000Z"}`) {
		t.Error(text, err)
	}
	part := st.Path("tables/events/data/runs/b/alpha/part-00000.parquet")
	data, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range [][]byte{data[:len(data)/2], []byte("PAR1 not a footer PAR1"), nil} {
		if damage == nil {
			err = os.Remove(part)
		} else {
			err = os.WriteFile(part, damage, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, st, `SELECT n FROM events`); fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), "part-00000.parquet") {
			t.Errorf("%v", err)
		}
	}
	expect(t, st, `SELECT id FROM docs`, `[[1]]`)
	// A whole file of other rows is no part either, with fine instants, which are read from a copy, and without.
	for _, fine := range []string{"2024-05-01T12:00:00Z", "2024-05-01T12:00:00.000000001Z"} {
		st := ducktest.Open(t, "alpha", "", declaration)
		columns := []string{"id int64", "at timestamp"}
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: columns, Rows: []string{`[1, "` + fine + `"]`, `[2, "` + fine + `"]`}})
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: columns, Rows: []string{`[3, "` + fine + `"]`}})
		body, err := os.ReadFile(st.Path("tables/docs/data/runs/b/alpha/part-00000.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(st.Path("tables/docs/data/runs/a/alpha/part-00000.parquet"), body, 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := ask(t, st, `SELECT * FROM docs`); fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), "runs/a/alpha/part-00000.parquet") {
			t.Errorf("%v %s", err, out)
		}
	}
}

func TestScanOrder(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: []string{"id int64", "v utf8"}, Rows: []string{`[2, "x"]`, `[1, "y"]`, `[3, "z"]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "c", Columns: []string{"id int64", "v utf8"}, Rows: []string{`[1, "w"]`}})
	var out bytes.Buffer
	report, err := Scan(context.Background(), st, "docs", Options{Out: &out, Format: CSV})
	if err != nil || report.Rows != 3 || report.Columns[0] != "id" {
		t.Fatal(report, err)
	}
	want := "id,v,_ingested_at,_run_id,_site_id,_row_seq,_commit_seq\n1,w,2024-05-01T12:00:00Z,c,site,0,2\n2,x,2024-05-01T12:00:00Z,b,site,0,1\n3,z,2024-05-01T12:00:00Z,b,site,2,1\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	if _, err := Scan(context.Background(), st, "nosuch", Options{Out: &out}); fault.CodeOf(err) != fault.StoreTableUnknown {
		t.Error(err)
	}
}

func TestReplacementFrontier(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	columns := []string{"n int64"}
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "a", Columns: columns, Rows: []string{`[1]`, `[2]`}, Replacement: true})
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "b", Columns: columns, Rows: []string{`[3]`}, Replacement: true, At: ducktest.Epoch.Add(time.Hour)})
	expect(t, st, `SELECT n FROM state`, `[[3]]`)
	at := manifest.At(ducktest.Epoch.Add(time.Minute))
	expect(t, st, `SELECT n FROM state ORDER BY n`, `[[1],[2]]`, func(o *Options) { o.AsOf = &at })
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "c", Columns: columns, Replacement: true, At: ducktest.Epoch.Add(2 * time.Hour)})
	expect(t, st, `SELECT count(*) FROM state`, `[[0]]`)
}

func TestDeclaredColumnsBeforeTheFirstLanding(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", "[[pipeline.tables]]\nname = \"t\"\ncolumns = { b = \"float32[2]\", a = \"timestamp\" }\n")
	expect(t, st, `SELECT column_name, column_type FROM (DESCRIBE t) LIMIT 2`, `[["a","TIMESTAMP WITH TIME ZONE"],["b","FLOAT[2]"]]`)
	if st.Project().Table("t").WriteMode != decl.Append {
		t.Error("default write mode")
	}
}
