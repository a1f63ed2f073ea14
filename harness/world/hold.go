package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"contextful/harness/stopper"
	"contextful/harness/sut"
)

// FindCalls runs a verb on a copy of the node, where it has to succeed, and lists the calls of the set that it makes: what a
// run on the node itself will make too.
func (w *World) FindCalls(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, glob string) ([]stopper.Call, error) {
	if err := w.Prepare(ctx, n); err != nil {
		return nil, err
	}
	w.mu.Lock()
	n.count++
	number := 100 + n.count
	w.mu.Unlock()
	c, err := w.Fork(n, number)
	if err != nil {
		return nil, err
	}
	return w.CountCalls(ctx, c, verb, args, word, glob)
}

// HoldBefore starts a verb and holds it right after the last call of the set before the first one whose line holds mark.
// Where there is no such call, or none before it, that is an error of the scenario.
func (w *World) HoldBefore(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, mark string) (*Task, error) {
	calls, err := w.FindCalls(ctx, n, verb, args, word, "")
	if err != nil {
		return nil, err
	}
	for i, c := range calls {
		if strings.Contains(c.Line, mark) {
			if i == 0 {
				return nil, fmt.Errorf("the first %s of %s's %s is already one of %q: there is nothing before it to hold it at", word, n.Name, verb, mark)
			}
			return w.HoldAt(ctx, n, verb, args, word, "", i)
		}
	}
	return nil, fmt.Errorf("%s's %s makes no %s of %q", n.Name, verb, word, mark)
}

// HoldAfterLast starts a verb and holds it right after its last call of the set on a path that the glob covers.
func (w *World) HoldAfterLast(ctx context.Context, n *Node, verb sut.Verb, args sut.Args, word, glob string) (*Task, error) {
	calls, err := w.FindCalls(ctx, n, verb, args, word, glob)
	if err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("%s's %s makes no %s of %q: there is nothing to hold it at", n.Name, verb, word, glob)
	}
	return w.HoldAt(ctx, n, verb, args, word, glob, len(calls))
}

// looks and between say when a process counts as waiting: all its threads asleep, that often in a row.
const (
	looks   = 12
	between = 25 * time.Millisecond
)

// Settle returns when the task has ended (true) or waits for something outside it (false): all its threads sleep. An
// implementation may let a second writer wait for the first; whether it did is no verdict, only a reason to go on.
func (w *World) Settle(ctx context.Context, t *Task) (ended bool, err error) {
	ctx, cancel := w.Waiting(ctx)
	defer cancel()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for quiet := 0; quiet < looks; {
		select {
		case <-t.Done():
			return true, nil
		case <-ctx.Done():
			return false, fmt.Errorf("%s's %s neither ended nor waited: %w", t.Node.Name, t.Verb, ctx.Err())
		case <-tick.C:
		}
		asleep, err := sleeping(t.PID())
		if err != nil {
			return false, err
		}
		if quiet++; !asleep {
			quiet = 0
		}
	}
	return false, nil
}

// sleeping looks at the state of every thread of a process, and of those it started.
func sleeping(pid int) (bool, error) {
	stats, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	if err != nil {
		return false, err
	}
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, nil // a thread that has just ended
		}
		// pid (name) state …
		at := strings.LastIndexByte(string(text), ')')
		if at < 0 || at+2 >= len(text) || text[at+2] != 'S' {
			return false, nil
		}
		children, err := os.ReadFile(filepath.Join(filepath.Dir(s), "children"))
		if err != nil {
			continue
		}
		for _, c := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(c)
			if err != nil {
				return false, err
			}
			if asleep, err := sleeping(child); err != nil || !asleep {
				return asleep, err
			}
		}
	}
	return true, nil
}
