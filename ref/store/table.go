package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// Table is one table of a store. It caches nothing: every method looks at the disk.
type Table struct {
	s    *Store
	name string
	decl *decl.Table
}

// Name is the table's name.
func (t *Table) Name() string { return t.name }

// Store is the store it lies in.
func (t *Table) Store() *Store { return t.s }

// Declared is the table's own declaration, or nil.
func (t *Table) Declared() *decl.Table { return t.decl }

// Dir is the table's absolute directory.
func (t *Table) Dir() string { return t.s.Path(key.TableDir(t.name)) }

// Lock is a table's lock, held. The methods on it are what needs it.
type Lock struct {
	t     *Table
	inner vfs.Lock
}

// Lock takes the table's lock, making the table's directory where absent. Refusals: StoreBusy after the lock timeout,
// StoreWriteFailed.
func (t *Table) Lock(ctx context.Context) (*Lock, error) {
	inner, err := t.s.LockFile(ctx, key.TableLock(t.name), fmt.Sprintf("the lock of table %q", t.name))
	if err != nil {
		return nil, err
	}
	return &Lock{t: t, inner: inner}, nil
}

// Release frees the lock. A second call does nothing.
func (l *Lock) Release() error {
	if l.inner == nil {
		return nil
	}
	inner := l.inner
	l.inner = nil
	return inner.Unlock()
}

// ETag names the bytes of a pointer: their SHA-256 in hex, "" where there is no pointer.
type ETag string

// Pointer reads the table's pointer and its ETag. An absent one is the zero Pointer and the ETag "". Refusals:
// StoreManifestInvalid.
func (t *Table) Pointer() (manifest.Pointer, ETag, error) {
	rel := key.Pointer(t.name)
	data, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), manifest.MaxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.Pointer{}, "", nil
	}
	if err != nil {
		return manifest.Pointer{}, "", unreadable(rel, err)
	}
	p, err := manifest.DecodePointer(rel, data)
	if err != nil {
		return manifest.Pointer{}, "", err
	}
	sum := sha256.Sum256(data)
	return *p, ETag(hex.EncodeToString(sum[:])), nil
}

// SwapPointer replaces the pointer where its bytes still are those of etag (store.fold.pointer-commit): read again under
// the table's lock, written beside it, synced, renamed, the directory synced. Refusals: StorePointerMoved where the pointer
// is another by now; LeaseFenced where next carries a fence below the stored one (a next without fence is judged by its
// ETag alone: a fold outside a lease is the local disk's business); StoreWriteFailed. After an error other than
// StoreWriteFailed the pointer is untouched.
func (l *Lock) SwapPointer(etag ETag, next manifest.Pointer) error {
	rel := key.Pointer(l.t.name)
	have, current, err := l.t.Pointer()
	if err != nil {
		return err
	}
	if next.Fence != nil && manifest.FenceBelow(next.Fence, have.Fence) {
		return fault.New(fault.LeaseFenced, rel, fmt.Sprintf("fence %d lost to fence %d, which %s carries", *next.Fence, *have.Fence, rel))
	}
	if current != etag {
		return fault.New(fault.StorePointerMoved, rel, fmt.Sprintf("%s was replaced while this pass ran: it names %s now", rel, nameOf(have.SnapshotID)))
	}
	data, err := manifest.EncodePointer(&next)
	if err != nil {
		return err
	}
	if err := vfs.WriteAtomic(l.t.s.opts.FS, l.t.s.Path(rel), data); err != nil {
		return WriteFailed(rel, err)
	}
	if deref(next.SnapshotID) != deref(have.SnapshotID) {
		l.refreshCounter()
		if next.SnapshotID != nil {
			// For the readers to come. The pointer is moved, so nothing ends this early.
			l.settle(context.Background(), *next.SnapshotID)
		}
	}
	return nil
}

// SwapPointer is Lock.SwapPointer under a lock taken for it.
func (t *Table) SwapPointer(ctx context.Context, etag ETag, next manifest.Pointer) error {
	return t.under(ctx, func(l *Lock) error { return l.SwapPointer(etag, next) })
}

func (t *Table) under(ctx context.Context, work func(*Lock) error) error {
	l, err := t.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(l), l.Release())
}

func nameOf(snapshot *string) string {
	if snapshot == nil {
		return "no snapshot"
	}
	return *snapshot
}

// ReadRun reads a run's manifest; nil where the run is not committed or not there. Refusals: StoreManifestInvalid,
// StoreManifestFormatNewer.
func (t *Table) ReadRun(run, node string) (*manifest.Run, error) {
	rel := key.RunManifest(t.name, run, node)
	data, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), manifest.MaxRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(rel, err)
	}
	return manifest.DecodeRun(rel, data)
}

// readRuns is ReadRun of each, several at a time where there are many: a reader waits for every one of them.
func (t *Table) readRuns(ctx context.Context, refs []runRef) ([]*manifest.Run, error) {
	manifests, errs := make([]*manifest.Run, len(refs)), make([]error, len(refs))
	read := func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			manifests[i], errs[i] = t.ReadRun(refs[i].run, refs[i].node)
		}
	}
	if workers := min(len(refs)/readersShare, runtime.GOMAXPROCS(0), maxReaders); workers > 1 {
		var next atomic.Int64
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(refs)); i = next.Add(1) - 1 {
					read(int(i))
				}
			})
		}
		all.Wait()
	} else {
		for i := range refs {
			read(i)
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return manifests, nil
}

// A goroutine is started for so many manifests, and at most so many are.
const (
	readersShare = 8
	maxReaders   = 8
)

// snapshotDocument reads a snapshot's manifest as it stands.
func (t *Table) snapshotDocument(id string) (*manifest.Snapshot, error) {
	rel := key.SnapshotManifest(t.name, id)
	data, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), manifest.MaxSnapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(rel, err)
	}
	return manifest.DecodeSnapshot(rel, data)
}

// Schema reads the table's schema.json; nil where there is none. Refusals: StoreManifestInvalid, StoreColumnAmbiguous.
func (t *Table) Schema() (*schema.Schema, error) {
	rel := key.Schema(t.name)
	data, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), schema.MaxJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(rel, err)
	}
	return schema.Decode(data, rel)
}

// WriteSchema replaces schema.json, durably. The schema must be one that Merge made of the stored one.
func (l *Lock) WriteSchema(s *schema.Schema) error {
	rel := key.Schema(l.t.name)
	data, err := schema.Encode(s)
	if err != nil {
		return err
	}
	return WriteFailed(rel, vfs.WriteAtomic(l.t.s.opts.FS, l.t.s.Path(rel), data))
}

// RestoreSchema puts back what stood before a landing that grew the schema and could not commit: nil for no schema.json.
// The disk may be full or fail: where a durable replacement does not work it is written without a sync, and at the very last
// in place.
func (l *Lock) RestoreSchema(s *schema.Schema) error {
	rel, fsys := key.Schema(l.t.name), l.t.s.opts.FS
	name := l.t.s.Path(rel)
	if s == nil {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return WriteFailed(rel, err)
		}
		return nil
	}
	if l.WriteSchema(s) == nil {
		return nil
	}
	data, err := schema.Encode(s)
	if err != nil {
		return err
	}
	if replaceUnsynced(fsys, name, data) == nil {
		return nil
	}
	if err := fsys.Remove(name); err != nil {
		return WriteFailed(rel, err)
	}
	f, err := fsys.Create(name)
	if err != nil {
		return WriteFailed(rel, err)
	}
	_, err = f.Write(data)
	return WriteFailed(rel, errors.Join(err, f.Close()))
}

// MergeSchema merges arriving into the stored schema without writing: merged is what WriteSchema should store, grown says
// whether that differs from what is stored. Refusals are schema.Merge's; then nothing has changed.
func (l *Lock) MergeSchema(arriving *schema.Schema, keys []string) (merged *schema.Schema, grown bool, err error) {
	stored, err := l.t.Schema()
	if err != nil {
		return nil, false, err
	}
	merged, err = schema.Merge(stored, arriving, keys)
	if err != nil {
		return nil, false, err
	}
	return merged, stored == nil || !merged.Equal(stored), nil
}

// PullSchema merges a schema from the bucket into the stored one and writes it where it grew (store.pull.schema-merge):
// the bucket's columns come first, so that both sides end at the same bytes.
func (t *Table) PullSchema(ctx context.Context, bucket *schema.Schema) error {
	return t.under(ctx, func(l *Lock) error {
		stored, err := t.Schema()
		if err != nil {
			return err
		}
		merged, err := schema.Merge(bucket, stored, nil)
		if err != nil {
			return err
		}
		have, errHave := encodeSchema(stored)
		want, errWant := encodeSchema(merged)
		if err := errors.Join(errHave, errWant); err != nil || have == want {
			return err
		}
		return l.WriteSchema(merged)
	})
}

func encodeSchema(s *schema.Schema) (string, error) {
	if s == nil {
		return "", nil
	}
	data, err := schema.Encode(s)
	return string(data), err
}
