package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"contextful/harness/report"
)

// summarise prints what a run came to: by operation, the sum of the verdicts, what was not judged, and where the report
// lies. The last line of a run with failures is the command that asks the first of them alone.
func summarise(w io.Writer, r *report.Report, f runFlags) {
	type row struct {
		counts map[report.Verdict]int
		total  int
	}
	rows := map[string]*row{}
	var areas []string
	for _, s := range r.Scenarios {
		if rows[s.Area] == nil {
			rows[s.Area] = &row{counts: map[report.Verdict]int{}}
			areas = append(areas, s.Area)
		}
		rows[s.Area].counts[s.Verdict]++
		rows[s.Area].total++
	}
	sort.Strings(areas)
	fmt.Fprintln(w)
	for _, a := range areas {
		fmt.Fprintf(w, "%-24s %4d  %s\n", a, rows[a].total, verdicts(rows[a].counts))
	}
	all := map[report.Verdict]int{}
	for _, v := range report.Verdicts() {
		all[v] = r.Counts.Of(v)
	}
	fmt.Fprintf(w, "\nselected %d = %s\n", r.Counts.Selected, strings.ReplaceAll(verdicts(all), ", ", " + "))
	fmt.Fprintf(w, "%d of %d clauses judged in %.1f s\n", r.Judged.Clauses, r.Judged.Of, r.Seconds)
	for _, m := range r.Judged.Missing {
		name, why := m.Capability, "the implementation does not declare it"
		if m.Declared {
			why = "no scenario judged it"
		}
		if name == "" {
			name = "core"
		}
		fmt.Fprintf(w, "  not judged: %3d of %s (%s)\n", m.Clauses, name, why)
	}
	for _, s := range r.Services {
		if !s.Available {
			fmt.Fprintf(w, "service %s: unavailable: %s\n", s.Name, s.Detail)
		}
	}
	for _, why := range r.Why {
		fmt.Fprintln(w, "→", why)
	}
	if f.out != "" {
		if page, err := filepath.Abs(filepath.Join(f.out, report.FileHTML)); err == nil {
			fmt.Fprintln(w, "report:", page)
		}
	}
	for _, s := range r.Scenarios {
		if s.Verdict == report.Fail || s.Verdict == report.Error {
			fmt.Fprintf(w, "the first failure alone:\n%s\n", s.Reproduce)
			break
		}
	}
}

func verdicts(counts map[report.Verdict]int) string {
	var out []string
	for _, v := range report.Verdicts() {
		if n := counts[v]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(out) == 0 {
		return "0"
	}
	return strings.Join(out, ", ")
}

// applyBaseline marks the expected failures; without --baseline there are none.
func applyBaseline(f runFlags, _ *report.Report) error {
	if f.baseline == "" && !f.update {
		return nil
	}
	return errors.New("--baseline is not wired yet")
}
