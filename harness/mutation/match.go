package mutation

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// A lexeme is one token of Go text with its bytes' place in it.
type lexeme struct {
	tok        token.Token
	lit        string
	start, end int
}

func (l lexeme) same(o lexeme) bool { return l.tok == o.tok && l.lit == o.lit }

// lex splits Go text into its tokens, comments left out. A semicolon the scanner adds at a line's end is the same as a
// written one.
func lex(text string) ([]lexeme, error) {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	var first error
	s.Init(file, []byte(text), func(pos token.Position, msg string) {
		if first == nil {
			first = fmt.Errorf("line %d: %s", pos.Line, msg)
		}
	}, 0)
	var out []lexeme
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out, first
		}
		start := file.Offset(pos)
		if (tok == token.RBRACE || tok == token.RPAREN) && len(out) > 0 && out[len(out)-1].tok == token.SEMICOLON {
			out = out[:len(out)-1] // "{ return }" on one line or on three
		}
		l := lexeme{tok: tok, lit: lit, start: start}
		switch {
		case tok == token.SEMICOLON && lit != ";":
			l.lit, l.end = ";", start
		case lit != "" && tok != token.SEMICOLON:
			l.end = start + len(lit)
		default:
			l.end = start + len(tok.String())
		}
		out = append(out, l)
	}
}

// A span is a byte range of a file.
type span struct{ start, end int }

// find locates the one place in text whose tokens are those of the snippet. The error says why there is none: it does
// not occur, or more than once (with the lines).
func find(text []lexeme, source, snippet string) (span, error) {
	want, err := lex(snippet)
	if err != nil {
		return span{}, fmt.Errorf("find is no Go text: %w", err)
	}
	for len(want) > 0 && want[len(want)-1].tok == token.SEMICOLON {
		want = want[:len(want)-1]
	}
	if len(want) == 0 {
		return span{}, fmt.Errorf("find holds no code")
	}
	var at []span
	for i := 0; i+len(want) <= len(text); i++ {
		j := 0
		for j < len(want) && want[j].same(text[i+j]) {
			j++
		}
		if j == len(want) {
			at = append(at, span{text[i].start, text[i+j-1].end})
		}
	}
	switch len(at) {
	case 1:
		return at[0], nil
	case 0:
		return span{}, fmt.Errorf("the snippet is gone: it does not occur")
	}
	var lines []string
	for _, s := range at {
		lines = append(lines, fmt.Sprint(1+strings.Count(source[:s.start], "\n")))
	}
	return span{}, fmt.Errorf("the snippet occurs %d times, at lines %s: it must be unique", len(at), strings.Join(lines, ", "))
}
