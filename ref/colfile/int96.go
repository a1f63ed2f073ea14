package colfile

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// InstantError is an instant of Parquet's old INT96 form that 64 bits of nanoseconds do not hold. It is the cause of the
// Scanner's StorePartDamaged.
type InstantError struct {
	Column string
	Row    int64 // from 0 within the file
	Text   string
}

func (e *InstantError) Error() string {
	return fmt.Sprintf("column %q holds in row %d the instant %s, which 64 bits of nanoseconds do not hold", e.Column, e.Row+1, e.Text)
}

// outside finds the first instant of column i that is out of range: the library refuses a batch that has one and names
// neither column nor row. nil where there is none, or where the column is no INT96.
func (s *Scanner) outside(i int) error {
	leaf := s.leaves[i]
	descr := s.reader.MetaData().Schema.Column(leaf)
	if descr.PhysicalType() != parquet.Types.Int96 {
		return nil
	}
	values, levels := make([]parquet.Int96, ScanBatch), make([]int16, ScanBatch)
	row := int64(0)
	for g := range s.reader.NumRowGroups() {
		chunk, err := s.reader.RowGroup(g).Column(leaf)
		if err != nil {
			return err
		}
		in, ok := chunk.(*file.Int96ColumnChunkReader)
		if !ok {
			return nil
		}
		for in.HasNext() {
			n, held, err := in.ReadBatch(ScanBatch, values, levels, nil)
			if err != nil || n == 0 {
				return err
			}
			next := 0
			for k := range n {
				if descr.MaxDefinitionLevel() > 0 && levels[k] < descr.MaxDefinitionLevel() {
					continue
				}
				if next >= held {
					return nil
				}
				if _, err := values[next].ToTimestamp(); err != nil {
					return &InstantError{Column: s.schema.Field(i).Name, Row: row + k, Text: values[next].ToTime().Format(time.RFC3339Nano)}
				}
				next++
			}
			row += n
		}
	}
	return nil
}
