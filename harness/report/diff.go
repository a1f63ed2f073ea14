package report

import (
	"fmt"
	"io"
	"sort"
)

// A Change is one scenario whose verdict two reports disagree about. Before or After is "" where one lacks it.
type Change struct {
	ID            string
	Tags          []string
	Before, After Verdict
	Reason        string // of the later report
}

// A Diff compares two reports scenario by scenario. Each list is sorted by id.
type Diff struct {
	Regressions []Change // was fine, and now is not
	Fixed       []Change // the other way
	Silent      []Change // was judged and is not any more, without a failure: a service or the scenario is gone
	Other       []Change // the rest, scenarios that are new among them
	Notes       []string // what makes the two hard to compare
}

func fine(v Verdict) bool { return v == Pass || v == XPass }

// Compare compares an earlier report with a later one. A scenario regresses that was fine and now fails, errs, did not
// run or is unsupported: dropping a capability is a step back too.
func Compare(before, after *Report) Diff {
	var d Diff
	if before.SUT.Name != after.SUT.Name {
		d.Notes = append(d.Notes, fmt.Sprintf("two implementations: %s and %s", before.SUT.Name, after.SUT.Name))
	}
	if before.Digests.Spec != after.Digests.Spec {
		d.Notes = append(d.Notes, "the law is not the same text in both")
	}
	if before.Digests.Features != after.Digests.Features {
		d.Notes = append(d.Notes, "the questions are not the same in both")
	}
	if !after.Complete {
		d.Notes = append(d.Notes, "the later report is not complete: what it did not ask is left out")
	}
	late := map[string]Scenario{}
	for _, s := range after.Scenarios {
		late[s.ID] = s
	}
	seen := map[string]bool{}
	for _, b := range before.Scenarios {
		seen[b.ID] = true
		a, ok := late[b.ID]
		c := Change{ID: b.ID, Tags: b.Tags, Before: b.Verdict, After: a.Verdict, Reason: a.Reason}
		switch {
		case !ok && after.Selection.Filtered(), a.Verdict == b.Verdict:
		case !ok && decided(b.Verdict):
			d.Silent = append(d.Silent, c)
		case !ok:
			d.Other = append(d.Other, c)
		case fine(b.Verdict) && (a.Verdict == Fail || a.Verdict == XFail || a.Verdict == Error || a.Verdict == NotRun || a.Verdict == Unsupported):
			d.Regressions = append(d.Regressions, c)
		case fine(a.Verdict) && !fine(b.Verdict):
			d.Fixed = append(d.Fixed, c)
		case decided(b.Verdict) && !decided(a.Verdict):
			d.Silent = append(d.Silent, c)
		default:
			d.Other = append(d.Other, c)
		}
	}
	for _, a := range after.Scenarios {
		if !seen[a.ID] && !before.Selection.Filtered() {
			d.Other = append(d.Other, Change{ID: a.ID, Tags: a.Tags, After: a.Verdict, Reason: a.Reason})
		}
	}
	for _, l := range [][]Change{d.Regressions, d.Fixed, d.Silent, d.Other} {
		sort.Slice(l, func(i, j int) bool { return l[i].ID < l[j].ID })
	}
	return d
}

// Exit is 1 if anything regressed, else 0.
func (d Diff) Exit() int {
	if len(d.Regressions) > 0 {
		return ExitNotConformant
	}
	return ExitConformant
}

// Print writes the comparison for a person.
func (d Diff) Print(w io.Writer) {
	for _, n := range d.Notes {
		fmt.Fprintln(w, "note: "+n)
	}
	for _, part := range []struct {
		title string
		list  []Change
	}{{"regressed", d.Regressions}, {"no longer judged", d.Silent}, {"fixed", d.Fixed}, {"changed", d.Other}} {
		for _, c := range part.list {
			fmt.Fprintf(w, "%-16s  %s → %s  %s\n", part.title, or(c.Before, "absent"), or(c.After, "absent"), c.ID)
			if c.Reason != "" && c.After != Pass {
				fmt.Fprintf(w, "%-16s  %s\n", "", c.Reason)
			}
		}
	}
	fmt.Fprintf(w, "%d regressed, %d no longer judged, %d fixed, %d changed otherwise\n", len(d.Regressions), len(d.Silent), len(d.Fixed), len(d.Other))
}

func or(v Verdict, none string) string {
	if v == "" {
		return none
	}
	return string(v)
}
