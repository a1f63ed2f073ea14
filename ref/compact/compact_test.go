package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/compact"
	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/lease"
	"contextful/ref/manifest"
	"contextful/ref/nodetest"
	"contextful/ref/push"
	"contextful/ref/query"

	"github.com/stretchr/testify/require"
)

const declaration = `
[[pipeline.tables]]
name = "docs"
primary_key = ["id"]
`

var ctx = context.Background()

// node is a nodetest.Node with a keyed table docs, of rows that can be read.
type node struct {
	*nodetest.Node
	t testing.TB
}

func newNode(t *testing.T, w *nodetest.World, name string, init bool, now time.Time) *node {
	t.Helper()
	project, err := decl.ParseProject(filepath.Join(t.TempDir(), decl.FileName), []byte("[project]\nname = \"p\"\n"+declaration))
	require.NoError(t, err)
	n := w.Node(name)
	n.Project, n.Sec = project, now.Unix()
	if init {
		n.Init()
	}
	return &node{n, t}
}

// at is the same node when its clock shows another time.
func (n *node) at(now time.Time) *node { return &node{n.At(now.Unix()), n.t} }

// pair is a node whose run of row 1 is in the bucket, and one that has pulled it.
func pair(t *testing.T) (w *nodetest.World, a, b *node) {
	t.Helper()
	w = nodetest.New(t)
	a = newNode(t, w, "alpha", true, noon)
	a.land("r1", 1)
	a.MustPush()
	b = newNode(t, w, "beta", false, noon)
	b.MustPull()
	return w, a, b
}

func (n *node) land(run string, ids ...int) {
	n.t.Helper()
	var rows []string
	for _, id := range ids {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"v":%q}`, id, run))
	}
	ducktest.Land(n.t, n.Store(), ducktest.Landing{Table: "docs", Run: run, Columns: []string{"id int64", "v utf8"}, Rows: rows})
}

func (n *node) compact(edit ...func(*compact.Options)) (fold.Report, error) {
	o := compact.Options{Table: "docs", Bucket: n.Bucket, Prove: n.Prove, Pause: nodetest.NoPause, Fold: fold.Options{Engine: duck.Options{TempDir: n.t.TempDir()}}}
	for _, e := range edit {
		e(&o)
	}
	return compact.Run(ctx, n.Store(), o)
}

func held(fence int64) func(*compact.Options) {
	return func(o *compact.Options) { o.Held, o.Fence = true, &fence }
}

func (n *node) lease() lease.Options {
	return lease.Options{Bucket: n.Bucket, Project: "p", Node: n.Name, Clock: n.Store().Clock(), Pause: nodetest.NoPause}
}

func (n *node) rows() string {
	n.t.Helper()
	var out bytes.Buffer
	_, err := query.Run(ctx, n.Store(), query.Options{SQL: `SELECT id, v FROM docs ORDER BY id`, Out: &out, Format: query.CSV, Engine: duck.Options{TempDir: n.t.TempDir()}})
	require.NoError(n.t, err)
	return strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ";")
}

func (n *node) local() manifest.Pointer {
	n.t.Helper()
	p, _, err := n.Table("docs").Pointer()
	require.NoError(n.t, err)
	return p
}

func (n *node) snapshots() []string {
	list, _ := os.ReadDir(n.Root + "/tables/docs/data/snapshots")
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

var noon = ducktest.Epoch.Add(time.Hour)

func TestCompactionUnderALease(t *testing.T) {
	w := nodetest.New(t)
	a := newNode(t, w, "alpha", true, noon)
	a.land("r1", 1, 2)
	a.MustPush()
	b := newNode(t, w, "beta", false, noon)
	b.MustPull()
	b.land("r2", 2, 3)
	b.MustPush()
	before := a.rows()

	r, err := a.compact()
	require.NoError(t, err)
	if *r.Fence != 1 || r.Runs != 2 || r.Rows != 3 {
		t.Fatalf("%+v", r)
	}
	if p := a.local(); *p.SnapshotID != r.SnapshotID || *p.Fence != 1 {
		t.Fatalf("local pointer %+v", p)
	}
	if p := w.Pointer("docs"); *p.SnapshotID != r.SnapshotID || *p.Fence != 1 {
		t.Fatalf("bucket pointer %+v", p)
	}
	l, err := lease.Current(ctx, a.lease(), lease.Compaction("docs"))
	require.NoError(t, err)
	if l.Holder != nil || l.Fence != 1 {
		t.Fatalf("the lease was not given back: %+v", l)
	}
	b.MustPull()
	if got := b.rows(); got != a.rows() || got == before {
		t.Fatalf("beta reads %s, alpha %s, before it was %s", got, a.rows(), before)
	}
	r, err = a.compact()
	require.NoError(t, err)
	if r.SnapshotID != "" {
		t.Fatalf("nothing to fold, and yet %+v", r)
	}
}

func TestALeaseThatIsHeldElsewhere(t *testing.T) {
	_, a, b := pair(t)
	_, err := lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
	require.NoError(t, err)
	_, err = a.compact()
	nodetest.Refused(t, err, fault.LeaseHeld)
	_, err = a.compact(held(1))
	nodetest.Refused(t, err, fault.LeaseNotHeld)
	if len(a.snapshots()) != 0 {
		t.Fatalf("left %v", a.snapshots())
	}
	r, err := b.compact(held(1))
	require.NoError(t, err)
	if *r.Fence != 1 || r.SnapshotID == "" {
		t.Fatalf("%+v", r)
	}
	l, err := lease.Current(ctx, b.lease(), lease.Compaction("docs"))
	require.NoError(t, err)
	if l.Holder == nil || *l.Holder != "beta" {
		t.Fatalf("a held lease was given back: %+v", l)
	}
}

// TestAPausedHolder is stopped at its last step, the bucket's pointer, while a successor takes the lease and compacts.
func TestAPausedHolder(t *testing.T) {
	for _, successor := range []string{"only takes the lease", "compacts"} {
		t.Run("the successor "+successor, func(t *testing.T) {
			w := nodetest.New(t)
			a := newNode(t, w, "alpha", true, noon)
			a.land("r1", 1, 2)
			a.MustPush()
			b := newNode(t, w, "beta", false, noon.Add(time.Hour))
			b.MustPull()
			want := a.rows()
			_, err := lease.Acquire(ctx, a.lease(), lease.Compaction("docs"))
			require.NoError(t, err)
			w.Inject(`(Hold "pointer" before (And PutIfMatch (Principal "alpha") (Key "*/_pointer.json")))`)
			done := make(chan error, 1)
			go func() { _, err := a.compact(held(1)); done <- err }()
			require.NoError(t, w.S3.Gate("pointer").WaitHeld(ctx, 1))
			if successor == "compacts" {
				r, err := b.compact()
				require.NoError(t, err)
				if *r.Fence != 2 {
					t.Fatalf("%+v", r)
				}
			} else if _, err := lease.Acquire(ctx, b.lease(), lease.Compaction("docs")); err != nil {
				t.Fatal(err)
			}
			stands := w.Pointer("docs")
			w.S3.Gate("pointer").Release()
			nodetest.Refused(t, <-done, fault.LeaseFenced)
			if p := w.Pointer("docs"); fmt.Sprint(p.SnapshotID == nil) != fmt.Sprint(stands.SnapshotID == nil) || *p.Fence != 2 {
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
			a.MustPull()
			b.MustPull()
			if a.rows() != want || b.rows() != want {
				t.Fatalf("alpha reads %s, beta %s, want %s", a.rows(), b.rows(), want)
			}
			_, err = a.compact(held(1))
			nodetest.Refused(t, err, fault.LeaseFenced)
		})
	}
}

// TestAPausedFirstPublisher sleeps between the snapshot's upload and its pointer while there is no pointer in the bucket at all.
func TestAPausedPlainPushOfAFold(t *testing.T) {
	w, a, b := pair(t)
	_, err := fold.Run(ctx, a.Store(), fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}})
	require.NoError(t, err)
	w.Inject(`(Hold "pointer" before (And Put (Principal "alpha") (Key "*/_pointer.json")))`)
	var report push.Report
	done := make(chan error, 1)
	go func() {
		var err error
		report, err = push.Run(ctx, a.Store(), push.Options{Bucket: a.Bucket, Prove: a.Prove, Pause: nodetest.NoPause})
		done <- err
	}()
	require.NoError(t, w.S3.Gate("pointer").WaitHeld(ctx, 1))
	_, err = lease.Acquire(ctx, b.lease(), lease.Compaction("docs"))
	require.NoError(t, err)
	w.S3.Gate("pointer").Release()
	require.NoError(t, <-done)
	if p := w.Pointer("docs"); p.SnapshotID != nil || *p.Fence != 1 || fmt.Sprint(report.KeptLocal) != "[docs]" {
		t.Fatalf("pointer %+v, %+v", p, report)
	}
}

// TestPointerFaults lets the answer to the last step mislead.
func TestPointerFaults(t *testing.T) {
	for _, f := range nodetest.Misleading("PutIfMatch", "*/_pointer.json") {
		t.Run(f, func(t *testing.T) {
			w := nodetest.New(t)
			a := newNode(t, w, "alpha", true, noon)
			a.land("r1", 1)
			a.MustPush()
			in := w.Inject(f)
			r, err := a.compact()
			require.NoError(t, err)
			if p := w.Pointer("docs"); *p.SnapshotID != r.SnapshotID || *a.local().SnapshotID != r.SnapshotID || in[0].Fired() != 1 {
				t.Fatalf("bucket %+v, local %+v", p, a.local())
			}
		})
	}
}

func TestAnUnknownEndKeepsTheSnapshot(t *testing.T) {
	w := nodetest.New(t)
	a := newNode(t, w, "alpha", true, noon)
	a.land("r1", 1)
	a.MustPush()
	w.Inject(`(Drop (And PutIfMatch (Key "*/_pointer.json")))`)
	_, err := a.compact()
	nodetest.Refused(t, err, fault.SyncUnreachable)
	if len(a.snapshots()) != 1 || a.local().SnapshotID != nil {
		t.Fatalf("snapshots %v, pointer %+v", a.snapshots(), a.local())
	}
	w.S3.ClearFaults()
	// The write may still be on its way: neither a fold here nor a pull that sees the old pointer touches the snapshot.
	kept := a.snapshots()[0]
	local, err := fold.Run(ctx, a.at(noon.Add(time.Minute)).Store(), fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}})
	require.NoError(t, err)
	a.MustPull()
	if got := strings.Join(a.snapshots(), " "); got != kept+" "+local.SnapshotID {
		t.Fatal(got)
	}
	late := a.at(noon.Add(time.Hour))
	late.land("r2", 2)
	r, err := late.compact()
	require.NoError(t, err)
	if *r.Fence != 2 || *w.Pointer("docs").SnapshotID != r.SnapshotID {
		t.Fatalf("%+v", r)
	}
	// Now the pointer is another, without it: the next pull knows, and the next pass removes it.
	late.MustPull()
	late.land("r3", 3)
	if _, err := fold.Run(ctx, a.at(noon.Add(2*time.Hour)).Store(), fold.Options{Table: "docs", Engine: duck.Options{TempDir: t.TempDir()}}); err != nil {
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
	w := nodetest.New(t)
	a := newNode(t, w, "alpha", true, noon)
	a.land("r1", 1)
	a.MustPush()
	_, err := a.compact(func(o *compact.Options) { o.Bucket = &cutOff{Bucket: o.Bucket} })
	nodetest.Refused(t, err, fault.SyncUnreachable)
	kept := a.snapshots()
	if len(kept) != 1 || *w.Pointer("docs").SnapshotID != kept[0] || a.local().SnapshotID != nil {
		t.Fatalf("snapshots %v, bucket %+v, here %+v", kept, w.Pointer("docs"), a.local())
	}
	marker := a.Root + "/tables/docs/data/snapshots/" + kept[0] + "/.kept"
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
	a.MustPull()
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
	w := nodetest.New(t)
	a := newNode(t, w, "alpha", true, noon)
	a.land("r1", 1)
	a.MustPush()
	require.NoError(t, w.S3.SetMode("ignore_if_match"))
	_, err := a.compact()
	nodetest.Refused(t, err, fault.SyncCoordinationUnproven)
	if len(a.snapshots()) != 0 || w.Pointer("docs") != nil {
		t.Fatal("something was written")
	}
}
