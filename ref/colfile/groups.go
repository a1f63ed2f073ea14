package colfile

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/fault"
	"contextful/ref/vfs"
)

// GroupReader reads single row groups of one part: its footer is read once, and of a row group that nobody asks for no byte.
// It serves one goroutine.
type GroupReader struct {
	path   string
	src    vfs.File
	size   int64
	reader *file.Reader
	arrow  *pqarrow.FileReader
	schema *arrow.Schema
	leaves []int // Parquet's own number of each field's first column
}

// OpenGroups opens a part by its footer. StorePartDamaged where it cannot be read. Close frees it.
func OpenGroups(fsys vfs.FS, path string) (*GroupReader, error) {
	src, err := open(fsys, path)
	if err != nil {
		return nil, err
	}
	g := &GroupReader{path: path, src: src}
	if err := g.open(); err != nil {
		_ = g.Close() // nothing was written
		return nil, err
	}
	return g, nil
}

func (g *GroupReader) open() (err error) {
	if g.reader, err = reader(g.src, g.path); err != nil {
		return err
	}
	if err := rowGroupsHold(g.reader, g.path, g.reader.NumRows()); err != nil {
		return err
	}
	if g.arrow, err = arrowReader(g.reader, g.path, ScanBatch); err != nil {
		return err
	}
	g.size = g.reader.MetaData().GetSourceFileSize()
	if g.schema, err = schemaOf(g.arrow, g.path); err != nil {
		return err
	}
	leaf := 0
	for _, f := range g.schema.Fields() {
		g.leaves = append(g.leaves, leaf)
		leaf += leafCount(f.Type)
	}
	return nil
}

// Close frees the reader and its file.
func (g *GroupReader) Close() error {
	var err error
	if g.reader != nil {
		err = g.reader.Close()
	}
	if cerr := g.src.Close(); err == nil {
		err = cerr
	}
	return err
}

// Schema is the part's, json columns marked as ReadInfo marks them.
func (g *GroupReader) Schema() *arrow.Schema { return g.schema }

// Len is the number of row groups, Rows that of the rows of one.
func (g *GroupReader) Len() int { return g.reader.NumRowGroups() }

// Rows is the number of rows of a row group.
func (g *GroupReader) Rows(group int) int64 { return g.reader.MetaData().RowGroups[group].NumRows }

// Bytes is what the columns of the given names take of a row group in the file.
func (g *GroupReader) Bytes(group int, names []string) (n int64) {
	for _, name := range names {
		for i, f := range g.schema.Fields() {
			for leaf := g.leaves[i]; f.Name == name && leaf < g.leaves[i]+leafCount(f.Type); leaf++ {
				if c, err := g.reader.MetaData().RowGroup(group).ColumnChunk(leaf); err == nil {
					n += c.TotalCompressedSize()
				}
			}
		}
	}
	return n
}

// leaf finds a flat column.
func (g *GroupReader) leaf(name string) (int, bool) {
	for i, f := range g.schema.Fields() {
		if f.Name == name {
			return g.leaves[i], !nested(f.Type)
		}
	}
	return 0, false
}

// Scan reads the named columns, those that the part has, of one row group.
func (g *GroupReader) Scan(ctx context.Context, group int, names []string) (s *Scanner, err error) {
	s = &Scanner{path: g.path, reader: g.reader, shared: true, rows: g.Rows(group), groups: []int{group}}
	defer func() {
		if err != nil {
			_ = s.Close() // the reader stays open
			s = nil
			if fault.CodeOf(err) == "" {
				err = damaged(g.path, "cannot be read").Wrap(err)
			}
		}
	}()
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	return s, s.columnsOf(ctx, g.src, g.arrow, g.schema, func(name string) bool { return wanted[name] })
}
