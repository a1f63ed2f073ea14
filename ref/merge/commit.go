package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
)

const (
	// DefaultRetries is push_retries where nothing is configured.
	DefaultRetries = 5
	// RoundCeiling ends a commit after so many manifest PUTs, whatever generations they meet (store.merge.round-ceiling).
	RoundCeiling = 64
)

// Committed is what a commit came to.
type Committed struct {
	State    *State // the manifest that stands: ours, or the one that already held everything
	Attempts int    // manifest PUTs sent
	Changed  bool   // a new generation is ours
	// CopyErr says why the generation that stands has no copy yet; the next push writes it, at the latest before it replaces the
	// manifest.
	CopyErr error
}

// Commit replaces manifest.json under If-Match on the ETag it was merged from. plan makes the next manifest from the one that
// was read (its generation, nonce and copies are Commit's business), after bringing to the bucket whatever it lists; nil means
// that there is nothing to commit. A rival's newer generation is merged again; a PUT that did not take is sent again unchanged,
// under the same condition.
//
// Of PUTs in a row after which no newer generation is read there are at most retries, of all PUTs at most RoundCeiling; then
// SyncManifestRebaseExhausted. retries <= 0 means DefaultRetries.
func (r *Remote) Commit(ctx context.Context, first *State, retries int, plan func(context.Context, *State) (*manifest.Bucket, error)) (Committed, error) {
	if retries <= 0 {
		retries = DefaultRetries
	}
	c := committer{r: r, retries: retries}
	for state := first; ; {
		next, err := plan(ctx, state)
		if err != nil {
			return Committed{State: state, Attempts: c.attempts}, err
		}
		if next == nil {
			done := Committed{State: state, Attempts: c.attempts}
			if state.ETag != "" { // whoever committed it may have died before its copy
				done.CopyErr = r.KeepGeneration(ctx, state.Manifest.Generation, state.Body)
			}
			return done, nil
		}
		if state.ETag != "" {
			if err := r.KeepGeneration(ctx, state.Manifest.Generation, state.Body); err != nil {
				return Committed{State: state, Attempts: c.attempts}, err
			}
		}
		next.Generation, next.Nonce = state.Manifest.Generation+1, commit.Nonce()
		body, err := manifest.EncodeBucket(next)
		if err != nil {
			return Committed{State: state, Attempts: c.attempts}, err
		}
		fresh, ours, err := c.put(ctx, state, body)
		if err != nil {
			return Committed{State: state, Attempts: c.attempts}, err
		}
		if ours {
			fresh.Manifest = next
			done := Committed{State: fresh, Attempts: c.attempts, Changed: true}
			done.CopyErr = r.KeepGeneration(ctx, next.Generation, body)
			return done, nil
		}
		state = fresh
	}
}

// committer counts the rounds of one commit.
type committer struct {
	r        *Remote
	retries  int
	attempts int // PUTs in all
	lost     int // PUTs in a row after which no newer generation was read
}

// put sends body until it stands (ours) or another manifest does, which it returns.
func (c *committer) put(ctx context.Context, from *State, body []byte) (stands *State, ours bool, err error) {
	cond := bucket.Condition{IfMatch: from.ETag}
	if from.ETag == "" {
		cond = bucket.Condition{IfAbsent: true}
	}
	for {
		c.attempts++
		result, err := commit.Attempt(ctx, c.r.Bucket, c.r.Pause, key.BucketManifest, commit.Bytes(body), cond)
		if err != nil {
			return nil, false, c.r.failed(key.BucketManifest, err)
		}
		if result.Outcome == commit.Applied {
			return &State{ETag: result.ETag, Body: body}, true, nil
		}
		fresh, err := c.r.Manifest(ctx)
		if err != nil {
			return nil, false, err
		}
		if bytes.Equal(fresh.Body, body) { // it came late, between the two looks
			return fresh, true, nil
		}
		if fresh.Manifest.Generation > from.Manifest.Generation {
			c.lost = 0
		} else {
			c.lost++
		}
		if err := c.exhausted(fresh, result.Answer); err != nil {
			return nil, false, err
		}
		if err := c.r.Pause(ctx, commit.Backoff(c.lost+1)); err != nil {
			return nil, false, err
		}
		if fresh.ETag != from.ETag {
			return fresh, false, nil
		}
	}
}

func (c *committer) exhausted(fresh *State, answer error) error {
	why := ""
	switch {
	case c.lost >= c.retries:
		why = fmt.Sprintf("%d attempts in a row met no newer generation than %d", c.lost, fresh.Manifest.Generation)
	case c.attempts >= RoundCeiling:
		why = fmt.Sprintf("%d attempts met other writers, the last of them generation %d", c.attempts, fresh.Manifest.Generation)
	default:
		return nil
	}
	e := fault.New(fault.SyncManifestRebaseExhausted, key.BucketManifest, "the bucket manifest could not be committed: "+why).
		WithHint("run the push again: what was uploaded is not uploaded twice")
	if answer != nil && !errors.Is(answer, bucket.ErrCondition) {
		return e.Wrap(answer)
	}
	return e
}
