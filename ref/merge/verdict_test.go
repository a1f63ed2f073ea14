package merge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/merge"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func id(n int64) *string { s := key.SnapshotID(n); return &s }
func num(n int64) *int64 { return &n }

// TestCompare: here lies the chain 1 ← 2 ← 3, in the bucket 1 ← 2 ← 4 and a stray 9.
func TestCompare(t *testing.T) {
	ctx := context.Background()
	m, b := vfs.NewMem(), bucket.NewMemory()
	s, err := store.Open(ctx, store.Options{Root: "/s", Node: "n", FS: m, Project: &decl.Project{Name: "p"}, Clock: clock.Fixed{Instant: time.Unix(9, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(n int64, parent *string, local bool) {
		data, err := manifest.EncodeSnapshot(&manifest.Snapshot{SnapshotID: *id(n), Table: "t", Parent: parent, CreatedAt: manifest.At(time.Unix(n, 0))})
		if err != nil {
			t.Fatal(err)
		}
		rel := key.SnapshotManifest("t", *id(n))
		if !local {
			b.Set("p/"+rel, data)
			return
		}
		if err := m.MkdirAll("/s/" + key.SnapshotDir("t", *id(n))); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(m, "/s/"+rel, data); err != nil {
			t.Fatal(err)
		}
	}
	write(1, nil, true)
	write(2, id(1), true)
	write(3, id(2), true)
	write(4, id(2), false)
	write(9, nil, false)
	r, err := merge.NewRemote(s, b, noPause)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := s.TableAt("t")
	if err != nil {
		t.Fatal(err)
	}
	names := map[merge.Verdict]string{merge.Same: "same", merge.Ahead: "ahead", merge.Behind: "behind", merge.Fenced: "fenced", merge.Diverged: "diverged"}
	for _, c := range []struct {
		local, remote           *string
		localFence, remoteFence *int64
		want                    merge.Verdict
	}{
		{nil, nil, nil, num(3), merge.Same},
		{nil, id(4), nil, nil, merge.Behind},
		{id(1), nil, nil, nil, merge.Ahead},
		{id(1), nil, nil, num(1), merge.Fenced},
		{id(1), nil, num(1), num(1), merge.Ahead},
		{id(2), id(2), nil, nil, merge.Same},
		{id(2), id(2), nil, num(5), merge.Same},
		{id(2), id(2), num(6), num(5), merge.Ahead},
		{id(3), id(1), nil, nil, merge.Ahead},
		{id(3), id(1), num(1), num(2), merge.Fenced},
		{id(3), id(1), num(2), num(2), merge.Ahead},
		{id(3), id(1), num(2), nil, merge.Ahead},
		{id(2), id(4), nil, nil, merge.Behind},
		{id(1), id(4), nil, num(7), merge.Behind},
		{id(3), id(4), nil, nil, merge.Diverged},
		{id(3), id(4), num(8), num(7), merge.Diverged},
		{id(3), id(4), num(6), num(7), merge.Fenced},
		{id(3), id(9), nil, nil, merge.Diverged},
		{id(3), id(77), nil, nil, merge.Diverged}, // a snapshot that is nowhere
	} {
		got, err := r.Compare(ctx, tab, manifest.Pointer{SnapshotID: c.local, Fence: c.localFence}, manifest.Pointer{SnapshotID: c.remote, Fence: c.remoteFence})
		if err != nil || got != c.want {
			t.Errorf("%s against %s: %s (%v), want %s", show(c.local, c.localFence), show(c.remote, c.remoteFence), names[got], err, names[c.want])
		}
	}
}

func show(id *string, fence *int64) string {
	text := "none"
	if id != nil {
		text = (*id)[len(*id)-2:]
	}
	if fence != nil {
		text += fmt.Sprintf(" fence %d", *fence)
	}
	return text
}
