package land

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// shapes joins what a block has learnt of a column's objects and arrays, and of its clashes.
func (c *collector) shapes(b *block, bc *blockColumn, have *landed) *rowError {
	if bc.clash != nil && have.clash == nil {
		bc.clash.line = b.lineOf(bc.clash.row)
		have.clash = bc.clash.fault(c.input, c.rows-c.before)
	}
	if bc.shape == nil {
		return nil
	}
	if have.shape == nil {
		have.shape = newShape(bc.shape.guide, bc.shape.native)
	}
	have.shape.join(bc.shape)
	return nil
}

// mixable: an undeclared column that becomes json where its values have no type in common.
func (r *rule) mixable() bool {
	if !r.native || r.declared.Kind != schema.None {
		return false
	}
	return r.stored.Kind == schema.None || r.stored.Kind == schema.JSON || r.stored.Kind == schema.Utf8
}

func (l *landed) plain() {
	if l.shape != nil {
		l.shape.strange("scalars stand beside objects or arrays")
	}
}

// mix makes a column json whose blocks hold values of several kinds.
func (c *collector) mix(b *block, bc *blockColumn, have *landed) {
	if have.clash == nil && have.typ.Kind != schema.JSON && bc.typ.Kind != schema.JSON {
		e := &rowError{code: fault.StoreSchemaIncompatible, row: bc.first, line: b.lineOf(bc.first), column: bc.name, hint: "declare the column as json to keep values of several types",
			text: "column " + strconv.Quote(bc.name) + " holds " + have.typ.String() + " (since " + have.first + ") and arrives as " + bc.typ.String()}
		have.clash = e.fault(c.input, c.rows-c.before)
	}
	have.plain()
	if have.typ.Kind != schema.JSON {
		if have.typ.Kind == schema.Utf8 {
			have.texts = c.rows
		}
		have.typ, have.stale = schema.Of(schema.JSON), true
	}
	if bc.values != nil && bc.typ.Kind != schema.JSON {
		values := documents(bc.values)
		bc.values.Release()
		bc.values = values
	}
}

// settle decides, at the end of the input, what the columns of objects and arrays are.
func (c *collector) settle() error {
	for _, l := range c.columns {
		if l.typ.Kind != schema.JSON {
			continue
		}
		if l.clash != nil && (l.shape == nil || l.shape.seen == 0) {
			return l.clash
		}
		if l.shape == nil {
			continue
		}
		t, odd := l.shape.typed()
		switch {
		case odd == "" && t.Kind != schema.None:
			if _, err := schema.MergeColumn(l.name, l.rule.stored, t); err != nil {
				return err
			}
			l.typ, l.stale = t, true
		case deep(l.rule.stored):
			return misfit(l.name, l.rule.stored, odd)
		}
	}
	return nil
}

// refused gives a refusal met in the spool its place in the input.
func (c *collector) refused(err error, rows int64) error {
	if e, ok := err.(*rowError); ok {
		if c.many {
			return e.fault("the input", rows)
		}
		return e.fault(c.input, rows)
	}
	return err
}

// final gives a spooled piece's values, whose first row is row of the input, in the column's final type, as the spool holds it.
// Only int64 that became float64, scalars that became json, json that became a nested type, and nested types of several inputs ever
// differ. t is the type the piece came as. The caller releases the result.
func (l *landed) final(a arrow.Array, t schema.Type, row int64) (arrow.Array, error) {
	text, isText := a.(*array.String)
	switch {
	case deep(t):
		return recast(a, t, l.typ), nil
	case l.typ.Kind == schema.Float64 && a.DataType().ID() == arrow.INT64:
		return floatsOf(a), nil
	case isText && row < l.texts:
		return quoted(text), nil
	case isText && deep(l.typ):
		return l.nested(text)
	case !isText && l.typ.Kind == schema.JSON:
		return documents(a), nil
	}
	a.Retain()
	return a, nil
}

// nested reads the JSON texts as values of the column's type.
func (l *landed) nested(text *array.String) (arrow.Array, error) {
	n := newNode(l.name, l.typ, &rule{stored: l.typ})
	s := &reader{settled: true}
	for i := range text.Len() {
		if text.IsNull(i) {
			continue
		}
		if _, err := s.deep(n, i, []byte(text.Value(i)), 0); err != nil {
			return nil, rowOf(err, i)
		}
	}
	return n.finish(text.Len()), nil
}

// documents turns scalars into the JSON of them.
func documents(a arrow.Array) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	var scratch []byte
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		scratch = scratch[:0]
		switch a := a.(type) {
		case *array.Int64:
			scratch = strconv.AppendInt(scratch, a.Value(i), 10)
		case *array.Float64:
			scratch = strconv.AppendFloat(scratch, a.Value(i), 'g', -1, 64)
		case *array.Boolean:
			scratch = strconv.AppendBool(scratch, a.Value(i))
		case *array.String:
			scratch = quoteJSON(scratch, []byte(a.Value(i)))
		}
		b.BinaryBuilder.Append(scratch)
	}
	return b.NewArray()
}
