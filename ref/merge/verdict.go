package merge

import (
	"context"
	"slices"

	"contextful/ref/manifest"
	"contextful/ref/store"
)

// Verdict is how a local pointer lies to the bucket's.
type Verdict int

const (
	// Same: both name the same snapshot, the bucket's fence is at least ours; or neither names any.
	Same Verdict = iota
	// Ahead: ours descends from the bucket's (or only ours names a snapshot, or raises the fence of the same one), and its
	// fence is not below: it may be published.
	Ahead
	// Behind: the bucket's descends from ours.
	Behind
	// Fenced: ours would be Ahead or Diverged, and the bucket carries a higher fence.
	Fenced
	// Diverged: neither descends from the other.
	Diverged
)

// Compare judges a table's local pointer against the bucket's. Ancestry is read from local manifests where they are here and from
// the bucket otherwise. Refusals: those of reading manifests; StoreChainBroken for a broken local chain.
func (r *Remote) Compare(ctx context.Context, t *store.Table, local, remote manifest.Pointer) (Verdict, error) {
	below := manifest.FenceBelow(local.Fence, remote.Fence)
	switch {
	case local.SnapshotID == nil && remote.SnapshotID == nil:
		return Same, nil
	case local.SnapshotID == nil:
		return Behind, nil
	case remote.SnapshotID == nil && below:
		return Fenced, nil
	case remote.SnapshotID == nil:
		return Ahead, nil
	case *local.SnapshotID == *remote.SnapshotID && manifest.FenceBelow(remote.Fence, local.Fence):
		return Ahead, nil
	case *local.SnapshotID == *remote.SnapshotID:
		return Same, nil
	}
	lineage, err := t.Lineage(ctx, local.SnapshotID)
	if err != nil {
		return 0, err
	}
	ahead := slices.ContainsFunc(lineage.Chain, func(m *manifest.Snapshot) bool { return m.SnapshotID == *remote.SnapshotID })
	if end := lineage.Ends(); !ahead && end != "" {
		// What this disk no longer keeps of its chain the bucket may.
		if ahead, err = r.Descends(ctx, t, end, *remote.SnapshotID); err != nil {
			return 0, err
		}
	}
	switch {
	case ahead && below:
		return Fenced, nil
	case ahead:
		return Ahead, nil
	}
	behind, err := r.Descends(ctx, t, *remote.SnapshotID, *local.SnapshotID)
	switch {
	case err != nil:
		return 0, err
	case behind:
		return Behind, nil
	case below:
		return Fenced, nil
	default:
		return Diverged, nil
	}
}

// Descends tells whether ancestor is among the parents of head (or is head), reading manifests from disk or bucket. A manifest
// that is in neither, or a loop, ends the search.
func (r *Remote) Descends(ctx context.Context, t *store.Table, head, ancestor string) (bool, error) {
	seen := map[string]bool{}
	for at := head; !seen[at]; {
		if at == ancestor {
			return true, nil
		}
		seen[at] = true
		m, err := t.ReadSnapshot(at)
		if err == nil && m == nil {
			m, err = r.Snapshot(ctx, t.Name(), at)
		}
		if err != nil || m == nil || m.Parent == nil {
			return false, err
		}
		at = *m.Parent
	}
	return false, nil
}
