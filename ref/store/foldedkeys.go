package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"slices"
	"sort"

	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// foldedKeysName caches, beside a table's other local files, which runs the chain of one snapshot folds: a landing asks that
// each time, and the index is as long as the table is old. What a snapshot's chain folds never changes, so the cache is
// right for as long as the pointer names that snapshot.
//
// It holds fingerprints of the run keys, sorted: a key whose fingerprint is not in it is not folded, and the index is read
// only for one whose is. Layout: 8 bytes foldedKeysMagic, the snapshot id padded with zeros to 48 bytes, then one 64-bit
// little-endian number for each key.
const (
	foldedKeysName   = ".folded_keys"
	foldedKeysMagic  = "cxfold01"
	foldedKeysHeader = 56
)

// FoldedAs tells what the table's chain folds of one run key, for a landing under it that found no manifest
// (store.lay-out.run-folded-replay): nil where the chain does not fold it. A row of which only the snapshot is known is one
// that a walked snapshot names. Refusals as Table.Folded's, except that a chain of a newer format, which this build does not
// read, folds nothing that it knows of.
func (l *Lock) FoldedAs(ctx context.Context, runKey string) (*FoldedRun, error) {
	p, _, err := l.t.Pointer()
	if err != nil || p.SnapshotID == nil {
		return nil, err
	}
	if maybe, ok := l.cachedKey(*p.SnapshotID, runKey); ok && !maybe {
		return nil, nil
	}
	f, err := l.t.Folded(ctx, p.SnapshotID)
	if errors.Is(err, fault.StoreManifestFormatNewer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.cacheKeys(*p.SnapshotID, f)
	snapshot, ok := f.In(runKey)
	if !ok {
		return nil, nil
	}
	if row := f.Row(runKey); row != nil {
		return row, nil
	}
	return &FoldedRun{RunKey: runKey, SnapshotID: snapshot}, nil
}

func fingerprint(runKey string) uint64 {
	sum := sha256.Sum256([]byte(runKey))
	return binary.LittleEndian.Uint64(sum[:])
}

func foldedKeysFor(snapshot string) []byte {
	head := make([]byte, foldedKeysHeader)
	copy(head, foldedKeysMagic)
	copy(head[len(foldedKeysMagic):], snapshot)
	return head
}

// cachedKey asks the cache: ok is false where it is of another snapshot or not whole.
func (l *Lock) cachedKey(snapshot, runKey string) (maybe, ok bool) {
	f, err := l.t.s.opts.FS.Open(path.Join(l.t.Dir(), foldedKeysName))
	if err != nil {
		return false, false
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	head := make([]byte, foldedKeysHeader)
	if err != nil || size < foldedKeysHeader || (size-foldedKeysHeader)%8 != 0 {
		return false, false
	}
	if _, err := f.ReadAt(head, 0); err != nil || !bytes.Equal(head, foldedKeysFor(snapshot)) {
		return false, false
	}
	want, n, whole := fingerprint(runKey), int(size-foldedKeysHeader)/8, true
	at := func(i int) uint64 {
		var b [8]byte
		if _, err := f.ReadAt(b[:], foldedKeysHeader+8*int64(i)); err != nil {
			whole = false
		}
		return binary.LittleEndian.Uint64(b[:])
	}
	i := sort.Search(n, func(i int) bool { return at(i) >= want })
	return i < n && at(i) == want, whole
}

// cacheKeys writes the cache, synced, so that a power cut leaves the old one or this one. What fails here costs the next
// landing another look at the index.
func (l *Lock) cacheKeys(snapshot string, f *Folded) {
	prints := make([]uint64, 0, f.Len())
	for k := range f.Keys() {
		prints = append(prints, fingerprint(k))
	}
	slices.Sort(prints)
	data := foldedKeysFor(snapshot)
	for _, p := range prints {
		data = binary.LittleEndian.AppendUint64(data, p)
	}
	_ = vfs.WriteAtomic(l.t.s.opts.FS, path.Join(l.t.Dir(), foldedKeysName), data)
}

// CommittedRows answers how many rows of a run are committed in this table, on all nodes (store.lay-out.folded-committed):
// the rows of its manifests that are here, and of those that are gone what the folded-runs index counts. known is false
// where nothing is committed, or where it cannot be told: a manifest is gone and only a walked snapshot names the run, or no
// number was recorded. Refusals as Resolve's.
func (t *Table) CommittedRows(ctx context.Context, run string) (rows int64, known bool, err error) {
	p, _, err := t.Pointer()
	if err != nil {
		return 0, false, err
	}
	f, err := t.Folded(ctx, p.SnapshotID)
	if err != nil {
		return 0, false, err
	}
	runs, err := t.listRuns(ctx, f)
	if err != nil {
		return 0, false, err
	}
	listed := map[string]bool{}
	for _, r := range runs {
		if r.RunID != run {
			continue
		}
		if r.RowCount < 0 {
			return 0, false, nil
		}
		listed[r.Key()], known, rows = true, true, rows+r.RowCount
	}
	for k := range f.Keys() {
		if id, _, _ := manifest.SplitRunKey(k); id == run && !listed[k] {
			return 0, false, nil
		}
	}
	return rows, known, nil
}
