package inspect

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// A ColumnDoc is a leaf column of a Parquet file as its footer states it.
type ColumnDoc struct {
	Name     string // dotted path
	Physical string // "INT64"
	Logical  string // "Timestamp(isAdjustedToUTC=true, timeUnit=nanoseconds, …)" or "None"
	Required bool
}

// ParquetColumns reads the footer of a part: its leaf columns and its row count.
func ParquetColumns(path string) (cols []ColumnDoc, rows int64, err error) {
	defer recovered(path, &err)
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, 0, wrong("the part %s does not open: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	s := f.MetaData().Schema
	for i := range s.NumColumns() {
		c := s.Column(i)
		cols = append(cols, ColumnDoc{Name: c.Path(), Physical: c.PhysicalType().String(), Logical: c.LogicalType().String(), Required: c.MaxDefinitionLevel() == 0})
	}
	return cols, f.NumRows(), nil
}

// A Chunk is where the pages of one column of one row group lie in a Parquet file: bytes From to To.
type Chunk struct{ From, To int64 }

// ParquetChunks reads the footer of a part: the places of its values. Footer, bloom filters and indexes lie outside them.
func ParquetChunks(path string) (chunks []Chunk, err error) {
	defer recovered(path, &err)
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, wrong("the part %s does not open: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	for g := range f.NumRowGroups() {
		group := f.MetaData().RowGroup(g)
		for i := range group.NumColumns() {
			c, err := group.ColumnChunk(i)
			if err != nil {
				return nil, wrong("the part %s has no readable footer: %w", path, err)
			}
			from := c.DataPageOffset()
			if d := c.DictionaryPageOffset(); c.HasDictionaryPage() && d > 0 && d < from {
				from = d
			}
			chunks = append(chunks, Chunk{from, from + c.TotalCompressedSize()})
		}
	}
	return chunks, nil
}

// recovered turns a panic of the Parquet library into an error: a damaged part must not take the kit down.
func recovered(path string, err *error) {
	if e := recover(); e != nil {
		*err = wrong("the part %s cannot be read: %v", path, e)
	}
}

// ParquetRows reads every row of the parts, in their order, over the union of their columns. Timestamps are time.Time.
func ParquetRows(paths ...string) (g Grid, err error) {
	var parts []Grid
	seen := map[string]bool{}
	for _, p := range paths {
		part, err := parquetPart(p)
		if err != nil {
			return Grid{}, err
		}
		for _, c := range part.Columns {
			if !seen[c] {
				seen[c] = true
				g.Columns = append(g.Columns, c)
			}
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		g.Rows = append(g.Rows, part.Select(g.Columns...).Rows...)
	}
	return g, nil
}

func parquetPart(path string) (g Grid, err error) {
	defer recovered(path, &err)
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return g, wrong("the part %s does not open: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return g, wrong("the part %s: %w", path, err)
	}
	t, err := r.ReadTable(context.Background())
	if err != nil {
		return g, wrong("the part %s: %w", path, err)
	}
	defer t.Release()
	for _, fd := range t.Schema().Fields() {
		g.Columns = append(g.Columns, fd.Name)
	}
	g.Rows = make([][]any, t.NumRows())
	for i := range g.Rows {
		g.Rows[i] = make([]any, len(g.Columns))
	}
	for c := range g.Columns {
		row := 0
		for _, chunk := range t.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				g.Rows[row][c] = cell(chunk, i)
				row++
			}
		}
	}
	return g, nil
}

func cell(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return instant(int64(a.Value(i)), unit)
	case *array.Int64:
		return a.Value(i)
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Boolean:
		return a.Value(i)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	}
	return nestedCell(a, i)
}

func instant(v int64, unit arrow.TimeUnit) time.Time {
	switch unit {
	case arrow.Second:
		return time.Unix(v, 0).UTC()
	case arrow.Millisecond:
		return time.UnixMilli(v).UTC()
	case arrow.Microsecond:
		return time.UnixMicro(v).UTC()
	}
	return time.Unix(v/1e9, v%1e9).UTC()
}

// Complete says what is wrong with the parts a manifest names: a part that is missing, does not open, or has another
// number of rows than it claims. nil where all is well; the error is for a directory that cannot be looked at.
func Complete(parts []Part) []string {
	var out []string
	for _, p := range parts {
		_, rows, err := ParquetColumns(p.Path)
		switch {
		case err != nil:
			out = append(out, err.Error())
		case rows != p.Rows:
			out = append(out, fmt.Sprintf("%s has %d rows, not the %d it is said to have", p.Path, rows, p.Rows))
		}
	}
	return out
}
