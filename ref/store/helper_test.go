package store

import (
	"context"
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
)

var bg = context.Background()

const root = "/p/.contextful/context/demo"

// fatal is what *testing.T and *rapid.T share.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func must(t fatal, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t fatal, err error, code fault.Code, words ...string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("want %s, have %v", code, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("%q is not named: %v", w, err)
		}
	}
}

func at(sec int64) manifest.Instant { return manifest.At(time.Unix(sec, 0)) }

// open opens the store of a file system as a node whose clock stands at sec.
func open(t fatal, fsys vfs.FS, node string, sec int64) *Store {
	t.Helper()
	s, err := Open(bg, Options{Root: root, Node: node, FS: fsys, Clock: clock.Fixed{Instant: at(sec).Time}, LockTimeout: time.Minute})
	must(t, err)
	return s
}

func table(t fatal, s *Store) *Table {
	t.Helper()
	tab, err := s.TableAt("events")
	must(t, err)
	return tab
}

// put makes a file with its directories, durable.
func put(t fatal, fsys vfs.FS, rel, text string) {
	t.Helper()
	name := path.Join(root, rel)
	must(t, fsys.MkdirAll(path.Dir(name)))
	must(t, vfs.WriteAtomic(fsys, name, []byte(text)))
}

// partText stands for a Parquet file that says which run it is of.
func partText(run string) string { return "PAR1 rows of " + run + " PAR1" }

type landing struct {
	replacement bool
	rows        int64
}

// land lands a run of one part as a verb would.
func land(tab *Table, run string, o landing) (seq int64, err error) {
	l, err := tab.Lock(bg)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	if done, err := tab.ReadRun(run, tab.s.Node()); err != nil || done != nil {
		if done != nil {
			seq = *done.CommitSeq
		}
		return seq, err
	}
	n, err := l.NextCommitSeq(bg)
	if err != nil {
		return 0, err
	}
	w, err := l.BeginRun(bg, run)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Abandon()) }()
	f, err := tab.s.FS().Create(path.Join(w.Dir(), key.PartName(0)))
	if err != nil {
		return 0, err
	}
	_, err = f.Write([]byte(partText(run)))
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	m := &manifest.Run{Parts: []manifest.Part{{Name: key.PartName(0), Rows: 1}}, RowCount: 1, CommitSeq: &n.Seq,
		CommittedAt: n.CommittedAt(tab.s.Clock()), Replacement: o.replacement}
	return n.Seq, w.Commit(bg, m)
}

// foldNow folds everything visible into a snapshot of one part, with an index; "" where nothing is new.
func foldNow(tab *Table) (id string, err error) { return foldAs(tab, folding{index: true}) }

type folding struct {
	index bool // write folded_runs
	carry bool // the head's parts stay where they are, only what is new is written
}

func foldAs(tab *Table, o folding) (id string, err error) {
	v, err := tab.Resolve(bg, Bounds{})
	if err != nil || len(v.Runs)+len(v.Superseded) == 0 {
		return "", err
	}
	created := manifest.At(tab.s.Clock().Now())
	p, err := tab.BeginPass(bg, created, v.Pointer.SnapshotID)
	if err != nil {
		return "", err
	}
	m := &manifest.Snapshot{Parent: v.Pointer.SnapshotID, CreatedAt: created, Replacement: v.Frontier}
	var rows []string
	part := manifest.Part{Name: "x/" + key.PartName(0)}
	for _, f := range v.Files {
		if o.carry && f.Snapshot != nil {
			carried := f.Part
			if carried.SnapshotID == "" {
				carried.SnapshotID = f.Snapshot.SnapshotID
			}
			m.Parts, m.RowCount = append(m.Parts, carried), m.RowCount+carried.Rows
			continue
		}
		data, err := vfs.ReadFile(tab.s.FS(), f.Path, 1<<20)
		if err != nil {
			return "", err
		}
		rows = append(rows, string(data))
		part.Rows += f.Rows
	}
	m.Parts, m.RowCount = append(m.Parts, part), m.RowCount+part.Rows
	for _, r := range slices.Concat(v.Runs, v.Superseded) {
		m.IncludesRuns = append(m.IncludesRuns, r.Key())
		m.CommitSeq = r.CommitSeq
	}
	if err := tab.s.FS().MkdirAll(path.Join(p.Dir(), "x")); err != nil {
		return "", err
	}
	f, err := tab.s.FS().Create(path.Join(p.Dir(), part.Name))
	if err != nil {
		return "", err
	}
	_, err = f.Write([]byte(strings.Join(rows, "\n")))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if o.index {
		if m.FoldedRuns, err = p.WriteFoldedRuns(bg, v); err != nil {
			return "", errors.Join(err, p.Discard())
		}
	}
	if err := p.Seal(bg, m); err != nil {
		return "", errors.Join(err, p.Discard())
	}
	id = p.ID()
	if err := tab.SwapPointer(bg, v.ETag, manifest.Pointer{SnapshotID: &id}); err != nil {
		if errors.Is(err, fault.StorePointerMoved) {
			err = errors.Join(err, p.Discard())
		}
		return "", err
	}
	p.Close()
	return id, nil
}

// read gives the rows a reader sees, sorted; each stands for one run.
func read(tab *Table, b Bounds) ([]string, error) {
	v, err := tab.Resolve(bg, b)
	if err != nil {
		return nil, err
	}
	rows := []string{}
	var count int64
	for _, f := range v.Files {
		data, err := vfs.ReadFile(tab.s.FS(), f.Path, 1<<20)
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(data), "\n") {
			run, ok := strings.CutPrefix(line, "PAR1 rows of ")
			if run, ok = strings.CutSuffix(run, " PAR1"); !ok {
				return nil, fmt.Errorf("%s: torn part %q", f.Rel, line)
			}
			rows = append(rows, run)
		}
		count += f.Rows
	}
	if n, ok := v.Rows(); !ok || n != int64(len(rows)) || count != n {
		return nil, fmt.Errorf("%d rows counted, %d read", n, len(rows))
	}
	slices.Sort(rows)
	return rows, nil
}

func wantRows(t fatal, tab *Table, b Bounds, want ...string) {
	t.Helper()
	rows, err := read(tab, b)
	must(t, err)
	slices.Sort(want)
	if !slices.Equal(rows, want) && len(rows)+len(want) > 0 {
		t.Fatalf("rows %v, want %v", rows, want)
	}
}

func declared(mode string, keys ...string) *decl.Project {
	return &decl.Project{Name: "demo", Tables: []*decl.Table{{Name: "events", PrimaryKey: keys, WriteMode: mode, OrderBy: decl.DefaultOrderBy}}}
}

func runManifest(run, node, fields string) string {
	return fmt.Sprintf(`{"run_id":%q,"node_id":%q,"table":"events","committed_at":"2026-01-01T00:00:00Z","parts":[]%s}`, run, node, fields)
}

func newT(t *testing.T) (*vfs.Mem, *Table) {
	m := vfs.NewMem()
	return m, table(t, open(t, m, "alpha", 100))
}
