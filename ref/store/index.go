package store

import (
	"context"
	"slices"

	"contextful/ref/manifest"
)

// tierSegments of one size tier are merged into one.
const tierSegments = 4

// WriteFoldedRuns writes the folded-runs index of a pass that folds the runs of v, and gives what its manifest carries
// (store.fold.folded-index): the first valid index of the chain below by reference, and one new segment of the runs walked
// above it and those of this pass; over a walk to the root, all of them. Where 4 segments of one size tier come together
// they are merged into one. It is for the pass to call before Seal. Refusals: StoreWriteFailed.
//
// What is folded is v's to know, and a View exists only over a chain that was read to a valid index or to the root: an
// index never names fewer runs than the walk.
func (p *Pass) WriteFoldedRuns(ctx context.Context, v *View) (*manifest.FoldedRuns, error) {
	f := v.Folded
	if err := f.Load(ctx); err != nil {
		return nil, err
	}
	var fresh []FoldedRun
	for _, m := range slices.Concat(v.Runs, v.Superseded) {
		fresh = append(fresh, foldedRow(m.Key(), p.id, m))
	}
	for k, in := range f.in {
		if in.row != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, node, _ := manifest.SplitRunKey(k)
		m, err := p.t.ReadRun(run, node)
		if err != nil {
			m = nil // nobody reads the manifest of a folded run: its row does not know what it says
		}
		fresh = append(fresh, foldedRow(k, in.snapshot, m))
	}
	segments := slices.Clone(f.segments)
	if len(fresh) > 0 {
		segments = append(segments, segmentRows{rows: fresh})
	}
	segments = mergeTiers(segments)
	index := &manifest.FoldedRuns{Through: p.id, Segments: []manifest.Segment{}}
	written := 0
	for _, s := range segments {
		if s.Name == "" {
			var err error
			if s.Segment, err = p.writeSegment(written, s.rows); err != nil {
				return nil, err
			}
			written++
		}
		index.Segments = append(index.Segments, s.Segment)
	}
	return index, nil
}

// mergeTiers merges until every tier holds fewer than 4 segments. A merged one has no name yet.
func mergeTiers(segments []segmentRows) []segmentRows {
	for {
		tiers := map[int][]int{}
		full := -1
		for i, s := range segments {
			n := tier(len(s.rows))
			if tiers[n] = append(tiers[n], i); len(tiers[n]) == tierSegments {
				full = n
				break
			}
		}
		if full < 0 {
			return segments
		}
		var merged segmentRows
		for _, i := range tiers[full] {
			merged.rows = append(merged.rows, segments[i].rows...)
		}
		var left []segmentRows
		for i, s := range segments {
			if !slices.Contains(tiers[full], i) {
				left = append(left, s)
			}
		}
		segments = append(left, merged)
	}
}
