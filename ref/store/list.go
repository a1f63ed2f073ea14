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
}

// ListRuns lists the visible committed runs on this disk, folded ones included, in commit order. Refusals as Resolve's.
func (t *Table) ListRuns(ctx context.Context) ([]RunInfo, error) {
	p, _, err := t.Pointer()
	if err != nil {
		return nil, err
	}
	chain, err := t.Chain(ctx, p.SnapshotID)
	if err != nil {
		return nil, err
	}
	refs, err := t.runDirs()
	if err != nil {
		return nil, err
	}
	folded, log := FoldedRuns(chain), &commitLogs{t: t}
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
		info := RunInfo{Run: m}
		if by := folded[r.key()]; by != nil {
			info.FoldedIn = by.SnapshotID
		} else if visible, err := log.visible(m); err != nil {
			return nil, err
		} else if !visible {
			continue
		}
		runs = append(runs, info)
	}
	slices.SortFunc(runs, func(a, b RunInfo) int { return a.Frontier().Compare(b.Frontier()) })
	return runs, nil
}

// ListSnapshots lists the snapshots reachable from the pointer, newest first.
func (t *Table) ListSnapshots(ctx context.Context) ([]*manifest.Snapshot, error) {
	p, _, err := t.Pointer()
	if err != nil {
		return nil, err
	}
	return t.Chain(ctx, p.SnapshotID)
}
