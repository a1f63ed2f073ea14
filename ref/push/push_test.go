package push_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"contextful/fakes/s3cas"
	"contextful/ref/bucket"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/nodetest"
	"contextful/ref/push"

	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// wroteNothing: since mark, nothing but the probe's own objects was put into the bucket.
func wroteNothing(t *testing.T, w *nodetest.World, mark int) {
	t.Helper()
	for _, e := range w.S3.JournalFor(s3cas.Filter{Since: mark, Ops: []s3cas.Op{s3cas.OpPut}}) {
		if !strings.Contains(e.Key, "/_contextful/cas-probe/") {
			t.Errorf("wrote %s", e.Key)
		}
	}
}

func TestFirstPushCommitsWhatEmitPrints(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1", "x")
	a.Land("events", "r2")
	id := a.Fold("events")
	a.Land("other", "r1")

	plan, err := push.Emit(ctx, a.Store(), nil)
	require.NoError(t, err)
	if n := len(w.S3.Journal()); n != 0 {
		t.Fatalf("emit sent %d requests", n)
	}
	r := a.MustPush()
	got := w.Manifest()
	if !maps.Equal(plan.Entries, got.Entries) || got.Generation != 1 || plan.Generation != 1 || got.CommittedBy != "alpha" || got.Nonce == "" {
		t.Fatalf("planned %v, committed %v", plan, got)
	}
	if len(plan.Pointers) != 1 || *plan.Pointers["p/tables/events/_pointer.json"].SnapshotID != id ||
		*got.Pointers["p/tables/events/_pointer.json"].SnapshotID != id {
		t.Fatalf("pointers planned %v, committed %v", plan.Pointers, got.Pointers)
	}
	if r.Generation != 1 || r.Uploaded != len(got.Entries) || r.Attempts != 1 || len(r.KeptLocal) != 0 {
		t.Fatalf("%+v for %d entries", r, len(got.Entries))
	}
	for k, e := range got.Entries {
		body, _, ok := w.S3.Get("bkt", "team/"+k)
		if !ok || int64(len(body)) != e.Size {
			t.Errorf("%s is listed and not there", k)
		}
		if strings.Contains(k, "/runs/") != (e.Owner == "alpha") {
			t.Errorf("%s is owned by %q", k, e.Owner)
		}
		if strings.HasSuffix(k, "_pointer.json") {
			t.Errorf("%s is an entry", k)
		}
	}
	if p := w.Pointer("events"); p == nil || *p.SnapshotID != id || p.Nonce == "" {
		t.Fatalf("pointer %v", p)
	}
	if gen, _, ok := w.S3.Get("bkt", "team/manifests/gen-1.json"); !ok || !strings.Contains(string(gen), got.Nonce) {
		t.Fatal("generation 1 has no copy")
	}
}

func TestNothingToDoMakesNoGeneration(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.Fold("events")
	a.MustPush()
	mark := w.S3.Mark()
	r := a.MustPush()
	if r.Generation != 1 || r.Uploaded != 0 || r.Attempts != 0 {
		t.Fatalf("%+v", r)
	}
	wroteNothing(t, w, mark)
	a.Land("events", "r2")
	if r := a.MustPush(); r.Generation != 2 || r.Uploaded != 3 {
		t.Fatalf("%+v", r)
	}
	for _, g := range []string{"1", "2"} {
		if _, _, ok := w.S3.Get("bkt", "team/manifests/gen-"+g+".json"); !ok {
			t.Errorf("generation %s has no copy", g)
		}
	}
}

func TestUncommittedRunsStayHome(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	require.NoError(t, a.Store().FS().MkdirAll(a.Root+"/tables/events/data/runs/r9/alpha"))
	a.Write(a.Root+"/tables/events/data/runs/r9/alpha/part-00000.parquet", "half")
	a.MustPush()
	for k := range w.Manifest().Entries {
		if strings.Contains(k, "/r9/") {
			t.Errorf("%s is listed", k)
		}
	}
}

// TestManifestUnderFaults commits once through every way in which the answer to the manifest's PUT misleads.
func TestManifestUnderFaults(t *testing.T) {
	faults := append(nodetest.Misleading("Put", "*/manifest.json"),
		`(ApplyThen 500 (And Put (Key "*/manifest.json") (OnIndex 0)))`,
		`(Late 3 (And Put (Key "*/manifest.json") (OnIndex 0)))`)
	for _, f := range faults {
		t.Run(f, func(t *testing.T) {
			w := nodetest.New(t)
			a := w.Alpha()
			a.Land("events", "r1")
			in := w.Inject(f)
			r := a.MustPush()
			if r.Generation != 1 || w.Manifest().Generation != 1 || in[0].Fired() != 1 {
				t.Fatalf("%+v, bucket at %d, fired %d", r, w.Manifest().Generation, in[0].Fired())
			}
			if len(w.Manifest().Entries) != 5 {
				t.Fatalf("entries %v", w.Manifest().Entries)
			}
		})
	}
}

func TestPointerUnderFaults(t *testing.T) {
	for _, f := range nodetest.Misleading("Put", "*/_pointer.json") {
		t.Run(f, func(t *testing.T) {
			w := nodetest.New(t)
			a := w.Alpha()
			a.Land("events", "r1")
			first := a.Fold("events")
			a.MustPush()
			a.Land("events", "r2")
			second := a.Fold("events")
			in := w.Inject(f)
			r := a.MustPush()
			if p := w.Pointer("events"); *p.SnapshotID != second || first == second || len(r.KeptLocal) > 0 || in[0].Fired() != 1 {
				t.Fatalf("pointer %v, %+v", p, r)
			}
		})
	}
}

func TestRetriesAreExact(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	w.Inject(`(Respond 412 (And Put (Key "*/manifest.json")))`)
	r, err := a.Push()
	nodetest.Refused(t, err, fault.SyncManifestRebaseExhausted, "p/tables/events/data/runs/r1/alpha/part-00001.parquet", "p/store-id", "are in the bucket")
	if n := w.Puts("team/manifest.json"); n != 5 || r.Attempts != 5 || r.Uploaded != 5 {
		t.Fatalf("%d puts, %+v", n, r)
	}
	var e *fault.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "again") {
		t.Fatalf("hint %q", e.Hint)
	}
	w.S3.ClearFaults()
	if r := a.MustPush(); r.Generation != 1 {
		t.Fatalf("the next push: %+v", r)
	}
}

func TestANewerGenerationResetsTheCount(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r0")
	a.MustPush()
	a.Land("events", "r1")
	// Seven rounds lose to a rival's generation, four to nobody, and then it takes.
	for i := range 7 {
		w.Inject(fmt.Sprintf(`(RivalManifest (And Put (Key "*/manifest.json") (OnIndex %d)))`, i))
	}
	for i := 7; i < 11; i++ {
		w.Inject(fmt.Sprintf(`(Respond 412 (And Put (Key "*/manifest.json") (OnIndex %d)))`, i))
	}
	r := a.MustPush()
	if r.Attempts != 12 || r.Generation != 9 {
		t.Fatalf("%+v", r)
	}
}

func TestTheCeiling(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r0")
	a.MustPush()
	a.Land("events", "r1")
	w.Inject(`(RivalManifest (And Put (Key "*/manifest.json")))`)
	before := w.Puts("team/manifest.json")
	r, err := a.Push()
	nodetest.Refused(t, err, fault.SyncManifestRebaseExhausted)
	if n := w.Puts("team/manifest.json") - before; n != 64 || r.Attempts != 64 {
		t.Fatalf("%d puts, %+v", n, r)
	}
}

func TestUnprovenStopsBeforeAnythingIsWritten(t *testing.T) {
	for _, mode := range [][]string{{"ignore_if_match"}, {"ignore_if_none_match"}, {"not_implemented", "Conditional"}, {"toctou_window", "0"}, {"forbid"}} {
		t.Run(strings.Join(mode, " "), func(t *testing.T) {
			w := nodetest.New(t)
			a := w.Alpha()
			a.Land("events", "r1")
			require.NoError(t, w.S3.SetMode(mode[0], mode[1:]...))
			_, err := a.Push()
			nodetest.Refused(t, err, fault.SyncCoordinationUnproven)
			wroteNothing(t, w, 0)
		})
	}
}

func TestSingleWriterNeedsNoProof(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.Fold("events")
	require.NoError(t, w.S3.SetMode("not_implemented", "Conditional"))
	o := a.PushOptions()
	o.Prove, o.Bucket = nil, bucket.SingleWriter(a.Bucket)
	r, err := push.Run(ctx, a.Store(), o)
	require.NoError(t, err)
	if r.Generation != 1 || w.Pointer("events") == nil {
		t.Fatalf("%+v", r)
	}
}

func TestAnotherStoresBucket(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.MustPush()
	b := w.Node("beta")
	b.Init()
	b.Land("events", "r7")
	mark := w.S3.Mark()
	_, err := b.Push()
	nodetest.Refused(t, err, fault.StoreIdentityConflict)
	if n := len(w.S3.JournalFor(s3cas.Filter{Since: mark, Ops: []s3cas.Op{s3cas.OpPut}})); n != 0 {
		t.Fatalf("%d puts", n)
	}
	c := w.Node("gamma")
	c.Land("events", "r8")
	_, err = c.Push()
	nodetest.Refused(t, err, fault.StoreIdentityInvalid)
}

func TestTwoNewStoresOneWins(t *testing.T) {
	w := nodetest.New(t)
	a, b := w.Alpha(), w.Node("beta")
	b.Init()
	a.Land("events", "r1")
	b.Land("events", "r1")
	var errs [2]error
	var wg sync.WaitGroup
	for i, n := range []*nodetest.Node{a, b} {
		wg.Go(func() { _, errs[i] = n.Push() })
	}
	wg.Wait()
	lost := 0
	for _, err := range errs {
		if errors.Is(err, fault.StoreIdentityConflict) {
			lost++
		} else if err != nil {
			t.Error(err)
		}
	}
	if lost != 1 {
		t.Fatalf("%v", errs)
	}
}

func TestAnImmutableObjectWithOtherBytes(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.MustPush()
	require.NoError(t, a.Store().FS().Remove(a.Root+"/tables/events/data/runs/r1/alpha/part-00000.parquet"))
	a.Write(a.Root+"/tables/events/data/runs/r1/alpha/part-00000.parquet", "other bytes")
	a.Land("events", "r2")
	mark := w.S3.Mark()
	_, err := a.Push()
	nodetest.Refused(t, err, fault.SyncObjectConflict, "r1/alpha/part-00000.parquet")
	wroteNothing(t, w, mark)
	// Not listed, and there with other bytes.
	b := w.Node("beta")
	b.MustPull()
	b.Land("events", "r3")
	w.S3.Put("bkt", "team/p/tables/events/data/runs/r3/beta/part-00000.parquet", []byte("a stranger's"))
	_, err = b.Push()
	nodetest.Refused(t, err, fault.SyncObjectConflict, "r3/beta/part-00000.parquet")
}

func TestRacingPushesLoseNothing(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "seed", "c0")
	a.MustPush()
	nodes := []*nodetest.Node{a}
	for i := range 4 {
		n := w.Node(fmt.Sprintf("n%d", i))
		n.MustPull()
		nodes = append(nodes, n)
	}
	var wg sync.WaitGroup
	for i, n := range nodes {
		n.Land("events", fmt.Sprintf("r%d", i), fmt.Sprintf("col%d", i))
	}
	for _, n := range nodes {
		wg.Go(func() {
			if _, err := n.Push(); err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
		})
	}
	wg.Wait()
	m := w.Manifest()
	for i, n := range nodes {
		if _, ok := m.Entries[fmt.Sprintf("p/tables/events/data/runs/r%d/%s/_manifest.json", i, n.Name)]; !ok {
			t.Errorf("%s's run is not listed", n.Name)
		}
	}
	body, _, _ := w.S3.Get("bkt", "team/p/tables/events/schema.json")
	for i := range nodes {
		if !strings.Contains(string(body), fmt.Sprintf(`"col%d"`, i)) {
			t.Errorf("the schema lost col%d", i)
		}
	}
	for g := int64(1); g <= m.Generation; g++ {
		if _, _, ok := w.S3.Get("bkt", fmt.Sprintf("team/manifests/gen-%d.json", g)); !ok {
			t.Errorf("generation %d has no copy", g)
		}
	}
	c := w.Node("reader")
	c.MustPull()
}

func TestFencedPointerStaysLocal(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	id := a.Fold("events")
	w.S3.Put("bkt", "team/p/tables/events/_pointer.json", []byte(`{"snapshot_id":null,"fence":3}`))
	r := a.MustPush()
	if fmt.Sprint(r.KeptLocal) != "[events]" || r.Generation != 1 {
		t.Fatalf("%+v", r)
	}
	if p := w.Pointer("events"); p.SnapshotID != nil || *p.Fence != 3 {
		t.Fatalf("the pointer was touched: %+v", p)
	}
	if !strings.Contains(strings.Join(a.Log(), "\n"), `the pointer of table "events" stays local`) {
		t.Fatalf("no warning: %q", a.Log())
	}
	for k := range w.Manifest().Entries {
		if strings.Contains(k, id) {
			t.Errorf("%s is listed", k)
		}
	}
	local, _, err := a.Table("events").Pointer()
	require.NoError(t, err)
	if *local.SnapshotID != id {
		t.Fatal("the local pointer moved")
	}
}

func TestDivergedPointerStaysLocal(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.MustPush()
	b := w.Node("beta")
	b.MustPull()
	first := a.Fold("events")
	a.MustPush()
	b.Sec = 5000
	b.Fold("events")
	b.Land("events", "r2")
	r := b.MustPush()
	if fmt.Sprint(r.KeptLocal) != "[events]" {
		t.Fatalf("%+v", r)
	}
	if p := w.Pointer("events"); *p.SnapshotID != first {
		t.Fatalf("pointer %+v", p)
	}
	if _, ok := w.Manifest().Entries["p/tables/events/data/runs/r2/beta/_manifest.json"]; !ok {
		t.Fatal("the rest was not committed")
	}
}

func TestABehindPointerIsNoWarning(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	a.Fold("events")
	a.MustPush()
	b := w.Node("beta")
	b.MustPull()
	a.Land("events", "r2")
	second := a.Fold("events", 4)
	a.MustPush()
	b.Land("events", "r3")
	if r := b.MustPush(); len(r.KeptLocal) != 0 {
		t.Fatalf("%+v", r)
	}
	if p := w.Pointer("events"); *p.SnapshotID != second || *p.Fence != 4 {
		t.Fatalf("pointer %+v", p)
	}
}

func TestAPushThatDiedBetweenManifestAndPointer(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	id := a.Fold("events")
	in := w.Inject(`(Respond 403 (And Put (Key "*/_pointer.json") (OnIndex 0)))`)
	_, err := a.Push()
	nodetest.Refused(t, err, fault.SyncUnreachable)
	if in[0].Fired() != 1 || w.Pointer("events") != nil {
		t.Fatal("the fault did not fire")
	}
	r := a.MustPush()
	if p := w.Pointer("events"); p == nil || *p.SnapshotID != id || r.Generation != 1 || r.Attempts != 0 {
		t.Fatalf("%+v %+v", p, r)
	}
}

func TestADownBucket(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	require.NoError(t, w.S3.Close())
	_, err := a.Push()
	nodetest.Refused(t, err, fault.SyncCoordinationUnproven, "SyncProbeInconclusive")
	o := a.PushOptions()
	o.Prove = nil
	_, err = push.Run(ctx, a.Store(), o)
	nodetest.Refused(t, err, fault.SyncUnreachable)
}

func TestForeignEntriesStay(t *testing.T) {
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1")
	m := &manifest.Bucket{Format: 2, Generation: 6, Entries: map[string]manifest.Entry{"q/store-id": {SHA256: strings.Repeat("a", 64), Size: 37}}}
	body, err := manifest.EncodeBucket(m)
	require.NoError(t, err)
	w.S3.Put("bkt", "team/manifest.json", body)
	if r := a.MustPush(); r.Generation != 7 {
		t.Fatalf("%+v", r)
	}
	if _, ok := w.Manifest().Entries["q/store-id"]; !ok {
		t.Fatal("another project's entry is gone")
	}
	if gen, _, ok := w.S3.Get("bkt", "team/manifests/gen-6.json"); !ok || string(gen) != string(body) {
		t.Fatal("the superseded generation has no copy")
	}
}
