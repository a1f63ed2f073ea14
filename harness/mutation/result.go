package mutation

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"contextful/harness/report"
	"contextful/spec"
)

// What became of a mutant.
const (
	Killed     = "killed"   // a scenario of its own clause noticed
	Survived   = "survived" // none did: those scenarios cannot fail
	DeadResult = "dead"     // its snippet is gone, or its replacement is no Go
)

// A Result is a hunt, as build/mutants.json holds it.
type Result struct {
	SchemaVersion int       `json:"schema_version"`
	Complete      bool      `json:"complete"` // every mutant was hunted
	Seconds       float64   `json:"seconds"`  // wall clock
	Digests       Digests   `json:"digests"`
	Score         Score     `json:"score"`
	Mutants       []Outcome `json:"mutants"`   // sorted by clause, facet and id
	Missing       []string  `json:"missing"`   // facets of MUST clauses that a scenario observes and no mutant violates
	NotClean      []string  `json:"not_clean"` // what failed on the clean binary: "id: reason"
	Why           []string  `json:"why"`       // one sentence for each reason the gate is not passed
}

// Digests say what was hunted with: law and questions as in report.json (lower-case hex SHA-256), the binaries by the
// names of their files, which end in the digest of their sources.
type Digests struct {
	Spec     string `json:"spec"`
	Features string `json:"features"`
	Clean    string `json:"clean,omitempty"`
	Mutated  string `json:"mutated,omitempty"`
}

// A Score counts facets of MUST clauses: a clause without facets is one. Killed ones have a mutant and no mutant of
// theirs survives; Observed ones have a scenario that passed on the clean binary. The gate is Killed = Observed.
type Score struct {
	Killed   int `json:"killed"`
	Observed int `json:"observed"`
}

// An Outcome is one mutant's end.
type Outcome struct {
	ID       string           `json:"id"`
	Clause   string           `json:"clause"`
	Facet    string           `json:"facet,omitempty"`
	Result   string           `json:"result"`
	KilledBy []string         `json:"killed_by"`      // ids of scenarios
	Why      string           `json:"why,omitempty"`  // how it was noticed, or why it was not
	Step     *report.Step     `json:"step,omitempty"` // where it was noticed
	Mismatch *report.Mismatch `json:"mismatch,omitempty"`
	Mistake  string           `json:"mistake"` // the mutant's why: which mistake it is
	File     string           `json:"file"`
	Asked    int              `json:"asked"`   // scenarios run against it
	Seconds  float64          `json:"seconds"` // their sum
}

func tag(clause, facet string) string { return Mutant{Clause: clause, Facet: facet}.Tag() }

// judge computes the score, what is missing and what does not hold.
func (r *Result) judge(law *spec.Index, clean []report.Scenario) {
	r.Missing, r.NotClean, r.Why = []string{}, []string{}, []string{}
	observed := map[string]bool{}
	for _, s := range clean {
		switch s.Verdict {
		case report.Pass:
			for _, t := range s.Tags {
				observed[t] = true
			}
		case report.Fail, report.Error, report.NotRun:
			r.NotClean = append(r.NotClean, s.ID+": "+s.Reason)
		}
	}
	all, bad := map[string]int{}, map[string]int{}
	for _, m := range r.Mutants {
		t := tag(m.Clause, m.Facet)
		all[t]++
		if m.Result != Killed {
			bad[t]++
			r.Why = append(r.Why, fmt.Sprintf("mutant %s of %s %s: %s", m.ID, t, m.Result, m.Why))
		}
	}
	for _, c := range law.All() {
		if c.Level != spec.Must {
			continue
		}
		facets := c.FacetNames()
		if facets == nil {
			facets = []string{""}
		}
		for _, f := range facets {
			t := tag(c.ID, f)
			if !observed[t] && !observed[c.ID] || !r.Complete && all[t] == 0 {
				continue
			}
			r.Score.Observed++
			if all[t] == 0 {
				r.Missing = append(r.Missing, t)
				r.Why = append(r.Why, "a scenario observes "+t+", and no mutant violates it")
			} else if bad[t] == 0 {
				r.Score.Killed++
			}
		}
	}
	for _, s := range r.NotClean {
		r.Why = append(r.Why, "on the clean binary: "+s)
	}
	if len(r.Mutants) == 0 {
		r.Why = append(r.Why, "there is no mutant")
	}
}

// Passed reports whether the gate is passed: every mutant killed, none missing, the clean run clean.
func (r *Result) Passed() bool { return len(r.Why) == 0 }

// Write writes the result as JSON, in one rename.
func (r *Result) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+filepath.Base(path))
	if err := os.WriteFile(tmp, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Print writes the table and the score for a person. verbose adds the mismatch by which each mutant was noticed.
func (r *Result) Print(w io.Writer, verbose bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range r.Mutants {
		by := strings.Join(m.KilledBy, ", ")
		if m.Result != Killed {
			by = m.ID + " · " + m.Mistake
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1fs\t%s\n", m.Result, tag(m.Clause, m.Facet), m.ID, m.Seconds, by)
	}
	t.Flush()
	for _, m := range r.Mutants {
		if verbose && m.Result == Killed {
			printKill(w, m)
		}
	}
	if len(r.Why) > 0 {
		fmt.Fprintln(w)
	}
	for _, why := range r.Why {
		fmt.Fprintln(w, "✗ "+why)
	}
	killed := 0
	for _, m := range r.Mutants {
		if m.Result == Killed {
			killed++
		}
	}
	fmt.Fprintf(w, "\n%d of %d mutants killed; %d of %d observed MUST facets%s; gate 100 %%: %s\n",
		killed, len(r.Mutants), r.Score.Killed, r.Score.Observed, percent(r.Score), map[bool]string{true: "passed", false: "NOT passed"}[r.Passed()])
}

func percent(s Score) string {
	if s.Observed == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", s.Killed*100/s.Observed)
}

func printKill(w io.Writer, m Outcome) {
	fmt.Fprintf(w, "\n%s (%s)\n  the mistake: %s\n", m.ID, tag(m.Clause, m.Facet), m.Mistake)
	if m.Step != nil {
		fmt.Fprintf(w, "  noticed at:  %s %s\n", m.Step.Keyword, m.Step.Text)
	}
	if m.Mismatch != nil {
		fmt.Fprintf(w, "  rule:        %s\n  expected:    %s\n  actual:      %s\n", m.Mismatch.What, indent(m.Mismatch.Expected), indent(m.Mismatch.Actual))
	}
}

func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n               ")
}
