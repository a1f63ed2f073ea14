package store

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"contextful/ref/key"
	"contextful/ref/vfs"
)

// Recovered counts what Recover removed.
type Recovered struct {
	Runs, Snapshots, Temporary int
}

// Recover removes what killed writers left behind in this table: run directories without manifest whose writer lock is
// there and free, staging directories and never-published snapshots likewise, temporary files. A directory without a writer
// lock is not ours to judge: a pull may be filling it, or may come back to it. A kept snapshot (Pass.Keep) stays.
func (l *Lock) Recover(ctx context.Context) (Recovered, error) {
	var r Recovered
	if err := l.recoverTemporary(key.TableDir(l.t.name), &r); err != nil {
		return r, err
	}
	refs, err := l.t.runDirs()
	if err != nil {
		return r, err
	}
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if err := l.recoverRun(ref, &r); err != nil {
			return r, err
		}
	}
	return r, l.recoverSnapshots(ctx, "", &r)
}

func (l *Lock) recoverTemporary(rel string, r *Recovered) error {
	list, err := l.t.list(rel)
	if err != nil {
		return err
	}
	for _, e := range list {
		if vfs.TemporaryName(e.Name()) && !e.IsDir() {
			if err := l.t.s.opts.FS.Remove(l.t.s.Path(rel + "/" + e.Name())); err != nil {
				return WriteFailed(rel, err)
			}
			r.Temporary++
		}
	}
	return nil
}

func (l *Lock) recoverRun(ref runRef, r *Recovered) error {
	fsys, rel := l.t.s.opts.FS, key.RunDir(l.t.name, ref.run, ref.node)
	committed, err := vfs.Exists(fsys, l.t.s.Path(rel+"/"+key.ManifestName))
	if err != nil || committed {
		return unreadable(rel, err)
	}
	removed, err := l.removeAbandoned(rel)
	if removed {
		r.Runs++
		_ = fsys.Remove(path.Dir(l.t.s.Path(rel))) // fails while other nodes' runs are in it, and rightly
	}
	return err
}

// recoverSnapshots looks at all snapshots, or at one id's directories.
func (l *Lock) recoverSnapshots(ctx context.Context, only string, r *Recovered) error {
	list, err := l.t.list(key.SnapshotsDir(l.t.name))
	if err != nil {
		return err
	}
	var chained map[string]bool // read only when a directory asks for it
	for _, e := range list {
		id, staging := strings.CutSuffix(e.Name(), key.StagingSuffix)
		if !e.IsDir() || key.ValidSnapshot(id) != nil || only != "" && id != only {
			continue
		}
		rel := key.SnapshotsDir(l.t.name) + "/" + e.Name()
		if !staging {
			locked, err := vfs.Exists(l.t.s.opts.FS, l.t.s.Path(rel+"/"+key.WriterLockName))
			if err != nil {
				return unreadable(rel, err)
			}
			kept, err := vfs.Exists(l.t.s.opts.FS, l.t.s.Path(rel+"/"+key.KeptName))
			if err != nil {
				return unreadable(rel, err)
			}
			if !locked || kept {
				continue
			}
			if chained == nil {
				if chained, err = l.chained(ctx); err != nil {
					return err
				}
			}
			if chained[id] {
				continue
			}
		}
		removed, err := l.removeAbandoned(rel)
		if err != nil {
			return err
		}
		if removed {
			r.Snapshots++
		}
	}
	return nil
}

// chained are the snapshots whose directories the table's chain needs: those in it, and those in whose directories parts
// and segments of theirs or of a kept snapshot lie, which may themselves be retained no more.
func (l *Lock) chained(ctx context.Context) (map[string]bool, error) {
	p, _, err := l.t.Pointer()
	if err != nil {
		return nil, err
	}
	f, err := l.t.Lineage(ctx, p.SnapshotID)
	if err != nil {
		return nil, err
	}
	needed := f.Chain
	kept, err := l.t.Kept()
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		m, err := l.t.ReadSnapshot(k.ID)
		if err != nil {
			return nil, err
		}
		if m != nil {
			needed = append(needed, m)
		}
	}
	ids := make(map[string]bool, len(needed))
	for _, m := range needed {
		for _, id := range origins(m) {
			ids[id] = true
		}
	}
	return ids, nil
}

// removeAbandoned removes a directory whose writer lock is there and free, holding that lock meanwhile.
func (l *Lock) removeAbandoned(rel string) (bool, error) {
	fsys, lockFile := l.t.s.opts.FS, l.t.s.Path(rel+"/"+key.WriterLockName)
	// Asked first, because taking the lock would make the file.
	if there, err := vfs.Exists(fsys, lockFile); err != nil || !there {
		return false, unreadable(rel, err)
	}
	held, ok, err := fsys.TryLock(lockFile)
	if err != nil || !ok {
		return false, WriteFailed(rel, err)
	}
	err = removeHeld(fsys, l.t.s.Path(rel))
	_ = held.Unlock() // the file it locked is gone
	return err == nil, WriteFailed(rel, err)
}

// removeHeld removes a directory whose writer lock the caller holds. The lock's file goes last: what a kill leaves of the
// directory is an abandoned one's, for the next recovery, or empty.
func removeHeld(fsys vfs.FS, dir string) error {
	list, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range list {
		if e.Name() == key.WriterLockName {
			continue
		}
		if err := fsys.RemoveAll(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return fsys.RemoveAll(dir)
}
