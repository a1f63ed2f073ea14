package inspect

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// A Catalog is all that a SQLite file holds: a line for each row, "table|column=cell|…", sorted. No name in it is known to the kit.
type Catalog struct {
	Path  string
	Lines []string
}

// ReadCatalog reads a SQLite file whole, from a copy below scratch, so that the file and whoever has it open notice nothing.
func ReadCatalog(path, scratch string) (c Catalog, err error) {
	c.Path = path
	dir, err := os.MkdirTemp(scratch, "catalog-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "copy.sqlite")
	if err := copyFile(path, file); err != nil {
		return c, err
	}
	if err := copyFile(path+"-wal", file+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	dsn := url.URL{Scheme: "file", Path: file}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return c, err
	}
	defer db.Close()
	names, err := texts(db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`)
	if err != nil {
		return c, err
	}
	for _, name := range names {
		if err := c.read(db, name); err != nil {
			return c, err
		}
	}
	slices.Sort(c.Lines)
	return c, nil
}

func (c *Catalog) read(db *sql.DB, table string) error {
	rows, err := db.Query(`SELECT * FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	cells := make([]any, len(columns))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		line := table
		for i, name := range columns {
			v := *cells[i].(*any)
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			line += fmt.Sprintf("|%s=%v", name, v)
		}
		c.Lines = append(c.Lines, line)
	}
	return rows.Err()
}

// Mentions tells whether a word stands in some cell, with nothing of a name before or after it.
func (c Catalog) Mentions(word string) bool {
	name := func(s string) bool {
		return s != "" && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
	}
	for _, line := range c.Lines {
		_, line, _ = strings.Cut(line, "|")
		for at := 0; ; {
			i := strings.Index(line[at:], word)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(word)
			if !name(line[max(start-1, 0):start]) && !name(line[end:min(end+1, len(line))]) {
				return true
			}
			at = start + 1
		}
	}
	return false
}

func texts(db *sql.DB, query string) (out []string, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
