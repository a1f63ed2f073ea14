package probe_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/fault"
	"contextful/ref/probe"
)

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func run(m bucket.Bucket) (probe.Report, error) {
	return probe.Run(context.Background(), probe.Options{Bucket: m, Endpoint: "e", Region: "r", Addressing: "path", Pause: noPause})
}

// liar is a bucket that drops conditions.
type liar struct {
	*bucket.Memory
	drop func(*bucket.Condition)
}

func (l liar) Put(ctx context.Context, k string, body io.ReadSeeker, size int64, cond bucket.Condition) (bucket.Object, error) {
	l.drop(&cond)
	return l.Memory.Put(ctx, k, body, size, cond)
}

func TestVerdicts(t *testing.T) {
	count := 0
	for _, c := range []struct {
		name    string
		bucket  func() (*bucket.Memory, bucket.Bucket)
		verdict probe.Verdict
		code    fault.Code
		reason  string
	}{
		{"an honest bucket", func() (*bucket.Memory, bucket.Bucket) { m := bucket.NewMemory(); return m, m }, probe.CAS, "", ""},
		{"If-None-Match is ignored", func() (*bucket.Memory, bucket.Bucket) {
			m := bucket.NewMemory()
			return m, liar{m, func(c *bucket.Condition) { c.IfAbsent = false }}
		}, probe.None, "", "a second create succeeds"},
		{"If-Match is ignored", func() (*bucket.Memory, bucket.Bucket) {
			m := bucket.NewMemory()
			return m, liar{m, func(c *bucket.Condition) { c.IfMatch = "" }}
		}, probe.None, "", "stale ETag succeeds"},
		{"If-Match never matches", func() (*bucket.Memory, bucket.Bucket) {
			m := bucket.NewMemory()
			return m, liar{m, func(c *bucket.Condition) {
				if c.IfMatch != "" {
					c.IfMatch += "x"
				}
			}}
		}, probe.None, "", "current ETag is refused"},
		{"conditional puts are unknown", hooked(bucket.ErrUnsupported, "put"), probe.Inconclusive, fault.SyncProbeInconclusive, "not supported"},
		{"puts are forbidden", hooked(bucket.ErrForbidden, "put"), probe.Inconclusive, fault.SyncProbeInconclusive, "forbidden"},
		{"nobody answers", hooked(bucket.ErrTransport, "put"), probe.Inconclusive, fault.SyncProbeInconclusive, "unreachable"},
		{"an answer is lost", hooked(bucket.ErrUnknownOutcome, "put"), probe.Inconclusive, fault.SyncProbeInconclusive, "unknown"},
		{"reads are forbidden", hooked(bucket.ErrForbidden, "get"), probe.Inconclusive, fault.SyncProbeInconclusive, "forbidden"},
		{"throttled now and then", func() (*bucket.Memory, bucket.Bucket) {
			m := bucket.NewMemory()
			m.Before = func(c bucket.Call) error {
				if c.Op == "put" && strings.HasPrefix(string(c.Body), "third") && count < 2 {
					count++
					return bucket.ErrThrottled
				}
				return nil
			}
			return m, m
		}, probe.CAS, "", ""},
		{"a delete that comes too soon", func() (*bucket.Memory, bucket.Bucket) {
			m, early := bucket.NewMemory(), 0
			m.Before = func(c bucket.Call) error {
				if c.Op == "delete" && early < 2 {
					early++
					return bucket.ErrThrottled
				}
				return nil
			}
			return m, m
		}, probe.CAS, "", ""},
		{"the sentinel cannot be deleted", hooked(bucket.ErrForbidden, "delete"), probe.CAS, "", "could not be deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, b := c.bucket()
			report, err := run(b)
			if report.Verdict != c.verdict || fault.CodeOf(err) != c.code {
				t.Fatalf("verdict %s, %v", report.Verdict, err)
			}
			if !strings.Contains(strings.Join(report.Reasons, "; "), c.reason) || c.reason == "" && len(report.Reasons) > 0 {
				t.Errorf("reasons %q, want %q", report.Reasons, c.reason)
			}
			if left := m.Keys(); len(left) > 0 && !strings.Contains(c.name, "deleted") {
				t.Errorf("left %q", left)
			}
			err = probe.Require("b", report, err)
			if c.verdict == probe.CAS != (err == nil) || err != nil && !errors.Is(err, fault.SyncCoordinationUnproven) {
				t.Errorf("require: %v", err)
			}
		})
	}
}

func hooked(err error, op string) func() (*bucket.Memory, bucket.Bucket) {
	return func() (*bucket.Memory, bucket.Bucket) {
		m := bucket.NewMemory()
		m.Before = func(c bucket.Call) error {
			if c.Op == op {
				return err
			}
			return nil
		}
		return m, m
	}
}

func TestSentinelsLieUnderTheirPrefix(t *testing.T) {
	m := bucket.NewMemory()
	var seen sync.Map
	m.Before = func(c bucket.Call) error {
		if c.Op == "put" {
			seen.Store(c.Key, true)
		}
		return nil
	}
	if _, err := run(bucket.Under(m, "team")); err != nil {
		t.Fatal(err)
	}
	seen.Range(func(k, _ any) bool {
		if !strings.HasPrefix(k.(string), "team/_contextful/cas-probe/") {
			t.Errorf("wrote %s", k)
		}
		return true
	})
}

func TestCancelledProbeCleansUp(t *testing.T) {
	m := bucket.NewMemory()
	ctx, cancel := context.WithCancel(context.Background())
	m.After = func(c bucket.Call) error {
		if c.Op == "put" {
			cancel()
		}
		return nil
	}
	if _, err := probe.Run(ctx, probe.Options{Bucket: m, Pause: noPause}); !errors.Is(err, fault.SyncProbeInconclusive) {
		t.Fatalf("%v", err)
	}
	if left := m.Keys(); len(left) > 0 {
		t.Fatalf("left %q", left)
	}
}
