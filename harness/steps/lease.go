package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the lease operation: taking and giving back, and what the lease object and the pointer in the bucket then say.
// paused.go has the holder that is stopped and comes back.
func registerLease(s *Suite) {
	s.Step(`^(\w+) takes the lease of "([^"]*)"$`, takesLease)
	s.Step(`^(\w+) has taken the lease of "([^"]*)"$`, hasTakenLease)
	s.Step(`^(\w+) starts to take the lease of "([^"]*)"$`, startsToTakeLease)
	s.Step(`^(\w+) gives the lease of "([^"]*)" back(?:, naming the fence (\d+))?$`, givesLeaseBack)
	s.Step(`^(\w+) has given the lease of "([^"]*)" back$`, hasGivenLeaseBack)
	s.Step(`^the lease of "([^"]*)" (?:has expired|expires)$`, leaseExpires)
	s.Step(`^(?:\w+) has let the lease of "([^"]*)" expire$`, leaseExpires)
	s.Step(`^(\w+) folds "([^"]*)" under the lease(?: it holds(?: with fence (\d+))?)?$`, foldsUnderLease)
	s.Step(`^(\w+) has folded "([^"]*)" under the lease$`, hasFoldedUnderLease)
	s.Step(`^(\w+) has folded "([^"]*)" under the lease it holds with fence (\d+)$`, hasFoldedHeld)
	s.Step(`^(\w+) starts to fold "([^"]*)" under the lease$`, startsToFoldUnderLease)

	s.Step(`^the lease of "([^"]*)" names (\w+)(?:, with fence (\d+))?$`, leaseNames)
	s.Step(`^the lease of "([^"]*)" is as it was$`, leaseUnchanged)
	s.Step(`^(\w+) was told the fence (\d+)$`, toldFence)
	s.Step(`^the bucket's pointer of "([^"]*)" is (\w+)'s, with fence (\d+|null)$`, bucketPointerIs)
	s.Step(`^the bucket's pointer of "([^"]*)" names (no snapshot|what it named before), with fence (\d+|null)$`, bucketPointerNames)
	registerPaused(s)
}

func takesLease(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	rememberExpiry(ctx, table)
	_, err := w.Do(ctx, w.Node(node), sut.LeaseAcquire, leaseArgs(w, table))
	return err
}

// rememberExpiry keeps what a refusal has to name: the instant the lease runs to now.
func rememberExpiry(ctx context.Context, table string) {
	w := world.From(ctx)
	if l, err := w.BucketLease(ctx, table); err == nil && l.Holder != "" {
		w.Values["name:the expiry"] = l.ExpiresAt.Format(time.RFC3339Nano)
	}
}

// leaseArgs declares the table where no step has: a lease is of a table that the node knows.
func leaseArgs(w *world.World, table string) sut.Args {
	return sut.A("table", w.Table(table).Name)
}

func hasTakenLease(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	if err := w.Ok(ctx, w.Node(node), sut.LeaseAcquire, leaseArgs(w, table)); err != nil {
		return err
	}
	_, err := w.BucketLease(ctx, table)
	return err
}

func startsToTakeLease(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Start(ctx, w.Node(node), sut.LeaseAcquire, leaseArgs(w, table))
	return err
}

func givesLeaseBack(ctx context.Context, node, table, fence string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.LeaseRelease, sut.A("table", table, "fence", fence))
	return err
}

func hasGivenLeaseBack(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	return w.Ok(ctx, w.Node(node), sut.LeaseRelease, sut.A("table", table))
}

// leaseExpires moves the clock an hour past what the lease object says, far beyond any allowance for clocks that differ.
func leaseExpires(ctx context.Context, table string) error {
	w := world.From(ctx)
	l, err := w.BucketLease(ctx, table)
	if err != nil {
		return err
	}
	if l.Holder == "" {
		return fmt.Errorf("the lease of %s is held by nobody: it cannot expire", table)
	}
	return w.Advance(l.ExpiresAt.Sub(w.Now()) + time.Hour)
}

func foldsUnderLease(ctx context.Context, node, table, fence string) error {
	w := world.From(ctx)
	rememberExpiry(ctx, table)
	_, err := w.Do(ctx, w.Node(node), sut.SyncCompact, foldArgs(table, fence))
	return err
}

func foldArgs(table, fence string) sut.Args {
	if fence == "" {
		return sut.A("table", table)
	}
	return sut.A("table", table, "held", "true", "fence", fence)
}

func hasFoldedUnderLease(ctx context.Context, node, table string) error {
	return hasFoldedHeld(ctx, node, table, "")
}

func hasFoldedHeld(ctx context.Context, node, table, fence string) error {
	w := world.From(ctx)
	return w.Ok(ctx, w.Node(node), sut.SyncCompact, foldArgs(table, fence))
}

func startsToFoldUnderLease(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Start(ctx, w.Node(node), sut.SyncCompact, foldArgs(table, ""))
	return err
}

func leaseNames(ctx context.Context, table, holder, fence string) error {
	w := world.From(ctx)
	what := "the lease of " + table
	l, err := w.BucketLease(ctx, table)
	if err != nil {
		return bucketMissing(err, what, "one that names "+holder)
	}
	got := l.Holder
	if got == "" {
		got = "nobody"
	} else if holder != "nobody" {
		holder = w.Node(holder).ID
	}
	if err := verify.Equal(what+" names", holder, got); err != nil || fence == "" {
		return err
	}
	return verify.Equal("the fence of "+what, fence, strconv.FormatInt(l.Fence, 10))
}

// leaseUnchanged compares the object with what it was when the latest verb was asked.
func leaseUnchanged(ctx context.Context, table string) error {
	w := world.From(ctx)
	now, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	key := w.StoreKey("leases/compact/" + table + ".json")
	return verify.Equal("the bytes of the lease of "+table, w.BucketBefore()[key], now[key])
}

func toldFence(ctx context.Context, node, fence string) error {
	c, err := lastOf(ctx, node, sut.LeaseAcquire, 0)
	if err != nil {
		return err
	}
	var report struct{ Fence json.Number }
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil {
		return verify.Fail(node+" is told its fence", `JSON with "fence"`, c.Stdout)
	}
	return verify.Equal("the fence that "+node+" was told", fence, report.Fence.String())
}

func fenceText(f *int64) string {
	if f == nil {
		return "null"
	}
	return strconv.FormatInt(*f, 10)
}

// bucketPointer reads the pointer; one that is not there is a finding.
func bucketPointer(ctx context.Context, table string) (inspect.PointerDoc, error) {
	p, err := world.From(ctx).BucketPointer(ctx, table)
	if errors.Is(err, fs.ErrNotExist) {
		return p, verify.Fail("the bucket has a pointer of "+table, "a _pointer.json", "there is none")
	}
	return p, err
}

// bucketPointerIs wants the snapshot that the node's own pointer names, under that fence.
func bucketPointerIs(ctx context.Context, table, node, fence string) error {
	w := world.From(ctx)
	own, err := inspect.Pointer(w.Node(node).Root(), table)
	if errors.Is(err, fs.ErrNotExist) {
		return verify.Fail(node+" has a pointer of "+table, "a _pointer.json that names its snapshot", "there is none")
	}
	if err != nil {
		return err
	}
	p, err := bucketPointer(ctx, table)
	if err != nil {
		return err
	}
	if err := verify.Equal("the snapshot that the bucket's pointer of "+table+" names", own.SnapshotID, p.SnapshotID); err != nil {
		return err
	}
	return verify.Equal("the fence of the bucket's pointer of "+table, fence, fenceText(p.Fence))
}

func bucketPointerNames(ctx context.Context, table, what, fence string) error {
	p, err := bucketPointer(ctx, table)
	if err != nil {
		return err
	}
	want := ""
	if what == "what it named before" {
		before, ok := world.From(ctx).Values["lease.pointer."+table].(string)
		if !ok {
			return fmt.Errorf("no step has kept what the pointer of %s named", table)
		}
		want = before
	}
	if err := verify.Equal("the snapshot that the bucket's pointer of "+table+" names", want, p.SnapshotID); err != nil {
		return err
	}
	return verify.Equal("the fence of the bucket's pointer of "+table, fence, fenceText(p.Fence))
}
