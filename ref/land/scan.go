package land

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner reads rows of JSON Lines into a builder. It is strict: a row is one object without duplicate names, in valid UTF-8,
// with nothing behind it. Most rows have the names of the row before in its order, so each name is first compared with the one
// that stood next there.
type scanner struct {
	*builder
	order   []*column // the names of the row before
	current []*column
	scratch []byte
}

// rowsOf parses the lines of data, whose first is number line of the input.
func rowsOf(rs rules, data []byte, line int64) *block {
	s := &scanner{builder: newBuilder(rs)}
	for len(data) > 0 {
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
			return s.failed(line, err)
		}
		s.rows++
	}
	return s.take(line)
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
			return malformed("the name %q stands twice in one object", c.name)
		}
		c.seen = s.rows + 1
		s.current = append(s.current, c)
		if i, err = s.value(c, t, skipSpace(t, i+1)); err != nil {
			return s.at(err, c)
		}
		i = skipSpace(t, i)
		if i >= len(t) {
			return malformed("the object does not end")
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
		return malformed("after the object stands %s", found(t, i))
	}
	return nil
}

func (s *scanner) notObject(t []byte, i int) error {
	if bytes.HasPrefix(t[i:], []byte("\xef\xbb\xbf")) {
		return malformed("the line begins with a byte order mark")
	}
	v := jsontext.Value(t[i:])
	if !v.IsValid() {
		return malformed("the line is no JSON: it begins with %s", found(t, i))
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
	return malformed("the line is %s, not an object", kind)
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

// text reads the JSON string at t[i:], which begins with a quote: its value (until the next call) and the place behind it.
func (s *scanner) text(t []byte, i int) ([]byte, int, error) {
	ascii := byte(0)
	for j := i + 1; j < len(t); j++ {
		switch c := t[j]; {
		case c == '"':
			v := t[i+1 : j]
			if ascii >= 0x80 && !utf8.Valid(v) {
				return nil, i, fmt.Errorf("a string holds invalid UTF-8")
			}
			return v, j + 1, nil
		case c == '\\':
			return s.escaped(t, i, j)
		case c < 0x20:
			return nil, i, fmt.Errorf("a string holds the control character %#02x", c)
		default:
			ascii |= c
		}
	}
	return nil, i, fmt.Errorf("a string does not end")
}

// escaped is text for a string with escapes, the first of which is at j.
func (s *scanner) escaped(t []byte, i, j int) ([]byte, int, error) {
	for ; j < len(t); j++ {
		switch t[j] {
		case '\\':
			j++
		case '"':
			var err error
			s.scratch, err = jsontext.AppendUnquote(s.scratch[:0], t[i:j+1])
			if err != nil {
				return nil, i, fmt.Errorf("a string cannot be read (%v)", err)
			}
			return s.scratch, j + 1, nil
		}
	}
	return nil, i, fmt.Errorf("a string does not end")
}

// value reads the value at t[i:] into c and gives the place behind it. Values of injected columns are checked and dropped.
func (s *scanner) value(c *column, t []byte, i int) (int, error) {
	if i >= len(t) {
		return i, fmt.Errorf("a value is missing")
	}
	switch b := t[i]; b {
	case '"':
		v, end, err := s.text(t, i)
		if err != nil || c.rule.skip {
			return end, err
		}
		return end, c.putText(s.rows, v)
	case '{', '[':
		return s.nested(c, t, i)
	case 't', 'f', 'n':
		return s.word(c, t, i)
	default:
		return s.number(c, t, i)
	}
}

func (s *scanner) word(c *column, t []byte, i int) (int, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(t)-i >= len(w) && string(t[i:i+len(w)]) == w {
			if w == "null" || c.rule.skip {
				return i + len(w), nil
			}
			return i + len(w), c.putBool(s.rows, w == "true")
		}
	}
	return i, fmt.Errorf("%s is no value", found(t, i))
}

func (s *scanner) number(c *column, t []byte, i int) (int, error) {
	end, integer, ok := number(t, i)
	if !ok {
		return i, fmt.Errorf("%s is no value", found(t, i))
	}
	literal := t[i:end]
	if c.rule.skip {
		return end, nil
	}
	if integer && !(c.want == floatKind && string(literal) == "-0") {
		v, err := parseInt(literal)
		if err != nil && c.want != jsonKind && c.want != floatKind {
			return end, fmt.Errorf("%s is %w", clip(string(literal)), err)
		}
		if err == nil {
			return end, c.putInt(s.rows, v, literal)
		}
	}
	if c.want == jsonKind {
		return end, c.putJSON(s.rows, literal)
	}
	v, err := parseFloat(literal)
	if err != nil {
		return end, fmt.Errorf("%s is past the range of float64", clip(string(literal)))
	}
	return end, c.putFloat(s.rows, v, literal)
}

// nested reads the object or array at t[i:].
func (s *scanner) nested(c *column, t []byte, i int) (int, error) {
	depth, end := 0, -1
	for j := i; j < len(t) && end < 0; j++ {
		switch t[j] {
		case '"':
			_, next, err := s.text(t, j)
			if err != nil {
				return i, err
			}
			j = next - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				end = j + 1
			}
		}
	}
	if end < 0 {
		return i, fmt.Errorf("an object or array does not end")
	}
	out, err := canonicalJSON(s.scratch[:0], t[i:end])
	if err != nil {
		return i, fmt.Errorf("a value is no JSON (%v)", err)
	}
	if s.scratch = out; c.rule.skip {
		return end, nil
	}
	return end, c.putJSON(s.rows, out)
}
