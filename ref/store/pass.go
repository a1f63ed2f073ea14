package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// Pass is a snapshot in the making: a staging directory whose writer lock is held until Close or Discard. It holds no table
// lock while it works.
type Pass struct {
	t      *Table
	id     string
	writer vfs.Lock
	sealed bool
}

// BeginPass chooses the snapshot's id and makes its staging directory, under the table's lock for that moment. The id's
// number is createdAt in nanoseconds, or one above the parent's where that is greater (store.lay-out.snapshot-id), or the
// next that is free where another pass stands on it. What a killed pass left under that id is removed.
func (t *Table) BeginPass(ctx context.Context, createdAt manifest.Instant, parent *string) (*Pass, error) {
	number := max(createdAt.UnixNano(), 0)
	if n, ok := key.SnapshotNumber(deref(parent)); ok && n >= number {
		if n == math.MaxInt64 {
			return nil, fault.New(fault.StoreManifestInvalid, *parent, "the snapshot "+*parent+" of table "+t.name+" has the last number there is: none can follow it").
				WithHint("a clock far in the future made it, or it was planted")
		}
		number = n + 1
	}
	var p *Pass
	err := t.under(ctx, func(l *Lock) (err error) {
		for ; p == nil && err == nil; number++ {
			if err = ctx.Err(); err == nil {
				p, err = l.stage(ctx, key.SnapshotID(number))
			}
		}
		return err
	})
	return p, err
}

// stage takes one id; nil where it is in use.
func (l *Lock) stage(ctx context.Context, id string) (*Pass, error) {
	t, fsys := l.t, l.t.s.opts.FS
	if err := l.recoverSnapshots(ctx, id, &Recovered{}); err != nil {
		return nil, err
	}
	for _, rel := range []string{key.SnapshotDir(t.name, id), key.StagingDir(t.name, id)} {
		if there, err := vfs.Exists(fsys, t.s.Path(rel)); err != nil || there {
			return nil, unreadable(rel, err)
		}
	}
	rel := key.StagingDir(t.name, id)
	err := fsys.MkdirAll(t.s.Path(rel))
	var writer vfs.Lock
	ok := false
	if err == nil {
		writer, ok, err = fsys.TryLock(t.s.Path(rel + "/" + key.WriterLockName))
	}
	if err != nil {
		_ = fsys.Remove(t.s.Path(rel)) // without a lock nobody could tell whose it is, and it would stay
		return nil, WriteFailed(rel, err)
	}
	if !ok {
		return nil, nil
	}
	return &Pass{t: t, id: id, writer: writer}, nil
}

// ID is the snapshot's id.
func (p *Pass) ID() string { return p.id }

// Rel is where the snapshot lies now, relative to the store root: in staging until Seal.
func (p *Pass) Rel() string {
	if p.sealed {
		return key.SnapshotDir(p.t.name, p.id)
	}
	return key.StagingDir(p.t.name, p.id)
}

// Dir is the same, absolute: parts are written here, in their partition directories.
func (p *Pass) Dir() string { return p.t.s.Path(p.Rel()) }

// Seal completes the directory and gives it its final name: parts synced, directories synced, manifest written and synced,
// one rename, the parent synced. table and snapshot_id are filled in. Nothing is visible before the pointer names it.
// Refusals: StorePartDamaged, StoreManifestInvalid, StoreWriteFailed.
func (p *Pass) Seal(ctx context.Context, m *manifest.Snapshot) error {
	t, fsys := p.t, p.t.s.opts.FS
	if p.sealed || p.writer == nil {
		return errors.New("a pass is sealed once, while it is open")
	}
	m.Table, m.SnapshotID = t.name, p.id
	data, err := manifest.EncodeSnapshot(m)
	if err != nil {
		return err
	}
	if _, err := manifest.DecodeSnapshot(key.SnapshotManifest(t.name, p.id), data); err != nil {
		return err
	}
	dirs := map[string]bool{}
	for i := range m.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if id := m.Parts[i].SnapshotID; id != "" && id != p.id {
			continue // a part carried by reference was synced by the pass that wrote it
		}
		if err := t.syncPart(p.Rel() + "/" + m.Parts[i].Name); err != nil {
			return err
		}
		for d := path.Dir(m.Parts[i].Name); d != "."; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	for d := range dirs {
		if err := fsys.SyncDir(path.Join(p.Dir(), d)); err != nil {
			return WriteFailed(p.Rel(), err)
		}
	}
	// This also syncs the staging directory, with the parts' and partitions' names in it.
	if err := vfs.WriteAtomic(fsys, path.Join(p.Dir(), key.ManifestName), data); err != nil {
		return WriteFailed(p.Rel(), err)
	}
	final := t.s.Path(key.SnapshotDir(t.name, p.id))
	if err := fsys.RenameNew(p.Dir(), final); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fault.New(fault.StorePointerMoved, key.SnapshotDir(t.name, p.id), fmt.Sprintf("snapshot %s exists already", p.id))
		}
		return WriteFailed(p.Rel(), err)
	}
	p.sealed = true
	return WriteFailed(p.Rel(), fsys.SyncDir(path.Dir(final)))
}

// Discard removes the pass's directory, staged or sealed: for a pass that never got its pointer. After Close it does
// nothing, so it may be deferred. Never discard a sealed pass whose pointer swap may have happened.
func (p *Pass) Discard() error {
	if p.writer == nil {
		return nil
	}
	err := removeHeld(p.t.s.opts.FS, p.Dir())
	p.Close()
	return WriteFailed(p.Rel(), err)
}

// Close ends a pass whose pointer has been replaced: its directory stays.
func (p *Pass) Close() {
	if p.writer != nil {
		_ = p.writer.Unlock() // the lock dies with this process at the latest
		p.writer = nil
	}
}
