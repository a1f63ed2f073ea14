package compact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/fakes/s3cas"
	"contextful/ref/bucket"
	"contextful/ref/bucket/s3bucket"
	"contextful/ref/clock"
	"contextful/ref/compact"
	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/lease"
	"contextful/ref/manifest"
	"contextful/ref/probe"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/query"
	"contextful/ref/store"
)

const declaration = `
[[pipeline.tables]]
name = "docs"
primary_key = ["id"]
`

var ctx = context.Background()

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
}

type node struct {
	t    *testing.T
	s3   *s3cas.Server
	name string
	st   *store.Store
	b    bucket.Bucket
}

func newNode(t *testing.T, s3 *s3cas.Server, name string, init bool, now time.Time) *node {
	t.Helper()
	dir := t.TempDir()
	project, err := decl.ParseProject(filepath.Join(dir, decl.FileName), []byte("[project]\nname = \"p\"\n"+declaration))
	must(t, err)
	o := store.Options{Project: project, Root: project.StoreRoot(), Node: name, Clock: clock.Fixed{Instant: now}}
	var st *store.Store
	if init {
		st, _, err = store.Init(ctx, o)
	} else {
		st, err = store.Open(ctx, o)
	}
	must(t, err)
	s3.AddPrincipal("AK"+name, "SK", name)
	b, err := s3bucket.Open(s3bucket.Options{URL: s3.URL(), Region: "us-east-1", PathStyle: true, Bucket: "bkt", AccessKeyID: "AK" + name, SecretAccessKey: "SK"})
	must(t, err)
	return &node{t, s3, name, st, bucket.Under(b, "team")}
}

// at is the same node when its clock shows another time.
func (n *node) at(now time.Time) *node {
	n.t.Helper()
	st, err := store.Open(ctx, store.Options{Project: n.st.Project(), Root: n.st.Root(), Node: n.name, Clock: clock.Fixed{Instant: now}})
	must(n.t, err)
	return &node{n.t, n.s3, n.name, st, n.b}
}

func (n *node) prove(ctx context.Context) error {
	r, err := probe.Run(ctx, probe.Options{Bucket: n.b, Pause: noPause})
	return probe.Require(n.b.Name(), r, err)
}

func (n *node) land(run string, ids ...int) {
	n.t.Helper()
	var rows []string
	for _, id := range ids {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"v":%q}`, id, run))
	}
	ducktest.Land(n.t, n.st, ducktest.Landing{Table: "docs", Run: run, Columns: []string{"id int64", "v utf8"}, Rows: rows})
}

func (n *node) compact(edit ...func(*compact.Options)) (fold.Report, error) {
	o := compact.Options{Table: "docs", Bucket: n.b, Prove: n.prove, Pause: noPause, Fold: fold.Options{Engine: duck.Options{TempDir: n.t.TempDir()}}}
	for _, e := range edit {
		e(&o)
	}
	return compact.Run(ctx, n.st, o)
}

func held(fence int64) func(*compact.Options) {
	return func(o *compact.Options) { o.Held, o.Fence = true, &fence }
}

func (n *node) push() {
	n.t.Helper()
	_, err := push.Run(ctx, n.st, push.Options{Bucket: n.b, Prove: n.prove, Pause: noPause})
	must(n.t, err)
}

func (n *node) pull() {
	n.t.Helper()
	_, err := pull.Run(ctx, n.st, pull.Options{Bucket: n.b, Pause: noPause})
	must(n.t, err)
}

func (n *node) lease() lease.Options {
	return lease.Options{Bucket: n.b, Project: "p", Node: n.name, Clock: n.st.Clock(), Pause: noPause}
}

func (n *node) rows() string {
	n.t.Helper()
	var out bytes.Buffer
	_, err := query.Run(ctx, n.st, query.Options{SQL: `SELECT id, v FROM docs ORDER BY id`, Out: &out, Format: query.CSV, Engine: duck.Options{TempDir: n.t.TempDir()}})
	must(n.t, err)
	return strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ";")
}

func (n *node) local() manifest.Pointer {
	n.t.Helper()
	tab, err := n.st.TableAt("docs")
	must(n.t, err)
	p, _, err := tab.Pointer()
	must(n.t, err)
	return p
}

func (n *node) remote() *manifest.Pointer {
	n.t.Helper()
	body, _, ok := n.s3.Get("bkt", "team/p/tables/docs/_pointer.json")
	if !ok {
		return nil
	}
	p, err := manifest.DecodePointer("pointer", body)
	must(n.t, err)
	return p
}

func (n *node) snapshots() []string {
	list, _ := os.ReadDir(n.st.Root() + "/tables/docs/data/snapshots")
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func newFake(t *testing.T) *s3cas.Server {
	t.Helper()
	s3, err := s3cas.New(s3cas.Options{Buckets: []string{"bkt"}}).Start()
	must(t, err)
	t.Cleanup(func() { _ = s3.Close() })
	return s3
}

var noon = ducktest.Epoch.Add(time.Hour)

func TestCompactionUnderALease(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1, 2)
	a.push()
	b := newNode(t, s3, "beta", false, noon)
	b.pull()
	b.land("r2", 2, 3)
	b.push()
	before := a.rows()

	r, err := a.compact()
	must(t, err)
	if *r.Fence != 1 || r.Runs != 2 || r.Rows != 3 {
		t.Fatalf("%+v", r)
	}
	if p := a.local(); *p.SnapshotID != r.SnapshotID || *p.Fence != 1 {
		t.Fatalf("local pointer %+v", p)
	}
	if p := a.remote(); *p.SnapshotID != r.SnapshotID || *p.Fence != 1 {
		t.Fatalf("bucket pointer %+v", p)
	}
	l, err := lease.Current(ctx, a.lease(), lease.Compaction("docs"))
	must(t, err)
	if l.Holder != nil || l.Fence != 1 {
		t.Fatalf("the lease was not given back: %+v", l)
	}
	b.pull()
	if got := b.rows(); got != a.rows() || got == before {
		t.Fatalf("beta reads %s, alpha %s, before it was %s", got, a.rows(), before)
	}
	r, err = a.compact()
	must(t, err)
	if r.SnapshotID != "" {
		t.Fatalf("nothing to fold, and yet %+v", r)
	}
}

func TestALeaseThatIsHeldElsewhere(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1)
	a.push()
	b := newNode(t, s3, "beta", false, noon)
	b.pull()
	_, err := lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
	must(t, err)
	_, err = a.compact()
	refused(t, err, fault.LeaseHeld)
	_, err = a.compact(held(1))
	refused(t, err, fault.LeaseNotHeld)
	if len(a.snapshots()) != 0 {
		t.Fatalf("left %v", a.snapshots())
	}
	r, err := b.compact(held(1))
	must(t, err)
	if *r.Fence != 1 || r.SnapshotID == "" {
		t.Fatalf("%+v", r)
	}
	l, err := lease.Current(ctx, b.lease(), lease.Compaction("docs"))
	must(t, err)
	if l.Holder == nil || *l.Holder != "beta" {
		t.Fatalf("a held lease was given back: %+v", l)
	}
}

// TestAPausedHolder is stopped at its last step, the bucket's pointer, while a successor takes the lease and compacts.
func TestAPausedHolder(t *testing.T) {
	for _, successor := range []string{"only takes the lease", "compacts"} {
		t.Run("the successor "+successor, func(t *testing.T) {
			s3 := newFake(t)
			a := newNode(t, s3, "alpha", true, noon)
			a.land("r1", 1, 2)
			a.push()
			b := newNode(t, s3, "beta", false, noon.Add(time.Hour))
			b.pull()
			want := a.rows()
			_, err := lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			must(t, err)
			_, err = s3.InjectText(`(Hold "pointer" before (And PutIfMatch (Principal "alpha") (Key "*/_pointer.json")))`)
			must(t, err)
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(1)); done <- err }()
			must(t, s3.Gate("pointer").WaitHeld(ctx, 1))
			if successor == "compacts" {
				r, err := b.compact()
				must(t, err)
				if *r.Fence != 2 {
					t.Fatalf("%+v", r)
				}
			} else if _, err := lease.Acquire(ctx, b.lease(), lease.Compaction("docs")); err != nil {
				t.Fatal(err)
			}
			stands := a.remote()
			s3.Gate("pointer").Release()
			refused(t, <-done, fault.LeaseFenced)
			if p := a.remote(); fmt.Sprint(p.SnapshotID == nil) != fmt.Sprint(stands.SnapshotID == nil) || *p.Fence != 2 {
				t.Fatalf("the bucket's pointer moved: %+v, was %+v", p, stands)
			}
			if p := a.local(); p.SnapshotID != nil {
				t.Fatalf("the fenced snapshot is visible here: %+v", p)
			}
			if len(a.snapshots()) != 0 {
				t.Fatalf("left %v", a.snapshots())
			}
			if got := a.rows(); got != want {
				t.Fatalf("reads %s, want %s", got, want)
			}
			a.pull()
			b.pull()
			if a.rows() != want || b.rows() != want {
				t.Fatalf("alpha reads %s, beta %s, want %s", a.rows(), b.rows(), want)
			}
			_, err = a.compact(held(1))
			refused(t, err, fault.LeaseFenced)
		})
	}
}

// TestAPausedFirstPublisher sleeps between the snapshot's upload and its pointer while there is no pointer in the bucket at all.
func TestAPausedPlainPushOfAFold(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1)
	a.push()
	b := newNode(t, s3, "beta", false, noon)
	b.pull()
	_, err := fold.Run(ctx, a.st, fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}})
	must(t, err)
	_, err = s3.InjectText(`(Hold "pointer" before (And Put (Principal "alpha") (Key "*/_pointer.json")))`)
	must(t, err)
	var report push.Report
	done := make(chan error, 1)
	go func() {
		var err error
		report, err = push.Run(ctx, a.st, push.Options{Bucket: a.b, Prove: a.prove, Pause: noPause})
		done <- err
	}()
	must(t, s3.Gate("pointer").WaitHeld(ctx, 1))
	_, err = lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
	must(t, err)
	s3.Gate("pointer").Release()
	must(t, <-done)
	if p := a.remote(); p.SnapshotID != nil || *p.Fence != 1 || fmt.Sprint(report.KeptLocal) != "[docs]" {
		t.Fatalf("pointer %+v, %+v", p, report)
	}
}

// TestPointerFaults lets the answer to the last step mislead.
func TestPointerFaults(t *testing.T) {
	for _, f := range []string{
		`(ApplyThenDrop (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
		`(ApplyThen 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
		`(Drop (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
		`(Late 1 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
		`(Respond 409 "ConditionalRequestConflict" (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`,
	} {
		t.Run(f, func(t *testing.T) {
			s3 := newFake(t)
			a := newNode(t, s3, "alpha", true, noon)
			a.land("r1", 1)
			a.push()
			in, err := s3.InjectText(f)
			must(t, err)
			r, err := a.compact()
			must(t, err)
			if p := a.remote(); *p.SnapshotID != r.SnapshotID || *a.local().SnapshotID != r.SnapshotID || in[0].Fired() != 1 {
				t.Fatalf("bucket %+v, local %+v", p, a.local())
			}
		})
	}
}

func TestAnUnknownEndKeepsTheSnapshot(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1)
	a.push()
	_, err := s3.InjectText(`(Drop (And PutIfMatch (Key "*/_pointer.json")))`)
	must(t, err)
	_, err = a.compact()
	refused(t, err, fault.SyncUnreachable)
	if len(a.snapshots()) != 1 || a.local().SnapshotID != nil {
		t.Fatalf("snapshots %v, pointer %+v", a.snapshots(), a.local())
	}
	s3.ClearFaults()
	// The write may still be on its way: neither a fold here nor a pull that sees the old pointer touches the snapshot.
	kept := a.snapshots()[0]
	local, err := fold.Run(ctx, a.at(noon.Add(time.Minute)).st, fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}})
	must(t, err)
	a.pull()
	if got := strings.Join(a.snapshots(), " "); got != kept+" "+local.SnapshotID {
		t.Fatal(got)
	}
	late := a.at(noon.Add(time.Hour))
	late.land("r2", 2)
	r, err := late.compact()
	must(t, err)
	if *r.Fence != 2 || *a.remote().SnapshotID != r.SnapshotID {
		t.Fatalf("%+v", r)
	}
	// Now the pointer is another, without it: the next pull knows, and the next pass removes it.
	late.pull()
	late.land("r3", 3)
	if _, err := fold.Run(ctx, a.at(noon.Add(2*time.Hour)).st, fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(a.snapshots(), kept) {
		t.Error("a snapshot that no pointer can name any more is still kept")
	}
}

// cutOff is a bucket that no answer comes back from once the pointer names a snapshot.
type cutOff struct {
	bucket.Bucket
	cut bool
}

func (b *cutOff) Put(ctx context.Context, k string, body io.ReadSeeker, size int64, cond bucket.Condition) (bucket.Object, error) {
	if b.cut {
		return bucket.Object{}, bucket.ErrTransport
	}
	data, err := io.ReadAll(body)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		return bucket.Object{}, err
	}
	o, err := b.Bucket.Put(ctx, k, body, size, cond)
	if strings.HasSuffix(k, "/_pointer.json") && !bytes.Contains(data, []byte(`"snapshot_id": null`)) {
		b.cut = true
		return bucket.Object{}, bucket.ErrUnknownOutcome
	}
	return o, err
}

func (b *cutOff) Get(ctx context.Context, k string) (io.ReadCloser, bucket.Object, error) {
	if b.cut {
		return nil, bucket.Object{}, bucket.ErrTransport
	}
	return b.Bucket.Get(ctx, k)
}

// A publication that reached the bucket behind our back is the table's own once a pull has seen it.
func TestALatePublicationIsPulled(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1)
	a.push()
	_, err := a.compact(func(o *compact.Options) { o.Bucket = &cutOff{Bucket: o.Bucket} })
	refused(t, err, fault.SyncUnreachable)
	kept := a.snapshots()
	if len(kept) != 1 || *a.remote().SnapshotID != kept[0] || a.local().SnapshotID != nil {
		t.Fatalf("snapshots %v, bucket %+v, here %+v", kept, a.remote(), a.local())
	}
	marker := a.st.Root() + "/tables/docs/data/snapshots/" + kept[0] + "/.kept"
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
	a.pull()
	if p := a.local(); p.SnapshotID == nil || *p.SnapshotID != kept[0] {
		t.Fatalf("%+v", p)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the snapshot is in the chain and still marked")
	}
	if got := a.rows(); got != "id,v;1,r1" {
		t.Error(got)
	}
}

func TestAnUnprovenBucket(t *testing.T) {
	s3 := newFake(t)
	a := newNode(t, s3, "alpha", true, noon)
	a.land("r1", 1)
	a.push()
	must(t, s3.SetMode("ignore_if_match"))
	_, err := a.compact()
	refused(t, err, fault.SyncCoordinationUnproven)
	if len(a.snapshots()) != 0 || a.remote() != nil {
		t.Fatal("something was written")
	}
}
