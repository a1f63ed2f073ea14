// Package probe finds out whether a bucket enforces conditional writes, by asking it to break its own rules.
//
// Answers: store.probe.sentinel, store.probe.inconclusive, store.probe.unproven.
//
// One sentinel is created, created again (must fail), replaced under its ETag (must succeed) and replaced under the ETag it no
// longer has (must fail); each answer is checked against what the object then holds. A second sentinel is raced for: of several
// creators, then of several replacers, exactly one may win, since asking one thing at a time cannot see a window between check
// and write. Both are deleted at the end, however it ends.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"

	"github.com/google/uuid"
)

// Verdict is what the probe saw.
type Verdict string

const (
	// CAS: every condition was enforced.
	CAS Verdict = "cas"
	// Inconclusive: the bucket did not let itself be asked (501, 405, 403, no answer).
	Inconclusive Verdict = "inconclusive"
	// None: the bucket answered and broke a condition.
	None Verdict = "none"
)

// Report is what `sync probe --json` prints.
type Report struct {
	Verdict    Verdict  `json:"verdict"`
	Endpoint   string   `json:"endpoint"`
	Region     string   `json:"region"`
	Addressing string   `json:"addressing"`
	Reasons    []string `json:"reasons"`
}

// Options: Bucket is the bucket below its prefix. Endpoint, Region and Addressing are only reported. Racers is how many write
// at once (default 5). Pause waits between tries of a throttled request; nil is commit.Sleep.
type Options struct {
	Bucket                       bucket.Bucket
	Endpoint, Region, Addressing string
	Racers                       int
	Pause                        commit.Pause
}

// Run asks the bucket. The report is always filled; the error is SyncProbeInconclusive where the verdict is Inconclusive, nil
// for the other two: a verdict of None is an answer, and Require judges it.
func Run(ctx context.Context, o Options) (Report, error) {
	p := &prober{b: o.Bucket, pause: o.Pause, racers: o.Racers, left: map[string]bool{}}
	if p.pause == nil {
		p.pause = commit.Sleep
	}
	if p.racers == 0 {
		p.racers = 5
	}
	report := Report{Verdict: CAS, Endpoint: o.Endpoint, Region: o.Region, Addressing: o.Addressing, Reasons: []string{}}
	err := p.ask(ctx)
	if left := p.clean(ctx); left != nil {
		report.Reasons = append(report.Reasons, left.Error())
	}
	var broken *broken
	switch {
	case errors.As(err, &broken):
		report.Verdict = None
		report.Reasons = append([]string{broken.what}, report.Reasons...)
	case err != nil:
		report.Verdict = Inconclusive
		report.Reasons = append([]string{err.Error()}, report.Reasons...)
		return report, fault.New(fault.SyncProbeInconclusive, o.Bucket.Name(),
			"the probe could not find out whether "+o.Bucket.Name()+" enforces conditional writes").Wrap(err)
	}
	return report, nil
}

// Require turns a probe's result into the refusal of a push or lease that declares coordination "cas":
// SyncCoordinationUnproven unless the verdict is CAS (store.probe.unproven).
func Require(name string, report Report, err error) error {
	if err == nil && report.Verdict == CAS {
		return nil
	}
	e := fault.New(fault.SyncCoordinationUnproven, name,
		`coordination "cas" is declared, and `+name+" did not show that it enforces conditional writes")
	if err != nil {
		return e.Wrap(err).WithHint("contextful sync probe asks again; it needs to write and delete below _contextful/cas-probe/")
	}
	if len(report.Reasons) > 0 {
		e.Message += ": " + report.Reasons[0]
	}
	return e.WithHint(`use a bucket with conditional writes, or coordination = "single-writer" where only one machine ever writes`)
}

// broken is an answer that a bucket with conditional writes cannot give.
type broken struct{ what string }

func (b *broken) Error() string { return b.what }

type prober struct {
	b      bucket.Bucket
	pause  commit.Pause
	racers int
	mu     sync.Mutex
	left   map[string]bool // sentinels that may exist
}

func newKey() string { return key.ProbeSentinel(uuid.NewString()) }

// send is one put, remembered where it may have made an object.
func (p *prober) send(ctx context.Context, k, body string, cond bucket.Condition) (bucket.Object, error) {
	o, err := p.b.Put(ctx, k, bytes.NewReader([]byte(body)), int64(len(body)), cond)
	for _, nothing := range []error{bucket.ErrTransport, bucket.ErrForbidden, bucket.ErrUnsupported} {
		if errors.Is(err, nothing) {
			return o, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[k] = true
	return o, err
}

func (p *prober) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	var first error
	for k := range p.left {
		if err := p.delete(ctx, k); err != nil && first == nil {
			first = fmt.Errorf("the sentinel %s could not be deleted: %w", k, err)
		}
	}
	return first
}

// delete asks again after a pause where the key was written to within the same second and the storage counts.
func (p *prober) delete(ctx context.Context, k string) error {
	for n := 1; ; n++ {
		err := p.b.Delete(ctx, k)
		if n == 3 || !errors.Is(err, bucket.ErrThrottled) {
			return err
		}
		if paused := p.pause(ctx, 1100*time.Millisecond); paused != nil {
			return err
		}
	}
}

// put sends one put. A throttled one is sent again after a pause, a 409 once more; everything else stands as answered.
func (p *prober) put(ctx context.Context, k, body string, cond bucket.Condition) (bucket.Object, error) {
	for n := 1; ; n++ {
		o, err := p.send(ctx, k, body, cond)
		if n == 3 || !errors.Is(err, bucket.ErrThrottled) {
			return o, err
		}
		if err := p.pause(ctx, 1100*time.Millisecond); err != nil {
			return o, err
		}
	}
}

// must is put for a write whose condition holds: a failed condition is worth a second request, and then it is broken.
func (p *prober) must(ctx context.Context, what, k, body string, cond bucket.Condition) (string, error) {
	o, err := p.put(ctx, k, body, cond)
	if errors.Is(err, bucket.ErrCondition) {
		o, err = p.put(ctx, k, body, cond)
	}
	if errors.Is(err, bucket.ErrCondition) {
		return "", &broken{fmt.Sprintf("%s is refused: %v", what, err)}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	tag, err := p.holds(ctx, k, body, "after "+what)
	if err != nil {
		return "", err
	}
	if o.ETag != "" {
		tag = o.ETag
	}
	return tag, nil
}

// mustNot is put for a write whose condition does not hold; the object must then hold still.
func (p *prober) mustNot(ctx context.Context, what, k, body string, cond bucket.Condition, still string) error {
	_, err := p.put(ctx, k, body, cond)
	if err == nil {
		return &broken{what + " succeeds"}
	}
	if !errors.Is(err, bucket.ErrCondition) {
		return fmt.Errorf("%s: %w", what, err)
	}
	_, err = p.holds(ctx, k, still, "after a refusal of "+what)
	return err
}

func (p *prober) holds(ctx context.Context, k, want, when string) (etag string, err error) {
	got, o, err := p.get(ctx, k)
	if errors.Is(err, bucket.ErrNotFound) {
		return "", &broken{when + " the object is absent"}
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", when, err)
	}
	if got != want {
		return "", &broken{when + " the object holds something else"}
	}
	if o.ETag == "" {
		return "", &broken{"objects have no ETag"}
	}
	return o.ETag, nil
}

func (p *prober) get(ctx context.Context, k string) (string, bucket.Object, error) {
	r, o, err := p.b.Get(ctx, k)
	if err != nil {
		return "", o, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, 1<<10))
	return string(data), o, err
}

func (p *prober) ask(ctx context.Context) error {
	k := newKey()
	first, err := p.must(ctx, "a create", k, "first "+k, bucket.Condition{IfAbsent: true})
	if err != nil {
		return err
	}
	if err := p.mustNot(ctx, "a second create", k, "second "+k, bucket.Condition{IfAbsent: true}, "first "+k); err != nil {
		return err
	}
	second, err := p.must(ctx, "a replace under the current ETag", k, "third "+k, bucket.Condition{IfMatch: first})
	if err != nil {
		return err
	}
	if second == first {
		return &broken{"another body has the same ETag"}
	}
	if err := p.mustNot(ctx, "a replace under a stale ETag", k, "fourth "+k, bucket.Condition{IfMatch: first}, "third "+k); err != nil {
		return err
	}
	return p.races(ctx)
}

func (p *prober) races(ctx context.Context) error {
	k := newKey()
	if err := p.race(ctx, "racing creates", k, bucket.Condition{IfAbsent: true}); err != nil {
		return err
	}
	_, o, err := p.get(ctx, k)
	if err != nil {
		return fmt.Errorf("reading the raced sentinel: %w", err)
	}
	return p.race(ctx, "racing replaces under one ETag", k, bucket.Condition{IfMatch: o.ETag})
}

// race lets several write at once. A throttled or refused racer lost; where all did, nobody may have won, and it is asked once
// more after a pause.
func (p *prober) race(ctx context.Context, what, k string, cond bucket.Condition) error {
	for n := 1; ; n++ {
		winners, err := p.start(ctx, k, cond)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case len(winners) > 1:
			return &broken{fmt.Sprintf("of %d %s %d succeed", p.racers, what, len(winners))}
		case len(winners) == 1:
			_, err := p.holds(ctx, k, winners[0], "after "+what)
			return err
		case n == 3:
			return &broken{fmt.Sprintf("of %d %s none succeeds", p.racers, what)}
		}
		if err := p.pause(ctx, 1100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (p *prober) start(ctx context.Context, k string, cond bucket.Condition) (winners []string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	ready := make(chan struct{})
	for i := range p.racers {
		wg.Go(func() {
			body := fmt.Sprintf("racer %d %s", i, commit.Nonce())
			<-ready
			_, perr := p.send(ctx, k, body, cond)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case perr == nil:
				winners = append(winners, body)
			case !errors.Is(perr, bucket.ErrCondition) && !errors.Is(perr, bucket.ErrThrottled):
				err = perr
			}
		})
	}
	close(ready)
	wg.Wait()
	return winners, err
}
