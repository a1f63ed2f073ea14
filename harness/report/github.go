package report

import (
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strings"
)

// mostRows bounds the tables of the step summary: GitHub cuts a summary at 1 MiB.
const mostRows = 50

// StepSummary writes the Markdown for GITHUB_STEP_SUMMARY.
func StepSummary(w io.Writer, r *Report) {
	fmt.Fprintf(w, "## %s: %s\n\n", cell(r.SUT.Name), r.Headline())
	for _, why := range r.Why {
		fmt.Fprintf(w, "- %s\n", cell(why))
	}
	fmt.Fprintf(w, "\n%s\n\n", r.JudgedLine())
	fmt.Fprint(w, "| |")
	for _, v := range Verdicts() {
		fmt.Fprintf(w, " %s |", v)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("--:|", len(Verdicts())))
	for _, level := range r.Levels() {
		fmt.Fprintf(w, "| **%s** |", level)
		for _, v := range Verdicts() {
			fmt.Fprintf(w, " %d |", r.Matrix[level][v])
		}
		fmt.Fprintln(w)
	}
	var bad []Scenario
	for _, s := range r.Scenarios {
		if s.Verdict == Fail || s.Verdict == Error || s.Verdict == XPass {
			bad = append(bad, s)
		}
	}
	if len(bad) == 0 {
		return
	}
	fmt.Fprint(w, "\n| verdict | clause | scenario | why |\n|---|---|---|---|\n")
	for i, s := range bad {
		if i == mostRows {
			fmt.Fprintf(w, "\n… and %d more\n", len(bad)-mostRows)
			break
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", s.Verdict, cell(strings.Join(s.Tags, ", ")), cell(s.Name), cell(s.Reason))
	}
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}

// Levels lists the levels of the matrix, the most binding first.
func (r *Report) Levels() []string {
	var out []string
	for l := range r.Matrix {
		out = append(out, l)
	}
	sort.Strings(out) // MUST before SHOULD
	return out
}

// Annotations writes one workflow command per scenario that failed, at its line of the feature file. dir is where the
// repository has the feature files: "features".
func Annotations(w io.Writer, r *Report, dir string) {
	for _, s := range r.Scenarios {
		kind := ""
		switch {
		case s.Verdict == Fail && s.Level == "SHOULD" && !r.Selection.Strict:
			kind = "warning"
		case s.Verdict == Fail, s.Verdict == Error, s.Verdict == XPass:
			kind = "error"
		default:
			continue
		}
		text := s.Reason
		if m := s.Mismatch; m != nil {
			text = fmt.Sprintf("%s\nexpected: %s\nactual: %s", m.What, m.Expected, m.Actual)
		}
		text += "\n" + s.Reproduce
		fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", kind, property(path.Join(dir, s.Feature)), s.Line,
			property(strings.Join(s.Tags, ", ")+": "+s.Name), data(text))
	}
	for _, why := range r.Why {
		fmt.Fprintf(w, "::error title=contextful-conform::%s\n", data(why))
	}
}

func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// GitHub prints the annotations and adds the summary to a file, the one GITHUB_STEP_SUMMARY names; "" adds none.
func GitHub(w io.Writer, r *Report, summary string) error {
	Annotations(w, r, "features")
	if summary == "" {
		return nil
	}
	f, err := os.OpenFile(summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	StepSummary(f, r)
	return f.Close()
}
