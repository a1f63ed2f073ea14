package harness

import (
	"time"

	"contextful/harness/report"
	"contextful/harness/sut"
)

// A Verdict says how one scenario ended.
type Verdict = report.Verdict

// The verdicts a run gives; xfail and xpass come from a baseline, afterwards.
const (
	Pass        = report.Pass
	Fail        = report.Fail
	XFail       = report.XFail
	XPass       = report.XPass
	Unsupported = report.Unsupported
	Unavailable = report.Unavailable
	Errored     = report.Error
	NotRun      = report.NotRun
)

// Statuses of a step.
const (
	StatusPassed  = report.StepPassed
	StatusFailed  = report.StepFailed
	StatusError   = report.StepError
	StatusSkipped = report.StepSkipped
)

// A Step is one line of a scenario. Keyword is as written ("And"), Kind the Given, When or Then it continues.
type Step struct {
	Keyword  string        `json:"keyword"`
	Kind     string        `json:"kind"`
	Text     string        `json:"text"`
	Line     int           `json:"line"`
	Status   string        `json:"status"`
	Duration time.Duration `json:"duration"`
	Error    string        `json:"error,omitempty"`
}

// A Mismatch is what the implementation did instead of what its clause says.
type Mismatch struct {
	Clause   string `json:"clause"`
	What     string `json:"what"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// An Invocation is one process of the implementation.
type Invocation struct {
	sut.Result
	Principal string `json:"principal"` // what the journal calls it
	Killed    string `json:"killed,omitempty"`
}

// A Scenario is the result of one question.
type Scenario struct {
	ID       string            `json:"id"` // unique and stable: feature stem, scenario name, example row
	Feature  string            `json:"feature"`
	Line     int               `json:"line"`
	Name     string            `json:"name"`
	Tags     []string          `json:"tags"`
	Other    []string          `json:"other_tags,omitempty"`
	Examples map[string]string `json:"examples,omitempty"`
	Area     string            `json:"area"`
	Level    string            `json:"level"`
	Needs    []string          `json:"needs,omitempty"`
	Verdict  Verdict           `json:"verdict"`
	Reason   string            `json:"reason,omitempty"`
	// FailedStep is where a fail or an error happened; nil otherwise.
	FailedStep *Step     `json:"failed_step,omitempty"`
	Mismatch   *Mismatch `json:"mismatch,omitempty"`
	// SettingFailed: the failing step is a Given. The clause was not asked; a mutant is not killed by it.
	SettingFailed bool `json:"setting_failed,omitempty"`
	// NoAnswer: a verb was past its limit. Crashed: a process of the implementation ended in a crash of its runtime. A mutant
	// is not killed by either.
	NoAnswer    bool          `json:"no_answer,omitempty"`
	Crashed     bool          `json:"crashed,omitempty"`
	Flaky       bool          `json:"flaky,omitempty"` // its repeats disagreed
	Steps       []Step        `json:"steps"`
	Invocations []Invocation  `json:"invocations,omitempty"`
	Journal     []string      `json:"journal,omitempty"`
	TreeDiff    []string      `json:"tree_diff,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
	Seed        uint64        `json:"seed"`
	Duration    time.Duration `json:"duration"`
	Attempt     int           `json:"attempt"` // which repeat this is the record of, from 1
	Reproduce   string        `json:"reproduce"`
}

// Kills reports whether this result is the work of its clause: it failed by a Mismatch at a When or a Then, and not by a
// crash or a missing answer. It is what package mutation counts.
func (s *Scenario) Kills() bool {
	return s.Verdict == Fail && s.Mismatch != nil && !s.SettingFailed && !s.NoAnswer && !s.Crashed
}

// Results of a run. Scenarios stand in the order of the features, whatever order they ran in.
type Results struct {
	Started     time.Time
	Duration    time.Duration
	Options     Options
	Scenarios   []Scenario
	Interrupted bool
	Services    []report.Service
	Dir         string // where scenarios lived, if it was kept
}

// Counts sums the verdicts.
func (r *Results) Counts() map[Verdict]int {
	out := map[Verdict]int{}
	for i := range r.Scenarios {
		out[r.Scenarios[i].Verdict]++
	}
	return out
}
