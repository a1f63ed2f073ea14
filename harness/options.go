// Package harness asks an implementation of the contextful store every question of features/ and says what came of each.
// It runs godog for the words and nothing else: selection, isolation, limits and verdicts are its own.
//
//	res, err := harness.Run(ctx, harness.Options{SUT: cfg, Select: []string{"store.pull.*"}})
//	os.Exit(res.Exit())
//
// A Go implementation may embed it: harness.RunT(t, harness.Options{…}).
//
// Answers: no clause. It is how all of them are asked.
package harness

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"contextful/features"
	"contextful/harness/services"
	"contextful/harness/sut"
	"contextful/spec"
)

// Options of a run. Only SUT is required.
type Options struct {
	SUT             *sut.Config
	Driver          sut.Starter // the process driver of SUT when nil
	Select          []string    // globs over clause ids, a #facet may follow; several in one string with commas or spaces
	Scenarios       []string    // scenario ids, exact; empty takes all. What a bundle's reproduce line uses
	Profile         []string    // capabilities: only clauses that need at least one of them, and nothing outside what is declared
	Services        services.Mode
	RequireServices bool
	Jobs            int           // 0: the number of CPUs
	Shuffle         bool          // run in an order made from Seed
	Seed            uint64        // of the order and of every random choice; 0 is 1
	Repeat          int           // how often each scenario runs; 0 is 1
	Strict          bool          // a SHOULD that fails counts
	OutDir          string        // where RunT writes report and bundles; Run writes nothing: report.WriteAll(dir, res.Report())
	WorkDir         string        // where scenarios live; when empty a temporary directory, in memory where there is room
	Keep            bool          // leave the scenarios' directories
	ScenarioTimeout time.Duration // 5 minutes when 0
	Features        []features.Source
	Spec            *spec.Index
	Gaps            []features.Gap
	Observer        func(Event) // called from one goroutine at a time
	Log             func(format string, args ...any)
	Command         string // how the user started this run, for reproduce lines: "contextful-conform run --sut conform.toml"
	Wall            func() time.Time
}

// An Event is one step of progress.
type Event struct {
	Done, Total int
	Elapsed     time.Duration
	Scenario    *Scenario // what has just ended; nil at the start
}

// A SelectionError is exit code 2: nothing was selected, or a scenario cannot be asked at all.
type SelectionError struct{ Message string }

func (e *SelectionError) Error() string { return e.Message }

func (o *Options) defaults() error {
	if o.SUT == nil {
		return &sut.ConfigError{Message: "there is no implementation to ask: Options.SUT is nil"}
	}
	if o.Wall == nil {
		o.Wall = wall
	}
	if o.Driver == nil {
		if err := o.SUT.Startable(); err != nil {
			return err
		}
		o.Driver = &sut.Processes{Config: o.SUT, Now: o.Wall}
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.NumCPU()
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Repeat <= 0 {
		o.Repeat = 1
	}
	if o.ScenarioTimeout == 0 {
		o.ScenarioTimeout = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Command == "" {
		o.Command = "contextful-conform run"
	}
	if o.Features == nil {
		o.Features = features.Sources()
	}
	var err error
	if o.Spec == nil {
		if o.Spec, err = spec.Load(); err != nil {
			return err
		}
	}
	if o.Gaps == nil {
		o.Gaps, err = features.Gaps()
	}
	return err
}

// Globs splits what the user wrote into globs.
func Globs(selected []string) []string {
	var out []string
	for _, s := range selected {
		out = append(out, strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	return out
}

// choose keeps the questions that the options select. Each glob has to match something: a selection that matches nothing
// is a mistake, never a green run.
func (o *Options) choose(all []*question) ([]*question, error) {
	globs := Globs(o.Select)
	used := make([]bool, len(globs))
	foundID := map[string]bool{}
	var out []*question
	for _, q := range all {
		take := len(globs) == 0
		for i, g := range globs {
			if q.matches(g, o.Spec) {
				take, used[i] = true, true
			}
		}
		if len(o.Scenarios) > 0 {
			in := slices.Contains(o.Scenarios, q.id)
			foundID[q.id] = in
			take = take && in
		}
		if take && len(o.Profile) > 0 {
			take = q.needsAny(o.Profile)
		}
		if take {
			out = append(out, q)
		}
	}
	for i, g := range globs {
		if !used[i] {
			return nil, o.unasked(g)
		}
	}
	for _, id := range o.Scenarios {
		if !foundID[id] {
			var known []string
			for _, q := range all {
				known = append(known, q.id)
			}
			return nil, &SelectionError{fmt.Sprintf("there is no scenario %q%s", id, sut.DidYouMean(id, known))}
		}
	}
	for _, p := range Globs(o.Profile) {
		known := []string{"core"}
		for _, c := range spec.Capabilities() {
			known = append(known, c.Name)
		}
		if !slices.Contains(known, p) {
			return nil, &SelectionError{fmt.Sprintf("there is no capability %q%s; there are %s", p, sut.DidYouMean(p, known), strings.Join(known, ", "))}
		}
	}
	if len(out) == 0 {
		return nil, &SelectionError{"the selection matches no scenario"}
	}
	return out, nil
}

// unasked says why a glob selects nothing: there is no such clause, or nobody asks it yet.
func (o *Options) unasked(glob string) error {
	clause, facet, withFacet := strings.Cut(glob, "#")
	clauses := o.Spec.Match(clause)
	if len(clauses) == 0 {
		var known []string
		for _, c := range o.Spec.All() {
			known = append(known, c.ID)
		}
		return &SelectionError{fmt.Sprintf("no clause of the law is called %q%s; `contextful-conform list` names them all", clause, sut.DidYouMean(clause, known))}
	}
	if withFacet && len(clauses) == 1 && facet != "*" && !clauses[0].HasFacet(facet) {
		return &SelectionError{fmt.Sprintf("the clause %s has no facet %q%s", clauses[0].ID, facet, sut.DidYouMean(facet, clauses[0].FacetNames()))}
	}
	return &SelectionError{fmt.Sprintf("no scenario asks a clause that %q selects", glob)}
}
