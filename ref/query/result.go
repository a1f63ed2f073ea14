package query

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"contextful/ref/duck"

	"github.com/duckdb/duckdb-go/v2"
)

// page is how many rows are read from the result table at a time: the driver holds a statement's answer whole.
const page = 32 << 10

// askedAtOnce is of how many columns one statement asks for what they hold: planning takes the square of them, and more.
const askedAtOnce = 64

// resultTable keeps a result. Its name cannot hide a table of the store: it is temporary and used qualified.
const resultTable = `temp.main."contextful result"`

// result is a statement's answer in a temporary table.
type result struct {
	session *duck.Session
	columns []string
	shapes  []*shape
	casts   []string // the type each column is cast to in the result table, "" for none
	rows    int64
	cut     bool             // there were more rows than the limit
	held    [][]driver.Value // all of them, once they have been read and are few and small
}

// describe learns names and types of the answer to text (one SELECT, checked) without computing it; prefix defines its tables.
func describe(ctx context.Context, s *duck.Session, prefix, text string) (*result, error) {
	r := &result{session: s}
	if err := r.prepare(ctx, prefix+text); err != nil {
		return nil, s.Explain(err)
	}
	return r, nil
}

// run executes text after prefix, whose tables are those that described it, with their rows. limit 0 is none.
func (r *result) run(ctx context.Context, prefix, text string, limit int64) error {
	inner := "(\n" + text + "\n)"
	var create strings.Builder
	create.WriteString("CREATE TEMP TABLE " + resultTable + " AS " + prefix + "SELECT ")
	for i, cast := range r.casts {
		if i > 0 {
			create.WriteString(", ")
		}
		value := fmt.Sprintf("#%d", i+1)
		if cast != "" {
			value = "CAST(" + value + " AS " + cast + ")"
		}
		fmt.Fprintf(&create, "%s AS c%d", r.shapes[i].fetched(value, 0), i)
	}
	create.WriteString(" FROM " + inner)
	if limit > 0 {
		// One more than asked for tells whether there is more.
		fmt.Fprintf(&create, " LIMIT %d", limit+1)
	}
	var err error
	// The engine answers with the number of rows.
	if r.rows, err = r.session.Int(ctx, create.String()); err != nil {
		return r.session.Explain(err)
	}
	if limit > 0 && r.rows > limit {
		r.rows, r.cut = limit, true
	}
	return nil
}

func (r *result) prepare(ctx context.Context, text string) error {
	return r.session.Conn().Raw(func(c any) error {
		conn, ok := c.(*duckdb.Conn)
		if !ok {
			return errors.New("the driver is another one")
		}
		prepared, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		defer prepared.Close()
		stmt, ok := prepared.(*duckdb.Stmt)
		if !ok {
			return errors.New("the driver's statement is another one")
		}
		kind, err := stmt.StatementType()
		if err != nil {
			return err
		}
		if kind != duckdb.STATEMENT_TYPE_SELECT {
			return refused("only one SELECT is answered")
		}
		if n := stmt.NumInput(); n > 0 {
			return refused("the statement has %d parameters and nothing to put in their places", n)
		}
		n, err := stmt.ColumnCount()
		if err != nil {
			return err
		}
		for i := range n {
			name, err := stmt.ColumnName(i)
			if err != nil {
				return err
			}
			sh, cast := &shape{kind: duckdb.TYPE_VARCHAR}, "VARCHAR"
			// A type the driver does not describe prints as the engine's own text.
			if info, err := stmt.ColumnTypeInfo(i); err == nil {
				if sh, cast = shapeOf(info, false); sh.mapped() {
					sh, cast = shapeOf(info, true)
				}
			}
			r.columns, r.shapes, r.casts = append(r.columns, name), append(r.shapes, sh), append(r.casts, cast)
		}
		return nil
	})
}

// few is how many cells an answer may have to be read once, for its widths and for itself, and fewBytes about how many bytes: most
// answers are that small. A larger one is read twice, since no memory_limit of the engine bounds what is held here.
const few, fewBytes = 4 << 10, 4 << 20

// each reads the rows in order, page by page.
func (r *result) each(ctx context.Context, visit func([]driver.Value) error) error {
	if !r.few() {
		return r.read(ctx, visit)
	}
	if r.held != nil {
		for _, cells := range r.held {
			if err := visit(cells); err != nil {
				return err
			}
		}
		return nil
	}
	var held [][]driver.Value
	size := 0
	err := r.read(ctx, func(cells []driver.Value) error {
		for _, cell := range cells {
			size += sizeOf(cell)
		}
		if size <= fewBytes {
			held = append(held, slices.Clone(cells))
		} else {
			held = nil
		}
		return visit(cells)
	})
	if err == nil && size <= fewBytes {
		r.held = held
	}
	return err
}

// sizeOf is about how many bytes a cell holds beside what every cell does.
func sizeOf(cell any) (size int) {
	switch v := cell.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case []any:
		for _, item := range v {
			size += 16 + sizeOf(item)
		}
	case map[string]any:
		for name, item := range v {
			size += 32 + len(name) + sizeOf(item)
		}
	}
	return size
}

func (r *result) few() bool { return r.rows*int64(len(r.columns)) <= few }

// read fetches the rows from the result table.
func (r *result) read(ctx context.Context, visit func([]driver.Value) error) error {
	cells := make([]driver.Value, len(r.columns))
	for from := int64(0); from < r.rows; from += page {
		to := min(from+page, r.rows)
		text := "SELECT * FROM " + resultTable
		if to-from < r.rows || r.cut {
			text += fmt.Sprintf(" WHERE rowid >= %d AND rowid < %d", from, to)
		}
		got := int64(0)
		err := r.session.Conn().Raw(func(c any) error {
			conn, ok := c.(driver.QueryerContext)
			if !ok {
				return errors.New("the driver is another one")
			}
			rows, err := conn.QueryContext(ctx, text, nil)
			if err != nil {
				return err
			}
			defer rows.Close()
			for {
				if err := rows.Next(cells); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				got++
				if err := visit(cells); err != nil {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
		if got != to-from {
			return fmt.Errorf("the result table gave %d rows of %d", got, to-from)
		}
	}
	return nil
}

// quoted says per column whether its integers print as decimal strings: as soon as one is beyond ±(2^53 - 1).
func (r *result) quoted(ctx context.Context) ([]bool, error) {
	quoted := make([]bool, len(r.columns))
	byCell := false
	var flat []int
	var asked []string
	for i, sh := range r.shapes {
		if !sh.wide() {
			continue
		}
		if len(sh.items) > 0 || r.few() {
			byCell = true
			continue
		}
		flat = append(flat, i)
		asked = append(asked, fmt.Sprintf("coalesce(bool_or(c%[1]d > %[2]d OR c%[1]d < %[3]d), false)", i, safeInteger, -safeInteger))
	}
	for len(flat) > 0 {
		n := min(len(flat), askedAtOnce)
		into := make([]any, n)
		for k, i := range flat[:n] {
			into[k] = &quoted[i]
		}
		text := fmt.Sprintf("SELECT %s FROM %s WHERE rowid < %d", strings.Join(asked[:n], ", "), resultTable, r.rows)
		flat, asked = flat[n:], asked[n:]
		if err := r.session.Conn().QueryRowContext(ctx, text).Scan(into...); err != nil {
			return nil, r.session.Explain(err)
		}
	}
	if !byCell {
		return quoted, nil
	}
	return quoted, r.each(ctx, func(cells []driver.Value) error {
		for i, sh := range r.shapes {
			if (len(sh.items) > 0 || r.few()) && !quoted[i] && sh.wide() {
				quoted[i] = sh.exceeds(cells[i])
			}
		}
		return nil
	})
}

// write sends the answer through an encoder.
func (r *result) write(ctx context.Context, e encoder, needsQuotes bool) error {
	quoted := make([]bool, len(r.columns))
	if needsQuotes {
		var err error
		if quoted, err = r.quoted(ctx); err != nil {
			return err
		}
	}
	if err := e.begin(r.columns, r.shapes, quoted); err != nil {
		return err
	}
	return r.each(ctx, e.row)
}
