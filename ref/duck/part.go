package duck

import (
	"context"
	"fmt"
	"slices"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// A row group as colfile writes its own: so many rows at most, and fewer where they are large. The engine holds some groups in
// memory at a time and counts rows, so the bytes are estimated from the inputs: text takes several times its compressed size.
const (
	GroupRows     = 122880
	LeastRows     = 2048 // what the engine moves at a time
	groupBytes    = colfile.RowGroupBytes
	compressedFor = 4
)

// RowsOfGroup is how many rows a row group takes, for rows that lie in files of size bytes.
func RowsOfGroup(size, rows int64) int64 {
	if size <= 0 || rows <= 0 {
		return GroupRows
	}
	each := max(1, size/rows) * compressedFor
	return min(GroupRows, max(LeastRows, groupBytes/each))
}

// PartOptions of one part. RowGroupRows is what RowsOfGroup gives, 0 for its default.
type PartOptions struct {
	RowGroupRows int64
}

// Written is what is known of a part: its rows (0: then no file is there) and, sorted, its timestamp columns with digits below
// the microsecond.
type Written struct {
	Rows int64
	Fine []string
}

// WritePart runs query (one SELECT whose columns are rel's, in any order, its timestamps TIMESTAMP_NS) and writes its rows, in
// their order, as the part file (absolute, below root): Zstandard, timestamps as UTC nanoseconds, every column of the type rel
// promises. The part is verified by opening it afresh. It is not synced. Errors: StoreWriteFailed, StorePartDamaged, or the
// engine's own (see Explain).
func (s *Session) WritePart(ctx context.Context, fsys vfs.FS, root, query string, rel Relation, file string, o PartOptions) (Written, error) {
	name, err := s.Path(root, file)
	if err != nil {
		return Written{}, err
	}
	if o.RowGroupRows <= 0 {
		o.RowGroupRows = GroupRows
	}
	var w Written
	w.Rows, err = s.Exec(ctx, fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d)", query, Text(name), o.RowGroupRows))
	if err != nil {
		return Written{}, err
	}
	if w.Rows == 0 {
		return Written{}, fsys.Remove(file)
	}
	if w.Fine, err = s.fineOfPart(ctx, rel, name); err != nil {
		return Written{}, err
	}
	if _, err := colfile.FlipFile(file, true); err != nil {
		return Written{}, err
	}
	return w, verifyPart(fsys, rel, file, w.Rows)
}

// fineOfPart asks the part, whose timestamps are still TIMESTAMP_NS, about the columns in which an input had fine digits.
func (s *Session) fineOfPart(ctx context.Context, rel Relation, name string) ([]string, error) {
	fine := []string{}
	for _, c := range rel.Columns {
		if !rel.Fine[c.Name] || !rel.Nanos[c.Name] {
			continue
		}
		if c.Type.Kind == schema.Timestamp {
			n, err := s.Int(ctx, "SELECT count(*) FROM "+ReadParquet([]string{name})+" WHERE epoch_ns("+Ident(c.Name)+") % 1000 <> 0")
			if err != nil {
				return nil, err
			}
			if n == 0 {
				continue
			}
		}
		fine = append(fine, c.Name)
	}
	slices.Sort(fine)
	return fine, nil
}

// verifyPart opens the part afresh: its rows, and that every column has come out as the type that schema.json promises.
func verifyPart(fsys vfs.FS, rel Relation, file string, rows int64) error {
	if err := colfile.Verify(fsys, file, rows); err != nil {
		return err
	}
	info, err := colfile.ReadInfo(fsys, file)
	if err != nil {
		return err
	}
	in, err := schema.FromArrow(info.Schema)
	if err != nil {
		return err
	}
	for _, c := range rel.Columns {
		typ, ok := in.Lookup(c.Name)
		if !ok || typ.Kind != writtenKind(c.Type.Kind) {
			return fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("column %q was written as %s and not as %s", c.Name, typ, c.Type))
		}
		if i := info.Schema.FieldIndices(c.Name); c.Type.Kind == schema.Timestamp && info.Schema.Field(i[0]).Type.Fingerprint() != schema.TimestampType().Fingerprint() {
			return fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("column %q was written as %s and not as UTC nanoseconds", c.Name, info.Schema.Field(i[0]).Type))
		}
	}
	return nil
}

// writtenKind is the kind a column has in the file: the engine's writer knows no json and no variant.
func writtenKind(k schema.Kind) schema.Kind {
	switch k {
	case schema.JSON, schema.None:
		return schema.Utf8
	case schema.Variant:
		return schema.Struct
	}
	return k
}
