package push_test

import (
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/nodetest"
)

// store.pull.pointer-read: what a push judged by it also swaps by; only one who lost the swap reads the pointer again.
func TestEachPointerIsReadOnce(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.Fold("events")
	pointers := func(since int) int {
		return len(w.S3.JournalFor(s3cas.Filter{Since: since, Principal: "alpha", Ops: []s3cas.Op{s3cas.OpGet}, Key: "*/_pointer.json"}))
	}
	a.MustPush()
	if n := pointers(0); n != 1 {
		t.Fatalf("the pointer was read %d times", n)
	}
	a.Land("events", "r2")
	id := a.Fold("events")
	mark := w.S3.Mark()
	w.Inject(`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`)
	a.MustPush()
	if n := pointers(mark); n < 2 || *w.Pointer("events").SnapshotID != id {
		t.Fatalf("read %d times, %+v", n, w.Pointer("events"))
	}
}
