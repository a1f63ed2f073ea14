// Package buckettest is the contract every bucket implementation passes: the same questions for memory, a directory and S3.
package buckettest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
	"testing"

	"contextful/ref/bucket"
)

// Factory makes an empty bucket for one test.
type Factory func(t *testing.T) bucket.Bucket

// Run asks every question of the contract.
func Run(t *testing.T, factory Factory) {
	for _, q := range []struct {
		name string
		ask  func(*testing.T, bucket.Bucket)
	}{
		{"an absent object is not found", notFound},
		{"what was put is what is got", roundTrip},
		{"an empty body is an object", emptyBody},
		{"a big body arrives whole", bigBody},
		{"odd keys stay themselves", oddKeys},
		{"create under a condition", ifAbsent},
		{"replace under a condition", ifMatch},
		{"an ETag is the same from every method", oneTag},
		{"deleting twice is no error", deleteTwice},
		{"a listing is whole and in byte order", listing},
		{"a listing stops where its visitor fails", listingStops},
		{"of racing creators one wins", racingCreators},
		{"of racing replacers one wins", racingReplacers},
		{"counting under conditions loses nothing", counting},
		{"an ended context ends a request", endedContext},
	} {
		t.Run(q.name, func(t *testing.T) { q.ask(t, factory(t)) })
	}
}

func put(t *testing.T, b bucket.Bucket, key, body string, cond bucket.Condition) bucket.Object {
	t.Helper()
	o, err := b.Put(context.Background(), key, bytes.NewReader([]byte(body)), int64(len(body)), cond)
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return o
}

func get(t *testing.T, b bucket.Bucket, key string) (string, bucket.Object) {
	t.Helper()
	r, o, err := b.Get(context.Background(), key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	return string(data), o
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", what, err, want)
	}
}

func notFound(t *testing.T, b bucket.Bucket) {
	_, _, err := b.Get(context.Background(), "a/b")
	wantErr(t, "get", err, bucket.ErrNotFound)
	_, err = b.Head(context.Background(), "a/b")
	wantErr(t, "head", err, bucket.ErrNotFound)
	put(t, b, "a/b/c", "x", bucket.Condition{})
	_, _, err = b.Get(context.Background(), "a/b")
	wantErr(t, "get what is a folder elsewhere", err, bucket.ErrNotFound)
	_, err = b.Head(context.Background(), "a/b")
	wantErr(t, "head what is a folder elsewhere", err, bucket.ErrNotFound)
}

func roundTrip(t *testing.T, b bucket.Bucket) {
	for _, body := range []string{"first", "second, longer", "third"} {
		o := put(t, b, "d/o", body, bucket.Condition{})
		if o.Size != int64(len(body)) || o.ETag == "" {
			t.Fatalf("put answered %+v", o)
		}
		got, at := get(t, b, "d/o")
		if got != body || at.Size != int64(len(body)) || at.Key != "d/o" {
			t.Fatalf("got %q as %+v, want %q", got, at, body)
		}
	}
}

func emptyBody(t *testing.T, b bucket.Bucket) {
	put(t, b, "empty", "", bucket.Condition{IfAbsent: true})
	got, o := get(t, b, "empty")
	if got != "" || o.Size != 0 {
		t.Fatalf("got %q, %+v", got, o)
	}
}

func bigBody(t *testing.T, b bucket.Bucket) {
	data := make([]byte, 9<<20+13)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	want := sha256.Sum256(data)
	put(t, b, "big", string(data), bucket.Condition{IfAbsent: true})
	got, o := get(t, b, "big")
	if sha256.Sum256([]byte(got)) != want || o.Size != int64(len(data)) {
		t.Fatalf("%d bytes came back otherwise", len(got))
	}
}

func oddKeys(t *testing.T, b bucket.Bucket) {
	keys := []string{"a b", "a+b", "a#b", "a%41b", "aAb", "a?b&c=d", "ä/é", "x=y/z", "(a)/'b'", "a.b/..c", ".tmp-a/.tmp-b", "~a", "a;b,c:d@e!"}
	for _, k := range keys {
		put(t, b, k, "of "+k, bucket.Condition{IfAbsent: true})
	}
	for _, k := range keys {
		if got, _ := get(t, b, k); got != "of "+k {
			t.Fatalf("key %q holds %q", k, got)
		}
	}
	sort.Strings(keys)
	if got := list(t, b, ""); fmt.Sprint(got) != fmt.Sprint(keys) {
		t.Fatalf("listed %q, want %q", got, keys)
	}
}

func list(t *testing.T, b bucket.Bucket, prefix string) []string {
	t.Helper()
	var keys []string
	err := b.List(context.Background(), prefix, func(o bucket.Object) error { keys = append(keys, o.Key); return nil })
	if err != nil {
		t.Fatalf("list %q: %v", prefix, err)
	}
	return keys
}

func ifAbsent(t *testing.T, b bucket.Bucket) {
	put(t, b, "c", "one", bucket.Condition{IfAbsent: true})
	_, err := b.Put(context.Background(), "c", bytes.NewReader([]byte("two")), 3, bucket.Condition{IfAbsent: true})
	wantErr(t, "second create", err, bucket.ErrCondition)
	if got, _ := get(t, b, "c"); got != "one" {
		t.Fatalf("a refused create left %q", got)
	}
}

func ifMatch(t *testing.T, b bucket.Bucket) {
	ctx := context.Background()
	one := put(t, b, "m", "one", bucket.Condition{})
	two := put(t, b, "m", "two", bucket.Condition{IfMatch: one.ETag})
	_, err := b.Put(ctx, "m", bytes.NewReader([]byte("xxx")), 3, bucket.Condition{IfMatch: one.ETag})
	wantErr(t, "stale replace", err, bucket.ErrCondition)
	if got, o := get(t, b, "m"); got != "two" || o.ETag != two.ETag {
		t.Fatalf("a refused replace left %q under %s", got, o.ETag)
	}
	_, err = b.Put(ctx, "absent", bytes.NewReader([]byte("x")), 1, bucket.Condition{IfMatch: two.ETag})
	wantErr(t, "replace of an absent object", err, bucket.ErrCondition)
	_, err = b.Head(ctx, "absent")
	wantErr(t, "head after it", err, bucket.ErrNotFound)
}

func oneTag(t *testing.T, b bucket.Bucket) {
	o := put(t, b, "t/a", "body", bucket.Condition{})
	_, g := get(t, b, "t/a")
	h, err := b.Head(context.Background(), "t/a")
	if err != nil {
		t.Fatal(err)
	}
	var l bucket.Object
	if err := b.List(context.Background(), "t/", func(o bucket.Object) error { l = o; return nil }); err != nil {
		t.Fatal(err)
	}
	if o.ETag != g.ETag || o.ETag != h.ETag || o.ETag != l.ETag || l.Size != 4 || h.Size != 4 {
		t.Fatalf("put %+v, get %+v, head %+v, list %+v", o, g, h, l)
	}
}

func deleteTwice(t *testing.T, b bucket.Bucket) {
	ctx := context.Background()
	put(t, b, "x/y", "1", bucket.Condition{})
	for range 2 {
		if err := b.Delete(ctx, "x/y"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.Head(ctx, "x/y")
	wantErr(t, "head after delete", err, bucket.ErrNotFound)
	put(t, b, "x/y", "2", bucket.Condition{IfAbsent: true})
}

func listing(t *testing.T, b bucket.Bucket) {
	if got := list(t, b, "none/"); len(got) != 0 {
		t.Fatalf("an empty bucket lists %q", got)
	}
	var want []string
	for i := range 1203 {
		want = append(want, fmt.Sprintf("l/%d/o-%d", i%3, i))
	}
	want = append(want, "l/0-", "l/00", "l/0.x/y", "l0") // never "l/0" beside "l/0/…": a directory cannot hold both
	var wg sync.WaitGroup
	todo := make(chan string)
	for range 8 {
		wg.Go(func() {
			for k := range todo {
				if _, err := b.Put(context.Background(), k, bytes.NewReader([]byte(k)), int64(len(k)), bucket.Condition{}); err != nil {
					t.Errorf("put %s: %v", k, err)
				}
			}
		})
	}
	for _, k := range want {
		todo <- k
	}
	close(todo)
	wg.Wait()
	sort.Strings(want)
	if got := list(t, b, "l"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("listed %d keys, want %d; first difference %s", len(got), len(want), difference(got, want))
	}
	var narrow []string
	for _, k := range want {
		if len(k) > 5 && k[:5] == "l/1/o" {
			narrow = append(narrow, k)
		}
	}
	if got := list(t, b, "l/1/o"); fmt.Sprint(got) != fmt.Sprint(narrow) {
		t.Fatalf("a prefix inside a segment lists %d keys, want %d", len(got), len(narrow))
	}
}

func difference(got, want []string) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return want[i]
		}
	}
	return "none of the wanted"
}

func listingStops(t *testing.T, b bucket.Bucket) {
	put(t, b, "1", "", bucket.Condition{})
	put(t, b, "2", "", bucket.Condition{})
	stop := errors.New("enough")
	n := 0
	err := b.List(context.Background(), "", func(bucket.Object) error { n++; return stop })
	wantErr(t, "list", err, stop)
	if n != 1 {
		t.Fatalf("visited %d", n)
	}
}

// race sends n puts at once and returns the bodies of the winners.
func race(t *testing.T, b bucket.Bucket, key string, n int, cond bucket.Condition) []string {
	t.Helper()
	var mu sync.Mutex
	var winners []string
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			body := fmt.Sprintf("racer %d", i)
			<-start
			_, err := b.Put(context.Background(), key, bytes.NewReader([]byte(body)), int64(len(body)), cond)
			switch {
			case err == nil:
				mu.Lock()
				winners = append(winners, body)
				mu.Unlock()
			case !errors.Is(err, bucket.ErrCondition):
				t.Errorf("a loser heard %v", err)
			}
		})
	}
	close(start)
	wg.Wait()
	return winners
}

func racingCreators(t *testing.T, b bucket.Bucket) {
	for round := range 5 {
		key := fmt.Sprintf("race/%d", round)
		won := race(t, b, key, 8, bucket.Condition{IfAbsent: true})
		got, _ := get(t, b, key)
		if len(won) != 1 || won[0] != got {
			t.Fatalf("winners %q, stored %q", won, got)
		}
	}
}

func racingReplacers(t *testing.T, b bucket.Bucket) {
	o := put(t, b, "r", "start", bucket.Condition{})
	for range 5 {
		won := race(t, b, "r", 8, bucket.Condition{IfMatch: o.ETag})
		got, next := get(t, b, "r")
		if len(won) != 1 || won[0] != got {
			t.Fatalf("winners %q, stored %q", won, got)
		}
		o = put(t, b, "r", "again "+got, bucket.Condition{IfMatch: next.ETag})
	}
}

func counting(t *testing.T, b bucket.Bucket) {
	const writers, each = 6, 5
	put(t, b, "n", "0", bucket.Condition{})
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < each; {
				r, o, err := b.Get(context.Background(), "n")
				if err != nil {
					t.Error(err)
					return
				}
				data, err := io.ReadAll(r)
				_ = r.Close()
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				_, _ = fmt.Sscan(string(data), &n)
				next := fmt.Sprint(n + 1)
				_, err = b.Put(context.Background(), "n", bytes.NewReader([]byte(next)), int64(len(next)), bucket.Condition{IfMatch: o.ETag})
				if err == nil {
					done++
				} else if !errors.Is(err, bucket.ErrCondition) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got, _ := get(t, b, "n"); got != fmt.Sprint(writers*each) {
		t.Fatalf("counted to %s, want %d", got, writers*each)
	}
}

func endedContext(t *testing.T, b bucket.Bucket) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Put(ctx, "k", bytes.NewReader([]byte("x")), 1, bucket.Condition{}); err == nil {
		t.Fatal("put succeeded")
	}
	if _, _, err := b.Get(ctx, "k"); err == nil {
		t.Fatal("get succeeded")
	}
}
