package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// RunWriter is a landing in flight: a run directory of this node, without manifest, whose writer lock is held.
type RunWriter struct {
	// Last, where set, is called by Commit when everything but the manifest is durable: for what a reader may see a moment
	// before the run and never without it.
	Last func() error

	l      *Lock
	run    string
	writer vfs.Lock
	commit []byte // the manifest that Commit tried to create
}

// BeginRun makes the directory of a run of this node and takes its writer lock. What a killed landing of the same run left
// in it is removed. Refusals: StoreNameInvalid; StoreRunConflict where the run is committed (ask ReadRun first);
// StoreBusy where another process is writing it; StoreWriteFailed.
func (l *Lock) BeginRun(ctx context.Context, run string) (*RunWriter, error) {
	if err := errors.Join(key.ValidRun(run), ctx.Err()); err != nil {
		return nil, err
	}
	s, node := l.t.s, l.t.s.opts.Node
	rel := key.RunDir(l.t.name, run, node)
	if err := s.opts.FS.MkdirAll(s.Path(rel)); err != nil {
		return nil, WriteFailed(rel, err)
	}
	writer, ok, err := s.opts.FS.TryLock(s.Path(rel + "/" + key.WriterLockName))
	if err != nil {
		return nil, WriteFailed(rel, err)
	}
	if !ok {
		return nil, fault.New(fault.StoreBusy, rel, fmt.Sprintf("run %q of table %q is being landed by another process", run, l.t.name))
	}
	w := &RunWriter{l: l, run: run, writer: writer}
	if err := w.clear(); err != nil {
		return nil, errors.Join(err, writer.Unlock())
	}
	return w, nil
}

// Rel is the run's directory relative to the store root.
func (w *RunWriter) Rel() string { return key.RunDir(w.l.t.name, w.run, w.l.t.s.opts.Node) }

// Dir is the run's absolute directory: parts are written here under their final names.
func (w *RunWriter) Dir() string { return w.l.t.s.Path(w.Rel()) }

func (w *RunWriter) clear() error {
	fsys := w.l.t.s.opts.FS
	list, err := fsys.ReadDir(w.Dir())
	if err != nil {
		return WriteFailed(w.Rel(), err)
	}
	for _, e := range list {
		if e.Name() == key.ManifestName {
			return fault.New(fault.StoreRunConflict, w.Rel(), fmt.Sprintf("run %q of node %q is committed already", w.run, w.l.t.s.opts.Node))
		}
	}
	for _, e := range list {
		if e.Name() != key.WriterLockName {
			if err := fsys.RemoveAll(path.Join(w.Dir(), e.Name())); err != nil {
				return WriteFailed(w.Rel(), err)
			}
		}
	}
	return nil
}

// Commit makes the run visible (store.lay-out.run-manifest). table, run_id and node_id are filled in; m.CommitSeq is the
// value NextCommitSeq gave. The order is: every part synced and its size looked at, then the directories up to data/runs,
// then the counter, then Last, then the manifest to a temporary name, synced, renamed where no manifest is, then its directory synced.
// Refusals: StorePartDamaged for a part that is not there; StoreRunConflict where a manifest is already there;
// StoreManifestInvalid for one no reader would accept; StoreWriteFailed. After an error the run is not visible, except when
// the very last sync failed: then it is visible and perhaps not durable, and a retry finds it.
func (w *RunWriter) Commit(ctx context.Context, m *manifest.Run) error {
	t, fsys := w.l.t, w.l.t.s.opts.FS
	if w.writer == nil || w.l.inner == nil {
		return errors.New("a run is committed under the table's lock and once")
	}
	m.Table, m.RunID, m.NodeID = t.name, w.run, t.s.opts.Node
	rel := key.RunManifest(t.name, m.RunID, m.NodeID)
	data, err := manifest.EncodeRun(m)
	if err != nil {
		return err
	}
	if _, err := manifest.DecodeRun(rel, data); err != nil {
		return err
	}
	for i := range m.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.syncPart(w.Rel() + "/" + m.Parts[i].Name); err != nil {
			return err
		}
	}
	for _, dir := range []string{w.Dir(), path.Dir(w.Dir()), t.s.Path(key.RunsDir(t.name))} {
		if err := fsys.SyncDir(dir); err != nil {
			return WriteFailed(w.Rel(), err)
		}
	}
	if m.CommitSeq != nil {
		if err := w.l.writeCounter(*m.CommitSeq, m.CommittedAt); err != nil {
			return WriteFailed(key.CommitSeq(t.name), err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.Last != nil {
		if err := w.Last(); err != nil {
			return err
		}
	}
	w.commit = data
	err = vfs.WriteNew(fsys, t.s.Path(rel), data)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.StoreRunConflict, rel, fmt.Sprintf("run %q of node %q was committed meanwhile", m.RunID, m.NodeID))
	}
	if err != nil {
		return WriteFailed(rel, err)
	}
	w.finish()
	return nil
}

// syncPart makes a part durable and refuses one that cannot be a Parquet file.
func (t *Table) syncPart(rel string) error {
	if err := t.partThere(rel); err != nil {
		return err
	}
	return WriteFailed(rel, vfs.SyncFile(t.s.opts.FS, t.s.Path(rel)))
}

// minPart is the size of the smallest conceivable Parquet file: two magic words and a footer's length.
const minPart = 12

func (t *Table) partThere(rel string) error {
	info, err := t.s.opts.FS.Stat(t.s.Path(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s is missing, and its manifest names it", rel))
	case err != nil:
		return fault.New(fault.StorePartDamaged, rel, rel+" cannot be read").Wrap(err)
	case info.IsDir() || info.Size() < minPart:
		return fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s is no Parquet file: it has %d bytes", rel, info.Size()))
	}
	return nil
}

// Abandon removes the run's directory and ends the landing. After a Commit it does nothing, so it may be deferred. A
// manifest that is not this writer's own is another's commit: its directory stays (store.lay-out.run-manifest).
func (w *RunWriter) Abandon() error {
	if w.writer == nil {
		return nil
	}
	fsys := w.l.t.s.opts.FS
	have, err := vfs.ReadFile(fsys, path.Join(w.Dir(), key.ManifestName), manifest.MaxRun)
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !bytes.Equal(have, w.commit)) {
		w.finish()
		return nil
	}
	err = removeHeld(fsys, w.Dir())
	// The run id's directory may hold other nodes' runs: then this fails, and rightly.
	_ = fsys.Remove(path.Dir(w.Dir()))
	w.finish()
	return WriteFailed(w.Rel(), err)
}

func (w *RunWriter) finish() {
	// An unlock that fails leaves a lock that dies with this process: nothing a caller could do better.
	_ = w.writer.Unlock()
	w.writer = nil
}
