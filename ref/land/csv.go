package land

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// csvRows is the number of rows of a block, csvBytes about the text it holds at most.
const (
	csvRows  = 8 << 10
	csvBytes = 4 << 20
)

// csvLines reads CSV with a header line. Text is utf8 unless its column is declared or stored otherwise; an empty field is
// null, except in a utf8 column, where it is the empty string.
func csvLines(in io.Reader, name string, rs rules) source {
	return func(ctx context.Context, take func(*block) error) error {
		counted := &limitLine{in: bufio.NewReaderSize(&wholeCSV{in: in}, 1<<20)}
		r := csv.NewReader(counted)
		r.ReuseRecord = true
		header, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return csvError(name, err)
		}
		counted.row = 1
		names := append([]string(nil), header...)
		if strings.HasPrefix(names[0], "\ufeff") {
			return fault.New(fault.StoreInputMalformed, name+":1", name+":1: the header begins with a byte order mark").WithHint(byteOrderMark)
		}
		for {
			b, columns, err := csvColumns(rs, names)
			if err != nil {
				e := err.(*rowError)
				e.row, e.line = 0, 1
				return e.fault(name, 0)
			}
			more, blk, err := csvBlock(ctx, name, r, counted, b, columns)
			if err != nil {
				return err
			}
			if err := take(blk); err != nil || !more {
				return err
			}
		}
	}
}

// csvColumns makes a block's columns from the header. Two fields of one name are malformed.
func csvColumns(rs rules, names []string) (*builder, []*column, error) {
	b := newBuilder(rs)
	columns := make([]*column, len(names))
	for i, n := range names {
		if b.byName[n] != nil {
			return nil, nil, malformed("the header names column %q twice", n).hinted(renameColumn)
		}
		c, err := b.add(n)
		if err != nil {
			return nil, nil, err
		}
		if c.want == schema.None {
			switch k := c.rule.stored.Kind; k {
			case schema.Int64, schema.Float64:
				c.want = k
			}
		}
		columns[i] = c
	}
	return b, columns, nil
}

// csvBlock reads up to csvRows rows. more is false at the end of the input.
func csvBlock(ctx context.Context, name string, r *csv.Reader, in *limitLine, b *builder, columns []*column) (more bool, blk *block, err error) {
	line, begin := int64(0), in.total
	for b.rows < csvRows && in.total-begin < csvBytes && !b.full() {
		in.since = 0
		record, err := r.Read()
		if err == io.EOF {
			return false, b.take(line), ctx.Err()
		}
		if err != nil {
			// The rows before it may hold an error that comes first.
			blk := b.take(line)
			blk.err = csvError(name, err)
			return false, blk, nil
		}
		at, _ := r.FieldPos(0)
		in.row = int64(at)
		if line == 0 {
			line = int64(at)
		} else if next := line + int64(b.rows) + gapLines(b.gaps); int64(at) > next {
			b.gaps = append(b.gaps, gap{row: b.rows, lines: int64(at) - next})
		}
		for i, text := range record {
			if err := csvValue(columns[i], b.rows, text); err != nil {
				e, ok := err.(*rowError)
				if !ok {
					e = malformed("column %q: %s", columns[i].name, err)
				}
				if e.column == "" {
					e.column = columns[i].name
				}
				return false, b.failed(line, e), nil
			}
		}
		b.rows++
	}
	return true, b.take(line), ctx.Err()
}

func gapLines(gaps []gap) (n int64) {
	for _, g := range gaps {
		n += g.lines
	}
	return n
}

// csvValue turns one field into a value of its column.
func csvValue(c *column, row int, text string) error {
	if !utf8.ValidString(text) {
		return errors.New("the field is no valid UTF-8")
	}
	if c.rule.skip {
		return nil
	}
	structured := c.node != nil || c.shape != nil && deep(c.shape.guide)
	if !structured && (c.want == schema.None || c.want == schema.Utf8) {
		return c.putText(row, []byte(text))
	}
	if text == "" {
		return nil
	}
	if structured {
		return csvNested(c, row, []byte(text))
	}
	raw := []byte(text)
	refuse := func() error { return c.refuse(row, schema.Utf8, text) }
	switch c.want {
	case schema.Boolean:
		if text != "true" && text != "false" {
			return refuse()
		}
		return c.putBool(row, text == "true")
	case schema.Int32, schema.Int64:
		end, integer, ok := number(raw, 0)
		if !ok || !integer || end != len(raw) {
			return refuse()
		}
		v, err := parseInt(raw)
		if err != nil {
			return fmt.Errorf("%s is %w", clip(text), err)
		}
		return c.putInt(row, v, raw)
	case schema.Float64:
		end, _, ok := number(raw, 0)
		if _, word := wordFloat(raw); word {
			return c.putText(row, raw)
		}
		if !ok || end != len(raw) {
			return refuse()
		}
		v, err := parseFloat(raw)
		if err != nil {
			return fmt.Errorf("%s is past the range of float64", clip(text))
		}
		return c.putFloat(row, v, raw)
	case schema.JSON:
		out, err := canonicalJSON(nil, bytes.TrimSpace(raw))
		if err != nil {
			return refuse()
		}
		return c.putJSON(row, out)
	}
	return c.putText(row, raw)
}

// csvNested reads binary(n) as base64, and vectors, variants and nested values as the JSON of them.
func csvNested(c *column, row int, text []byte) error {
	if c.node != nil && c.node.typ.Kind == schema.FixedBinary {
		if err := c.meets(row); err != nil {
			return err
		}
		return rowOf(c.node.putBase64(row, text), row)
	}
	s := &reader{}
	i := skipSpace(text, 0)
	end, err := s.value(c, row, text, i)
	if err == nil && skipSpace(text, end) < len(text) {
		err = fmt.Errorf("%s is no JSON", clip(string(text)))
	}
	if e, ok := err.(*rowError); ok && e.hint == "" {
		e.hint = "in CSV a nested value is written as JSON"
	}
	return err
}

func csvError(name string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		what := parse.Err.Error()
		if errors.Is(parse.Err, csv.ErrFieldCount) {
			what = "the row has another number of fields than the header"
		}
		where := fmt.Sprintf("%s:%d", name, parse.Line)
		return fault.New(fault.StoreInputMalformed, where, where+": "+what).WithHint(quoteFields)
	}
	if long, ok := err.(rowTooLong); ok {
		where := fmt.Sprintf("%s:%d", name, long.from)
		return fault.New(fault.StoreInputMalformed, where, where+": a row that begins here or later is longer than 64 MiB").WithHint(closeQuote)
	}
	return unreadable(name, err)
}

// limitLine counts what is read and bounds what one row may take: a quote that never closes would read everything.
type limitLine struct {
	in    *bufio.Reader
	total int64
	since int64
	row   int64 // the line at which the last row began
}

// rowTooLong is a row that outgrew the bound, and the line after the one at which the row before it begins.
type rowTooLong struct{ from int64 }

func (rowTooLong) Error() string { return "a row is longer than 64 MiB" }

func (l *limitLine) Read(p []byte) (int, error) {
	if l.since > maxLine {
		return 0, rowTooLong{l.row + 1}
	}
	n, err := l.in.Read(p)
	l.total += int64(n)
	l.since += int64(n)
	return n, err
}
