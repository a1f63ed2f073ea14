package colfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// What a chunk of items may hold: levels that compress to nothing could promise thousands of millions of items to a row.
const (
	minItems    = 4 << 20 // values of a chunk, however small it is
	itemsGrowth = 1 << 10 // values of a chunk for each of its compressed bytes
)

// nestedColumn opens a reader of one nested field, whose first leaf is Parquet's column number first. Vectors come as lists: what a
// null one takes would be the writer's to choose. Nothing runs on a goroutine of the library's but the making of readers, all of which
// is tried here first.
func (s *Scanner) nestedColumn(ctx context.Context, src io.ReaderAt, fr *pqarrow.FileReader, field int, f arrow.Field, first int) (*pqarrow.ColumnReader, error) {
	if depth := depthOf(f.Type); depth > schema.MaxDepth {
		return nil, fault.New(fault.StoreUnsupported, f.Name, fmt.Sprintf("column %q nests %d deep, deeper than %d", f.Name, depth, schema.MaxDepth))
	}
	r := fr.ParquetReader()
	leaves := map[int]bool{}
	for k := first; k < first+leafCount(f.Type); k++ {
		leaves[k] = true
		if err := s.bounded(r, src, k); err != nil {
			return nil, err
		}
		for _, g := range s.groups {
			if err := itemsWithin(r, g, k); err != nil {
				return nil, err
			}
			pages, err := r.RowGroup(g).GetColumnPageReader(k)
			if err != nil {
				return nil, err
			}
			if err := pages.Close(); err != nil {
				return nil, err
			}
		}
	}
	loose, err := s.looseReader(r)
	if err != nil {
		return nil, err
	}
	return loose.GetFieldReader(ctx, field, leaves, s.groups)
}

// looseReader reads the file as Parquet alone describes it.
func (s *Scanner) looseReader(r *file.Reader) (*pqarrow.FileReader, error) {
	if s.loose != nil {
		return s.loose, nil
	}
	meta := r.MetaData()
	kept := meta.FileMetaData.KeyValueMetadata
	meta.FileMetaData.KeyValueMetadata = nil
	defer func() { meta.FileMetaData.KeyValueMetadata = kept }()
	var err error
	s.loose, err = arrowReader(r, s.path, ScanBatch)
	return s.loose, err
}

// depthOf counts constructors in constructors, as the language does: a scalar is one deep, a vector too.
func depthOf(dt arrow.DataType) int {
	switch t := dt.(type) {
	case arrow.ExtensionType:
		return depthOf(t.StorageType())
	case *arrow.MapType:
		return 1 + max(depthOf(t.KeyType()), depthOf(t.ItemType()))
	case *arrow.FixedSizeListType:
		return 1
	case arrow.ListLikeType:
		return 1 + depthOf(t.Elem())
	case *arrow.StructType:
		deepest := 0
		for _, f := range t.Fields() {
			deepest = max(deepest, depthOf(f.Type))
		}
		return 1 + deepest
	}
	return 1
}

func itemsWithin(r *file.Reader, group, column int) error {
	if r.MetaData().Schema.Column(column).MaxRepetitionLevel() == 0 {
		return nil
	}
	c, err := r.MetaData().RowGroup(group).ColumnChunk(column)
	if err != nil {
		return err
	}
	if most := max(minItems, itemsGrowth*c.TotalCompressedSize()); c.NumValues() > most {
		return fmt.Errorf("a column chunk of %d bytes promises %d items", c.TotalCompressedSize(), c.NumValues())
	}
	return nil
}

// wellFormed looks that the parts of a nested array fit each other: the levels of two leaves of a damaged file need not.
func wellFormed(a arrow.Array) error {
	switch a := a.(type) {
	case array.ExtensionArray:
		return wellFormed(a.Storage())
	case *array.Struct:
		for i := range a.NumField() {
			if a.Field(i).Len() != a.Len() {
				return fmt.Errorf("a field has %d values in %d rows", a.Field(i).Len(), a.Len())
			}
			if err := wellFormed(a.Field(i)); err != nil {
				return err
			}
		}
	case *array.FixedSizeList:
		return errors.New("a list of a fixed size came where none was asked for")
	case array.ListLike:
		last := int64(0)
		for i := range a.Len() {
			from, to := a.ValueOffsets(i)
			if from < last || to < from || to > int64(a.ListValues().Len()) {
				return fmt.Errorf("a list begins at %d and ends at %d of %d items", from, to, a.ListValues().Len())
			}
			last = to
		}
		if m, ok := a.(*array.Map); ok {
			if err := wellFormed(m.Keys()); err != nil {
				return err
			}
			if m.Keys().Len() != m.ListValues().Len() || m.Items().Len() != m.Keys().Len() {
				return errors.New("a map has keys without values")
			}
			return wellFormed(m.Items())
		}
		return wellFormed(a.ListValues())
	}
	return nil
}

// asRead gives a schema the types that the columns were read as.
func asRead(sc *arrow.Schema, cols []arrow.Array) *arrow.Schema {
	fields := sc.Fields()
	for i, c := range cols {
		fields[i].Type = c.DataType()
	}
	md := sc.Metadata()
	return arrow.NewSchema(fields, &md)
}
