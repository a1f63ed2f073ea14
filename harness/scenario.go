package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"contextful/harness/services"
	"contextful/harness/steps"
	"contextful/harness/stopper"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// grace is how long a step may go on after its scenario's time is up before it is left behind.
const grace = 5 * time.Second

type guardedStep struct {
	expr *regexp.Regexp
	fn   any
}

func guarded(defs []steps.Definition) []guardedStep {
	var out []guardedStep
	for _, d := range defs {
		out = append(out, guardedStep{d.Expr, d.Guarded(grace)})
	}
	return out
}

// attempt asks a question once, in a world of its own. It never panics and always ends.
func (r *runner) attempt(ctx context.Context, q *question, index, attempt int) (s Scenario) {
	s = Scenario{ID: q.id, Feature: q.feature.Path, Line: q.line, Name: q.name, Tags: q.tags, Other: q.other, Examples: q.examples, Area: q.area(), Level: q.level,
		Needs: q.needs, Steps: append([]Step(nil), q.steps...), Seed: r.o.Seed + uint64(attempt-1), Attempt: attempt, Verdict: NotRun, Reason: "interrupted"}
	s.Reproduce = fmt.Sprintf("%s --scenario '%s' --seed %d", r.o.Command, q.id, s.Seed)
	if ctx.Err() != nil {
		return s
	}
	for _, n := range q.needs {
		if !r.o.SUT.Capabilities[n] {
			s.Verdict, s.Reason = Unsupported, "needs "+n+", which the implementation does not declare"
			return s
		}
	}
	began := r.o.Wall()
	defer func() {
		s.Duration = r.o.Wall().Sub(began)
		if v := recover(); v != nil {
			s.Verdict, s.Reason = Errored, fmt.Sprintf("the kit panicked: %v", v)
		}
		if s.Verdict != Pass && ctx.Err() != nil {
			s.Verdict, s.Reason = NotRun, "interrupted"
		}
	}()
	limited, cancel := context.WithTimeout(ctx, r.o.ScenarioTimeout)
	defer cancel()
	dir := r.scenarioDir(index, attempt)
	w, err := world.New(limited, world.Options{Config: r.o.SUT, Driver: r.o.Driver, Services: r.services, Dir: dir, Seed: s.Seed, Wall: r.o.Wall, Known: r.known, Service: q.service()})
	if err != nil {
		r.conclude(&s, nil, fmt.Errorf("the scenario has no world: %w", err))
		return s
	}
	rec := &recorder{s: &s, wall: r.o.Wall}
	r.engine(world.Into(limited, w), q, rec)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.closed = true
	r.conclude(&s, w, rec.verdictError(len(q.steps)))
	if err := w.Close(); err != nil && s.Verdict == Pass {
		s.Verdict, s.Reason = Errored, "the scenario's world does not close: "+err.Error()
	}
	s.collect(w)
	if !r.o.Keep {
		if err := os.RemoveAll(dir); err != nil {
			restore(dir)
			_ = os.RemoveAll(dir) // a directory made read-only by a step; what is left goes with the run's directory
		}
	}
	return s
}

// restore gives back the permissions a step took away, as far as it can.
func restore(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
}

// engine has godog run the one pickle and waits for it, for a while longer than the scenario's own limit.
func (r *runner) engine(ctx context.Context, q *question, rec *recorder) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				rec.fatal(fmt.Errorf("the engine panicked: %v", v))
			}
		}()
		suite := godog.TestSuite{Name: q.id, ScenarioInitializer: func(sc *godog.ScenarioContext) { r.initialise(sc, rec) },
			Options: &godog.Options{Format: "progress", Output: io.Discard, NoColors: true, Strict: true, Concurrency: 1, DefaultContext: ctx,
				FS: oneFile{q.feature.Path, q.text}, Paths: []string{fmt.Sprintf("%s:%d", q.feature.Path, q.at)}}}
		suite.Run()
	}()
	limit := time.NewTimer(r.o.ScenarioTimeout + 2*grace)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		rec.fatal(errors.New("the scenario did not end in time and was left behind"))
	}
}

func (r *runner) initialise(sc *godog.ScenarioContext, rec *recorder) {
	for _, st := range r.steps {
		sc.Step(st.expr, st.fn)
	}
	sc.Before(func(ctx context.Context, _ *godog.Scenario) (context.Context, error) {
		rec.begin()
		return ctx, nil
	})
	sc.StepContext().Before(func(ctx context.Context, _ *godog.Step) (context.Context, error) {
		rec.stepBegins()
		return ctx, nil
	})
	sc.StepContext().After(func(ctx context.Context, _ *godog.Step, status godog.StepResultStatus, err error) (context.Context, error) {
		rec.stepEnds(status, world.Finding(ctx, err))
		return ctx, nil
	})
}

// recorder is what the hooks write to. After closed nothing of a scenario left behind gets in.
type recorder struct {
	mu      sync.Mutex
	s       *Scenario
	wall    func() time.Time
	closed  bool
	begun   int
	next    int
	since   time.Time
	failed  error
	failing int // index of the failing step
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
}

func (r *recorder) stepBegins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = r.wall()
}

func (r *recorder) stepEnds(status godog.StepResultStatus, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.next
	r.next++
	if r.closed || i >= len(r.s.Steps) {
		return
	}
	st := &r.s.Steps[i]
	st.Duration = r.wall().Sub(r.since)
	switch {
	case status == godog.StepPassed:
		st.Status = StatusPassed
	case status == godog.StepSkipped && r.failed != nil:
		st.Status = StatusSkipped
	default:
		if err == nil {
			err = fmt.Errorf("the step ended as %v", status)
		}
		if r.failed == nil {
			r.failed, r.failing = err, i
			st.Error, st.Status = err.Error(), StatusError
			var m *verify.Mismatch
			if errors.As(err, &m) {
				st.Status = StatusFailed
			}
		}
	}
}

func (r *recorder) fatal(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed, r.failing = err, min(r.next, len(r.s.Steps)-1)
	}
}

// verdictError is nil where the engine ran the one pickle, with all its steps, and all passed.
func (r *recorder) verdictError(steps int) error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.begun != 1:
		return fmt.Errorf("the engine ran the scenario %d times", r.begun)
	case r.next != steps:
		return fmt.Errorf("the engine ran %d of %d steps", r.next, steps)
	}
	r.failing = -1
	return nil
}

// conclude turns what happened into a verdict.
func (r *runner) conclude(s *Scenario, w *world.World, err error) {
	for i := range s.Steps {
		if s.Steps[i].Status == StatusFailed || s.Steps[i].Status == StatusError {
			st := s.Steps[i]
			s.FailedStep = &st
			break
		}
	}
	if err == nil {
		s.Verdict, s.Reason = Pass, ""
		if w != nil {
			if unmet := w.Unmet(); len(unmet) > 0 {
				s.Verdict, s.Reason = Errored, "what the scenario relies on did not happen: "+strings.Join(unmet, "; ")
			}
		}
		return
	}
	var (
		mismatch    *verify.Mismatch
		noAnswer    *sut.NoAnswer
		missing     *services.Unavailable
		noStopper   *stopper.Unavailable
		unsupported *world.Unsupported
		unusable    *sut.ConfigError
	)
	if errors.As(err, &unusable) && r.abort != nil {
		r.abort(unusable)
	}
	given := s.FailedStep != nil && s.FailedStep.Kind == "Given"
	switch {
	case errors.As(err, &mismatch):
		s.Verdict, s.Reason = Fail, firstLine(mismatch.What)+": expected "+firstLine(mismatch.Expected)+", got "+firstLine(mismatch.Actual)
		s.Mismatch = &Mismatch{Clause: mismatch.Clause, What: mismatch.What, Expected: mismatch.Expected, Actual: mismatch.Actual}
		if s.Mismatch.Clause == "" && len(s.Tags) > 0 {
			s.Mismatch.Clause = s.Tags[0]
		}
	case errors.As(err, &noAnswer):
		s.Verdict, s.Reason, s.NoAnswer = Fail, noAnswer.Error(), true
	case errors.As(err, &missing), errors.As(err, &noStopper):
		s.Verdict, s.Reason = Unavailable, err.Error()
	case errors.As(err, &unsupported):
		s.Verdict, s.Reason = Unsupported, unsupported.Why
	default:
		s.Verdict, s.Reason = Errored, err.Error()
	}
	if s.Verdict == Fail && given {
		s.SettingFailed = true
		s.Reason = "the setting could not be made: " + s.Reason
	}
	if w != nil {
		for _, c := range w.Calls() {
			s.Crashed = s.Crashed || (c.Panicked && c.Killed == "")
		}
	}
}

func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line += " …"
	}
	return line
}

// collect keeps what a reader of a failure needs.
func (s *Scenario) collect(w *world.World) {
	if s.Verdict == Pass {
		return
	}
	for _, c := range w.Calls() {
		s.Invocations = append(s.Invocations, Invocation{Result: c.Result, Principal: c.Principal, Killed: c.Killed})
	}
	s.Journal, s.TreeDiff, s.Notes = w.Journal(), w.TreeDiff(), w.Notes()
}

// oneFile is a file system that holds one feature.
type oneFile struct{ path, text string }

func (f oneFile) Open(name string) (fs.File, error) {
	if name != f.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{Reader: strings.NewReader(f.text), name: name, size: int64(len(f.text))}, nil
}

type openFile struct {
	*strings.Reader
	name string
	size int64
}

func (f *openFile) Close() error               { return nil }
func (f *openFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *openFile) Name() string               { return f.name }
func (f *openFile) Size() int64                { return f.size }
func (f *openFile) Mode() fs.FileMode          { return 0o444 }
func (f *openFile) ModTime() time.Time         { return time.Time{} }
func (f *openFile) IsDir() bool                { return false }
func (f *openFile) Sys() any                   { return nil }
