package fold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/query"
	"contextful/ref/store"
)

func TestStagedPassesPublishOrVanish(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ctx := context.Background()
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	stage := func(fence *int64) *Staged {
		s, err := Stage(ctx, st, Options{Table: "docs", Fence: fence, Engine: duck.Options{TempDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	seven, three := int64(7), int64(3)
	first, second := stage(&seven), stage(nil)
	if first.Manifest.SnapshotID == second.Manifest.SnapshotID {
		t.Fatal("two passes share a directory")
	}
	// What is only staged is nobody's.
	if view := resolve(t, st, "docs"); view.Head != nil || len(view.Files) != 1 {
		t.Errorf("%+v", view)
	}
	if err := first.PublishLocal(ctx); err != nil {
		t.Fatal(err)
	}
	if err := first.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := second.PublishLocal(ctx); fault.CodeOf(err) != fault.StorePointerMoved {
		t.Error(err)
	}
	if err := second.Discard(); err != nil {
		t.Error(err)
	}
	view := resolve(t, st, "docs")
	if view.Head.SnapshotID != first.Manifest.SnapshotID || *view.Pointer.Fence != 7 || *view.Head.Fence != 7 {
		t.Errorf("%+v", view.Pointer)
	}
	if _, err := os.Stat(second.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the loser's snapshot is still there")
	}
	// A lower fence loses, and so does its directory.
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: []string{"id int64"}, Rows: []string{`[2]`}})
	_, err := Run(ctx, st, Options{Table: "docs", Fence: &three, Engine: duck.Options{TempDir: t.TempDir()}})
	if fault.CodeOf(err) != fault.LeaseFenced {
		t.Error(err)
	}
	if dirs, _ := os.ReadDir(st.Path(key.SnapshotsDir("docs"))); len(dirs) != 1 {
		t.Error(dirs)
	}
	// Publish takes the place of the local swap.
	report, err := Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Publish: func(ctx context.Context, s *Staged) error {
		return s.PublishLocal(ctx)
	}})
	if err != nil || resolve(t, st, "docs").Head.SnapshotID != report.SnapshotID {
		t.Error(report, err)
	}
}

func TestLeftoversOfKilledPasses(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	tab, err := st.Table("docs")
	if err != nil {
		t.Fatal(err)
	}
	abandoned, err := tab.BeginPass(context.Background(), manifest.At(ducktest.Epoch), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abandoned.Dir(), "part-00000.parquet"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	live, err := tab.BeginPass(context.Background(), manifest.At(ducktest.Epoch), nil)
	if err != nil {
		t.Fatal(err)
	}
	abandoned.Close() // as its process's end would
	mustFold(t, st, "docs")
	if _, err := os.Stat(abandoned.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Error("an abandoned pass is still there")
	}
	if _, err := os.Stat(live.Dir()); err != nil {
		t.Error("a living pass lost its directory", err)
	}
	if err := live.Discard(); err != nil {
		t.Error(err)
	}
}

func TestCancelledPassLeavesNothing(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: func(line string) {
		if strings.HasPrefix(line, "folding") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if dirs, _ := os.ReadDir(st.Path(key.SnapshotsDir("docs"))); len(dirs) != 0 {
		t.Error(dirs)
	}
}

// TestPassesBesideLandings: writers land while passes run; every row is there once at every look, and the chain is one.
func TestPassesBesideLandings(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	const runs = 24
	var wait sync.WaitGroup
	fail := make(chan error, 100)
	wait.Go(func() {
		for i := range runs {
			l := ducktest.Landing{Table: "events", Run: fmt.Sprintf("r%02d", i), Columns: []string{"x int64", "n int64"}}
			for j := range 50 {
				l.Rows = append(l.Rows, fmt.Sprintf("[%d, %d]", (i*7+j)%11, i*50+j))
			}
			if _, err := ducktest.TryLand(st, l); err != nil {
				fail <- err
			}
		}
	})
	for range 2 {
		wait.Go(func() {
			for range 8 {
				_, err := Run(context.Background(), st, Options{Table: "events", Engine: duck.Options{Threads: 1}})
				if err != nil && fault.CodeOf(err) != fault.StorePointerMoved {
					fail <- err
				}
			}
		})
	}
	wait.Go(func() {
		last := 0
		for range 12 {
			var out bytes.Buffer
			report, err := query.Run(context.Background(), st, query.Options{SQL: "SELECT count(*), count(DISTINCT n) FROM events", Out: &out, Format: query.CSV, Engine: duck.Options{Threads: 1}})
			var all, distinct int
			if err == nil {
				_, err = fmt.Sscanf(out.String(), "count_star(),count(DISTINCT n)\n%d,%d", &all, &distinct)
			}
			if fault.CodeOf(err) == fault.QueryFailed && last == 0 {
				continue // before the first landing there is no column n
			}
			if err != nil || all != distinct || all < last || all%50 != 0 {
				fail <- fmt.Errorf("a reader saw %d rows, %d distinct, after %d: %v %v %s", all, distinct, last, report, err, out.String())
			}
			last = all
		}
	})
	wait.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
	mustFold(t, st, "events")
	if got := ask(t, st, "SELECT count(*), count(DISTINCT n), min(n), max(n) FROM events"); got != fmt.Sprintf("%d,%d,0,%d", runs*50, runs*50, runs*50-1) {
		t.Error(got)
	}
	view := resolve(t, st, "events")
	if err := view.Folded.Load(t.Context()); err != nil || view.Folded.Len() != runs || len(view.Runs) != 0 {
		t.Errorf("the chain folds %d runs", view.Folded.Len())
	}
	dirs, err := os.ReadDir(st.Path(key.SnapshotsDir("events")))
	if err != nil || len(dirs) != len(chain(t, st, "events")) {
		t.Errorf("%d directories beside a chain of %d", len(dirs), len(chain(t, st, "events")))
	}
}

func chain(t *testing.T, st *store.Store, table string) []store.SnapshotInfo {
	t.Helper()
	tab, err := st.TableAt(table)
	if err != nil {
		t.Fatal(err)
	}
	list, err := tab.ListSnapshots(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLosersTryAgain: a pass that loses its pointer starts over from the winner's.
func TestLosersTryAgain(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ctx := context.Background()
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "a", Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	rivals := 0
	rival := func(limit int) func(string) {
		return func(line string) {
			if !strings.HasPrefix(line, "wrote") || rivals == limit {
				return
			}
			rivals++
			ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: fmt.Sprintf("rival%d", rivals), Columns: []string{"id int64"}, Rows: []string{fmt.Sprintf(`[%d]`, 100+rivals)}})
			mustFold(t, st, "docs")
		}
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "b", Columns: []string{"id int64"}, Rows: []string{`[2]`}})
	// The rival folds a and b too, so what is left for the second attempt is nothing.
	report, err := Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: rival(1)})
	if err != nil || report.SnapshotID != "" || report.Rows != 3 {
		t.Error(report, err)
	}
	rivals = 10
	late := 0
	_, err = Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: func(line string) {
		if strings.HasPrefix(line, "wrote") {
			late++
			mustFold(t, st, "docs")
			ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: fmt.Sprintf("late%d", late), Columns: []string{"id int64"}, Rows: []string{`[7]`}})
		}
	}})
	if err != nil {
		t.Fatal(err) // nothing was new: no pass ran
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "c", Columns: []string{"id int64"}, Rows: []string{`[3]`}})
	_, err = Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: func(line string) {
		if strings.HasPrefix(line, "wrote") {
			late++
			mustFold(t, st, "docs")
			ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: fmt.Sprintf("late%d", late), Columns: []string{"id int64"}, Rows: []string{`[7]`}})
		}
	}})
	if fault.CodeOf(err) != fault.StorePointerMoved || late != Attempts {
		t.Error(late, err)
	}
	if dirs, err := os.ReadDir(st.Path(key.SnapshotsDir("docs"))); err != nil || len(dirs) != len(chain(t, st, "docs")) {
		t.Errorf("%d directories beside a chain of %d: %v", len(dirs), len(chain(t, st, "docs")), err)
	}
}

// TestInputsRemovedByARival: a pass whose inputs another pass folded, and its retention removed, starts over; what is missing under
// the same pointer is damage.
func TestInputsRemovedByARival(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ctx := context.Background()
	for _, run := range []string{"a", "b"} {
		ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: run, Columns: []string{"id int64"}, Rows: []string{`[1]`}})
	}
	rivals := 0
	report, err := Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: func(line string) {
		if !strings.HasPrefix(line, "folding") || rivals > 0 {
			return
		}
		rivals++
		mustFold(t, st, "docs")
		tab, err := st.Table("docs")
		if err != nil {
			t.Fatal(err)
		}
		if done, err := tab.Retain(ctx, ducktest.Epoch.AddDate(1, 0, 0), 0); err != nil || done.Runs != 2 {
			t.Fatal(done, err)
		}
	}})
	if err != nil || report.SnapshotID != "" || report.Rows != 1 || rivals != 1 {
		t.Fatal(report, err, rivals)
	}
	ducktest.Land(t, st, ducktest.Landing{Table: "docs", Run: "c", Columns: []string{"id int64"}, Rows: []string{`[2]`}})
	_, err = Run(ctx, st, Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}, Progress: func(line string) {
		if strings.HasPrefix(line, "folding") {
			if err := os.Remove(st.Path("tables/docs/data/runs/c/alpha/part-00000.parquet")); err != nil {
				t.Error(err)
			}
		}
	}})
	if fault.CodeOf(err) != fault.StorePartDamaged {
		t.Fatal(err)
	}
}
