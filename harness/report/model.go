// Package report says how a run of the kit went: the one model everything is written from (report.json, published as
// docs/report.schema.json), and its other forms: JUnit XML, one self-contained HTML page, a CI step summary with
// annotations, badges, a comparison of two reports, and the replay of a failure bundle.
//
// It compares nothing and judges nothing about an implementation: the harness fills a Report and Judge turns it into an
// exit status. An expected failure is marked by package baseline before that.
//
// Answers: no clause. It is how the kit speaks.
package report

import "time"

// SchemaVersion is the version of report.json's shape; docs/report.schema.json has the same.
const SchemaVersion = 1

// A Verdict says how one scenario ended. Every selected scenario has exactly one.
type Verdict string

// The verdicts.
const (
	Pass        Verdict = "pass"
	Fail        Verdict = "fail"
	XFail       Verdict = "xfail"       // in the baseline, failed as recorded
	XPass       Verdict = "xpass"       // in the baseline, passed: the baseline is stale
	Unsupported Verdict = "unsupported" // needs a capability the implementation does not declare
	Unavailable Verdict = "unavailable" // needs a service that is not there
	Error       Verdict = "error"       // the harness failed, not the implementation
	NotRun      Verdict = "not-run"
)

// Verdicts lists them in the order they are told in.
func Verdicts() []Verdict {
	return []Verdict{Pass, Fail, XFail, XPass, Unsupported, Unavailable, Error, NotRun}
}

// A Report is one run.
type Report struct {
	SchemaVersion int        `json:"schema_version"`
	Complete      bool       `json:"complete"`              // everything was selected and everything was run
	Interrupted   bool       `json:"interrupted,omitempty"` // a person stopped it
	Started       time.Time  `json:"started"`               // RFC 3339, UTC
	Seconds       float64    `json:"seconds"`               // wall clock
	Exit          int        `json:"exit"`                  // as Judge gave it
	Why           []string   `json:"why"`                   // one sentence for each reason Exit is not 0
	SUT           Subject    `json:"sut"`
	Selection     Selection  `json:"selection"`
	Digests       Digests    `json:"digests"`
	Services      []Service  `json:"services"`
	Counts        Counts     `json:"counts"`
	Matrix        Matrix     `json:"matrix"` // level → verdict → scenarios
	Judged        Judged     `json:"judged"`
	Clauses       []Clause   `json:"clauses"`   // every clause of the law, in its order
	Gaps          []Gap      `json:"gaps"`      // what features/gaps.toml takes out
	Scenarios     []Scenario `json:"scenarios"` // every selected scenario, an outline's rows one by one
	Baseline      *Baseline  `json:"baseline,omitempty"`
}

// A Subject is the implementation under test as its conform.toml describes it.
type Subject struct {
	Name         string          `json:"name"`
	Command      []string        `json:"command"`
	Clock        string          `json:"clock,omitempty"`
	Config       string          `json:"config,omitempty"` // path of the conform.toml, as given
	Capabilities map[string]bool `json:"capabilities"`     // as the law names them, declared or not
}

// A Selection says what was asked for.
type Selection struct {
	Clauses   []string `json:"clauses"`             // globs over clause ids; empty selects all
	Profiles  []string `json:"profiles"`            // capabilities; empty selects all
	Scenarios []string `json:"scenarios,omitempty"` // ids; empty selects all
	Seed      uint64   `json:"seed"`                // of the order and of every random choice
	Shuffle   bool     `json:"shuffle,omitempty"`
	Repeat    int      `json:"repeat"` // how often each scenario ran
	Jobs      int      `json:"jobs"`
	Strict    bool     `json:"strict,omitempty"`           // a SHOULD that fails counts
	Require   bool     `json:"require_services,omitempty"` // an unavailable service counts
}

// Filtered reports whether less than everything was asked for.
func (s Selection) Filtered() bool { return len(s.Clauses)+len(s.Profiles)+len(s.Scenarios) > 0 }

// Digests are lower-case hex SHA-256: what was run against what.
type Digests struct {
	Binary   string `json:"binary"` // the implementation's first command word; empty where it is no file
	Spec     string `json:"spec"`
	Features string `json:"features"`
	Kit      string `json:"kit"`
}

// A Service is one thing outside the implementation that scenarios need.
type Service struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"` // where it was had, or what each way said
}

// Counts: Selected is the sum of the others, always.
type Counts struct {
	Selected    int `json:"selected"`
	Pass        int `json:"pass"`
	Fail        int `json:"fail"`
	XFail       int `json:"xfail"`
	XPass       int `json:"xpass"`
	Unsupported int `json:"unsupported"`
	Unavailable int `json:"unavailable"`
	Error       int `json:"error"`
	NotRun      int `json:"not-run"`
}

// Matrix counts scenarios by level ("MUST", "SHOULD") and verdict. No single score: a number would hide which.
type Matrix map[string]map[Verdict]int

// Judged counts the clauses that a verdict of pass or fail was reached for, and says by capability which were not.
type Judged struct {
	Clauses int           `json:"clauses"` // with at least one scenario that passed, failed or is in the baseline
	Of      int           `json:"of"`      // clauses of the law
	Missing []NotJudgedBy `json:"missing"` // sorted by capability; "" is the core
}

// NotJudgedBy counts the clauses of one capability that nobody judged.
type NotJudgedBy struct {
	Capability string `json:"capability"`
	Clauses    int    `json:"clauses"`
	Declared   bool   `json:"declared"` // the implementation declares it, so the silence is the kit's
}

// A Clause is one rule of the law as this run saw it.
type Clause struct {
	ID        string   `json:"id"`
	Level     string   `json:"level"`
	Needs     []string `json:"needs"`
	Facets    []string `json:"facets"` // names; empty for a clause that says one thing
	Text      string   `json:"text"`   // normative Markdown
	Why       string   `json:"why,omitempty"`
	Page      string   `json:"page"`                // below spec/
	Line      int      `json:"line"`                // of its heading
	Verdict   Verdict  `json:"verdict"`             // the worst of its scenarios; not-run without any
	Scenarios []string `json:"scenarios"`           // ids of the selected ones that ask it
	Uncovered []string `json:"uncovered,omitempty"` // facets (or the clause id) no scenario asks and no gap takes out
}

// A Gap is a facet no scenario asks, and why.
type Gap struct {
	Clause     string `json:"clause"`
	Facet      string `json:"facet,omitempty"`
	Reason     string `json:"reason"`
	AttestedBy string `json:"attested_by,omitempty"`
	Later      string `json:"later,omitempty"`
}

// A Scenario is one question as it was asked, an outline's row counted by itself.
type Scenario struct {
	ID        string            `json:"id"`      // unique in the report and the same in the next run
	Name      string            `json:"name"`    // with an outline's placeholders filled in
	Feature   string            `json:"feature"` // path below features/
	Line      int               `json:"line"`
	Examples  map[string]string `json:"examples,omitempty"` // of an outline row
	Area      string            `json:"area"`               // the operation of its page: "store.pull"
	Tags      []string          `json:"tags"`               // "clause" or "clause#facet"
	Level     string            `json:"level"`              // the most binding of its clauses
	Needs     []string          `json:"needs"`              // capabilities
	Services  []string          `json:"services,omitempty"`
	Verdict   Verdict           `json:"verdict"`
	Reason    string            `json:"reason,omitempty"`  // one line: why the verdict is not pass
	Attempt   int               `json:"attempt,omitempty"` // which repeat this is the record of, from 1
	Flaky     bool              `json:"flaky,omitempty"`   // its repeats disagreed
	Seconds   float64           `json:"seconds"`
	Steps     []Step            `json:"steps"`
	Mismatch  *Mismatch         `json:"mismatch,omitempty"` // of a fail
	Calls     []Call            `json:"calls,omitempty"`    // what was run, kept for what did not pass
	Journal   []string          `json:"journal,omitempty"`  // requests the bucket saw, one line each; kept likewise
	Tree      []string          `json:"tree,omitempty"`     // what changed on disk, one line each; kept likewise
	Notes     []string          `json:"notes,omitempty"`    // what else the steps noted, one line each; kept likewise
	Bundle    string            `json:"bundle,omitempty"`   // directory, relative to report.json
	Reproduce string            `json:"reproduce"`          // the command line that asks this alone
}

// A Step is one line of a scenario. Keyword is as written ("And"), Kind the Given, When or Then that it continues.
type Step struct {
	Keyword string  `json:"keyword"`
	Kind    string  `json:"kind"`
	Text    string  `json:"text"`
	Line    int     `json:"line"`
	Status  string  `json:"status"` // passed, failed, error or skipped
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// The statuses of a step.
const (
	StepPassed  = "passed"
	StepFailed  = "failed"
	StepError   = "error"
	StepSkipped = "skipped"
)

// A Mismatch is what an implementation did instead of what its clause says.
type Mismatch struct {
	Clause   string `json:"clause"` // tag of the scenario, or the step's own
	What     string `json:"what"`   // the rule in a few words
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// A Call is one invocation of the implementation.
type Call struct {
	Node      string            `json:"node"`
	Verb      string            `json:"verb"`
	Principal string            `json:"principal,omitempty"` // what the journal calls it: "beta.pull.2"
	Argv      []string          `json:"argv"`
	Env       map[string]string `json:"env,omitempty"` // what was added to the kit's fixed environment
	Stdin     string            `json:"stdin,omitempty"`
	Exit      int               `json:"exit"`             // -1: ended by a signal, or never ended
	Signal    string            `json:"signal,omitempty"` // "killed"
	Killed    string            `json:"killed,omitempty"` // what the kit killed or stopped it at, if it did
	Seconds   float64           `json:"seconds"`
	Stdout    string            `json:"stdout,omitempty"`
	Stderr    string            `json:"stderr,omitempty"`
	NoAnswer  bool              `json:"no_answer,omitempty"` // past its limit, and killed for it
	Panicked  bool              `json:"panicked,omitempty"`  // its stderr shows a crash of its runtime, not a refusal
}

// A Baseline tells how the recorded expected failures fared.
type Baseline struct {
	File  string   `json:"file"`
	Used  int      `json:"used"`  // entries that failed as recorded
	Stale []string `json:"stale"` // one sentence for each entry that no longer holds
}
