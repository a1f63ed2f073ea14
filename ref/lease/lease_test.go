package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/lease"
)

const (
	leaseKey   = "p/leases/compact/t.json"
	pointerKey = "p/tables/t/_pointer.json"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	table = lease.Compaction("t")
)

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func node(m bucket.Bucket, name string, after time.Duration) lease.Options {
	return lease.Options{Bucket: m, Project: "p", Node: name, Clock: clock.Fixed{Instant: start.Add(after)}, Pause: noPause}
}

func must(t *testing.T) func(lease.Report, error) lease.Report {
	t.Helper()
	return func(r lease.Report, err error) lease.Report {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func refused(t *testing.T, code fault.Code, err error) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
}

func holds(t *testing.T, m *bucket.Memory, key string, parts ...string) {
	t.Helper()
	body, _ := m.Peek(key)
	for _, p := range parts {
		if !strings.Contains(strings.ReplaceAll(string(body), " ", ""), p) {
			t.Fatalf("%s holds %s, want %s", key, body, p)
		}
	}
}

func ptr(n int64) *int64 { return &n }

var ctx = context.Background()

func TestALifeOfALease(t *testing.T) {
	m := bucket.NewMemory()
	r := must(t)(acquire(node(m, "alpha", 0)))
	if r.Fence != 1 || *r.Holder != "alpha" || !r.ExpiresAt.Equal(start.Add(lease.Duration)) {
		t.Fatalf("%+v", r)
	}
	holds(t, m, pointerKey, `"snapshot_id":null`, `"fence":1`, `"writer":"alpha"`)

	_, err := lease.Acquire(ctx, node(m, "beta", time.Minute), table)
	refused(t, fault.LeaseHeld, err)
	if !strings.Contains(err.Error(), "alpha") || !strings.Contains(err.Error(), "2026-01-02T03:14:05") {
		t.Fatalf("%v names neither holder nor expiry", err)
	}
	_, err = lease.Acquire(ctx, node(m, "alpha", time.Minute), table)
	refused(t, fault.LeaseHeld, err)

	r = must(t)(lease.Renew(ctx, node(m, "alpha", 5*time.Minute), table, ptr(1)))
	if r.Fence != 1 || !r.ExpiresAt.Equal(start.Add(15*time.Minute)) {
		t.Fatalf("renewed: %+v", r)
	}
	_, err = lease.Release(ctx, node(m, "beta", 0), table, nil)
	refused(t, fault.LeaseNotHeld, err)
	r = must(t)(lease.Release(ctx, node(m, "alpha", 0), table, nil))
	if r.Holder != nil || r.Fence != 1 {
		t.Fatalf("released: %+v", r)
	}
	before, _ := m.Peek(leaseKey)
	_, err = lease.Release(ctx, node(m, "alpha", 0), table, nil)
	refused(t, fault.LeaseNotHeld, err)
	if after, _ := m.Peek(leaseKey); string(after) != string(before) {
		t.Fatal("a refused release wrote")
	}
	r = must(t)(lease.Acquire(ctx, node(m, "beta", 0), table))
	if r.Fence != 2 {
		t.Fatalf("second fence %d", r.Fence)
	}
	holds(t, m, pointerKey, `"fence":2`)
}

func acquire(o lease.Options) (lease.Report, error) { return lease.Acquire(ctx, o, table) }

func TestExpiryWaitsForTheSkew(t *testing.T) {
	m := bucket.NewMemory()
	must(t)(acquire(node(m, "alpha", 0)))
	_, err := acquire(node(m, "beta", lease.Duration+lease.Skew-time.Second))
	refused(t, fault.LeaseHeld, err)
	r := must(t)(acquire(node(m, "beta", lease.Duration+lease.Skew)))
	if r.Fence != 2 {
		t.Fatalf("fence %d", r.Fence)
	}
	_, err = lease.Renew(ctx, node(m, "alpha", 0), table, nil)
	refused(t, fault.LeaseNotHeld, err)
	_, err = lease.Held(ctx, node(m, "alpha", 0), table, ptr(1))
	refused(t, fault.LeaseFenced, err)
	_, err = lease.Held(ctx, node(m, "alpha", 0), table, nil)
	refused(t, fault.LeaseNotHeld, err)
}

func TestALaterAcquisitionOfTheSameNode(t *testing.T) {
	m := bucket.NewMemory()
	must(t)(acquire(node(m, "alpha", 0)))
	must(t)(acquire(node(m, "alpha", time.Hour)))
	before, _ := m.Peek(leaseKey)
	_, err := lease.Release(ctx, node(m, "alpha", time.Hour), table, ptr(1))
	refused(t, fault.LeaseNotHeld, err)
	if after, _ := m.Peek(leaseKey); string(after) != string(before) {
		t.Fatal("the object was touched")
	}
	must(t)(lease.Release(ctx, node(m, "alpha", time.Hour), table, ptr(2)))
}

func TestPointerKeepsItsSnapshot(t *testing.T) {
	m := bucket.NewMemory()
	m.Set(pointerKey, []byte(`{"snapshot_id":"snapshot-00000000000000000007","fence":null}`))
	must(t)(acquire(node(m, "alpha", 0)))
	holds(t, m, pointerKey, `"snapshot_id":"snapshot-00000000000000000007"`, `"fence":1`)
}

func TestALostLeaseObjectBringsNoOldFenceBack(t *testing.T) {
	m := bucket.NewMemory()
	m.Set(pointerKey, []byte(`{"snapshot_id":null,"fence":41}`))
	if r := must(t)(acquire(node(m, "alpha", 0))); r.Fence != 42 {
		t.Fatalf("fence %d", r.Fence)
	}
}

func TestOvertakenBeforeThePointer(t *testing.T) {
	m := bucket.NewMemory()
	overtaken := false
	m.After = func(c bucket.Call) error {
		if c.Op == "put" && c.Key == leaseKey && !overtaken {
			overtaken = true
			must(t)(acquire(node(m, "beta", time.Hour)))
		}
		return nil
	}
	_, err := acquire(node(m, "alpha", 0))
	refused(t, fault.LeaseFenced, err)
	holds(t, m, pointerKey, `"fence":2`)
	holds(t, m, leaseKey, `"holder":"beta"`)
}

func TestPipelineLeaseHasNoPointer(t *testing.T) {
	m := bucket.NewMemory()
	r := must(t)(lease.Acquire(ctx, node(m, "alpha", 0), lease.Pipeline("feed")))
	if got := m.Keys(); r.Fence != 1 || fmt.Sprint(got) != "[p/leases/feed.json]" {
		t.Fatalf("%+v %q", r, got)
	}
}

func TestLocalTakesNoLease(t *testing.T) {
	m := bucket.NewMemory()
	_, err := acquire(node(m, "local", 0))
	refused(t, fault.SyncNotConfigured, err)
	if len(m.Keys()) > 0 {
		t.Fatal("it wrote")
	}
}

func TestUnprovenBucketIsNotWritten(t *testing.T) {
	m := bucket.NewMemory()
	o := node(m, "alpha", 0)
	o.Prove = func(context.Context) error { return fault.New(fault.SyncCoordinationUnproven, "b", "b") }
	_, err := acquire(o)
	refused(t, fault.SyncCoordinationUnproven, err)
	if len(m.Keys()) > 0 {
		t.Fatal("it wrote")
	}
}

// TestAnswersThatLie runs a whole life under each way in which an answer can mislead.
func TestAnswersThatLie(t *testing.T) {
	for name, wrap := range map[string]func(m *bucket.Memory){
		"every first answer is lost after the write": func(m *bucket.Memory) {
			m.After = perKey(func(bucket.Call) error { return bucket.ErrUnknownOutcome })
		},
		"every first write is dropped": func(m *bucket.Memory) {
			m.Before = perKey(func(bucket.Call) error { return bucket.ErrUnknownOutcome })
		},
		"every first write is told 412": func(m *bucket.Memory) {
			m.After = perKey(func(bucket.Call) error { return bucket.ErrCondition })
		},
		"every first write is a conflict": func(m *bucket.Memory) {
			m.Before = perKey(func(bucket.Call) error { return bucket.ErrCondition })
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := bucket.NewMemory()
			wrap(m)
			r := must(t)(acquire(node(m, "alpha", 0)))
			if r.Fence != 1 {
				t.Fatalf("fence %d: an acquisition was taken for another's", r.Fence)
			}
			wrap(m)
			must(t)(lease.Renew(ctx, node(m, "alpha", time.Minute), table, ptr(1)))
			wrap(m)
			must(t)(lease.Release(ctx, node(m, "alpha", time.Minute), table, ptr(1)))
			holds(t, m, leaseKey, `"holder":null`, `"fence":1`)
			holds(t, m, pointerKey, `"fence":1`)
		})
	}
}

// perKey acts on the first put of each key.
func perKey(act func(bucket.Call) error) func(bucket.Call) error {
	var seen sync.Map
	return func(c bucket.Call) error {
		if c.Op != "put" {
			return nil
		}
		if _, again := seen.LoadOrStore(c.Key, true); again {
			return nil
		}
		return act(c)
	}
}

func TestRacingNodesOneHolds(t *testing.T) {
	m := bucket.NewMemory()
	var won, held, other atomic.Int32
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := acquire(node(m, fmt.Sprintf("n%d", i), 0))
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, fault.LeaseHeld):
				held.Add(1)
			default:
				other.Add(1)
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || held.Load() != 11 {
		t.Fatalf("%d hold it, %d were told so", won.Load(), held.Load())
	}
	holds(t, m, pointerKey, `"fence":1`)
}

func TestDamagedLeaseRefuses(t *testing.T) {
	for _, body := range []string{"", "[]", "{}", `{"holder":"a/b","fence":1}`, `{"holder":"a","fence":1}`, `{"holder":null,"fence":-1}`, `{"holder":null,"fence":1} x`} {
		m := bucket.NewMemory()
		m.Set(leaseKey, []byte(body))
		_, err := acquire(node(m, "alpha", 0))
		refused(t, fault.SyncManifestInvalid, err)
		if got, _ := m.Peek(leaseKey); string(got) != body {
			t.Fatal("it was overwritten")
		}
	}
}

func TestABucketThatIsDown(t *testing.T) {
	m := bucket.NewMemory()
	m.Before = func(bucket.Call) error { return bucket.ErrTransport }
	_, err := acquire(node(m, "alpha", 0))
	refused(t, fault.SyncUnreachable, err)
}

// A planted fence must not wrap around: nothing is written, and the lease object stays one that can be read.
func TestNoLeaseFollowsTheLargestFence(t *testing.T) {
	m := bucket.NewMemory()
	m.Set(pointerKey, []byte(`{"snapshot_id":null,"fence":9223372036854775807}`))
	_, err := lease.Acquire(ctx, node(m, "alpha", 0), table)
	refused(t, fault.SyncManifestInvalid, err)
	if _, there := m.Peek(leaseKey); there {
		t.Fatal("a lease was written")
	}
}
