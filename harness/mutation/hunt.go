package mutation

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"contextful/harness/report"
	"contextful/spec"
)

// An Ask is one run of some scenarios against one binary.
type Ask struct {
	Binary    string        // takes the place of the implementation's command
	Mutant    string        // value of CONTEXTFUL_MUTANT; empty for the clean binary
	Clauses   []string      // ids whose scenarios are asked; nil asks all
	Scenarios []string      // ids of scenarios; nil asks all of Clauses
	Limit     time.Duration // of one verb; zero is the implementation's own
	Jobs      int           // how many scenarios at a time
}

// A Runner runs scenarios, each in its own world. Safe for concurrent use. The error is of the kit; how a scenario went
// is in its verdict.
type Runner interface {
	Run(ctx context.Context, ask Ask) ([]report.Scenario, error)
}

// A Hunt runs each mutant against the scenarios of its clause.
type Hunt struct {
	Runner   Runner
	Law      *spec.Index
	Jobs     int                               // mutants at a time, and scenarios of the clean run
	Limit    time.Duration                     // of one verb of a mutated binary
	Progress func(done, total int, m *Outcome) // called once per mutant, one call at a time; may be nil
}

// Run asks the clean binary first, then each mutant. only says that mutants are not all there are: nothing is then said
// about clauses without one. Order and content of the result do not depend on Jobs.
func (h Hunt) Run(ctx context.Context, mutants []Mutant, b Binaries, only bool) (*Result, error) {
	ask := Ask{Binary: b.Clean, Jobs: h.Jobs}
	if only {
		ask.Clauses = clausesOf(mutants)
	}
	clean, err := h.Runner.Run(ctx, ask)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("the clean run: %w", err)
	}
	r := &Result{SchemaVersion: 1, Mutants: make([]Outcome, len(mutants))}
	dead := map[string]string{}
	for _, d := range b.Dead {
		dead[d.ID] = d.Why
	}
	var wait sync.WaitGroup
	var lock sync.Mutex
	done := 0
	var failed error
	slots := make(chan struct{}, max(1, h.Jobs))
	for i, m := range mutants {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			out, err := h.one(ctx, m, b.Mutated, clean, dead[m.ID])
			lock.Lock()
			defer lock.Unlock()
			r.Mutants[i] = out
			if err != nil && failed == nil {
				failed = fmt.Errorf("mutant %s: %w", m.ID, err)
			}
			done++
			if h.Progress != nil && err == nil {
				h.Progress(done, len(mutants), &r.Mutants[i])
			}
		})
	}
	wait.Wait()
	if failed != nil {
		return nil, failed
	}
	r.Complete = !only
	r.judge(h.Law, clean)
	return r, nil
}

func clausesOf(mutants []Mutant) []string {
	seen := map[string]bool{}
	out := []string{}
	for _, m := range mutants {
		if !seen[m.Clause] {
			seen[m.Clause] = true
			out = append(out, m.Clause)
		}
	}
	sort.Strings(out)
	return out
}

// one hunts one mutant: its clause's scenarios, quickest first, until one notices.
func (h Hunt) one(ctx context.Context, m Mutant, binary string, clean []report.Scenario, dead string) (Outcome, error) {
	out := Outcome{ID: m.ID, Clause: m.Clause, Facet: m.Facet, Mistake: m.Why, File: m.File, Result: Survived, KilledBy: []string{}}
	if dead != "" {
		out.Result, out.Why = DeadResult, dead
		return out, nil
	}
	candidates := judges(m, clean)
	if len(candidates) == 0 {
		out.Why = "no scenario tagged @" + m.Tag() + " passed on the clean binary"
		return out, nil
	}
	var missed []string
	for _, c := range candidates {
		got, err := h.Runner.Run(ctx, Ask{Binary: binary, Mutant: m.ID, Scenarios: []string{c.ID}, Limit: h.Limit, Jobs: 1})
		if err == nil {
			err = ctx.Err() // what an interrupt cut short says nothing
		}
		if err != nil {
			return out, err
		}
		if len(got) != 1 || got[0].ID != c.ID {
			return out, fmt.Errorf("scenario %q was asked for and did not come back", c.ID)
		}
		s := got[0]
		out.Seconds += s.Seconds
		out.Asked++
		why := notKilled(m, s)
		if why == "" {
			out.Result, out.KilledBy = Killed, []string{s.ID}
			out.Mismatch, out.Step = s.Mismatch, failedStep(s)
			out.Why = s.Reason
			return out, nil
		}
		missed = append(missed, s.ID+": "+why)
	}
	out.Why = strings.Join(missed, "; ")
	return out, nil
}

// judges lists the scenarios that may kill a mutant: those of its clause, and of its facet where their tag names one,
// that passed on the clean binary. Quickest first.
func judges(m Mutant, clean []report.Scenario) []report.Scenario {
	var out []report.Scenario
	for _, s := range clean {
		if s.Verdict != report.Pass {
			continue
		}
		for _, t := range s.Tags {
			if t == m.Clause || t == m.Tag() {
				out = append(out, s)
				break
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Seconds < out[j].Seconds })
	return out
}

// notKilled says why a scenario's end is no kill; "" where it is one.
func notKilled(m Mutant, s report.Scenario) string {
	if s.Verdict == report.Pass {
		return "it did not notice"
	}
	if s.Verdict != report.Fail {
		return fmt.Sprintf("verdict %s kills nothing: %s", s.Verdict, s.Reason)
	}
	noAnswer := false
	for _, c := range s.Calls {
		if c.Panicked {
			return "the mutant crashed in " + c.Verb + ", which is no answer to the question"
		}
		noAnswer = noAnswer || c.NoAnswer
	}
	if noAnswer && !m.Hangs {
		return "the mutant gave no answer in time: say hangs = true if not answering is the violation"
	}
	step := failedStep(s)
	switch {
	case step == nil:
		return "it failed, but at no step"
	case step.Kind == "Given":
		return "it failed while it was being set up: " + step.Text
	case s.Mismatch == nil && !(noAnswer && m.Hangs):
		return "it failed without a mismatch: " + s.Reason
	}
	return ""
}

func failedStep(s report.Scenario) *report.Step {
	for i := range s.Steps {
		if s.Steps[i].Status == report.StepFailed || s.Steps[i].Status == report.StepError {
			return &s.Steps[i]
		}
	}
	return nil
}
