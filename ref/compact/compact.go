// Package compact folds a table under its bucket lease and publishes the result to the bucket before it is visible here.
// Composite of pull, lease, fold and push.
//
// Answers: store.fold.compaction-lease, store.lease.stale-fence, store.lease.pointer-fence.
//
//	pull                the local pointer is brought up to the bucket's
//	acquire             (or the lease already held, by its fence) and pull again if a pass ended in between
//	fold                a sealed snapshot that carries the fence and that no pointer names
//	push                parts, snapshot manifest, bucket manifest, then the bucket's pointer on its ETag
//	local pointer       only now do readers here see the snapshot
//	release
//
// A holder that was paused and overtaken loses at the bucket's pointer, whose ETag the later holder changed when it raised the
// fence. Its snapshot is removed here; what it uploaded no pointer reaches.
package compact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/lease"
	"contextful/ref/manifest"
	"contextful/ref/merge"
	"contextful/ref/pull"
	"contextful/ref/push"
	"contextful/ref/store"
)

// Options: Bucket and Prove as a push takes them. Held uses the lease that this node holds already, named by Fence where that is
// given, and leaves it held. Fold carries engine and progress; its table and fence are set here.
type Options struct {
	Table     string
	Held      bool
	Fence     *int64
	Bucket    bucket.Bucket
	Prove     func(context.Context) error
	Retries   int
	Transfers int
	Pause     commit.Pause
	Fold      fold.Options
	// Uploads and Downloads are told of objects on their way, as push's and pull's Progress.
	Uploads, Downloads func(done, total int, bytes int64)
}

// Run compacts one table. The report is the fold's, with the lease's fence. Refusals: LeaseHeld, LeaseNotHeld, LeaseFenced
// (nothing is published, and the snapshot is gone from this disk), SyncPointerDiverged, and those of pull, fold and push.
func Run(ctx context.Context, s *store.Store, o Options) (fold.Report, error) {
	r, err := merge.NewRemote(s, o.Bucket, o.Pause)
	if err != nil {
		return fold.Report{}, err
	}
	t, err := s.Table(o.Table)
	if err != nil {
		return fold.Report{}, err
	}
	c := &compactor{s: s, t: t, o: o, r: r, digests: merge.NewDigests(), lease: lease.Options{
		Bucket: o.Bucket, Project: r.Project, Node: s.Node(), Clock: s.Clock(), Pause: r.Pause}}
	if o.Prove != nil {
		prove := sync.OnceValue(func() error { return o.Prove(ctx) }) // one probe serves every step
		c.prove = func(context.Context) error { return prove() }
		c.lease.Prove = c.prove
	}
	if err := c.pull(ctx); err != nil {
		return fold.Report{}, err
	}
	fence, release, err := c.hold(ctx)
	if err != nil {
		return fold.Report{}, err
	}
	defer release()
	stop := c.renew(ctx, fence)
	defer stop()
	if err := c.catchUp(ctx); err != nil {
		return fold.Report{}, err
	}
	return c.pass(ctx, fence)
}

type compactor struct {
	s       *store.Store
	t       *store.Table
	o       Options
	r       *merge.Remote
	digests *merge.Digests
	lease   lease.Options
	prove   func(context.Context) error
	base    string // ETag of the bucket's pointer as the pass begins, under our fence
}

func (c *compactor) pull(ctx context.Context) error {
	_, err := pull.Run(ctx, c.s, pull.Options{Bucket: c.o.Bucket, Transfers: c.o.Transfers, Pause: c.r.Pause, Digests: c.digests, Progress: c.o.Downloads})
	return err
}

// hold takes the lease, or confirms the one that is held. release gives back what was taken, also after the context ended.
func (c *compactor) hold(ctx context.Context) (fence int64, release func(), err error) {
	subject := lease.Compaction(c.o.Table)
	if c.o.Held {
		held, err := lease.Held(ctx, c.lease, subject, c.o.Fence)
		return held.Fence, func() {}, err
	}
	taken, err := lease.Acquire(ctx, c.lease, subject)
	if err != nil {
		return 0, nil, err
	}
	return taken.Fence, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		o := c.lease
		o.Prove = nil // proven when it was taken
		_, err := lease.Release(ctx, o, subject, &taken.Fence)
		// A successor has it: there is nothing to give back, and the refusal of the publication says so better.
		if err != nil && !errors.Is(err, fault.LeaseNotHeld) {
			c.s.Logf("warning: the lease of table %q could not be given back: %v", c.o.Table, err)
		}
	}, nil
}

// renew keeps the lease while the pass works. Losing it is no reason to stop: the storage refuses the publish if it must.
func (c *compactor) renew(ctx context.Context, fence int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(lease.RenewEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				o := c.lease
				o.Prove = nil
				if _, err := lease.Renew(ctx, o, lease.Compaction(c.o.Table), &fence); err != nil && ctx.Err() == nil {
					c.s.Logf("warning: the lease of table %q was not renewed: %v", c.o.Table, err)
				}
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// catchUp notes the pointer that the pass begins with, and pulls again where another pass published between our pull and our
// lease: under our fence none can any more.
func (c *compactor) catchUp(ctx context.Context) error {
	remote, err := c.r.Pointer(ctx, c.o.Table)
	if err != nil {
		return err
	}
	c.base = remote.ETag
	local, _, err := c.t.Pointer()
	if err != nil {
		return err
	}
	verdict, err := c.r.Compare(ctx, c.t, local, manifest.Pointer{SnapshotID: remote.SnapshotID})
	if err != nil || verdict == merge.Same || verdict == merge.Ahead {
		return err
	}
	return c.pull(ctx)
}

func (c *compactor) pass(ctx context.Context, fence int64) (fold.Report, error) {
	o := c.o.Fold
	o.Table, o.Fence, o.Publish = c.o.Table, &fence, nil
	staged, err := fold.Stage(ctx, c.s, o)
	if err != nil {
		return fold.Report{}, err
	}
	if staged.Nothing() {
		return staged.Report, nil
	}
	_, err = push.Run(ctx, c.s, push.Options{Bucket: c.o.Bucket, Prove: c.prove, Retries: c.o.Retries, Transfers: c.o.Transfers, Pause: c.r.Pause,
		Digests: c.digests, Progress: c.o.Uploads, Candidates: merge.Candidates{c.o.Table: staged.Next}, Base: map[string]string{c.o.Table: c.base}})
	if err != nil {
		if left := c.leave(staged, err); left != nil {
			err = errors.Join(err, left)
		}
		return fold.Report{}, err
	}
	if err := staged.PublishLocal(ctx); err != nil {
		// The bucket names it: it must not go.
		if kept := staged.Keep(c.base); kept != nil {
			err = errors.Join(err, kept)
		}
		if errors.Is(err, fault.StorePointerMoved) {
			return staged.Report, fault.New(fault.StorePointerMoved, c.o.Table, fmt.Sprintf(
				"snapshot %s of table %q is published in the bucket, and a local fold replaced the pointer here meanwhile", staged.Report.SnapshotID, c.o.Table)).Wrap(err)
		}
		return staged.Report, err
	}
	return staged.Report, nil
}

// leave removes a snapshot whose publication was refused. Where its outcome is unknown the bucket's pointer may still come to
// name it, and it stays; no pointer here does.
func (c *compactor) leave(staged *fold.Staged, err error) error {
	for _, refusal := range []fault.Code{fault.LeaseFenced, fault.StorePointerMoved, fault.SyncPointerDiverged, fault.SyncObjectConflict, fault.SyncManifestRebaseExhausted,
		fault.SyncCoordinationUnproven, fault.StoreIdentityConflict} {
		if errors.Is(err, refusal) {
			return staged.Discard()
		}
	}
	return staged.Keep(c.base)
}
