// Package lease takes, keeps and gives back leases that live in the bucket, and raises the fence of a table's bucket pointer.
//
// Answers: store.lease.acquire, store.lease.held, store.lease.not-held, store.lease.pointer-fence, store.lease.stale-fence,
// store.fold.compaction-lease.
//
//	<project>/leases/<pipeline-id>.json
//	<project>/leases/compact/<table>.json    {holder|null, acquired_at, expires_at, fence, writer, nonce}
//
// A lease decides who works; it protects nothing. What protects is the fence: each acquisition carries one more than the last,
// and taking a compaction lease writes it into the table's bucket pointer, so that the storage itself refuses a publish by an
// earlier holder, however late that one wakes up.
package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
)

const (
	// Duration is how long a lease is granted or renewed for.
	Duration = 10 * time.Minute
	// RenewEvery is how often a holder at work renews.
	RenewEvery = 200 * time.Second
	// Skew is how much later than its expiry another node may take a lease: clocks differ.
	Skew = 30 * time.Second

	rounds = 16 // how often an object may move under one operation before it gives up
)

// Options are what every operation needs. Bucket is below its prefix. Prove runs before anything is written and refuses where
// the bucket has not shown conditional writes (store.probe.unproven); nil under coordination "single-writer". Pause nil is
// commit.Sleep.
type Options struct {
	Bucket  bucket.Bucket
	Project string
	Node    string
	Clock   clock.Clock
	Prove   func(context.Context) error
	Pause   commit.Pause
}

// Subject is what a lease is about.
type Subject struct {
	what    string // for messages
	lease   func(project string) string
	pointer func(project string) string // nil where there is none
}

// Compaction is a table's compaction lease.
func Compaction(table string) Subject {
	return Subject{
		what:    "compaction of table " + table,
		lease:   func(project string) string { return key.CompactLease(project, table) },
		pointer: func(project string) string { return key.InProject(project, key.Pointer(table)) },
	}
}

// Pipeline is a pipeline's lease.
func Pipeline(id string) Subject {
	return Subject{what: "pipeline " + id, lease: func(project string) string { return key.PipelineLease(project, id) }}
}

// Report is what `sync lease` prints.
type Report struct {
	Holder    *string          `json:"holder"`
	Fence     int64            `json:"fence"`
	ExpiresAt manifest.Instant `json:"expires_at"`
}

func report(d *Document) Report {
	return Report{Holder: d.Holder, Fence: d.Fence, ExpiresAt: d.ExpiresAt}
}

type client struct {
	Options
	subject Subject
	key     string
}

func open(ctx context.Context, o Options, s Subject, writes bool) (*client, error) {
	if o.Pause == nil {
		o.Pause = commit.Sleep
	}
	c := &client{Options: o, subject: s, key: s.lease(o.Project)}
	if err := key.Check(c.key); err != nil {
		return nil, err
	}
	if !writes {
		return c, nil
	}
	if o.Node == decl.LocalNode {
		return nil, fault.New(fault.SyncNotConfigured, o.Node, `node "local" takes no bucket lease: two machines could both be called so`).
			WithHint("give this machine a name: [node] id in config.toml, or CONTEXTFUL_NODE_ID")
	}
	if o.Prove != nil {
		return c, o.Prove(ctx)
	}
	return c, nil
}

// read gets the lease object; nil where there is none.
func (c *client) read(ctx context.Context) (*Document, string, error) {
	data, o, err := commit.Read(ctx, c.Bucket, c.Pause, c.key, maxDocument)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", commit.Failure(c.Bucket.Name(), c.key, err)
	}
	d, err := decode(c.key, data)
	return d, o.ETag, err
}

// write replaces what was read; moved is true where another came first.
func (c *client) write(ctx context.Context, d *Document, etag string) (moved bool, err error) {
	d.Writer, d.Nonce = c.Node, commit.Nonce()
	data, err := encode(d)
	if err != nil {
		return false, err
	}
	cond := bucket.Condition{IfMatch: etag}
	if etag == "" {
		cond = bucket.Condition{IfAbsent: true}
	}
	r, err := commit.Put(ctx, c.Bucket, c.Pause, c.key, commit.Bytes(data), cond)
	if err != nil {
		return false, commit.Failure(c.Bucket.Name(), c.key, err)
	}
	return r.Outcome == commit.Moved, nil
}

func (c *client) restless() error {
	return fault.New(fault.SyncUnreachable, c.key, fmt.Sprintf("the lease %s was replaced by others %d times in a row", c.key, rounds)).
		WithHint("try again")
}

// Current reads the lease, changing nothing. A lease that was never taken has a nil Holder and fence 0.
func Current(ctx context.Context, o Options, s Subject) (Report, error) {
	c, err := open(ctx, o, s, false)
	if err != nil {
		return Report{}, err
	}
	d, _, err := c.read(ctx)
	if err != nil || d == nil {
		return Report{}, err
	}
	return report(d), nil
}

// Acquire takes a free, released or expired lease for Duration, with a fence one above the object's. A compaction lease also
// raises the fence of the table's bucket pointer before it returns. Refusals: LeaseHeld naming holder and expiry (the holder may
// be this very node: which of its passes holds it, only the fence tells), LeaseFenced where a later acquisition overtook this
// one before the pointer was raised.
func Acquire(ctx context.Context, o Options, s Subject) (Report, error) {
	c, err := open(ctx, o, s, true)
	if err != nil {
		return Report{}, err
	}
	d, err := c.take(ctx)
	if err != nil {
		return Report{}, err
	}
	if s.pointer != nil {
		if err := c.raise(ctx, d.Fence); err != nil {
			if !errors.Is(err, fault.LeaseFenced) {
				// The lease is ours and of no use: give it back rather than keep everybody waiting for its expiry.
				_, _ = c.release(context.WithoutCancel(ctx), &d.Fence)
			}
			return Report{}, err
		}
	}
	return report(d), nil
}

func (c *client) take(ctx context.Context) (*Document, error) {
	for range rounds {
		d, etag, err := c.read(ctx)
		if err != nil {
			return nil, err
		}
		now := c.Clock.Now()
		fence := int64(0)
		switch {
		case d == nil && c.subject.pointer != nil:
			// A lost lease object must not bring old fences back: the pointer remembers the highest that mattered.
			if fence, err = c.pointerFence(ctx); err != nil {
				return nil, err
			}
		case d == nil:
		case d.Holder != nil && now.Before(d.ExpiresAt.Add(Skew)):
			hint := "wait for its release or its expiry"
			if *d.Holder == c.Node {
				hint = fmt.Sprintf("it is this node's own: --held --fence %d goes on with it, lease release gives it back", d.Fence)
			}
			return nil, fault.New(fault.LeaseHeld, c.key, fmt.Sprintf("the lease of %s is held by node %s until %s (fence %d)",
				c.subject.what, *d.Holder, d.ExpiresAt, d.Fence)).WithHint(hint)
		default:
			fence = d.Fence
		}
		if fence == math.MaxInt64 {
			return nil, fault.New(fault.SyncManifestInvalid, c.key, fmt.Sprintf("%s of the bucket %s carries the largest fence there is: none can follow it", c.subject.what, c.Bucket.Name())).
				WithHint("no lease grew to it: somebody wrote it into " + c.key + " or the table's pointer")
		}
		next := &Document{Holder: &c.Node, AcquiredAt: manifest.At(now), ExpiresAt: manifest.At(now.Add(Duration)), Fence: fence + 1}
		moved, err := c.write(ctx, next, etag)
		if err != nil {
			return nil, err
		}
		if !moved {
			return next, nil
		}
	}
	return nil, c.restless()
}

// Renew extends a lease this node holds to Duration from now. A fence names the holding; LeaseNotHeld where it is not this
// node's, or not that one.
func Renew(ctx context.Context, o Options, s Subject, fence *int64) (Report, error) {
	c, err := open(ctx, o, s, true)
	if err != nil {
		return Report{}, err
	}
	return c.change(ctx, fence, func(d *Document) { d.ExpiresAt = manifest.At(c.Clock.Now().Add(Duration)) })
}

// Release clears the holder and keeps the fence. LeaseNotHeld, with the object untouched, where the lease is free, another
// node's, or was taken anew by this node under another fence than the one given.
func Release(ctx context.Context, o Options, s Subject, fence *int64) (Report, error) {
	c, err := open(ctx, o, s, true)
	if err != nil {
		return Report{}, err
	}
	return c.release(ctx, fence)
}

func (c *client) release(ctx context.Context, fence *int64) (Report, error) {
	return c.change(ctx, fence, func(d *Document) { d.Holder = nil })
}

func (c *client) change(ctx context.Context, fence *int64, edit func(*Document)) (Report, error) {
	for range rounds {
		d, etag, err := c.read(ctx)
		if err != nil {
			return Report{}, err
		}
		if err := c.mine(d, fence); err != nil {
			return Report{}, err
		}
		edit(d)
		moved, err := c.write(ctx, d, etag)
		if err != nil {
			return Report{}, err
		}
		if !moved {
			return report(d), nil
		}
	}
	return Report{}, c.restless()
}

// mine refuses with LeaseNotHeld unless this node holds d, under the fence given if any.
func (c *client) mine(d *Document, fence *int64) error {
	why := ""
	switch {
	case d == nil:
		why = "nobody ever took it"
	case d.Holder == nil:
		why = "it is free"
	case *d.Holder != c.Node:
		why = fmt.Sprintf("node %s holds it until %s", *d.Holder, d.ExpiresAt)
	case fence != nil && d.Fence != *fence:
		why = fmt.Sprintf("this node holds it under fence %d, not %d", d.Fence, *fence)
	default:
		return nil
	}
	return fault.New(fault.LeaseNotHeld, c.key, fmt.Sprintf("node %s does not hold the lease of %s: %s", c.Node, c.subject.what, why))
}

// Held confirms that this node holds the lease (under fence, where one is given) and gives it, writing nothing. A fence below
// the object's is LeaseFenced: a later holder came. Otherwise LeaseNotHeld. An expiry that passed with nobody after it does not
// matter here: what the holder then writes carries the fence, and the storage judges that.
func Held(ctx context.Context, o Options, s Subject, fence *int64) (Report, error) {
	c, err := open(ctx, o, s, false)
	if err != nil {
		return Report{}, err
	}
	d, _, err := c.read(ctx)
	if err != nil {
		return Report{}, err
	}
	if d != nil && fence != nil && *fence < d.Fence {
		return Report{}, Fenced(c.key, s.what, *fence, d.Fence)
	}
	if err := c.mine(d, fence); err != nil {
		return Report{}, err
	}
	return report(d), nil
}

// Fenced is the refusal of a writer whose fence is below the one that stands (store.lease.stale-fence).
func Fenced(subject, what string, own, standing int64) error {
	return fault.New(fault.LeaseFenced, subject, fmt.Sprintf("%s under fence %d comes after a holder with fence %d: nothing of it is published", what, own, standing))
}
