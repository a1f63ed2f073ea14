package fold

import (
	"context"
	"os"
	"strings"
	"testing"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// TestDamagedCarriedParts: a part that stays is not read whole, so a byte changed in it stops no pass that leaves it alone; check names
// it, and a pass that would write its rows once more refuses. One that is cut or gone stops every pass.
func TestDamagedCarriedParts(t *testing.T) {
	ctx := context.Background()
	land := func(st *store.Store, run string) {
		ducktest.Land(t, st, ducktest.Landing{Table: "events", Run: run, Columns: []string{"x int64", "s utf8"}, Rows: []string{`[1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]`, `[2, "b"]`, `[3, "c"]`, `[4, "d"]`}})
	}
	again := func(st *store.Store) error {
		_, err := Run(ctx, st, Options{Table: "events", Engine: duck.Options{TempDir: t.TempDir()}})
		return err
	}
	for _, damage := range []string{"flipped", "cut", "gone"} {
		st := ducktest.Open(t, "alpha", "", declaration)
		land(st, "r1")
		mustFold(t, st, "events")
		view := resolve(t, st, "events")
		part := partPath(st, "events", view.Head, view.Head.Parts[0])
		data, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		switch damage {
		case "flipped":
			data[len(data)/8] ^= 1
			err = os.WriteFile(part, data, 0o600)
		case "cut":
			err = os.Truncate(part, int64(len(data)/2))
		case "gone":
			err = os.Remove(part)
		}
		if err != nil {
			t.Fatal(err)
		}
		land(st, "r2")
		err = again(st)
		if damage != "flipped" {
			if fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), view.Head.SnapshotID) {
				t.Errorf("%s: %v", damage, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := st.Check(ctx, store.CheckOptions{VerifyPart: func(path string, rows int64) error { return colfile.Verify(vfs.OS{}, path, rows) }})
		if err != nil || len(found) != 1 || found[0].Code != fault.StorePartDamaged || !strings.Contains(found[0].Subject, view.Head.SnapshotID) {
			t.Errorf("check finds %+v, %v", found, err)
		}
		land(st, "r3")
		if err := again(st); err != nil {
			t.Fatal(err)
		}
		land(st, "r4")
		before := resolve(t, st, "events").Head.SnapshotID
		if err := again(st); fault.CodeOf(err) != fault.StorePartDamaged || !strings.Contains(err.Error(), view.Head.SnapshotID) {
			t.Errorf("a merge took a damaged part in: %v", err)
		}
		if after := resolve(t, st, "events").Head.SnapshotID; after != before {
			t.Error("something was published")
		}
	}
}
