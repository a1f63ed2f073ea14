package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// maxSegment is the largest folded-runs segment that is read, in bytes: some ten million runs.
const maxSegment = 1 << 30

// FoldedRun is what a folded-runs index says of one run (store.lay-out.folded-index). Its manifest may be gone since.
type FoldedRun struct {
	// RunKey is "<run-id>/<node-id>", SnapshotID the snapshot whose includes_runs has it.
	RunKey     string `json:"run_key"`
	SnapshotID string `json:"snapshot_id"`
	// CommittedAt is zero, the others nil or "", where the pass that wrote the row could not know: the run's manifest was
	// gone by then, or does not say.
	CommittedAt manifest.Instant `json:"committed_at"`
	CommitSeq   *int64           `json:"commit_seq"`
	BatchDigest string           `json:"batch_digest,omitempty"`
	Rows        *int64           `json:"row_count"`
}

// foldedRow is the row of a run that a snapshot folds; m is nil where its manifest is gone.
func foldedRow(runKey, snapshot string, m *manifest.Run) FoldedRun {
	r := FoldedRun{RunKey: runKey, SnapshotID: snapshot}
	if m != nil {
		r.CommittedAt, r.CommitSeq, r.BatchDigest = m.CommittedAt, m.CommitSeq, m.BatchDigest
		if m.RowCount >= 0 {
			rows := m.RowCount
			r.Rows = &rows
		}
	}
	return r
}

// The columns of a segment, in their order.
func segmentSchema() *arrow.Schema {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	return arrow.NewSchema([]arrow.Field{
		{Name: "run_key", Type: text}, {Name: "snapshot_id", Type: text},
		{Name: "committed_at", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, Nullable: true},
		{Name: "commit_seq", Type: number, Nullable: true}, {Name: "batch_digest", Type: text, Nullable: true},
		{Name: "row_count", Type: number, Nullable: true},
	}, nil)
}

// encodeSegment prints rows as a segment, sorted by run key. Equal rows print as equal bytes.
func encodeSegment(rows []FoldedRun) ([]byte, error) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b FoldedRun) int { return cmp.Compare(a.RunKey, b.RunKey) })
	sc := segmentSchema()
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	number := func(column int, v *int64) {
		if to := b.Field(column).(*array.Int64Builder); v != nil {
			to.Append(*v)
		} else {
			to.AppendNull()
		}
	}
	for _, r := range rows {
		b.Field(0).(*array.StringBuilder).Append(r.RunKey)
		b.Field(1).(*array.StringBuilder).Append(r.SnapshotID)
		if at := b.Field(2).(*array.TimestampBuilder); r.CommittedAt.IsZero() {
			at.AppendNull()
		} else {
			at.Append(arrow.Timestamp(r.CommittedAt.UnixNano()))
		}
		number(3, r.CommitSeq)
		if to := b.Field(4).(*array.StringBuilder); r.BatchDigest == "" {
			to.AppendNull()
		} else {
			to.Append(r.BatchDigest)
		}
		number(5, r.Rows)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	var out bytes.Buffer
	w, err := colfile.NewWriter(&out, sc, colfile.Options{})
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

var errSegment = errors.New("it is no folded-runs segment")

// decodeSegment reads a segment of exactly rows rows; name is what messages call it. Every fault of an untrusted file is an
// error: columns that are absent or of other types, a run key that is none, a key twice, a negative count.
func decodeSegment(ctx context.Context, name string, data []byte, rows int64) ([]FoldedRun, error) {
	s, err := colfile.NewScanner(ctx, bytes.NewReader(data), name, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Rows() != rows {
		return nil, fmt.Errorf("%w: it holds %d rows where %d were recorded", errSegment, s.Rows(), rows)
	}
	var at [6]int
	for i, want := range segmentSchema().Fields() {
		found := s.Schema().FieldIndices(want.Name)
		if len(found) != 1 || !sameColumn(s.Schema().Field(found[0]).Type, want.Type) {
			return nil, fmt.Errorf("%w: it has no column %s of type %s", errSegment, want.Name, want.Type)
		}
		at[i] = found[0]
	}
	var out []FoldedRun
	for {
		rec, err := s.Next()
		if err != nil || rec == nil {
			return out, err
		}
		out, err = appendSegment(out, rec, at)
		rec.Release()
		if err != nil {
			return nil, err
		}
	}
}

// sameColumn: a timestamp of any unit is one.
func sameColumn(have, want arrow.DataType) bool {
	return have.ID() == want.ID()
}

func appendSegment(out []FoldedRun, rec arrow.RecordBatch, at [6]int) ([]FoldedRun, error) {
	keys, ids := rec.Column(at[0]).(*array.String), rec.Column(at[1]).(*array.String)
	instants, seqs := rec.Column(at[2]).(*array.Timestamp), rec.Column(at[3]).(*array.Int64)
	digests, counts := rec.Column(at[4]).(*array.String), rec.Column(at[5]).(*array.Int64)
	unit := instants.DataType().(*arrow.TimestampType).Unit
	last := ""
	for i := range int(rec.NumRows()) {
		// Copied: the batch's memory is not ours to keep.
		r := FoldedRun{RunKey: string([]byte(keys.Value(i))), SnapshotID: last}
		if _, _, ok := manifest.SplitRunKey(r.RunKey); !ok || keys.IsNull(i) {
			return nil, fmt.Errorf("%w: it names the run %.200q", errSegment, r.RunKey)
		}
		if id := ids.Value(i); id != last {
			if ids.IsNull(i) || key.ValidSnapshot(id) != nil {
				return nil, fmt.Errorf("%w: it names the snapshot %.200q", errSegment, id)
			}
			last = string([]byte(id))
			r.SnapshotID = last
		}
		if instants.IsValid(i) {
			r.CommittedAt = manifest.At(instants.Value(i).ToTime(unit))
		}
		if seqs.IsValid(i) {
			v := seqs.Value(i)
			r.CommitSeq = &v
		}
		if digests.IsValid(i) {
			r.BatchDigest = string([]byte(digests.Value(i)))
		}
		if counts.IsValid(i) {
			v := counts.Value(i)
			r.Rows = &v
		}
		if r.CommitSeq != nil && *r.CommitSeq < 0 || r.Rows != nil && *r.Rows < 0 {
			return nil, fmt.Errorf("%w: run %s has a negative number", errSegment, r.RunKey)
		}
		out = append(out, r)
	}
	return out, nil
}

// readSegment reads one segment that a manifest names, and holds its bytes against the digest recorded.
func (t *Table) readSegment(ctx context.Context, rel string, s manifest.Segment) ([]FoldedRun, error) {
	data, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), maxSegment)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.SHA256 {
		return nil, fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s has the digest %x, its manifest records %s", rel, sum, s.SHA256))
	}
	return decodeSegment(ctx, rel, data, s.Rows)
}

// writeSegment writes one segment into a pass's directory, synced; the directory is Seal's to sync.
func (p *Pass) writeSegment(n int, rows []FoldedRun) (manifest.Segment, error) {
	data, err := encodeSegment(rows)
	if err != nil {
		return manifest.Segment{}, err
	}
	name, fsys := key.FoldedName(n), p.t.s.opts.FS
	f, err := fsys.Create(path.Join(p.Dir(), name))
	if err != nil {
		return manifest.Segment{}, WriteFailed(p.Rel()+"/"+name, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return manifest.Segment{}, WriteFailed(p.Rel()+"/"+name, err)
	}
	sum := sha256.Sum256(data)
	return manifest.Segment{SnapshotID: p.id, Name: name, SHA256: hex.EncodeToString(sum[:]), Rows: int64(len(rows))}, nil
}

// tier is the size tier of a segment: those between two neighbouring powers of 4 share one.
func tier(rows int) int {
	n := 0
	for ; rows >= 4; rows /= 4 {
		n++
	}
	return n
}
