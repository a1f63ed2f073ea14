package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/merge"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// runManifests downloads run manifests under temporary names, then gives them their own under each table's lock, so that no
// commit of this node slips between them with a lower sequence (store.pull.run-manifest-last).
func (b *batch) runManifests(ctx context.Context, rels []string) (gone string, err error) {
	temps := map[string]string{}
	stopped := b.each(ctx, rels, func(ctx context.Context, rel string) error {
		tmp, err := b.download(ctx, rel, b.sc.entries[rel])
		if tmp == "" || err != nil {
			return err
		}
		if err := b.whole(rel, tmp); err != nil {
			b.refuse(rel, true, err)
			return b.p.s.FS().Remove(tmp)
		}
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		temps[rel] = tmp
		return nil
	})
	byTable := map[string][]string{}
	for rel := range temps {
		byTable[b.sc.kinds[rel].Table] = append(byTable[b.sc.kinds[rel].Table], rel)
	}
	for _, table := range slices.Sorted(maps.Keys(byTable)) {
		if err := b.show(ctx, table, byTable[table], temps); err != nil && stopped == nil {
			stopped = err
		}
	}
	return b.end(stopped)
}

// whole refuses a run manifest that names a part which is not here: it would be a run that no reader can read. One of a newer
// format is not judged, its readers refuse it themselves.
func (b *batch) whole(rel, tmp string) error {
	data, err := vfs.ReadFile(b.p.s.FS(), tmp, manifest.MaxRun)
	if err != nil {
		return err
	}
	m, err := manifest.DecodeRun(rel, data)
	if errors.Is(err, fault.StoreManifestFormatNewer) {
		return nil
	}
	k := b.p.r.Key(rel)
	if err != nil {
		return fault.New(fault.SyncManifestInvalid, k, k+" in the bucket is no run manifest").Wrap(err)
	}
	for _, part := range m.Parts {
		at := key.RunDir(m.Table, m.RunID, m.NodeID) + "/" + part.Name
		if err := b.p.here(at); err != nil {
			return fault.New(fault.SyncManifestInvalid, k, fmt.Sprintf("%s names the part %s, which the bucket manifest does not list", k, part.Name))
		}
	}
	return nil
}

func (p *puller) here(rel string) error {
	info, err := p.s.FS().Lstat(p.s.Path(rel))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	return err
}

func (b *batch) show(ctx context.Context, table string, rels []string, temps map[string]string) error {
	t, err := b.p.s.TableAt(table)
	if err != nil {
		return err
	}
	slices.Sort(rels)
	shown := 0
	err = t.Admit(ctx, func() error {
		for _, rel := range rels {
			if err := b.p.s.FS().Rename(temps[rel], b.p.s.Path(rel)); err != nil {
				return store.WriteFailed(rel, err)
			}
			b.home(rel, b.sc.entries[rel])
			shown++
		}
		return b.sync()
	})
	for _, rel := range rels[shown:] {
		_ = b.p.s.FS().Remove(temps[rel])
	}
	return err
}

// move is one pointer that will be written.
type move struct {
	table *store.Table
	etag  store.ETag
	next  manifest.Pointer
}

// advance judges every table's pointer and then writes those that move (store.pull.pointer-advance). A local fold that replaces
// one in between is judged anew.
func (p *puller) advance(ctx context.Context, sc *scene) error {
	for range 3 {
		moves, err := p.moves(ctx, sc)
		if err != nil {
			return err
		}
		moved := false
		for _, m := range moves {
			err := m.table.SwapPointer(ctx, m.etag, m.next)
			if errors.Is(err, fault.StorePointerMoved) || errors.Is(err, fault.LeaseFenced) {
				moved = true
				continue
			}
			if err != nil {
				return err
			}
			p.report.Advanced = append(p.report.Advanced, m.table.Name())
		}
		if !moved {
			return p.settle(ctx, sc)
		}
	}
	return fault.New(fault.StorePointerMoved, p.s.Root(), "local folds replaced a pointer three times while the pull advanced it").WithHint("run the pull again")
}

// settle tells this node's kept snapshots apart: one that the chain here has by now, and one whose publication the bucket's
// pointer has overtaken, are kept no longer.
func (p *puller) settle(ctx context.Context, sc *scene) error {
	for _, table := range slices.Sorted(maps.Keys(sc.pointers)) {
		t, err := p.s.TableAt(table)
		if err != nil {
			return err
		}
		kept, err := t.Kept()
		if err != nil || len(kept) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		local, _, err := t.Pointer()
		if err != nil {
			return err
		}
		for _, k := range kept {
			known, err := p.known(ctx, t, k, local, sc.pointers[table])
			if err == nil && known {
				err = t.Settle(k.ID)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// known tells whether a kept snapshot is in the chain here, or can be in the bucket's no more: the pointer it was to replace is
// another by now, and does not descend from it.
func (p *puller) known(ctx context.Context, t *store.Table, k store.Kept, local manifest.Pointer, remote merge.Pointer) (bool, error) {
	if local.SnapshotID != nil {
		if here, err := p.r.Descends(ctx, t, *local.SnapshotID, k.ID); err != nil || here {
			return here, err
		}
	}
	if remote.ETag == k.Base {
		return false, nil
	}
	if remote.SnapshotID == nil {
		return true, nil
	}
	there, err := p.r.Descends(ctx, t, *remote.SnapshotID, k.ID)
	return !there, err
}

func (p *puller) moves(ctx context.Context, sc *scene) ([]move, error) {
	var moves []move
	for _, table := range slices.Sorted(maps.Keys(sc.pointers)) {
		remote := sc.pointers[table]
		if remote.SnapshotID == nil {
			continue
		}
		t, err := p.s.TableAt(table)
		if err != nil {
			return nil, err
		}
		local, etag, err := t.Pointer()
		if err != nil {
			return nil, err
		}
		verdict, err := p.r.Compare(ctx, t, local, remote.Pointer)
		if err != nil {
			return nil, err
		}
		same := local.SnapshotID != nil && *local.SnapshotID == *remote.SnapshotID
		switch {
		case same && manifest.FenceBelow(local.Fence, remote.Fence):
		case verdict == merge.Behind:
			if err := p.complete(ctx, t, *remote.SnapshotID); err != nil {
				return nil, err
			}
		case verdict == merge.Diverged, verdict == merge.Fenced:
			ahead, err := p.ahead(ctx, t, local, *remote.SnapshotID)
			if err != nil {
				return nil, err
			}
			if ahead {
				continue
			}
			k := p.r.Key(key.Pointer(table))
			return nil, fault.New(fault.SyncPointerDiverged, k, fmt.Sprintf(
				"table %q: the local pointer names %s and the bucket's %s, and neither descends from the other", table, *local.SnapshotID, *remote.SnapshotID)).
				WithHint("the rows are in the runs on both sides: move " + key.Pointer(table) + " of this store aside and pull again to follow the bucket")
		default:
			continue
		}
		next := manifest.Pointer{SnapshotID: remote.SnapshotID, Fence: remote.Fence}
		if manifest.FenceBelow(next.Fence, local.Fence) {
			next.Fence = local.Fence
		}
		moves = append(moves, move{t, etag, next})
	}
	return moves, nil
}

// ahead tells whether the local pointer descends from the bucket's snapshot, whatever the fences.
func (p *puller) ahead(ctx context.Context, t *store.Table, local manifest.Pointer, remote string) (bool, error) {
	return p.r.Descends(ctx, t, *local.SnapshotID, remote)
}

// complete refuses unless every part of a snapshot is here, and so much of its chain that every run it folds is known: down to
// the root, or to a valid folded-runs index (store.pull.pointer-last, store.lay-out.folded-index-walk).
func (p *puller) complete(ctx context.Context, t *store.Table, id string) error {
	folded, err := t.Folded(ctx, &id)
	if err != nil {
		return err
	}
	head := folded.Chain[0]
	if len(head.Parts) == 0 && head.RowCount > 0 {
		// A manifest of major 1 need not list its parts: they are what lies beside it.
		return fault.New(fault.SyncManifestInvalid, p.r.Key(key.SnapshotManifest(t.Name(), id)), fmt.Sprintf(
			"snapshot %s of table %q has %d rows, and the bucket manifest lists no part of it", id, t.Name(), head.RowCount))
	}
	for _, part := range head.Parts {
		origin := part.SnapshotID
		if origin == "" {
			origin = id
		}
		rel := key.SnapshotDir(t.Name(), origin) + "/" + part.Name
		if err := p.here(rel); err != nil {
			return fault.New(fault.SyncManifestInvalid, p.r.Key(key.SnapshotManifest(t.Name(), id)), fmt.Sprintf(
				"snapshot %s of table %q names the part %s, which the bucket manifest does not list", id, t.Name(), part.Name))
		}
	}
	return nil
}
