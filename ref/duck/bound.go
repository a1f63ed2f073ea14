package duck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"contextful/ref/manifest"
	"contextful/ref/schema"
)

// Bound keeps the rows whose Column, a timestamp, is at or before At, or under After those whose Column is later. Open keeps those
// without a value too. To the nanosecond.
type Bound struct {
	Column string
	After  bool
	At     manifest.Instant
	Open   bool
}

// where is the condition of all bounds, "" where there is none. nanos are the columns seen as TIMESTAMP_NS. A column that no row
// has a value of is null in all of them.
func where(bounds []Bound, columns []schema.Column, nanos map[string]bool) string {
	var terms []string
	for _, b := range bounds {
		switch {
		case slices.ContainsFunc(columns, func(c schema.Column) bool { return c.Name == b.Column }):
			terms = append(terms, b.term(nanos[b.Column]))
		case !b.Open:
			terms = append(terms, "false")
		}
	}
	if len(terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(terms, " AND ")
}

// safeNanos is one day above the least instant: below it the engine makes no TIMESTAMP_NS of a number.
const safeNanos = math.MinInt64 + 86_400_000_000_000

func (b Bound) term(nanos bool) string {
	name := Ident(b.Column)
	compare := " <= "
	if b.After {
		compare = " > "
	}
	var term string
	switch n := b.At.UnixNano(); {
	case !b.At.Holds():
		// Nothing lies out there: every instant is on one side of it.
		term = "false"
		if before := b.At.Year() < 1970; before == b.After {
			term = name + " IS NOT NULL"
		}
	case !nanos:
		// Whole microseconds lie on the same side of an instant as of the microsecond it lies in.
		micros := n / 1000
		if n%1000 < 0 {
			micros--
		}
		term = name + compare + fmt.Sprintf("make_timestamptz(%d)", micros)
	case n < safeNanos || n == math.MaxInt64:
		term = "epoch_ns(" + name + ")" + compare + fmt.Sprintf("CAST('%d' AS BIGINT)", n)
	default:
		term = name + compare + fmt.Sprintf("make_timestamp_ns(%d)", n)
	}
	if b.Open {
		term += " OR " + name + " IS NULL"
	}
	return "(" + term + ")"
}
