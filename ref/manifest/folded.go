package manifest

import (
	"strings"

	"contextful/ref/key"

	strict "github.com/go-json-experiment/json"
)

// FoldedRuns is a snapshot's list of every run its chain folds (store.lay-out.folded-index): Parquet segments, and the
// snapshot they describe. It is a help to readers and nothing more: whether it can be trusted is theirs to find out.
type FoldedRuns struct {
	Through  string    `json:"through"`
	Segments []Segment `json:"segments"`

	undecodable bool
}

// Segment is one Parquet file of a folded-runs index. Name is a file name in data/snapshots/<SnapshotID>/, the snapshot that
// wrote it; SHA256 and Rows are of that file.
type Segment struct {
	SnapshotID string `json:"snapshot_id"`
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	Rows       int64  `json:"rows"`
}

// UnmarshalJSON never fails: an index that does not decode is one nobody trusts, and its manifest stands without it
// (store.lay-out.folded-index-valid).
func (f *FoldedRuns) UnmarshalJSON(data []byte) error {
	type plain FoldedRuns
	q := plain{}
	if err := strict.Unmarshal(data, &q); err != nil {
		*f = FoldedRuns{undecodable: true}
		return nil
	}
	*f = FoldedRuns(q)
	return nil
}

// UnmarshalJSON reads a segment; rows it does not state are RowsUnknown.
func (s *Segment) UnmarshalJSON(data []byte) error {
	type plain Segment
	q := plain{Rows: RowsUnknown}
	if err := strict.Unmarshal(data, &q); err != nil {
		return err
	}
	*s = Segment(q)
	return nil
}

// Describes tells whether the index decodes, is about the snapshot id, and names its segments by names that are safe to join
// to the store root, each with a digest and a number of rows, and none twice. Their bytes are for a reader to look at. A nil
// index describes nothing.
func (f *FoldedRuns) Describes(id string) bool {
	if f == nil || f.undecodable || f.Through != id {
		return false
	}
	seen := make(map[Segment]bool, len(f.Segments))
	for _, s := range f.Segments {
		at := Segment{SnapshotID: s.SnapshotID, Name: s.Name}
		if key.ValidSnapshot(s.SnapshotID) != nil || !key.FoldedSegmentName(s.Name) || !key.IsDigest(s.SHA256) || s.Rows < 0 || seen[at] {
			return false
		}
		seen[at] = true
	}
	return true
}

// Files are the segments' paths relative to the store root, those whose names are safe to join to it.
func (f *FoldedRuns) Files(table string) map[string]Segment {
	files := map[string]Segment{}
	if f == nil {
		return files
	}
	for _, s := range f.Segments {
		if key.ValidSnapshot(s.SnapshotID) == nil && key.FoldedSegmentName(s.Name) {
			files[key.SnapshotDir(table, s.SnapshotID)+"/"+s.Name] = s
		}
	}
	return files
}

// SnapshotVersion is the format_version a snapshot manifest is written with (store.lay-out.format-version): major 2 where a
// part or a segment lies in another snapshot's directory, which a reader of major 1 would look for in this one; minor 1
// where it carries folded_runs, which such a reader ignores.
func SnapshotVersion(m *Snapshot) string {
	major, minor := "1", "0"
	elsewhere := func(origin string) {
		if origin != "" && origin != m.SnapshotID {
			major = "2"
		}
	}
	for _, p := range m.Parts {
		elsewhere(p.SnapshotID)
	}
	if m.FoldedRuns != nil {
		minor = "1"
		for _, s := range m.FoldedRuns.Segments {
			elsewhere(s.SnapshotID)
		}
	}
	return strings.Join([]string{major, minor}, ".")
}
