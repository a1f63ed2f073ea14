package compact_test

import (
	"fmt"
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/lease"
)

// TestAPointerPutBack has someone set the bucket's pointer back to an older snapshot, under the same fence, while a pass is at
// work: the pass was not made over that one, though its chain holds it, and must not publish (store.fold.pointer-commit).
func TestAPointerPutBack(t *testing.T) {
	for _, at := range []string{`Put (Key "*/data/snapshots/*/_manifest.json")`, `PutIfMatch (Key "*/_pointer.json")`} {
		t.Run(at, func(t *testing.T) {
			s3 := newFake(t)
			a := newNode(t, s3, "alpha", true, noon)
			a.land("r1", 1)
			a.push()
			first, err := a.compact()
			must(t, err)
			a.land("r2", 2)
			second, err := a.at(noon.Add(time.Minute)).compact()
			must(t, err)
			a.land("r3", 3)
			_, err = lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			must(t, err)
			_, err = s3.InjectText(fmt.Sprintf(`(Hold "here" before (And %s))`, at))
			must(t, err)
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(3)); done <- err }()
			must(t, s3.Gate("here").WaitHeld(ctx, 1))
			s3.Put("bkt", "team/p/tables/docs/_pointer.json", fmt.Appendf(nil, `{"snapshot_id":%q,"fence":3}`, first.SnapshotID))
			s3.Gate("here").Release()
			refused(t, <-done, fault.StorePointerMoved)
			if p := a.remote(); *p.SnapshotID != first.SnapshotID {
				t.Fatalf("the bucket's pointer names %s, the rival put %s", *p.SnapshotID, first.SnapshotID)
			}
			if p := a.local(); *p.SnapshotID != second.SnapshotID {
				t.Fatalf("the local pointer names %s", *p.SnapshotID)
			}
		})
	}
}

// TestAPublicationBuiltUpon loses the answer to the publication, and before the pass looks a successor has raised the fence, or
// folded, on top of it: the publication happened.
func TestAPublicationBuiltUpon(t *testing.T) {
	for _, successor := range []string{"takes the lease", "compacts"} {
		t.Run("the successor "+successor, func(t *testing.T) {
			s3 := newFake(t)
			a := newNode(t, s3, "alpha", true, noon)
			a.land("r1", 1)
			a.push()
			b := newNode(t, s3, "beta", false, noon.Add(time.Hour))
			b.pull()
			_, err := lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			must(t, err)
			_, err = s3.InjectText(`(Seq (Hold "pointer" after) (ApplyThenDrop) (And PutIfMatch (Principal "alpha") (Key "*/_pointer.json") (OnIndex 0)))`)
			must(t, err)
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(1)); done <- err }()
			must(t, s3.Gate("pointer").WaitHeld(ctx, 1))
			published := *a.remote().SnapshotID
			if successor == "compacts" {
				b.land("r2", 2)
				_, err = b.compact()
			} else {
				_, err = lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
			}
			must(t, err)
			s3.Gate("pointer").Release()
			must(t, <-done)
			if p := a.local(); p.SnapshotID == nil || *p.SnapshotID != published {
				t.Fatalf("the local pointer is %+v, published is %s", p, published)
			}
			a.pull()
			if a.rows() != b.rows() {
				t.Fatalf("alpha reads %s, beta %s", a.rows(), b.rows())
			}
		})
	}
}
