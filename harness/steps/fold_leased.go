package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the fold operation where a pass publishes to a bucket.
func registerFoldLeased(s *Suite) {
	s.Step(`^a rival puts the bucket's pointer of "([^"]*)" back to the snapshot before$`, rivalPutsBack)
	s.Step(`^the bucket's pointer of "([^"]*)" is the rival's$`, pointerIsRivals)
	s.Step("^(\\w+) folds \"([^\"]*)\" under the lease, and its publication meets `([^`]+)`$", publicationMeets)
	s.Step(`^(\w+)'s leased fold fails$`, leasedFoldFails)
	s.Step(`^(\w+)'s leased fold took the lease of "([^"]*)" before it wrote anything else$`, tookLeaseFirst)
	s.Step(`^the snapshot that the bucket's pointer of "([^"]*)" names has the fence (\d+|null) in its manifest$`, bucketSnapshotFence)
	s.Step(`^(\w+)'s own pointer of "([^"]*)" has the fence (\d+|null)$`, ownPointerFence)
	s.Step(`^the bucket's pointer of "([^"]*)" is what it was when the kit looked$`, pointerAsLooked)
}

// publishedSnapshot reads the manifest of the snapshot that the bucket's pointer names.
func publishedSnapshot(ctx context.Context, table string) (inspect.PointerDoc, inspect.SnapshotDoc, error) {
	w := world.From(ctx)
	p, err := bucketPointer(ctx, table)
	if err != nil {
		return p, inspect.SnapshotDoc{}, err
	}
	key := w.TableKey(table, "data/snapshots/"+p.SnapshotID+"/_manifest.json")
	text, err := w.Bucket().Get(ctx, key)
	if err != nil {
		return p, inspect.SnapshotDoc{}, bucketMissing(err, "the snapshot that the bucket's pointer names is there", key)
	}
	doc, err := inspect.DecodeSnapshot(key, text)
	return p, doc, err
}

// rivalPutsBack writes the pointer as one who restores an older state would: the fence stays, so only the ETag tells.
func rivalPutsBack(ctx context.Context, table string) error {
	w := world.From(ctx)
	p, snap, err := publishedSnapshot(ctx, table)
	if err != nil {
		return err
	}
	if snap.Parent == "" {
		return fmt.Errorf("the snapshot %s has none before it", p.SnapshotID)
	}
	w.Values["fold.rival"] = snap.Parent
	text := fmt.Sprintf(`{"snapshot_id": %q, "fence": %s}`, snap.Parent, fenceText(p.Fence))
	return w.Bucket().Put(ctx, w.TableKey(table, "_pointer.json"), []byte(text))
}

func pointerIsRivals(ctx context.Context, table string) error {
	p, err := bucketPointer(ctx, table)
	if err != nil {
		return err
	}
	want, _ := world.From(ctx).Values["fold.rival"].(string)
	return verify.Equal("the snapshot that the bucket's pointer of "+table+" names", want, p.SnapshotID)
}

// publicationMeets lets the fault act on the publication and not on the raising of the fence before the work.
func publicationMeets(ctx context.Context, node, table, fault string) error {
	w := world.From(ctx)
	n := w.Node(node)
	who := world.Who(n, string(sut.SyncCompact))
	t, err := heldAtUpload(ctx, n, table)
	if err != nil {
		return err
	}
	if _, err := w.Inject(fmt.Sprintf("(%s (And Put %s %s (OnIndex 0)))", fault, who, w.Key(w.TableKey(table, "_pointer.json")))); err != nil {
		return err
	}
	if err := w.Release(uploadGate); err != nil {
		return err
	}
	_, err = w.Finish(ctx, t)
	return err
}

func leasedFoldFails(ctx context.Context, node string) error {
	c, err := outcome(ctx, "leased fold", node)
	if err != nil {
		return err
	}
	return verify.That(!c.OK() && !c.Panicked, node+"'s leased fold fails", "a refusal", verify.Outcome(c.Result))
}

// tookLeaseFirst looks at the order in which the fold's writes took effect; sentinels of a probe do not count.
func tookLeaseFirst(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	lease := w.FullKey(w.StoreKey("leases/compact/" + table + ".json"))
	var first, others []s3cas.Entry
	puts, err := w.Requests(w.Node(node), sut.SyncCompact, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Status: 200})
	for _, e := range puts {
		switch {
		case e.Key == lease && len(first) == 0:
			first = append(first, e)
		case e.Key != lease && !strings.Contains(e.Key, "_contextful/cas-probe/"):
			others = append(others, e)
		}
	}
	if err != nil {
		return err
	}
	return verify.Before(node+"'s fold takes the lease before it writes anything else", first, others)
}

func bucketSnapshotFence(ctx context.Context, table, fence string) error {
	_, doc, err := publishedSnapshot(ctx, table)
	if err != nil {
		return err
	}
	return verify.Equal("the fence in the manifest of "+doc.SnapshotID, fence, fenceText(doc.Fence))
}

func ownPointerFence(ctx context.Context, node, table, fence string) error {
	p, err := inspect.Pointer(world.From(ctx).Node(node).Root(), table)
	if errors.Is(err, fs.ErrNotExist) {
		return verify.Fail(node+" has a pointer of "+table, "a _pointer.json", "there is none")
	}
	if err != nil {
		return err
	}
	return verify.Equal("the fence of "+node+"'s own pointer of "+table, fence, fenceText(p.Fence))
}

func pointerAsLooked(ctx context.Context, table string) error {
	then, err := lookedAt(ctx)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	now, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	key := w.TableKey(table, "_pointer.json")
	return verify.Equal("the bytes of the bucket's pointer of "+table, then.state[key], now[key])
}
