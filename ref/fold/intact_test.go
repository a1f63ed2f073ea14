package fold

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"contextful/ref/colfile"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/vfs"
)

// One reading tells of a part what its digest and its footer are told by two, whether it fits the buffer or not.
func TestOneReadingOfAPart(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: "r", Columns: []string{"x int64"}, Rows: []string{`[1]`, `[2]`}})
	f := resolve(t, st, "events").Files[0]
	info, err := os.Stat(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	glance, err := colfile.Fits(vfs.OS{}, f.Path, 2)
	if err != nil || glance.Rows != 2 || glance.Size != info.Size() {
		t.Fatal(glance, err)
	}
	for _, n := range []int64{1, 7, info.Size() - 1, info.Size(), info.Size() + 1, digestBuffer} {
		f.Rows = 2
		digest, seen, err := lookedAt(vfs.OS{}, f, make([]byte, n))
		if err != nil || digest != f.Part.SHA256 || seen == nil || *seen != glance {
			t.Errorf("through %d bytes: %s, %v, %v", n, digest, seen, err)
		}
		f.Rows = 3
		if digest, seen, err := lookedAt(vfs.OS{}, f, make([]byte, n)); err != nil || digest != f.Part.SHA256 || seen != nil {
			t.Errorf("of other rows, through %d bytes: %s, %v, %v", n, digest, seen, err)
		}
	}
}

// Many parts are looked at side by side, and the first damaged one in their order is told, whichever is found first.
func TestTheFirstDamagedPartIsTold(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", declaration)
	for i := range 40 {
		ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: fmt.Sprintf("r%02d", i), Columns: []string{"x int64"}, Rows: []string{`[1]`}})
	}
	view := resolve(t, st, "events")
	known, err := intact(context.Background(), view, view.Files)
	if err != nil || len(known) != 40 || known[view.Files[39].Path].Rows != 1 {
		t.Fatal(len(known), err)
	}
	for _, i := range []int{31, 12} {
		data, err := os.ReadFile(view.Files[i].Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(view.Files[i].Path, bytes.ToUpper(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := intact(context.Background(), view, view.Files); fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), view.Files[i].Rel) {
			t.Error(i, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := intact(ctx, view, view.Files); err != context.Canceled {
		t.Error(err)
	}
}
