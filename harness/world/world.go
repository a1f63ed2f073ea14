// Package world is what one scenario has: its nodes, the bucket they share, the clock, the tables they declare and what was
// landed into them, and the record of everything that was asked. A step takes it from its context with From and asks
// through it; nothing in it is shared with another scenario.
//
//	w := world.From(ctx)
//	beta := w.Node("beta")
//	res, err := w.Do(ctx, beta, sut.Pull, nil)      // whatever comes of it
//	err = w.Ok(ctx, beta, sut.Push, nil)            // a *verify.Mismatch unless it succeeds
//	task, err := w.Start(ctx, beta, sut.Pull, nil)  // held, stopped, killed; w.Finish(ctx, task) waits
//
// Answers: no clause.
package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"contextful/fakes/s3cas"
	"contextful/harness/services"
	"contextful/harness/sut"
)

// Options make a World.
type Options struct {
	Config   *sut.Config
	Driver   sut.Starter
	Services *services.Manager // nil: no service
	Dir      string            // the scenario's own directory; made if need be
	Seed     uint64
	Wall     func() time.Time       // the kit's own clock
	Known    func(code string) bool // whether a word is an error code of the law
	Service  string                 // "" is the embedded fake, "minio", or "dir" for a file:// bucket
	WaitFor  time.Duration          // how long an expected event may take; 20 s when zero
}

// A World is one scenario's. Steps run one after the other; what they start may report from other goroutines.
type World struct {
	opts   Options
	Seed   uint64
	bucket Bucket
	fake   *s3cas.Server

	nodes  map[string]*Node
	order  []string
	tables map[string]*Table
	names  []string       // of tables, in order of declaration
	Values map[string]any // what steps of one operation keep for later steps; the key names the owner
	now    time.Time
	frozen bool
	title  string
	feed   *Feed
	jobs   []Job
	sync   map[string]string // [sync] settings of every node, TOML values

	mu       sync.Mutex
	calls    []Call
	tasks    []*Task
	last     *Call
	before   BucketState
	notes    []string
	expected []expectation
	ending   []func() error
	forks    []*s3cas.Server
}

// A Call is an invocation with the name the bucket's journal knows it by ("beta.pull.2").
type Call struct {
	sut.Result
	Principal string
	Killed    string // what the kit killed or stopped it at, if it did
}

// Unsupported says that the implementation does not declare what a step needs: the verdict is unsupported.
type Unsupported struct{ Why string }

func (e *Unsupported) Error() string { return e.Why }

// Start instant of every scenario's clock: a whole second, far from any boundary.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// New makes the world of one scenario. Close it.
func New(ctx context.Context, o Options) (*World, error) {
	if o.WaitFor == 0 {
		o.WaitFor = 20 * time.Second
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	w := &World{opts: o, Seed: o.Seed, nodes: map[string]*Node{}, tables: map[string]*Table{}, Values: map[string]any{}, now: start, title: "research", sync: map[string]string{}}
	var err error
	switch o.Service {
	case "":
		w.fake, err = s3cas.New(s3cas.Options{Now: w.Now, Buckets: []string{bucketName}}).Start()
		if err != nil {
			return nil, fmt.Errorf("the fake bucket does not start: %w", err)
		}
		w.bucket = &fakeBucket{w.fake}
	case "dir":
		w.bucket = &dirBucket{filepath.Join(o.Dir, "bucket")}
		err = os.MkdirAll(filepath.Join(o.Dir, "bucket"), 0o755)
	case services.NameMinIO:
		w.bucket, err = newMinIO(ctx, o)
	default:
		err = fmt.Errorf("unknown service %q", o.Service)
	}
	return w, err
}

type contextKey struct{}

// Into puts a world into a context.
func Into(ctx context.Context, w *World) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// From takes the scenario's world out of a step's context. Outside a scenario it gives an empty world whose every verb
// fails.
func From(ctx context.Context) *World {
	if w, ok := ctx.Value(contextKey{}).(*World); ok {
		return w
	}
	return &World{nodes: map[string]*Node{}, tables: map[string]*Table{}, Values: map[string]any{}, sync: map[string]string{}}
}

// Defer has something done when the scenario ends, whatever came of it: a service that a step started is stopped.
func (w *World) Defer(fn func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = append(w.ending, fn)
}

// Close kills what still runs and stops the fake. The directory stays: the suite removes it.
func (w *World) Close() error {
	w.mu.Lock()
	tasks := append([]*Task(nil), w.tasks...)
	w.mu.Unlock()
	var errs []error
	for _, t := range tasks {
		if !t.Ended() {
			if err := t.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				errs = append(errs, err)
			}
		}
	}
	for _, s := range append(w.forks, w.fake) {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	for _, t := range tasks {
		<-t.Done()
	}
	w.mu.Lock()
	ending := w.ending
	w.ending = nil
	w.mu.Unlock()
	for _, fn := range ending {
		errs = append(errs, fn())
	}
	return errors.Join(errs...)
}

// Now is what the scenario's clock shows.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock. Where the implementation cannot be told the time, the scenario is unsupported.
func (w *World) Advance(d time.Duration) error { return w.SetClock(w.Now().Add(d)) }

// SetClock sets the clock and keeps it still no longer than until the next verb, unless Freeze holds it.
func (w *World) SetClock(t time.Time) error {
	if w.opts.Config.Clock == sut.NoClock {
		return &Unsupported{"the implementation cannot be told the time (clock = \"none\")"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = t
	return nil
}

// Freeze keeps the clock where it is from verb to verb; without it each verb comes a second after the one before.
func (w *World) Freeze() error {
	w.frozen = true
	return w.SetClock(w.Now())
}

func (w *World) tick() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.frozen {
		w.now = w.now.Add(time.Second)
	}
	return w.now
}

// Note adds a line to the failure bundle.
func (w *World) Note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// Notes are the lines added with Note.
func (w *World) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.notes...)
}

// Calls lists every ended invocation, in order of their ends.
func (w *World) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Call(nil), w.calls...)
}

// Last is the latest ended invocation.
func (w *World) Last() (Call, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return Call{}, errors.New("no verb has been asked yet")
	}
	return *w.last, nil
}

// Config is the implementation's.
func (w *World) Config() *sut.Config { return w.opts.Config }

// Known reports whether a word is an error code of the law.
func (w *World) Known(code string) bool { return w.opts.Known != nil && w.opts.Known(code) }

// Dir is a directory of the scenario's own, made on demand.
func (w *World) Dir(name string) (string, error) {
	dir := filepath.Join(w.opts.Dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// Waiting gives a context that ends when an expected event is overdue.
func (w *World) Waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, w.opts.WaitFor)
}
