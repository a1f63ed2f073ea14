package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"contextful/harness/report"
	"contextful/harness/services"
	"contextful/harness/steps"
	"contextful/harness/stopper"
	"contextful/harness/sut"
)

// Run asks every selected question. Its error is exit code 2: a configuration, a selection or a feature that cannot be
// used. Everything else, failures included, is in the Results. When ctx ends, what has not run is not-run and the
// Results say Interrupted.
func Run(ctx context.Context, o Options) (*Results, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	all, err := questions(o.Features, o.Spec)
	if err != nil {
		return nil, err
	}
	chosen, err := o.choose(all)
	if err != nil {
		return nil, err
	}
	defs, err := steps.All()
	if err != nil {
		return nil, err
	}
	r := &runner{o: o, steps: guarded(defs), started: o.Wall(), known: knownCodes(o)}
	if o.Services == "" {
		r.o.Services = services.Auto
	}
	r.services = services.New(services.Options{Mode: r.o.Services, Log: o.Log})
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := r.services.Close(end); err != nil {
			o.Log("services: %v", err)
		}
	}()
	if err := r.makeDir(); err != nil {
		return nil, err
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	r.abort = abort
	res := &Results{Started: r.started, Options: o, Scenarios: make([]Scenario, len(chosen))}
	r.all(ctx, chosen, res)
	var unusable *sut.ConfigError
	if errors.As(context.Cause(ctx), &unusable) {
		_ = os.RemoveAll(r.dir) // nothing in it says more than the error
		return nil, unusable
	}
	res.Interrupted = ctx.Err() != nil
	for _, s := range r.services.Report() {
		if s.State != services.NotAsked {
			res.Services = append(res.Services, report.Service{Name: s.Service, Available: s.State == services.Running, Detail: detail(s)})
		}
	}
	strace := report.Service{Name: services.NameStrace, Available: true, Detail: "local"}
	if err := stopper.Available(); err != nil {
		strace.Available, strace.Detail = false, err.Error()
	}
	res.Services = append(res.Services, strace)
	if o.Keep {
		res.Dir = r.dir
	} else if err := os.RemoveAll(r.dir); err != nil {
		restore(r.dir)
		if err := os.RemoveAll(r.dir); err != nil {
			o.Log("the scenarios' directory stays: %v", err)
		}
	}
	res.Duration = o.Wall().Sub(r.started)
	return res, invariant(res, chosen)
}

// invariant is the printed one: every selected pickle has one result with one verdict.
func invariant(res *Results, chosen []*question) error {
	sum := 0
	for v, n := range res.Counts() {
		if v == "" {
			return fmt.Errorf("%d scenarios ended without a verdict: a bug of the kit", n)
		}
		sum += n
	}
	if sum != len(chosen) {
		return fmt.Errorf("%d scenarios were selected and %d have a verdict: a bug of the kit", len(chosen), sum)
	}
	return nil
}

func detail(s services.Status) string {
	out := s.How
	if s.Address != "" {
		out += " at " + s.Address
	}
	for _, r := range s.Reasons {
		if out != "" {
			out += "; "
		}
		out += r
	}
	return out
}

// RunT runs the selection as subtests of t: a fail, an error and what did not run fail their subtest.
func RunT(t *testing.T, o Options) *Results {
	t.Helper()
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if o.OutDir != "" {
		rep := res.Report()
		rep.Judge()
		if err := report.WriteAll(o.OutDir, rep); err != nil {
			t.Error(err)
		}
	}
	for i := range res.Scenarios {
		s := &res.Scenarios[i]
		t.Run(s.ID, func(t *testing.T) {
			switch s.Verdict {
			case Pass:
			case Unsupported:
				t.Logf("%s: %s", s.Verdict, s.Reason)
			case Unavailable:
				if o.RequireServices {
					t.Errorf("%s: %s", s.Verdict, s.Reason)
				} else {
					t.Logf("%s: %s", s.Verdict, s.Reason)
				}
			default:
				t.Errorf("%s: %s\n%s", s.Verdict, s.Reason, s.Reproduce)
			}
		})
	}
	return res
}

type runner struct {
	o        Options
	steps    []guardedStep
	services *services.Manager
	dir      string
	started  time.Time
	known    func(string) bool

	abort func(cause error) // ends the run: no verb can be asked

	mu   sync.Mutex // guards done and the observer
	done int
}

func knownCodes(o Options) func(string) bool {
	codes := map[string]bool{}
	for _, c := range o.Spec.All() {
		for _, r := range c.Raises {
			codes[r] = true
		}
	}
	return func(code string) bool { return codes[code] }
}

func (r *runner) makeDir() error {
	var err error
	base := r.o.WorkDir
	if base == "" {
		base = workBase()
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	r.dir, err = os.MkdirTemp(base, fmt.Sprintf("conform-%d-", os.Getpid()))
	return err
}

// all runs the questions Jobs wide.
func (r *runner) all(ctx context.Context, chosen []*question, res *Results) {
	order := make([]int, len(chosen))
	for i := range order {
		order[i] = i
	}
	if r.o.Shuffle {
		rand.New(rand.NewPCG(r.o.Seed, 1)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	r.observe(len(chosen), nil)
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(r.o.Jobs, len(order)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range work {
				res.Scenarios[i] = r.question(ctx, chosen[i], i)
				r.observe(len(chosen), &res.Scenarios[i])
			}
		}()
	}
	for _, i := range order {
		work <- i
	}
	close(work)
	wg.Wait()
}

func (r *runner) observe(total int, s *Scenario) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s != nil {
		r.done++
	}
	if r.o.Observer != nil {
		r.o.Observer(Event{Done: r.done, Total: total, Elapsed: r.o.Wall().Sub(r.started), Scenario: s})
	}
}

// question runs one question Repeat times and gives the one result: the first attempt that did not pass, else the first.
// Attempts that disagree are a fail, marked flaky.
func (r *runner) question(ctx context.Context, q *question, index int) Scenario {
	var kept Scenario
	for attempt := 1; attempt <= r.o.Repeat; attempt++ {
		s := r.attempt(ctx, q, index, attempt)
		switch {
		case attempt == 1:
			kept = s
		case s.Verdict != kept.Verdict:
			worse := kept
			if kept.Verdict == Pass {
				worse = s
			}
			worse.Reason = fmt.Sprintf("flaky: attempt %d is %s, attempt %d is %s: %s", kept.Attempt, kept.Verdict, s.Attempt, s.Verdict, worse.Reason)
			if worse.Verdict != NotRun && worse.Verdict != Errored {
				worse.Verdict = Fail
			}
			worse.Flaky = true
			return worse
		}
		if kept.Verdict == Unsupported || kept.Verdict == NotRun {
			break
		}
	}
	return kept
}

func (r *runner) scenarioDir(index, attempt int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%04d-%d", index, attempt))
}
