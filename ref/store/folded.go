package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
)

// Folded is what a chain folds, and as much of the chain as had to be read to know it (store.lay-out.folded-index-walk).
type Folded struct {
	// Chain holds the snapshots that were read, newest first: down to the first with a valid index, or to the root. Extend
	// and whole make it longer.
	Chain []*manifest.Snapshot
	// Index is the first valid index found, nil where the walk went to the root without one.
	Index *manifest.FoldedRuns

	t        *Table
	segments []segmentRows // Index's, in its order
	walked   int           // of Chain, how many lie above the index
	in       map[string]foldedIn
	missing  string   // the snapshot id at which Chain ends because its manifest is not here; "" where it ends at the root, or early
	missedBy string   // what names it
	settled  *settled // where a cache stands for the index, which was not read
}

type segmentRows struct {
	manifest.Segment
	rows []FoldedRun
}

type foldedIn struct {
	snapshot string
	row      *FoldedRun // nil where only a walked snapshot names the run
}

// Folded reads a chain from head (a pointer's snapshot_id, nil for none) down to the first snapshot whose folded-runs index
// is valid, or to the root, and tells what the whole chain folds. No manifest below a valid index is read: it may be gone,
// by retention, and the index names what it folded. Refusals: StoreChainBroken where a manifest above every valid index is
// missing (naming it) or the chain loops there; StoreManifestInvalid; StoreManifestFormatNewer.
func (t *Table) Folded(ctx context.Context, head *string) (*Folded, error) {
	f := &Folded{t: t, in: map[string]foldedIn{}}
	err := f.walk(ctx, head, func(m *manifest.Snapshot) (bool, error) {
		segments, err := t.validIndex(ctx, m)
		if err != nil || segments == nil {
			return false, err
		}
		f.Index, f.segments = m.FoldedRuns, segments
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if f.missing != "" {
		return nil, f.broken()
	}
	f.walked = len(f.Chain)
	if f.Index != nil {
		f.walked--
	}
	for _, s := range f.segments {
		for i := range s.rows {
			f.in[s.rows[i].RunKey] = foldedIn{s.rows[i].SnapshotID, &s.rows[i]}
		}
	}
	// The oldest snapshot to name a run is the one that folded it.
	for _, m := range f.Chain[:f.walked] {
		for _, k := range m.IncludesRuns {
			if have, ok := f.in[k]; !ok || have.row == nil {
				f.in[k] = foldedIn{snapshot: m.SnapshotID}
			}
		}
	}
	return f, nil
}

// walk appends to Chain from head downwards until stop says so, the root is reached, or a manifest is missing.
func (f *Folded) walk(ctx context.Context, head *string, stop func(*manifest.Snapshot) (bool, error)) error {
	seen := make(map[string]bool, len(f.Chain))
	by := key.Pointer(f.t.name)
	for _, m := range f.Chain {
		seen[m.SnapshotID] = true
		by = key.SnapshotManifest(f.t.name, m.SnapshotID)
	}
	for at := head; at != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		rel := key.SnapshotManifest(f.t.name, *at)
		if seen[*at] {
			return fault.New(fault.StoreChainBroken, rel, fmt.Sprintf("the snapshots of table %q loop: %s is its own ancestor", f.t.name, *at))
		}
		seen[*at] = true
		m, err := f.t.ReadSnapshot(*at)
		if err != nil {
			return err
		}
		if m == nil {
			f.missing, f.missedBy = *at, by
			return nil
		}
		f.Chain = append(f.Chain, m)
		enough, err := stop(m)
		if err != nil || enough {
			return err
		}
		at, by = m.Parent, rel
	}
	return nil
}

func (f *Folded) broken() error {
	rel := key.SnapshotManifest(f.t.name, f.missing)
	return fault.New(fault.StoreChainBroken, rel, fmt.Sprintf("%s is missing, %s names it, and no snapshot above it has a valid folded-runs index", rel, f.missedBy)).
		WithHint("sync pull brings home what the bucket still has; without the manifest nothing says which runs are folded")
}

// extend follows the parents on until stop says so, for a reader that needs more than what is folded. A manifest that is
// missing there ends the chain: what it folded is in the index.
func (f *Folded) extend(ctx context.Context, stop func(*manifest.Snapshot) bool) error {
	if len(f.Chain) == 0 || f.missing != "" {
		return nil
	}
	return f.walk(ctx, f.Chain[len(f.Chain)-1].Parent, func(m *manifest.Snapshot) (bool, error) { return stop(m), nil })
}

// Ends is the snapshot whose manifest is not here any more and at which Chain ends therefore; "" where it does not.
func (f *Folded) Ends() string { return f.missing }

// Lineage is Folded with the chain followed as far as there are manifests: to the root, or to one that is missing below a
// valid index.
func (t *Table) Lineage(ctx context.Context, head *string) (*Folded, error) {
	f, err := t.Folded(ctx, head)
	if err != nil {
		return nil, err
	}
	return f, f.extend(ctx, func(*manifest.Snapshot) bool { return false })
}

// In tells whether the chain folds a run, and the snapshot that does.
func (f *Folded) In(runKey string) (snapshot string, ok bool) {
	in, ok := f.in[runKey]
	return in.snapshot, ok
}

// Row is the index's row of a run; nil where it has none: not folded, or named only by a snapshot above the index.
func (f *Folded) Row(runKey string) *FoldedRun { return f.in[runKey].row }

// Keys are the keys of all folded runs, in no order.
func (f *Folded) Keys() iter.Seq[string] { return maps.Keys(f.in) }

// Len is their number.
func (f *Folded) Len() int { return len(f.in) }

// validIndex gives the segments of a snapshot's folded-runs index where it can be trusted, nil where not
// (store.lay-out.folded-index-valid): it decodes, is about this snapshot, every segment reads at its digest and number of
// rows, no run is in it twice, and the runs that this very snapshot folds are. The error is for a reader that was stopped.
func (t *Table) validIndex(ctx context.Context, m *manifest.Snapshot) ([]segmentRows, error) {
	segments, err := t.readIndex(ctx, m)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil // damage costs the time of a walk
	}
	return segments, nil
}

var (
	errNoIndex   = errors.New("the snapshot carries no folded_runs")
	errNotOfThis = errors.New("folded_runs does not decode, names files outside the store, or is of another snapshot")
)

// readIndex is validIndex with the reason why an index is none.
func (t *Table) readIndex(ctx context.Context, m *manifest.Snapshot) ([]segmentRows, error) {
	if m.FoldedRuns == nil {
		return nil, errNoIndex
	}
	if !m.FoldedRuns.Describes(m.SnapshotID) {
		return nil, errNotOfThis
	}
	segments := make([]segmentRows, 0, len(m.FoldedRuns.Segments))
	total := 0
	for _, s := range m.FoldedRuns.Segments {
		rel := key.SnapshotDir(t.name, s.SnapshotID) + "/" + s.Name
		rows, err := t.readSegment(ctx, rel, s)
		if errors.Is(err, fs.ErrNotExist) {
			err = fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s is missing, and the manifest of %s names it", rel, m.SnapshotID))
		}
		if err != nil {
			return nil, err
		}
		segments, total = append(segments, segmentRows{s, rows}), total+len(rows)
	}
	seen := make(map[string]struct{}, total)
	for _, s := range segments {
		for _, r := range s.rows {
			if _, twice := seen[r.RunKey]; twice {
				return nil, fmt.Errorf("folded_runs of %s names run %s twice", m.SnapshotID, r.RunKey)
			}
			seen[r.RunKey] = struct{}{}
		}
	}
	for _, k := range m.IncludesRuns {
		if _, there := seen[k]; !there {
			return nil, fmt.Errorf("folded_runs of %s lacks run %s, which includes_runs has", m.SnapshotID, k)
		}
	}
	return segments, nil
}

// origins are the snapshots in whose directories the parts and segments of a manifest lie, its own among them.
func origins(m *manifest.Snapshot) []string {
	ids := []string{m.SnapshotID}
	for _, p := range m.Parts {
		if p.SnapshotID != "" && !slices.Contains(ids, p.SnapshotID) {
			ids = append(ids, p.SnapshotID)
		}
	}
	if m.FoldedRuns != nil {
		for _, s := range m.FoldedRuns.Segments {
			if !slices.Contains(ids, s.SnapshotID) {
				ids = append(ids, s.SnapshotID)
			}
		}
	}
	return ids
}
