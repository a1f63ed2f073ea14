package land

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// block is a stretch of rows on its way from a reader to the collector: typed columns, in the order their names appeared.
type block struct {
	rows    int
	line    int64 // the first one's number, 0 where the input has no lines
	gaps    []gap // lines that are no row
	columns []blockColumn
	err     error // a *rowError about one of its rows, or what ended the input
}

// gap: before row, lines of the input hold none.
type gap struct {
	row   int
	lines int64
}

// lineOf gives the line of a row, 0 where the input has no lines.
func (b *block) lineOf(row int) int64 {
	if b.line == 0 {
		return 0
	}
	line := b.line + int64(row)
	for _, g := range b.gaps {
		if g.row <= row {
			line += g.lines
		}
	}
	return line
}

type blockColumn struct {
	name    string
	rule    *rule
	typ     schema.Type
	shape   *shape    // where the whole input decides the type of objects and arrays
	clash   *rowError // see column
	first   int       // row of the first value
	inexact int       // row of the first integer float64 does not hold, -1
	values  arrow.Array
}

// builder gathers the rows of one block.
type builder struct {
	rules   rules
	columns []*column
	byName  map[string]*column
	folded  map[string]string
	rows    int
	gaps    []gap
	places  int // values that one row takes at most, null or not
}

// blockCells bounds rows times places of a block: a row of {} is three bytes of input and one value for each field of a declared
// struct. Rows that have their values reach jsonBlock long before.
const blockCells = 1 << 20

// full says whether another row would be too much. A row is never cut.
func (b *builder) full() bool { return b.rows > 0 && (b.rows+1)*b.places > blockCells }

func newBuilder(rs rules) *builder {
	return &builder{rules: rs, byName: map[string]*column{}, folded: map[string]string{}}
}

// add makes the column for a name that stands in a row for the first time in this block.
func (b *builder) add(name string) (*column, error) {
	if why := schema.CheckName(name); why != "" {
		return nil, malformed("the column name %s %s", clip(name), why).hinted(renameTheField)
	}
	if len(b.columns) >= schema.MaxFields {
		return nil, malformed("the input has more than %d columns", schema.MaxFields)
	}
	r := b.rules.of(name)
	if r.refused {
		return nil, reserved(name)
	}
	if other, ok := b.folded[schema.FoldName(name)]; ok {
		return nil, ambiguous(other, name)
	}
	c := newColumn(name, r)
	if quoted := string(quoteJSON(nil, []byte(name))); len(quoted) == len(name)+2 {
		c.quoted = quoted
	}
	b.places += placesOf(c)
	b.columns, b.byName[name], b.folded[schema.FoldName(name)] = append(b.columns, c), c, name
	return c, nil
}

// placesOf counts the values that a row takes in a column of a struct: its fields have the struct's rows, what is in lists has its own.
func placesOf(c *column) int {
	if c.node == nil {
		return 1
	}
	return c.node.places()
}

func (n *node) places() int {
	count := 1
	if n.typ.Kind == schema.Struct || n.typ.Kind == schema.Variant {
		for _, kid := range n.kids {
			count += kid.places()
		}
	}
	return count
}

func reserved(name string) *rowError {
	return &rowError{code: fault.StoreReservedColumnName, row: -1, column: name, text: fmt.Sprintf("column %q: names beginning with _ are the store's own", name),
		hint: "rename the column; _modality, _lang, _provenance and _prompt_hash are free to use"}
}

func ambiguous(a, b string) *rowError {
	return &rowError{code: fault.StoreColumnAmbiguous, row: -1, column: b, text: fmt.Sprintf("columns %q and %q differ only in case", min(a, b), max(a, b)),
		hint: "rename one of them: SQL cannot tell them apart"}
}

// failed ends the block with the refusal of the row being read, or of an earlier one.
func (b *builder) failed(line int64, err error) *block {
	out := b.describe(line)
	if e, ok := err.(*rowError); ok {
		if e.row < 0 {
			e.row = b.rows
		}
		e.line = out.lineOf(e.row)
	}
	out.err = err
	return out
}

// take ends the block. Columns without a value have no type and no array; they only hold their place in the order.
func (b *builder) take(line int64) *block {
	out := b.describe(line)
	for i := range out.columns {
		if bc := &out.columns[i]; bc.typ.Kind != schema.None {
			bc.values = b.byName[bc.name].finish(b.rows)
		}
	}
	return out
}

// describe is the block without its values: a row that failed may have given some of its columns a value already.
func (b *builder) describe(line int64) *block {
	out := &block{rows: b.rows, line: line, gaps: b.gaps}
	for _, c := range b.columns {
		if c.rule.skip {
			continue
		}
		out.columns = append(out.columns, blockColumn{name: c.name, rule: c.rule, typ: c.typ(), shape: c.shape, clash: c.clash, first: c.first, inexact: c.inexact})
	}
	return out
}
