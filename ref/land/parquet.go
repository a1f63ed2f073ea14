package land

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/schema"
)

// parquetRows reads a Parquet file. Its columns are typed by the file; what the language holds without loss is taken
// (schema.FromArrow), anything else refuses, naming the column.
func parquetRows(in io.Reader, name, tempDir string, rs rules) source {
	return func(ctx context.Context, take func(*block) error) error {
		src, done, err := seekable(in, tempDir)
		if err != nil {
			return err
		}
		defer done()
		s, err := colfile.NewScanner(ctx, src, name, nil)
		if err != nil {
			return foreign(name, err)
		}
		defer s.Close()
		fs, err := schema.FromArrow(s.Schema())
		if err != nil {
			return err
		}
		for {
			rec, err := s.Next()
			if err != nil {
				return foreign(name, err)
			}
			if rec == nil {
				return ctx.Err()
			}
			b := recordBlock(rs, fs, rec)
			rec.Release()
			if err := take(b); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}

// foreign turns damage of a store's part into malformed input.
func foreign(name string, err error) error {
	var instant *colfile.InstantError
	if errors.As(err, &instant) {
		e := &rowError{code: fault.StoreInputMalformed, row: int(instant.Row), column: instant.Column,
			text: fmt.Sprintf("column %q: the instant %s %s", instant.Column, instant.Text, errOutOfRange)}
		return e.fault(name, 0)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.StorePartDamaged {
		return fault.New(fault.StoreInputMalformed, name, name+" is no readable Parquet file").WithHint(notParquet).Wrap(f.Err)
	}
	return err
}

// seekable gives an input that Parquet can be read from: itself where it can seek, else a temporary copy.
func seekable(in io.Reader, dir string) (parquet.ReaderAtSeeker, func(), error) {
	if src, ok := in.(parquet.ReaderAtSeeker); ok {
		if _, err := src.Seek(0, io.SeekCurrent); err == nil {
			return src, func() {}, nil
		}
	}
	f, err := os.CreateTemp(dir, "contextful-land-*.parquet")
	if err != nil {
		return nil, nil, (&spool{dir: dir}).failed(err)
	}
	done := func() { f.Close(); os.Remove(f.Name()) }
	if _, err := io.Copy(f, in); err != nil {
		done()
		return nil, nil, (&spool{dir: dir}).failed(err)
	}
	return f, done, nil
}

// recordBlock turns one batch of a file into a block.
func recordBlock(rs rules, fs *schema.Schema, rec arrow.RecordBatch) *block {
	b := newBuilder(rs)
	rows := int(rec.NumRows())
	var worst *rowError
	for i, fc := range fs.Columns {
		c, err := b.add(fc.Name)
		if err == nil && !c.rule.skip && fc.Type.Kind != schema.None {
			// An all-null column of a file has a type nevertheless.
			switch c.wantTyped(fc.Type); {
			case c.node != nil:
				err = c.fillFrom(rec.Column(i), fc.Type)
			case deep(fc.Type):
				err = (&node{typ: c.rule.declared, path: c.name, declared: true}).refuse(shortType(fc.Type), "")
			default:
				err = c.copyFrom(rec.Column(i), fc.Type.Kind)
				if err == nil && c.kind == schema.None {
					err = c.settle(0, c.typedKind(fc.Type.Kind), "")
				}
			}
		}
		if e, ok := err.(*rowError); ok {
			if e.column == "" {
				e.column = fc.Name
			}
			if worst == nil || e.row < worst.row {
				worst = e
			}
		}
	}
	b.rows = rows
	if worst != nil {
		worst.row = max(worst.row, 0)
		return &block{err: worst}
	}
	return b.take(0)
}

// wantTyped decides what an undeclared column of a typed file turns into: the stored type where that loses nothing, else the
// file's.
func (c *column) wantTyped(t schema.Type) {
	if c.rule.declared.Kind != schema.None {
		return
	}
	c.node, c.shape = nil, nil
	if deep(t) {
		t = fileType(t, c.rule.stored)
		c.node = newNode(c.name, t, &rule{stored: t})
		return
	}
	k, stored := t.Kind, c.rule.stored.Kind
	switch {
	case k == schema.Int32 && (stored == schema.Int64 || stored == schema.Float64),
		k == schema.Int64 && stored == schema.Int32,
		k == schema.Utf8 && stored == schema.Timestamp:
		c.want = stored
	default:
		c.want = k
	}
}

func (c *column) typedKind(k schema.Kind) schema.Kind {
	if c.want != schema.None {
		return c.want
	}
	return k
}

// copyFrom puts the values of one array of a file, of kind k of the language, into the column.
func (c *column) copyFrom(a arrow.Array, k schema.Kind) error {
	for {
		switch t := a.(type) {
		case array.ExtensionArray:
			a = t.Storage()
			continue
		case *array.Dictionary:
			return c.copyDictionary(t, k)
		}
		break
	}
	put := c.putter(a, k)
	for row := range a.Len() {
		if a.IsNull(row) {
			continue
		}
		if err := put(row, row); err != nil {
			return err
		}
	}
	return nil
}

func (c *column) copyDictionary(d *array.Dictionary, k schema.Kind) error {
	put := c.putter(d.Dictionary(), k)
	for row := range d.Len() {
		if d.IsNull(row) || d.Dictionary().IsNull(d.GetValueIndex(row)) {
			continue
		}
		if err := put(row, d.GetValueIndex(row)); err != nil {
			return err
		}
	}
	return nil
}

// putter gives the function that puts value i of a into a row.
func (c *column) putter(a arrow.Array, k schema.Kind) func(row, i int) error {
	text := func(value func(int) string) func(row, i int) error {
		return func(row, i int) error {
			v := value(i)
			if !utf8.ValidString(v) {
				return &rowError{code: fault.StoreInputMalformed, row: row, column: c.name, text: fmt.Sprintf("column %q holds invalid UTF-8", c.name)}
			}
			if k != schema.JSON && c.want != schema.JSON {
				return c.putText(row, []byte(v))
			}
			out, err := canonicalJSON(nil, []byte(v))
			if err != nil {
				return &rowError{code: fault.StoreInputMalformed, row: row, column: c.name, text: fmt.Sprintf("column %q: %s is no JSON", c.name, clip(v))}
			}
			if c.want == schema.Utf8 || c.want == schema.None && k == schema.Utf8 {
				return c.putText(row, []byte(v))
			}
			return c.putJSON(row, out)
		}
	}
	whole := func(value func(int) int64) func(row, i int) error {
		return func(row, i int) error {
			return c.putInt(row, value(i), nil)
		}
	}
	float := func(value func(int) float64) func(row, i int) error {
		return func(row, i int) error {
			return c.putFloat(row, value(i), nil)
		}
	}
	switch a := a.(type) {
	case *array.Boolean:
		return func(row, i int) error { return c.putBool(row, a.Value(i)) }
	case *array.Int8:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Int16:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Int32:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Int64:
		return whole(a.Value)
	case *array.Uint8:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Uint16:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Uint32:
		return whole(func(i int) int64 { return int64(a.Value(i)) })
	case *array.Uint64:
		return func(row, i int) error {
			v := a.Value(i)
			if v > 1<<63-1 {
				return &rowError{code: fault.StoreInputMalformed, row: row, column: c.name, text: fmt.Sprintf("column %q: %d is %s", c.name, v, errIntegerRange)}
			}
			return c.putInt(row, int64(v), nil)
		}
	case *array.Float16:
		return float(func(i int) float64 { return float64(a.Value(i).Float32()) })
	case *array.Float32:
		return float(func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		return float(a.Value)
	case *array.String:
		return text(a.Value)
	case *array.LargeString:
		return text(a.Value)
	case *array.StringView:
		return text(a.Value)
	case *array.Binary:
		return c.bytesPutter(a.Value)
	case *array.LargeBinary:
		return c.bytesPutter(a.Value)
	case *array.BinaryView:
		return c.bytesPutter(a.Value)
	case *array.Timestamp:
		return c.instantPutter(a)
	}
	return func(row, i int) error {
		return &rowError{code: fault.StoreUnsupported, row: row, column: c.name, text: fmt.Sprintf("column %q has the type %s, which no column type holds", c.name, a.DataType())}
	}
}

func (c *column) bytesPutter(value func(int) []byte) func(row, i int) error {
	return func(row, i int) error {
		if c.want != schema.None && c.want != schema.Binary {
			return c.refuse(row, schema.Binary, "")
		}
		return c.putBytes(row, schema.Binary, value(i))
	}
}

// instantPutter turns instants of any unit into nanoseconds, within their range.
func (c *column) instantPutter(a *array.Timestamp) func(row, i int) error {
	perSecond := int64(1_000_000_000)
	switch a.DataType().(*arrow.TimestampType).Unit {
	case arrow.Second:
		perSecond = 1
	case arrow.Millisecond:
		perSecond = 1000
	case arrow.Microsecond:
		perSecond = 1_000_000
	}
	// A file's timestamp without a zone is a wall clock's reading.
	local := c.rule.zone != nil && a.DataType().(*arrow.TimestampType).TimeZone == ""
	return func(row, i int) error {
		if c.want != schema.None && c.want != schema.Timestamp {
			return c.refuse(row, schema.Timestamp, "")
		}
		v := int64(a.Value(i))
		seconds, rest := v/perSecond, v%perSecond
		if rest < 0 {
			seconds, rest = seconds-1, rest+perSecond
		}
		var err error
		if local {
			seconds, err = instantOf(seconds, c.rule.zone)
		}
		var nanos int64
		if err == nil {
			nanos, err = nanosOf(seconds, rest*(1_000_000_000/perSecond))
		}
		if err != nil {
			return &rowError{code: fault.StoreInputMalformed, row: row, column: c.name, text: fmt.Sprintf("column %q: the instant %d (%s) %s", c.name, v, a.DataType(), err)}
		}
		return c.putInstant(row, nanos)
	}
}
