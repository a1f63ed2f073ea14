package store

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

var crashModes = []vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll}

func TestCommitOrder(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	m.ResetJournal()
	_, err = land(tab, "r2", landing{})
	must(t, err)
	run := root + "/tables/events/data/runs/r2/alpha"
	want := []string{
		"sync " + run + "/part-00000.parquet", "syncdir " + run, "syncdir " + path.Dir(run), "syncdir " + path.Dir(path.Dir(run)),
		"rename " + root + "/tables/events/.tmp-* " + root + "/tables/events/_commit_seq",
		"sync " + run + "/.tmp-*", "renamenew " + run + "/.tmp-* " + run + "/_manifest.json", "syncdir " + run,
	}
	rest := m.Journal()
	for _, line := range want {
		i := slices.IndexFunc(rest, func(op vfs.Op) bool { return op.String() == line })
		if i < 0 {
			t.Fatalf("%q does not come in its order: %v", line, m.Journal())
		}
		rest = rest[i+1:]
	}
}

// Killed at any operation, a landing is there whole or not at all, what was there before stays, and the same landing again
// succeeds with a sequence above all.
func TestLandingSurvivesEveryCrash(t *testing.T) {
	for _, mode := range crashModes {
		for n := 1; ; n++ {
			m, tab := newT(t)
			_, err := land(tab, "r1", landing{})
			must(t, err)
			m.CrashAt(n)
			_, err = land(tab, "r2", landing{})
			fired := m.Down()
			m.Crash(mode)
			where := fmt.Sprintf("mode %d, operation %d", mode, n)
			rows, readErr := read(tab, Bounds{})
			if readErr != nil || len(rows) == 0 || rows[0] != "r1" || len(rows) > 2 || err == nil && len(rows) != 2 {
				t.Fatalf("%s: %v, %v after %v", where, rows, readErr, err)
			}
			before := int64(len(rows))
			seq3, err := land(tab, "r3", landing{})
			if err != nil || seq3 <= before {
				t.Fatalf("%s: r3 has %d above %d, %v", where, seq3, before, err)
			}
			if _, err := land(tab, "r2", landing{}); err != nil {
				t.Fatalf("%s: again: %v", where, err)
			}
			wantRows(t, tab, Bounds{}, "r1", "r2", "r3")
			wantNothingStale(t, m, where)
			if !fired {
				break
			}
		}
	}
}

func wantNothingStale(t *testing.T, m *vfs.Mem, where string) {
	t.Helper()
	l, err := table(t, open(t, m, "alpha", 200)).Lock(bg)
	must(t, err)
	_, err = l.Recover(bg)
	must(t, err)
	must(t, l.Release())
	for _, dir := range []string{"tables/events"} {
		list, err := m.ReadDir(path.Join(root, dir))
		must(t, err)
		for _, e := range list {
			if vfs.TemporaryName(e.Name()) {
				t.Fatalf("%s: %s is left in %s", where, e.Name(), dir)
			}
		}
	}
}

// An error instead of a crash (a full disk) leaves what was there.
func TestLandingFailsCleanly(t *testing.T) {
	for n := 1; ; n++ {
		m, tab := newT(t)
		_, err := land(tab, "r1", landing{})
		must(t, err)
		fired := false
		count := 0
		m.Inject(func(op vfs.Op) error {
			if op.Changes() {
				if count++; count == n {
					fired = true
					return syscall.ENOSPC
				}
			}
			return nil
		})
		_, err = land(tab, "r2", landing{})
		m.Inject(nil)
		if !fired {
			must(t, err)
			break
		}
		if err == nil {
			// What failed was only tidied up after.
			wantRows(t, tab, Bounds{}, "r1", "r2")
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", n, err)
		}
		rows, readErr := read(tab, Bounds{})
		must(t, readErr)
		if rows[0] != "r1" {
			t.Fatalf("operation %d: %v", n, rows)
		}
		_, err = land(tab, "r2", landing{})
		must(t, err)
		wantRows(t, tab, Bounds{}, "r1", "r2")
	}
}

func TestPassSurvivesEveryCrash(t *testing.T) {
	for _, mode := range crashModes {
		for n := 1; ; n++ {
			m, tab := newT(t)
			for _, run := range []string{"r1", "r2"} {
				_, err := land(tab, run, landing{})
				must(t, err)
			}
			_, err := foldNow(tab)
			must(t, err)
			_, err = land(tab, "r3", landing{})
			must(t, err)
			m.CrashAt(n)
			id, err := foldNow(tab)
			fired := m.Down()
			m.Crash(mode)
			where := fmt.Sprintf("mode %d, operation %d", mode, n)
			rows, readErr := read(tab, Bounds{})
			if readErr != nil || !slices.Equal(rows, []string{"r1", "r2", "r3"}) {
				t.Fatalf("%s: %v, %v", where, rows, readErr)
			}
			p, _, readErr := tab.Pointer()
			must(t, readErr)
			if err == nil && deref(p.SnapshotID) != id {
				t.Fatalf("%s: an acknowledged pointer was lost", where)
			}
			// The clock stands still: the next pass must find its way past whatever the killed one left.
			if _, err := foldNow(tab); err != nil {
				t.Fatalf("%s: again: %v", where, err)
			}
			wantRows(t, tab, Bounds{}, "r1", "r2", "r3")
			v, err := tab.Resolve(bg, Bounds{})
			must(t, err)
			if chain, err := tab.ListSnapshots(bg); err != nil || len(v.Runs) != 0 || len(chain) != 2 {
				t.Fatalf("%s: %d runs left, chain of %d: %v", where, len(v.Runs), len(chain), err)
			}
			wantNothingStale(t, m, where)
			if !fired {
				break
			}
		}
	}
}

func TestSwapPointer(t *testing.T) {
	m, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	one, two := int64(1), int64(2)
	p, etag, err := tab.Pointer()
	must(t, err)
	if etag != "" || p != (manifest.Pointer{}) {
		t.Fatal(p, etag)
	}
	must(t, tab.SwapPointer(bg, "", manifest.Pointer{Fence: &two}))
	wantCode(t, tab.SwapPointer(bg, "", manifest.Pointer{Fence: &two}), fault.StorePointerMoved, "_pointer.json")
	_, etag, err = tab.Pointer()
	must(t, err)
	wantCode(t, tab.SwapPointer(bg, etag, manifest.Pointer{Fence: &one}), fault.LeaseFenced, "1", "2")
	if _, again, _ := tab.Pointer(); again != etag {
		t.Fatal("a refused swap wrote")
	}
	must(t, tab.SwapPointer(bg, etag, manifest.Pointer{}))
	put(t, m, "tables/events/_pointer.json", `{"snapshot_id":"../../x"}`)
	_, _, err = tab.Pointer()
	wantCode(t, err, fault.StoreManifestInvalid)
}

func TestBeginRunRefusals(t *testing.T) {
	_, tab := newT(t)
	_, err := land(tab, "r1", landing{})
	must(t, err)
	l, err := tab.Lock(bg)
	must(t, err)
	_, err = l.BeginRun(bg, "../r")
	wantCode(t, err, fault.StoreNameInvalid)
	_, err = l.BeginRun(bg, "r1")
	wantCode(t, err, fault.StoreRunConflict, "r1")
	w, err := l.BeginRun(bg, "r2")
	must(t, err)
	_, err = l.BeginRun(bg, "r2")
	wantCode(t, err, fault.StoreBusy)
	seq := int64(9)
	wantCode(t, w.Commit(bg, &manifest.Run{CommittedAt: at(1), CommitSeq: &seq, Parts: []manifest.Part{{Name: "part-00000.parquet", Rows: 1}}, RowCount: 1}), fault.StorePartDamaged, "part-00000.parquet")
	wantCode(t, w.Commit(bg, &manifest.Run{CommitSeq: &seq}), fault.StoreManifestInvalid)
	must(t, w.Abandon())
	must(t, w.Abandon())
	must(t, l.Release())
	wantRows(t, tab, Bounds{}, "r1")
}

// A manifest that appears under a landing in flight is another writer's commit: it stays, and so does its directory.
func TestAbandonKeepsAnothersCommit(t *testing.T) {
	_, tab := newT(t)
	l, err := tab.Lock(bg)
	must(t, err)
	w, err := l.BeginRun(bg, "r1")
	must(t, err)
	seq := int64(1)
	m := &manifest.Run{CommittedAt: at(1), CommitSeq: &seq}
	rival, err := manifest.EncodeRun(&manifest.Run{Table: "events", RunID: "r1", NodeID: "alpha", CommittedAt: at(7)})
	must(t, err)
	name := tab.s.Path(key.RunManifest("events", "r1", "alpha"))
	must(t, vfs.WriteNew(tab.s.FS(), name, rival))
	wantCode(t, w.Commit(bg, m), fault.StoreRunConflict, "r1")
	must(t, w.Abandon())
	must(t, l.Release())
	have, err := vfs.ReadFile(tab.s.FS(), name, manifest.MaxRun)
	if err != nil || string(have) != string(rival) {
		t.Fatalf("the other writer's manifest: %q, %v", have, err)
	}
}

func TestLockBusy(t *testing.T) {
	m, tab := newT(t)
	l, err := tab.Lock(bg)
	must(t, err)
	s, err := Open(bg, Options{Root: root, Node: "alpha", FS: m, LockTimeout: time.Millisecond})
	must(t, err)
	_, err = table(t, s).Lock(bg)
	wantCode(t, err, fault.StoreBusy, "events")
	must(t, l.Release())
	must(t, l.Release())
}

// Two stores on one disk, several goroutines each: no row lost or doubled, every sequence once, every swap counted.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	seqs := map[int64]string{}
	var wg sync.WaitGroup
	writer := func(node string, work func(tab *Table)) {
		s, err := Open(bg, Options{Root: dir, Node: node, Clock: clock.System{}})
		must(t, err)
		tab, err := s.TableAt("events")
		must(t, err)
		wg.Go(func() { work(tab) })
	}
	for w := range 3 {
		node := fmt.Sprintf("n%d", w%2) // two of them are one node
		writer(node, func(tab *Table) {
			for i := range 8 {
				run := fmt.Sprintf("w%d-%d", w, i)
				seq, err := land(tab, run, landing{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if other := seqs[seq]; other != "" {
					t.Errorf("%s and %s both have %d", other, run, seq)
				}
				seqs[seq] = run
				mu.Unlock()
			}
		})
	}
	for range 2 {
		writer("n0", func(tab *Table) {
			for range 4 {
				if _, err := foldNow(tab); err != nil && !errors.Is(err, fault.StorePointerMoved) {
					t.Error(err)
				}
				if _, err := read(tab, Bounds{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, err := Open(bg, Options{Root: dir, Node: "n0"})
	must(t, err)
	tab, err := s.TableAt("events")
	must(t, err)
	rows, err := read(tab, Bounds{})
	must(t, err)
	if len(rows) != 24 || len(slices.Compact(rows)) != 24 || len(seqs) != 24 {
		t.Fatalf("%d rows, %d sequences: %v", len(rows), len(seqs), rows)
	}
}

func TestConcurrentPointerSwaps(t *testing.T) {
	m := vfs.NewMem()
	tab := table(t, open(t, m, "alpha", 1))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for done := 0; done < 10; {
				p, etag, err := tab.Pointer()
				if err != nil {
					t.Error(err)
					return
				}
				next := int64(1)
				if p.Fence != nil {
					next = *p.Fence + 1
				}
				err = tab.SwapPointer(bg, etag, manifest.Pointer{Fence: &next})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, fault.StorePointerMoved) && !errors.Is(err, fault.LeaseFenced):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if p, _, _ := tab.Pointer(); *p.Fence != 40 {
		t.Fatalf("40 swaps counted to %d", *p.Fence)
	}
}

func TestCommitSeqLooksEverywhere(t *testing.T) {
	next := func(tab *Table) Next {
		t.Helper()
		l, err := tab.Lock(bg)
		must(t, err)
		n, err := l.NextCommitSeq(bg)
		must(t, err)
		must(t, l.Release())
		return n
	}
	m, tab := newT(t)
	if n := next(tab); n.Seq != 1 {
		t.Fatal(n)
	}
	_, err := land(tab, "r1", landing{})
	must(t, err)
	if n := next(tab); n.Seq != 2 || !n.NotBefore.Equal(at(100).Time) {
		t.Fatal(n)
	}
	// A run that came from elsewhere.
	put(t, m, key.RunManifest("events", "p1", "beta"), runManifest("p1", "beta", `,"commit_seq":41`))
	if n := next(tab); n.Seq != 42 || n.NotBefore.Year() != 2026 {
		t.Fatal(n)
	}
	if n := next(tab); n.CommittedAt(clock.Fixed{Instant: at(5).Time}).Year() != 2026 {
		t.Fatal("a clock behind the last commit was believed")
	}
	_, err = land(tab, "r2", landing{})
	must(t, err)
	// A pull may add a node to a run id that is here already.
	must(t, tab.Admit(bg, func() error {
		put(t, m, key.RunManifest("events", "p1", "gamma"), runManifest("p1", "gamma", `,"commit_seq":50`))
		return nil
	}))
	if n := next(tab); n.Seq != 51 {
		t.Fatal(n)
	}
	// A snapshot, reachable or not.
	id := key.SnapshotID(7)
	put(t, m, key.SnapshotManifest("events", id), `{"snapshot_id":"`+id+`","table":"events","created_at":"2026-01-01T00:00:00Z","commit_seq":9007199254740993}`)
	if n := next(tab); n.Seq != 9007199254740994 {
		t.Fatal(n)
	}
	must(t, m.RemoveAll(root+"/"+key.SnapshotDir("events", id)))
	for _, text := range []string{"", "x\n", "-3\n", "99", "1e3\n"} {
		put(t, m, key.CommitSeq("events"), text)
		if n := next(tab); n.Seq != 51 {
			t.Fatalf("%q: %d", text, n.Seq)
		}
	}
	// The counter remembers what a collection has removed.
	put(t, m, key.CommitSeq("events"), "77\n")
	if n := next(tab); n.Seq != 78 {
		t.Fatal(n)
	}
	// One that somebody put back, newer than everything else on the disk, is not believed.
	put(t, m, key.CommitSeq("events"), "3\n")
	if n := next(tab); n.Seq != 51 {
		t.Fatal(n)
	}
	put(t, m, key.RunManifest("events", "p2", "beta"), `{"format_version":"3.0"}`)
	l, err := tab.Lock(bg)
	must(t, err)
	_, err = l.NextCommitSeq(bg)
	wantCode(t, err, fault.StoreManifestFormatNewer)
	must(t, l.Release())
}

// The number of operations of a landing does not grow with the table, folds in between included.
func TestLandingCostIsConstant(t *testing.T) {
	m, tab := newT(t)
	cost := func(i int) int {
		m.ResetJournal()
		_, err := land(tab, fmt.Sprintf("r%04d", i), landing{})
		must(t, err)
		return len(m.Journal())
	}
	var tenth int
	for i := range 300 {
		n := cost(i)
		if i == 10 {
			tenth = n
		}
		if i > 10 && n != tenth {
			t.Fatalf("landing %d takes %d operations, landing 10 took %d", i, n, tenth)
		}
		if i%50 == 49 {
			_, err := foldNow(tab)
			must(t, err)
		}
	}
}

func TestNoSnapshotFollowsTheLastNumber(t *testing.T) {
	_, tab := newT(t)
	last := key.SnapshotID(math.MaxInt64)
	_, err := tab.BeginPass(bg, manifest.At(tab.Store().Clock().Now()), &last)
	wantCode(t, err, fault.StoreManifestInvalid, last, "last number")
}
