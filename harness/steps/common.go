package steps

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Nodes, verbs, time.
func registerCommon(s *Suite) {
	s.Step(`^nodes ("[^"]*"(?:(?:, | and )"[^"]*")*) share a bucket$`, nodesShare)
	s.Step(`^a node "([^"]*)"$`, aNode)
	s.Step(`^a bare machine "([^"]*)"$`, aBareMachine)
	s.Step(`^(\w+) has an initialised store$`, initialised)
	s.Step(`^(\w+) has a store of its own$`, storeOfItsOwn)
	s.Step(`^(\w+)'s node id is "([^"]*)"$`, nodeID)
	s.Step(`^(?:the setting |)"?sync\.(\w+)"? is (.+) on (\w+)$`, settingOn)
	s.Step(`^"?sync\.(\w+)"? is (.+) everywhere$`, settingEverywhere)

	s.Step(`^(\w+) has (pushed|pulled|probed|initialised)$`, hasDone)
	s.Step(`^(\w+) (pushes|pulls|probes|checks its store|emits its manifest|initialises)$`, does)
	s.Step(`^(\w+) pulls only "([^"]*)"$`, pullsOnly)
	s.Step(`^(\w+) starts to (push|pull|probe)$`, startsTo)
	s.Step(`^(\w+) folds "([^"]*)"$`, folds)
	s.Step(`^(\w+) has folded "([^"]*)"$`, hasFolded)
	s.Step(`^(\w+) starts to fold "([^"]*)"$`, startsToFold)
	s.Step(`^(\w+)'s (`+verbWords+`) (?:goes on to its end|ends)$`, endsTask)
	s.Step(`^(\w+)'s (`+verbWords+`) is (stopped|resumed|killed)$`, signals)
	s.Step(`^the (`+verbWords+`) succeeds$`, succeeds)
	s.Step(`^(\w+)'s (`+verbWords+`) succeeds$`, nodeSucceeds)
	s.Step(`^the next (push|pull|probe|pipeline run) of (\w+) succeeds$`, nextSucceeds)

	s.Step(`^(\d+) (second|minute|hour|day)s? pass(?:es)?$`, pass)
	s.Step(`^the clock shows "([^"]*)"$`, clockShows)
	s.Step(`^the clock stands still$`, clockStands)
}

// verbWords are the words a feature has for what a verb does. verbOf gives the verb.
const verbWords = `capture|push|pull|rebuild|probe|landing|fold|read|query|scan|check|listing|description|initialisation|emission|lease|renewal|release|leased fold|pipeline run|validation`

func verbOf(word string) sut.Verb {
	return map[string]sut.Verb{"push": sut.Push, "pull": sut.Pull, "probe": sut.Probe, "landing": sut.Land, "capture": sut.Capture, "fold": sut.Compact, "read": sut.Query, "query": sut.Query,
		"scan": sut.Scan, "check": sut.Check, "listing": sut.Files, "description": sut.Describe, "initialisation": sut.Init, "emission": sut.Emit,
		"lease": sut.LeaseAcquire, "renewal": sut.LeaseRenew, "release": sut.LeaseRelease, "rebuild": sut.Rebuild, "leased fold": sut.SyncCompact,
		"pipeline run": sut.PipelineRun, "validation": sut.PipelineValidate, "runs its pipeline": sut.PipelineRun, "run its pipeline": sut.PipelineRun,
		"validates its declaration": sut.PipelineValidate,
		"pushes":                    sut.Push, "pulls": sut.Pull, "probes": sut.Probe, "checks its store": sut.Check, "emits its manifest": sut.Emit, "initialises": sut.Init,
		"pushed": sut.Push, "pulled": sut.Pull, "probed": sut.Probe, "initialised": sut.Init}[word]
}

var quoted = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// names lists the quoted words of a phrase.
func names(phrase string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(phrase, -1) {
		out = append(out, strings.ReplaceAll(m[1], `\"`, `"`))
	}
	return out
}

func nodesShare(ctx context.Context, phrase string) error {
	for _, name := range names(phrase) {
		world.From(ctx).Node(name)
	}
	return nil
}

func aNode(ctx context.Context, name string) error {
	world.From(ctx).Node(name)
	return nil
}

func aBareMachine(ctx context.Context, name string) error {
	world.From(ctx).Node(name).Bare = true
	return nil
}

func initialised(ctx context.Context, node string) error {
	w := world.From(ctx)
	return w.Prepare(ctx, w.Node(node))
}

func storeOfItsOwn(ctx context.Context, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	n.Founder = true
	return w.Prepare(ctx, n)
}

func nodeID(ctx context.Context, node, id string) error {
	world.From(ctx).Node(node).ID = id
	return nil
}

func settingOn(ctx context.Context, key, value, node string) error {
	world.From(ctx).Node(node).Settings[key] = value
	return nil
}

func settingEverywhere(ctx context.Context, key, value string) error {
	world.From(ctx).Set(key, value)
	return nil
}

func hasDone(ctx context.Context, node, word string) error {
	w := world.From(ctx)
	return w.Ok(ctx, w.Node(node), verbOf(word), nil)
}

// does asks for a verb whatever comes of it; the steps after it look at the outcome.
func does(ctx context.Context, node, word string) error {
	w := world.From(ctx)
	for _, n := range w.Each(node) {
		if _, err := w.Do(ctx, n, verbOf(word), nil); err != nil {
			return err
		}
	}
	return nil
}

func pullsOnly(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.Pull, sut.A("table", table))
	return err
}

func startsTo(ctx context.Context, node, word string) error {
	w := world.From(ctx)
	_, err := w.Start(ctx, w.Node(node), verbOf(word), nil)
	return err
}

// folds folds on every copy of a node that was killed; of several the first that fails is the last, for a step to judge.
func folds(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	for _, n := range w.Each(node) {
		c, err := w.Do(ctx, n, sut.Compact, sut.A("table", table))
		if err != nil || verify.Succeeded(c.Result) != nil {
			return err
		}
	}
	return nil
}

func hasFolded(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	return w.Ok(ctx, w.Node(node), sut.Compact, sut.A("table", table))
}

func startsToFold(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Start(ctx, w.Node(node), sut.Compact, sut.A("table", table))
	return err
}

// task is what a node has under way, checked against the word the feature has for it.
func task(ctx context.Context, node, word string) (*world.World, *world.Task, error) {
	w := world.From(ctx)
	t, err := w.Node(node).Task()
	if err == nil && t.Verb != verbOf(word) {
		err = fmt.Errorf("%s has a %s under way, not a %s", node, t.Verb, word)
	}
	return w, t, err
}

func endsTask(ctx context.Context, node, word string) error {
	w, t, err := task(ctx, node, word)
	if err != nil {
		return err
	}
	_, err = w.Finish(ctx, t)
	return err
}

func signals(ctx context.Context, node, word, what string) error {
	w, t, err := task(ctx, node, word)
	if err != nil {
		return err
	}
	if t.Ended() {
		return fmt.Errorf("%s's %s had ended before it could be %s", node, word, what)
	}
	switch what {
	case "stopped":
		return t.Stop()
	case "resumed":
		return t.Cont()
	}
	if err := t.Kill(); err != nil {
		return err
	}
	_, err = w.Finish(ctx, t)
	return err
}

// succeeds judges the verb under way or, where none is, the latest one of that kind.
func succeeds(ctx context.Context, word string) error {
	c, err := outcome(ctx, word, "")
	if err != nil {
		return err
	}
	return done(ctx, c)
}

func nodeSucceeds(ctx context.Context, node, word string) error {
	c, err := outcome(ctx, word, node)
	if err != nil {
		return err
	}
	return done(ctx, c)
}

// done fails unless a verb ended with exit 0 and, where its success leaves or prints something that no other step of its
// scenarios looks at, unless that is there: a program that does nothing has not succeeded.
func done(ctx context.Context, c world.Call) error {
	if err := verify.Succeeded(c.Result); err != nil {
		return err
	}
	what := fmt.Sprintf("%s's %s has done what it says", c.Node, c.Verb)
	switch c.Verb {
	case sut.Init:
		return storeMade(ctx, what, c.Node)
	case sut.Query, sut.Scan:
		if _, err := inspect.ParseGrid(c.Stdout); err != nil {
			return verify.Fail(what, `{"columns": […], "rows": [[…]], "truncated": false}`, err)
		}
	case sut.Emit:
		if _, err := emittedDoc(c); err != nil {
			return err
		}
	}
	return nil
}

// storeMade looks for a store-id below the project, whatever its name is.
func storeMade(ctx context.Context, what, node string) error {
	for _, n := range world.From(ctx).Nodes() {
		if n.Name != node {
			continue
		}
		entries, err := inspect.Entries(filepath.Join(n.Project(), ".contextful", "context"))
		if err != nil {
			return err
		}
		made := slices.ContainsFunc(entries, func(e string) bool { return path.Base(e) == "store-id" })
		return verify.That(made, what, "a store-id below .contextful/context", "none")
	}
	return nil
}

// outcome waits for the verb of that word where it is still under way, and gives its call.
func outcome(ctx context.Context, word, node string) (world.Call, error) {
	w := world.From(ctx)
	verb := verbOf(word)
	for _, n := range w.Nodes() {
		if node != "" && n.Name != node {
			continue
		}
		if t, err := n.Task(); err == nil && t.Verb == verb {
			return w.Finish(ctx, t)
		}
	}
	calls := w.Calls()
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Verb == verb && (node == "" || calls[i].Node == node) {
			return calls[i], nil
		}
	}
	return world.Call{}, fmt.Errorf("no %s has been asked for", word)
}

func nextSucceeds(ctx context.Context, word, node string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error { return w.Ok(ctx, n, verbOf(word), nil) })
}

// each does something for a node, or for every copy of it that a crash-point enumeration left behind. A mismatch says at
// which point the copy was killed.
func each(ctx context.Context, node string, fn func(*world.World, *world.Node) error) error {
	w := world.From(ctx)
	for _, n := range w.Each(node) {
		if err := fn(w, n); err != nil {
			var m *verify.Mismatch
			if n.Point != "" && errors.As(err, &m) {
				m.What += ", " + n.Point
			}
			return err
		}
	}
	return nil
}

func pass(ctx context.Context, n int, unit string) error {
	d := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[unit]
	return world.From(ctx).Advance(time.Duration(n) * d)
}

func clockShows(ctx context.Context, instant string) error {
	t, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	if err := w.SetClock(t); err != nil {
		return err
	}
	return w.Freeze()
}

func clockStands(ctx context.Context) error { return world.From(ctx).Freeze() }
