package world

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/stopper"
	"contextful/harness/sut"
	"contextful/harness/verify"
)

// A Task is an invocation under way.
type Task struct {
	*sut.Running
	Node      *Node
	Verb      sut.Verb
	Principal string // what the journal calls it
	before    inspect.Tree
	under     *Task // what the node had under way when this one began
	waited    bool
	killed    string
	trace     *stopper.Trace
}

// Before is what the node's store root held when the task was asked for.
func (t *Task) Before() inspect.Tree { return t.before }

// Cont lets a stopped task go on, one held by the stopper too.
func (t *Task) Cont() error {
	if t.trace != nil {
		return t.trace.Resume()
	}
	return t.Running.Cont()
}

// A With changes how an invocation is started: a tracer before it, an environment, another clock.
type With func(*sut.Node)

// Start begins a verb on a node and returns at once. Tree and bucket are remembered as they were (Node.Before,
// BucketBefore); the node's Task is this one until Finish.
func (w *World) Start(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, with ...With) (*Task, error) {
	if w.opts.Driver == nil {
		return nil, errors.New("there is no scenario here")
	}
	if err := w.Prepare(ctx, n); err != nil {
		return nil, err
	}
	return w.start(ctx, n, verb, args, with...)
}

func (w *World) start(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, with ...With) (*Task, error) {
	tree, err := n.Tree()
	if err != nil {
		return nil, err
	}
	bucket, err := w.bucketBefore(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	n.count++
	principal := fmt.Sprintf("%s.%s.%d", n.Name, verb, n.count)
	n.before = tree
	if n.created == nil {
		n.created = tree
	}
	w.before = bucket
	w.mu.Unlock()
	node := sut.Node{Name: n.Name, ID: n.ID, Project: n.Project(), Root: n.Root(), Home: filepath.Join(n.dir, "home"), State: filepath.Join(n.dir, "state"),
		Title: w.title, Env: map[string]string{}, Now: w.tick()}
	for k, v := range w.credentials(n, principal) {
		node.Env[k] = v
	}
	for k, v := range n.Env {
		node.Env[k] = v
	}
	for _, f := range with {
		f(&node)
	}
	running, err := w.opts.Driver.Start(ctx, node, verb, args)
	if err != nil {
		return nil, err
	}
	t := &Task{Running: running, Node: n, Verb: verb, Principal: principal}
	w.mu.Lock()
	w.tasks = append(w.tasks, t)
	w.mu.Unlock()
	if s := n.server(); s != nil {
		s.OnSignal(principal, t.signalled)
	}
	t.before, t.under = tree, n.task
	n.task = t
	running.OnDone(func(res sut.Result) { w.record(t, res) })
	return t, nil
}

// signalled does what a Kill or Stop fault of the bucket asks for.
func (t *Task) signalled(s s3cas.Signal) {
	if s.Kill {
		t.killed = "killed at " + s.Entry.String()
		_ = t.Kill() // a process that has just ended needs no killing
		return
	}
	t.killed = "stopped at " + s.Entry.String()
	_ = t.Stop()
}

func (w *World) record(t *Task, res sut.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Call{Result: res, Principal: t.Principal, Killed: t.killed}
	w.calls = append(w.calls, c)
	w.last, t.Node.last = &c, &c
}

// bucketBefore reads the fake's keys; a real bucket would cost a request for each.
func (w *World) bucketBefore(ctx context.Context) (BucketState, error) {
	if w.fake == nil {
		return nil, nil
	}
	return w.BucketState(ctx)
}

func (w *World) credentials(n *Node, principal string) map[string]string {
	if m, ok := w.bucket.(*minioBucket); ok {
		return map[string]string{envAccess: m.e.AccessKey, envSecret: m.e.SecretKey}
	}
	secret := "secret-of-" + principal
	if s := n.server(); s != nil {
		s.AddPrincipal(principal, secret, principal)
	}
	return map[string]string{envAccess: principal, envSecret: secret}
}

// Finish waits for a task and gives its call. Past the verb's limit the error is *sut.NoAnswer.
func (w *World) Finish(ctx context.Context, t *Task) (Call, error) {
	res, err := t.Wait(ctx)
	t.waited = true
	for t.Node.task != nil && t.Node.task.waited {
		t.Node.task = t.Node.task.under
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Call{Result: res, Principal: t.Principal, Killed: t.killed}
	w.last, t.Node.last = &c, &c
	return c, err
}

// Do runs a verb to its end, whatever comes of it.
func (w *World) Do(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, with ...With) (Call, error) {
	t, err := w.Start(ctx, n, verb, args, with...)
	if err != nil {
		return Call{}, err
	}
	return w.Finish(ctx, t)
}

// Ok runs a verb to its end and fails unless it succeeds.
func (w *World) Ok(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, with ...With) error {
	_, err := w.Answer(ctx, n, verb, args, with...)
	return err
}

// Answer runs a verb that has to succeed and gives its call.
func (w *World) Answer(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, with ...With) (Call, error) {
	c, err := w.Do(ctx, n, verb, args, with...)
	if err != nil {
		return c, err
	}
	return c, verify.Succeeded(c.Result)
}

// ok is Answer without Prepare, which calls it.
func (w *World) ok(ctx context.Context, n *Node, verb sut.Verb, args sut.Args) (Call, error) {
	t, err := w.start(ctx, n, verb, args)
	if err != nil {
		return Call{}, err
	}
	c, err := w.Finish(ctx, t)
	if err != nil {
		return c, err
	}
	return c, verify.Succeeded(c.Result)
}

// Query answers a SELECT on a node; extra are further arguments of the verb ("as_of", …).
func (w *World) Query(ctx context.Context, n *Node, sql string, extra ...string) (inspect.Grid, error) {
	c, err := w.Answer(ctx, n, sut.Query, sut.A(append([]string{"sql", sql}, extra...)...))
	if err != nil {
		return inspect.Grid{}, err
	}
	g, err := inspect.ParseGrid(c.Stdout)
	if err != nil {
		return g, verify.Fail(n.Name+"'s query answers as docs/implementers.md says", `{"columns": […], "rows": [[…]], "truncated": false}`, err)
	}
	return g, nil
}

// Read is all a reader of the table sees on a node: every row with its producer's columns.
func (w *World) Read(ctx context.Context, n *Node, table string, extra ...string) (inspect.Grid, error) {
	g, err := w.ReadAll(ctx, n, table, extra...)
	return g.Producer(), err
}

// ReadAll is Read with the injected columns.
func (w *World) ReadAll(ctx context.Context, n *Node, table string, extra ...string) (inspect.Grid, error) {
	return w.Query(ctx, n, `SELECT * FROM "`+table+`"`, extra...)
}

// Requests lists what the journal holds of a node's latest invocation of a verb, or of all its verbs where verb is empty.
func (w *World) Requests(n *Node, verb sut.Verb, more ...s3cas.Filter) ([]s3cas.Entry, error) {
	s := n.server()
	if s == nil {
		_, err := w.Fake()
		return nil, err
	}
	f := s3cas.Filter{}
	if len(more) > 0 {
		f = more[0]
	}
	f.Principal = n.Name + ".*"
	if verb != "" {
		latest := ""
		w.mu.Lock()
		for _, t := range w.tasks {
			if t.Node == n && t.Verb == verb {
				latest = t.Principal
			}
		}
		w.mu.Unlock()
		if latest == "" {
			return nil, fmt.Errorf("%s has not been asked to %s", n.Name, verb)
		}
		f.Principal = latest
	}
	return s.JournalFor(f), nil
}

// Journal is the whole wire journal, one line for each request; of a copied node with its name before it.
func (w *World) Journal() []string {
	if w.fake == nil {
		return nil
	}
	out := verify.Lines(w.fake.Journal())
	for _, n := range w.everyone() {
		if n.fake != nil {
			for _, line := range verify.Lines(n.fake.Journal()) {
				out = append(out, n.Name+": "+line)
			}
		}
	}
	return out
}

// everyone lists the nodes and the copies made of them.
func (w *World) everyone() []*Node {
	var out []*Node
	for _, n := range w.Nodes() {
		out = append(append(out, n), n.copies...)
	}
	return out
}

// TreeDiff says for every node what its verbs changed on disk, one line for each file.
func (w *World) TreeDiff() []string {
	var out []string
	for _, n := range w.everyone() {
		now, err := n.Tree()
		if err != nil {
			out = append(out, n.Name+": "+err.Error())
			continue
		}
		for _, line := range n.created.Diff(now) {
			out = append(out, n.Name+": "+line)
		}
	}
	return out
}
