package query

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"contextful/ref/duck"

	"github.com/duckdb/duckdb-go/v2"
)

// page is how many rows are read from the result table at a time: the driver holds a statement's answer whole.
const page = 32 << 10

// resultTable keeps a result. Its name cannot hide a table of the store: it is temporary and used qualified.
const resultTable = `temp.main."contextful result"`

// result is a statement's answer in a temporary table.
type result struct {
	session *duck.Session
	columns []string
	shapes  []*shape
	rows    int64
	cut     bool // there were more rows than the limit
}

// run executes text (one SELECT, checked) after prefix, which defines its tables. limit 0 is none.
func run(ctx context.Context, s *duck.Session, prefix, text string, limit int64) (*result, error) {
	r := &result{session: s}
	casts, err := r.describe(ctx, prefix+text)
	if err != nil {
		return nil, s.Explain(err)
	}
	inner := "(\n" + text + "\n)"
	var create strings.Builder
	create.WriteString("CREATE TEMP TABLE " + resultTable + " AS " + prefix + "SELECT ")
	for i, cast := range casts {
		if i > 0 {
			create.WriteString(", ")
		}
		if cast == "" {
			fmt.Fprintf(&create, "#%d AS c%d", i+1, i)
		} else {
			fmt.Fprintf(&create, "CAST(#%d AS %s) AS c%d", i+1, cast, i)
		}
	}
	create.WriteString(" FROM " + inner)
	if limit > 0 {
		// One more than asked for tells whether there is more.
		fmt.Fprintf(&create, " LIMIT %d", limit+1)
	}
	if _, err = s.Exec(ctx, create.String()); err != nil {
		return nil, s.Explain(err)
	}
	if r.rows, err = s.Int(ctx, "SELECT count(*) FROM "+resultTable); err != nil {
		return nil, s.Explain(err)
	}
	if limit > 0 && r.rows > limit {
		r.rows, r.cut = limit, true
	}
	return r, nil
}

// describe learns names and types of the answer without computing it.
func (r *result) describe(ctx context.Context, text string) (casts []string, err error) {
	err = r.session.Conn().Raw(func(c any) error {
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
				sh, cast = shapeOf(info)
			}
			r.columns, r.shapes, casts = append(r.columns, name), append(r.shapes, sh), append(casts, cast)
		}
		return nil
	})
	return casts, err
}

// each reads the rows in order, page by page.
func (r *result) each(ctx context.Context, visit func([]driver.Value) error) error {
	cells := make([]driver.Value, len(r.columns))
	for from := int64(0); from < r.rows; from += page {
		to := min(from+page, r.rows)
		text := fmt.Sprintf("SELECT * FROM %s WHERE rowid >= %d AND rowid < %d", resultTable, from, to)
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
	nested := false
	for i, sh := range r.shapes {
		if !sh.wide() {
			continue
		}
		if len(sh.items) > 0 {
			nested = true
			continue
		}
		n, err := r.session.Int(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT c%d AS v FROM %s WHERE rowid < %d) WHERE v > %d OR v < %d",
			i, resultTable, r.rows, safeInteger, -safeInteger))
		if err != nil {
			return nil, r.session.Explain(err)
		}
		quoted[i] = n > 0
	}
	if !nested {
		return quoted, nil
	}
	return quoted, r.each(ctx, func(cells []driver.Value) error {
		for i, sh := range r.shapes {
			if len(sh.items) > 0 && !quoted[i] && sh.wide() {
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
