package land

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// landed is one column of the whole input. Its type is None while no block has held a value of it.
type landed struct {
	name    string
	rule    *rule
	typ     schema.Type
	shape   *shape       // of json whose type all of it decides, nil where that is settled
	clash   *fault.Error // two kinds without a join, unless an object or array comes
	first   string       // where its first value stands
	inexact string       // where the first integer stands that float64 does not hold, "" for nowhere
	digest  *columnDigest
	stale   bool // promoted after rows were hashed: the digest is made again from the spool
	// texts is how many rows at the beginning were spooled as plain text, before the column became json.
	texts int64
}

// collector takes the blocks in input order: it settles each column's type over all of them, hashes and spools.
type collector struct {
	input   string
	rules   rules
	columns []*landed
	at      map[string]int
	folded  map[string]string
	rows    int64
	before  int64 // rows of the inputs before this one, whose row numbers begin anew
	many    bool  // there are several inputs: what a message says of an earlier value names the one it stands in
	spool   *spool
	// earliest is the least availability instant of the batch in nanoseconds; dated tells whether a row has one.
	earliest int64
	dated    bool
}

func newCollector(input string, rs rules, sp *spool) *collector {
	return &collector{input: input, rules: rs, at: map[string]int{}, folded: map[string]string{}, spool: sp}
}

// take adds one block, or gives the refusal of its first bad row.
func (c *collector) take(b *block) error {
	piece := piece{rows: b.rows}
	var worst *rowError
	for i := range b.columns {
		bc := &b.columns[i]
		k, e := c.column(b, bc)
		if e != nil {
			if worst == nil || e.row < worst.row {
				worst = e
			}
			continue
		}
		if bc.values != nil {
			piece.columns = append(piece.columns, k)
			piece.values = append(piece.values, bc.values)
			piece.types = append(piece.types, bc.typ)
		}
	}
	if e := c.missing(b); e != nil && (worst == nil || e.row < worst.row) {
		worst = e
	}
	// The block's own error stopped its reading, so a type that does not fit the blocks before stands above it.
	if worst != nil {
		return worst.fault(c.input, c.rows-c.before)
	}
	if b.err != nil {
		if e, ok := b.err.(*rowError); ok {
			return e.fault(c.input, c.rows-c.before)
		}
		return b.err
	}
	if b.rows == 0 {
		return nil
	}
	if c.rows > math.MaxInt64-int64(b.rows) {
		return fault.New(fault.StoreInputMalformed, c.input, c.input+" has more rows than int64 counts")
	}
	for i, k := range piece.columns {
		d := c.columns[k].digest
		d.absent(c.rows - d.rows)
		d.add(piece.values[i])
		c.date(c.columns[k], piece.values[i])
	}
	c.rows += int64(b.rows)
	return c.spool.add(piece, c.columns)
}

// date notes the least instant of the availability column.
func (c *collector) date(col *landed, values arrow.Array) {
	at, ok := values.(*array.Timestamp)
	if !ok || col.rule.zone == nil {
		return
	}
	for i := range at.Len() {
		if v := int64(at.Value(i)); at.IsValid(i) && (!c.dated || v < c.earliest) {
			c.earliest, c.dated = v, true
		}
	}
}

// missing finds the first row without a value that every row needs (store.snapshot.capture).
func (c *collector) missing(b *block) *rowError {
	if b.err != nil {
		return nil // its values did not come along
	}
	var first *rowError
	for name, r := range c.rules.named {
		if !r.required {
			continue
		}
		row := 0
		for i := range b.columns {
			if bc := &b.columns[i]; bc.name == name && bc.values != nil {
				for row < b.rows && bc.values.IsValid(row) {
					row++
				}
			}
		}
		if row < b.rows && (first == nil || row < first.row || row == first.row && name < first.column) {
			first = &rowError{code: fault.StoreInputMalformed, row: row, line: b.lineOf(row), column: name, text: fmt.Sprintf("column %q describes a captured document, and the row has no value of it", name),
				hint: "give every document its name and the instant of its capture, or leave captured_at out of the declaration: then the commit's instant counts"}
		}
	}
	return first
}

// column joins a block's column with what earlier blocks held and gives its number.
func (c *collector) column(b *block, bc *blockColumn) (int, *rowError) {
	bad := func(code fault.Code, row int, hint, format string, args ...any) *rowError {
		return &rowError{code: code, row: row, line: b.lineOf(row), column: bc.name, hint: hint, text: fmt.Sprintf(format, args...)}
	}
	k, ok := c.at[bc.name]
	if !ok {
		if other, ok := c.folded[schema.FoldName(bc.name)]; ok {
			e := ambiguous(other, bc.name)
			e.row, e.line = bc.first, b.lineOf(bc.first)
			return 0, e
		}
		k = len(c.columns)
		c.at[bc.name], c.folded[schema.FoldName(bc.name)] = k, bc.name
		c.columns = append(c.columns, &landed{name: bc.name, rule: bc.rule, digest: newColumnDigest()})
	}
	have := c.columns[k]
	if err := c.shapes(b, bc, have); err != nil {
		return 0, err
	}
	was, is := have.typ.Kind, bc.typ.Kind
	switch {
	case was == is && deep(bc.typ):
		t, err := schema.MergeColumn(bc.name, have.typ, bc.typ)
		if err != nil {
			e := incompatible(err, bc.first).(*rowError)
			e.line = b.lineOf(bc.first)
			return 0, e
		}
		have.stale = have.stale || !same(t, have.typ) || !same(t, bc.typ)
		have.typ = t
	case was == is || is == schema.None:
	case was == schema.None:
		have.typ, have.first = bc.typ, c.where(b, bc.first)
	case was == schema.Int64 && is == schema.Float64 || was == schema.Float64 && is == schema.Int64:
		if bc.rule.key {
			f := schema.KeyWidened(bc.name, have.typ, bc.typ)
			return 0, bad(f.Code, bc.first, f.Hint, "%s", f.Message)
		}
		if have.inexact != "" {
			return 0, bad(fault.StoreSchemaIncompatible, bc.first, "", "column %q holds int64 (past 2^53 in %s) and arrives as float64, which would lose digits",
				bc.name, have.inexact)
		}
		if is == schema.Int64 && bc.inexact >= 0 {
			return 0, bad(fault.StoreSchemaIncompatible, bc.inexact, "", "column %q holds float64 and arrives as int64, and as float64 an integer here would lose digits", bc.name)
		}
		have.typ, have.stale = schema.Of(schema.Float64), true
	case was == schema.Utf8 && is == schema.JSON:
		have.typ, have.stale, have.texts = schema.Of(schema.JSON), true, c.rows
	case was == schema.JSON && is == schema.Utf8:
		if text, ok := bc.values.(*array.String); ok {
			bc.values = quoted(text)
			text.Release()
		}
		have.plain()
	case bc.rule.mixable():
		c.mix(b, bc, have)
	default:
		return 0, bad(fault.StoreSchemaIncompatible, bc.first, "declare the column as json to keep values of several types",
			"column %q holds %s (since %s) and arrives as %s", bc.name, have.typ, have.first, bc.typ)
	}
	if bc.inexact >= 0 && have.inexact == "" {
		have.inexact = c.where(b, bc.inexact)
	}
	return k, nil
}

func (c *collector) where(b *block, row int) string {
	at := fmt.Sprintf("row %d", c.rows-c.before+int64(row)+1)
	if line := b.lineOf(row); line > 0 {
		at = fmt.Sprintf("line %d", line)
	}
	if c.many {
		at += " of " + c.input
	}
	return at
}

// digest gives the landing's batch_digest. Columns promoted on the way are hashed anew, in their final type.
func (c *collector) digest(position []byte) (string, error) {
	if err := c.settle(); err != nil {
		return "", err
	}
	stale := map[int]bool{}
	for i, col := range c.columns {
		if col.stale {
			stale[i], col.digest = true, newColumnDigest()
		}
	}
	if len(stale) > 0 {
		rows := int64(0)
		err := c.spool.each(func(p piece) error {
			for i, k := range p.columns {
				if stale[k] {
					d := c.columns[k].digest
					d.absent(rows - d.rows)
					final, err := c.columns[k].final(p.values[i], p.types[i], rows)
					if err != nil {
						return c.refused(err, rows)
					}
					d.add(final)
					final.Release()
				}
			}
			rows += int64(p.rows)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return batchDigest(c.typed(), c.rows, position), nil
}

// typed are the columns that hold a value.
func (c *collector) typed() []*landed {
	var list []*landed
	for _, col := range c.columns {
		if col.typ.Kind != schema.None {
			list = append(list, col)
		}
	}
	return list
}

// arriving is the schema of the input's columns.
func (c *collector) arriving() *schema.Schema {
	s := &schema.Schema{}
	for _, col := range c.typed() {
		s.Columns = append(s.Columns, schema.Column{Name: col.name, Type: col.typ, Nullable: true})
	}
	return s
}
