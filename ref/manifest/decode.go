package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"

	strict "github.com/go-json-experiment/json"
)

// ReaderVersion is the newest lay-out version this build reads and writes. A document of another minor is read as its own;
// one of a newer major is refused (store.lay-out.format-version, store.lay-out.format-newer).
const ReaderVersion = "2.1"

const readerMajor = 2

// firstVersion is what a document without format_version is read as, and what every run manifest is written with.
const firstVersion = "1.0"

// RowsUnknown stands in Part.Rows, Run.RowCount and Snapshot.RowCount where the document does not say. No document says it: a
// number that is written is a count.
const RowsUnknown = -1

// The largest documents that are read, in bytes: far above what a store grows to, far below what would exhaust memory.
const (
	MaxPointer  = 1 << 20
	MaxRun      = 64 << 20
	MaxSnapshot = 256 << 20
	MaxBucket   = 512 << 20
)

// document decodes strictly: one JSON object and nothing after it, no name twice in one object, names matched exactly,
// valid UTF-8, and integers read from their own digits. Unknown names are ignored.
func document(code fault.Code, path, what string, data []byte, limit int, into any) error {
	if len(data) > limit {
		return fault.New(code, path, fmt.Sprintf("%s is no %s: it has %d bytes, more than %d", path, what, len(data), limit))
	}
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return fault.New(code, path, fmt.Sprintf("%s is no %s: it is not a JSON object", path, what))
	}
	if err := strict.Unmarshal(data, into); err != nil {
		return fault.New(code, path, fmt.Sprintf("%s is no %s", path, what)).Wrap(err)
	}
	return nil
}

// head is what is read of a manifest before all else. Of a newer major row_count may be anything.
type head struct {
	FormatVersion *string         `json:"format_version"`
	RowCount      json.RawMessage `json:"row_count"`
}

// version checks format_version before anything else of the document is judged: a newer major may mean anything by it.
// The value returned is the document's version, "1.0" where it has none, and whether it states a row_count. One that is below 0
// refuses.
func version(path, what string, data []byte, limit int) (_ string, counted bool, err error) {
	var h head
	if err := document(fault.StoreManifestInvalid, path, what, data, limit, &h); err != nil {
		return "", false, err
	}
	v, err := h.version(path)
	if err == nil && bytes.HasPrefix(h.RowCount, []byte("-")) {
		err = invalid(path, fmt.Sprintf("its row_count is %s", h.RowCount))
	}
	return v, len(h.RowCount) > 0 && h.RowCount[0] != 'n', err
}

func (h head) version(path string) (string, error) {
	if h.FormatVersion == nil {
		return firstVersion, nil
	}
	v := *h.FormatVersion
	major, minor, ok := strings.Cut(v, ".")
	m, errMajor := strconv.ParseUint(major, 10, 31)
	_, errMinor := strconv.ParseUint(minor, 10, 31)
	if !ok || errMajor != nil || errMinor != nil || m == 0 {
		return "", fault.New(fault.StoreManifestInvalid, path, fmt.Sprintf("%s carries the format_version %q, which is no <major>.<minor>", path, v))
	}
	if m > readerMajor {
		return "", fault.New(fault.StoreManifestFormatNewer, path,
			fmt.Sprintf("%s carries format_version %s and this build reads %s", path, v, ReaderVersion)).
			WithHint("read this table with a newer build")
	}
	return v, nil
}

// UnmarshalJSON reads a part; rows it does not state are RowsUnknown.
func (p *Part) UnmarshalJSON(data []byte) error {
	type Plain Part
	q := struct {
		Plain
		Rows *int64 `json:"rows"`
	}{}
	if err := strict.Unmarshal(data, &q); err != nil {
		return err
	}
	*p = Part(q.Plain)
	p.Rows = RowsUnknown
	if q.Rows != nil {
		if p.Rows = *q.Rows; p.Rows < 0 {
			return fmt.Errorf("part %q has %d rows", p.Name, p.Rows)
		}
	}
	return nil
}

// DecodeRun reads the run manifest that lies at rel, a path relative to the store root such as key.RunManifest gives.
// Refusals: StoreManifestFormatNewer naming the file and both versions; StoreManifestInvalid for everything that is no run
// manifest, or that disagrees with its path on the table, the run or the node (store.lay-out.run-manifest).
func DecodeRun(rel string, data []byte) (*Run, error) {
	v, counted, err := version(rel, "run manifest", data, MaxRun)
	if err != nil {
		return nil, err
	}
	m := &Run{}
	if err := document(fault.StoreManifestInvalid, rel, "run manifest", data, MaxRun, m); err != nil {
		return nil, err
	}
	if m.FormatVersion = v; !counted {
		m.RowCount = RowsUnknown
	}
	at, err := key.Parse(rel)
	if err != nil || at.Kind != key.KindRunManifest {
		return nil, invalid(rel, "it does not lie where a run manifest lies")
	}
	switch {
	case m.Table != at.Table:
		return nil, disagrees(rel, "table", m.Table, at.Table)
	case m.RunID != at.Run:
		return nil, disagrees(rel, "run_id", m.RunID, at.Run)
	case m.NodeID != at.Node:
		return nil, disagrees(rel, "node_id", m.NodeID, at.Node)
	case m.CommittedAt.IsZero():
		return nil, invalid(rel, "it has no committed_at")
	case !m.CommittedAt.Holds():
		return nil, outside(rel, "committed_at", m.CommittedAt)
	case m.Fence != nil && *m.Fence < 0:
		return nil, invalid(rel, "its fence is negative")
	case !countable(m.CommitSeq):
		return nil, invalid(rel, fmt.Sprintf("its commit_seq is %d", *m.CommitSeq))
	}
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	m.RowCount, err = parts(rel, m.Parts, m.RowCount, key.RunPartName)
	return m, err
}

// DecodeSnapshot reads the snapshot manifest at rel, relative to the store root. Refusals as DecodeRun's.
func DecodeSnapshot(rel string, data []byte) (*Snapshot, error) {
	v, counted, err := version(rel, "snapshot manifest", data, MaxSnapshot)
	if err != nil {
		return nil, err
	}
	m := &Snapshot{}
	if err := document(fault.StoreManifestInvalid, rel, "snapshot manifest", data, MaxSnapshot, m); err != nil {
		return nil, err
	}
	if m.FormatVersion = v; !counted {
		m.RowCount = RowsUnknown
	}
	at, err := key.Parse(rel)
	if err != nil || at.Kind != key.KindSnapshotManifest {
		return nil, invalid(rel, "it does not lie where a snapshot manifest lies")
	}
	switch {
	case m.Table != at.Table:
		return nil, disagrees(rel, "table", m.Table, at.Table)
	case m.SnapshotID != at.Snapshot:
		return nil, disagrees(rel, "snapshot_id", m.SnapshotID, at.Snapshot)
	case m.CreatedAt.IsZero():
		return nil, invalid(rel, "it has no created_at")
	case !m.CreatedAt.Holds():
		return nil, outside(rel, "created_at", m.CreatedAt)
	case !countable(m.CommitSeq):
		return nil, invalid(rel, fmt.Sprintf("its commit_seq is %d", *m.CommitSeq))
	case m.Replacement != nil && (m.Replacement.CommitSeq == math.MaxInt64 || !m.Replacement.CommittedAt.Holds()):
		return nil, invalid(rel, "its replacement frontier is no commit")
	case m.Parent != nil && key.ValidSnapshot(*m.Parent) != nil:
		return nil, invalid(rel, fmt.Sprintf("its parent %q is no snapshot id", *m.Parent))
	case m.Fence != nil && *m.Fence < 0:
		return nil, invalid(rel, "its fence is negative")
	}
	for _, k := range m.IncludesRuns {
		if _, _, ok := SplitRunKey(k); !ok {
			return nil, invalid(rel, fmt.Sprintf("includes_runs holds %q, which is no <run-id>/<node-id>", k))
		}
	}
	if m.IncludesRuns == nil {
		m.IncludesRuns = []string{}
	}
	if m.PrimaryKey == nil {
		m.PrimaryKey = []string{}
	}
	if m.Parts == nil && strings.HasPrefix(v, "1.") {
		return m, nil // an absent list is no empty one: see Snapshot.Parts
	}
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	for i := range m.Parts {
		if id := m.Parts[i].SnapshotID; id != "" && key.ValidSnapshot(id) != nil {
			return nil, invalid(rel, fmt.Sprintf("part %q names the snapshot %q, which is no snapshot id", m.Parts[i].Name, id))
		}
	}
	m.RowCount, err = parts(rel, m.Parts, m.RowCount, key.SnapshotPartName)
	return m, err
}

// DecodePointer reads a table's pointer; path is what messages name. A null or absent snapshot is "none yet"
// (store.lay-out.table-pointer). Refusals: StoreManifestInvalid.
func DecodePointer(path string, data []byte) (*Pointer, error) {
	return pointer(fault.StoreManifestInvalid, path, data)
}

// DecodeBucketPointer is DecodePointer for an object read from a bucket: it refuses with SyncManifestInvalid.
func DecodeBucketPointer(path string, data []byte) (*Pointer, error) {
	return pointer(fault.SyncManifestInvalid, path, data)
}

func pointer(code fault.Code, path string, data []byte) (*Pointer, error) {
	p := &Pointer{}
	if err := document(code, path, "pointer", data, MaxPointer, p); err != nil {
		return nil, err
	}
	if p.SnapshotID != nil && key.ValidSnapshot(*p.SnapshotID) != nil {
		return nil, fault.New(code, path, fmt.Sprintf("%s names %q, which is no snapshot id", path, *p.SnapshotID))
	}
	if p.Fence != nil && *p.Fence < 0 {
		return nil, fault.New(code, path, path+" carries a negative fence")
	}
	return p, nil
}

// DecodeBucket reads a bucket manifest or one of its generations; path is what messages name. Keys that would leave the
// prefix refuse with SyncPrefixEscape, everything else with SyncManifestInvalid. An absent format is 1
// (store.push.manifest-format).
func DecodeBucket(path string, data []byte) (*Bucket, error) {
	b := &Bucket{Format: 1}
	if err := document(fault.SyncManifestInvalid, path, "bucket manifest", data, MaxBucket, b); err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) error {
		return fault.New(fault.SyncManifestInvalid, path, path+" "+fmt.Sprintf(format, args...))
	}
	if b.Format != 1 && b.Format != 2 {
		return nil, bad("has format %d and this build reads 1 and 2", b.Format)
	}
	if b.Generation < 0 || b.Generation == math.MaxInt64 { // none could follow the largest
		return nil, bad("has the generation %d", b.Generation)
	}
	for k, e := range b.Entries {
		if err := key.Check(k); err != nil {
			return nil, err
		}
		switch {
		case !key.IsDigest(e.SHA256):
			return nil, bad("lists %q with a sha256 that is none", k)
		case e.Size < 0:
			return nil, bad("lists %q with a negative size", k)
		case e.Owner != "" && key.ValidNode(e.Owner) != nil:
			return nil, bad("lists %q with an owner that is no node id", k)
		}
	}
	for k := range b.Tombstones {
		if err := key.Check(k); err != nil {
			return nil, err
		}
	}
	for k := range b.Collected {
		if err := key.Check(k); err != nil {
			return nil, err
		}
	}
	for k, p := range b.Pointers {
		if err := key.Check(k); err != nil {
			return nil, err
		}
		if p.SnapshotID != nil && key.ValidSnapshot(*p.SnapshotID) != nil || p.Fence != nil && *p.Fence < 0 {
			return nil, bad("lists the pointer %q with a snapshot or fence that is none", k)
		}
	}
	b.fill()
	return b, nil
}

// fill makes the maps that are always printed.
func (b *Bucket) fill() {
	if b.Entries == nil {
		b.Entries = map[string]Entry{}
	}
	if b.Tombstones == nil {
		b.Tombstones = map[string]Tombstone{}
	}
	if b.Pointers == nil {
		b.Pointers = map[string]Pointer{}
	}
}

// countable tells whether a commit sequence number is one that another can follow; an absent one is.
func countable(seq *int64) bool { return seq == nil || *seq >= 0 && *seq < math.MaxInt64 }

func outside(rel, field string, at Instant) error {
	return invalid(rel, fmt.Sprintf("its %s is %s, which 64 bits of nanoseconds do not hold", field, at))
}

// SplitRunKey takes "<run-id>/<node-id>" apart; ok is false for anything else.
func SplitRunKey(runKey string) (run, node string, ok bool) {
	run, node, ok = strings.Cut(runKey, "/")
	return run, node, ok && key.ValidRun(run) == nil && key.ValidNode(node) == nil
}

// parts checks names and counts, and gives the row count: the stated one, or the sum where every part states its own.
func parts(rel string, list []Part, stated int64, validName func(string) bool) (int64, error) {
	var sum int64
	known := true
	seen := make(map[string]bool, len(list))
	for i := range list {
		p := &list[i]
		id := p.SnapshotID + "/" + p.Name
		switch {
		case !validName(p.Name):
			return 0, invalid(rel, fmt.Sprintf("the part name %q is not path-safe", p.Name))
		case seen[id]:
			return 0, invalid(rel, fmt.Sprintf("it names the part %q twice", p.Name))
		case p.KeyVersion != nil && (*p.KeyVersion < 0 || *p.KeyVersion > math.MaxUint32):
			return 0, invalid(rel, fmt.Sprintf("part %q has the key_version %d", p.Name, *p.KeyVersion))
		case p.SHA256 != "" && !key.IsDigest(p.SHA256):
			return 0, invalid(rel, fmt.Sprintf("part %q has a sha256 that is none", p.Name))
		}
		seen[id] = true
		if p.Rows == RowsUnknown {
			known = false
		} else if sum += p.Rows; sum < 0 {
			return 0, invalid(rel, "its parts hold more rows than a 64-bit count")
		}
	}
	switch {
	case stated == RowsUnknown && known:
		return sum, nil
	case known && stated != sum:
		return 0, invalid(rel, fmt.Sprintf("its row_count is %d and its parts hold %d rows", stated, sum))
	}
	return stated, nil
}

func invalid(rel, reason string) error {
	return fault.New(fault.StoreManifestInvalid, rel, rel+" is not what its path promises: "+reason)
}

func disagrees(rel, field, has, want string) error {
	return invalid(rel, fmt.Sprintf("its %s is %q, its path says %q", field, has, want))
}
