package services

import (
	"context"
	"errors"
	"sync"
)

// A running service as a way hands it over. address is for people; stop may be nil.
type running[T any] struct {
	value   T
	address string
	stop    func(context.Context) error
}

// way is one manner of getting a service.
type way[T any] struct {
	name string
	// start returns a service that answers. When it returns an error nothing of it may be left running.
	start func(context.Context) (running[T], error)
}

// finalError is a way's error after which no other way may be tried.
type finalError struct{ err error }

func (f finalError) Error() string { return f.err.Error() }
func (f finalError) Unwrap() error { return f.err }

// slot holds one service of a Manager: asked for or not, then started or refused for good.
type slot[T any] struct {
	service string
	ways    []way[T]
	done    chan struct{} // closed when value or refusal is set

	mu      sync.Mutex // guards the rest
	asked   bool
	got     *running[T]
	how     string
	reasons []string
	refusal *Unavailable
}

func newSlot[T any](service string, ways []way[T]) *slot[T] {
	return &slot[T]{service: service, ways: ways, done: make(chan struct{})}
}

// get returns the slot's service. The start belongs to the Manager and not to the caller: a scenario that gives up
// must not spoil the service for the others that wait for it.
func get[T any](ctx context.Context, m *Manager, s *slot[T]) (*T, error) {
	s.mu.Lock()
	first := !s.asked
	if first {
		if !m.begin() {
			s.mu.Unlock()
			return nil, &Unavailable{Service: s.service, Reasons: []string{"manager: it was closed"}}
		}
		s.asked = true
	}
	s.mu.Unlock()
	if first {
		go func() {
			defer m.starts.Done()
			s.run(m)
		}()
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		return nil, s.refusal
	}
	if s.got == nil {
		return nil, &Unavailable{Service: s.service, Reasons: []string{"manager: it was closed"}}
	}
	value := s.got.value
	return &value, nil
}

// run tries the ways in order and settles the slot.
func (s *slot[T]) run(m *Manager) {
	defer close(s.done)
	if len(s.ways) == 0 {
		s.settle(nil, "", []string{"none: services are switched off (--services none)"})
		return
	}
	var reasons []string
	for _, w := range s.ways {
		ctx, cancel := context.WithTimeout(m.ctx, m.opts.StartTimeout)
		m.logf("%s: trying %s", s.service, w.name)
		got, err := w.start(ctx)
		cancel()
		if err == nil {
			m.logf("%s: running (%s) at %s", s.service, w.name, got.address)
			s.settle(&got, w.name, reasons)
			return
		}
		reason := w.name + ": " + err.Error()
		m.logf("%s: not by %s", s.service, reason)
		reasons = append(reasons, reason)
		var final finalError
		if errors.As(err, &final) || m.ctx.Err() != nil {
			break
		}
	}
	s.settle(nil, "", reasons)
}

func (s *slot[T]) settle(got *running[T], how string, reasons []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got, s.how, s.reasons = got, how, reasons
	if got == nil {
		s.refusal = &Unavailable{Service: s.service, Reasons: reasons}
	}
}

func (s *slot[T]) stop(ctx context.Context) error {
	s.mu.Lock()
	got := s.got
	s.got, s.how = nil, ""
	s.mu.Unlock()
	if got == nil || got.stop == nil {
		return nil
	}
	return got.stop(ctx)
}

func (s *slot[T]) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Service: s.service, State: NotAsked, Reasons: append([]string(nil), s.reasons...)}
	switch {
	case s.got != nil:
		st.State, st.How, st.Address = Running, s.how, s.got.address
	case s.refusal != nil:
		st.State = Failed
	case s.asked:
		st.State = Starting
	}
	return st
}
