package store

import (
	"context"
	"slices"

	"contextful/ref/manifest"
)

// RunInfo is a committed run and where it went.
type RunInfo struct {
	*manifest.Run
	// FoldedIn is the chain snapshot that names it, "" where none does.
	FoldedIn string
	// Gone: its manifest is not on this disk any more, and what Run says is the folded-runs index's row.
	Gone bool
}

// ListRuns lists the visible committed runs in commit order, folded ones included: those on this disk, and those whose
// manifest is gone and that the folded-runs index still has a row of. Refusals as Resolve's.
func (t *Table) ListRuns(ctx context.Context) ([]RunInfo, error) {
	p, _, err := t.Pointer()
	if err != nil {
		return nil, err
	}
	folded, err := t.Folded(ctx, p.SnapshotID)
	if err != nil {
		return nil, err
	}
	return t.listRuns(ctx, folded)
}

func (t *Table) listRuns(ctx context.Context, folded *Folded) ([]RunInfo, error) {
	refs, err := t.runDirs()
	if err != nil {
		return nil, err
	}
	log, here := &commitLogs{t: t}, map[string]bool{}
	var runs []RunInfo
	for _, r := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := t.ReadRun(r.run, r.node)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		here[r.key()] = true
		info := RunInfo{Run: m}
		if by, ok := folded.In(r.key()); ok {
			info.FoldedIn = by
		} else if visible, err := log.visible(m); err != nil {
			return nil, err
		} else if !visible {
			continue
		}
		runs = append(runs, info)
	}
	for k := range folded.Keys() {
		if row := folded.Row(k); row != nil && !here[k] {
			runs = append(runs, RunInfo{Run: t.gone(row), FoldedIn: row.SnapshotID, Gone: true})
		}
	}
	slices.SortFunc(runs, func(a, b RunInfo) int { return a.Frontier().Compare(b.Frontier()) })
	return runs, nil
}

// gone is what a row of the index tells of a run.
func (t *Table) gone(row *FoldedRun) *manifest.Run {
	run, node, _ := manifest.SplitRunKey(row.RunKey)
	m := &manifest.Run{Table: t.name, RunID: run, NodeID: node, CommittedAt: row.CommittedAt, CommitSeq: row.CommitSeq,
		BatchDigest: row.BatchDigest, RowCount: manifest.RowsUnknown}
	if row.Rows != nil {
		m.RowCount = *row.Rows
	}
	return m
}

// SnapshotInfo is a snapshot of the chain whose manifest is here. Collected: it carries a collection's marker, its parts
// need not be here.
type SnapshotInfo struct {
	*manifest.Snapshot
	Collected bool
}

// ListSnapshots lists the snapshots reachable from the pointer, newest first, down to the root or to the last one whose
// manifest is here. Refusals as Resolve's.
func (t *Table) ListSnapshots(ctx context.Context) ([]SnapshotInfo, error) {
	p, _, err := t.Pointer()
	if err != nil {
		return nil, err
	}
	f, err := t.Lineage(ctx, p.SnapshotID)
	if err != nil {
		return nil, err
	}
	var list []SnapshotInfo
	for _, m := range f.Chain {
		collected, err := t.collected(m)
		if err != nil {
			return nil, err
		}
		list = append(list, SnapshotInfo{m, collected})
	}
	return list, nil
}
