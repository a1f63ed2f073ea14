package colfile

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// encoder is what writes records: pqarrow's own, or flatEncoder where no column is nested.
type encoder interface {
	WriteBuffered(arrow.RecordBatch) error
	RowGroupTotalBytesWritten() int64
	NewBufferedRowGroupChecked() error
	Close() error
}

// flatEncoder encodes the columns of a record side by side: each has its own buffered writer, which nothing shares until the
// row group is closed. Encoding is most of what a landing costs.
type flatEncoder struct {
	pq     *file.Writer
	group  file.BufferedRowGroupWriter
	fields []arrow.Field
	limit  int64
	rows   int64 // of the open row group
	each   []context.Context
	levels [][]int16
}

func newFlatEncoder(out *countingWriter, sc *arrow.Schema, props *parquet.WriterProperties, opts ...pqarrow.WriterOption) (*flatEncoder, error) {
	ap := pqarrow.NewArrowWriterProperties(opts...)
	ps, err := pqarrow.ToParquet(sc, props, ap)
	if err != nil {
		return nil, err
	}
	meta := make(metadata.KeyValueMetadata, 0)
	md := sc.Metadata()
	keys, values := md.Keys(), md.Values()
	for i := range keys {
		if err := meta.Append(keys[i], values[i]); err != nil {
			return nil, err
		}
	}
	if err := meta.Append(arrowSchema, SerializedSchema(sc)); err != nil {
		return nil, err
	}
	pq, err := file.NewParquetWriterWithError(out, ps.Root(), file.WithWriterProps(props), file.WithWriteMetadata(meta))
	if err != nil {
		return nil, err
	}
	e := &flatEncoder{pq: pq, fields: sc.Fields(), limit: props.MaxRowGroupLength()}
	for range e.fields {
		e.each = append(e.each, pqarrow.NewArrowWriteContext(context.Background(), &ap))
		e.levels = append(e.levels, nil)
	}
	return e, nil
}

func (e *flatEncoder) NewBufferedRowGroupChecked() error {
	if e.group != nil {
		if err := e.group.Close(); err != nil {
			return err
		}
	}
	var err error
	e.group, err = e.pq.AppendBufferedRowGroupChecked()
	e.rows = 0
	return err
}

func (e *flatEncoder) RowGroupTotalBytesWritten() int64 {
	if e.group == nil {
		return 0
	}
	return e.group.TotalBytesWritten()
}

func (e *flatEncoder) WriteBuffered(rec arrow.RecordBatch) error {
	if len(rec.Columns()) != len(e.fields) {
		return errors.New("the record has other columns than the part")
	}
	for from := int64(0); from < rec.NumRows(); {
		if e.group == nil || e.rows >= e.limit {
			if err := e.NewBufferedRowGroupChecked(); err != nil {
				return err
			}
		}
		n := min(rec.NumRows()-from, e.limit-e.rows)
		if err := e.rowsOf(rec, from, n); err != nil {
			return err
		}
		e.rows += n
		from += n
	}
	return nil
}

func (e *flatEncoder) rowsOf(rec arrow.RecordBatch, from, n int64) error {
	var next atomic.Int64
	errs := make([]error, len(e.fields))
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(e.fields); i = int(next.Add(1)) - 1 {
			errs[i] = e.column(i, rec.Column(i), from, n)
		}
	}
	workers := min(runtime.GOMAXPROCS(0), 4, len(e.fields))
	if n*int64(len(e.fields)) < 4096 {
		workers = 1
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return errors.Join(errs...)
}

func (e *flatEncoder) column(i int, col arrow.Array, from, n int64) (err error) {
	defer guard(&err)
	f := e.fields[i]
	if !arrow.TypeEqual(col.DataType(), f.Type) {
		return errors.New("column " + f.Name + " has another type than the part's")
	}
	cw, err := e.group.Column(i)
	if err != nil {
		return err
	}
	part := array.NewSlice(col, from, from+n)
	defer part.Release()
	var levels []int16
	if f.Nullable {
		if int64(len(e.levels[i])) < n {
			e.levels[i] = make([]int16, n)
		}
		levels = e.levels[i][:n]
		for j := range levels {
			levels[j] = 1
		}
		if part.NullN() > 0 {
			for j := range levels {
				if part.IsNull(j) {
					levels[j] = 0
				}
			}
		}
	} else if part.NullN() > 0 {
		return errors.New("column " + f.Name + " takes no null")
	}
	return pqarrow.WriteArrowToColumn(e.each[i], cw, part, levels, nil, f.Nullable)
}

func (e *flatEncoder) Close() error {
	if e.group != nil {
		if err := e.group.Close(); err != nil {
			return err
		}
	}
	return e.pq.Close()
}
