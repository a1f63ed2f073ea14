package push_test

import (
	"testing"

	"contextful/fakes/s3cas"
)

// store.pull.pointer-read: what a push judged by it also swaps by; only one who lost the swap reads the pointer again.
func TestEachPointerIsReadOnce(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	a.land("events", "r1")
	a.fold("events", nil)
	pointers := func(since int) int {
		return len(w.s3.JournalFor(s3cas.Filter{Since: since, Principal: "alpha", Ops: []s3cas.Op{s3cas.OpGet}, Key: "*/_pointer.json"}))
	}
	a.mustPush()
	if n := pointers(0); n != 1 {
		t.Fatalf("the pointer was read %d times", n)
	}
	a.land("events", "r2")
	id := a.fold("events", nil)
	mark := w.s3.Mark()
	w.inject(`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`)
	a.mustPush()
	if n := pointers(mark); n < 2 || *w.pointer("events").SnapshotID != id {
		t.Fatalf("read %d times, %+v", n, w.pointer("events"))
	}
}
