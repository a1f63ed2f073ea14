package nodetest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/probe"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/schema"
	"contextful/ref/store"

	"github.com/stretchr/testify/require"
)

// Node is a store on a disk of its own. Its clock stands at Sec (Unix seconds), one more after each landing and fold.
type Node struct {
	Name    string
	Root    string
	Project *decl.Project
	Bucket  bucket.Bucket
	Sec     int64

	t   testing.TB
	mu  sync.Mutex
	log []string
}

func (n *Node) options() store.Options {
	return store.Options{Root: n.Root, Node: n.Name, Project: n.Project, Clock: clock.Fixed{Instant: time.Unix(n.Sec, 0)},
		Log: func(line string) { n.mu.Lock(); defer n.mu.Unlock(); n.log = append(n.log, line) }}
}

// At is the same machine when its clock shows another time; what it says is its own.
func (n *Node) At(sec int64) *Node {
	return &Node{Name: n.Name, Root: n.Root, Project: n.Project, Bucket: n.Bucket, Sec: sec, t: n.t}
}

// Log is what the node's store said so far, a line each.
func (n *Node) Log() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.log)
}

func (n *Node) Init() {
	n.t.Helper()
	_, _, err := store.Init(context.Background(), n.options())
	require.NoError(n.t, err)
}

// Store is the node's store, opened anew.
func (n *Node) Store() *store.Store {
	n.t.Helper()
	s, err := store.Open(context.Background(), n.options())
	require.NoError(n.t, err)
	return s
}

func (n *Node) Table(name string) *store.Table {
	n.t.Helper()
	tab, err := n.Store().TableAt(name)
	require.NoError(n.t, err)
	return tab
}

// Pointer is the node's own pointer of a table, nil where there is none.
func (n *Node) Pointer(table string) *manifest.Pointer {
	n.t.Helper()
	p, etag, err := n.Table(table).Pointer()
	require.NoError(n.t, err)
	if etag == "" {
		return nil
	}
	return &p
}

// Land commits a run of two parts, whose bytes say what they are, and a schema with one column named after each of cols.
func (n *Node) Land(table, run string, cols ...string) {
	n.t.Helper()
	n.Sec++
	tab := n.Table(table)
	l, err := tab.Lock(context.Background())
	require.NoError(n.t, err)
	defer func() { require.NoError(n.t, l.Release()) }()
	n.grow(l, cols)
	next, err := l.NextCommitSeq(context.Background())
	require.NoError(n.t, err)
	w, err := l.BeginRun(context.Background(), run)
	require.NoError(n.t, err)
	m := &manifest.Run{CommitSeq: &next.Seq, CommittedAt: next.CommittedAt(n.Store().Clock()), RowCount: 2}
	for i := range 2 {
		name := key.PartName(i)
		n.Write(path.Join(w.Dir(), name), fmt.Sprintf("part %d of %s of %s", i, run, n.Name))
		m.Parts = append(m.Parts, manifest.Part{Name: name, Rows: 1})
	}
	require.NoError(n.t, w.Commit(context.Background(), m))
}

func (n *Node) grow(l *store.Lock, cols []string) {
	n.t.Helper()
	arriving := &schema.Schema{}
	for _, c := range append([]string{"id"}, cols...) {
		typ, err := schema.ParseType("utf8")
		require.NoError(n.t, err)
		arriving.Columns = append(arriving.Columns, schema.Column{Name: c, Type: typ, Nullable: true})
	}
	merged, grown, err := l.MergeSchema(arriving, nil)
	require.NoError(n.t, err)
	if grown {
		require.NoError(n.t, l.WriteSchema(merged))
	}
}

// Write makes a file whose directory is there.
func (n *Node) Write(name, text string) {
	n.t.Helper()
	f, err := n.Store().FS().Create(name)
	require.NoError(n.t, err)
	_, err = f.Write([]byte(text))
	require.NoError(n.t, err)
	require.NoError(n.t, f.Sync())
	require.NoError(n.t, f.Close())
}

// Fold makes a snapshot of one part on top of the local pointer and publishes it locally, under a fence where one is given.
func (n *Node) Fold(table string, fence ...int64) string {
	n.t.Helper()
	n.Sec++
	var under *int64
	if len(fence) > 0 {
		under = &fence[0]
	}
	tab := n.Table(table)
	p, etag, err := tab.Pointer()
	require.NoError(n.t, err)
	created := manifest.At(n.Store().Clock().Now())
	pass, err := tab.BeginPass(context.Background(), created, p.SnapshotID)
	require.NoError(n.t, err)
	n.Write(path.Join(pass.Dir(), key.PartName(0)), "snapshot part of "+n.Name+" "+pass.ID())
	require.NoError(n.t, pass.Seal(context.Background(), &manifest.Snapshot{Parent: p.SnapshotID, CreatedAt: created, Fence: under, RowCount: 1,
		Parts: []manifest.Part{{Name: key.PartName(0), Rows: 1}}}))
	id := pass.ID()
	require.NoError(n.t, tab.SwapPointer(context.Background(), etag, manifest.Pointer{SnapshotID: &id, Fence: under}))
	pass.Close()
	return id
}

// Prove is a push's proof of the bucket: a probe.
func (n *Node) Prove(ctx context.Context) error {
	r, err := probe.Run(ctx, probe.Options{Bucket: n.Bucket, Pause: NoPause})
	return probe.Require(n.Bucket.Name(), r, err)
}

// PushOptions are those that Push goes by.
func (n *Node) PushOptions() push.Options {
	return push.Options{Bucket: n.Bucket, Pause: NoPause, Transfers: 4, Prove: n.Prove}
}

func (n *Node) Push() (push.Report, error) {
	return push.Run(context.Background(), n.Store(), n.PushOptions())
}

func (n *Node) Pull() (pull.Report, error) {
	return pull.Run(context.Background(), n.Store(), pull.Options{Bucket: n.Bucket, Pause: NoPause})
}

func (n *Node) MustPush() push.Report {
	n.t.Helper()
	r, err := n.Push()
	require.NoError(n.t, err)
	return r
}

func (n *Node) MustPull() pull.Report {
	n.t.Helper()
	r, err := n.Pull()
	require.NoError(n.t, err)
	return r
}

// Has tells whether a path below the store root is there.
func (n *Node) Has(rel string) bool {
	_, err := os.Stat(filepath.Join(n.Root, rel))
	return err == nil
}

// Files lists what lies below the store root, without locks.
func (n *Node) Files() []string {
	var out []string
	_ = filepath.WalkDir(n.Root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(name, ".lock") {
			out = append(out, strings.TrimPrefix(name, n.Root+"/"))
		}
		return nil
	})
	return out
}
