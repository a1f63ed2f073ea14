// Package doctor tries out a conform.toml: each verb once, on a store of a few rows and an embedded bucket, and says
// which template is wrong and why. It judges no clause: it finds the mistakes that would make a whole run fail for one
// reason.
//
// Answers: no clause.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/report"
	"contextful/harness/sut"
	"contextful/harness/world"
)

// A State says how a check ended.
type State string

// The states. A check that could not be made because an earlier one failed is Skipped too.
const (
	Right   State = "right"
	Wrong   State = "wrong"
	Skipped State = "skipped"
)

// A Check is one verb tried out.
type Check struct {
	Verb  sut.Verb
	State State
	Argv  []string // what was run; nil where nothing was
	Why   string   // what is wrong, or why it was skipped
	Hint  string   // what to change
}

// Options of a consultation.
type Options struct {
	Config *sut.Config
	Dir    string            // an empty directory to work in
	Wall   func() time.Time  // the kit's own clock
	Known  func(string) bool // whether a word is an error code of the law
}

const table = "events"

// visit is one consultation.
type visit struct {
	Options
	w           *world.World
	alpha, beta *world.Node
	out         []Check
	failed      map[sut.Verb]bool
}

// Run tries every verb in the order a user would: a store is made, filled, read, folded, pushed and pulled by a second
// node. The error is of the kit itself or of a command that cannot be started (*sut.ConfigError); what is wrong with the
// verbs is in the checks.
func Run(ctx context.Context, o Options) ([]Check, error) {
	if err := o.Config.Startable(); err != nil {
		return nil, err
	}
	w, err := world.New(ctx, world.Options{Config: o.Config, Driver: &sut.Processes{Config: o.Config, Now: o.Wall}, Dir: o.Dir, Seed: 1, Wall: o.Wall, Known: o.Known})
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }() // it only ends what was started here
	v := &visit{Options: o, w: w, alpha: w.Node("alpha"), beta: w.Node("beta"), failed: map[sut.Verb]bool{}}
	w.Table(table)
	if err := v.found(ctx); err != nil {
		return nil, err
	}
	if err := v.land(ctx); err != nil {
		return nil, err
	}
	for _, t := range trials() {
		v.try(ctx, t)
	}
	return v.out, nil
}

// found makes alpha's store, with init or with the [prepare] command.
func (v *visit) found(ctx context.Context) error {
	err := v.w.Prepare(ctx, v.alpha)
	c := Check{Verb: sut.Init, State: Right}
	if len(v.Config.Prepare) > 0 {
		c.Argv = v.Config.Prepare
		if err != nil {
			c.State, c.Why, c.Hint = Wrong, err.Error(), "see [prepare] command"
		}
		v.add(c)
		return nil
	}
	call, callErr := v.alpha.Last()
	if callErr != nil {
		return errors.Join(err, callErr)
	}
	v.add(v.judge(sut.Init, call.Result, err, func(*visit, string) error { return identity(v.alpha) }))
	return nil
}

// identity looks for what init has to leave.
func identity(n *world.Node) error {
	switch _, err := inspect.StoreID(n.Root()); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it said it is done (exit 0), but made no %s", n.Path("store-id"))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("it said it is done (exit 0), but its store-id cannot be read: %w", err)
	default:
		return err
	}
}

func (v *visit) land(ctx context.Context) error {
	args, run, err := v.w.LandArgs(v.alpha, world.Landing{Table: table, Rows: v.w.MakeRows(1, 3, 2, "first")})
	if err != nil {
		return err
	}
	v.try(ctx, trial{verb: sut.Land, args: args, look: func(v *visit, _ string) error {
		runs, err := inspect.Runs(v.alpha.Root(), table)
		switch {
		case err != nil:
			return fmt.Errorf("what it wrote cannot be read: %w", err)
		case len(runs) != 1 || runs[0].RunID != run || runs[0].NodeID != v.alpha.ID:
			return fmt.Errorf("it said it is done, but %s holds %d committed runs and not %s of node %s: are {run}, {root} and CONTEXTFUL_NODE_ID heeded?",
				v.alpha.Path("tables/"+table+"/data/runs"), len(runs), run, v.alpha.ID)
		}
		return nil
	}})
	return nil
}

// A trial is one verb with what it needs and how its answer is looked at.
type trial struct {
	verb  sut.Verb
	args  sut.Args
	node  func(*visit) *world.Node // alpha when nil
	needs string                   // capability
	after []sut.Verb               // has to have worked before
	look  func(v *visit, stdout string) error
	late  func(*visit) sut.Args // arguments known only when its turn comes
	// before makes what the verb needs, when its turn comes.
	before func(context.Context, *visit) error
}

// unchangedFeed declares a source that has nothing new.
func unchangedFeed(ctx context.Context, v *visit) error {
	v.w.Feed(&world.Feed{Kind: "command"})
	return v.w.Says(ctx, v.alpha, "{\"skip\": \"unchanged\"}\n", "exit 0")
}

// document declares a table of documents and captures one.
func document(v *visit) sut.Args {
	v.w.Declare(&world.Table{Name: "documents", PrimaryKey: []string{"url"}, Extra: map[string]string{"snapshot": `{document = "url", captured_at = "seen"}`}})
	args, _, err := v.w.LandArgs(v.alpha, world.Landing{Table: "documents", Rows: []world.Row{{"url": "/a", "seen": "2026-01-01T00:00:00Z"}}})
	if err != nil {
		return nil // the verb then says which argument it lacks
	}
	return args
}

func trials() []trial {
	onTable := sut.A("table", table)
	landed, pushed := []sut.Verb{sut.Land}, []sut.Verb{sut.Push}
	beta := func(v *visit) *world.Node { return v.beta }
	fence := func(v *visit) sut.Args { return sut.A("table", table, "fence", v.fence()) }
	return []trial{
		{verb: sut.Files, args: onTable, after: landed, look: object("files")},
		{verb: sut.Scan, args: onTable, after: landed, look: threeRows},
		{verb: sut.Runs, args: onTable, after: landed, look: object("runs")},
		{verb: sut.Committed, args: sut.A("table", table, "run", "none"), after: landed, look: object("committed_rows")},
		{verb: sut.Describe, args: onTable, after: landed, look: object()},
		{verb: sut.Query, args: sut.A("sql", `SELECT * FROM "`+table+`"`), after: landed, look: threeRows},
		{verb: sut.Compact, args: onTable, after: landed, look: folded},
		{verb: sut.Check, after: landed, look: object("ok")},
		{verb: sut.Rebuild, after: landed},
		{verb: sut.RunList, look: object("runs")},
		{verb: sut.Probe, needs: "sync", look: object("verdict")},
		{verb: sut.Emit, needs: "sync", after: landed, look: object()},
		{verb: sut.Push, needs: "sync", after: landed, look: object("generation")},
		{verb: sut.Pull, needs: "sync", node: beta, after: pushed, look: object("generation")},
		{verb: sut.LeaseAcquire, args: onTable, needs: "lease", after: pushed, look: object("fence")},
		{verb: sut.LeaseRenew, late: fence, needs: "lease", after: []sut.Verb{sut.LeaseAcquire}, look: object("fence")},
		{verb: sut.LeaseRelease, late: fence, needs: "lease", after: []sut.Verb{sut.LeaseRenew}},
		{verb: sut.SyncCompact, args: onTable, needs: "lease", after: pushed, look: object()},
		{verb: sut.PipelineValidate, needs: "pipeline", look: object()},
		{verb: sut.PipelineRun, needs: "pipeline", after: landed, before: unchangedFeed, look: object()},
		{verb: sut.Capture, needs: "capture", late: document, look: object("snapshot_id", "run_id")},
	}
}

func (v *visit) add(c Check) {
	v.out = append(v.out, c)
	if c.State != Right {
		v.failed[c.Verb] = true
	}
}

func (v *visit) try(ctx context.Context, t trial) {
	if t.needs != "" && !v.Config.Capabilities[t.needs] {
		v.add(Check{Verb: t.verb, State: Skipped, Why: "[capabilities] " + strings.ReplaceAll(t.needs, "-", "_") + " is false"})
		return
	}
	for _, before := range append([]sut.Verb{sut.Init}, t.after...) {
		if v.failed[before] && t.verb != before {
			v.add(Check{Verb: t.verb, State: Skipped, Why: string(before) + " has to work first"})
			return
		}
	}
	n, args := v.alpha, t.args
	if t.node != nil {
		n = t.node(v)
	}
	if t.late != nil {
		args = t.late(v)
	}
	var call world.Call
	var err error
	if t.before != nil {
		err = t.before(ctx, v)
	}
	if err == nil {
		call, err = v.w.Do(ctx, n, t.verb, args)
	}
	v.add(v.judge(t.verb, call.Result, err, t.look))
}

// fence is that of the lease that lies in the bucket, "" without one.
func (v *visit) fence() string {
	lease, err := v.w.BucketLease(context.Background(), table)
	if err != nil {
		return ""
	}
	return fmt.Sprint(lease.Fence)
}

// judge says what is wrong with one invocation, and what to look at.
func (v *visit) judge(verb sut.Verb, res sut.Result, err error, look func(*visit, string) error) Check {
	c := Check{Verb: verb, State: Wrong, Argv: res.Argv}
	key := "[verbs] " + string(verb)
	var late *sut.NoAnswer
	switch {
	case errors.As(err, &late):
		c.Why, c.Hint = late.Error(), "does it wait for standard input, or for a terminal?"
	case err != nil && res.Argv == nil:
		c.Why, c.Hint = err.Error(), "see "+key
	case res.Panicked:
		c.Why = "it crashed: " + firstLine(res.Stderr)
	case res.Signal != "":
		c.Why = "a signal ended it: " + res.Signal
	case res.Exit != 0:
		c.Why, c.Hint = v.refused(key, res)
	default:
		if look != nil {
			if err := look(v, res.Stdout); err != nil {
				c.Why, c.Hint = err.Error(), "docs/implementers.md shows what "+string(verb)+" prints on standard output"
				switch verb {
				case sut.Land:
					c.Hint = "land makes tables/{table}/data/runs/{run}/{node}/_manifest.json below {root}, with the parts it names beside it; see spec/store/lay-out.md"
				case sut.Init:
					c.Hint = "init makes .contextful/context/{name}/ in its working directory, and in it store-id: one UUID of version 4 and a line end"
				}
				return c
			}
		}
		c.State = Right
	}
	return c
}

// usageWords are how command lines say that they were not understood.
var usageWords = []string{"usage", "unknown command", "unknown flag", "unknown option", "unknown argument", "unknown shorthand", "unrecognized", "unrecognised",
	"unexpected argument", "invalid option", "invalid choice", "no such command", "no such option", "found argument", "accepts "}

func (v *visit) refused(key string, res sut.Result) (why, hint string) {
	said := strings.ToLower(res.Stderr + "\n" + res.Stdout)
	line := firstLine(res.Stderr)
	if line == "" {
		line = firstLine(res.Stdout)
	}
	code := ""
	if m := v.Config.Refusal.FindStringSubmatch(res.Stderr); m != nil {
		code = m[v.Config.Refusal.SubexpIndex("code")]
	}
	isUsage := slices.ContainsFunc(usageWords, func(w string) bool { return strings.Contains(said, w) })
	switch {
	case code != "" && v.Known != nil && v.Known(code) && !isUsage:
		return fmt.Sprintf("it understood and refused (%s): %s", code, line), "a store of three rows should be accepted: are the placeholders of " + key + " in their right places?"
	case isUsage:
		return fmt.Sprintf("its command line does not understand the arguments (exit %d): %s", res.Exit, line), "change the template " + key
	case line == "":
		return fmt.Sprintf("exit %d, and not a word on standard error", res.Exit), "see " + key
	case strings.Contains(said, "permission denied"):
		return fmt.Sprintf("exit %d: %s", res.Exit, line), "is every program that the command starts executable, and may it write into its working directory?"
	}
	return fmt.Sprintf("exit %d: %s", res.Exit, line), "see " + key
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// object expects one JSON object with these fields.
func object(fields ...string) func(*visit, string) error {
	return func(_ *visit, stdout string) error {
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			return fmt.Errorf("its output is no JSON object but %q: %w", clip(stdout), err)
		}
		for _, f := range fields {
			if _, ok := doc[f]; !ok {
				return fmt.Errorf("its output has no field %q: %s", f, clip(stdout))
			}
		}
		return nil
	}
}

func threeRows(_ *visit, stdout string) error {
	g, err := inspect.ParseGrid(stdout)
	if err != nil {
		return fmt.Errorf(`its output is not {"columns": […], "rows": [[…]], "truncated": false}: %w`, err)
	}
	if len(g.Rows) != 3 {
		return fmt.Errorf("three rows were landed and it gives %d", len(g.Rows))
	}
	return nil
}

func folded(v *visit, stdout string) error {
	if err := object("snapshot_id")(v, stdout); err != nil {
		return err
	}
	if _, err := inspect.Pointer(v.alpha.Root(), table); err != nil {
		return fmt.Errorf("it said it is done, but the table's pointer cannot be read: %w", err)
	}
	return nil
}

func clip(s string) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

// Sound reports whether nothing is wrong.
func Sound(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return c.State == Wrong })
}

// Print writes the checks for a person.
func Print(w io.Writer, checks []Check) {
	wrong, right := 0, 0
	for _, c := range checks {
		name := string(c.Verb)
		if name == "" {
			name = "command"
		}
		switch c.State {
		case Right:
			right++
			fmt.Fprintf(w, "✓ %-14s %s\n", name, report.ShellJoin(c.Argv))
		case Skipped:
			fmt.Fprintf(w, "· %-14s skipped: %s\n", name, c.Why)
		default:
			wrong++
			fmt.Fprintf(w, "✗ %-14s %s\n", name, report.ShellJoin(c.Argv))
			fmt.Fprintf(w, "  %-14s %s\n", "", c.Why)
			if c.Hint != "" {
				fmt.Fprintf(w, "  %-14s hint: %s\n", "", c.Hint)
			}
		}
	}
	skipped := len(checks) - right - wrong
	fmt.Fprintf(w, "\n%s, %s, %s\n", count(right, "1 verb works", "verbs work"), count(wrong, "1 does not", "do not"), count(skipped, "1 was skipped", "were skipped"))
}

// count says one thing or several.
func count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, many)
}
