package s3cas

import "unicode/utf8"

// Glob reports whether s matches pattern as a whole. * stands for any bytes, slashes included, ? for one character, and \ takes
// the next character literally. There is no other syntax, so every pattern is valid.
func Glob(pattern, s string) bool {
	// The last * and what it had swallowed: on a mismatch it swallows one byte more. Linear in practice, quadratic at worst.
	starP, starS := -1, 0
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				starP, starS = p, i
				p++
				continue
			case c == '?':
				_, n := utf8.DecodeRuneInString(s[i:])
				p, i = p+1, i+n
				continue
			case c == '\\' && p+1 < len(pattern) && pattern[p+1] == s[i]:
				p, i = p+2, i+1
				continue
			case c == s[i] && (c != '\\' || p+1 == len(pattern)):
				p, i = p+1, i+1
				continue
			}
		}
		if starP < 0 {
			return false
		}
		starS++
		p, i = starP+1, starS
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
