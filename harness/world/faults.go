package world

import (
	"context"
	"fmt"
	"strings"

	"contextful/fakes/s3cas"
)

// expectation is something that has to have happened by the end of the scenario.
type expectation struct {
	what string
	ok   func() bool
}

// Expect has the suite end the scenario in error unless ok holds at its end: an injected fault that never fired, a hold
// that never happened.
func (w *World) Expect(what string, ok func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = append(w.expected, expectation{what, ok})
}

// Unmet lists what was expected and did not happen. The suite asks it when every step has passed.
func (w *World) Unmet() []string {
	w.mu.Lock()
	list := append([]expectation(nil), w.expected...)
	w.mu.Unlock()
	var out []string
	for _, e := range list {
		if !e.ok() {
			out = append(out, e.what)
		}
	}
	return out
}

// Inject gives the fake a fault in its own language and expects it to fire.
func (w *World) Inject(text string) (*s3cas.Injection, error) {
	s, err := w.Fake()
	if err != nil {
		return nil, err
	}
	f, err := s3cas.ParseFault(text)
	if err != nil {
		return nil, fmt.Errorf("the fault %s: %w", text, err)
	}
	h := s.Inject(f)
	w.Expect("the fault "+text+" never fired", func() bool { return h.Fired() > 0 })
	return h, nil
}

// Who is a predicate for every request of a node; with a verb, of its invocations of that verb.
func Who(n *Node, verb string) string {
	if verb == "" {
		verb = "*"
	}
	return fmt.Sprintf("(Principal %q)", n.Name+"."+verb+".*")
}

// Key is a predicate for the keys of a glob relative to the scenario's prefix.
func (w *World) Key(glob string) string { return fmt.Sprintf("(Key %q)", w.FullKey(glob)) }

// Hold has the bucket hold, at a gate, the requests that match all predicates: phase is "before", "after" or "body 50%".
// The scenario is in error unless one is held.
func (w *World) Hold(gate, phase string, predicates ...string) error {
	_, err := w.Inject(fmt.Sprintf("(Hold %q %s (And %s))", gate, phase, strings.Join(predicates, " ")))
	return err
}

// Held waits until n requests are held at a gate. A hold that does not come is an error of the scenario; where
// everything under way ends first, there is no need to wait longer.
func (w *World) Held(ctx context.Context, gate string, n int) error {
	s, err := w.Fake()
	if err != nil {
		return err
	}
	ctx, cancel := w.Waiting(ctx)
	defer cancel()
	// Once everything under way has ended nobody will come to the gate.
	stop := make(chan struct{})
	defer close(stop)
	if tasks := w.running(); len(tasks) > 0 {
		go func() {
			for _, t := range tasks {
				select {
				case <-t.Done():
				case <-stop:
					return
				}
			}
			cancel()
		}()
	}
	if err := s.Gate(gate).WaitHeld(ctx, n); err != nil {
		return fmt.Errorf("nothing was held: %w", err)
	}
	return nil
}

func (w *World) running() []*Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*Task
	for _, t := range w.tasks {
		if !t.Ended() {
			out = append(out, t)
		}
	}
	return out
}

// Release opens a gate for good.
func (w *World) Release(gate string) error {
	s, err := w.Fake()
	if err != nil {
		return err
	}
	s.Gate(gate).Release()
	return nil
}
