package land

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"path"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// maxPartRows is the number of rows of a part at most, maxCells how many cells are made into Arrow arrays at a time.
const (
	maxPartRows = 1 << 20
	maxCells    = 4 << 20
)

// parts writes the second pass.
type parts struct {
	ctx     context.Context
	fsys    vfs.FS
	dir     string
	rel     string
	columns []*landed
	slot    []int         // of a column in the part, -1 where it holds no value
	types   []schema.Type // what each column lands as: text that joins a json column lands as the JSON strings of it
	width   int           // columns of the part but for the injected ones
	atOnce  int           // rows made into Arrow arrays at a time: what is null takes room there
	json    []string
	schema  *arrow.Schema
	stamps  stamps
	limit   int64
	skip    rowSet // rows of the input that are not written
	bloom   []string
	rows    int64 // to be written in all

	list []manifest.Part
	row  int64 // of the input
	out  int64 // of the run
	open *openPart
}

type openPart struct {
	name string
	file vfs.File
	buf  *bufio.Writer
	sum  hash.Hash
	pq   *colfile.Writer
}

// stamps are the injected columns: arrays of one repeated value, made once and sliced.
type stamps struct {
	m     *manifest.Run
	run   string
	site  string
	batch *int32 // nil outside a batch scope
	rows  int
	same  []arrow.Array // _ingested_at, _run_id, _site_id
	tail  []arrow.Array // _commit_seq, _batch_seq
}

// writeParts writes the input's rows with the injected columns into w's directory and gives what the manifest says of the
// parts. Each is opened again and its rows counted; Commit syncs them.
func writeParts(ctx context.Context, t *store.Table, w *store.RunWriter, c *collector, merged *schema.Schema, o *Options, m *manifest.Run, skip rowSet) ([]manifest.Part, error) {
	p := &parts{skip: skip, rows: m.RowCount,
		ctx: ctx, fsys: t.Store().FS(), dir: w.Dir(), rel: w.Rel(), columns: c.columns, limit: o.partRows,
		json: []string{}, stamps: stamps{m: m, run: o.RunID, site: o.SiteID, batch: o.BatchSeq}}
	if p.limit <= 0 {
		p.limit = maxPartRows
	}
	if d := t.Declared(); d != nil {
		p.bloom = d.BloomFilter
	}
	part := &schema.Schema{}
	cells := 1
	for _, col := range c.columns {
		if col.typ.Kind == schema.None {
			p.slot, p.types = append(p.slot, -1), append(p.types, schema.Type{})
			continue
		}
		p.slot = append(p.slot, p.width)
		p.width++
		ty, _ := merged.Lookup(col.name)
		ty = textAsJSON(col.typ, ty)
		p.types = append(p.types, ty)
		cells += weight(ty)
		if ty.Kind == schema.JSON {
			p.json = append(p.json, col.name)
		}
		part.Columns = append(part.Columns, schema.Column{Name: col.name, Type: ty, Nullable: true})
	}
	p.atOnce = max(1, maxCells/cells)
	slices.Sort(p.json)
	part.Columns = append(part.Columns, o.injected()...)
	p.schema = part.Arrow()
	err := c.spool.each(p.add)
	if err == nil && p.open != nil {
		err = p.close()
	}
	if err != nil && p.open != nil {
		_ = p.open.file.Close() // the run directory is removed with it
	}
	return p.list, err
}

// add writes one piece, cut where a part is full, and into stretches of rows that memory holds.
func (p *parts) add(in piece) error {
	values, slots := make([]arrow.Array, len(in.columns)), make([]int, p.width)
	for i := range slots {
		slots[i] = -1
	}
	for i, k := range in.columns {
		v, err := p.columns[k].final(in.values[i], in.types[i], p.row)
		if err != nil {
			return err
		}
		values[i], slots[p.slot[k]] = v, i
	}
	rows, err := p.kept(values, in.rows)
	defer func() {
		for _, v := range values {
			v.Release()
		}
	}()
	if err != nil {
		return err
	}
	for from := 0; from < rows; {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if p.open == nil {
			if err := p.begin(); err != nil {
				return err
			}
		}
		n := int(min(int64(rows-from), p.limit-p.open.pq.Rows(), int64(p.atOnce)))
		cols := make([]arrow.Array, 0, p.width+5)
		for slot, i := range slots {
			if i < 0 {
				cols = append(cols, array.MakeArrayOfNull(memory.DefaultAllocator, dressedType(p.schema.Field(slot).Type), n))
				continue
			}
			k := in.columns[i]
			cut := array.NewSlice(values[i], int64(from), int64(from+n))
			cols = append(cols, dress(cut, p.columns[k].typ, p.types[k]))
			cut.Release()
		}
		if err := p.write(cols, n); err != nil {
			return err
		}
		if from += n; p.open.pq.Rows() >= p.limit {
			if err := p.close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept drops the rows that are not written from a piece's values and counts those that are left.
func (p *parts) kept(values []arrow.Array, rows int) (int, error) {
	first := p.row
	p.row += int64(rows)
	var runs [][2]int64
	left := 0
	for i := range rows {
		switch {
		case p.skip.has(first + int64(i)):
		case len(runs) > 0 && runs[len(runs)-1][1] == int64(i):
			runs[len(runs)-1][1]++
			left++
		default:
			runs = append(runs, [2]int64{int64(i), int64(i) + 1})
			left++
		}
	}
	if left == 0 || left == rows {
		return left, nil
	}
	for k, v := range values {
		slices := make([]arrow.Array, len(runs))
		for i, r := range runs {
			slices[i] = array.NewSlice(v, r[0], r[1])
		}
		joined, err := array.Concatenate(slices, memory.DefaultAllocator)
		for _, s := range slices {
			s.Release()
		}
		if err != nil {
			return 0, fault.New(fault.StoreWriteFailed, p.rel, "the rows of a run could not be put together").Wrap(err)
		}
		v.Release()
		values[k] = joined
	}
	return left, nil
}

// write takes over the columns of n rows.
func (p *parts) write(cols []arrow.Array, n int) error {
	cols = append(cols, p.stamps.take(p.out, n)...)
	fields := p.schema.Fields()
	for i, c := range cols {
		fields[i].Type = c.DataType()
	}
	rec := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(n))
	defer rec.Release()
	for _, c := range cols {
		c.Release()
	}
	p.out += int64(n)
	return p.failed(p.open.name, p.open.pq.Write(rec))
}

func (p *parts) failed(name string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if code := fault.CodeOf(err); code != "" && code != fault.StoreWriteFailed {
		return err
	}
	rel := path.Join(p.rel, name)
	return fault.New(fault.StoreWriteFailed, rel, rel+" could not be written").Wrap(err)
}

func (p *parts) begin() error {
	o := &openPart{name: key.PartName(len(p.list)), sum: sha256.New()}
	f, err := p.fsys.Create(path.Join(p.dir, o.name))
	if err != nil {
		return p.failed(o.name, err)
	}
	o.file = f
	o.buf = bufio.NewWriterSize(f, 1<<20)
	p.open = o
	o.pq, err = colfile.NewWriter(io.MultiWriter(o.buf, o.sum), p.schema, colfile.Options{Bloom: p.bloom, BloomRows: min(p.rows-p.out, p.limit)})
	return p.failed(o.name, err)
}

func (p *parts) close() error {
	o := p.open
	err := o.pq.Close()
	if err == nil {
		err = o.buf.Flush()
	}
	p.open = nil
	if err = errors.Join(err, o.file.Close()); err != nil {
		return p.failed(o.name, err)
	}
	if err := colfile.Verify(p.fsys, path.Join(p.dir, o.name), o.pq.Rows()); err != nil {
		return err
	}
	fine := o.pq.FineColumns()
	p.list = append(p.list, manifest.Part{Name: o.name, Rows: o.pq.Rows(), SHA256: hex.EncodeToString(o.sum.Sum(nil)), FineColumns: &fine, JSONColumns: &p.json})
	return nil
}

// take gives the injected columns of n rows, the first being row of the run.
func (s *stamps) take(row int64, n int) []arrow.Array {
	if n > s.rows {
		s.grow(max(n, 16<<10))
	}
	seqs := make([]int64, n)
	for i := range seqs {
		seqs[i] = row + int64(i)
	}
	out := make([]arrow.Array, 0, 6)
	for _, a := range s.same {
		out = append(out, array.NewSlice(a, 0, int64(n)))
	}
	out = append(out, int64s(seqs))
	for _, a := range s.tail {
		out = append(out, array.NewSlice(a, 0, int64(n)))
	}
	return out
}

func (s *stamps) grow(n int) {
	at, seq := make([]int64, n), make([]int64, n)
	for i := range n {
		at[i], seq[i] = s.m.CommittedAt.UnixNano(), *s.m.CommitSeq
	}
	d := array.NewData(schema.TimestampType(), n, []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(at))}, nil, 0, 0)
	defer d.Release()
	s.same = []arrow.Array{array.NewTimestampData(d), repeated(s.run, n), repeated(s.site, n)}
	s.tail, s.rows = []arrow.Array{int64s(seq)}, n
	if s.batch != nil {
		s.tail = append(s.tail, int32s(*s.batch, n))
	}
}

func int32s(v int32, n int) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	for range n {
		b.UnsafeAppend(v)
	}
	return b.NewArray()
}

func int64s(v []int64) arrow.Array {
	d := array.NewData(arrow.PrimitiveTypes.Int64, len(v), []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(v))}, nil, 0, 0)
	defer d.Release()
	return array.NewInt64Data(d)
}

func repeated(text string, n int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	b.ReserveData(n * len(text))
	for range n {
		b.Append(text)
	}
	return b.NewArray()
}

// quoted turns text into JSON strings.
func quoted(text *array.String) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(text.Len())
	var scratch []byte
	for i := range text.Len() {
		if text.IsNull(i) {
			b.AppendNull()
			continue
		}
		scratch = quoteJSON(scratch[:0], []byte(text.Value(i)))
		b.BinaryBuilder.Append(scratch)
	}
	return b.NewArray()
}
