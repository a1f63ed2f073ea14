package s3cas

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The text of a fault is a list in parentheses. This file reads and prints text; fault.go says what the words mean.

// Bounds of a fault's text, so that hostile text costs little.
const (
	maxFaultText  = 64 << 10
	maxFaultDepth = 64
)

// SyntaxError says where the text of a fault stops making sense. Offset counts bytes from 0.
type SyntaxError struct {
	Text    string
	Offset  int
	Message string
}

func (e *SyntaxError) Error() string {
	near := e.Text[min(e.Offset, len(e.Text)):]
	if len(near) > 24 {
		near = near[:24] + "…"
	}
	if near == "" {
		near = "the end"
	} else {
		near = strconv.Quote(near)
	}
	return fmt.Sprintf("fault, at byte %d (%s): %s", e.Offset, near, e.Message)
}

// valueKind tells apart what an atom can be.
type valueKind byte

const (
	kindString   valueKind = 's' // "text"
	kindInt      valueKind = 'i' // 412, -3
	kindPercent  valueKind = 'p' // 50%
	kindDuration valueKind = 'd' // 100ms
	kindWord     valueKind = 'w' // before, Put
)

// value is an atom.
type value struct {
	kind valueKind
	s    string // string or word
	n    int    // integer or percent
	d    time.Duration
}

func (v value) String() string {
	switch v.kind {
	case kindString:
		return strconv.Quote(v.s)
	case kindInt:
		return strconv.Itoa(v.n)
	case kindPercent:
		return strconv.Itoa(v.n) + "%"
	case kindDuration:
		return strings.Replace(v.d.String(), "µs", "us", 1) // an atom is ASCII
	}
	return v.s
}

// node is an atom or a list.
type node struct {
	at   int
	list bool
	atom value
	kids []node
}

// head is the word a list begins with, empty where it begins with something else.
func (n node) head() string {
	if n.list && len(n.kids) > 0 && !n.kids[0].list && n.kids[0].atom.kind == kindWord {
		return n.kids[0].atom.s
	}
	return ""
}

type reader struct {
	text string
	pos  int
}

func (r *reader) fail(at int, format string, args ...any) error {
	return &SyntaxError{Text: r.text, Offset: at, Message: fmt.Sprintf(format, args...)}
}

func (r *reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// node reads one atom or list.
func (r *reader) node(depth int) (node, error) {
	r.space()
	at := r.pos
	if at == len(r.text) {
		return node{}, r.fail(at, "something is missing")
	}
	if depth > maxFaultDepth {
		return node{}, r.fail(at, "more than %d lists inside each other", maxFaultDepth)
	}
	switch r.text[at] {
	case '(':
		r.pos++
		n := node{at: at, list: true}
		for {
			r.space()
			if r.pos == len(r.text) {
				return node{}, r.fail(at, "this ( is never closed")
			}
			if r.text[r.pos] == ')' {
				r.pos++
				return n, nil
			}
			kid, err := r.node(depth + 1)
			if err != nil {
				return node{}, err
			}
			n.kids = append(n.kids, kid)
		}
	case ')':
		return node{}, r.fail(at, "this ) closes nothing")
	case '"':
		q, err := strconv.QuotedPrefix(r.text[at:])
		if err != nil {
			return node{}, r.fail(at, "this string is not closed or has an unknown escape")
		}
		s, err := strconv.Unquote(q)
		if err != nil {
			return node{}, r.fail(at, "this string has an unknown escape")
		}
		r.pos += len(q)
		return node{at: at, atom: value{kind: kindString, s: s}}, nil
	}
	return r.atom()
}

func (r *reader) atom() (node, error) {
	at := r.pos
	for r.pos < len(r.text) && isAtomByte(r.text[r.pos]) {
		r.pos++
	}
	word := r.text[at:r.pos]
	if word == "" {
		return node{}, r.fail(at, "a name, a number, a string or a list is expected")
	}
	v, ok := atomValue(word)
	if !ok {
		return node{}, r.fail(at, "%q is no name, number, percentage or duration", word)
	}
	return node{at: at, atom: v}, nil
}

func isAtomByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-+._%", c) >= 0
}

func atomValue(word string) (value, bool) {
	if c := word[0]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return value{kind: kindWord, s: word}, strings.Trim(word, "%+.") == word
	}
	if n, err := strconv.Atoi(word); err == nil {
		return value{kind: kindInt, n: n}, true
	}
	if p, ok := strings.CutSuffix(word, "%"); ok {
		n, err := strconv.Atoi(p)
		return value{kind: kindPercent, n: n}, err == nil && n >= 0 && n <= 100
	}
	d, err := time.ParseDuration(word)
	return value{kind: kindDuration, d: d}, err == nil
}

// readAll reads every top-level node of a text.
func readAll(text string) ([]node, error) {
	r := &reader{text: text}
	if len(text) > maxFaultText {
		return nil, r.fail(maxFaultText, "the text is longer than %d bytes", maxFaultText)
	}
	var out []node
	for {
		r.space()
		if r.pos == len(text) {
			return out, nil
		}
		n, err := r.node(0)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
}
