package land

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// piece is a stretch of rows in the spool: which columns of the input it has, and their values.
type piece struct {
	rows    int
	columns []int
	values  []arrow.Array
	types   []schema.Type // as the values came; the column's may have become another since
}

func (p *piece) bytes() int64 {
	n := int64(0)
	for _, v := range p.values {
		n += sizeOf(v.Data())
	}
	return n
}

func sizeOf(d arrow.ArrayData) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Len())
		}
	}
	for _, k := range d.Children() {
		n += sizeOf(k)
	}
	return n
}

// spool keeps the whole input between the first pass and the second: in memory up to limit bytes, beyond that in a temporary
// file of Arrow IPC streams, one after the other; a new one begins where the set of columns or their types changes.
type spool struct {
	dir    string
	limit  int64
	held   []piece
	size   int64
	file   *os.File
	out    *bufio.Writer
	stream *ipc.Writer
	shape  string
	pieces int
	types  [][]schema.Type // of each piece in the file
	name   string          // of the file while it has one
}

func newSpool(dir string, limit int64) *spool { return &spool{dir: dir, limit: limit} }

func (s *spool) failed(err error) error {
	if err == nil {
		return nil
	}
	dir := s.dir
	if dir == "" {
		dir = os.TempDir()
	}
	return fault.New(fault.StoreWriteFailed, dir, "the landing's spool in "+dir+" could not be written").Wrap(err).
		WithHint("free some space there, or name another directory with TMPDIR")
}

func (s *spool) add(p piece, names []*landed) error {
	if s.file == nil {
		if s.size += p.bytes(); s.size <= s.limit {
			s.held = append(s.held, p)
			return nil
		}
		if err := s.spill(names); err != nil {
			return s.failed(err)
		}
	}
	return s.failed(s.write(p, names))
}

// spill begins the file and moves what memory holds there.
func (s *spool) spill(names []*landed) error {
	f, err := os.CreateTemp(s.dir, "contextful-land-*.arrows")
	if err != nil {
		return err
	}
	s.file, s.out = f, bufio.NewWriterSize(f, 1<<20)
	// Without a name the file ends with this process, however that ends. Where the system refuses, close removes it.
	if os.Remove(f.Name()) != nil {
		s.name = f.Name()
	}
	for _, p := range s.held {
		if err := s.write(p, names); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

func (s *spool) write(p piece, names []*landed) error {
	shape := fmt.Sprint(p.columns)
	for _, t := range p.types {
		shape += " " + t.String()
	}
	if s.stream == nil || shape != s.shape {
		if err := s.endStream(); err != nil {
			return err
		}
		s.stream, s.shape = ipc.NewWriter(s.out, ipc.WithSchema(s.schemaOf(p))), shape
	}
	rec := array.NewRecordBatch(s.schemaOf(p), p.values, int64(p.rows))
	defer rec.Release()
	s.pieces++
	s.types = append(s.types, p.types)
	return s.stream.Write(rec)
}

func (s *spool) schemaOf(p piece) *arrow.Schema {
	fields := make([]arrow.Field, len(p.columns))
	for i, k := range p.columns {
		fields[i] = arrow.Field{Name: fmt.Sprint(k), Type: p.values[i].DataType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

func (s *spool) endStream() error {
	if s.stream == nil {
		return nil
	}
	err := s.stream.Close()
	s.stream = nil
	return err
}

// each hands out the pieces in order; a piece is valid during the call.
func (s *spool) each(visit func(piece) error) error {
	if s.file == nil {
		for _, p := range s.held {
			if err := visit(p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(s.endStream(), s.out.Flush()); err != nil {
		return s.failed(err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return s.failed(err)
	}
	in := bufio.NewReaderSize(s.file, 1<<20)
	for left := s.pieces; left > 0; {
		r, err := ipc.NewReader(in, ipc.WithAllocator(memory.DefaultAllocator))
		if err != nil {
			return s.failed(err)
		}
		for r.Next() {
			rec := r.RecordBatch()
			p := piece{rows: int(rec.NumRows()), values: rec.Columns(), types: s.types[s.pieces-left]}
			for _, f := range rec.Schema().Fields() {
				var k int
				if _, err := fmt.Sscan(f.Name, &k); err != nil {
					return s.failed(err)
				}
				p.columns = append(p.columns, k)
			}
			if err := visit(p); err != nil {
				r.Release()
				return err
			}
			left--
		}
		err = r.Err()
		r.Release()
		if err != nil {
			return s.failed(err)
		}
	}
	return nil
}

// close frees the spool.
func (s *spool) close() {
	s.held = nil
	if s.file != nil {
		_ = s.file.Close()
	}
	if s.name != "" {
		_ = os.Remove(s.name)
	}
}

// floatsOf turns int64 values of a whole array (no slice) into float64; that no digit is lost was checked when they were read.
func floatsOf(a arrow.Array) arrow.Array {
	ints := a.(*array.Int64).Int64Values()
	floats := make([]float64, len(ints))
	for i, v := range ints {
		floats[i] = float64(v)
	}
	var valid *memory.Buffer
	if a.NullN() > 0 {
		valid = a.Data().Buffers()[0]
	}
	d := array.NewData(schema.Of(schema.Float64).ArrowField("", true).Type, len(floats), []*memory.Buffer{valid, memory.NewBufferBytes(bytesOf(floats))}, nil, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d)
}
