package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"contextful/ref/catalog"
	"contextful/ref/decl"
	"contextful/ref/store"

	"github.com/stretchr/testify/require"
)

// fixedNow is a clock that a test moves.
type fixedNow struct{ at time.Time }

func (c *fixedNow) Now() time.Time { c.at = c.at.Add(time.Second); return c.at }

// fixture is a project with one pipeline "feed".
type fixture struct {
	t       *testing.T
	dir     string
	machine catalog.Machine
	s       *store.Store
	logged  []string
}

// setUp makes a store whose pipeline has the given lines behind its id, a source first, then tables.
func setUp(t *testing.T, lines string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), machine: catalog.NewMemory()}
	p, err := decl.ParseProject(filepath.Join(f.dir, decl.FileName), []byte("[project]\nname = \"p\"\n[pipeline]\nid = \"feed\"\n"+lines))
	require.NoError(t, err)
	f.s, _, err = store.Init(context.Background(), store.Options{Project: p, Root: p.StoreRoot(), Node: "n1", Clock: &fixedNow{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		LockTimeout: 100 * time.Millisecond, Log: func(line string) { f.logged = append(f.logged, line) }})
	require.NoError(t, err)
	return f
}

func (f *fixture) options() Options {
	return Options{Store: f.s, Pipeline: f.s.Project().Pipeline("feed"), Machine: f.machine, TempDir: f.t.TempDir()}
}

// run runs the pipeline and gives the report of its first table.
func (f *fixture) run() Report {
	f.t.Helper()
	reports, err := Run(f.t.Context(), f.options())
	require.NoError(f.t, err)
	return reports[0]
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o755))
}

func (f *fixture) runs(table string) []store.RunInfo {
	f.t.Helper()
	t, err := f.s.Table(table)
	require.NoError(f.t, err)
	list, err := t.ListRuns(f.t.Context())
	require.NoError(f.t, err)
	return list
}
