package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"contextful/harness/baseline"
	"contextful/harness/report"
	"contextful/spec"
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
	r.WriteBroken(w, f.out)
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
	var silent, undeclared []string
	for _, m := range r.Judged.Missing {
		name := m.Capability
		if name == "" {
			name = "core"
		}
		if text := fmt.Sprintf("%s %d", name, m.Clauses); m.Declared {
			silent = append(silent, text)
		} else {
			undeclared = append(undeclared, text)
		}
	}
	notJudged(w, "no scenario judged them", silent)
	notJudged(w, "the implementation does not declare them", undeclared)
	for _, s := range r.Services {
		if !s.Available {
			fmt.Fprintf(w, "service %s: unavailable: %s\n", s.Name, s.Detail)
		}
	}
	fmt.Fprintf(w, "%s (exit %d)\n", r.Headline(), r.Exit)
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

func notJudged(w io.Writer, why string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(w, "not judged, since %s: %s\n", why, strings.Join(list, ", "))
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
func applyBaseline(f runFlags, law *spec.Index, rep *report.Report, now time.Time) error {
	if f.baseline == "" {
		return nil
	}
	file, err := baseline.Load(f.baseline)
	if f.update {
		file, err = baseline.LoadOrEmpty(f.baseline)
	}
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	file.Apply(rep, law, now)
	rep.Summarise()
	if !f.update {
		return nil
	}
	next, err := baseline.Update(file, rep, now.AddDate(0, 3, 0))
	if err != nil {
		return fmt.Errorf("--update-baseline: %w", err)
	}
	return next.Save()
}

// annotate speaks to GitHub where the run is one of its jobs: an annotation for each failure, and the job's summary.
func annotate(w io.Writer, r *report.Report) error {
	if os.Getenv("GITHUB_ACTIONS") == "" {
		return nil
	}
	return report.GitHub(w, r, os.Getenv("GITHUB_STEP_SUMMARY"))
}
