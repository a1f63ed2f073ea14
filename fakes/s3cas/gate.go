package s3cas

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Gate is where requests wait. It is shut until Release opens it for good, or Pass lets some through.
type Gate struct {
	name    string
	mu      sync.Mutex
	waiting []*heldRequest
	arrived int
	open    bool
	first   chan struct{} // closed at the first arrival
	changed chan struct{} // closed and renewed on every change
	late    []func()      // to run when the gate opens
	journal *journal
}

type heldRequest struct {
	entry *Entry
	goOn  chan struct{}
}

func newGate(name string, j *journal) *Gate {
	return &Gate{name: name, journal: j, first: make(chan struct{}), changed: make(chan struct{})}
}

// Name is what a fault calls the gate.
func (g *Gate) Name() string { return g.name }

// Arrived is closed once the first request has come to the gate.
func (g *Gate) Arrived() <-chan struct{} { return g.first }

// Held is how many requests wait now.
func (g *Gate) Held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// Arrivals is how many requests ever came, let through or not.
func (g *Gate) Arrivals() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.arrived
}

// HeldEntries returns the journal entries of the requests that wait now, in order of their coming.
func (g *Gate) HeldEntries() []Entry {
	g.mu.Lock()
	held := slices.Clone(g.waiting)
	g.mu.Unlock()
	out := make([]Entry, 0, len(held))
	for _, h := range held {
		out = append(out, g.journal.copyOf(h.entry))
	}
	return out
}

// WaitHeld blocks until at least n requests wait at the gate, or ctx ends.
func (g *Gate) WaitHeld(ctx context.Context, n int) error {
	for {
		g.mu.Lock()
		held, arrived, ch := len(g.waiting), g.arrived, g.changed
		g.mu.Unlock()
		if held >= n {
			return nil
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return fmt.Errorf("gate %q: %d held (%d ever came), %d awaited: %w", g.name, held, arrived, n, ctx.Err())
		}
	}
}

// Release lets everyone go and leaves the gate open: whoever comes later passes. What a Late step put off until now has been
// applied when Release returns.
func (g *Gate) Release() {
	g.mu.Lock()
	g.open = true
	g.passLocked(len(g.waiting))
	late := g.late
	g.late = nil
	g.mu.Unlock()
	for _, fn := range late {
		fn()
	}
}

// onRelease runs fn when the gate opens; at once if it is open.
func (g *Gate) onRelease(fn func()) {
	g.mu.Lock()
	open := g.open
	if !open {
		g.late = append(g.late, fn)
		g.arrived++
		if g.arrived == 1 {
			close(g.first)
		}
		g.wakeLocked()
	}
	g.mu.Unlock()
	if open {
		fn()
	}
}

// PutOff is how many dropped requests wait for the gate to be applied (the Late step).
func (g *Gate) PutOff() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.late)
}

// Pass lets the n requests go that came first, fewer if fewer wait, and keeps the gate shut. It returns how many went.
func (g *Gate) Pass(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passLocked(n)
}

// Shut closes an open gate again.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
}

func (g *Gate) passLocked(n int) int {
	n = max(0, min(n, len(g.waiting)))
	for _, h := range g.waiting[:n] {
		close(h.goOn)
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	g.wakeLocked()
	return n
}

func (g *Gate) wakeLocked() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// wait holds the caller until it is let go, or stop is closed. The client's own end does not free it: what a dead client has
// sent may still arrive.
func (g *Gate) wait(e *Entry, stop <-chan struct{}) (released bool) {
	g.mu.Lock()
	g.arrived++
	if g.arrived == 1 {
		close(g.first)
	}
	if g.open {
		g.wakeLocked()
		g.mu.Unlock()
		return true
	}
	h := &heldRequest{entry: e, goOn: make(chan struct{})}
	g.waiting = append(g.waiting, h)
	g.wakeLocked()
	g.mu.Unlock()
	select {
	case <-h.goOn:
		return true
	case <-stop:
		return false
	}
}

// Gate returns the gate of that name; it exists once named, here or in a fault.
func (s *Server) Gate(name string) *Gate {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	g := s.gates[name]
	if g == nil {
		g = newGate(name, &s.journal)
		s.gates[name] = g
	}
	return g
}

// Gates lists the gates by name.
func (s *Server) Gates() []*Gate {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	out := make([]*Gate, 0, len(s.gates))
	for _, g := range s.gates {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *Gate) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}
