// Package verify holds the closed set of checks a step may make. A check that finds the implementation wrong returns a
// *Mismatch: the verdict is fail. Every other error of a step means that the kit could not look: the verdict is error.
//
// Answers: no clause; it is how a difference is said.
package verify

import (
	"fmt"
	"strings"

	"contextful/harness/inspect"
)

// A Mismatch says what was asked, what the law expects and what was seen.
type Mismatch struct {
	Clause   string `json:"clause,omitempty"` // filled in by the suite where the check does not know it
	What     string `json:"what"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s\n  expected: %s\n  actual:   %s", m.What, m.Expected, m.Actual)
}

// Fail is a Mismatch as an error. Expected and actual are printed as they are.
func Fail(what string, expected, actual any) error {
	return &Mismatch{What: what, Expected: show(expected), Actual: show(actual)}
}

func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		if len(v) == 0 {
			return "(nothing)"
		}
		return strings.Join(v, "\n            ")
	case error:
		return v.Error()
	}
	return fmt.Sprintf("%v", v)
}

// Equal fails unless got equals want.
func Equal[T comparable](what string, want, got T) error {
	if want == got {
		return nil
	}
	return Fail(what, want, got)
}

// That fails unless ok; expected and actual say what it was about.
func That(ok bool, what string, expected, actual any) error {
	if ok {
		return nil
	}
	return Fail(what, expected, actual)
}

// Nothing fails if the list holds anything: leftovers, unwanted requests, damage.
func Nothing(what string, list []string) error {
	if len(list) == 0 {
		return nil
	}
	return Fail(what, "nothing", bounded(list))
}

// SameSet fails unless both lists hold the same strings, order aside.
func SameSet(what string, want, got []string) error {
	missing, extra := difference(want, got)
	if len(missing)+len(extra) == 0 {
		return nil
	}
	return Fail(what, bounded(want), changes(missing, extra))
}

// SameRows fails unless both grids hold the same rows, as multisets over columns matched by name: no row lost, none
// doubled, no value changed.
func SameRows(what string, want, got inspect.Grid) error {
	if err := SameSet(what+": the columns", want.Columns, got.Columns); err != nil {
		return err
	}
	missing, extra := difference(want.Lines(), got.Lines())
	if len(missing)+len(extra) == 0 {
		return nil
	}
	return Fail(what, fmt.Sprintf("%d rows, the same as compared", len(want.Rows)),
		fmt.Sprintf("%d rows:\n            %s", len(got.Rows), show(changes(missing, extra))))
}

func changes(missing, extra []string) []string {
	var out []string
	for _, s := range bounded(missing) {
		out = append(out, "missing: "+s)
	}
	for _, s := range bounded(extra) {
		out = append(out, "too many: "+s)
	}
	return out
}

// bounded keeps a message readable.
func bounded(list []string) []string {
	const most = 12
	if len(list) <= most {
		return list
	}
	return append(append([]string{}, list[:most]...), fmt.Sprintf("… and %d more", len(list)-most))
}

// difference compares multisets.
func difference(want, got []string) (missing, extra []string) {
	have := map[string]int{}
	for _, s := range got {
		have[s]++
	}
	for _, s := range want {
		if have[s] > 0 {
			have[s]--
			continue
		}
		missing = append(missing, s)
	}
	for _, s := range got {
		if have[s] > 0 {
			have[s]--
			extra = append(extra, s)
		}
	}
	return missing, extra
}

// Unchanged fails if the tree is not what it was.
func Unchanged(what string, before, after inspect.Tree) error {
	return NoChange(what, before.Diff(after))
}

// NoChange fails if there is a difference: lines that begin with "+ ", "- " or "~ ", of a tree or of a bucket.
func NoChange(what string, diff []string) error {
	if len(diff) == 0 {
		return nil
	}
	said := make([]string, len(diff))
	for i, line := range diff {
		how := map[byte]string{'+': "new: ", '-': "gone: "}[line[0]]
		if how == "" {
			how = "changed: "
		}
		said[i] = how + line[2:]
	}
	return Fail(what, "as it was: nothing new, gone or changed", bounded(said))
}
