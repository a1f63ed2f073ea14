package land

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// column gathers one column's values of one block. A row without a value is null; rows come in ascending order.
type column struct {
	name   string
	quoted string // the name as most JSON writes it, "" where it needs escapes
	rule   *rule
	want   schema.Kind // the kind values are turned into; None: the values say
	kind   schema.Kind // the kind held; None until the first value
	first  int         // row of the first value
	seen   int         // last row in which the name stood, plus one
	n      int         // rows covered so far
	nulls  int
	valid  []byte // bitmap, nil while no row is null
	ints   []int64
	floats []float64
	bits   []byte // one byte for each boolean
	ends   []int32
	data   []byte
	// inexact is the row of the first integer that float64 does not hold, -1 for none.
	inexact int
}

// newColumn decides what values turn into: the declared type; else the stored one, where taking it loses nothing.
func newColumn(name string, r *rule) *column {
	c := &column{name: name, rule: r, inexact: -1, want: r.declared.Kind}
	if c.want == schema.None {
		switch r.stored.Kind {
		case schema.Boolean, schema.Int32, schema.Timestamp, schema.Binary:
			c.want = r.stored.Kind
		}
	}
	return c
}

// supported refuses what this build does not land yet.
func (c *column) supported(row int) error {
	for _, t := range []schema.Type{c.rule.declared, c.rule.stored} {
		if t.Kind != schema.None && !t.Scalar() {
			return &rowError{code: fault.StoreUnsupported, row: row, column: c.name, text: fmt.Sprintf("column %q has the type %s, which cannot be landed yet", c.name, t)}
		}
	}
	return nil
}

// refuse is the incompatibility of an arriving value of kind k.
func (c *column) refuse(row int, k schema.Kind, shown string) error {
	if err := c.supported(row); err != nil {
		return err
	}
	arriving := schema.Of(k).String()
	if shown != "" {
		arriving += " (" + clip(shown) + ")"
	}
	e := &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name}
	switch {
	case c.rule.declared.Kind != schema.None:
		e.text = fmt.Sprintf("column %q is declared %s and arrives as %s", c.name, c.rule.declared, arriving)
	case c.rule.stored.Kind != schema.None && (c.kind == schema.None || c.want != schema.None):
		e.text = fmt.Sprintf("column %q is stored as %s and arrives as %s", c.name, c.rule.stored, arriving)
	default:
		e.text = fmt.Sprintf("column %q holds %s in an earlier row and arrives as %s", c.name, schema.Of(c.kind), arriving)
		e.hint = "declare the column as json to keep values of several types"
	}
	return e
}

func clip(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return fmt.Sprintf("%q", s)
}

func (c *column) widened(row int, stored, arriving schema.Type) error {
	f := schema.KeyWidened(c.name, stored, arriving)
	return &rowError{code: f.Code, row: row, column: c.name, text: f.Message, hint: f.Hint}
}

// settle makes the column hold kind k from this row on: the first value decides, an integer column may become float64.
func (c *column) settle(row int, k schema.Kind, shown string) error {
	if c.kind == k {
		return nil
	}
	if c.kind == schema.None {
		if err := c.supported(row); err != nil {
			return err
		}
		if err := c.joins(row, k, shown); err != nil {
			return err
		}
		c.kind, c.first = k, row
		return nil
	}
	if c.kind == schema.Int64 && k == schema.Float64 {
		if c.rule.key {
			return c.widened(row, schema.Of(schema.Int64), schema.Of(k))
		}
		if err := c.joins(row, k, shown); err != nil {
			return err
		}
		if c.inexact >= 0 {
			return c.loses(c.inexact)
		}
		c.floats = make([]float64, len(c.ints), cap(c.ints))
		for i, v := range c.ints {
			c.floats[i] = float64(v)
		}
		c.kind, c.ints = k, nil
		return nil
	}
	if c.kind == schema.Utf8 && k == schema.JSON {
		if err := c.joins(row, k, shown); err != nil {
			return err
		}
		c.quote()
		return nil
	}
	return c.refuse(row, k, shown)
}

// quote turns the texts held into JSON strings: the column has become json.
func (c *column) quote() {
	data, from := make([]byte, 0, len(c.data)+2*c.n), int32(0)
	for i, end := range c.ends {
		if c.valid == nil || c.valid[i/8]&(1<<(i%8)) != 0 {
			data = quoteJSON(data, c.data[from:end])
		}
		from, c.ends[i] = end, int32(len(data))
	}
	c.kind, c.data = schema.JSON, data
}

func (c *column) loses(row int) error {
	return &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name,
		text: fmt.Sprintf("column %q holds int64 and float64, and as float64 an integer here would lose digits", c.name)}
}

// joins checks the arriving kind of an undeclared column against the stored type.
func (c *column) joins(row int, k schema.Kind, shown string) error {
	if c.rule.stored.Kind == schema.None {
		return nil
	}
	t, err := schema.MergeType(c.rule.stored, schema.Of(k))
	if err != nil {
		if c.rule.declared.Kind != schema.None {
			return &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name,
				text: fmt.Sprintf("column %q is stored as %s and arrives as %s, its declared type", c.name, c.rule.stored, schema.Of(k))}
		}
		return c.refuse(row, k, shown)
	}
	if c.rule.key && t.Kind == schema.Float64 && c.rule.stored.Kind != k {
		return c.widened(row, c.rule.stored, schema.Of(k))
	}
	return nil
}

// pad makes all rows before row null.
func (c *column) pad(row int) {
	for c.n < row {
		if c.valid == nil {
			c.valid = make([]byte, c.n/8+1, (c.n/8+1)*2+64)
			for i := range c.n {
				c.valid[i/8] |= 1 << (i % 8)
			}
		}
		c.valid = growBit(c.valid, c.n)
		switch c.kind {
		case schema.Int32, schema.Int64, schema.Timestamp:
			c.ints = append(c.ints, 0)
		case schema.Float64:
			c.floats = append(c.floats, 0)
		case schema.Boolean:
			c.bits = append(c.bits, 0)
		case schema.Utf8, schema.JSON, schema.Binary:
			c.ends = append(c.ends, int32(len(c.data)))
		}
		c.nulls++
		c.n++
	}
}

func growBit(bits []byte, i int) []byte {
	if i/8 >= len(bits) {
		return append(bits, 0)
	}
	return bits
}

// mark counts a value in row, which pad has reached.
func (c *column) mark() {
	if c.valid != nil {
		c.valid = growBit(c.valid, c.n)
		c.valid[c.n/8] |= 1 << (c.n % 8)
	}
	c.n++
}

// finish gives the column as an Arrow array of rows rows. The buffers pass to the array.
func (c *column) finish(rows int) arrow.Array {
	c.pad(rows)
	var valid *memory.Buffer
	if c.nulls > 0 {
		valid = memory.NewBufferBytes(c.valid)
	}
	f := schema.Of(c.kind).ArrowField(c.name, true)
	buffers := []*memory.Buffer{valid}
	switch c.kind {
	case schema.Int64, schema.Timestamp:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(c.ints)))
	case schema.Int32:
		narrow := make([]int32, len(c.ints))
		for i, v := range c.ints {
			narrow[i] = int32(v)
		}
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(narrow)))
	case schema.Float64:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(c.floats)))
	case schema.Boolean:
		packed := make([]byte, (rows+7)/8)
		for i, b := range c.bits {
			packed[i/8] |= b << (i % 8)
		}
		buffers = append(buffers, memory.NewBufferBytes(packed))
	default:
		ends := make([]int32, 1, len(c.ends)+1)
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(append(ends, c.ends...))), memory.NewBufferBytes(c.data))
	}
	d := array.NewData(f.Type, rows, buffers, nil, c.nulls, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

// bytesOf shows fixed-width values as the bytes Arrow stores (this machine's order; little-endian everywhere Go's Arrow runs).
func bytesOf[T int32 | int64 | float64](v []T) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
