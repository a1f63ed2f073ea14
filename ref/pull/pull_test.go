package pull_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/pull"
	"contextful/ref/store"
)

const (
	run1   = "tables/events/data/runs/r1/alpha/"
	prefix = "team/p/"
)

// seeded is a bucket with two runs, a snapshot over none of them in particular, and a clone that pulled nothing yet.
func seeded(t *testing.T) (w *world, a, b *node, snapshot string) {
	w = newWorld(t)
	a = w.alpha()
	a.land("events", "r1", "x")
	snapshot = a.fold("events", nil)
	a.land("events", "r2", "y")
	a.mustPush()
	return w, a, w.node("beta"), snapshot
}

func (n *node) has(rel string) bool {
	_, err := os.Stat(filepath.Join(n.root, rel))
	return err == nil
}

// files lists what lies below the store root, without locks.
func (n *node) files() []string {
	var out []string
	_ = filepath.WalkDir(n.root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(name, ".lock") {
			out = append(out, strings.TrimPrefix(name, n.root+"/"))
		}
		return nil
	})
	return out
}

func (n *node) pointer(table string) *manifest.Pointer {
	n.t.Helper()
	p, etag, err := n.table(table).Pointer()
	must(n.t, err)
	if etag == "" {
		return nil
	}
	return &p
}

func TestACloneBecomesWhole(t *testing.T) {
	w, a, b, snapshot := seeded(t)
	r := b.mustPull()
	if r.Generation != 1 || r.Downloaded != len(w.manifest().Entries)-1 || r.Attempts != 1 || fmt.Sprint(r.Advanced) != "[events]" || r.Removed != 0 {
		t.Fatalf("%+v for %d entries", r, len(w.manifest().Entries))
	}
	own, _ := a.store().Identity()
	if id, _ := b.store().Identity(); id != own {
		t.Fatalf("identity %s, want %s", id, own)
	}
	for k, e := range w.manifest().Entries {
		rel, _ := key.WithoutProject("p", k)
		info, err := os.Stat(filepath.Join(b.root, rel))
		if err != nil || info.Size() != e.Size {
			t.Errorf("%s: %v", rel, err)
		}
	}
	if p := b.pointer("events"); *p.SnapshotID != snapshot {
		t.Fatalf("pointer %+v", p)
	}
	for _, f := range b.files() {
		if strings.Contains(f, ".tmp-") {
			t.Errorf("litter: %s", f)
		}
	}
	if r := b.mustPull(); r.Downloaded != 0 || len(r.Advanced) != 0 {
		t.Fatalf("a second pull: %+v", r)
	}
	view, err := b.table("events").Resolve(ctx, store.Bounds{})
	must(t, err)
	if len(view.Runs) == 0 {
		t.Fatal("no run is visible")
	}
}

func TestAnEmptyBucket(t *testing.T) {
	w := newWorld(t)
	b := w.node("beta")
	if r := b.mustPull(); r.Generation != 0 || r.Downloaded != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAnotherStoreRefusesBeforeAnyDownload(t *testing.T) {
	w, _, b, _ := seeded(t)
	b.init()
	mark := w.s3.Mark()
	_, err := b.pull()
	refused(t, err, fault.StoreIdentityConflict)
	for _, e := range w.s3.JournalFor(s3cas.Filter{Since: mark}) {
		if e.Key != "team/manifest.json" && e.Key != "team/p/store-id" {
			t.Errorf("asked for %s", e.Key)
		}
	}
	if got := fmt.Sprint(b.files()); got != "[store-id]" {
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
			w.inject(how)
			r, err := b.pull()
			refused(t, err, fault.SyncObjectDigestMismatch, "r1/alpha/part-00000.parquet")
			if r.Attempts != 1 {
				t.Errorf("%d attempts: changed bytes are not retried", r.Attempts)
			}
			if n := len(w.s3.JournalFor(s3cas.Filter{Key: "*/r1/alpha/part-00000.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if b.has(run1+"part-00000.parquet") || b.pointer("events") != nil {
				t.Error("something of it is there")
			}
			for _, f := range b.files() {
				if strings.HasSuffix(f, "alpha/_manifest.json") || strings.Contains(f, ".tmp-") {
					t.Errorf("%s is there", f)
				}
			}
			// Everything else that was verified is kept, and the next pull downloads only the rest.
			if !b.has(run1 + "part-00001.parquet") {
				t.Error("a verified part is missing")
			}
			w.s3.ClearFaults()
			if r := b.mustPull(); r.Downloaded != 4 { // the part, the schema again is equal by now, two run manifests
				t.Errorf("resumed with %d downloads: %q", r.Downloaded, b.log)
			}
		})
	}
}

func TestALongerObjectIsNotReadToItsEnd(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.s3.Put("bkt", prefix+run1+"part-00000.parquet", []byte(strings.Repeat("x", 5<<20)))
	_, err := b.pull()
	refused(t, err, fault.SyncObjectDigestMismatch, "more bytes")
}

func TestAVanishedKeyIsLookedForAgain(t *testing.T) {
	w, a, b, snapshot := seeded(t)
	k := prefix + run1 + "part-00000.parquet"
	body, _, _ := w.s3.Get("bkt", k)
	w.s3.Delete("bkt", k)
	asked := 0
	w.s3.Register("back", func(*s3cas.Call) {
		if asked++; asked == 2 {
			w.s3.Put("bkt", k, body)
		}
	})
	w.inject(`(Call "back" (And Get (Key "*/manifest.json")))`)
	r := b.mustPull()
	if r.Attempts != 2 || *b.pointer("events").SnapshotID != snapshot {
		t.Fatalf("%+v", r)
	}
	_ = a
}

func TestAKeyThatStaysAway(t *testing.T) {
	w, a, b, _ := seeded(t)
	k := prefix + run1 + "part-00000.parquet"
	body, _, _ := w.s3.Get("bkt", k)
	w.s3.Delete("bkt", k)
	mark := w.s3.Mark()
	r, err := b.pull()
	refused(t, err, fault.SyncPullDidNotConverge, "p/"+run1+"part-00000.parquet")
	if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Key: "team/manifest.json"})); n != 3 || r.Attempts != 3 {
		t.Fatalf("%d looks, %+v", n, r)
	}
	if b.pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
	if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Key: "*/part-00001.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 2 {
		t.Errorf("verified parts were asked for %d times, want once each", n)
	}
	w.s3.Put("bkt", k, body)
	mark = w.s3.Mark()
	b.mustPull()
	if n := len(w.s3.JournalFor(s3cas.Filter{Since: mark, Key: "*.parquet", Ops: []s3cas.Op{s3cas.OpGet}})); n != 1 {
		t.Errorf("the next pull asked for %d parts, want the one", n)
	}
	_ = a
}

func TestABrokenTransferIsAskedForAgain(t *testing.T) {
	w, _, b, _ := seeded(t)
	in := w.inject(`(Truncate 3 (And Get (Key "*/r1/alpha/part-00000.parquet") (OnIndex 0)))`)
	if r := b.mustPull(); r.Attempts != 1 || in[0].Fired() != 1 {
		t.Fatalf("%+v", r)
	}
}

func TestRunManifestsComeLast(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.inject(`(Hold "part" before (And Get (Key "*/r2/alpha/part-00001.parquet")))`)
	done := make(chan error, 1)
	go func() { _, err := b.pull(); done <- err }()
	must(t, w.s3.Gate("part").WaitHeld(ctx, 1))
	seen := func() bool {
		for _, f := range b.files() {
			if strings.HasSuffix(f, "alpha/_manifest.json") || strings.HasSuffix(f, "_pointer.json") {
				return true
			}
		}
		return false
	}
	early := seen()
	w.s3.Gate("part").Release()
	must(t, <-done)
	if early || !seen() {
		t.Fatal("a run manifest or pointer was there before its parts")
	}
}

func TestPointerComesAfterItsParts(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	w.inject(`(Hold "part" body 4 (And Get (Key "*/` + snapshot + `/part-00000.parquet")))`)
	done := make(chan error, 1)
	go func() { _, err := b.pull(); done <- err }()
	must(t, w.s3.Gate("part").WaitHeld(ctx, 1))
	early := b.pointer("events")
	w.s3.Gate("part").Release()
	must(t, <-done)
	if early != nil || b.pointer("events") == nil {
		t.Fatalf("pointer %v before its part", early)
	}
}

func TestTransferWidth(t *testing.T) {
	for _, width := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			w := newWorld(t)
			a := w.alpha()
			for i := range 12 {
				a.land("events", fmt.Sprintf("r%d", i))
			}
			a.mustPush()
			b := w.node("beta")
			w.inject(`(Hold "parts" before (And Get (Key "*.parquet")))`)
			o := pull.Options{Bucket: b.b, Pause: noPause, Transfers: width}
			if width == 16 {
				o.Transfers = 0 // the default
			}
			done := make(chan error, 1)
			go func() { _, err := pull.Run(ctx, b.store(), o); done <- err }()
			gate := w.s3.Gate("parts")
			must(t, gate.WaitHeld(ctx, width))
			if n := gate.Held(); n != width {
				t.Errorf("%d at once, want %d", n, width)
			}
			gate.Release()
			must(t, <-done)
		})
	}
}

func TestEveryVerifiedObjectIsWrittenBeforeARefusal(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	for i := range 30 {
		a.land("events", fmt.Sprintf("r%02d", i))
	}
	a.mustPush()
	b := w.node("beta")
	w.inject(`(Corrupt (And Get (Key "*/r00/alpha/part-00000.parquet")))`)
	_, err := b.pull()
	refused(t, err, fault.SyncObjectDigestMismatch)
	parts := 0
	for _, f := range b.files() {
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
	b.mustPull()
	b.land("events", "r8", "mine")
	a.land("events", "r9", "theirs")
	a.mustPush()
	b.mustPull()
	sch, err := b.table("events").Schema()
	must(t, err)
	for _, c := range []string{"id", "x", "y", "mine", "theirs"} {
		if sch.Index(c) < 0 {
			t.Errorf("column %s is lost: %v", c, sch.Columns)
		}
	}
	b.mustPush()
	a.mustPull()
	one, err := os.ReadFile(a.root + "/tables/events/schema.json")
	must(t, err)
	two, err := os.ReadFile(b.root + "/tables/events/schema.json")
	must(t, err)
	if string(one) != string(two) {
		t.Errorf("both sides end at different bytes:\n%s\n%s", one, two)
	}
}

func TestAMovingSchema(t *testing.T) {
	w, _, b, _ := seeded(t)
	k := prefix + "tables/events/schema.json"
	body, _, _ := w.s3.Get("bkt", k)
	w.s3.Put("bkt", k, []byte(strings.Replace(string(body), `"x"`, `"z"`, 1)))
	asked := 0
	w.s3.Register("settled", func(*s3cas.Call) {
		if asked++; asked == 3 {
			w.s3.Put("bkt", k, body)
		}
	})
	w.inject(`(Call "settled" (And Get (Key "team/manifest.json")))`)
	if r := b.mustPull(); r.Attempts != 3 {
		t.Fatalf("%+v", r)
	}
	w.s3.ClearFaults()
	w.s3.Put("bkt", k, []byte(strings.Replace(string(body), `"x"`, `"z"`, 1)))
	c := w.node("gamma")
	r, err := c.pull()
	refused(t, err, fault.SyncObjectDigestMismatch, "schema.json")
	if r.Attempts != 3 || c.pointer("events") != nil {
		t.Fatalf("%+v", r)
	}
}

func TestATornRunStateIsLeftOut(t *testing.T) {
	w, _, b, snapshot := seeded(t)
	m := w.manifest()
	m.Entries["p/nodes/alpha/run-state.json"] = manifest.Entry{SHA256: strings.Repeat("0", 64), Size: 2, Owner: "alpha"}
	w.plant(m)
	w.s3.Put("bkt", prefix+"nodes/alpha/run-state.json", []byte("{}"))
	b.mustPull()
	if b.has("nodes/alpha/run-state.json") || *b.pointer("events").SnapshotID != snapshot {
		t.Fatal("it was taken, or the pull did not go on")
	}
	if !strings.Contains(strings.Join(b.log, "\n"), "nodes/alpha/run-state.json") {
		t.Fatalf("no warning: %q", b.log)
	}
}

func TestCommitSequenceGoesOnAbovePulledRuns(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	b := w.node("beta")
	a.land("events", "r1")
	a.mustPush()
	b.mustPull()
	b.land("events", "r1") // the same run id, of another node
	for i := range 5 {
		a.land("events", fmt.Sprintf("s%d", i))
	}
	a.mustPush()
	b.mustPull()
	b.land("events", "r2")
	mine, err := b.table("events").ReadRun("r2", "beta")
	must(t, err)
	theirs, err := b.table("events").ReadRun("s4", "alpha")
	must(t, err)
	if *mine.CommitSeq <= *theirs.CommitSeq {
		t.Fatalf("%d after %d", *mine.CommitSeq, *theirs.CommitSeq)
	}
}

func TestLitterOfAKilledPullGoes(t *testing.T) {
	_, _, b, _ := seeded(t)
	dir := filepath.Join(b.root, run1)
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, ".tmp-dead"), []byte("half"), 0o644))
	b.mustPull()
	if b.has(run1 + ".tmp-dead") {
		t.Fatal("it is still there")
	}
}

func TestACancelledPullLeavesNoPromise(t *testing.T) {
	w, _, b, _ := seeded(t)
	w.inject(`(Hold "part" before (And Get (Key "*/r2/alpha/part-00001.parquet")))`)
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := pull.Run(inner, b.store(), pull.Options{Bucket: b.b, Pause: noPause})
		done <- err
	}()
	must(t, w.s3.Gate("part").WaitHeld(ctx, 1))
	cancel()
	err := <-done
	w.s3.Gate("part").Release()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if b.pointer("events") != nil {
		t.Fatal("a pointer was written")
	}
	b.mustPull()
}

func TestAReaderBesideAPullSeesWholeStates(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	b := w.node("beta")
	a.land("events", "r0")
	a.mustPush()
	b.mustPull()
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
			view, err := b.table("events").Resolve(ctx, store.Bounds{})
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
		a.land("events", fmt.Sprintf("r%d", i), fmt.Sprintf("c%d", i))
		if i%2 == 0 {
			a.fold("events", nil)
		}
		a.mustPush()
		b.mustPull()
	}
	close(stop)
	if err := <-bad; err != nil {
		t.Fatal(err)
	}
}
