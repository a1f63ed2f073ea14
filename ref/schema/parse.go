package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"
)

// ParseType reads a type as a declaration or --type writes it: boolean int32 int64 float64 utf8 json timestamp binary
// binary(n) float32[n] float16[n] struct<f: t, …> list<t> map<utf8, t> variant. Spaces may stand around punctuation; a field
// name outside [A-Za-z0-9_.-] is written in double quotes with Go's escapes. Anything else is StoreTypeUnknown, naming the
// text and what is wrong with it.
func ParseType(text string) (Type, error) {
	p := parser{text: text}
	if len(text) > maxText {
		return Type{}, unknownType(text[:64]+"…", "it is longer than 64 KiB")
	}
	if !utf8.ValidString(text) {
		return Type{}, unknownType(text, "it is not valid UTF-8")
	}
	t, err := p.parse(1)
	if err == nil {
		p.space()
		if p.at < len(text) {
			err = fmt.Errorf("unexpected %q after a complete type", text[p.at:])
		}
	}
	if err != nil {
		return Type{}, unknownType(text, err.Error())
	}
	return t, nil
}

func unknownType(text, why string) error {
	return fault.New(fault.StoreTypeUnknown, text, fmt.Sprintf("%q is no column type: %s", text, why)).
		WithHint("types are boolean int32 int64 float64 utf8 json timestamp binary binary(n) float32[n] float16[n] struct<f: t, …> list<t> map<utf8, t> variant")
}

type parser struct {
	text string
	at   int
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *parser) take(c byte) error {
	p.space()
	if p.at >= len(p.text) {
		return fmt.Errorf("it ends where %q belongs", string(c))
	}
	if p.text[p.at] != c {
		return fmt.Errorf("%q stands where %q belongs", p.text[p.at:], string(c))
	}
	p.at++
	return nil
}

func (p *parser) peek() byte {
	p.space()
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) word() string {
	p.space()
	from := p.at
	for p.at < len(p.text) && bareByte(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) number(open, end byte, limit int) (int, error) {
	if err := p.take(open); err != nil {
		return 0, err
	}
	w := p.word()
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > limit || w[0] == '0' {
		return 0, fmt.Errorf("%q is no size between 1 and %d", w, limit)
	}
	return n, p.take(end)
}

func (p *parser) elem(depth int) (*Type, error) {
	t, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	return &t, p.take('>')
}

func (p *parser) parse(depth int) (Type, error) {
	if depth > MaxDepth {
		return Type{}, fmt.Errorf("it nests deeper than %d", MaxDepth)
	}
	switch w := p.word(); w {
	case "binary":
		if p.peek() != '(' {
			return Of(Binary), nil
		}
		n, err := p.number('(', ')', MaxWidth)
		return Type{Kind: FixedBinary, Width: n}, err
	case "float32":
		n, err := p.number('[', ']', MaxDim)
		return Type{Kind: Vector32, Dim: n}, err
	case "float16":
		n, err := p.number('[', ']', MaxDim)
		return Type{Kind: Vector16, Dim: n}, err
	case "list":
		if err := p.take('<'); err != nil {
			return Type{}, err
		}
		e, err := p.elem(depth)
		return Type{Kind: List, Elem: e}, err
	case "map":
		if err := p.take('<'); err != nil {
			return Type{}, err
		}
		if k := p.word(); k != "utf8" {
			return Type{}, fmt.Errorf("the keys of a map are utf8, not %q", k)
		}
		if err := p.take(','); err != nil {
			return Type{}, err
		}
		e, err := p.elem(depth)
		return Type{Kind: Map, Elem: e}, err
	case "struct":
		return p.fields(depth)
	case "":
		return Type{}, fmt.Errorf("a type is missing")
	default:
		for k, name := range scalarNames {
			if name == w {
				return Of(Kind(k)), nil
			}
		}
		return Type{}, fmt.Errorf("there is no type %q", w)
	}
}

func (p *parser) fields(depth int) (Type, error) {
	t := Type{Kind: Struct}
	if err := p.take('<'); err != nil {
		return Type{}, err
	}
	seen := map[string]string{}
	for {
		name, err := p.fieldName()
		if err != nil {
			return Type{}, err
		}
		if why := CheckName(name); why != "" {
			return Type{}, fmt.Errorf("the field name %q %s", name, why)
		}
		if other, ok := seen[FoldName(name)]; ok {
			return Type{}, fmt.Errorf("the fields %q and %q have one name but for case", other, name)
		}
		seen[FoldName(name)] = name
		if err := p.take(':'); err != nil {
			return Type{}, err
		}
		ft, err := p.parse(depth + 1)
		if err != nil {
			return Type{}, err
		}
		t.Fields = append(t.Fields, Field{name, ft})
		if len(t.Fields) > MaxFields {
			return Type{}, fmt.Errorf("it has more than %d fields", MaxFields)
		}
		if p.peek() != ',' {
			return t, p.take('>')
		}
		p.at++
	}
}

func (p *parser) fieldName() (string, error) {
	if p.peek() != '"' {
		if w := p.word(); w != "" {
			return w, nil
		}
		return "", fmt.Errorf("a field name is missing")
	}
	quoted, err := strconv.QuotedPrefix(p.text[p.at:])
	if err != nil {
		return "", fmt.Errorf("a quoted field name does not end")
	}
	p.at += len(quoted)
	return strconv.Unquote(quoted)
}

// CheckName says what is wrong with a column or field name, "" for nothing: it must be valid UTF-8 of 1 to 16,384 bytes
// without control characters.
func CheckName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is longer than 16,384 bytes"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.IndexFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) >= 0:
		return "holds a control character"
	}
	return ""
}
