package query

import (
	"bufio"
	"database/sql/driver"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// Format is how a result prints.
type Format string

// The formats. JSON is one object {"columns", "rows", "truncated"}; CSV has a header line, an empty field for null and "" for
// empty text; Table is for people.
const (
	JSON  Format = "json"
	CSV   Format = "csv"
	Table Format = "table"
)

// encoder takes a result row by row.
type encoder interface {
	begin(columns []string, shapes []*shape, quoted []bool) error
	row(cells []driver.Value) error
	end(truncated bool, b Bounds) error
}

func newEncoder(format Format, out io.Writer) encoder {
	b := bufio.NewWriterSize(out, 64<<10)
	switch format {
	case CSV:
		return &csvEncoder{out: b}
	case Table:
		return &tableEncoder{out: b}
	}
	return &jsonEncoder{out: b}
}

type jsonEncoder struct {
	out    *bufio.Writer
	shapes []*shape
	quoted []bool
	rows   int
	line   []byte
}

func (e *jsonEncoder) begin(columns []string, shapes []*shape, quoted []bool) error {
	e.shapes, e.quoted = shapes, quoted
	e.line = append(e.line[:0], `{"columns":[`...)
	for i, name := range columns {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = appendString(e.line, name)
	}
	e.line = append(e.line, `],"rows":[`...)
	_, err := e.out.Write(e.line)
	return err
}

func (e *jsonEncoder) row(cells []driver.Value) error {
	e.line = e.line[:0]
	if e.rows > 0 {
		e.line = append(e.line, ',', '\n')
	}
	e.rows++
	e.line = append(e.line, '[')
	for i, cell := range cells {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = e.shapes[i].appendJSON(e.line, cell, e.quoted[i])
	}
	e.line = append(e.line, ']')
	_, err := e.out.Write(e.line)
	return err
}

func (e *jsonEncoder) end(truncated bool, b Bounds) error {
	tail := `],"truncated":false`
	if truncated {
		tail = `],"truncated":true`
	}
	if named := b.named(); len(named) > 0 {
		bounds, err := json.Marshal(named)
		if err != nil {
			return err
		}
		tail += `,"contextful.bounds":` + string(bounds)
	}
	if _, err := e.out.WriteString(tail + "}\n"); err != nil {
		return err
	}
	return e.out.Flush()
}

type csvEncoder struct {
	out    *bufio.Writer
	shapes []*shape
	line   []byte
	cell   []byte
}

func (e *csvEncoder) begin(columns []string, shapes []*shape, _ []bool) error {
	e.shapes = shapes
	for i, name := range columns {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = appendField(e.line, []byte(name))
	}
	_, err := e.out.Write(append(e.line, '\n'))
	return err
}

func (e *csvEncoder) row(cells []driver.Value) error {
	e.line = e.line[:0]
	for i, cell := range cells {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		if cell != nil {
			e.cell = e.shapes[i].appendText(e.cell[:0], cell)
			e.line = appendField(e.line, e.cell)
		}
	}
	_, err := e.out.Write(append(e.line, '\n'))
	return err
}

func (e *csvEncoder) end(bool, Bounds) error { return e.out.Flush() }

// appendField quotes where RFC 4180 asks for it, and an empty text, so that null and empty stay apart.
func appendField(b, field []byte) []byte {
	plain := len(field) > 0
	for _, c := range field {
		if c == ',' || c == '"' || c == '\n' || c == '\r' {
			plain = false
		}
	}
	if plain {
		return append(b, field...)
	}
	b = append(b, '"')
	for _, c := range field {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// tableWindow is how many rows a table's column widths are taken from; longer cells further down stick out.
const tableWindow = 1000

// tableCell is the width in runes beyond which a cell for people is cut.
const tableCell = 60

type tableEncoder struct {
	out    *bufio.Writer
	shapes []*shape
	names  []string
	held   [][]string
	widths []int
	open   bool
}

func (e *tableEncoder) begin(columns []string, shapes []*shape, _ []bool) error {
	e.shapes, e.names = shapes, make([]string, len(columns))
	e.widths = make([]int, len(columns))
	for i, name := range columns {
		e.names[i] = shorten(name)
		e.widths[i] = utf8.RuneCountInString(e.names[i])
	}
	return nil
}

func (e *tableEncoder) row(cells []driver.Value) error {
	line := make([]string, len(cells))
	for i, cell := range cells {
		line[i] = "NULL"
		if cell != nil {
			line[i] = shorten(string(e.shapes[i].appendText(nil, cell)))
		}
	}
	if e.open {
		return e.print(line)
	}
	e.held = append(e.held, line)
	for i, text := range line {
		e.widths[i] = max(e.widths[i], utf8.RuneCountInString(text))
	}
	if len(e.held) >= tableWindow {
		return e.release()
	}
	return nil
}

func (e *tableEncoder) release() error {
	if e.open {
		return nil
	}
	e.open = true
	rule := make([]string, len(e.names))
	for i := range rule {
		rule[i] = strings.Repeat("-", e.widths[i])
	}
	for _, line := range append([][]string{e.names, rule}, e.held...) {
		if err := e.print(line); err != nil {
			return err
		}
	}
	e.held = nil
	return nil
}

func (e *tableEncoder) print(line []string) error {
	for i, text := range line {
		if i > 0 {
			e.out.WriteString("  ")
		}
		e.out.WriteString(text)
		if i < len(line)-1 {
			e.out.WriteString(strings.Repeat(" ", max(e.widths[i]-utf8.RuneCountInString(text), 0)))
		}
	}
	return e.out.WriteByte('\n')
}

func (e *tableEncoder) end(truncated bool, _ Bounds) error {
	if err := e.release(); err != nil {
		return err
	}
	if truncated {
		e.out.WriteString("…\n")
	}
	return e.out.Flush()
}

// shorten keeps a cell on one line and within the width; control characters would steer the reader's terminal.
func shorten(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= tableCell {
		return text
	}
	return string([]rune(text)[:tableCell-1]) + "…"
}
