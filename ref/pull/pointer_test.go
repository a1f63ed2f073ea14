package pull_test

import (
	"fmt"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/manifest"
)

func TestPointersAreReadByKey(t *testing.T) {
	w, _, b, _ := seeded(t)
	mark := w.s3.Mark()
	b.mustPull()
	if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Ops: []s3cas.Op{s3cas.OpList}})); n != 0 {
		t.Errorf("%d listings", n)
	}
	if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Key: "*/_pointer.json"})); n != 1 {
		t.Errorf("%d pointer reads for one table", n)
	}
}

func TestPointerAdvances(t *testing.T) {
	_, a, b, first := seeded(t)
	b.mustPull()
	second := a.fold("events", num(2))
	third := a.fold("events", num(2))
	a.mustPush()
	if r := b.mustPull(); fmt.Sprint(r.Advanced) != "[events]" {
		t.Fatalf("%+v", r)
	}
	if p := b.pointer("events"); *p.SnapshotID != third || *p.Fence != 2 {
		t.Fatalf("%+v, was %s then %s", p, first, second)
	}
}

func TestSameSnapshotHigherFenceIsKept(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	b.mustPull()
	tab := b.table("events")
	_, etag, err := tab.Pointer()
	must(t, err)
	must(t, tab.SwapPointer(ctx, etag, manifest.Pointer{SnapshotID: &snapshot, Fence: num(7)}))
	if r := b.mustPull(); len(r.Advanced) != 0 || *b.pointer("events").Fence != 7 {
		t.Fatalf("%+v %+v", r, b.pointer("events"))
	}
	w.s3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(`{"snapshot_id":"`+snapshot+`","fence":9}`))
	if r := b.mustPull(); len(r.Advanced) != 1 || *b.pointer("events").Fence != 9 {
		t.Fatalf("%+v %+v", r, b.pointer("events"))
	}
}

func TestLocalAheadIsKept(t *testing.T) {
	w, _, b, _ := seeded(t)
	b.mustPull()
	b.sec = 9000
	ahead := b.fold("events", nil)
	if r := b.mustPull(); len(r.Advanced) != 0 || *b.pointer("events").SnapshotID != ahead {
		t.Fatalf("%+v", r)
	}
	// A lease taken meanwhile raises the bucket's fence: the local fold is still ahead, and stays.
	body, _, _ := w.s3.Get("bkt", prefix+"tables/events/_pointer.json")
	w.s3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(strings.Replace(string(body), `"fence": null`, `"fence": 3`, 1)))
	b.mustPull()
	if *b.pointer("events").SnapshotID != ahead {
		t.Fatal("it was replaced")
	}
}

func TestDivergedRefusesAndWritesNoPointer(t *testing.T) {
	_, a, b, first := seeded(t)
	a.land("also", "r1")
	a.fold("also", nil)
	a.mustPush()
	b.mustPull()
	b.sec = 9000
	mine := b.fold("events", nil)
	a.fold("events", nil)
	also := a.fold("also", nil)
	a.mustPush()
	_, err := b.pull()
	refused(t, err, fault.SyncPointerDiverged, `"events"`, mine)
	if *b.pointer("events").SnapshotID != mine || *b.pointer("also").SnapshotID == also {
		t.Fatalf("a pointer was written; the common one was %s", first)
	}
}

func TestAHeadThatMissesAPartIsNotPublished(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	m := w.manifest()
	delete(m.Entries, "p/tables/events/data/snapshots/"+snapshot+"/part-00000.parquet")
	w.plant(m)
	_, err := b.pull()
	refused(t, err, fault.SyncManifestInvalid, snapshot)
	if b.pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
}

func (w *world) plant(m *manifest.Bucket) {
	w.t.Helper()
	body, err := manifest.EncodeBucket(m)
	must(w.t, err)
	w.s3.Put("bkt", "team/manifest.json", body)
}
