package land

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads JSON values into columns.
type reader struct {
	scratch []byte
	settled bool // the type was made from the values that are read
}

// text reads the JSON string at t[i:], which begins with a quote: its value (until the next call) and the place behind it.
func (s *reader) text(t []byte, i int) ([]byte, int, error) {
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
func (s *reader) escaped(t []byte, i, j int) ([]byte, int, error) {
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
func (s *reader) value(c *column, row int, t []byte, i int) (int, error) {
	if i >= len(t) {
		return i, fmt.Errorf("a value is missing")
	}
	if c.node != nil && !c.rule.skip {
		return s.column(c, row, t, i)
	}
	switch b := t[i]; b {
	case '"':
		v, end, err := s.text(t, i)
		if err != nil || c.rule.skip {
			return end, err
		}
		return end, c.putText(row, v)
	case '{', '[':
		return s.nested(c, row, t, i)
	case 't', 'f', 'n':
		return s.word(c, row, t, i)
	default:
		return s.number(c, row, t, i)
	}
}

func (s *reader) word(c *column, row int, t []byte, i int) (int, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(t)-i >= len(w) && string(t[i:i+len(w)]) == w {
			if w == "null" || c.rule.skip {
				return i + len(w), nil
			}
			return i + len(w), c.putBool(row, w == "true")
		}
	}
	return i, fmt.Errorf("%s is no value", found(t, i))
}

func (s *reader) number(c *column, row int, t []byte, i int) (int, error) {
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
			return end, c.putInt(row, v, literal)
		}
	}
	if c.want == jsonKind {
		return end, c.putJSON(row, literal)
	}
	v, err := parseFloat(literal)
	if err != nil {
		return end, fmt.Errorf("%s is past the range of float64", clip(string(literal)))
	}
	return end, c.putFloat(row, v, literal)
}

// nested reads the object or array at t[i:].
func (s *reader) nested(c *column, row int, t []byte, i int) (int, error) {
	end, err := s.skip(t, i)
	if err != nil {
		return i, err
	}
	out, err := canonicalJSON(s.scratch[:0], t[i:end])
	if err != nil {
		return i, fmt.Errorf("a value is no JSON (%v)", err)
	}
	if s.scratch = out; c.rule.skip {
		return end, nil
	}
	if err := c.putJSON(row, out); err != nil || c.shape == nil {
		return end, err
	}
	return end, rowOf(c.shape.object(s, c.name, t, i), row)
}

// skip gives the place behind the object or array at t[i:], whose brackets alone are looked at.
func (s *reader) skip(t []byte, i int) (int, error) {
	depth := 0
	for j := i; j < len(t); j++ {
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
				return j + 1, nil
			}
		}
	}
	return i, fmt.Errorf("an object or array does not end")
}
