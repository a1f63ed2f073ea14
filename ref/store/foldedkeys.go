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
)

// foldedKeysName caches, beside a table's other local files, which runs the chain of one snapshot folds: a landing asks that
// each time, and the index is as long as the table is old. What a snapshot's chain folds never changes, so the cache is
// right for as long as the pointer names that snapshot.
//
// It holds fingerprints of the run keys, sorted: a key whose fingerprint is not in it is not folded, and the index is read
// only for one whose is. A fingerprint that got lost would let a folded run land once more, so nothing is believed but
// what matches its sum: a cache that is damaged, or another table's, is none, and the index is read. Layout, numbers little-endian:
//
//	header  8 bytes foldedKeysMagic, the snapshot id padded with zeros to 48 bytes, 8 bytes count of keys
//	pages   of up to foldedKeysPage keys of 8 bytes, each page followed by the first 8 bytes of the SHA-256 of the table's
//	        name, a zero, the header, 8 bytes number of the page from 0, and the page's keys
//
// A page is what a look at it reads and sums, so that a look costs little however long the cache is.
const (
	foldedKeysName   = ".folded_keys"
	foldedKeysMagic  = "cxfold02"
	foldedKeysNamed  = 56 // bytes of the header before the count
	foldedKeysHeader = 64
	foldedKeysPage   = 511 // with its sum 4,096 bytes
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
	maybe, cached := l.cachedKey(*p.SnapshotID, runKey)
	if cached && !maybe {
		return nil, nil
	}
	if s := l.t.settled(*p.SnapshotID); s != nil && !s.keys.mayHold(runKey) {
		l.cacheKeys(*p.SnapshotID, s.keys.numbers())
		return nil, nil
	}
	f, err := l.t.Folded(ctx, p.SnapshotID)
	if errors.Is(err, fault.StoreManifestFormatNewer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !cached {
		l.settle(ctx, *p.SnapshotID)
		l.cacheKeys(*p.SnapshotID, printsOf(slices.Collect(f.Keys())).numbers())
	}
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

// foldedKeysFor is the header up to the count.
func foldedKeysFor(snapshot string) []byte {
	head := make([]byte, foldedKeysNamed)
	copy(head, foldedKeysMagic)
	copy(head[len(foldedKeysMagic):], snapshot)
	return head
}

// foldedKeysSum is what follows a page: it depends on all that makes the page's keys the right ones.
func foldedKeysSum(table string, head []byte, page uint64, keys []byte) []byte {
	h := sha256.New()
	h.Write(append([]byte(table), 0))
	h.Write(head)
	h.Write(binary.LittleEndian.AppendUint64(nil, page))
	h.Write(keys)
	return h.Sum(nil)[:8]
}

// foldedKeys is a whole cache: prints are sorted here. One without keys has one page, so that there is a sum.
func foldedKeys(table, snapshot string, prints []uint64) []byte {
	slices.Sort(prints)
	head := binary.LittleEndian.AppendUint64(foldedKeysFor(snapshot), uint64(len(prints)))
	data := slices.Clone(head)
	for page := uint64(0); page == 0 || len(prints) > 0; page++ {
		n, start := min(len(prints), foldedKeysPage), len(data)
		for _, p := range prints[:n] {
			data = binary.LittleEndian.AppendUint64(data, p)
		}
		data = append(data, foldedKeysSum(table, head, page, data[start:])...)
		prints = prints[n:]
	}
	return data
}

// cachedKey asks the cache: ok is false where it is of another snapshot or table, or not whole.
func (l *Lock) cachedKey(snapshot, runKey string) (maybe, ok bool) {
	f, err := l.t.s.opts.FS.Open(path.Join(l.t.Dir(), foldedKeysName))
	if err != nil {
		return false, false
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	head := make([]byte, foldedKeysHeader)
	if err != nil || size < foldedKeysHeader {
		return false, false
	}
	if _, err := f.ReadAt(head, 0); err != nil || !bytes.Equal(head[:foldedKeysNamed], foldedKeysFor(snapshot)) {
		return false, false
	}
	n := int64(min(binary.LittleEndian.Uint64(head[foldedKeysNamed:]), uint64(size/8)))
	pages := max(1, (n+foldedKeysPage-1)/foldedKeysPage)
	if size != foldedKeysHeader+8*(n+pages) {
		return false, false
	}
	whole := true
	page := func(i int64) []byte {
		count := min(n-i*foldedKeysPage, foldedKeysPage)
		b := make([]byte, 8*(count+1))
		_, err := f.ReadAt(b, foldedKeysHeader+i*8*(foldedKeysPage+1))
		keys, sum := b[:8*count], b[8*count:]
		whole = whole && err == nil && bytes.Equal(sum, foldedKeysSum(l.t.name, head, uint64(i), keys))
		return keys
	}
	at := func(keys []byte, i int) uint64 { return binary.LittleEndian.Uint64(keys[8*i:]) }
	want := fingerprint(runKey)
	// The last page that begins at or below the key is where it is, if it is anywhere.
	later := sort.Search(int(pages)-1, func(i int) bool { return at(page(int64(i)+1), 0) > want })
	keys := page(int64(later))
	count := len(keys) / 8
	i := sort.Search(count, func(i int) bool { return at(keys, i) >= want })
	return i < count && at(keys, i) == want, whole
}

// cacheKeys writes the cache. What fails here, or is torn by a power cut, costs the next landing another look at the index.
func (l *Lock) cacheKeys(snapshot string, prints []uint64) {
	_ = replaceUnsynced(l.t.s.opts.FS, path.Join(l.t.Dir(), foldedKeysName), foldedKeys(l.t.name, snapshot, prints))
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
