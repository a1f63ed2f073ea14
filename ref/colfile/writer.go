package colfile

import (
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"contextful/ref/fault"
)

// Bounds of a row group. A reader holds one at a time: written counts as encoded, raw as it lies in a reader's memory, where text
// that compresses a thousandfold takes its full length again.
const (
	RowGroupRows     = 128 << 10
	RowGroupBytes    = 64 << 20
	RowGroupRawBytes = 128 << 20
)

// Options sets what a table decides about its parts; the zero Options is right for most.
type Options struct {
	RowGroupRows int64 // rows of a row group at most, default RowGroupRows
	Allocator    memory.Allocator
	// Bloom names the columns whose chunks carry a bloom filter; what is no text and no integer is passed over. BloomRows is about
	// how many rows the part will have: it sizes the filters.
	Bloom     []string
	BloomRows int64
}

// Writer writes one part. It is used by one goroutine; every method turns a panic of the Parquet library into an error.
type Writer struct {
	out   countingWriter
	pq    encoder
	times []int // indexes of columns that hold instants
	names []string
	fine  map[int]bool
	rows  int64
	limit int64
	raw   int64 // of the open row group
}

// countingWriter hides the Close of what it writes to, since the Parquet writer closes whatever can be closed.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// guard turns a panic of the library into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the Parquet library gave up: %v", p)
	}
}

func writeFailed(err error) error {
	if err == nil || fault.CodeOf(err) != "" {
		return err
	}
	return fault.New(fault.StoreWriteFailed, "", "a Parquet part could not be written").Wrap(err)
}

// WriterProperties are the Parquet properties a part with the columns of sc is written with. Numbers take no dictionary: a
// hash lookup for each costs more than all else, and packed differences are smaller besides.
func WriterProperties(sc *arrow.Schema, o Options) *parquet.WriterProperties {
	rows := o.RowGroupRows
	if rows <= 0 {
		rows = RowGroupRows
	}
	props := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV1),
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithMaxRowGroupLength(rows), parquet.WithStats(true),
		parquet.WithCreatedBy("contextful"), parquet.WithBatchSize(16 << 10),
	}
	if o.Allocator != nil {
		props = append(props, parquet.WithAllocator(o.Allocator))
	}
	// The library knows a path by its text, in which a column "a.b" is the field b of a.
	seen := map[string]int{}
	for _, l := range leavesOf(nil, sc.Fields(), nil) {
		seen[l.path.String()]++
	}
	for _, l := range leavesOf(nil, sc.Fields(), nil) {
		if seen[l.path.String()] > 1 {
			continue
		}
		switch l.id {
		case arrow.INT32, arrow.INT64, arrow.TIMESTAMP:
			props = append(props, parquet.WithDictionaryPath(l.path, false), parquet.WithEncodingPath(l.path, parquet.Encodings.DeltaBinaryPacked))
		case arrow.FLOAT64, arrow.FLOAT32, arrow.FLOAT16:
			props = append(props, parquet.WithDictionaryPath(l.path, false))
		}
		if len(l.path) == 1 && slices.Contains(o.Bloom, l.path[0]) && bloomable(l.id) {
			// The library's own default is a megabyte for each chunk.
			ndv := rows
			if o.BloomRows > 0 {
				ndv = min(ndv, o.BloomRows)
			}
			props = append(props, parquet.WithBloomFilterEnabledPath(l.path, true), parquet.WithBloomFilterNDVPath(l.path, ndv),
				parquet.WithBloomFilterFPPPath(l.path, bloomErrors))
		}
	}
	return parquet.NewWriterProperties(props...)
}

// bloomErrors is how often a filter lists a value that is not there: a thousand keys are looked for at a time, and one of them
// listed by mistake costs the row group.
const bloomErrors = 1e-4

// bloomable: the columns whose filters a reader asks.
func bloomable(id arrow.Type) bool {
	return id == arrow.INT32 || id == arrow.INT64 || id == arrow.STRING
}

// leaf is a column of Parquet's own, below one of ours.
type leaf struct {
	path parquet.ColumnPath
	id   arrow.Type
}

func leavesOf(to []leaf, fields []arrow.Field, under parquet.ColumnPath) []leaf {
	for _, f := range fields {
		path := append(slices.Clone(under), f.Name)
		switch t := f.Type.(type) {
		case *arrow.StructType:
			to = leavesOf(to, t.Fields(), path)
		case *arrow.MapType:
			to = leavesOf(to, []arrow.Field{{Name: "key", Type: t.KeyType()}, {Name: "value", Type: t.ItemType()}}, append(path, "key_value"))
		case arrow.ListLikeType:
			to = leavesOf(to, []arrow.Field{{Name: "element", Type: t.Elem()}}, append(path, "list"))
		default:
			to = append(to, leaf{path, f.Type.ID()})
		}
	}
	return to
}

// NewWriter starts a part with the columns of sc on out, which is not closed. A failure to write is StoreWriteFailed.
func NewWriter(out io.Writer, sc *arrow.Schema, o Options) (w *Writer, err error) {
	defer func() { err = writeFailed(err) }()
	defer guard(&err)
	boundCodecs() // here too, so that no reader beside a writer changes the registry under it
	w = &Writer{out: countingWriter{to: out}, fine: map[int]bool{}, limit: RowGroupBytes}
	for i, f := range sc.Fields() {
		if hasInstants(f.Type) {
			w.times = append(w.times, i)
		}
		w.names = append(w.names, f.Name)
	}
	var opts []pqarrow.WriterOption
	if o.Allocator != nil {
		opts = append(opts, pqarrow.WithAllocator(o.Allocator))
	}
	flat := sc.NumFields() > 0
	for _, f := range sc.Fields() {
		flat = flat && !nested(f.Type) && f.Type.ID() != arrow.EXTENSION && f.Type.ID() != arrow.DICTIONARY
	}
	if flat {
		w.pq, err = newFlatEncoder(&w.out, sc, WriterProperties(sc, o), opts...)
	} else {
		w.pq, err = newNestedEncoder(&w.out, sc, WriterProperties(sc, o), opts...)
	}
	return w, err
}

// Write appends the rows of rec, whose schema is the writer's.
func (w *Writer) Write(rec arrow.RecordBatch) (err error) {
	defer func() { err = writeFailed(err) }()
	defer guard(&err)
	if err := w.pq.WriteBuffered(rec); err != nil {
		return err
	}
	for _, i := range w.times {
		if !w.fine[i] && hasFineDigits(rec.Column(i)) {
			w.fine[i] = true
		}
	}
	w.rows += rec.NumRows()
	w.raw += rawBytes(rec)
	if w.pq.RowGroupTotalBytesWritten() >= w.limit || w.raw >= RowGroupRawBytes {
		w.raw = 0
		return w.pq.NewBufferedRowGroupChecked()
	}
	return nil
}

// rawBytes is about what the values of a record take, without what they share with others.
func rawBytes(rec arrow.RecordBatch) (n int64) {
	for _, column := range rec.Columns() {
		n += rawBytesOf(column)
	}
	return n
}

func rawBytesOf(column arrow.Array) (n int64) {
	switch a := column.(type) {
	case array.ExtensionArray:
		return rawBytesOf(a.Storage())
	case *array.Struct:
		for i := range a.NumField() {
			n += rawBytesOf(a.Field(i))
		}
		return n
	case array.ListLike:
		if a.Len() == 0 {
			return 0
		}
		begin, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(a.Len() - 1)
		items := array.NewSlice(a.ListValues(), begin, end)
		defer items.Release()
		return 4*int64(a.Len()) + rawBytesOf(items)
	case array.BinaryLike:
		return int64(len(a.ValueBytes()))
	}
	if t, ok := column.DataType().(arrow.FixedWidthDataType); ok && column.DataType().ID() != arrow.DICTIONARY {
		return int64(max(1, t.BitWidth()/8)) * int64(column.Len())
	}
	return 8 * int64(column.Len())
}

// hasInstants says whether values of dt hold nanosecond instants at any depth.
func hasInstants(dt arrow.DataType) bool {
	switch t := dt.(type) {
	case *arrow.TimestampType:
		return t.Unit == arrow.Nanosecond
	case *arrow.StructType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return hasInstants(f.Type) })
	case arrow.ListLikeType:
		return hasInstants(t.Elem())
	}
	return false
}

// hasFineDigits reports whether a column holds nanosecond instants with digits below the microsecond, at any depth.
func hasFineDigits(col arrow.Array) bool {
	switch a := col.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			if hasFineDigits(a.Field(i)) {
				return true
			}
		}
		return false
	case array.ListLike:
		return hasInstants(a.DataType()) && hasFineDigits(a.ListValues())
	}
	ts, ok := col.(*array.Timestamp)
	if !ok || !hasInstants(ts.DataType()) {
		return false
	}
	values := ts.TimestampValues()
	if ts.NullN() == 0 {
		for _, v := range values {
			if v%1000 != 0 {
				return true
			}
		}
		return false
	}
	for i, v := range values {
		if v%1000 != 0 && ts.IsValid(i) {
			return true
		}
	}
	return false
}

// Rows counts the rows written so far, Bytes what has gone out.
func (w *Writer) Rows() int64 { return w.rows }

// Bytes counts the bytes handed to the underlying writer.
func (w *Writer) Bytes() int64 { return w.out.n }

// FineColumns names the columns in which an instant, at any depth, has digits below the microsecond, sorted; never nil.
func (w *Writer) FineColumns() []string {
	names := []string{}
	for i := range w.fine {
		names = append(names, w.names[i])
	}
	sort.Strings(names)
	return names
}

// Close ends the part with its footer. It neither syncs nor closes the underlying writer.
func (w *Writer) Close() (err error) {
	defer func() { err = writeFailed(err) }()
	defer guard(&err)
	return w.pq.Close()
}
