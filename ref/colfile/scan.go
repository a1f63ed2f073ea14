package colfile

import (
	"context"
	"fmt"
	"io"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"contextful/ref/fault"
	"contextful/ref/vfs"
)

// ScanBatch is the number of rows of a batch Scan hands out at most.
const ScanBatch = 8 << 10

// Scanner reads the columns of one Parquet file batch by batch, in order, on the caller's goroutine: on goroutines of the library's
// own, a panic over damaged bytes could not be caught.
type Scanner struct {
	path    string
	schema  *arrow.Schema
	reader  *file.Reader
	columns []*pqarrow.ColumnReader
	leaves  []int               // Parquet's own number of each column
	groups  []int               // the row groups read, nil for all
	shared  bool                // the reader is another's to close
	loose   *pqarrow.FileReader // of nested columns
	rows    int64
	done    int64
}

// NewScanner opens src, which stays the caller's, for the columns of the given names, or all where names is nil. A column that
// nests deeper than schema.MaxDepth is StoreUnsupported, naming it; bytes that are no Parquet StorePartDamaged, naming path.
func NewScanner(ctx context.Context, src parquet.ReaderAtSeeker, path string, names []string) (*Scanner, error) {
	r, err := reader(src, path)
	if err != nil {
		return nil, err
	}
	s := &Scanner{path: path, reader: r, rows: r.NumRows()}
	if err := rowGroupsHold(r, path, s.rows); err != nil {
		s.Close()
		return nil, err
	}
	fr, err := arrowReader(r, path, ScanBatch)
	if err == nil {
		err = s.open(ctx, src, fr, names)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Scanner) open(ctx context.Context, src io.ReaderAt, fr *pqarrow.FileReader, names []string) (err error) {
	defer func() {
		if err != nil && fault.CodeOf(err) == "" {
			err = damaged(s.path, "cannot be read").Wrap(err)
		}
	}()
	defer guard(&err)
	all, err := schemaOf(fr, s.path)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	return s.columnsOf(ctx, src, fr, all, func(name string) bool { return names == nil || wanted[name] })
}

func (s *Scanner) columnsOf(ctx context.Context, src io.ReaderAt, fr *pqarrow.FileReader, all *arrow.Schema, wanted func(string) bool) (err error) {
	defer guard(&err)
	if s.groups == nil {
		for g := range fr.ParquetReader().NumRowGroups() {
			s.groups = append(s.groups, g)
		}
	}
	var fields []arrow.Field
	leaf := 0
	for i, f := range all.Fields() {
		if wanted(f.Name) {
			if nested(f.Type) {
				c, err := s.nestedColumn(ctx, src, fr, i, f, leaf)
				if err != nil {
					return err
				}
				fields, s.columns, s.leaves = append(fields, f), append(s.columns, c), append(s.leaves, leaf)
				leaf += leafCount(f.Type)
				continue
			}
			if err := s.bounded(fr.ParquetReader(), src, leaf); err != nil {
				return err
			}
			c, err := fr.GetFieldReader(ctx, i, map[int]bool{leaf: true}, s.groups)
			if err != nil {
				return err
			}
			fields, s.columns, s.leaves = append(fields, f), append(s.columns, c), append(s.leaves, leaf)
		}
		leaf += leafCount(f.Type)
	}
	md := all.Metadata()
	s.schema = arrow.NewSchema(fields, &md)
	return nil
}

// bounded refuses what would make the library allocate far more than the file holds.
func (s *Scanner) bounded(r *file.Reader, src io.ReaderAt, leaf int) error {
	if n := r.MetaData().Schema.Column(leaf).TypeLength(); n > maxFixed {
		return fmt.Errorf("its values of a fixed %d bytes are longer than %d", n, maxFixed)
	}
	for _, g := range s.groups {
		if err := differencesWithin(src, r, g, leaf); err != nil {
			return err
		}
	}
	return nil
}

// textField shows a byte array annotated JSON or ENUM as the text it is; the library gives bare bytes.
func textField(f arrow.Field, column *pqschema.Column) arrow.Field {
	if f.Type.ID() != arrow.BINARY {
		return f
	}
	switch column.LogicalType().(type) {
	case pqschema.JSONLogicalType:
		f.Metadata = arrow.NewMetadata([]string{extensionName}, []string{jsonExtension})
	case pqschema.EnumLogicalType:
	default:
		return f
	}
	f.Type = arrow.BinaryTypes.String
	return f
}

// asText gives the same bytes as a string array and takes over the reference.
func asText(a arrow.Array) arrow.Array {
	defer a.Release()
	d := a.Data()
	text := array.NewData(arrow.BinaryTypes.String, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	defer text.Release()
	return array.MakeFromData(text)
}

func nested(dt arrow.DataType) bool {
	if e, ok := dt.(arrow.ExtensionType); ok {
		dt = e.StorageType()
	}
	return arrow.IsNested(dt.ID())
}

// leafCount is the number of Parquet columns an Arrow type takes.
func leafCount(dt arrow.DataType) int {
	switch t := dt.(type) {
	case arrow.ExtensionType:
		return leafCount(t.StorageType())
	case *arrow.DictionaryType:
		return leafCount(t.ValueType)
	case *arrow.MapType:
		return leafCount(t.KeyType()) + leafCount(t.ItemType())
	case arrow.ListLikeType:
		return leafCount(t.Elem())
	case *arrow.StructType:
		n := 0
		for _, f := range t.Fields() {
			n += leafCount(f.Type)
		}
		return n
	}
	return 1
}

// Schema is the Arrow schema of the columns as the file has it. Vectors come as lists, json in nested columns may come as bytes.
func (s *Scanner) Schema() *arrow.Schema { return s.schema }

// Rows is what the footer promises.
func (s *Scanner) Rows() int64 { return s.rows }

// Next gives the next rows, nil at the end. The batch is the caller's to release. Damaged data, or fewer rows than the footer
// promises, is StorePartDamaged.
func (s *Scanner) Next() (rec arrow.RecordBatch, err error) {
	defer func() {
		if err != nil && fault.CodeOf(err) == "" {
			rec, err = nil, damaged(s.path, "has data that cannot be read").Wrap(err)
		}
	}()
	defer guard(&err)
	n := min(ScanBatch, s.rows-s.done)
	if n <= 0 {
		return nil, nil
	}
	cols, mixed := make([]arrow.Array, len(s.columns)), false
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range s.columns {
		if cols[i], err = nextArray(c, n); err != nil {
			if found := s.outside(i); found != nil {
				err = found
			}
			return nil, err
		}
		if want := s.schema.Field(i).Type; want.ID() == arrow.STRING && cols[i].DataType().ID() == arrow.BINARY {
			cols[i] = asText(cols[i])
		}
		if int64(cols[i].Len()) != n {
			return nil, fmt.Errorf("column %q ends after %d of %d rows", s.schema.Field(i).Name, s.done+int64(cols[i].Len()), s.rows)
		}
		if nested(s.schema.Field(i).Type) {
			if err = wellFormed(cols[i]); err != nil {
				return nil, fmt.Errorf("column %q: %w", s.schema.Field(i).Name, err)
			}
			mixed = true
		}
	}
	s.done += n
	sc := s.schema
	if mixed {
		sc = asRead(sc, cols)
	}
	return array.NewRecordBatch(sc, cols, n), nil
}

func nextArray(c *pqarrow.ColumnReader, n int64) (arrow.Array, error) {
	chunked, err := c.NextBatch(n)
	if err != nil {
		return nil, err
	}
	defer chunked.Release()
	switch chunks := chunked.Chunks(); len(chunks) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, chunked.DataType(), 0), nil
	case 1:
		chunks[0].Retain()
		return chunks[0], nil
	default:
		return array.Concatenate(chunks, memory.DefaultAllocator)
	}
}

// Close frees the reader and leaves src open.
func (s *Scanner) Close() error {
	for _, c := range s.columns {
		c.Release()
	}
	s.columns = nil
	if s.shared {
		return nil
	}
	return s.reader.Close()
}

// FineColumns reads every nanosecond timestamp column of a part and names, sorted, those with digits below the microsecond, and
// every nested column with instants: what the writer of a foreign part did not record. Never nil without an error. StorePartDamaged where it cannot be read.
func FineColumns(ctx context.Context, fsys vfs.FS, path string) ([]string, error) {
	f, err := open(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := infoOf(f, path)
	if err != nil {
		return nil, err
	}
	fine, times := []string{}, []string{}
	for _, field := range info.Schema.Fields() {
		switch {
		case !hasInstants(field.Type):
		case nested(field.Type):
			fine = append(fine, field.Name) // not looked into: it may have
		default:
			times = append(times, field.Name)
		}
	}
	if len(times) == 0 {
		sort.Strings(fine)
		return fine, nil
	}
	s, err := NewScanner(ctx, f, path, times)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	seen := make([]bool, s.Schema().NumFields())
	for {
		rec, err := s.Next()
		if err != nil {
			return nil, err
		}
		if rec == nil {
			break
		}
		for i := range seen {
			seen[i] = seen[i] || hasFineDigits(rec.Column(i))
		}
		rec.Release()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for i, is := range seen {
		if is {
			fine = append(fine, s.Schema().Field(i).Name)
		}
	}
	sort.Strings(fine)
	return fine, nil
}
