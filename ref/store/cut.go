package store

import (
	"context"
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// cut is where a bound cuts a chain: the snapshot it selects, and the younger ones, whose runs are read from the runs
// themselves (store.bound-time.as-of).
type cut struct {
	b Bounds
	f *Folded
	n int // of the chain, how many are younger than the bound
	// younger maps the runs that those fold to whether the run is here.
	younger map[string]bool
}

// find follows the chain to the snapshot that is named, or to the first created at or before the bound.
func (c *cut) find(ctx context.Context) error {
	if c.b.Snapshot != "" {
		return c.pinned(ctx)
	}
	if c.b.AsOf == nil {
		return nil
	}
	if err := c.to(ctx, func(m *manifest.Snapshot) bool { return !m.CreatedAt.After(c.b.AsOf.Time) }); err != nil {
		return err
	}
	c.younger = map[string]bool{}
	for _, m := range c.f.Chain[:c.n] {
		for _, k := range m.IncludesRuns {
			c.younger[k] = false
		}
	}
	return nil
}

// to cuts before the first snapshot that is meant, following the chain as far as it needs.
func (c *cut) to(ctx context.Context, meant func(*manifest.Snapshot) bool) error {
	for c.n < len(c.f.Chain) && !meant(c.f.Chain[c.n]) {
		c.n++
	}
	if c.n < len(c.f.Chain) {
		return nil
	}
	if err := c.f.extend(ctx, meant); err != nil {
		return err
	}
	if c.n = len(c.f.Chain); c.n > 0 && meant(c.f.Chain[c.n-1]) {
		c.n--
	}
	return nil
}

// pinned cuts before the snapshot that is named. What was captured or folded since stands before it.
func (c *cut) pinned(ctx context.Context) error {
	id, t := c.b.Snapshot, c.f.t
	if err := c.to(ctx, func(m *manifest.Snapshot) bool { return m.SnapshotID == id }); err != nil {
		return err
	}
	unknown := func(why string) error {
		return fault.New(fault.StoreSnapshotUnknown, id, fmt.Sprintf("table %q has no snapshot %q that its pointer reaches%s", t.name, id, why)).
			WithHint("contextful context snapshots " + t.name + " lists them")
	}
	base := c.base()
	if base == nil {
		return unknown("")
	}
	collected, err := t.collected(base)
	if err == nil && collected {
		return unknown(" with its parts: it was collected")
	}
	return err
}

// base is the snapshot the bound selects, nil where it is older than all of them.
func (c *cut) base() *manifest.Snapshot {
	if c.n == len(c.f.Chain) {
		return nil
	}
	return c.f.Chain[c.n]
}

// folds tells whether the selected snapshot or an ancestor of it folds a run.
func (c *cut) folds(runKey string) bool {
	if _, ok := c.younger[runKey]; ok {
		return false
	}
	_, ok := c.f.In(runKey)
	return ok
}

// here notes that a run's manifest was read.
func (c *cut) here(runKey string) {
	if _, ok := c.younger[runKey]; ok {
		c.younger[runKey] = true
	}
}

// retained refuses a bound that can no longer be answered (store.bound-time.as-of-unretained), naming the oldest instant
// after it that can: a younger snapshot whose own parts are here, and with them the runs of all that followed it.
func (c *cut) retained() error {
	if c.n == 0 || c.b.Snapshot != "" {
		return nil
	}
	why, err := c.lost()
	if err != nil || why == "" {
		return err
	}
	oldest := c.f.Chain[0]
	for _, m := range c.f.Chain[:c.n] {
		collected, err := c.f.t.collected(m)
		if err != nil {
			return err
		}
		if !collected {
			oldest = m
		}
		if c.absent(m) != "" {
			break
		}
	}
	t := c.f.t
	return fault.New(fault.StoreAsOfUnretained, t.name,
		fmt.Sprintf("table %q cannot be read as of %s: %s; the oldest answerable instant is %s", t.name, c.b.AsOf, why, oldest.CreatedAt)).
		WithHint(fmt.Sprintf("--as-of %s is answered; retain_runs of a table says how long its past can be asked", oldest.CreatedAt))
}

// lost says what the bound needs and this disk lacks, or "".
func (c *cut) lost() (string, error) {
	for _, m := range c.f.Chain[:c.n] {
		if k := c.absent(m); k != "" {
			return fmt.Sprintf("run %s, folded since then, is no longer on this disk", k), nil
		}
	}
	base := c.base()
	if base == nil {
		if at := c.f.missing; at != "" {
			return fmt.Sprintf("snapshot %s and what it folds are no longer on this disk", at), nil
		}
		return "", nil
	}
	collected, err := c.f.t.collected(base)
	if collected {
		return fmt.Sprintf("the parts of snapshot %s were collected", base.SnapshotID), nil
	}
	return "", err
}

// absent is a run that a younger snapshot folds and that is not here, or "".
func (c *cut) absent(m *manifest.Snapshot) string {
	for _, k := range m.IncludesRuns {
		if !c.younger[k] {
			return k
		}
	}
	return ""
}

// collected tells whether a snapshot carries the marker of a collection: its parts are gone, or may go any moment.
func (t *Table) collected(m *manifest.Snapshot) (bool, error) {
	rel := key.SnapshotDir(t.name, m.SnapshotID) + "/" + key.CollectedName
	there, err := vfs.Exists(t.s.opts.FS, t.s.Path(rel))
	return there, unreadable(rel, err)
}
