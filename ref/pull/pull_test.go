package pull_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/nodetest"
	"contextful/ref/pull"
	"contextful/ref/store"

	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

const (
	run1   = "tables/events/data/runs/r1/alpha/"
	prefix = "team/p/"
)

// seeded is a bucket with two runs, a snapshot over none of them in particular, and a clone that pulled nothing yet.
func seeded(t *testing.T) (w *nodetest.World, a, b *nodetest.Node, snapshot string) {
	w = nodetest.New(t)
	a = w.Alpha()
	a.Land("events", "r1", "x")
	snapshot = a.Fold("events")
	a.Land("events", "r2", "y")
	a.MustPush()
	return w, a, w.Node("beta"), snapshot
}

func TestACloneBecomesWhole(t *testing.T) {
	w, a, b, snapshot := seeded(t)
	r := b.MustPull()
	if r.Generation != 1 || r.Downloaded != len(w.Manifest().Entries)-1 || r.Attempts != 1 || fmt.Sprint(r.Advanced) != "[events]" || r.Removed != 0 {
		t.Fatalf("%+v for %d entries", r, len(w.Manifest().Entries))
	}
	own, _ := a.Store().Identity()
	if id, _ := b.Store().Identity(); id != own {
		t.Fatalf("identity %s, want %s", id, own)
	}
	for k, e := range w.Manifest().Entries {
		rel, _ := key.WithoutProject("p", k)
		info, err := os.Stat(filepath.Join(b.Root, rel))
		if err != nil || info.Size() != e.Size {
			t.Errorf("%s: %v", rel, err)
		}
	}
	if p := b.Pointer("events"); *p.SnapshotID != snapshot {
		t.Fatalf("pointer %+v", p)
	}
	for _, f := range b.Files() {
		if strings.Contains(f, ".tmp-") {
			t.Errorf("litter: %s", f)
		}
	}
	if r := b.MustPull(); r.Downloaded != 0 || len(r.Advanced) != 0 {
		t.Fatalf("a second pull: %+v", r)
	}
	view, err := b.Table("events").Resolve(ctx, store.Bounds{})
	require.NoError(t, err)
	if len(view.Runs) == 0 {
		t.Fatal("no run is visible")
	}
}

func TestAnEmptyBucket(t *testing.T) {
	w := nodetest.New(t)
	b := w.Node("beta")
	if r := b.MustPull(); r.Generation != 0 || r.Downloaded != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAnotherStoreRefusesBeforeAnyDownload(t *testing.T) {
	w, _, b, _ := seeded(t)
	b.Init()
	mark := w.S3.Mark()
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.StoreIdentityConflict)
	for _, e := range w.S3.JournalFor(s3cas.Filter{Since: mark}) {
		if e.Key != "team/manifest.json" && e.Key != "team/p/store-id" {
			t.Errorf("asked for %s", e.Key)
		}
	}
	if got := fmt.Sprint(b.Files()); got != "[store-id]" {
		t.Fatalf("wrote %s", got)
	}
}

func TestChangedBytesAreDiscarded(t *testing.T) {
	for _, how := range []string{
		`(Corrupt (And Get (Key "*/r1/alpha/part-00000.parquet")))`,
		`(Shorten 3 (And Get (Key "*/r1/alpha/part-00000.parquet")))`,
	} {
		t.Run(how, func(t *testing.T) {
			w, _, b, _ := seeded(t)
			w.Inject(how)
			r, err := b.Pull()
			nodetest.Refused(t, err, fault.SyncObjectDigestMismatch, "r1/alpha/part-00000.parquet")
			if r.Attempts != 1 {
				t.Errorf("%d attempts: changed bytes are not retried", r.Attempts)
			}
			if n := len(w.S3.JournalFor(s3cas.Filter{Key: "*/r1/alpha/part-00000.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if b.Has(run1+"part-00000.parquet") || b.Pointer("events") != nil {
				t.Error("something of it is there")
			}
			for _, f := range b.Files() {
				if strings.HasSuffix(f, "alpha/_manifest.json") || strings.Contains(f, ".tmp-") {
					t.Errorf("%s is there", f)
				}
			}
			// Everything else that was verified is kept, and the next pull downloads only the rest.
			if !b.Has(run1 + "part-00001.parquet") {
				t.Error("a verified part is missing")
			}
			w.S3.ClearFaults()
			if r := b.MustPull(); r.Downloaded != 4 { // the part, the schema again is equal by now, two run manifests
				t.Errorf("resumed with %d downloads: %q", r.Downloaded, b.Log())
			}
		})
	}
}

func TestALongerObjectIsNotReadToItsEnd(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.S3.Put("bkt", prefix+run1+"part-00000.parquet", []byte(strings.Repeat("x", 5<<20)))
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncObjectDigestMismatch, "more bytes")
}

func TestAVanishedKeyIsLookedForAgain(t *testing.T) {
	w, a, b, snapshot := seeded(t)
	k := prefix + run1 + "part-00000.parquet"
	body, _, _ := w.S3.Get("bkt", k)
	w.S3.Delete("bkt", k)
	asked := 0
	w.S3.Register("back", func(*s3cas.Call) {
		if asked++; asked == 2 {
			w.S3.Put("bkt", k, body)
		}
	})
	w.Inject(`(Call "back" (And Get (Key "*/manifest.json")))`)
	r := b.MustPull()
	if r.Attempts != 2 || *b.Pointer("events").SnapshotID != snapshot {
		t.Fatalf("%+v", r)
	}
	_ = a
}

func TestAKeyThatStaysAway(t *testing.T) {
	w, a, b, _ := seeded(t)
	k := prefix + run1 + "part-00000.parquet"
	body, _, _ := w.S3.Get("bkt", k)
	w.S3.Delete("bkt", k)
	mark := w.S3.Mark()
	r, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncPullDidNotConverge, "p/"+run1+"part-00000.parquet")
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Key: "team/manifest.json"})); n != 3 || r.Attempts != 3 {
		t.Fatalf("%d looks, %+v", n, r)
	}
	if b.Pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Key: "*/part-00001.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 2 {
		t.Errorf("verified parts were asked for %d times, want once each", n)
	}
	w.S3.Put("bkt", k, body)
	mark = w.S3.Mark()
	b.MustPull()
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Key: "*.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 1 {
		t.Errorf("the next pull asked for %d parts, want the one", n)
	}
	_ = a
}

func TestABrokenTransferIsAskedForAgain(t *testing.T) {
	w, _, b, _ := seeded(t)
	in := w.Inject(`(Truncate 3 (And Get (Key "*/r1/alpha/part-00000.parquet") (OnIndex 0)))`)
	if r := b.MustPull(); r.Attempts != 1 || in[0].Fired() != 1 {
		t.Fatalf("%+v", r)
	}
}

func TestRunManifestsComeLast(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.Inject(`(Hold "part" before (And Get (Key "*/r2/alpha/part-00001.parquet")))`)
	done := make(chan error, 1)
	go func() { _, err := b.Pull(); done <- err }()
	require.NoError(t, w.S3.Gate("part").WaitHeld(ctx, 1))
	seen := func() bool {
		for _, f := range b.Files() {
			if strings.HasSuffix(f, "alpha/_manifest.json") || strings.HasSuffix(f, "_pointer.json") {
				return true
			}
		}
		return false
	}
	early := seen()
	w.S3.Gate("part").Release()
	require.NoError(t, <-done)
	if early || !seen() {
		t.Fatal("a run manifest or pointer was there before its parts")
	}
}

func TestPointerComesAfterItsParts(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	w.Inject(`(Hold "part" body 4 (And Get (Key "*/` + snapshot + `/part-00000.parquet")))`)
	done := make(chan error, 1)
	go func() { _, err := b.Pull(); done <- err }()
	require.NoError(t, w.S3.Gate("part").WaitHeld(ctx, 1))
	early := b.Pointer("events")
	w.S3.Gate("part").Release()
	require.NoError(t, <-done)
	if early != nil || b.Pointer("events") == nil {
		t.Fatalf("pointer %v before its part", early)
	}
}

func TestTransferWidth(t *testing.T) {
	for _, width := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			w := nodetest.New(t)
			a := w.Alpha()
			for i := range 12 {
				a.Land("events", fmt.Sprintf("r%d", i))
			}
			a.MustPush()
			b := w.Node("beta")
			w.Inject(`(Hold "parts" before (And Get (Key "*.parquet")))`)
			o := pull.Options{Bucket: b.Bucket, Pause: nodetest.NoPause, Transfers: width}
			if width == 16 {
				o.Transfers = 0 // the default
			}
			done := make(chan error, 1)
			go func() { _, err := pull.Run(ctx, b.Store(), o); done <- err }()
			gate := w.S3.Gate("parts")
			require.NoError(t, gate.WaitHeld(ctx, width))
			if n := gate.Held(); n != width {
				t.Errorf("%d at once, want %d", n, width)
			}
			gate.Release()
			require.NoError(t, <-done)
		})
	}
}

func TestEveryVerifiedObjectIsWrittenBeforeARefusal(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	for i := range 30 {
		a.Land("events", fmt.Sprintf("r%02d", i))
	}
	a.MustPush()
	b := w.Node("beta")
	w.Inject(`(Corrupt (And Get (Key "*/r00/alpha/part-00000.parquet")))`)
	_, err := b.Pull()
	nodetest.Refused(t, err, fault.SyncObjectDigestMismatch)
	parts := 0
	for _, f := range b.Files() {
		if strings.HasSuffix(f, ".parquet") {
			parts++
		}
	}
	if parts != 59 {
		t.Fatalf("%d parts are here, want 59", parts)
	}
}

func TestSchemasMerge(t *testing.T) {
	_, a, b, _ := seeded(t)
	b.MustPull()
	b.Land("events", "r8", "mine")
	a.Land("events", "r9", "theirs")
	a.MustPush()
	b.MustPull()
	sch, err := b.Table("events").Schema()
	require.NoError(t, err)
	for _, c := range []string{"id", "x", "y", "mine", "theirs"} {
		if sch.Index(c) < 0 {
			t.Errorf("column %s is lost: %v", c, sch.Columns)
		}
	}
	b.MustPush()
	a.MustPull()
	one, err := os.ReadFile(a.Root + "/tables/events/schema.json")
	require.NoError(t, err)
	two, err := os.ReadFile(b.Root + "/tables/events/schema.json")
	require.NoError(t, err)
	if string(one) != string(two) {
		t.Errorf("both sides end at different bytes:\n%s\n%s", one, two)
	}
}

func TestAMovingSchema(t *testing.T) {
	w, _, b, _ := seeded(t)
	k := prefix + "tables/events/schema.json"
	body, _, _ := w.S3.Get("bkt", k)
	w.S3.Put("bkt", k, []byte(strings.Replace(string(body), `"x"`, `"z"`, 1)))
	asked := 0
	w.S3.Register("settled", func(*s3cas.Call) {
		if asked++; asked == 3 {
			w.S3.Put("bkt", k, body)
		}
	})
	w.Inject(`(Call "settled" (And Get (Key "team/manifest.json")))`)
	if r := b.MustPull(); r.Attempts != 3 {
		t.Fatalf("%+v", r)
	}
	w.S3.ClearFaults()
	w.S3.Put("bkt", k, []byte(strings.Replace(string(body), `"x"`, `"z"`, 1)))
	c := w.Node("gamma")
	r, err := c.Pull()
	nodetest.Refused(t, err, fault.SyncObjectDigestMismatch, "schema.json")
	if r.Attempts != 3 || c.Pointer("events") != nil {
		t.Fatalf("%+v", r)
	}
}

func TestATornRunStateIsLeftOut(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	m := w.Manifest()
	m.Entries["p/nodes/alpha/run-state.json"] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 2, Owner: "alpha"}
	w.Plant(m)
	w.S3.Put("bkt", prefix+"nodes/alpha/run-state.json", []byte("{}"))
	b.MustPull()
	if b.Has("nodes/alpha/run-state.json") || *b.Pointer("events").SnapshotID != snapshot {
		t.Fatal("it was taken, or the pull did not go on")
	}
	if !strings.Contains(strings.Join(b.Log(), "\n"), "nodes/alpha/run-state.json") {
		t.Fatalf("no warning: %q", b.Log())
	}
}

func TestCommitSequenceGoesOnAbovePulledRuns(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	b := w.Node("beta")
	a.Land("events", "r1")
	a.MustPush()
	b.MustPull()
	b.Land("events", "r1") // the same run id, of another node
	for i := range 5 {
		a.Land("events", fmt.Sprintf("s%d", i))
	}
	a.MustPush()
	b.MustPull()
	b.Land("events", "r2")
	mine, err := b.Table("events").ReadRun("r2", "beta")
	require.NoError(t, err)
	theirs, err := b.Table("events").ReadRun("s4", "alpha")
	require.NoError(t, err)
	if *mine.CommitSeq <= *theirs.CommitSeq {
		t.Fatalf("%d after %d", *mine.CommitSeq, *theirs.CommitSeq)
	}
}

func TestLitterOfAKilledPullGoes(t *testing.T) {
	_, _, b, _ := seeded(t)
	dir := filepath.Join(b.Root, run1)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".tmp-dead"), []byte("half"), 0o644))
	b.MustPull()
	if b.Has(run1 + ".tmp-dead") {
		t.Fatal("it is still there")
	}
}

func TestACancelledPullLeavesNoPromise(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.Inject(`(Hold "part" before (And Get (Key "*/r2/alpha/part-00001.parquet")))`)
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := pull.Run(inner, b.Store(), pull.Options{Bucket: b.Bucket, Pause: nodetest.NoPause})
		done <- err
	}()
	require.NoError(t, w.S3.Gate("part").WaitHeld(ctx, 1))
	cancel()
	err := <-done
	w.S3.Gate("part").Release()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if b.Pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
	b.MustPull()
}

func TestAReaderBesideAPullSeesWholeStates(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	b := w.Node("beta")
	a.Land("events", "r0")
	a.MustPush()
	b.MustPull()
	stop := make(chan struct{})
	bad := make(chan error, 1)
	go func() {
		defer close(bad)
		for {
			select {
			case <-stop:
				return
			default:
			}
			view, err := b.Table("events").Resolve(ctx, store.Bounds{})
			if err == nil {
				for _, f := range view.Files {
					if _, serr := os.Stat(f.Path); serr != nil {
						err = serr
					}
				}
			}
			if err != nil {
				bad <- err
				return
			}
		}
	}()
	for i := 1; i < 8; i++ {
		a.Land("events", fmt.Sprintf("r%d", i), fmt.Sprintf("c%d", i))
		if i%2 == 0 {
			a.Fold("events")
		}
		a.MustPush()
		b.MustPull()
	}
	close(stop)
	if err := <-bad; err != nil {
		t.Fatal(err)
	}
}
