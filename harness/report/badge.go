package report

import (
	"fmt"
	"path/filepath"
	"sort"
)

// A Badge is an endpoint badge, as shields.io reads one.
type Badge struct {
	SchemaVersion int    `json:"schemaVersion"` // of the badge format: 1
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
}

// Core is the badge of the clauses that need no capability.
const Core = "core"

// Badges gives one badge per capability, and one for the core: how many of its MUST clauses this run found met. Green
// only if all of them were; a part that was not asked is said.
func Badges(r *Report) map[string]Badge {
	type tally struct{ met, broken, of int }
	by := map[string]*tally{Core: {}}
	for name := range r.SUT.Capabilities {
		by[name] = &tally{}
	}
	for _, c := range r.Clauses {
		if c.Level != "MUST" {
			continue
		}
		needs := c.Needs
		if len(needs) == 0 {
			needs = []string{Core}
		}
		for _, n := range needs {
			t, ok := by[n]
			if !ok {
				t = &tally{}
				by[n] = t
			}
			t.of++
			switch c.Verdict {
			case Pass:
				t.met++
			case Fail, XFail, Error:
				t.broken++
			}
		}
	}
	out := map[string]Badge{}
	for name, t := range by {
		b := Badge{SchemaVersion: 1, Label: "contextful " + name, Message: fmt.Sprintf("%d of %d clauses", t.met, t.of)}
		switch {
		case name != Core && !r.SUT.Capabilities[name]:
			b.Message, b.Color = "not declared", "lightgrey"
		case t.broken > 0:
			b.Message, b.Color = fmt.Sprintf("%d of %d clauses broken", t.broken, t.of), "red"
		case t.met == t.of && t.of > 0:
			b.Color = "brightgreen"
		case t.met > 0:
			b.Color = "yellowgreen"
		default:
			b.Message, b.Color = "not judged", "lightgrey"
		}
		out[name] = b
	}
	return out
}

func writeBadges(dir string, r *Report) error {
	badges := Badges(r)
	var names []string
	for n := range badges {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if err := writeJSON(filepath.Join(dir, n+".json"), badges[n]); err != nil {
			return err
		}
	}
	return nil
}
