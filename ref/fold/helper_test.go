package fold

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/query"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

const declaration = `
[[pipeline.tables]]
name = "docs"
primary_key = ["id"]
order_by = "rev"
[[pipeline.tables]]
name = "events"
cluster_by = ["x"]
[[pipeline.tables]]
name = "filings/annual.v1"
primary_key = ["se\"le'ct", "a.b"]
partition_by = ["group by"]
[[pipeline.tables]]
name = "state"
write_mode = "replace"
primary_key = ["n"]
[[pipeline.tables]]
name = "indexed"
[[pipeline.tables.indexes]]
kind = "fulltext"
column = "b"
[[pipeline.tables]]
name = "vectors"
`

func scan(t *testing.T, st *store.Store, table string, asOf *manifest.Instant) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := query.Scan(context.Background(), st, table, query.Options{Out: &out, Format: query.CSV, Bounds: query.Bounds{AsOf: asOf}, Engine: duck.Options{TempDir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func ask(t *testing.T, st *store.Store, sql string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := query.Run(context.Background(), st, query.Options{SQL: sql, Out: &out, Format: query.CSV, Engine: duck.Options{TempDir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(out.String(), "\n")
	return strings.ReplaceAll(strings.TrimSpace(body), "\n", ";")
}

func mustFold(t *testing.T, st *store.Store, table string, o ...func(*Options)) Report {
	t.Helper()
	options := Options{Table: table, Engine: duck.Options{TempDir: t.TempDir()}}
	for _, f := range o {
		f(&options)
	}
	report, err := Run(context.Background(), st, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// folded folds a table and checks that no reader sees a difference, now or as of before.
func folded(t *testing.T, st *store.Store, table string) (Report, *store.View) {
	t.Helper()
	before := scan(t, st, table, nil)
	newest := ducktest.Epoch
	for _, run := range resolve(t, st, table).Runs {
		if run.CommittedAt.After(newest) {
			newest = run.CommittedAt.Time
		}
	}
	report := mustFold(t, st, table)
	if after := scan(t, st, table, nil); after != before {
		t.Errorf("table %s reads differently after the pass:\n%s\nand before:\n%s", table, after, before)
	}
	view := resolve(t, st, table)
	if view.Head == nil || view.Head.SnapshotID != report.SnapshotID || len(view.Runs) != 0 {
		t.Fatalf("the pointer does not name the pass: %+v", view.Pointer)
	}
	// There is a moment before the snapshot and after its runs, unless one of them was committed at its own instant.
	if instant := manifest.At(view.Head.CreatedAt.Add(-time.Nanosecond)); !instant.Before(newest) {
		if then := scan(t, st, table, &instant); then != before {
			t.Errorf("table %s reads differently as of before the pass:\n%s\nand before:\n%s", table, then, before)
		}
	}
	rows := int64(0)
	for _, p := range view.Head.Parts {
		rows += p.Rows
		if err := colfile.Verify(vfs.OS{}, partPath(st, table, view.Head, p), p.Rows); err != nil {
			t.Error(err)
		}
	}
	if rows != report.Rows || view.Head.RowCount != rows {
		t.Errorf("%d rows in parts, %d reported, %d in the manifest", rows, report.Rows, view.Head.RowCount)
	}
	if left, err := filepath.Glob(st.Path(key.SnapshotsDir(table)) + "/*.staging"); err != nil || len(left) > 0 {
		t.Error("staging left behind", left, err)
	}
	if damage, err := st.Check(context.Background(), store.CheckOptions{}); err != nil || len(damage) > 0 {
		t.Error("check finds", damage, err)
	}
	return report, view
}

// partPath is where a snapshot's part lies.
func partPath(st *store.Store, table string, m *manifest.Snapshot, p manifest.Part) string {
	origin := p.SnapshotID
	if origin == "" {
		origin = m.SnapshotID
	}
	return filepath.Join(st.Path(key.SnapshotDir(table, origin)), p.Name)
}

func resolve(t *testing.T, st *store.Store, table string) *store.View {
	t.Helper()
	tab, err := st.Table(table)
	if err != nil {
		t.Fatal(err)
	}
	view, err := tab.Resolve(context.Background(), store.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return view
}
