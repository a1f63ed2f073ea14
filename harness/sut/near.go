package sut

import (
	"slices"
	"strings"
)

// DidYouMean names up to three of the known words that a mistyped one is near to, as " (did you mean x or y?)"; "" where
// none is near. Near is a third of its letters wrong at most, or a word that the other begins or ends with.
func DidYouMean(word string, known []string) string {
	type candidate struct {
		name string
		off  int
	}
	var near []candidate
	for _, k := range known {
		off := distance(strings.ToLower(word), strings.ToLower(k))
		switch {
		case off <= max(1, len(word)/3):
			near = append(near, candidate{k, off})
		case len(word) > 2 && (strings.HasPrefix(k, word) || strings.HasSuffix(k, word)):
			near = append(near, candidate{k, len(word)})
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.off - b.off })
	near = slices.DeleteFunc(near, func(c candidate) bool { return c.off > near[0].off+2 })
	var names []string
	for _, c := range near[:min(3, len(near))] {
		names = append(names, c.name)
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}

// distance counts the letters to insert, to drop, to change or to swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
