package colfile

import (
	"encoding/base64"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// nestedEncoder is the library's own writer behind Retype: what lies in the file is stored's, what ARROW:schema says is the part's.
type nestedEncoder struct {
	*pqarrow.FileWriter
	schema *arrow.Schema
}

func newNestedEncoder(out *countingWriter, sc *arrow.Schema, props *parquet.WriterProperties, opts ...pqarrow.WriterOption) (*nestedEncoder, error) {
	fields := sc.Fields()
	for i := range fields {
		fields[i] = storedField(fields[i])
	}
	md := sc.Metadata()
	e := &nestedEncoder{schema: arrow.NewSchema(fields, &md)}
	var err error
	if e.FileWriter, err = pqarrow.NewFileWriter(e.schema, out, props, pqarrow.NewArrowWriterProperties(opts...)); err != nil {
		return nil, err
	}
	return e, e.AppendKeyValueMetadata(arrowSchema, SerializedSchema(sc))
}

// arrowSchema is the key under which a part's footer keeps its Arrow schema.
const arrowSchema = "ARROW:schema"

// SerializedSchema is the text a part's footer keeps of its Arrow schema under the key ARROW:schema.
func SerializedSchema(sc *arrow.Schema) string {
	return base64.StdEncoding.EncodeToString(flight.SerializeSchema(sc, memory.DefaultAllocator))
}

func (e *nestedEncoder) WriteBuffered(rec arrow.RecordBatch) error {
	cols := make([]arrow.Array, rec.NumCols())
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	if len(cols) != e.schema.NumFields() {
		return fmt.Errorf("a record of %d columns does not fit a part of %d", len(cols), e.schema.NumFields())
	}
	for i, f := range e.schema.Fields() {
		var err error
		if cols[i], err = Retype(rec.Column(i), f.Type); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
		if !f.Nullable && cols[i].NullN() > 0 {
			return fmt.Errorf("column %q takes no null", f.Name)
		}
	}
	stored := array.NewRecordBatch(e.schema, cols, rec.NumRows())
	defer stored.Release()
	return e.FileWriter.WriteBuffered(stored)
}
