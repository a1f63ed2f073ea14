package steps

import (
	"errors"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// writeParquet writes a record as a Parquet file, without Arrow's schema in its footer.
func writeParquet(path string, rec arrow.RecordBatch) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(w.Write(rec), w.Close()) // and the file with it
}
