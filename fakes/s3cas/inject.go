package s3cas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Injection is a fault at work in a server, with its counters.
type Injection struct {
	s       *Server
	id      int
	fault   Fault
	matcher *matcher
	fired   atomic.Int64
	mu      sync.Mutex
	changed chan struct{}
}

// Inject sets a fault to work, from the next request on. Faults act in the order of their injection.
func (s *Server) Inject(f Fault) *Injection {
	in := &Injection{s: s, fault: f, changed: make(chan struct{})}
	if f.pred == nil { // the zero Fault does nothing
		f.pred = &pred{name: "Not", kids: []*pred{{name: "Any"}}}
	}
	in.matcher = newMatcher(f.pred)
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.nextFault++
	in.id = s.nextFault
	list := append(slices.Clone(*s.injections.Load()), in)
	s.injections.Store(&list)
	return in
}

// InjectText parses and injects every fault of a text.
func (s *Server) InjectText(text string) ([]*Injection, error) {
	fs, err := ParseFaults(text)
	if err != nil {
		return nil, err
	}
	var out []*Injection
	for _, f := range fs {
		out = append(out, s.Inject(f))
	}
	return out, nil
}

// Faults lists the faults at work, in order of injection.
func (s *Server) Faults() []*Injection { return slices.Clone(*s.injections.Load()) }

// Unfired lists the faults at work that never fired: a scenario that has one proves nothing.
func (s *Server) Unfired() []*Injection {
	return slices.DeleteFunc(s.Faults(), func(in *Injection) bool { return in.Fired() > 0 })
}

// ClearFaults removes every fault. Requests that are held stay held.
func (s *Server) ClearFaults() {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.injections.Store(&[]*Injection{})
}

// ID numbers the injections of a server from 1.
func (in *Injection) ID() int { return in.id }

// Fault is what was injected.
func (in *Injection) Fault() Fault { return in.fault }

// Fired is how many requests the fault has acted on.
func (in *Injection) Fired() int { return int(in.fired.Load()) }

// WaitFired blocks until the fault has fired at least n times, or ctx ends.
func (in *Injection) WaitFired(ctx context.Context, n int) error {
	for {
		in.mu.Lock()
		ch := in.changed
		in.mu.Unlock()
		if in.Fired() >= n {
			return nil
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return fmt.Errorf("%s fired %d times, %d awaited: %w", in.fault, in.Fired(), n, ctx.Err())
		}
	}
}

// Remove takes the fault out. What it holds stays held.
func (in *Injection) Remove() {
	in.s.faultMu.Lock()
	defer in.s.faultMu.Unlock()
	list := slices.DeleteFunc(slices.Clone(*in.s.injections.Load()), func(o *Injection) bool { return o == in })
	in.s.injections.Store(&list)
}

func (in *Injection) count() {
	in.fired.Add(1)
	in.mu.Lock()
	close(in.changed)
	in.changed = make(chan struct{})
	in.mu.Unlock()
}

// fire shows the request to every fault, and returns the steps of those that match, in order. Each fault sees each request, also
// where an earlier one will end it: its counters count requests.
func (s *Server) fire(rq *request) []step {
	list := *s.injections.Load()
	if len(list) == 0 {
		return nil
	}
	var steps []step
	var texts []string
	var hit []*Injection
	for _, in := range list {
		if in.matcher.match(rq) {
			steps = append(steps, in.fault.steps...)
			texts = append(texts, in.fault.String())
			hit = append(hit, in)
		}
	}
	if len(hit) == 0 {
		return nil
	}
	s.journal.update(rq.entry, func(e *Entry) { e.Fault = strings.Join(texts, " ") })
	for _, in := range hit {
		in.count()
	}
	return steps
}

// Signal is what a Kill or Stop step tells the callback of a principal.
type Signal struct {
	Kill      bool // false: stop
	Principal string
	Entry     Entry // the request it happened at
}

// OnSignal registers who kills or stops the process of a principal ("" for every principal without a callback of its own). The
// callback runs in the request, which goes on (or is dropped) once it returns: when it returns, the process should be dead or
// stopped.
func (s *Server) OnSignal(principal string, fn func(Signal)) {
	s.hookMu.Lock()
	defer s.hookMu.Unlock()
	s.signals[principal] = fn
}

func (s *Server) signal(rq *request, kill bool) {
	s.hookMu.Lock()
	fn := s.signals[rq.principal]
	if fn == nil {
		fn = s.signals[""]
	}
	s.hookMu.Unlock()
	if fn != nil {
		fn(Signal{Kill: kill, Principal: rq.principal, Entry: s.journal.copyOf(rq.entry)})
	}
}

// Call is what a callback registered with Register gets: the request it runs before, and the server to act on.
type Call struct {
	Server *Server
	Entry  Entry
	Body   []byte // the decoded body; not to be changed
}

// Register names a Go callback for the step (Call "name"). It runs in the request, before it is applied.
func (s *Server) Register(name string, fn func(*Call)) {
	s.hookMu.Lock()
	defer s.hookMu.Unlock()
	s.calls[name] = fn
}

func (s *Server) call(rq *request, name string) {
	s.hookMu.Lock()
	fn := s.calls[name]
	s.hookMu.Unlock()
	if fn != nil {
		fn(&Call{Server: s, Entry: s.journal.copyOf(rq.entry), Body: rq.body})
	}
}
