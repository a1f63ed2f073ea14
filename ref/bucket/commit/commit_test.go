package commit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
)

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func lost() error { return fmt.Errorf("reset: %w", bucket.ErrUnknownOutcome) }

// once makes a put hook that acts on the first put only.
func once(act func(bucket.Call) error) func(bucket.Call) error {
	done := false
	return func(c bucket.Call) error {
		if c.Op != "put" || done {
			return nil
		}
		done = true
		return act(c)
	}
}

func puts(m *bucket.Memory) *int {
	n := 0
	inner := m.Before
	m.Before = func(c bucket.Call) error {
		if c.Op == "put" {
			n++
		}
		if inner != nil {
			return inner(c)
		}
		return nil
	}
	return &n
}

func TestPut(t *testing.T) {
	var late *bucket.Call
	for _, c := range []struct {
		name    string
		before  func(m *bucket.Memory) func(bucket.Call) error
		after   func(m *bucket.Memory) func(bucket.Call) error
		replace bool
		outcome commit.Outcome
		puts    int
		holds   string
	}{
		{name: "a plain create", outcome: commit.Applied, puts: 1, holds: "ours"},
		{name: "a plain replace", replace: true, outcome: commit.Applied, puts: 1, holds: "ours"},
		{name: "the answer is lost after the write", after: func(*bucket.Memory) func(bucket.Call) error {
			return once(func(bucket.Call) error { return lost() })
		}, replace: true, outcome: commit.Applied, puts: 1, holds: "ours"},
		{name: "412 after one's own write", after: func(*bucket.Memory) func(bucket.Call) error {
			return once(func(bucket.Call) error { return bucket.ErrCondition })
		}, replace: true, outcome: commit.Applied, puts: 1, holds: "ours"},
		{name: "dropped before the write", before: func(*bucket.Memory) func(bucket.Call) error {
			return once(func(bucket.Call) error { return lost() })
		}, replace: true, outcome: commit.Applied, puts: 2, holds: "ours"},
		{name: "a conflict once", before: func(*bucket.Memory) func(bucket.Call) error {
			return once(func(bucket.Call) error { return bucket.ErrCondition })
		}, outcome: commit.Applied, puts: 2, holds: "ours"},
		{name: "a rival first", before: func(m *bucket.Memory) func(bucket.Call) error {
			return once(func(c bucket.Call) error { m.Set(c.Key, []byte("rival")); return nil })
		}, replace: true, outcome: commit.Moved, puts: 1, holds: "rival"},
		{name: "a rival creates first", before: func(m *bucket.Memory) func(bucket.Call) error {
			return once(func(c bucket.Call) error { m.Set(c.Key, []byte("rival")); return nil })
		}, outcome: commit.Moved, puts: 1, holds: "rival"},
		{name: "the object is gone", before: func(m *bucket.Memory) func(bucket.Call) error {
			return once(func(c bucket.Call) error {
				m.Before = nil
				return m.Delete(context.Background(), c.Key)
			})
		}, replace: true, outcome: commit.Moved, puts: 1},
		{name: "applied late, before it is sent again", before: func(m *bucket.Memory) func(bucket.Call) error {
			return func(c bucket.Call) error {
				switch {
				case c.Op == "put" && late == nil:
					late = &c
					return lost()
				case c.Op == "put":
					m.Set(late.Key, late.Body)
				}
				return nil
			}
		}, replace: true, outcome: commit.Applied, puts: 2, holds: "ours"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := bucket.NewMemory()
			late = nil
			cond := bucket.Condition{IfAbsent: true}
			if c.replace {
				o, err := m.Put(context.Background(), "k", strings.NewReader("old"), 3, bucket.Condition{})
				if err != nil {
					t.Fatal(err)
				}
				cond = bucket.Condition{IfMatch: o.ETag}
			}
			if c.before != nil {
				m.Before = c.before(m)
			}
			if c.after != nil {
				m.After = c.after(m)
			}
			n := puts(m)
			r, err := commit.Put(context.Background(), m, noPause, "k", commit.Bytes([]byte("ours")), cond)
			if err != nil || r.Outcome != c.outcome {
				t.Fatalf("outcome %v, %v", r.Outcome, err)
			}
			if c.name != "the object is gone" && *n != c.puts {
				t.Errorf("%d puts, want %d", *n, c.puts)
			}
			if got, _ := m.Peek("k"); string(got) != c.holds {
				t.Errorf("holds %q, want %q", got, c.holds)
			}
			if o, _ := m.Head(context.Background(), "k"); r.Outcome == commit.Applied && o.ETag != r.ETag {
				t.Errorf("ETag %s, want %s", r.ETag, o.ETag)
			}
		})
	}
}

func TestPutGivesUp(t *testing.T) {
	m := bucket.NewMemory()
	m.Before = func(c bucket.Call) error {
		if c.Op == "put" {
			return bucket.ErrCondition
		}
		return nil
	}
	n := puts(m)
	_, err := commit.Put(context.Background(), m, noPause, "k", commit.Bytes([]byte("x")), bucket.Condition{IfAbsent: true})
	if !errors.Is(err, bucket.ErrUnknownOutcome) || *n != commit.PutAttempts {
		t.Fatalf("%v after %d puts", err, *n)
	}
}

func TestPutStopsAtRefusals(t *testing.T) {
	for _, refusal := range []error{bucket.ErrUnsupported, bucket.ErrForbidden} {
		m := bucket.NewMemory()
		m.Before = func(bucket.Call) error { return refusal }
		_, err := commit.Put(context.Background(), m, noPause, "k", commit.Bytes(nil), bucket.Condition{IfAbsent: true})
		if !errors.Is(err, refusal) || errors.Is(err, bucket.ErrUnknownOutcome) {
			t.Fatalf("%v", err)
		}
	}
}

func TestUnreadableOutcomeIsUnknown(t *testing.T) {
	m := bucket.NewMemory()
	m.Before = func(c bucket.Call) error {
		if c.Op == "get" {
			return bucket.ErrTransport
		}
		return nil
	}
	m.After = func(bucket.Call) error { return lost() }
	_, err := commit.Put(context.Background(), m, noPause, "k", commit.Bytes([]byte("x")), bucket.Condition{IfAbsent: true})
	if !errors.Is(err, bucket.ErrUnknownOutcome) {
		t.Fatalf("%v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	m := bucket.NewMemory()
	m.Set("k", []byte("12345"))
	if _, _, err := commit.Read(context.Background(), m, noPause, "k", 4); !errors.Is(err, commit.ErrTooBig) {
		t.Fatalf("%v", err)
	}
	if data, _, err := commit.Read(context.Background(), m, noPause, "k", 5); err != nil || string(data) != "12345" {
		t.Fatalf("%q %v", data, err)
	}
}
