package pull_test

import (
	"fmt"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/nodetest"

	"github.com/stretchr/testify/require"
)

func TestPointersAreReadByKey(t *testing.T) {
	w, _, b, _ := seeded(t)
	mark := w.S3.Mark()
	b.MustPull()
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Ops: []s3cas.Op{s3cas.OpList}})); n != 0 {
		t.Errorf("%d listings", n)
	}
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Key: "*/_pointer.json"})); n != 1 {
		t.Errorf("%d pointer reads for one table", n)
	}
}

func TestPointerAdvances(t *testing.T) {
	_, a, b, first := seeded(t)
	b.MustPull()
	second := a.Fold("events", 2)
	third := a.Fold("events", 2)
	a.MustPush()
	if r := b.MustPull(); fmt.Sprint(r.Advanced) != "[events]" {
		t.Fatalf("%+v", r)
	}
	if p := b.Pointer("events"); *p.SnapshotID != third || *p.Fence != 2 {
		t.Fatalf("%+v, was %s then %s", p, first, second)
	}
}

func TestSameSnapshotHigherFenceIsKept(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	b.MustPull()
	tab := b.Table("events")
	_, etag, err := tab.Pointer()
	require.NoError(t, err)
	seven := int64(7)
	require.NoError(t, tab.SwapPointer(ctx, etag, manifest.Pointer{SnapshotID: &snapshot, Fence: &seven}))
	if r := b.MustPull(); len(r.Advanced) != 0 || *b.Pointer("events").Fence != 7 {
		t.Fatalf("%+v %+v", r, b.Pointer("events"))
	}
	w.S3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(`{"snapshot_id":"`+snapshot+`","fence":9}`))
	if r := b.MustPull(); len(r.Advanced) != 1 || *b.Pointer("events").Fence != 9 {
		t.Fatalf("%+v %+v", r, b.Pointer("events"))
	}
}

func TestLocalAheadIsKept(t *testing.T) {
	w, _, b, _ := seeded(t)
	b.MustPull()
	b.Sec = 9000
	ahead := b.Fold("events")
	if r := b.MustPull(); len(r.Advanced) != 0 || *b.Pointer("events").SnapshotID != ahead {
		t.Fatalf("%+v", r)
	}
	// A lease taken meanwhile raises the bucket's fence: the local fold is still ahead, and stays.
	body, _, _ := w.S3.Get("bkt", prefix+"tables/events/_pointer.json")
	w.S3.Put("bkt", prefix+"tables/events/_pointer.json", []byte(strings.Replace(string(body), `"fence": null`, `"fence": 3`, 1)))
	b.MustPull()
	if *b.Pointer("events").SnapshotID != ahead {
		t.Fatal("it was replaced")
	}
}

func TestDivergedRefusesAndWritesNoPointer(t *testing.T) {
	_, a, b, first := seeded(t)
	a.Land("also", "r1")
	a.Fold("also")
	a.MustPush()
	b.MustPull()
	b.Sec = 9000
	mine := b.Fold("events")
	a.Fold("events")
	also := a.Fold("also")
	a.MustPush()
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncPointerDiverged, `"events"`, mine)
	if *b.Pointer("events").SnapshotID != mine || *b.Pointer("also").SnapshotID == also {
		t.Fatalf("a pointer was written; the common one was %s", first)
	}
}

func TestAHeadThatMissesAPartIsNotPublished(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	m := w.Manifest()
	delete(m.Entries, "p/tables/events/data/snapshots/"+snapshot+"/part-00000.parquet")
	w.Plant(m)
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncManifestInvalid, snapshot)
	if b.Pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
}
