package pull_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"contextful/fakes/s3cas"
	"contextful/ref/bucket"
	"contextful/ref/bucket/s3bucket"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/probe"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/schema"
	"contextful/ref/store"
)

var ctx = context.Background()

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, err error, code fault.Code, words ...string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("%v does not name %q", err, w)
		}
	}
}

// world is a fake S3 and nodes that share it.
type world struct {
	t  testing.TB
	s3 *s3cas.Server
}

func newWorld(t *testing.T) *world {
	s, err := s3cas.New(s3cas.Options{Buckets: []string{"bkt"}}).Start()
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return &world{t: t, s3: s}
}

type node struct {
	t    testing.TB
	w    *world
	name string
	root string
	b    bucket.Bucket
	sec  int64
	mu   sync.Mutex
	log  []string
}

func (w *world) node(name string) *node {
	w.t.Helper()
	w.s3.AddPrincipal("AK"+name, "SK", name)
	b, err := s3bucket.Open(s3bucket.Options{URL: w.s3.URL(), Region: "us-east-1", PathStyle: true, Bucket: "bkt", AccessKeyID: "AK" + name, SecretAccessKey: "SK"})
	must(w.t, err)
	return &node{t: w.t, w: w, name: name, root: w.t.TempDir() + "/store", b: bucket.Under(b, "team"), sec: 1000}
}

// alpha is a node whose store is initialised.
func (w *world) alpha() *node {
	n := w.node("alpha")
	n.init()
	return n
}

func (n *node) options() store.Options {
	return store.Options{Root: n.root, Node: n.name, Project: &decl.Project{Name: "p"}, Clock: clock.Fixed{Instant: time.Unix(n.sec, 0)},
		Log: func(line string) { n.mu.Lock(); defer n.mu.Unlock(); n.log = append(n.log, line) }}
}

func (n *node) init() {
	n.t.Helper()
	_, _, err := store.Init(ctx, n.options())
	must(n.t, err)
}

func (n *node) store() *store.Store {
	n.t.Helper()
	s, err := store.Open(ctx, n.options())
	must(n.t, err)
	return s
}

func (n *node) table(name string) *store.Table {
	n.t.Helper()
	tab, err := n.store().TableAt(name)
	must(n.t, err)
	return tab
}

// land commits a run of two parts, whose bytes say what they are, and a schema with one column named after each of cols.
func (n *node) land(table, run string, cols ...string) {
	n.t.Helper()
	n.sec++
	tab := n.table(table)
	l, err := tab.Lock(ctx)
	must(n.t, err)
	defer func() { must(n.t, l.Release()) }()
	n.grow(l, cols)
	next, err := l.NextCommitSeq(ctx)
	must(n.t, err)
	w, err := l.BeginRun(ctx, run)
	must(n.t, err)
	m := &manifest.Run{CommitSeq: &next.Seq, CommittedAt: next.CommittedAt(n.store().Clock()), RowCount: 2}
	for i := range 2 {
		name := key.PartName(i)
		n.write(path.Join(w.Dir(), name), fmt.Sprintf("part %d of %s of %s", i, run, n.name))
		m.Parts = append(m.Parts, manifest.Part{Name: name, Rows: 1})
	}
	must(n.t, w.Commit(ctx, m))
}

func (n *node) grow(l *store.Lock, cols []string) {
	n.t.Helper()
	arriving := &schema.Schema{}
	for _, c := range append([]string{"id"}, cols...) {
		typ, err := schema.ParseType("utf8")
		must(n.t, err)
		arriving.Columns = append(arriving.Columns, schema.Column{Name: c, Type: typ, Nullable: true})
	}
	merged, grown, err := l.MergeSchema(arriving, nil)
	must(n.t, err)
	if grown {
		must(n.t, l.WriteSchema(merged))
	}
}

func (n *node) write(name, text string) {
	n.t.Helper()
	f, err := n.store().FS().Create(name)
	must(n.t, err)
	_, err = f.Write([]byte(text))
	must(n.t, err)
	must(n.t, f.Sync())
	must(n.t, f.Close())
}

// fold makes a snapshot of one part on top of the local pointer and publishes it locally.
func (n *node) fold(table string, fence *int64) string {
	n.t.Helper()
	n.sec++
	tab := n.table(table)
	p, etag, err := tab.Pointer()
	must(n.t, err)
	created := manifest.At(n.store().Clock().Now())
	pass, err := tab.BeginPass(ctx, created, p.SnapshotID)
	must(n.t, err)
	n.write(path.Join(pass.Dir(), key.PartName(0)), "snapshot part of "+n.name+" "+pass.ID())
	must(n.t, pass.Seal(ctx, &manifest.Snapshot{Parent: p.SnapshotID, CreatedAt: created, Fence: fence, RowCount: 1, Parts: []manifest.Part{{Name: key.PartName(0), Rows: 1}}}))
	id := pass.ID()
	must(n.t, tab.SwapPointer(ctx, etag, manifest.Pointer{SnapshotID: &id, Fence: fence}))
	pass.Close()
	return id
}

func (n *node) options4push() push.Options {
	return push.Options{Bucket: n.b, Pause: noPause, Transfers: 4, Prove: func(ctx context.Context) error {
		r, err := probe.Run(ctx, probe.Options{Bucket: n.b, Pause: noPause})
		return probe.Require(n.b.Name(), r, err)
	}}
}

func (n *node) push() (push.Report, error) { return push.Run(ctx, n.store(), n.options4push()) }

func (n *node) pull() (pull.Report, error) {
	return pull.Run(ctx, n.store(), pull.Options{Bucket: n.b, Pause: noPause})
}

func (n *node) mustPush() push.Report {
	n.t.Helper()
	r, err := n.push()
	must(n.t, err)
	return r
}

func (n *node) mustPull() pull.Report {
	n.t.Helper()
	r, err := n.pull()
	must(n.t, err)
	return r
}

func (w *world) manifest() *manifest.Bucket {
	w.t.Helper()
	body, _, ok := w.s3.Get("bkt", "team/manifest.json")
	if !ok {
		w.t.Fatal("the bucket has no manifest")
	}
	m, err := manifest.DecodeBucket("manifest.json", body)
	must(w.t, err)
	return m
}

func (w *world) pointer(table string) *manifest.Pointer {
	w.t.Helper()
	body, _, ok := w.s3.Get("bkt", "team/p/tables/"+table+"/_pointer.json")
	if !ok {
		return nil
	}
	p, err := manifest.DecodePointer("pointer", body)
	must(w.t, err)
	return p
}

func (w *world) inject(text string) []*s3cas.Injection {
	w.t.Helper()
	in, err := w.s3.InjectText(text)
	must(w.t, err)
	return in
}

func (w *world) puts(key string) int {
	return len(w.s3.JournalFor(s3cas.Filter{Key: key, Ops: []s3cas.Op{s3cas.OpPut}, Where: func(e s3cas.Entry) bool { return e.Principal != "rival" && !e.Late }}))
}

func num(n int64) *int64 { return &n }
