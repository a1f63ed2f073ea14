package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/vfs"
)

// What a read of a folded table opens does not grow with the runs that were folded, though their directories are there.
func TestOpeningIsCheap(t *testing.T) {
	const old = 40
	m := vfs.NewMem()
	tab := handle(t, m, "alpha", 1000)
	for i := range old {
		_, err := land(tab, fmt.Sprintf("r%02d", i), landing{})
		must(t, err)
	}
	_, err := foldNow(tab)
	must(t, err)
	_, err = land(tab, "new", landing{})
	must(t, err)
	m.ResetJournal()
	v, err := tab.Resolve(bg, Bounds{})
	must(t, err)
	if len(v.Runs) != 1 || v.Runs[0].RunID != "new" {
		t.Fatalf("%v", v.Runs)
	}
	if opens, lists := m.Count(vfs.OpOpen), m.Count(vfs.OpReadDir); opens != 5 || lists != 2 {
		t.Errorf("%d files opened and %d directories listed: %v", opens, lists, m.Journal())
	}
	must(t, v.Folded.Load(bg))
	if v.Folded.Len() != old || !v.RunsUnique() {
		t.Errorf("%d runs are folded", v.Folded.Len())
	}
	m.ResetJournal()
	_, err = foldNow(tab)
	must(t, err)
	if lists := m.Count(vfs.OpReadDir); lists > 12 {
		t.Errorf("a pass of one run lists %d directories", lists)
	}
}

// Whatever comes into the directory of a folded run's id is seen, whoever brought it and however.
func TestSettledDirectoryThatChanges(t *testing.T) {
	m, _ := aged(t, 3)
	tab, beta := handle(t, m, "alpha", 9000), handle(t, m, "beta", 9000)
	wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
	// The same rows under the same id from another node; the text of a part does not say of which node it is.
	_, err := land(beta, "r1", landing{})
	must(t, err)
	wantRows(t, tab, Bounds{}, "r0", "r1", "r1", "r2")
	v, err := tab.Resolve(bg, Bounds{})
	must(t, err)
	if v.RunsUnique() {
		t.Error("two nodes' runs of one id are not told apart")
	}
	// By hand: first what is no run yet, then its manifest.
	from, to := path.Join(root, key.RunDir("events", "r1", "beta")), path.Join(root, key.RunDir("events", "r2", "beta"))
	must(t, m.MkdirAll(to))
	put(t, m, key.RunDir("events", "r2", "beta")+"/"+key.PartName(0), partText("r2"))
	wantRows(t, tab, Bounds{}, "r0", "r1", "r1", "r2")
	data, err := vfs.ReadFile(m, path.Join(from, key.ManifestName), 1<<20)
	must(t, err)
	put(t, m, key.RunManifest("events", "r2", "beta"), strings.ReplaceAll(string(data), `"r1"`, `"r2"`))
	wantRows(t, tab, Bounds{}, "r0", "r1", "r1", "r2", "r2")
	// Folded, they are in the rows once, and the directories rest again.
	_, err = foldNow(tab)
	must(t, err)
	wantRows(t, tab, Bounds{}, "r0", "r1", "r1", "r2", "r2")
	v, err = tab.Resolve(bg, Bounds{})
	must(t, err)
	if v.RunsUnique() || len(v.Runs) != 0 {
		t.Errorf("%v", v.Runs)
	}
}

// An id whose directory retention took, landed on another node, is no id of one node.
func TestRunsUniqueWithoutDirectories(t *testing.T) {
	m, _ := aged(t, 3)
	tab := handle(t, m, "alpha", 9000)
	_, err := tab.Retain(bg, at(9000).Time, 0)
	must(t, err)
	for i, run := range []string{"fresh", "r1"} {
		_, err := land(handle(t, m, "beta", 9000), run, landing{})
		must(t, err)
		v, err := tab.Resolve(bg, Bounds{})
		must(t, err)
		if v.RunsUnique() != (i == 0) || v.Folded.settled == nil {
			t.Errorf("after %s: %t", run, v.RunsUnique())
		}
	}
}

// A cache that is not what was written, or whose index is not, changes no answer and hides no refusal.
func TestSettledIsNotBelieved(t *testing.T) {
	m, ids := aged(t, 4)
	tab := handle(t, m, "alpha", 9000)
	_, err := land(tab, "new", landing{})
	must(t, err)
	cache := path.Join(tab.Dir(), settledName)
	good, err := vfs.ReadFile(m, cache, 1<<20)
	must(t, err)
	write := func(name, text string) {
		t.Helper()
		must(t, m.Remove(name))
		f, err := m.Create(name)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, errors.Join(err, f.Close()))
	}
	believed := func() bool { return tab.settled(ids[3]) != nil }
	if !believed() {
		t.Fatal("a cache as it was written is not believed")
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		write(cache, string(bad))
		if believed() {
			t.Errorf("believed with byte %d changed", i)
		}
	}
	for _, text := range []string{"", "x", settledMagic, string(good[:len(good)-8]), string(good) + "12345678"} {
		write(cache, text)
		wantRows(t, tab, Bounds{}, "new", "r0", "r1", "r2", "r3")
		if believed() {
			t.Errorf("believed: %.40q", text)
		}
	}
	write(cache, string(good))
	if tab.settled(ids[2]) != nil || !believed() {
		t.Error("it is of one snapshot")
	}
	// Below, nothing is left to walk: only the index says what is folded.
	for _, id := range ids[:3] {
		must(t, m.Remove(path.Join(root, key.SnapshotManifest("events", id))))
	}
	wantRows(t, tab, Bounds{}, "new", "r0", "r1", "r2", "r3")
	f, err := tab.Folded(bg, &ids[3])
	must(t, err)
	segment := path.Join(root, key.SnapshotDir("events", f.Index.Segments[0].SnapshotID), f.Index.Segments[0].Name)
	text, err := vfs.ReadFile(m, segment, 1<<20)
	must(t, err)
	text[len(text)/2] ^= 1 // as long as before
	write(segment, string(text))
	_, err = tab.Resolve(bg, Bounds{})
	wantCode(t, err, fault.StoreChainBroken, ids[2])
}

// opener opens the table of a store at a root, as whichever node is named, at 9000 s.
func opener(t *testing.T, fsys vfs.FS, root string) func(node string) *Table {
	return func(node string) *Table {
		t.Helper()
		s, err := Open(bg, Options{Root: root, Node: node, FS: fsys, Clock: clock.Fixed{Instant: at(9000).Time}, LockTimeout: time.Minute})
		must(t, err)
		return table(t, s)
	}
}

// lateRun lands a run of one node, folds it, and lands the same run of another node: a reader sees both.
func lateRun(t *testing.T, open func(node string) *Table) {
	t.Helper()
	alpha := open("alpha")
	_, err := land(alpha, "r", landing{})
	must(t, err)
	_, err = foldNow(alpha)
	must(t, err)
	_, err = land(open("beta"), "r", landing{})
	must(t, err)
	wantRows(t, alpha, Bounds{}, "r", "r")
}

// On a disk whose clock ticks slowly, a run that comes within the tick of the fold is seen like any other.
func TestSettledWithinATick(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		lateRun(t, opener(t, vfs.OS{}, path.Join(dir, fmt.Sprint(i))))
	}
}

// A tool that copies puts a directory's modification time back after it has put another node's run there: the run is read.
func TestSettledDirectoryWithAnOldTime(t *testing.T) {
	dir := t.TempDir()
	open := opener(t, vfs.OS{}, dir)
	alpha := open("alpha")
	_, err := land(alpha, "r", landing{})
	must(t, err)
	id, err := foldNow(alpha)
	must(t, err)
	for listed := false; !listed; { // once the clock of the file system has ticked
		must(t, alpha.under(bg, func(l *Lock) error { l.settle(bg, id); return nil }))
		s := alpha.settled(id)
		listed = s != nil && len(s.runs) == 1
	}
	run := path.Join(dir, key.RunsDir("events"), "r")
	before, err := os.Stat(run)
	must(t, err)
	_, err = land(open("beta"), "r", landing{})
	must(t, err)
	must(t, os.Chtimes(run, before.ModTime(), before.ModTime()))
	wantRows(t, alpha, Bounds{}, "r", "r")
}

// Where directories are not dated by what comes into them, there is no cache.
func TestSettledWithoutDates(t *testing.T) {
	m := vfs.NewMem()
	lateRun(t, opener(t, undated{m}, root))
}

// undated is a file system whose directories always bear the same date.
type undated struct{ vfs.FS }

func (u undated) Stat(name string) (fs.FileInfo, error) {
	info, err := u.FS.Stat(name)
	return sameDate(info), err
}

func (u undated) Lstat(name string) (fs.FileInfo, error) {
	info, err := u.FS.Lstat(name)
	return sameDate(info), err
}

func sameDate(info fs.FileInfo) fs.FileInfo {
	if info == nil || !info.IsDir() {
		return info
	}
	return oldInfo{info}
}

type oldInfo struct{ fs.FileInfo }

func (oldInfo) ModTime() time.Time { return time.Unix(0, 1) }
