package land

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNoInstant    = errors.New("is no RFC 3339 instant")
	errOutOfRange   = errors.New("lies outside 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z, which 64 bits of nanoseconds hold")
	errTooFine      = errors.New("has digits below the nanosecond")
	errIntegerRange = errors.New("an integer past the range of int64")
)

// parseTimestamp reads an RFC 3339 instant (a date, "T", a time, a zone; fractions to the nanosecond) as nanoseconds of UTC
// since 1970.
func parseTimestamp(s []byte) (int64, error) {
	digits := func(from, n int) (int, bool) {
		v := 0
		for _, c := range s[from : from+n] {
			if c < '0' || c > '9' {
				return 0, false
			}
			v = v*10 + int(c-'0')
		}
		return v, true
	}
	if len(s) < 20 || s[4] != '-' || s[7] != '-' || s[10] != 'T' && s[10] != 't' || s[13] != ':' || s[16] != ':' {
		return 0, errNoInstant
	}
	var f [6]int
	for i, at := range [6][2]int{{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}} {
		v, ok := digits(at[0], at[1])
		if !ok {
			return 0, errNoInstant
		}
		f[i] = v
	}
	i, nanos := 19, 0
	var tooFine bool
	if s[i] == '.' {
		n := 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			if n < 9 {
				nanos = nanos*10 + int(s[i]-'0')
			} else if s[i] != '0' {
				tooFine = true
			}
			n++
		}
		if n == 0 {
			return 0, errNoInstant
		}
		for ; n < 9; n++ {
			nanos *= 10
		}
	}
	offset := 0
	switch rest := s[i:]; {
	case len(rest) == 1 && (rest[0] == 'Z' || rest[0] == 'z'):
	case len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		h, ok1 := digits(i+1, 2)
		m, ok2 := digits(i+4, 2)
		if !ok1 || !ok2 || h > 23 || m > 59 {
			return 0, errNoInstant
		}
		if offset = h*3600 + m*60; rest[0] == '-' {
			offset = -offset
		}
	default:
		return 0, errNoInstant
	}
	year, month, day := f[0], time.Month(f[1]), f[2]
	if month < 1 || month > 12 || day < 1 || f[3] > 23 || f[4] > 59 || f[5] > 59 {
		return 0, errNoInstant
	}
	t := time.Date(year, month, day, f[3], f[4], f[5], 0, time.UTC)
	if t.Day() != day {
		return 0, errNoInstant
	}
	if tooFine {
		return 0, errTooFine
	}
	return nanosOf(t.Unix()-int64(offset), int64(nanos))
}

// nanosOf joins seconds and nanoseconds (0 to 999,999,999) within the range of 64 bits.
func nanosOf(seconds, nanos int64) (int64, error) {
	const most = math.MaxInt64 / 1_000_000_000
	if seconds > most || seconds == most && nanos > math.MaxInt64%1_000_000_000 || seconds < -most-1 {
		return 0, errOutOfRange
	}
	if seconds == -most-1 {
		// One second below the last whole one: only its upper part is in range.
		if low := int64(math.MinInt64 + most*1_000_000_000); nanos-1_000_000_000 < low {
			return 0, errOutOfRange
		}
		return -most*1_000_000_000 + (nanos - 1_000_000_000), nil
	}
	return seconds*1_000_000_000 + nanos, nil
}

// number scans one JSON number at s[i:]. end is behind it, ok false where there is none or it is malformed.
func number(s []byte, i int) (end int, integer, ok bool) {
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i >= len(s):
		return i, false, false
	case s[i] == '0':
		i++
	case s[i] >= '1' && s[i] <= '9':
		for i < len(s) && s[i]-'0' <= 9 {
			i++
		}
	default:
		return i, false, false
	}
	integer = true
	if i < len(s) && s[i] == '.' {
		integer = false
		from := i + 1
		for i = from; i < len(s) && s[i]-'0' <= 9; i++ {
		}
		if i == from {
			return i, false, false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		integer = false
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
		}
		if i == from {
			return i, false, false
		}
	}
	return i, integer, true
}

// parseInt reads what number called an integer. "-0" is 0.
func parseInt(s []byte) (int64, error) {
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	if len(s) > 19 {
		return 0, errIntegerRange
	}
	var v uint64
	for _, c := range s {
		v = v*10 + uint64(c-'0')
	}
	switch {
	case neg && v <= 1<<63:
		return -int64(v), nil
	case !neg && v <= math.MaxInt64:
		return int64(v), nil
	}
	return 0, errIntegerRange
}

// tens holds the powers of ten that float64 holds exactly.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseFloat reads what number accepted, rounding to the nearest float64.
func parseFloat(s []byte) (float64, error) {
	// A mantissa below 2^53 and a small power of ten are both exact, so one division rounds right.
	mantissa, scale, seen := uint64(0), 0, false
	i := 0
	if s[0] == '-' {
		i = 1
	}
	if len(s)-i <= 17 {
		for ; i < len(s); i++ {
			switch c := s[i]; {
			case c-'0' <= 9:
				mantissa = mantissa*10 + uint64(c-'0')
				if seen {
					scale++
				}
			case c == '.':
				seen = true
			default:
				return strconv.ParseFloat(string(s), 64)
			}
		}
		if mantissa <= 1<<53 && scale < len(tens) {
			f := float64(mantissa) / tens[scale]
			if s[0] == '-' {
				f = -f
			}
			return f, nil
		}
	}
	return strconv.ParseFloat(string(s), 64)
}

// nestedDepth bounds what a json column takes.
const nestedDepth = 512

// canonicalJSON gives a JSON value in the form a json column stores: no spaces, object members sorted by name, numbers as
// written, strings with the fewest escapes. So a document's key order changes neither what is stored nor its digest. Duplicate
// names and invalid UTF-8 are errors.
func canonicalJSON(dst, text []byte) ([]byte, error) {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	if deepest > nestedDepth {
		return dst, errors.New("it nests deeper than 512")
	}
	return jsontext.AppendFormat(dst, text, jsontext.Multiline(false), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false),
		jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
}

// quoteJSON appends text, which is valid UTF-8, as a JSON string.
func quoteJSON(dst, text []byte) []byte {
	out, _ := jsontext.AppendQuote(dst, text) // it only minds invalid UTF-8
	return out
}
