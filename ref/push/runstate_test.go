package push_test

import (
	"context"
	"io"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/catalog"
	"contextful/ref/push"
)

// meanwhile does something just before the first request that writes.
type meanwhile struct {
	bucket.Bucket
	work func()
}

func (m *meanwhile) Put(ctx context.Context, k string, body io.ReadSeeker, size int64, c bucket.Condition) (bucket.Object, error) {
	if m.work != nil {
		m.work()
		m.work = nil
	}
	return m.Bucket.Put(ctx, k, body, size, c)
}

// A pipeline commits while its node pushes: the run state that is listed is the one that was uploaded, and the next push brings the
// newer one in its place.
func TestRunStateReplacedMeanwhile(t *testing.T) {
	w := newWorld(t)
	a := w.alpha()
	a.land("events", "r1", "id")
	s := a.store()
	ran := func(run, status string) {
		must(t, s.Record(ctx, nil, catalog.Run{Pipeline: "feed", RunID: run, Table: "events", Status: status, StartedAt: time.Unix(2000, 0)}, nil))
	}
	ran("r1", "running")
	b := &meanwhile{a.b, func() { ran("r1", "completed-with-a-longer-word") }}
	_, err := push.Run(ctx, s, push.Options{Bucket: b, Pause: noPause})
	must(t, err)
	beta := w.node("beta")
	beta.mustPull()
	state, err := beta.store().RunState("alpha")
	must(t, err)
	if state == nil || len(beta.log) > 0 {
		t.Fatalf("%+v %q", state, beta.log)
	}
	_, err = push.Run(ctx, s, push.Options{Bucket: a.b, Pause: noPause})
	must(t, err)
	beta.mustPull()
	state, err = beta.store().RunState("alpha")
	must(t, err)
	if state.Runs["feed"].Status != "completed-with-a-longer-word" {
		t.Fatalf("%+v", state)
	}
}
