package duck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/vfs"

	"github.com/apache/arrow-go/v18/arrow"
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

// WritePart runs query (one SELECT of rel's columns in their order, from a relation made with Table.ForParts) and writes its
// rows, in their order, as the part file (absolute, below root): Zstandard, instants as UTC nanoseconds, every column of the type
// rel promises. A column whose type is not known yet has no value and is left out. The part is verified by opening it afresh; it
// is not synced. Errors: StoreWriteFailed, StorePartDamaged, or the engine's own (see Explain).
func (s *Session) WritePart(ctx context.Context, fsys vfs.FS, root, query string, rel Relation, file string, o PartOptions) (Written, error) {
	if o.RowGroupRows <= 0 {
		o.RowGroupRows = GroupRows
	}
	columns := make([]schema.Column, 0, len(rel.Columns))
	for _, c := range rel.Columns {
		if c.Type.Kind != schema.None {
			columns = append(columns, c)
		}
	}
	if len(columns) < len(rel.Columns) {
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = c.Name
		}
		query = "SELECT " + Idents(names) + " FROM (" + query + ")"
	}
	out := (&schema.Schema{Columns: columns}).Arrow()
	var w Written
	var err error
	if slices.ContainsFunc(columns, func(c schema.Column) bool { return changes(c.Type) }) {
		w, err = s.rewritePart(ctx, fsys, query, out, file, o)
	} else {
		w, err = s.copyPart(ctx, fsys, root, query, rel, said(columns), file, o)
	}
	if err != nil || w.Rows == 0 {
		return w, err
	}
	return w, verifyPart(fsys, columns, file, w.Rows)
}

// changes says whether the engine's writer has no form for values of type t at any depth: it knows neither halves nor bytes of
// one length. It has none for a vector either, but a list has the same bytes, and ARROW:schema tells them apart.
func changes(t schema.Type) bool {
	switch t.Kind {
	case schema.Vector16, schema.FixedBinary:
		return true
	case schema.List, schema.Map:
		return changes(*t.Elem)
	case schema.Struct:
		return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return changes(f.Type) })
	}
	return false
}

// said is the Arrow schema that a part written by the engine carries: of a json column it says text, as the engine's own annotation
// does. Told arrow.json beside that annotation, arrow-go's reader takes the column for bytes and panics; which columns are json the
// manifest says (manifest.Part.JSONColumns).
func said(columns []schema.Column) *arrow.Schema {
	list := slices.Clone(columns)
	for i, c := range list {
		if c.Type.Kind == schema.JSON {
			list[i].Type = schema.Of(schema.Utf8)
		}
	}
	return (&schema.Schema{Columns: list}).Arrow()
}

// copyPart lets the engine write the part, tells it the part's Arrow schema and turns its instants to UTC.
func (s *Session) copyPart(ctx context.Context, fsys vfs.FS, root, query string, rel Relation, out *arrow.Schema, file string, o PartOptions) (w Written, err error) {
	name, err := s.Path(root, file)
	if err != nil {
		return w, err
	}
	w.Rows, err = s.Exec(ctx, fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d%s, KV_METADATA {'ARROW:schema': %s})",
		query, Text(name), o.RowGroupRows, s.dictionaries(len(rel.Columns)), Text(colfile.SerializedSchema(out))))
	if err != nil {
		return Written{}, err
	}
	if w.Rows == 0 {
		return w, fsys.Remove(file)
	}
	if w.Fine, err = s.fineOfPart(ctx, rel, name); err != nil {
		return Written{}, err
	}
	_, err = colfile.FlipFile(file, true)
	return w, err
}

// rewritePart lets the engine write a passing file, whose rows colfile's writer then writes with their own types: it holds some row
// groups at a time, however large the part. Measured in CPU against the engine's own COPY: 1.7 times for float16[384], 1.3 for rows
// with a binary(32).
func (s *Session) rewritePart(ctx context.Context, fsys vfs.FS, query string, out *arrow.Schema, file string, o PartOptions) (w Written, err error) {
	passing := filepath.Join(s.temp.dir, "part.parquet")
	defer os.Remove(passing)
	w.Rows, err = s.Exec(ctx, fmt.Sprintf("COPY (%s) TO %s (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE %d%s)",
		query, Text(passing), o.RowGroupRows, s.dictionaries(out.NumFields())))
	if err != nil || w.Rows == 0 {
		return Written{}, err
	}
	f, err := fsys.Create(file)
	if err != nil {
		return Written{}, fault.New(fault.StoreWriteFailed, file, "part "+file+" could not be made").Wrap(err)
	}
	rows, fine, err := colfile.Rewrite(ctx, vfs.OS{}, passing, f, out, colfile.Options{RowGroupRows: o.RowGroupRows})
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fault.New(fault.StoreWriteFailed, file, "part "+file+" could not be written").Wrap(cerr)
	}
	if err == nil && rows != w.Rows {
		err = fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("%d rows of %d were written", rows, w.Rows))
	}
	return Written{Rows: rows, Fine: fine}, err
}

// dictionaries bounds what the engine's writer sets aside for the dictionaries of a part: by itself a MiB for every column of text,
// before the first row.
func (s *Session) dictionaries(columns int) string {
	if columns <= manyColumns {
		return ""
	}
	each := max(4<<10, s.memory/16/int64(columns))
	return fmt.Sprintf(", STRING_DICTIONARY_PAGE_SIZE_LIMIT %d, DICTIONARY_SIZE_LIMIT %d", each, each/32)
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
func verifyPart(fsys vfs.FS, columns []schema.Column, file string, rows int64) error {
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
	for i, c := range columns {
		if len(in.Columns) <= i || in.Columns[i].Name != c.Name {
			return fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("column %q was not written in its place", c.Name))
		}
		if typ := in.Columns[i].Type; !typ.Equal(c.Type) && !plain(typ).Equal(plain(c.Type)) {
			return fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("column %q was written as %s and not as %s", c.Name, typ, c.Type))
		}
		if !inUTC(info.Schema.Field(i).Type) {
			return fault.New(fault.StoreWriteFailed, file, fmt.Sprintf("column %q was written as %s and not as UTC nanoseconds", c.Name, info.Schema.Field(i).Type))
		}
	}
	return nil
}

// plain is t where a reader does not see what ARROW:schema says of json and variants, as the library does not below a column.
func plain(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.JSON:
		return schema.Of(schema.Utf8)
	case schema.List, schema.Map:
		elem := plain(*t.Elem)
		t.Elem = &elem
	case schema.Variant:
		return schema.VariantFields()
	case schema.Struct:
		t.Fields = slices.Clone(t.Fields)
		for i, f := range t.Fields {
			t.Fields[i].Type = plain(f.Type)
		}
	}
	return t
}

// inUTC says whether all instants in values of dt are UTC nanoseconds.
func inUTC(dt arrow.DataType) bool {
	switch t := dt.(type) {
	case *arrow.TimestampType:
		return t.Fingerprint() == schema.TimestampType().Fingerprint()
	case *arrow.StructType:
		return !slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return !inUTC(f.Type) })
	case arrow.ListLikeType:
		return inUTC(t.Elem())
	}
	return true
}
