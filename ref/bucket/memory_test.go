package bucket_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"contextful/ref/bucket"
	"contextful/ref/bucket/buckettest"
)

func TestMemory(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket { return bucket.NewMemory() })
}

func TestUnder(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket {
		m := bucket.NewMemory()
		m.Set("team/ax", []byte("a neighbour"))
		m.Set("team", []byte("a neighbour"))
		return bucket.Under(m, "/team/a/")
	})
}

func TestSingleWriter(t *testing.T) {
	m := bucket.NewMemory()
	m.Before = func(c bucket.Call) error {
		if c.Op == "put" && c.Cond != (bucket.Condition{}) {
			return bucket.ErrUnsupported
		}
		return nil
	}
	b := bucket.SingleWriter(m)
	ctx := context.Background()
	put := func(body string, cond bucket.Condition) (bucket.Object, error) {
		return b.Put(ctx, "k", strings.NewReader(body), int64(len(body)), cond)
	}
	one, err := put("one", bucket.Condition{IfAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put("two", bucket.Condition{IfAbsent: true}); !errors.Is(err, bucket.ErrCondition) {
		t.Fatalf("a second create: %v", err)
	}
	if _, err := put("two", bucket.Condition{IfMatch: one.ETag}); err != nil {
		t.Fatal(err)
	}
	if _, err := put("three", bucket.Condition{IfMatch: one.ETag}); !errors.Is(err, bucket.ErrCondition) {
		t.Fatalf("a stale replace: %v", err)
	}
}
