package store

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// Retained counts what Retain removed.
type Retained struct {
	Snapshots, Runs int
}

// Retain removes what the table's past no longer needs on this disk (store.fold.reference-retention): each snapshot of the
// chain that another one superseded keep or longer before now, save the parts, sidecar files and folded-runs segments that
// a snapshot which stays names; and the directories of runs folded keep or longer ago. What an earlier Retain was killed over
// is removed too. A read bounded at or after now - keep answers as before.
//
// Nothing is removed where the pointer's snapshot has no valid folded-runs index, which is what names the runs once their
// snapshots' manifests are gone; nor in a store with a bucket, which would lose what no bucket lists yet, and would bring the
// rest home again with each pull: there it is a collection's to say.
//
// The manifests go first, the oldest of them before the others, and files only after all of them, so that after a crash the
// chain is whole down to an end that its index allows, and no manifest names what is gone.
func (t *Table) Retain(ctx context.Context, now time.Time, keep time.Duration) (Retained, error) {
	var done Retained
	if c := t.s.opts.Config; c != nil && c.Sync != nil || t.decl != nil && t.decl.Snapshot != nil {
		return done, nil
	}
	err := t.under(ctx, func(l *Lock) error {
		r, err := l.retention(ctx, now.Add(-max(keep, 0)))
		if err != nil || r == nil {
			return err
		}
		next, counted := l.cachedNext()
		err = errors.Join(r.snapshots(ctx, &done), r.runs(ctx, &done))
		if counted && err == nil {
			// A cache: where it cannot be written the next landing reads every manifest.
			_ = l.writeCounter(next.Seq-1, next.NotBefore)
		}
		if done.Runs > 0 && err == nil {
			l.settle(ctx, r.f.Chain[0].SnapshotID) // it need not list what is gone
		}
		return err
	})
	return done, err
}

type retention struct {
	l      *Lock
	f      *Folded
	cutoff time.Time
	stay   []*manifest.Snapshot // newest first
	leave  []*manifest.Snapshot // newest first, each superseded at or before cutoff
	named  map[string]bool      // paths that a snapshot which stays names
	kept   map[string]bool
}

// retention decides what stays; nil where nothing may go.
func (l *Lock) retention(ctx context.Context, cutoff time.Time) (*retention, error) {
	p, _, err := l.t.Pointer()
	if err != nil || p.SnapshotID == nil {
		return nil, err
	}
	f, err := l.t.Lineage(ctx, p.SnapshotID)
	if err != nil || f.Index == nil || f.walked > 0 {
		return nil, err
	}
	r := &retention{l: l, f: f, cutoff: cutoff, named: map[string]bool{}, kept: map[string]bool{}}
	n := len(f.Chain)
	for n > 1 && !f.Chain[n-2].CreatedAt.After(cutoff) {
		n--
	}
	r.stay, r.leave = f.Chain[:n], f.Chain[n:]
	for _, m := range r.stay {
		r.name(m)
	}
	kept, err := l.t.Kept()
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		m, err := l.t.ReadSnapshot(k.ID)
		if err != nil || m == nil {
			return nil, err // what it names cannot be told
		}
		r.kept[k.ID] = true
		r.name(m)
	}
	return r, nil
}

func (r *retention) name(m *manifest.Snapshot) {
	for _, p := range m.Parts {
		r.named[r.l.t.partDir(m, p)+"/"+p.Name] = true
	}
	for rel := range m.FoldedRuns.Files(r.l.t.name) {
		r.named[rel] = true
	}
}

// snapshots removes those that go: all their manifests first, oldest first, and then what is left in directories without one.
// A part may lie in an older snapshot's directory than the one that names it, so no file goes while a manifest that goes too
// still stands.
func (r *retention) snapshots(ctx context.Context, done *Retained) error {
	for i := len(r.leave) - 1; i >= 0; i-- {
		id := r.leave[i].SnapshotID
		if r.kept[id] {
			break // younger ones are its descendants: the chain stays whole
		}
		gone, err := r.unname(key.SnapshotDir(r.l.t.name, id))
		if err != nil {
			return err
		}
		if !gone {
			return nil
		}
		done.Snapshots++
	}
	stay := map[string]bool{}
	for _, m := range r.stay {
		stay[m.SnapshotID] = true
	}
	ids, err := r.l.t.snapshotDirs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		rel := key.SnapshotDir(r.l.t.name, id)
		if stay[id] || r.kept[id] || !r.abandoned(rel) {
			r.removeEmpty(rel)
			continue
		}
		if _, err := r.remove(ctx, rel); err != nil {
			return err
		}
	}
	return nil
}

// removeEmpty removes a directory in which nothing is, not even a lock: a removal that was killed at its very end left it. Every
// writer of a store without a bucket makes its directories and locks under the table's lock, which this one holds.
func (r *retention) removeEmpty(rel string) {
	_ = r.l.t.s.opts.FS.Remove(r.l.t.s.Path(rel)) // fails where anything is in it, and rightly
}

// abandoned tells whether a directory has a writer's lock and no manifest: retention or a killed pass left it. One without
// that lock a pull may be filling.
func (r *retention) abandoned(rel string) bool {
	fsys, dir := r.l.t.s.opts.FS, r.l.t.s.Path(rel)
	manifest, err := vfs.Exists(fsys, path.Join(dir, key.ManifestName))
	if err != nil || manifest {
		return false
	}
	lock, err := vfs.Exists(fsys, path.Join(dir, key.WriterLockName))
	return err == nil && lock
}

// unname removes a directory's manifest, durably. false where somebody holds its writer lock. The lock is made where there is
// none: with it a directory that is left half done is known for what it is.
func (r *retention) unname(rel string) (bool, error) {
	return r.holding(rel, func(string) error { return nil })
}

// remove empties a directory of all that no snapshot which stays names, its manifest first, and removes it where nothing
// stays. false where somebody holds its writer lock.
func (r *retention) remove(ctx context.Context, rel string) (bool, error) {
	return r.holding(rel, func(dir string) error {
		left, err := r.clear(ctx, rel)
		if err == nil && !left {
			err = removeHeld(r.l.t.s.opts.FS, dir)
		}
		return err
	})
}

// holding takes a directory's writer lock, removes its manifest and does the rest.
func (r *retention) holding(rel string, rest func(dir string) error) (bool, error) {
	fsys, dir := r.l.t.s.opts.FS, r.l.t.s.Path(rel)
	held, ok, err := fsys.TryLock(path.Join(dir, key.WriterLockName))
	if err != nil || !ok {
		return false, WriteFailed(rel, err)
	}
	defer func() { _ = held.Unlock() }() // it dies with this process at the latest
	err = fsys.Remove(path.Join(dir, key.ManifestName))
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = rest(dir)
	}
	return err == nil, WriteFailed(rel, err)
}

// clear removes files below rel that nothing which stays names, and tells whether any is left. The writer's lock is not
// counted and stays.
func (r *retention) clear(ctx context.Context, rel string) (left bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	t, fsys := r.l.t, r.l.t.s.opts.FS
	list, err := t.list(rel)
	if err != nil {
		return false, err
	}
	for _, e := range list {
		child := rel + "/" + e.Name()
		switch {
		case e.Name() == key.WriterLockName:
			continue
		case r.named[child]:
			left = true
			continue
		case e.IsDir():
			below, err := r.clear(ctx, child)
			if err != nil {
				return false, err
			}
			if below {
				left = true
				continue
			}
		}
		if err := fsys.RemoveAll(t.s.Path(child)); err != nil {
			return false, err
		}
	}
	return left, nil
}

// runs removes the directories of runs that were folded at or before the cutoff.
func (r *retention) runs(ctx context.Context, done *Retained) error {
	created := make(map[string]time.Time, len(r.f.Chain))
	own := map[string]string{} // by run, the snapshot whose manifest says that it folds it
	for _, m := range r.f.Chain {
		created[m.SnapshotID] = m.CreatedAt.Time
		for _, k := range m.IncludesRuns {
			own[k] = m.SnapshotID
		}
	}
	t, fsys := r.l.t, r.l.t.s.opts.FS
	refs, err := t.runDirs()
	if err != nil {
		return err
	}
	nodes := map[string]bool{} // runs that have a node's directory
	for _, ref := range refs {
		nodes[ref.run] = true
		if !r.past(ref.key(), created, own) {
			continue
		}
		rel := key.RunDir(t.name, ref.run, ref.node)
		committed, err := vfs.Exists(fsys, t.s.Path(rel+"/"+key.ManifestName))
		if err != nil {
			return unreadable(rel, err)
		}
		if !committed {
			r.removeEmpty(rel)
			r.removeEmpty(path.Dir(rel))
			continue // a landing or a pull at work, or what Recover removes
		}
		gone, err := r.remove(ctx, rel)
		if err != nil {
			return err
		}
		if gone {
			done.Runs++
			r.removeEmpty(path.Dir(rel)) // not while other nodes' runs are in it
		}
	}
	list, err := t.list(key.RunsDir(t.name))
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.IsDir() && !nodes[e.Name()] {
			r.removeEmpty(key.RunsDir(t.name) + "/" + e.Name())
		}
	}
	return nil
}

// past tells whether a run was folded at or before the cutoff. The snapshot that folded it must say so itself, or be gone
// below the end of the chain: an index alone that names a run is no reason to remove its rows.
func (r *retention) past(runKey string, created map[string]time.Time, own map[string]string) bool {
	if id, ok := own[runKey]; ok {
		return !created[id].After(r.cutoff)
	}
	id, ok := r.f.In(runKey)
	if _, here := created[id]; !ok || here {
		return false
	}
	end, _ := key.SnapshotNumber(r.f.missing)
	number, _ := key.SnapshotNumber(id)
	row := r.f.Row(runKey)
	return r.f.missing != "" && number <= end && row != nil && !row.CommittedAt.After(r.cutoff)
}
