package compact_test

import (
	"fmt"
	"testing"
	"time"

	"contextful/ref/fault"
	"contextful/ref/lease"
	"contextful/ref/nodetest"

	"github.com/stretchr/testify/require"
)

// TestAPointerPutBack has someone set the bucket's pointer back to an older snapshot, under the same fence, while a pass is at
// work: the pass was not made over that one, though its chain holds it, and must not publish (store.fold.pointer-commit).
func TestAPointerPutBack(t *testing.T) {
	for _, at := range []string{`Put (Key "*/data/snapshots/*/_manifest.json")`, `PutIfMatch (Key "*/_pointer.json")`} {
		t.Run(at, func(t *testing.T) {
			w := nodetest.New(t)
			a := newNode(t, w, "alpha", true, noon)
			a.land("r1", 1)
			a.MustPush()
			first, err := a.compact()
			require.NoError(t, err)
			a.land("r2", 2)
			second, err := a.at(noon.Add(time.Minute)).compact()
			require.NoError(t, err)
			a.land("r3", 3)
			_, err = lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			require.NoError(t, err)
			w.Inject(fmt.Sprintf(`(Hold "here" before (And %s))`, at))
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(3)); done <- err }()
			require.NoError(t, w.S3.Gate("here").WaitHeld(ctx, 1))
			w.S3.Put("bkt", "team/p/tables/docs/_pointer.json", fmt.Appendf(nil, `{"snapshot_id":%q,"fence":3}`, first.SnapshotID))
			w.S3.Gate("here").Release()
			nodetest.Refused(t, <-done, fault.StorePointerMoved)
			if p := w.Pointer("docs"); *p.SnapshotID != first.SnapshotID {
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
			w := nodetest.New(t)
			a := newNode(t, w, "alpha", true, noon)
			a.land("r1", 1)
			a.MustPush()
			b := newNode(t, w, "beta", false, noon.Add(time.Hour))
			b.MustPull()
			_, err := lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			require.NoError(t, err)
			w.Inject(`(Seq (Hold "pointer" after) (ApplyThenDrop) (And PutIfMatch (Principal "alpha") (Key "*/_pointer.json") (OnIndex 0)))`)
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(1)); done <- err }()
			require.NoError(t, w.S3.Gate("pointer").WaitHeld(ctx, 1))
			published := *w.Pointer("docs").SnapshotID
			if successor == "compacts" {
				b.land("r2", 2)
				_, err = b.compact()
			} else {
				_, err = lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
			}
			require.NoError(t, err)
			w.S3.Gate("pointer").Release()
			require.NoError(t, <-done)
			if p := a.local(); p.SnapshotID == nil || *p.SnapshotID != published {
				t.Fatalf("the local pointer is %+v, published is %s", p, published)
			}
			a.MustPull()
			if a.rows() != b.rows() {
				t.Fatalf("alpha reads %s, beta %s", a.rows(), b.rows())
			}
		})
	}
}
