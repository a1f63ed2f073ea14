package fold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/query"
	"contextful/ref/store"

	"golang.org/x/sys/unix"
)

const benchDeclaration = `
[[pipeline.tables]]
name = "t"
primary_key = ["id"]
[[pipeline.tables]]
name = "u"
`

var benchColumns = []string{"id int64", "name utf8", "amount float64", "seen timestamp"}

// benchRows: each run brings rows of which about a third were there before.
func benchRows(run, rows int) string {
	return fmt.Sprintf("SELECT %d + range AS id, 'name ' || (range %% 977) AS name, range / 7.0 AS amount, make_timestamp_ns((1700000000 + range) * 1000000000) AS seen FROM range(%d)", run*rows*2/3, rows)
}

func fill(b *testing.B, st *store.Store, table string, from, runs, rows int) *duck.Session {
	b.Helper()
	session, err := duck.Open(context.Background(), duck.Options{TempDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	more(b, st, session, table, from, runs, rows)
	return session
}

// more lands runs through an open session.
func more(b *testing.B, st *store.Store, session *duck.Session, table string, from, runs, rows int) {
	b.Helper()
	for i := range runs {
		ducktest.Generate(b, st, session, table, fmt.Sprintf("r%05d", from+i), benchColumns, benchRows(from+i, rows), ducktest.Epoch.Add(time.Duration(from+i)*time.Millisecond))
	}
}

func fileList(b *testing.B, st *store.Store, table string) string {
	b.Helper()
	view := mustResolve(b, st, table)
	var names []string
	for _, f := range view.Files {
		names = append(names, f.Path)
	}
	return duck.ReadParquet(names)
}

// cpuTime is what this process has used, all threads together: a wall clock tells of the neighbours too.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// versus gathers what we and DuckDB alone take, each after the other.
type versus struct{ ours, theirs, cpu, theirCPU time.Duration }

func (v *versus) us(b *testing.B, work func() error) {
	b.Helper()
	begin, cpu := time.Now(), cpuTime(b)
	err := work()
	v.ours, v.cpu = v.ours+time.Since(begin), v.cpu+cpuTime(b)-cpu
	if err != nil {
		b.Fatal(err)
	}
}

func (v *versus) them(b *testing.B, sql string) {
	b.Helper()
	cpu := cpuTime(b)
	v.theirs += plain(b, sql)
	v.theirCPU += cpuTime(b) - cpu
}

func (v *versus) report(b *testing.B) {
	b.ReportMetric(float64(v.ours)/float64(v.theirs), "ratio")
	b.ReportMetric(float64(v.cpu)/float64(v.theirCPU), "cpu-ratio")
	b.ReportMetric(float64(v.theirs.Milliseconds())/float64(b.N), "duckdb-ms/op")
	b.ReportMetric(float64(v.cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(v.theirCPU.Milliseconds())/float64(b.N), "duckdb-cpu-ms/op")
}

// plain is DuckDB as anyone would use it: opened, and one statement.
func plain(b *testing.B, sql string) time.Duration {
	b.Helper()
	begin := time.Now()
	session, err := duck.Open(context.Background(), duck.Options{TempDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	_, err = session.Exec(context.Background(), sql)
	if err = errors.Join(err, session.Close()); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// BenchmarkQuery: a snapshot and 50 runs of 2 k rows, against DuckDB on the same list of files with the same deduplication. ratio is
// ours over DuckDB's; ours includes resolving and printing, both open the engine and close it. The snapshot is of 1 M rows (keyed 700 k),
// where what we do before and after the engine's work weighs, and of ten times as many.
func BenchmarkQuery(b *testing.B) {
	for _, c := range []struct {
		name, table, ranking string
		rows                 int
	}{{"u1M", "u", "", 100_000}, {"t1M", "t", dedup, 100_000}, {"u10M", "u", "", 1_000_000}, {"t10M", "t", dedup, 1_000_000}} {
		b.Run(c.name, func(b *testing.B) {
			st := ducktest.Open(b, "alpha", "", benchDeclaration)
			fill(b, st, c.table, 0, 10, c.rows).Close()
			if _, err := Run(context.Background(), st, Options{Table: c.table}); err != nil {
				b.Fatal(err)
			}
			fill(b, st, c.table, 300, 50, 2_000).Close()
			files := fileList(b, st, c.table)
			direct := "SELECT count(*), sum(amount), max(name), max(seen) FROM (SELECT * FROM " + files + c.ranking + ")"
			var v versus
			for b.Loop() {
				v.us(b, func() error {
					_, err := query.Run(context.Background(), st, query.Options{SQL: "SELECT count(*), sum(amount), max(name), max(seen) FROM " + c.table, Out: io.Discard})
					return err
				})
				v.them(b, direct)
			}
			v.report(b)
		})
	}
}

const dedup = " QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY _ingested_at DESC, _run_id DESC, _row_seq DESC) = 1"

// foldVersus stages passes over table t, and has DuckDB deduplicate and copy the same files.
func foldVersus(b *testing.B, st *store.Store) {
	b.Helper()
	files := fileList(b, st, "t")
	var v versus
	for b.Loop() {
		var staged *Staged
		v.us(b, func() (err error) {
			staged, err = Stage(context.Background(), st, Options{Table: "t"})
			return err
		})
		out := filepath.Join(b.TempDir(), "out.parquet")
		v.them(b, "COPY (SELECT * FROM "+files+dedup+" ORDER BY id) TO "+duck.Text(out)+" (FORMAT parquet, COMPRESSION zstd)")
		if err := staged.Discard(); err != nil {
			b.Fatal(err)
		}
	}
	v.report(b)
}

// BenchmarkFold: a keyed pass over 1,000 runs of 1 k rows, against DuckDB's own deduplication and COPY of the same files. coarse has
// no instant with digits below the microsecond; fine has one in every row, which DuckDB on its own does not see.
func BenchmarkFold(b *testing.B) {
	for _, c := range []struct{ name, instead string }{{"coarse", ""}, {"fine", " REPLACE (make_timestamp_ns((1700000000 + range) * 1000000000 + 7) AS seen)"}} {
		b.Run(c.name, func(b *testing.B) {
			st := ducktest.Open(b, "alpha", "", benchDeclaration)
			session, err := duck.Open(context.Background(), duck.Options{TempDir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 1000 {
				rows := strings.Replace(benchRows(i, 1000), "SELECT ", "SELECT * EXCLUDE (range)"+c.instead+" FROM (SELECT range, ", 1) + ")"
				ducktest.Generate(b, st, session, "t", fmt.Sprintf("r%05d", i), benchColumns, rows, ducktest.Epoch.Add(time.Duration(i)*time.Millisecond))
			}
			if err := session.Close(); err != nil {
				b.Fatal(err)
			}
			foldVersus(b, st)
		})
	}
}

// BenchmarkDelta: a keyed pass over 10 runs of 1 k rows beside a snapshot of about 700 k, of which it replaces none, against DuckDB's
// deduplication and COPY of all of it: what a pass costs that rewrites everything.
func BenchmarkDelta(b *testing.B) {
	st := ducktest.Open(b, "alpha", "", benchDeclaration)
	session := fill(b, st, "t", 0, 10, 100_000)
	defer session.Close()
	if _, err := Run(context.Background(), st, Options{Table: "t"}); err != nil {
		b.Fatal(err)
	}
	more(b, st, session, "t", 5000, 10, 1000)
	foldVersus(b, st)
}

// BenchmarkAppends: the life of a table of n runs of 500 rows, folded after each. What its passes have written is told per row and per
// byte landed; limit is log4(n) + 1.
func BenchmarkAppends(b *testing.B) {
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				st := ducktest.Open(b, "alpha", "", benchDeclaration)
				session := fill(b, st, "u", 0, 0, 0)
				var rows, bytes, landed, arrived int64
				for i := range n {
					more(b, st, session, "u", i, 1, 500)
					view := mustResolve(b, st, "u")
					for _, f := range view.Files {
						if f.Run != nil {
							landed, arrived = landed+f.Rows, arrived+sizeOf(b, f.Path)
						}
					}
					if _, err := Run(context.Background(), st, Options{Table: "u"}); err != nil {
						b.Fatal(err)
					}
					view = mustResolve(b, st, "u")
					for _, f := range view.Files {
						if f.Part.SnapshotID == "" {
							rows, bytes = rows+f.Rows, bytes+sizeOf(b, f.Path)
						}
					}
				}
				session.Close()
				b.ReportMetric(float64(rows)/float64(landed), "rows-written/landed")
				b.ReportMetric(float64(bytes)/float64(arrived), "bytes-written/landed")
				b.ReportMetric(math.Log(float64(n))/math.Log(Width)+1, "limit")
			}
		})
	}
}

func mustResolve(b *testing.B, st *store.Store, table string) *store.View {
	b.Helper()
	tab, err := st.Table(table)
	if err != nil {
		b.Fatal(err)
	}
	view, err := tab.Resolve(context.Background(), store.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	return view
}

func sizeOf(b *testing.B, path string) int64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkScan prints a whole table as JSON.
func BenchmarkScan(b *testing.B) {
	st := ducktest.Open(b, "alpha", "", benchDeclaration)
	fill(b, st, "u", 0, 4, 100_000).Close()
	for b.Loop() {
		var out bytes.Buffer
		if _, err := query.Scan(context.Background(), st, "u", query.Options{Out: &out}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}
