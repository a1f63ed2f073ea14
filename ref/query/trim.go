package query

import "strings"

// trimStatement cuts the one statement out of text that the engine has found to hold one: without the semicolons around it and
// what follows, so that it can stand in parentheses. Comments may stay: a line break ends them.
func trimStatement(text string) string {
	for {
		end, empty := statementEnd(text)
		if !empty || end >= len(text) {
			return strings.TrimSpace(text[:end])
		}
		text = text[end+1:]
	}
}

// statementEnd gives the place of the first semicolon outside quotes and comments (or the length), and whether nothing but
// comments stands before it.
func statementEnd(text string) (end int, empty bool) {
	empty = true
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case c == ';':
			return i, empty
		case strings.HasPrefix(rest, "--"):
			i += span(rest, 2, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			i += comment(rest)
			continue
		case c == '\'' || c == '"':
			// A doubled quote ends one literal and begins the next, which comes to the same.
			i += quoted(rest, c, false)
			empty = false
			continue
		case wordByte(c):
			n := word(rest)
			if (rest[:n] == "e" || rest[:n] == "E") && n < len(rest) && rest[n] == '\'' {
				n += quoted(rest[n:], '\'', true)
			}
			i += n
			empty = false
			continue
		case c == '$':
			if tag, ok := dollarTag(rest); ok {
				i += span(rest, len(tag), tag)
				empty = false
				continue
			}
		}
		if text[i] > ' ' {
			empty = false
		}
		i++
	}
	return len(text), empty
}

// span is the length up to and with the next end after from, or all of rest.
func span(rest string, from int, end string) int {
	if at := strings.Index(rest[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return len(rest)
}

func comment(rest string) int {
	depth := 0
	for i := 0; i < len(rest); {
		switch {
		case strings.HasPrefix(rest[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(rest[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(rest)
}

func quoted(rest string, quote byte, escapes bool) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case escapes && rest[i] == '\\':
			i++
		case rest[i] == quote:
			return i + 1
		}
	}
	return len(rest)
}

// dollarTag reads "$$" or "$name$".
func dollarTag(rest string) (string, bool) {
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '$':
			return rest[:i+1], true
		case !wordByte(c) || (i == 1 && c >= '0' && c <= '9'):
			return "", false
		}
	}
	return "", false
}

// word is the length of a name or a number; a name may hold '$' after its first byte.
func word(rest string) int {
	number := rest[0] >= '0' && rest[0] <= '9'
	i := 1
	for i < len(rest) && (wordByte(rest[i]) || rest[i] == '$' && !number) {
		i++
	}
	return i
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
