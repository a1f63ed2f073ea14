package sut

import (
	"context"
	"fmt"
	"time"
)

// A Node is a machine: its own project, state, identity and credentials.
type Node struct {
	Name    string            // "alpha"
	ID      string            // node id, CONTEXTFUL_NODE_ID
	Project string            // absolute project directory, the working directory of every verb
	Root    string            // absolute store root
	Home    string            // HOME, the XDG directories and TMPDIR lie below it
	State   string            // CONTEXTFUL_STATE_DIR
	Title   string            // [project] name
	Env     map[string]string // credentials of this invocation and whatever a scenario adds
	Now     time.Time         // what the clock shows; zero: the machine's own clock
	Wrap    []string          // an argv put before the command: a tracer
	Extra   []File            // files handed to the process, from descriptor 3 on
}

// A Result is what one invocation did.
type Result struct {
	Node     string            `json:"node"`
	Verb     Verb              `json:"verb"`
	Argv     []string          `json:"argv"`
	Env      map[string]string `json:"env,omitempty"` // what was added to the kit's fixed environment
	Stdin    string            `json:"stdin,omitempty"`
	Exit     int               `json:"exit"`             // -1: ended by a signal, or never ended
	Signal   string            `json:"signal,omitempty"` // "killed"
	Stdout   string            `json:"stdout"`           // bounded, see Truncated
	Stderr   string            `json:"stderr"`
	Cut      bool              `json:"truncated,omitempty"` // an output was longer than the kit keeps
	Started  time.Time         `json:"started"`
	Duration time.Duration     `json:"duration"`            // nanoseconds
	NoAnswer bool              `json:"no_answer,omitempty"` // it was past its limit and was killed
	Panicked bool              `json:"panicked,omitempty"`  // its stderr shows a crash of its runtime, not a refusal
}

// OK reports whether the verb succeeded.
func (r Result) OK() bool { return r.Exit == 0 && r.Signal == "" }

// Killed reports whether a signal ended the process.
func (r Result) Killed() bool { return r.Signal != "" }

// A Driver executes a verb on a node and returns when it has ended. The error says that the kit could not ask, or that
// no answer came (*NoAnswer); a refusal is a Result. Safe for concurrent use.
type Driver interface {
	Do(ctx context.Context, node Node, verb Verb, args Args) (Result, error)
}

// A Starter is a Driver whose verbs can be held, stopped and killed while they run.
type Starter interface {
	Driver
	Start(ctx context.Context, node Node, verb Verb, args Args) (*Running, error)
}

// NoAnswer says that a verb was past its limit and was killed: a failure of the implementation.
type NoAnswer struct {
	Verb  Verb
	Limit time.Duration
}

func (e *NoAnswer) Error() string {
	return fmt.Sprintf("%s: no answer in %g s", e.Verb, e.Limit.Seconds())
}
