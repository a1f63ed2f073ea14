package land

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads rows of JSON Lines into a builder. It is strict: a row is one object without duplicate names, in valid UTF-8,
// with nothing behind it. Most rows have the names of the row before in its order, so each name is first compared with the one
// that stood next there.
type scanner struct {
	*builder
	reader
	order   []*column // the names of the row before
	current []*column
}

// rowsOf parses the lines of data, whose first is number line of the input, and gives their blocks in order until give says no.
func rowsOf(rs rules, data []byte, line int64, give func(*block) bool) {
	s := &scanner{builder: newBuilder(rs)}
	for len(data) > 0 {
		if s.full() {
			next := line + int64(s.rows) + gapLines(s.gaps)
			if !give(s.take(line)) {
				return
			}
			s, line = &scanner{builder: newBuilder(rs)}, next
		}
		text := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if blank(text) {
			s.gaps = append(s.gaps, gap{row: s.rows, lines: 1})
			continue
		}
		if err := s.row(text); err != nil {
			give(s.failed(line, err))
			return
		}
		s.rows++
	}
	give(s.take(line))
}

func blank(text []byte) bool {
	for _, c := range text {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func skipSpace(t []byte, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '\r') {
		i++
	}
	return i
}

// row parses one line.
func (s *scanner) row(t []byte) error {
	i := skipSpace(t, 0)
	if t[i] != '{' {
		return s.notObject(t, i)
	}
	s.order, s.current = s.current, s.order[:0]
	i = skipSpace(t, i+1)
	if i < len(t) && t[i] == '}' {
		return s.rest(t, i+1)
	}
	for {
		c, next, err := s.key(t, i)
		if err != nil {
			return err
		}
		i = skipSpace(t, next)
		if i >= len(t) || t[i] != ':' {
			return malformed("the name %q is not followed by a colon", c.name)
		}
		if c.seen == s.rows+1 {
			return malformed("the name %q stands twice in one object", c.name).hinted(renameColumn)
		}
		c.seen = s.rows + 1
		s.current = append(s.current, c)
		if i, err = s.value(c, s.rows, t, skipSpace(t, i+1)); err != nil {
			return s.at(err, c)
		}
		i = skipSpace(t, i)
		if i >= len(t) {
			return malformed("the object does not end").hinted(oneObject)
		}
		switch t[i] {
		case ',':
			i = skipSpace(t, i+1)
		case '}':
			return s.rest(t, i+1)
		default:
			return malformed("%s stands where a comma or } belongs", found(t, i))
		}
	}
}

// at gives an error of a value its row and column.
func (s *scanner) at(err error, c *column) error {
	e, ok := err.(*rowError)
	if !ok {
		e = malformed("column %q: %s", c.name, err)
	}
	if e.column == "" {
		e.column = c.name
	}
	return e
}

func (s *scanner) rest(t []byte, i int) error {
	if i = skipSpace(t, i); i < len(t) {
		return malformed("after the object stands %s", found(t, i)).hinted(oneObject)
	}
	return nil
}

func (s *scanner) notObject(t []byte, i int) error {
	if bytes.HasPrefix(t[i:], []byte("\xef\xbb\xbf")) {
		return malformed("the line begins with a byte order mark").hinted(byteOrderMark)
	}
	v := jsontext.Value(t[i:])
	if !v.IsValid() {
		return malformed("the line is no JSON: it begins with %s", found(t, i)).hinted(oneObject)
	}
	kind := "a number"
	switch t[i] {
	case '[':
		kind = "an array"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a boolean"
	case 'n':
		kind = "null"
	}
	e := malformed("the line is %s, not an object", kind).hinted(oneObject)
	if t[i] == '[' {
		e.hint = oneArray
	}
	return e
}

// found shows what stands at i.
func found(t []byte, i int) string {
	if i >= len(t) {
		return "the end of the line"
	}
	rest := t[i:]
	if len(rest) > 20 {
		rest = rest[:20]
	}
	return strconv.QuoteToASCII(string(rest))
}

// key reads the name at t[i:] and gives its column and the place behind it.
func (s *scanner) key(t []byte, i int) (*column, int, error) {
	if n := len(s.current); n < len(s.order) {
		if q := s.order[n].quoted; q != "" && len(t)-i >= len(q) && string(t[i:i+len(q)]) == q {
			return s.order[n], i + len(q), nil
		}
	}
	if i >= len(t) || t[i] != '"' {
		return nil, i, malformed("%s stands where a name in quotes belongs", found(t, i))
	}
	name, end, err := s.text(t, i)
	if err != nil {
		return nil, i, malformed("a name: %s", err)
	}
	c := s.byName[string(name)]
	if c == nil {
		if c, err = s.add(string(name)); err != nil {
			return nil, i, err
		}
	}
	return c, end, nil
}
