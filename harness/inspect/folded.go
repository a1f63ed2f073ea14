package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// An IndexDoc is the folded_runs of a snapshot's manifest.
type IndexDoc struct {
	Through  string       `json:"through"`
	Segments []SegmentDoc `json:"segments"`
}

// A SegmentDoc is one Parquet file of it. Path is absolute.
type SegmentDoc struct {
	SnapshotID string `json:"snapshot_id"`
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	Rows       int64  `json:"rows"`
	Path       string `json:"-"`
}

// An IndexRow is a row of a segment: what the index says of one run. What it does not know is nil.
type IndexRow struct {
	RunKey, SnapshotID string
	CommittedAt        *time.Time
	CommitSeq          *int64
	BatchDigest        *string
	RowCount           *int64
}

var segmentForm = regexp.MustCompile(`^folded-[A-Za-z0-9._-]+\.parquet$`)

// Index decodes a snapshot's folded_runs; nil where it has none.
func Index(root string, s SnapshotDoc) (*IndexDoc, error) {
	var doc struct {
		FoldedRuns json.RawMessage `json:"folded_runs"`
	}
	if err := json.Unmarshal(s.Raw, &doc); err != nil {
		return nil, wrong("the manifest of %s: %w", s.SnapshotID, err)
	}
	if len(doc.FoldedRuns) == 0 || string(doc.FoldedRuns) == "null" {
		return nil, nil
	}
	var index IndexDoc
	if err := decode("the folded_runs of "+s.SnapshotID, doc.FoldedRuns, &index, "through", "segments"); err != nil {
		return nil, err
	}
	for i, seg := range index.Segments {
		if !SnapshotForm.MatchString(seg.SnapshotID) || !segmentForm.MatchString(seg.Name) {
			return nil, wrong("the folded_runs of %s name the segment %q of %q", s.SnapshotID, seg.Name, seg.SnapshotID)
		}
		index.Segments[i].Path = filepath.Join(SnapshotDir(root, s.Table, seg.SnapshotID), seg.Name)
	}
	return &index, nil
}

// SegmentRows reads one segment, holding it against its digest and its number of rows.
func SegmentRows(seg SegmentDoc) ([]IndexRow, error) {
	body, err := os.ReadFile(seg.Path)
	if err != nil {
		return nil, wrong("the segment %s: %w", seg.Path, err)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != seg.SHA256 {
		return nil, wrong("the segment %s has the digest %x, and the manifest says %s", seg.Path, sum, seg.SHA256)
	}
	g, err := ParquetRows(seg.Path)
	if err != nil {
		return nil, err
	}
	if int64(len(g.Rows)) != seg.Rows {
		return nil, wrong("the segment %s has %d rows, and the manifest says %d", seg.Path, len(g.Rows), seg.Rows)
	}
	at := map[string]int{}
	for i, c := range g.Columns {
		at[c] = i
	}
	for _, c := range []string{"run_key", "snapshot_id", "committed_at", "commit_seq", "batch_digest", "row_count"} {
		if _, ok := at[c]; !ok {
			return nil, wrong("the segment %s has no column %q", seg.Path, c)
		}
	}
	var out []IndexRow
	for _, cells := range g.Rows {
		var r IndexRow
		var ok [6]bool
		r.RunKey, ok[0] = cells[at["run_key"]].(string)
		r.SnapshotID, ok[1] = cells[at["snapshot_id"]].(string)
		r.CommittedAt, ok[2] = maybe[time.Time](cells[at["committed_at"]])
		r.CommitSeq, ok[3] = maybe[int64](cells[at["commit_seq"]])
		r.BatchDigest, ok[4] = maybe[string](cells[at["batch_digest"]])
		r.RowCount, ok[5] = maybe[int64](cells[at["row_count"]])
		if ok != [6]bool{true, true, true, true, true, true} {
			return nil, wrong("the segment %s has a row of other types: %v", seg.Path, cells)
		}
		out = append(out, r)
	}
	return out, nil
}

func maybe[T any](cell any) (*T, bool) {
	if cell == nil {
		return nil, true
	}
	v, ok := cell.(T)
	return &v, ok
}

// ChainHere is Chain down to the root or to the last snapshot whose manifest is here; whole tells which.
func ChainHere(root, table string) (chain []SnapshotDoc, whole bool, err error) {
	p, err := Pointer(root, table)
	if os.IsNotExist(err) {
		return nil, true, nil
	}
	for id := p.SnapshotID; id != "" && err == nil; {
		if len(chain) > 10000 {
			return nil, false, wrong("the chain of %s does not end", table)
		}
		var s SnapshotDoc
		s, err = Snapshot(root, table, id)
		if errors.Is(err, fs.ErrNotExist) {
			return chain, false, nil
		}
		chain, id = append(chain, s), s.Parent
	}
	return chain, true, err
}
