package report

import (
	"fmt"
	"strings"
)

// Headline says the result in a few words.
func (r *Report) Headline() string {
	switch r.Exit {
	case ExitConformant:
		if r.Complete {
			return "conformant"
		}
		return "nothing wrong in the part that was asked"
	case ExitNotConformant:
		return "not conformant"
	case ExitNothingJudged:
		return "nothing was judged"
	case ExitStaleBaseline:
		return "the baseline is stale"
	case ExitInterrupted:
		return "interrupted"
	}
	return "the kit could not do its work"
}

// JudgedLine says how many clauses were judged, and by capability how many were not, so that silence is not read as
// green.
func (r *Report) JudgedLine() string {
	line := fmt.Sprintf("%d of %d clauses judged", r.Judged.Clauses, r.Judged.Of)
	var parts []string
	for _, m := range r.Judged.Missing {
		parts = append(parts, m.String())
	}
	if len(parts) > 0 {
		line += "; not judged: " + strings.Join(parts, ", ")
	}
	return line
}

// String gives "lazy 12 (not declared)".
func (n NotJudgedBy) String() string {
	name := n.Capability
	if name == "" {
		name = "core"
	}
	if !n.Declared {
		return fmt.Sprintf("%s %d (not declared)", name, n.Clauses)
	}
	return fmt.Sprintf("%s %d", name, n.Clauses)
}
