package colfile

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/vfs"
)

// What Rewrite holds of a file at a time, beside a column chunk of each column.
const (
	rewriteBytes = 32 << 20
	rewriteRows  = ScanBatch
)

// Rewrite reads the Parquet file at path, which this process has made (nothing guards against its bytes), and writes its rows to
// out as a part with the columns of sc, which are the file's by place, each value retyped (see Retype). It gives the rows and what
// Writer.FineColumns gives.
func Rewrite(ctx context.Context, fsys vfs.FS, path string, out io.Writer, sc *arrow.Schema, o Options) (rows int64, fine []string, err error) {
	defer func() { err = writeFailed(err) }()
	f, err := open(fsys, path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	r, err := reader(f, path)
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	each := int64(1)
	for i := range r.NumRowGroups() {
		if g := r.MetaData().RowGroup(i); g.NumRows() > 0 {
			each = max(each, g.TotalByteSize()/g.NumRows())
		}
	}
	fr, err := arrowReader(r, path, min(rewriteRows, max(16, rewriteBytes/each)))
	if err != nil {
		return 0, nil, err
	}
	in, err := fr.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return 0, nil, err
	}
	defer in.Release()
	w, err := NewWriter(out, sc, o)
	if err != nil {
		return 0, nil, err
	}
	for in.Next() {
		if err := rewriteRecord(w, in.RecordBatch(), sc); err != nil {
			return 0, nil, err
		}
	}
	if err := in.Err(); err != nil && err != io.EOF {
		return 0, nil, err
	}
	if w.Rows() != r.NumRows() {
		return 0, nil, fmt.Errorf("%d rows of %d were rewritten", w.Rows(), r.NumRows())
	}
	return w.Rows(), w.FineColumns(), w.Close()
}

func rewriteRecord(w *Writer, rec arrow.RecordBatch, sc *arrow.Schema) error {
	if int(rec.NumCols()) != sc.NumFields() {
		return fmt.Errorf("%d columns do not fit a part of %d", rec.NumCols(), sc.NumFields())
	}
	cols := make([]arrow.Array, sc.NumFields())
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, f := range sc.Fields() {
		var err error
		if cols[i], err = Retype(rec.Column(i), f.Type); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	out := array.NewRecordBatch(sc, cols, rec.NumRows())
	defer out.Release()
	return w.Write(out)
}
