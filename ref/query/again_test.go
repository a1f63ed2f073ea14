package query

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// lateFS does something once a reader has resolved: schema.json is the last that resolving opens.
type lateFS struct {
	vfs.OS
	late func()
}

func (f *lateFS) Open(name string) (vfs.File, error) {
	if late := f.late; late != nil && strings.HasSuffix(name, "schema.json") {
		f.late = nil
		late()
	}
	return f.OS.Open(name)
}

// TestRemovedUnderAReader: what retention removes between resolving and reading is resolved again; what stays missing is named.
func TestRemovedUnderAReader(t *testing.T) {
	writer := ducktest.Open(t, "alpha", "", declaration)
	replace := func(run, row string, hour int) {
		ducktest.Land(t, writer, ducktest.Landing{Table: "state", Run: run, Columns: []string{"n int64"}, Rows: []string{row}, Replacement: true,
			At: ducktest.Epoch.Add(time.Duration(hour) * time.Hour)})
	}
	remove := func(path string) {
		if err := os.RemoveAll(writer.Path("tables/state/data/runs/" + path)); err != nil {
			t.Fatal(err)
		}
	}
	replace("a", `[1]`, 0)
	disk := &lateFS{}
	st, err := store.Open(t.Context(), store.Options{Project: writer.Project(), Root: writer.Path(""), Node: "alpha", FS: disk, Clock: clock.Fixed{Instant: ducktest.Epoch}})
	if err != nil {
		t.Fatal(err)
	}
	disk.late = func() { replace("b", `[2]`, 1); remove("a") }
	expect(t, st, `SELECT n FROM state`, `[[2]]`)

	disk.late = func() { replace("c", `[3]`, 2); remove("b") }
	var out bytes.Buffer
	if _, err := Scan(t.Context(), st, "state", Options{Out: &out, Engine: duck.Options{TempDir: t.TempDir()}}); err != nil || !strings.Contains(out.String(), "[[3,") {
		t.Fatal(out.String(), err)
	}

	disk.late = func() { remove("c/alpha/part-00000.parquet") }
	if text, err := ask(t, st, `SELECT n FROM state`); !errors.Is(err, fault.StorePartDamaged) || text != "" {
		t.Fatal(text, err)
	}
}

// TestRemovedUnderTheLock: a part that goes after its footer was looked at is missing, and no file that the statement must not read.
func TestRemovedUnderTheLock(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "a", Columns: []string{"n int64"}, Rows: []string{`[1]`}, At: ducktest.Epoch})
	early := resolveAhead(t.Context(), st, `SELECT * FROM state`, Bounds{})
	if err := os.RemoveAll(st.Path("tables/state/data/runs/a")); err != nil {
		t.Fatal(err)
	}
	s, err := duck.Open(t.Context(), duck.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	_, err = answer(t.Context(), s, st, []*source{early["state"]}, false, `SELECT * FROM state`, Options{Out: &out})
	if !errors.Is(err, fault.StorePartDamaged) || out.Len() > 0 {
		t.Fatal(out.String(), err)
	}
}

// TestTooManyOpenFiles: the part that was next is not the one to blame.
func TestTooManyOpenFiles(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "state", Run: "a", Columns: []string{"n int64"}, Rows: []string{`[1]`}, Replacement: true})
	table, err := st.Table("state")
	if err != nil {
		t.Fatal(err)
	}
	view, err := table.Resolve(t.Context(), store.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]fault.Code{`IO Error: Cannot open file "%s": Too many open files`: fault.QueryFailed, `IO Error: "%s": Input/output error`: fault.StorePartDamaged} {
		err := blame(st, []*store.View{view}, fault.New(fault.QueryFailed, "", strings.ReplaceAll(text, "%s", view.Files[0].Path)))
		if fault.CodeOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
