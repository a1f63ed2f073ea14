package land

import (
	"fmt"
	"strconv"
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
	presence
	ints   []int64
	floats []float64
	bits   []byte // one byte for each boolean
	ends   []int32
	data   []byte
	node   *node     // of a type that is no scalar; nothing else is used then
	shape  *shape    // of objects and arrays whose type the whole input decides, held as json meanwhile
	clash  *rowError // under native: two kinds that have no join, unless an object or array makes the column json
	// inexact is the row of the first integer that float64 does not hold, -1 for none.
	inexact int
}

// newColumn decides what values turn into: the declared type; else the stored one, where taking it loses nothing.
func newColumn(name string, r *rule) *column {
	c := &column{name: name, rule: r, inexact: -1, want: r.declared.Kind}
	switch stored := r.stored; {
	case deep(r.declared):
		c.node = newNode(name, r.declared, r)
	case c.want != schema.None || r.skip:
	case deep(stored) && (loose(stored) || r.native && hasStruct(stored)):
		c.shape = newShape(stored, r.native)
	case deep(stored):
		c.node = newNode(name, stored, r)
	case stored.Kind == schema.None && r.native:
		c.shape = newShape(stored, true)
	case stored.Kind == schema.Boolean || stored.Kind == schema.Int32 || stored.Kind == schema.Timestamp || stored.Kind == schema.Binary:
		c.want = stored.Kind
	}
	return c
}

// typ is the type of what the column holds so far.
func (c *column) typ() schema.Type {
	if c.node != nil && c.kind != schema.None {
		return c.node.typ
	}
	return schema.Of(c.kind)
}

// refuse is the incompatibility of an arriving value of kind k.
func (c *column) refuse(row int, k schema.Kind, shown string) error {
	arriving := schema.Of(k).String()
	if shown != "" {
		arriving += " (" + clip(shown) + ")"
	}
	e := &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name}
	if c.want == schema.Timestamp && k == schema.Utf8 {
		e.hint = timestampHint
		if c.rule.zone != nil {
			e.hint = "write the instant as 2026-11-30T09:00:00+01:00, or without an offset as 2026-11-30T09:00:00, which is read in " + c.rule.zone.String()
		}
	}
	switch {
	case c.rule.declared.Kind != schema.None:
		e.text = fmt.Sprintf("column %q is declared %s and arrives as %s", c.name, c.rule.declared, arriving)
	case c.rule.stored.Kind != schema.None && (c.kind == schema.None || c.want != schema.None):
		e.text = fmt.Sprintf("column %q is stored as %s and arrives as %s", c.name, c.rule.stored, arriving)
	default:
		e.text = fmt.Sprintf("column %q holds %s in an earlier row and arrives as %s", c.name, c.typ(), arriving)
		e.hint = "declare the column as json to keep values of several types"
	}
	return e
}

// timestampHint is what text that is no instant is told.
const timestampHint = "write the instant as RFC 3339 with its offset, such as 2026-11-30T09:00:00Z"

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
	if k == schema.JSON && c.mixes(k) {
		c.becomeJSON()
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

// mixes reports whether a value of kind k makes an undeclared column one of several kinds, which is json under native
// normalization (run.normalize.native-store).
func (c *column) mixes(k schema.Kind) bool {
	if !c.rule.native || c.want != schema.None || c.kind == k {
		return false
	}
	switch c.rule.stored.Kind {
	case schema.JSON:
		return k != schema.Utf8 && k != schema.JSON
	case schema.None, schema.Utf8:
	default:
		return false
	}
	number := func(k schema.Kind) bool { return k == schema.Int64 || k == schema.Float64 }
	return c.kind != schema.None && !(number(c.kind) && number(k)) && !(c.kind == schema.JSON && k == schema.Utf8)
}

// putMixed takes a scalar beside values of another kind as the JSON it is.
func (c *column) putMixed(row int, k schema.Kind, literal []byte) error {
	if c.kind != schema.None && c.kind != schema.JSON && c.clash == nil {
		c.clash = c.refuse(row, k, string(literal)).(*rowError)
	}
	c.becomeJSON()
	c.plain()
	return c.putJSON(row, literal)
}

// plain notes that the column holds scalars too.
func (c *column) plain() {
	if c.shape != nil {
		c.shape.strange("scalars stand beside objects or arrays")
	}
}

// becomeJSON turns the scalars held into JSON.
func (c *column) becomeJSON() {
	if c.kind == schema.None || c.kind == schema.JSON {
		return
	}
	c.plain()
	if c.kind == schema.Utf8 {
		c.quote()
		return
	}
	ints, floats, bits := c.ints, c.floats, c.bits
	c.ints, c.floats, c.bits = nil, nil, nil
	c.data, c.ends = nil, make([]int32, 0, c.n)
	for i := range c.n {
		if c.holds(i) {
			switch c.kind {
			case schema.Int64:
				c.data = strconv.AppendInt(c.data, ints[i], 10)
			case schema.Float64:
				c.data = strconv.AppendFloat(c.data, floats[i], 'g', -1, 64)
			case schema.Boolean:
				c.data = strconv.AppendBool(c.data, bits[i] == 1)
			}
		}
		c.ends = append(c.ends, int32(len(c.data)))
	}
	c.kind = schema.JSON
}

// quote turns the texts held into JSON strings: the column has become json.
func (c *column) quote() {
	data, from := make([]byte, 0, len(c.data)+2*c.n), int32(0)
	for i, end := range c.ends {
		if c.holds(i) {
			data = quoteJSON(data, c.data[from:end])
		}
		from, c.ends[i] = end, int32(len(data))
	}
	c.kind, c.data = schema.JSON, data
}

func (c *column) loses(row int) error {
	return &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name,
		text: fmt.Sprintf("column %q holds int64 and float64, and as float64 an integer here would lose digits", c.name),
		hint: "declare the column as json to keep every digit"}
}

// joins checks the arriving kind of an undeclared column against the stored type.
func (c *column) joins(row int, k schema.Kind, shown string) error {
	if c.rule.stored.Kind == schema.None || c.shape != nil && k == schema.JSON {
		return nil
	}
	t, err := schema.MergeType(c.rule.stored, schema.Of(k))
	if err != nil {
		if c.rule.declared.Kind != schema.None {
			return &rowError{code: fault.StoreSchemaIncompatible, row: row, column: c.name,
				text: fmt.Sprintf("column %q is stored as %s and arrives as %s, its declared type", c.name, c.rule.stored, schema.Of(k)),
				hint: "declare the type that is stored, " + c.rule.stored.String()}
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
		c.null()
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
	}
}

// finish gives the column as an Arrow array of rows rows. The buffers pass to the array.
func (c *column) finish(rows int) arrow.Array {
	if c.node != nil {
		return c.node.finish(rows)
	}
	c.pad(rows)
	f := schema.Of(c.kind).ArrowField(c.name, true)
	buffers := []*memory.Buffer{c.buffer()}
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
