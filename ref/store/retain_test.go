package store

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"

	"pgregory.net/rapid"
)

const keepFor = 100 * time.Second

// Whatever lands, folds, carries by reference and is retained in whatever order, with crashes in retention: a reader sees
// every row once; a bound within retention answers exactly; an older one answers exactly or is refused, and the instant it is
// given instead answers; and nothing that is there is damage.
func TestRetention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, now := vfs.NewMem(), int64(1000)
		committed := map[string]int64{}
		exact := func(tab *Table, bound int64) error {
			t.Helper()
			want := []string{}
			for run, at := range committed {
				if at <= bound {
					want = append(want, run)
				}
			}
			slices.Sort(want)
			b := at(bound)
			rows, err := read(tab, Bounds{AsOf: &b})
			if err == nil && !slices.Equal(rows, want) {
				t.Fatalf("at %d as of %d: %v, want %v", now, bound, rows, want)
			}
			return err
		}
		for i := range rapid.IntRange(1, 24).Draw(t, "steps") {
			now += rapid.Int64Range(0, 40).Draw(t, "clock")
			tab := handle(t, m, "alpha", now)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				run := fmt.Sprintf("r%d", i)
				_, err := land(tab, run, landing{})
				must(t, err)
				committed[run] = now
			case 3, 4:
				_, err := foldAs(tab, folding{index: rapid.IntRange(0, 5).Draw(t, "index") > 0, carry: rapid.IntRange(0, 3).Draw(t, "carry") > 0})
				must(t, err)
			case 5:
				crash := rapid.IntRange(0, 30).Draw(t, "crash")
				mode := rapid.SampledFrom([]vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll}).Draw(t, "mode")
				if crash > 0 {
					m.CrashAt(crash)
				}
				_, err := tab.Retain(bg, at(now).Time, keepFor)
				if err != nil && !m.Down() {
					t.Fatal(err)
				}
				if m.CrashAt(0); m.Down() {
					m.Crash(mode)
				}
				tab = handle(t, m, "alpha", now)
			}
			tab = handle(t, m, "alpha", now)
			must(t, exact(tab, now))
			all := []string{}
			for run := range committed {
				all = append(all, run)
			}
			wantRows(t, tab, Bounds{}, all...)
			if err := exact(tab, now-rapid.Int64Range(0, int64(keepFor/time.Second)).Draw(t, "within")); err != nil {
				t.Fatalf("a bound within retention is refused: %v", err)
			}
			if err := exact(tab, rapid.Int64Range(900, now).Draw(t, "before")); err != nil {
				wantCode(t, err, fault.StoreAsOfUnretained)
				_, instant, _ := strings.Cut(err.Error(), "the oldest answerable instant is ")
				oldest, err := manifest.ParseInstant(instant)
				must(t, err)
				if err := exact(tab, oldest.Unix()); err != nil {
					t.Fatalf("the instant that was said to answer does not: %v", err)
				}
			}
			found, err := tab.s.Check(bg, CheckOptions{Tables: []string{"events"}})
			must(t, err)
			if len(found) > 0 {
				t.Fatal(found)
			}
		}
		// What is left at the end is what somebody names.
		now += 1000
		tab := handle(t, m, "alpha", now)
		if _, err := land(tab, "last", landing{}); err != nil {
			t.Fatal(err)
		}
		_, err := foldNow(tab)
		must(t, err)
		_, err = tab.Retain(bg, at(now).Time, keepFor)
		must(t, err)
		list, err := tab.ListSnapshots(bg)
		must(t, err)
		named := map[string]bool{}
		for _, s := range list {
			for _, p := range s.Parts {
				named[tab.partDir(s.Snapshot, p)+"/"+p.Name] = true
			}
			for rel := range s.FoldedRuns.Files("events") {
				named[rel] = true
			}
			named[key.SnapshotManifest("events", s.SnapshotID)] = true
		}
		for _, name := range files(t, m, path.Join(root, key.SnapshotsDir("events"))) {
			rel := strings.TrimPrefix(name, root+"/")
			if !named[rel] && path.Base(rel) != key.WriterLockName {
				t.Fatalf("%s is left, and nothing names it", rel)
			}
		}
	})
}

// files lists the files below a directory.
func files(t fatal, fsys vfs.FS, dir string) (out []string) {
	list, err := fsys.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		if name := path.Join(dir, e.Name()); e.IsDir() {
			out = append(out, files(t, fsys, name)...)
		} else {
			out = append(out, name)
		}
	}
	return out
}

// aged makes a table of n snapshots, a run in each, 1,000 s apart, beginning at 1,000.
func aged(t *testing.T, n int) (*vfs.Mem, []string) {
	t.Helper()
	m := vfs.NewMem()
	var ids []string
	for i := range n {
		tab := handle(t, m, "alpha", int64(1000+1000*i))
		_, err := land(tab, fmt.Sprintf("r%d", i), landing{})
		must(t, err)
		id, err := foldAs(tab, folding{index: true, carry: true})
		must(t, err)
		ids = append(ids, id)
	}
	return m, ids
}

// To the nanosecond: a snapshot whose child was created just keep ago goes, one whose child is younger stays.
func TestRetentionBoundary(t *testing.T) {
	for _, c := range []struct {
		now  time.Time
		gone int
	}{{at(2100).Time, 1}, {at(2100).Add(-1), 0}, {at(3100).Add(-1), 1}, {at(9000).Time, 2}} {
		m, ids := aged(t, 3)
		tab := handle(t, m, "alpha", 9000)
		done, err := tab.Retain(bg, c.now, keepFor)
		must(t, err)
		list, err := tab.ListSnapshots(bg)
		must(t, err)
		if done.Snapshots != c.gone || len(list) != len(ids)-c.gone {
			t.Errorf("at %s: %d removed, %d left", c.now, done.Snapshots, len(list))
		}
		wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
	}
}

// Nothing goes where no index would name the runs, where a bucket is configured, or while a kept snapshot needs it.
func TestRetentionRefrains(t *testing.T) {
	for name, spoil := range map[string]func(m *vfs.Mem, ids []string) *decl.Config{
		"no valid index": func(m *vfs.Mem, ids []string) *decl.Config {
			must(t, m.Remove(root+"/"+key.SnapshotDir("events", ids[2])+"/"+key.FoldedName(0)))
			return nil
		},
		"a bucket": func(*vfs.Mem, []string) *decl.Config { return &decl.Config{Sync: &decl.Sync{}} },
	} {
		m, ids := aged(t, 3)
		s, err := Open(bg, Options{Root: root, Node: "alpha", FS: m, Clock: clock.Fixed{Instant: at(9000).Time}, Config: spoil(m, ids)})
		must(t, err)
		tab := table(t, s)
		if done, err := tab.Retain(bg, at(9000).Time, keepFor); err != nil || done != (Retained{}) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
	}
	m, ids := aged(t, 3)
	put(t, m, key.SnapshotDir("events", ids[0])+"/"+key.KeptName, "")
	tab := handle(t, m, "alpha", 9000)
	if done, err := tab.Retain(bg, at(9000).Time, keepFor); err != nil || done.Snapshots != 0 {
		t.Errorf("a kept snapshot: %+v, %v", done, err)
	}
}

// A collected run or snapshot that a pull brings home again is not read twice, and recovery leaves origins alone.
func TestRetentionThenPull(t *testing.T) {
	m, _ := aged(t, 3)
	saved := map[string]string{}
	for _, name := range files(t, m, root) {
		data, err := vfs.ReadFile(m, name, 1<<20)
		must(t, err)
		saved[strings.TrimPrefix(name, root+"/")] = string(data)
	}
	tab := handle(t, m, "alpha", 9000)
	done, err := tab.Retain(bg, at(9000).Time, keepFor)
	must(t, err)
	if done != (Retained{Snapshots: 2, Runs: 3}) {
		t.Fatalf("%+v", done)
	}
	l, err := tab.Lock(bg)
	must(t, err)
	_, err = l.Recover(bg)
	must(t, errors.Join(err, l.Release()))
	wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
	early := at(1500)
	_, err = tab.Resolve(bg, Bounds{AsOf: &early})
	wantCode(t, err, fault.StoreAsOfUnretained, "r2/alpha", "no longer on this disk", at(3000).String())
	var refusal *fault.Error
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "--as-of "+at(3000).String()+" is answered") {
		t.Errorf("the hint names no instant that answers: %v", refusal)
	}
	for rel, text := range saved {
		if p, err := key.Parse(rel); err == nil && p.Kind != key.KindPointer {
			put(t, m, rel, text)
		}
	}
	wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
	wantRows(t, tab, Bounds{AsOf: &early}, "r0")
}

// What a removal that was killed leaves of a directory is known for it: the writer's lock goes last, and an empty one at the next
// retention.
func TestKilledRemovalsAreEnded(t *testing.T) {
	for n := 1; ; n++ {
		m := vfs.NewMem()
		for _, name := range []string{key.WriterLockName, "a", "z/part", key.ManifestName} {
			put(t, m, "d/"+name, "x")
		}
		m.CrashAt(n)
		err := removeHeld(m, root+"/d")
		fired := m.Down()
		m.Crash(vfs.CrashKeepsAll)
		m.CrashAt(0)
		left := []string{}
		if there, _ := vfs.Exists(m, root+"/d"); there {
			left = files(t, m, root+"/d")
		}
		if !fired && (err != nil || len(left) > 0) {
			t.Fatal(left, err)
		}
		if len(left) > 0 && !slices.Contains(left, root+"/d/"+key.WriterLockName) {
			t.Fatalf("killed at operation %d: %v are nobody's", n, left)
		}
		if !fired {
			break
		}
	}
	m, _ := aged(t, 3)
	tab := handle(t, m, "alpha", 9000)
	retain := func() {
		_, err := tab.Retain(bg, at(9000).Time, keepFor)
		must(t, err)
	}
	retain()
	empty := []string{key.RunDir("events", "r0", "alpha"), key.RunsDir("events") + "/r1", key.SnapshotDir("events", key.SnapshotID(5))}
	for _, rel := range empty {
		if there, _ := vfs.Exists(m, root+"/"+rel); there {
			t.Fatalf("%s is there already", rel)
		}
		must(t, m.MkdirAll(root+"/"+rel))
	}
	retain()
	for _, rel := range append(empty, key.RunsDir("events")+"/r0") {
		if there, err := vfs.Exists(m, root+"/"+rel); there || err != nil {
			t.Errorf("%s is still there, %v", rel, err)
		}
	}
	wantRows(t, tab, Bounds{}, "r0", "r1", "r2")
}

// A landing that follows retention counts on from its cache, without reading every manifest.
func TestRetentionKeepsTheCounter(t *testing.T) {
	m, _ := aged(t, 3)
	for i := range 20 {
		_, err := land(handle(t, m, "alpha", 8000), fmt.Sprintf("new%d", i), landing{})
		must(t, err)
	}
	tab := handle(t, m, "alpha", 9000)
	_, err := tab.Retain(bg, at(9000).Time, keepFor)
	must(t, err)
	m.ResetJournal()
	seq, err := land(tab, "next", landing{})
	must(t, err)
	if n := m.Count(vfs.OpOpen); seq != 24 || n > 12 {
		t.Errorf("sequence %d, %d files opened", seq, n)
	}
}

// The answer for a fresh run key is one small look, whatever the table has folded.
func TestFoldedAsIsCheap(t *testing.T) {
	m, ids := aged(t, 6)
	tab := handle(t, m, "alpha", 9000)
	_, err := tab.Retain(bg, at(9000).Time, keepFor)
	must(t, err)
	l, err := tab.Lock(bg)
	must(t, err)
	defer func() { must(t, l.Release()) }()
	ask := func(runKey string) *FoldedRun {
		t.Helper()
		row, err := l.FoldedAs(bg, runKey)
		must(t, err)
		return row
	}
	if row := ask("r2/alpha"); row == nil || row.SnapshotID != ids[2] || *row.Rows != 1 {
		t.Fatalf("%+v", row)
	}
	m.ResetJournal()
	if ask("fresh/alpha") != nil || ask("r2/beta") != nil || m.Count(vfs.OpOpen) != 4 {
		t.Fatalf("a fresh key costs %v", m.Journal())
	}
	// A cache of another snapshot or table, a torn one and one with a bit turned anywhere: none of them hides a folded run.
	cache := path.Join(tab.Dir(), foldedKeysName)
	data, err := vfs.ReadFile(m, cache, 1<<20)
	must(t, err)
	prints := []uint64{fingerprint("another/alpha")}
	wrong := map[string][]byte{"torn": data[:len(data)-3], "a key short": data[:len(data)-8], "short": []byte("x"), "empty": nil,
		"another snapshot's": foldedKeys("events", ids[1], prints), "another table's": foldedKeys("eventful", ids[5], prints)}
	for i := 0; i < len(data); i += 3 {
		wrong[fmt.Sprintf("other in byte %d", i)] = slices.Concat(data[:i], []byte{data[i] ^ 0x20}, data[i+1:])
	}
	for name, text := range wrong {
		must(t, m.Remove(cache))
		f, err := m.Create(cache)
		must(t, err)
		_, err = f.Write(text)
		must(t, errors.Join(err, f.Close()))
		for i := range ids {
			if ask(fmt.Sprintf("r%d/alpha", i)) == nil {
				t.Errorf("a cache that is %s was believed", name)
			}
		}
		if ask("fresh/alpha") != nil {
			t.Errorf("%s: a fresh key was found", name)
		}
		if again, err := vfs.ReadFile(m, cache, 1<<20); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: the cache was not made again: %v", name, err)
		}
	}
}

// A look finds each key and no other, whatever the number of pages, and one that is damaged anywhere is believed or not: it
// never hides a key.
func TestFoldedKeysInPages(t *testing.T) {
	m, ids := aged(t, 1)
	tab := handle(t, m, "alpha", 9000)
	l, err := tab.Lock(bg)
	must(t, err)
	defer func() { must(t, l.Release()) }()
	cache := path.Join(tab.Dir(), foldedKeysName)
	name := func(i int) string { return fmt.Sprintf("r%d/alpha", i) }
	for _, n := range []int{0, 1, foldedKeysPage - 1, foldedKeysPage, foldedKeysPage + 1, 3 * foldedKeysPage} {
		var prints []uint64
		for i := range n {
			prints = append(prints, fingerprint(name(i)))
		}
		data := foldedKeys("events", ids[0], prints)
		must(t, vfs.WriteAtomic(m, cache, data))
		for i := range n + 50 {
			if maybe, ok := l.cachedKey(ids[0], name(i)); !ok || maybe != (i < n) {
				t.Fatalf("%d keys, key %d: %t, %t", n, i, maybe, ok)
			}
		}
		for at := foldedKeysHeader; at < len(data); at += 1021 {
			data[at] ^= 1
			must(t, vfs.WriteAtomic(m, cache, data))
			data[at] ^= 1
			for i := at % 7; i < n; i += 7 {
				if maybe, ok := l.cachedKey(ids[0], name(i)); ok && !maybe {
					t.Fatalf("%d keys, byte %d damaged: key %d is hidden", n, at, i)
				}
			}
		}
	}
}

func TestCommittedRows(t *testing.T) {
	m, _ := aged(t, 3)
	tab := handle(t, m, "alpha", 9000)
	_, err := land(tab, "fresh", landing{})
	must(t, err)
	want := func(run string, rows int64, known bool) {
		t.Helper()
		n, ok, err := tab.CommittedRows(bg, run)
		must(t, err)
		if n != rows || ok != known {
			t.Errorf("%s: %d, %t", run, n, ok)
		}
	}
	want("r0", 1, true)
	_, err = tab.Retain(bg, at(9000).Time, keepFor)
	must(t, err)
	want("r0", 1, true)
	want("fresh", 1, true)
	want("none", 0, false)
	// Folded once more without an index: a walked snapshot alone names it.
	_, err = foldAs(tab, folding{carry: true})
	must(t, err)
	want("fresh", 1, true)
	must(t, m.RemoveAll(path.Join(root, key.RunsDir("events"), "fresh")))
	want("fresh", 0, false)
	want("r0", 1, true)
}
