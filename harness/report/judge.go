package report

import (
	"fmt"
	"sort"
	"strings"
)

// The exit statuses of the kit, and which of two is worse.
const (
	ExitConformant    = 0
	ExitNotConformant = 1
	ExitConfiguration = 2 // configuration or harness error
	ExitNothingJudged = 3
	ExitStaleBaseline = 4
	ExitInterrupted   = 130
)

// severity orders the exit statuses: 2 is the worst, then 3, 1, 4, 0. An interrupt overrides all of them.
var severity = map[int]int{ExitConformant: 0, ExitStaleBaseline: 1, ExitNotConformant: 2, ExitNothingJudged: 3, ExitConfiguration: 4}

// Summarise computes what follows from the scenarios: counts, matrix, the verdict and the scenarios of each clause, and
// how much was judged. It expects Clauses with their law, Scenarios with their verdicts, SUT and Gaps filled in, and
// marks the report incomplete where it was filtered or something did not run. Scenarios and clauses keep their order.
func (r *Report) Summarise() {
	r.SchemaVersion = SchemaVersion
	r.Counts, r.Matrix = Counts{}, Matrix{}
	asks := map[string][]*Scenario{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		r.Counts.add(s.Verdict)
		if r.Matrix[s.Level] == nil {
			r.Matrix[s.Level] = map[Verdict]int{}
		}
		r.Matrix[s.Level][s.Verdict]++
		seen := map[string]bool{}
		for _, t := range s.Tags {
			clause, _, _ := strings.Cut(t, "#")
			if !seen[clause] {
				seen[clause] = true
				asks[clause] = append(asks[clause], s)
			}
		}
	}
	if r.Selection.Filtered() || r.Counts.NotRun > 0 || r.Interrupted {
		r.Complete = false
	}
	for i := range r.Clauses {
		r.Clauses[i].fill(asks[r.Clauses[i].ID], r.Gaps)
	}
	r.judged()
	r.tidy()
}

// tidy makes absent lists empty ones, so that a reader of the JSON never meets null.
func (r *Report) tidy() {
	lists := []*[]string{&r.Why, &r.SUT.Command, &r.Selection.Clauses, &r.Selection.Profiles}
	for i := range r.Clauses {
		c := &r.Clauses[i]
		lists = append(lists, &c.Needs, &c.Facets, &c.Scenarios)
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		lists = append(lists, &s.Tags, &s.Needs)
		if s.Steps == nil {
			s.Steps = []Step{}
		}
		for j := range s.Calls {
			lists = append(lists, &s.Calls[j].Argv)
		}
	}
	if r.Baseline != nil {
		lists = append(lists, &r.Baseline.Stale)
	}
	for _, l := range lists {
		if *l == nil {
			*l = []string{}
		}
	}
	if r.Services == nil {
		r.Services = []Service{}
	}
	if r.Clauses == nil {
		r.Clauses = []Clause{}
	}
	if r.Scenarios == nil {
		r.Scenarios = []Scenario{}
	}
	if r.Gaps == nil {
		r.Gaps = []Gap{}
	}
	if r.SUT.Capabilities == nil {
		r.SUT.Capabilities = map[string]bool{}
	}
	if r.Judged.Missing == nil {
		r.Judged.Missing = []NotJudgedBy{}
	}
}

func (c *Counts) add(v Verdict) {
	c.Selected++
	switch v {
	case Pass:
		c.Pass++
	case Fail:
		c.Fail++
	case XFail:
		c.XFail++
	case XPass:
		c.XPass++
	case Unsupported:
		c.Unsupported++
	case Unavailable:
		c.Unavailable++
	case Error:
		c.Error++
	default:
		c.NotRun++
	}
}

// Of gives the count of one verdict.
func (c Counts) Of(v Verdict) int {
	switch v {
	case Pass:
		return c.Pass
	case Fail:
		return c.Fail
	case XFail:
		return c.XFail
	case XPass:
		return c.XPass
	case Unsupported:
		return c.Unsupported
	case Unavailable:
		return c.Unavailable
	case Error:
		return c.Error
	}
	return c.NotRun
}

// Balanced reports the printed invariant: selected is the sum of the verdicts.
func (c Counts) Balanced() bool {
	sum := 0
	for _, v := range Verdicts() {
		sum += c.Of(v)
	}
	return sum == c.Selected
}

// badness orders verdicts for a clause: the worst of its scenarios is the clause's.
func badness(v Verdict) int {
	order := []Verdict{Pass, Unsupported, Unavailable, NotRun, XFail, XPass, Error, Fail}
	for i, o := range order {
		if o == v {
			return i
		}
	}
	return len(order)
}

func (c *Clause) fill(asked []*Scenario, gaps []Gap) {
	c.Verdict, c.Scenarios, c.Uncovered = NotRun, []string{}, nil
	covered := map[string]bool{}
	for i, s := range asked {
		c.Scenarios = append(c.Scenarios, s.ID)
		if i == 0 || badness(s.Verdict) > badness(c.Verdict) {
			c.Verdict = s.Verdict
		}
		for _, t := range s.Tags {
			covered[t] = true
		}
	}
	for _, g := range gaps {
		if g.Clause == c.ID {
			covered[tagOf(g.Clause, g.Facet)] = true
		}
	}
	facets := c.Facets
	if len(facets) == 0 {
		facets = []string{""}
	}
	for _, f := range facets {
		if tag := tagOf(c.ID, f); !covered[tag] && !covered[c.ID] {
			c.Uncovered = append(c.Uncovered, tag)
		}
	}
}

func tagOf(clause, facet string) string {
	if facet == "" {
		return clause
	}
	return clause + "#" + facet
}

// decided reports whether a scenario says something about the implementation.
func decided(v Verdict) bool { return v == Pass || v == Fail || v == XFail || v == XPass }

func (r *Report) judged() {
	by := map[string]Verdict{}
	for _, s := range r.Scenarios {
		by[s.ID] = s.Verdict
	}
	missing := map[string]int{}
	r.Judged = Judged{Of: len(r.Clauses)}
	for _, c := range r.Clauses {
		yes := false
		for _, id := range c.Scenarios {
			yes = yes || decided(by[id])
		}
		if yes {
			r.Judged.Clauses++
			continue
		}
		missing[r.lacking(c.Needs)]++
	}
	for capability, n := range missing {
		declared := capability == "" || r.SUT.Capabilities[capability]
		r.Judged.Missing = append(r.Judged.Missing, NotJudgedBy{Capability: capability, Clauses: n, Declared: declared})
	}
	sort.Slice(r.Judged.Missing, func(i, j int) bool { return r.Judged.Missing[i].Capability < r.Judged.Missing[j].Capability })
}

// lacking names the capability a clause is counted under: the first it needs that is not declared, else its last one.
func (r *Report) lacking(needs []string) string {
	for _, n := range needs {
		if !r.SUT.Capabilities[n] {
			return n
		}
	}
	if len(needs) > 0 {
		return needs[len(needs)-1]
	}
	return ""
}

// Judge sets and returns the exit status of a summarised report, with one sentence in Why for each reason that it is
// not 0. What a configuration error or a crash of the kit would say (2) before any report exists is the caller's.
func (r *Report) Judge() int {
	r.Exit, r.Why = ExitConformant, []string{}
	say := func(code int, format string, args ...any) {
		r.Why = append(r.Why, fmt.Sprintf(format, args...))
		if severity[code] > severity[r.Exit] {
			r.Exit = code
		}
	}
	if !r.Counts.Balanced() {
		say(ExitConfiguration, "%d scenarios were selected but the verdicts sum to something else", r.Counts.Selected)
	}
	if id := r.twice(); id != "" {
		say(ExitConfiguration, "two scenarios have the id %s", id)
	}
	if n := r.Counts.Error; n > 0 {
		say(ExitConfiguration, "%s ended in an error of the kit, not of the implementation", scenarios(n))
	}
	if n := r.Counts.NotRun; n > 0 && !r.Interrupted {
		say(ExitConfiguration, "%s did not run", scenarios(n))
	}
	if r.Counts.Pass+r.Counts.Fail+r.Counts.XFail+r.Counts.XPass == 0 {
		say(ExitNothingJudged, "nothing was judged: no scenario passed or failed")
	}
	must, should := r.Matrix["MUST"][Fail], r.Counts.Fail-r.Matrix["MUST"][Fail]
	if must > 0 {
		say(ExitNotConformant, "%s of a MUST clause failed", scenarios(must))
	}
	if should > 0 && r.Selection.Strict {
		say(ExitNotConformant, "%s of a SHOULD clause failed, and --strict was given", scenarios(should))
	}
	if n := r.Counts.Unavailable; n > 0 && r.Selection.Require {
		say(ExitNotConformant, "%s needed a service that is not there, and services are required", scenarios(n))
	}
	if r.Baseline != nil {
		for _, s := range r.Baseline.Stale {
			say(ExitStaleBaseline, "%s", s)
		}
	}
	if r.Interrupted {
		r.Exit = ExitInterrupted
		r.Why = append(r.Why, fmt.Sprintf("interrupted: %s did not run", scenarios(r.Counts.NotRun)))
	}
	return r.Exit
}

func (r *Report) twice() string {
	seen := map[string]bool{}
	for _, s := range r.Scenarios {
		if seen[s.ID] {
			return s.ID
		}
		seen[s.ID] = true
	}
	return ""
}

func scenarios(n int) string {
	if n == 1 {
		return "1 scenario"
	}
	return fmt.Sprintf("%d scenarios", n)
}
