package push_test

import (
	"context"
	"io"
	"testing"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/catalog"
	"contextful/ref/nodetest"
	"contextful/ref/push"

	"github.com/stretchr/testify/require"
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
	w := nodetest.New(t)
	a := w.Alpha()
	a.Land("events", "r1", "id")
	s := a.Store()
	ran := func(run, status string) {
		require.NoError(t, s.Record(ctx, nil, catalog.Run{Pipeline: "feed", RunID: run, Table: "events", Status: status, StartedAt: time.Unix(2000, 0)}, nil))
	}
	ran("r1", "running")
	b := &meanwhile{a.Bucket, func() { ran("r1", "completed-with-a-longer-word") }}
	_, err := push.Run(ctx, s, push.Options{Bucket: b, Pause: nodetest.NoPause})
	require.NoError(t, err)
	beta := w.Node("beta")
	beta.MustPull()
	state, err := beta.Store().RunState("alpha")
	require.NoError(t, err)
	if state == nil || len(beta.Log()) > 0 {
		t.Fatalf("%+v %q", state, beta.Log())
	}
	_, err = push.Run(ctx, s, push.Options{Bucket: a.Bucket, Pause: nodetest.NoPause})
	require.NoError(t, err)
	beta.MustPull()
	state, err = beta.Store().RunState("alpha")
	require.NoError(t, err)
	if state.Runs["feed"].Status != "completed-with-a-longer-word" {
		t.Fatalf("%+v", state)
	}
}
