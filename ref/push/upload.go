package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/merge"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"golang.org/x/sync/errgroup"
)

// one uploads a file under the condition that nothing is there, or, for what its owner replaces, that it is as read.
func (p *pusher) one(ctx context.Context, k string, e manifest.Entry, total int) error {
	rel, _ := key.WithoutProject(p.r.Project, k)
	if rel == key.RunState(p.s.Node()) {
		return p.put(ctx, k, e, commit.Bytes(p.state), total)
	}
	f, err := p.s.FS().Open(p.s.Path(rel))
	if err != nil {
		return err
	}
	defer f.Close()
	body := commit.Body{Reader: f, Size: e.Size}
	if n, err := hex.Decode(body.Sum[:], []byte(e.SHA256)); err != nil || n != len(body.Sum) {
		return fmt.Errorf("digest %q of %s: %w", e.SHA256, k, err)
	}
	return p.put(ctx, k, e, body, total)
}

// readState reads this node's run state once for a round. A pipeline that commits meanwhile replaces the file: what is listed and
// what is uploaded are the same bytes all the same.
func (p *pusher) readState(wanted map[string]manifest.Entry) error {
	rel := key.RunState(p.s.Node())
	k := p.r.Key(rel)
	if _, ours := wanted[k]; !ours {
		return nil
	}
	data, err := vfs.ReadFile(p.s.FS(), p.s.Path(rel), manifest.MaxRunState)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	p.state = data
	wanted[k] = manifest.Entry{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Owner: p.s.Node()}
	return nil
}

func (p *pusher) put(ctx context.Context, k string, e manifest.Entry, body commit.Body, total int) error {
	rel, _ := key.WithoutProject(p.r.Project, k)
	result, err := commit.Put(ctx, p.o.Bucket, p.r.Pause, k, body, bucket.Condition{IfAbsent: true})
	for n := 0; err == nil && result.Outcome == commit.Moved && mutable(rel) && n < 16; n++ {
		result, err = commit.Put(ctx, p.o.Bucket, p.r.Pause, k, body, bucket.Condition{IfMatch: result.ETag})
	}
	if err != nil {
		return commit.Failure(p.o.Bucket.Name(), k, err)
	}
	if result.Outcome == commit.Moved {
		return conflict(k, e, "another")
	}
	p.count(k, e.Size)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirmed[k] = e
	p.done++
	if p.o.Progress != nil {
		p.o.Progress(p.done, total, p.bytes)
	}
	return nil
}

// judge reads the bucket's pointers by key and decides which local ones this push publishes.
func (p *pusher) judge(ctx context.Context, m *manifest.Bucket) error {
	p.publish, p.kept, p.seen = map[string]bool{}, map[string]string{}, map[string]merge.Pointer{}
	tables := p.r.Tables(m)
	for table := range p.local.Pointers {
		tables[table] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.o.Transfers)
	for table := range tables {
		group.Go(func() error {
			remote, err := p.r.Pointer(ctx, table)
			if _, ours := p.local.Pointers[table]; err != nil || !ours {
				return err
			}
			t, err := p.s.TableAt(table)
			if err != nil {
				return err
			}
			verdict, err := p.verdict(ctx, t, remote)
			if err != nil {
				return err
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			switch verdict {
			case merge.Ahead:
				p.publish[table], p.seen[table] = true, remote
			case merge.Fenced, merge.Diverged:
				p.kept[table] = why(verdict)
			}
			return nil
		})
	}
	return group.Wait()
}

// verdict compares a table's pointers; a candidate that may not be published is a refusal.
func (p *pusher) verdict(ctx context.Context, t *store.Table, remote merge.Pointer) (merge.Verdict, error) {
	local := p.local.Pointers[t.Name()]
	verdict, err := p.r.Compare(ctx, t, local, remote.Pointer)
	if _, candidate := p.o.Candidates[t.Name()]; err != nil || !candidate {
		return verdict, err
	}
	k := p.r.Key(key.Pointer(t.Name()))
	base, based := p.o.Base[t.Name()]
	moved := based && base != remote.ETag
	if remote.SnapshotID != nil && (moved || manifest.FenceBelow(local.Fence, remote.Fence)) {
		// The answer to our own publication may have been lost, and others have built on it since: then it did happen.
		published, err := p.r.Descends(ctx, t, *remote.SnapshotID, *local.SnapshotID)
		if err != nil || published {
			return merge.Same, err
		}
	}
	switch {
	case manifest.FenceBelow(local.Fence, remote.Fence):
		return verdict, fault.New(fault.LeaseFenced, k, fmt.Sprintf("fence %s lost to fence %d, which %s carries: snapshot %s is not published",
			fenceText(local.Fence), *remote.Fence, k, *local.SnapshotID))
	case moved:
		return verdict, fault.New(fault.StorePointerMoved, k, fmt.Sprintf("%s was replaced since snapshot %s began: it is not published", k, *local.SnapshotID)).
			WithHint("compact again: the pass then begins with what stands there now")
	case verdict == merge.Ahead || verdict == merge.Same:
		return verdict, nil
	}
	return verdict, fault.New(fault.SyncPointerDiverged, k, fmt.Sprintf("%s names %s, which snapshot %s does not descend from",
		k, *remote.SnapshotID, *local.SnapshotID)).WithHint("pull first, then compact again")
}

func fenceText(f *int64) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprint(*f)
}

func why(v merge.Verdict) string {
	if v == merge.Fenced {
		return "the bucket's pointer carries a higher fence"
	}
	return "the bucket's pointer is on another branch"
}

// pointers publishes, after the manifest, each pointer that may be (store.push.pointer-fenced). One that another writer overtook
// meanwhile is judged again.
func (p *pusher) pointers(ctx context.Context) error {
	for _, table := range slices.Sorted(maps.Keys(p.publish)) {
		if err := p.pointer(ctx, table); err != nil {
			return err
		}
	}
	for _, table := range slices.Sorted(maps.Keys(p.kept)) {
		p.s.Logf("warning: the pointer of table %q stays local: %s", table, p.kept[table])
	}
	return nil
}

func (p *pusher) pointer(ctx context.Context, table string) error {
	k := p.r.Key(key.Pointer(table))
	t, err := p.s.TableAt(table)
	if err != nil {
		return err
	}
	// What judge read still counts: the swap is conditional on it, so only one who has lost reads again
	// (store.pull.pointer-read).
	remote := p.seen[table]
	for n := range 16 {
		if n > 0 {
			if remote, err = p.r.Pointer(ctx, table); err != nil {
				return err
			}
		}
		verdict, err := p.verdict(ctx, t, remote)
		if err != nil {
			return err
		}
		switch verdict {
		case merge.Same, merge.Behind:
			return nil
		case merge.Fenced, merge.Diverged:
			p.kept[table] = why(verdict)
			return nil
		}
		next := p.local.Pointers[table]
		next.Writer, next.Nonce = p.s.Node(), commit.Nonce()
		data, err := manifest.EncodePointer(&next)
		if err != nil {
			return err
		}
		cond := bucket.Condition{IfMatch: remote.ETag}
		if remote.ETag == "" {
			cond = bucket.Condition{IfAbsent: true}
		}
		result, err := commit.Put(ctx, p.o.Bucket, p.r.Pause, k, commit.Bytes(data), cond)
		if err != nil {
			return commit.Failure(p.o.Bucket.Name(), k, err)
		}
		if result.Outcome == commit.Applied {
			return nil
		}
	}
	return fault.New(fault.SyncUnreachable, k, k+" was replaced by others 16 times in a row").WithHint("run the push again")
}
