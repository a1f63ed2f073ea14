package historytest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/capture"
	"contextful/ref/clock"
	"contextful/ref/colfile"
	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/land"
	"contextful/ref/query"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

const crashDeclaration = `[project]
name = "p"
[[pipeline.tables]]
name = "docs"
primary_key = ["id"]
partition_by = ["p"]
retain_runs = "1d"
columns = { at = "timestamp" }
[[pipeline.tables]]
name = "papers"
primary_key = ["id"]
retain_runs = "1d"
[pipeline.tables.snapshot]
document = "id"
`

// machine is a project in a directory and the hours since histories begin.
type machine struct {
	dir   string
	fs    vfs.FS
	hours int
}

func (m machine) open() (*store.Store, error) {
	project, err := decl.ParseProject(filepath.Join(m.dir, decl.FileName), []byte(crashDeclaration))
	if err != nil {
		return nil, err
	}
	return store.Open(bg, store.Options{Project: project, Root: project.StoreRoot(), Node: "alpha", FS: m.fs,
		Clock: clock.Fixed{Instant: time.Unix(0, int64(begin)).Add(time.Duration(m.hours) * time.Hour)}})
}

// reads gives what a reader sees of both tables, a null column being as good as none: the schema grows before a run is visible. The
// same again comes an hour later and may pass over a commit number.
func (m machine) reads() (string, error) {
	s, err := m.open()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, table := range []string{"docs", "papers"} {
		var out bytes.Buffer
		if _, err := query.Scan(bg, s, table, query.Options{Out: &out, Engine: duck.Options{Threads: 1, TempDir: os.TempDir()}}); err != nil {
			return "", fmt.Errorf("a scan of %s: %w", table, err)
		}
		rows, err := answer(out.Bytes())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%s:\n%s\n", table, strings.Join(rows[""], "\n"))
	}
	return text.String(), nil
}

func (m machine) damage() ([]store.Damage, error) {
	s, err := m.open()
	if err != nil {
		return nil, err
	}
	return s.Check(bg, store.CheckOptions{VerifyPart: func(path string, rows int64) error { return colfile.Verify(m.fs, path, rows) }})
}

type command struct {
	name  string
	hours int // the clock
	run   func(*store.Store) error
}

func landing(table, run, rows string) func(*store.Store) error {
	return func(s *store.Store) error {
		_, err := land.Run(bg, s, land.Options{Table: table, Input: strings.NewReader(rows), RunID: run, SiteID: "site", TempDir: os.TempDir()})
		return err
	}
}

func folding(table string) func(*store.Store) error {
	return func(s *store.Store) error {
		_, err := fold.Run(bg, s, fold.Options{Table: table, Engine: duck.Options{Threads: 1, TempDir: os.TempDir()}})
		return err
	}
}

func capturing(run, rows string) func(*store.Store) error {
	return func(s *store.Store) error {
		_, err := capture.Run(bg, s, capture.Options{Land: land.Options{Table: "papers", Input: strings.NewReader(rows), RunID: run, SiteID: "site", TempDir: os.TempDir()},
			Fold: fold.Options{Engine: duck.Options{Threads: 1, TempDir: os.TempDir()}}})
		return err
	}
}

// before is what lies there when the power fails: two snapshots, and a run that none has folded.
func before() []command {
	return []command{
		{"capture", 0, capturing("c1", `{"id":"a","body":"one"}`)},
		{"land", 1, landing("docs", "r1", "{\"id\":1,\"p\":\"x\",\"at\":\"2026-01-01T00:00:00.000000001Z\"}\n{\"id\":2,\"p\":\"y\"}")},
		{"fold", 2, folding("docs")},
		{"land", 3, landing("docs", "r2", `{"id":1,"p":"y","n":5}`)},
		{"fold", 4, folding("docs")},
		{"land", 50, landing("docs", "r3", "{\"id\":3,\"p\":\"z\"}\n{\"id\":2,\"p\":\"y\",\"n\":7}")},
	}
}

// TestPowerCuts stops the machine at every operation of a landing, a fold with its retention, and a capture, in each way in which a
// disk forgets (by default not in each at every operation). A reader sees the old state or the new one; the check is clean; the same command again ends the work, once.
func TestPowerCuts(t *testing.T) {
	start := scratch(t)
	for _, c := range before() {
		s, err := machine{start, vfs.OS{}, c.hours}.open()
		if err == nil {
			err = c.run(s)
		}
		if err != nil {
			t.Fatal(c.name, err)
		}
	}
	for _, c := range []command{
		{"a landing", 51, landing("docs", "r4", "{\"id\":4,\"p\":\"w\",\"more\":true}\n{\"id\":1,\"p\":\"x\"}")},
		{"a fold and its retention", 60, folding("docs")},
		{"a capture", 61, capturing("c2", "{\"id\":\"b\",\"body\":\"two\"}\n{\"id\":\"a\",\"body\":\"three\"}")},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			old, err := machine{start, vfs.OS{}, c.hours}.reads()
			if err != nil {
				t.Fatal(err)
			}
			d, whole := cut(t, start, c, -1)
			if whole != nil {
				t.Fatal(whole)
			}
			want, err := machine{d.root, vfs.OS{}, c.hours}.reads()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d operations", d.count)
			for n := range d.count + 1 {
				for m := range modes {
					if m > 0 && os.Getenv(longRun) == "" && n%int(modes) != int(m) {
						continue
					}
					survive(t, start, c, n, m, []string{old, want})
				}
			}
		})
	}
}

// cut runs a command on a copy of a project until the power fails, if it does.
func cut(t *testing.T, start string, c command, left int) (*disk, error) {
	t.Helper()
	dir := scratch(t)
	if err := os.CopyFS(dir, os.DirFS(start)); err != nil {
		t.Fatal(err)
	}
	d, err := newDisk(dir, left)
	if err != nil {
		t.Fatal(err)
	}
	s, err := machine{dir, d, c.hours}.open()
	if err != nil {
		return d, err
	}
	return d, c.run(s)
}

func survive(t *testing.T, start string, c command, n int, m mode, states []string) {
	t.Helper()
	d, done := cut(t, start, c, n)
	if done != nil && !errors.Is(done, errPower) {
		t.Errorf("operation %d of %s: %v", n, c.name, done)
	}
	// A command may succeed after the cut: what is cleaned away behind a commit does not undo it. Then the new state is durable.
	left := machine{filepath.Join(scratch(t), "left"), vfs.OS{}, c.hours + 1}
	if err := d.remains(m, left.dir); err != nil {
		t.Fatal(err)
	}
	where := fmt.Sprintf("%s, power cut at operation %d of it, %s", c.name, n, m)
	seen, err := left.reads()
	if err != nil || !slices.Contains(states, seen) || done == nil && seen != states[1] {
		t.Fatalf("%s: a reader sees neither the old state nor the new: %v\n%s", where, err, seen)
	}
	if damage, err := left.damage(); err != nil || len(damage) > 0 {
		t.Fatalf("%s: the check says %v %v", where, damage, err)
	}
	s, err := left.open()
	if err == nil {
		err = c.run(s)
	}
	if err != nil {
		t.Fatalf("%s: the same again: %v (%s)", where, err, fault.CodeOf(err))
	}
	if seen, err := left.reads(); err != nil || seen != states[1] {
		t.Fatalf("%s: after the same again a reader sees %v\n%s\nnot\n%s", where, err, seen, states[1])
	}
	if damage, err := left.damage(); err != nil || len(damage) > 0 {
		t.Fatalf("%s: after the same again the check says %v %v", where, damage, err)
	}
}
