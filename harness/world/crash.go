package world

import (
	"context"
	"errors"
	"fmt"

	"contextful/harness/stopper"
	"contextful/harness/sut"
	"contextful/harness/verify"
)

// mostPoints bounds a crash-point enumeration: where a verb makes more calls, the points are spread evenly over them,
// first and last included. The scenario notes it.
const mostPoints = 24

// Traced starts a verb under a trace; at the nth matching call the trace acts.
func (w *World) Traced(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, t *stopper.Trace, at int, act stopper.Action) (*Task, error) {
	task, err := w.Start(ctx, n, verb, args, func(node *sut.Node) {
		node.Wrap, node.Extra = t.Wrap(), []sut.File{t.File()}
	})
	if err != nil {
		t.Discard()
		return nil, err
	}
	task.trace = t
	t.Watch(task.Running, at, act)
	return task, nil
}

// CountCalls runs a verb to its end, which has to be a success, and lists the calls of the set that it made below the
// node's project. glob (relative to the project, "" for all) narrows them.
func (w *World) CountCalls(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, glob string) ([]stopper.Call, error) {
	t, err := w.trace(n, word, glob)
	if err != nil {
		return nil, err
	}
	task, err := w.Traced(ctx, n, verb, args, t, 0, stopper.Count)
	if err != nil {
		return nil, err
	}
	c, err := w.Finish(ctx, task)
	if err != nil {
		return nil, err
	}
	<-t.Done()
	return t.Calls(), verify.Succeeded(c.Result)
}

// CountOnCopy does the same on a copy of the node, so that the node stays as it is. args prepares the copy and gives its arguments.
func (w *World) CountOnCopy(ctx context.Context, n *Node, verb sut.Verb, word, glob string, args func(*Node) (sut.Args, error)) (*Node, []stopper.Call, error) {
	c, err := w.Fork(n, 0)
	if err != nil {
		return nil, nil, err
	}
	a, err := args(c)
	if err != nil {
		return nil, nil, err
	}
	calls, err := w.CountCalls(ctx, c, verb, a, word, glob)
	return c, calls, err
}

func (w *World) trace(n *Node, word, glob string) (*stopper.Trace, error) {
	set, err := stopper.Calls(word)
	if err != nil {
		return nil, err
	}
	return stopper.New(set, n.Project(), glob)
}

// KillAt runs a verb and kills it right after its nth matching call. killed is false where it ended before.
func (w *World) KillAt(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, glob string, nth int) (c Call, at stopper.Call, killed bool, err error) {
	t, err := w.trace(n, word, glob)
	if err != nil {
		return c, at, false, err
	}
	task, err := w.Traced(ctx, n, verb, args, t, nth, stopper.Kill)
	if err != nil {
		return c, at, false, err
	}
	task.killed = fmt.Sprintf("killed after its %s number %d, unless it ended before", word, nth)
	c, err = w.Finish(ctx, task)
	<-t.Done()
	if calls := t.Calls(); c.Killed != "" && c.Result.Killed() && len(calls) >= nth {
		return c, calls[nth-1], true, err
	}
	return c, at, false, err
}

// HoldAt starts a verb and waits until it is held right after its nth matching call; Task.Cont lets it go on. Where the
// verb ends without making that call the hold never happened, which is an error of the scenario.
func (w *World) HoldAt(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, glob string, nth int) (*Task, error) {
	t, err := w.trace(n, word, glob)
	if err != nil {
		return nil, err
	}
	task, err := w.Traced(ctx, n, verb, args, t, nth, stopper.Hold)
	if err != nil {
		return nil, err
	}
	wait, cancel := w.Waiting(ctx)
	defer cancel()
	select {
	case <-t.Reached():
		if t.Late() {
			return nil, fmt.Errorf("%s's %s went on past its %s number %d of %q before it could be held there", n.Name, verb, word, nth, glob)
		}
		return task, nil
	case <-task.Done():
		return nil, fmt.Errorf("%s's %s ended without a %s number %d of %q: nothing was held: %s", n.Name, verb, word, nth, glob, verify.Outcome(task.Result()))
	case <-wait.Done():
		return nil, fmt.Errorf("%s's %s was not held in time: %w", n.Name, verb, wait.Err())
	}
}

// KillBefore runs a verb and kills it before its first call of the set on that exact file. killed is false where it ended
// by itself.
func (w *World) KillBefore(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, path string) (c Call, killed bool, err error) {
	if err := stopper.Available(); err != nil {
		return c, false, err
	}
	set, err := stopper.Calls(word)
	if err != nil {
		return c, false, err
	}
	task, err := w.Start(ctx, n, verb, args, func(node *sut.Node) { node.Wrap = stopper.Before(set, path) })
	if err != nil {
		return c, false, err
	}
	task.killed = "killed before its first " + word + " of " + path
	c, err = w.Finish(ctx, task)
	return c, c.Result.Killed(), err
}

// FailFrom runs a verb whose calls of the set fail with errno, from the nth that a thread makes on (for good, as a full
// disk does). path "" means any file. fired is how many failed.
func (w *World) FailFrom(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, errno string, nth int, path string) (c Call, fired int, err error) {
	set, err := stopper.Calls(word)
	if err != nil {
		return c, 0, err
	}
	t, err := stopper.Failing(set, errno, fmt.Sprintf("%d+", nth), path, n.Project())
	if err != nil {
		return c, 0, err
	}
	task, err := w.Traced(ctx, n, verb, args, t, 0, stopper.Count)
	if err != nil {
		return c, 0, err
	}
	c, err = w.Finish(ctx, task)
	<-t.Done()
	return c, t.Fired(), err
}

// KillAtEach enumerates the crash points of a verb: a first run on a copy of the node counts the calls of the set, then
// one copy is killed right after each. Every later step about the node holds for each of the copies. The node itself
// stays as it is. ready, if not nil, prepares each copy and gives its arguments.
func (w *World) KillAtEach(ctx context.Context, n *Node, verb sut.Verb, word, glob string, args func(*Node) (sut.Args, error)) error {
	if args == nil {
		args = func(*Node) (sut.Args, error) { return nil, nil }
	}
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	_, calls, err := w.CountOnCopy(ctx, n, verb, word, glob, args)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		return fmt.Errorf("%s's %s makes no %s of %q: there is no point to kill it at", n.Name, verb, word, glob)
	}
	var copies []*Node
	points := spread(len(calls))
	for _, k := range points {
		c, err := w.Fork(n, k)
		if err != nil {
			return err
		}
		a, err := args(c)
		if err != nil {
			return err
		}
		_, at, killed, err := w.KillAt(ctx, c, verb, a, word, glob, k)
		if err != nil {
			return err
		}
		if !killed {
			w.Note("%s made fewer calls than counted: it was not killed at %s %d", c.Name, word, k)
			continue
		}
		c.Point = fmt.Sprintf("killed after %s %d of %d: %s", word, k, len(calls), at.Line)
		w.Note("%s: %s", c.Name, c.Point)
		copies = append(copies, c)
	}
	if len(copies) == 0 {
		return errors.New("no copy could be killed: the kill never happened")
	}
	n.Copies(copies)
	return nil
}

// spread chooses the points of an enumeration.
func spread(n int) []int {
	var out []int
	if n <= mostPoints {
		for k := 1; k <= n; k++ {
			out = append(out, k)
		}
		return out
	}
	for i := range mostPoints {
		out = append(out, 1+i*(n-1)/(mostPoints-1))
	}
	return out
}

// KillAtRequest kills a copy of the node before its nth request of a verb is applied (from 0; -1 is the last one, counted
// in a first run on another copy). Later steps about the node are about that copy.
func (w *World) KillAtRequest(ctx context.Context, n *Node, verb sut.Verb, nth int) error {
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	if nth < 0 {
		counted, err := w.Fork(n, 0)
		if err != nil {
			return err
		}
		if err := w.Ok(ctx, counted, verb, nil); err != nil {
			return err
		}
		got, err := w.Requests(counted, verb)
		if err == nil && len(got) == 0 {
			err = verify.Fail(n.Name+"'s "+string(verb)+" asks the bucket something", "requests", "none")
		}
		if err != nil {
			return err
		}
		nth += len(got)
	}
	c, err := w.Fork(n, 1)
	if err != nil {
		return err
	}
	s := c.server()
	if s == nil {
		return errors.New("this scenario's bucket is not the embedded fake: nobody can be killed at a request")
	}
	hs, err := s.InjectText(fmt.Sprintf("(Kill before (And %s (OnIndex %d)))", Who(c, string(verb)), nth))
	if err != nil {
		return err
	}
	call, err := w.Do(ctx, c, verb, nil)
	if err != nil {
		return err
	}
	if hs[0].Fired() == 0 || !call.Result.Killed() {
		return fmt.Errorf("%s's %s was not killed at its request %d: %s", n.Name, verb, nth, verify.Outcome(call.Result))
	}
	c.Point = fmt.Sprintf("%s at request %d", call.Killed, nth)
	n.Copies([]*Node{c})
	return nil
}
