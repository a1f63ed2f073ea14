package fold

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

func TestKeyedPassIsExactToTheNanosecond(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	columns := []string{"id int64", "rev timestamp", "v utf8", "seen timestamp"}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r1", Columns: columns, Rows: []string{
		`[1, "2024-01-01T00:00:00.000000001Z", "late", "2024-01-01T00:00:00Z"]`, `[2, "2024-01-01T00:00:00.000000Z", "first", null]`, `[9223372036854775807, null, "big", null]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r2", Columns: columns, Foreign: true, Rows: []string{
		`[1, "2024-01-01T00:00:00.000000Z", "early", "2024-01-01T00:00:00Z"]`, `[2, "2024-01-01T00:00:00.000000999Z", "second", "1677-09-22T00:00:00Z"]`}})
	report, view := folded(t, st, "docs")
	if report.Rows != 3 || report.Runs != 2 || report.Parent != "" {
		t.Errorf("%+v", report)
	}
	if got := ask(t, st, "SELECT id, v FROM docs ORDER BY id"); got != "1,late;2,second;9223372036854775807,big" {
		t.Error(got)
	}
	if fine := *view.Head.Parts[0].FineColumns; !slices.Equal(fine, []string{"rev"}) {
		t.Error("fine columns", fine)
	}
	if m := view.Head; m.FormatVersion != "1.1" || m.OrderBy != "rev" || !slices.Equal(m.PrimaryKey, []string{"id"}) || m.Fence != nil || m.Parent != nil ||
		!slices.Equal(m.IncludesRuns, []string{"r1/alpha", "r2/alpha"}) || *m.CommitSeq != 2 || m.SnapshotID != key.SnapshotID(m.CreatedAt.UnixNano()) {
		t.Errorf("%+v", m)
	}
	// The next pass stands on the first, keeps what it decided, and is named one above it where the clock stands still.
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "r3", Columns: columns, Rows: []string{`[2, "2024-01-01T00:00:00.000000998Z", "third", null]`, `[4, "2262-04-11T23:47:16.854775807Z", "new", "1677-09-21T00:12:43.145225Z"]`}})
	second, view := folded(t, st, "docs")
	if second.Parent != report.SnapshotID || second.Rows != 4 || second.Runs != 1 || second.SnapshotID <= report.SnapshotID || !view.Head.CreatedAt.After(chain(t, st, "docs")[1].CreatedAt.Time) {
		t.Errorf("%+v", second)
	}
	if got := ask(t, st, "SELECT v, rev, seen FROM docs WHERE id IN (2, 4) ORDER BY id"); got != "second,2024-01-01T00:00:00.000000999Z,1677-09-22T00:00:00Z;new,2262-04-11T23:47:16.854775807Z,1677-09-21T00:12:43.145225Z" {
		t.Error(got)
	}
	if third := mustFold(t, st, "docs"); third.SnapshotID != "" || third.Parent != second.SnapshotID || third.Rows != 4 {
		t.Errorf("nothing to fold, and yet %+v", third)
	}
}

func TestUnionMixesAndAdditions(t *testing.T) {
	st := ducktest.Open(t, "alpha", "odd [a]* 'q' ?", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "a", Columns: []string{"n int64", "x int64", "j json", "b boolean", "y binary"}, Rows: []string{`[9007199254740993, 3, "{\"k\": 9007199254740993}", true, "/wA="]`, `[2, 2, "text", null, null]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "b", Columns: []string{"x float64", "s utf8", "i int32"}, Rows: []string{`[0.5, "ü", 7]`, `[2.5, "", null]`, `[null, null, null]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "edge", Columns: []string{"x int64", "s utf8", "e timestamp"}, Rows: []string{
		`[8, "edge", "2262-04-11T23:47:16.854775Z"]`, `[9, "edge", "1677-09-21T00:12:43.145225Z"]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "empty", Columns: []string{"x float64"}})
	report, view := folded(t, st, "events")
	if report.Rows != 7 || len(view.Head.Parts) != 1 {
		t.Errorf("%+v", report)
	}
	if got := ask(t, st, "SELECT x, s FROM events WHERE s IS DISTINCT FROM 'edge'"); got != `0.5,ü;2.0,;2.5,"";3.0,;,` {
		t.Error("not clustered:", got)
	}
	if got := ask(t, st, "SELECT n, j, y FROM events WHERE b"); got != `9007199254740993,"{""k"": 9007199254740993}",/wA=` {
		t.Error(got)
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "c", Columns: []string{"x int64", "late struct<a: int64, t: timestamp>", "l list<utf8>"}, Rows: []string{`[1, {"a": 1, "t": "2024-01-01T00:00:00.000000001Z"}, ["p", null]]`}})
	if report, _ := folded(t, st, "events"); report.Rows != 8 {
		t.Errorf("%+v", report)
	}
	if got := ask(t, st, "SELECT late.t FROM events WHERE late IS NOT NULL"); got != "2024-01-01T00:00:00.000000001Z" {
		t.Error(got)
	}
	if got := ask(t, st, "SELECT count(*), count(late), max(late.a), max(l[1]), max(e), min(e) FROM events"); got != "8,1,1,p,2262-04-11T23:47:16.854775Z,1677-09-21T00:12:43.145225Z" {
		t.Error(got)
	}
}

func TestPartitionsAndOddNames(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	table := "filings/annual.v1"
	columns := []string{`se"le'ct int64`, "a.b utf8", "group by utf8", "rowid int64"}
	values := []string{`"a/b"`, `"50%"`, `"?+=&"`, `" spaced out "`, `"ünï"`, `"..", "x": 1`, `""`, `null`, `"%null"`, `"NULL"`, `"_x"`, `"` + strings.Repeat("long", 100) + `"`, `"A"`, `"a"`}
	var rows []string
	for i, v := range values {
		v, _, _ = strings.Cut(v, `, "x"`)
		rows = append(rows, fmt.Sprintf(`[%d, "k", %s, %d]`, i, v, -i), fmt.Sprintf(`[%d, "l", %s, 0]`, i, v))
	}
	ducktest.Land(t, st, ducktest.Landing{Table: table, Run: "r1", Columns: columns, Rows: rows})
	ducktest.Land(t, st, ducktest.Landing{Table: table, Run: "r2", Columns: columns, Rows: []string{`[0, "k", "moved", 1]`}, At: ducktest.Epoch.Add(time.Second)})
	report, view := folded(t, st, table)
	if report.Rows != int64(2*len(values)) || report.Parts != len(values)+1 {
		t.Errorf("%+v", report)
	}
	seen := map[string]bool{}
	for _, p := range view.Head.Parts {
		dir := filepath.Dir(p.Name)
		if seen[dir] || len(p.Partition) != 1 || dir != key.PartitionDir(p.Partition) {
			t.Errorf("part %s of partition %v", p.Name, p.Partition)
		}
		seen[dir] = true
		if _, err := key.Parse(key.SnapshotDir(table, report.SnapshotID) + "/" + p.Name); err != nil {
			t.Error(err)
		}
	}
	if !seen["%null"] || !seen["%25null"] || !seen["NULL"] || !seen["%empty"] || !seen["a%2Fb"] {
		t.Error(seen)
	}
	if got := ask(t, st, `SELECT "group by", rowid FROM "filings/annual.v1" WHERE "se""le'ct" = 0 ORDER BY "a.b"`); got != "moved,1;a/b,0" {
		t.Error(got)
	}
}

func TestPartitionValueTypes(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", `
[[pipeline.tables]]
name = "t"
partition_by = ["when", "n", "ok", "y", "absent"]
`)
	columns := []string{"when timestamp", "n int64", "ok boolean", "y binary", "f float64"}
	ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: "r", Columns: columns, Rows: []string{`["2024-01-01T00:00:00.000000001Z", 1, true, "/wA=", 1]`,
		`["2024-01-01T00:00:00Z", 1, true, "/wA=", 2]`, `[null, null, null, null, 3]`, `["2024-01-01T00:00:00Z", 1, true, "/wA=", 4]`}})
	report, view := folded(t, st, "t")
	if report.Parts != 3 || report.Rows != 4 {
		t.Errorf("%+v", report)
	}
	var texts []string
	for _, p := range view.Head.Parts {
		text := ""
		for _, v := range p.Partition {
			if v == nil {
				text += "|"
			} else {
				text += *v + "|"
			}
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	if got := strings.Join(texts, " "); got != "2024-01-01T00:00:00.000000000Z|1|true|/wA=|| 2024-01-01T00:00:00.000000001Z|1|true|/wA=|| |||||" {
		t.Error(got)
	}
}

func TestReplacementIsCarried(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	land := func(run string, at time.Duration, rows ...string) {
		ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: run, Columns: []string{"n int64", "v utf8"}, Rows: rows, Replacement: true, At: ducktest.Epoch.Add(at)})
	}
	land("a", 0, `[1, "x"]`, `[2, "x"]`)
	land("b", time.Hour, `[2, "y"]`, `[2, "z"]`, `[3, "y"]`)
	report, view := folded(t, st, "state")
	if report.Rows != 2 || report.Runs != 2 || view.Head.Replacement == nil || view.Head.Replacement.Run != "b/alpha" {
		t.Errorf("%+v %+v", report, view.Head)
	}
	land("c", 2*time.Hour)
	report, view = folded(t, st, "state")
	if report.Rows != 0 || report.Parts != 0 || view.Head.Replacement.Run != "c/alpha" || report.SnapshotID == "" {
		t.Errorf("%+v", report)
	}
	early := manifest.At(ducktest.Epoch.Add(time.Minute))
	if got := scan(t, st, "state", &early); strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
}

func TestRefusalsBeforeStaging(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[9007199254740993]`, `[9007199254740992]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: []string{"id float64"}, Rows: []string{`[0.5]`}})
	ducktest.Land(t, st, ducktest.Landing{Table: "indexed", Run: "a", Columns: []string{"b utf8"}, Rows: []string{`["x"]`}})
	for table, code := range map[string]fault.Code{"docs": fault.StoreKeyWidened, "indexed": fault.StoreUnsupported, "nosuch": fault.StoreTableUnknown} {
		_, err := Run(context.Background(), st, Options{Table: table, Engine: duck.Options{TempDir: t.TempDir()}})
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v", table, err)
		}
		if _, err := os.Stat(st.Path(key.SnapshotsDir(table))); err == nil {
			t.Errorf("%s: something was staged", table)
		}
	}
}

func TestDamagedInputsPublishNothing(t *testing.T) {
	for _, damage := range []string{"cut", "swapped", "gone", "flipped"} {
		st := ducktest.Open(t, "alpha", "", declaration)
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`, `[2]`}})
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: []string{"id int64"}, Rows: []string{`[3]`}})
		part := st.Path("tables/docs/data/runs/a/alpha/part-00000.parquet")
		var err error
		switch damage {
		case "cut":
			err = os.Truncate(part, 100)
		case "gone":
			err = os.Remove(part)
		case "flipped": // within a page: readers see another value, or none
			var data []byte
			if data, err = os.ReadFile(part); err == nil {
				data[len(data)/4] ^= 1
				err = os.WriteFile(part, data, 0o600)
			}
		case "swapped":
			err = os.Rename(st.Path("tables/docs/data/runs/b/alpha/part-00000.parquet"), part)
			if err == nil {
				err = os.Link(part, st.Path("tables/docs/data/runs/b/alpha/part-00000.parquet"))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(context.Background(), st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}})
		if fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), "runs/a/alpha/part-00000.parquet") {
			t.Errorf("%s: %v", damage, err)
		}
		if tab, _ := st.Table("docs"); tab != nil {
			if p, _, err := tab.Pointer(); err != nil || p.SnapshotID != nil {
				t.Error(p, err)
			}
		}
	}
}

// TestSchemaLag: a pull brings another node's run before it merges that run's schema; neither a read nor a pass may lose a column.
func TestSchemaLag(t *testing.T) {
	alpha := ducktest.Open(t, "alpha", "", declaration)
	beta := ducktest.At(t, "beta", alpha.Root(), alpha.Project())
	ducktest.Land(t, alpha, ducktest.Landing{Table: "events", Run: "a", Columns: []string{"x int64"}, Rows: []string{`[1]`}})
	old, err := os.ReadFile(alpha.Path(key.Schema("events")))
	if err != nil {
		t.Fatal(err)
	}
	ducktest.Land(t, beta, ducktest.Landing{Table: "events", Run: "b", Columns: []string{"x float64", "s utf8"}, Rows: []string{`[0.5, "kept"]`}})
	if err := os.WriteFile(alpha.Path(key.Schema("events")), old, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, alpha, "SELECT x, s FROM events ORDER BY x"); got != "0.5,kept;1.0," {
		t.Error(got)
	}
	report := mustFold(t, alpha, "events")
	info, err := colfile.ReadInfo(vfs.OS{}, filepath.Join(alpha.Path(key.SnapshotDir("events", report.SnapshotID)), key.PartName(0)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := schema.FromArrow(info.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if typ, ok := in.Lookup("s"); !ok || typ.Kind != schema.Utf8 || in.Columns[0].Type.Kind != schema.Float64 {
		t.Errorf("%+v", in.Columns)
	}
}

// TestOneRunIDOnTwoNodes: rows equal in instant, run id and place are told apart by _commit_seq and _site_id, the same for every
// reader, before a pass, after it, and beside its snapshot.
func TestOneRunIDOnTwoNodes(t *testing.T) {
	alpha := ducktest.Open(t, "alpha", "", declaration)
	beta := ducktest.At(t, "beta", alpha.Root(), alpha.Project())
	columns := []string{"id int64", "rev timestamp", "v utf8"}
	land := func(st *store.Store, run, v string) {
		t.Helper()
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: run, Columns: columns, Rows: []string{`[1, null, "` + v + `"]`}})
	}
	land(beta, "same", "beta")
	land(alpha, "same", "alpha") // _commit_seq one above
	for range 2 {
		if got := ask(t, alpha, "SELECT v FROM docs"); got != "alpha" {
			t.Error(got)
		}
		if got := ask(t, beta, "SELECT v FROM docs"); got != "alpha" {
			t.Error(got)
		}
		if view := resolve(t, alpha, "docs"); len(view.Runs) > 0 {
			folded(t, alpha, "docs")
		}
	}
	land(beta, "later", "earlier run id")
	if got := ask(t, alpha, "SELECT v FROM docs"); got != "alpha" { // equal instants: "same" sorts above "later"
		t.Error(got)
	}
	folded(t, beta, "docs")
}
