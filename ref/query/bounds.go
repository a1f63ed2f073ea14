package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// Bounds limit a read in time; the zero value is unbounded. What is given holds all at once, and each table of a statement is
// cut by those of its own clocks (store.bound-time.as-of, valid-as-of, store.available-time.available-as-of, read.horizon).
type Bounds struct {
	AsOf          *manifest.Instant // committed by then
	ValidAsOf     *manifest.Instant // holding then: from <= T < to, a null to being open
	AvailableAsOf *manifest.Instant // released by then
	First         bool              // of each line the earliest vintage and not the latest
	// Horizon reads as if it were then: by availability where a table declares it, by commit where it does not, without the
	// columns that came later.
	Horizon *manifest.Instant
	// Snapshots pin tables: nothing that was committed since is read of them.
	Snapshots []Pin

	pins map[string]string // snapshot by table
}

// named are the bounds as an answer and a refusal name them.
func (b Bounds) named() map[string]any {
	named := map[string]any{}
	for name, at := range map[string]*manifest.Instant{"as_of": b.AsOf, "valid_as_of": b.ValidAsOf, "available_as_of": b.AvailableAsOf, "horizon": b.Horizon} {
		if at != nil {
			named[name] = at
		}
	}
	if b.First {
		named["vintage"] = "first"
	}
	if len(b.pins) > 0 {
		named["snapshots"] = b.pins
	}
	return named
}

func earlier(a, b *manifest.Instant) *manifest.Instant {
	if a == nil || b != nil && b.Before(a.Time) {
		return b
	}
	return a
}

// source is one table of a statement under its bounds.
type source struct {
	view    *store.View
	table   duck.Table
	factors []factors
}

// resolve resolves one table and refuses what this build cannot read rightly.
func resolve(ctx context.Context, st *store.Store, name string, b Bounds) (*source, error) {
	src, err := plain(ctx, st, name, b)
	if err != nil {
		return nil, err
	}
	if a := src.view.Declaration.AvailableTime; a != nil && earlier(b.AvailableAsOf, b.Horizon) != nil {
		for _, adjustment := range a.Adjustments {
			f, err := factorsOf(ctx, st, src, adjustment, b)
			if err != nil {
				return nil, err
			}
			src.factors = append(src.factors, f)
		}
	}
	return src, nil
}

// plain is resolve without adjustments.
func plain(ctx context.Context, st *store.Store, name string, b Bounds) (*source, error) {
	table, err := st.Table(name)
	if err != nil {
		return nil, err
	}
	pin := b.pins[name]
	view, err := table.Resolve(ctx, store.Bounds{AsOf: b.AsOf, Snapshot: pin})
	if err == nil && b.Horizon != nil && view.Declaration.AvailableTime == nil && pin == "" {
		view, err = table.Resolve(ctx, store.Bounds{AsOf: earlier(b.AsOf, b.Horizon)})
	}
	if err != nil {
		return nil, err
	}
	if key := view.Declaration.Unserved(); key != "" {
		return nil, fault.New(fault.StoreUnsupported, name, fmt.Sprintf("table %q declares %s, which this build does not serve yet", name, key))
	}
	src := &source{view: view, table: duck.FromView(view)}
	if err := src.bound(b); err != nil || pin == "" {
		return src, err
	}
	if b.Horizon != nil && view.Declaration.AvailableTime == nil {
		// The snapshot is given: what of it was committed later is left out row by row.
		src.table.Bounds = append(src.table.Bounds, duck.Bound{Column: schema.IngestedAt, At: *b.Horizon})
	}
	return src, src.columnsOf(st)
}

// bound cuts the source by the clocks its table declares.
func (src *source) bound(b Bounds) error {
	d, t := src.view.Declaration, &src.table
	if at := b.ValidAsOf; at != nil && d.ValidTime != nil {
		t.Holding = append(t.Holding, duck.Bound{Column: d.ValidTime.From, At: *at})
		if to := d.ValidTime.To; to != "" {
			t.Holding = append(t.Holding, duck.Bound{Column: to, After: true, At: *at, Open: true})
		}
	}
	if d.AvailableTime != nil {
		if at := earlier(b.AvailableAsOf, b.Horizon); at != nil {
			t.Bounds = append(t.Bounds, duck.Bound{Column: d.AvailableTime.Column, At: *at})
		}
		t.First = b.First
	}
	for _, bound := range slices.Concat(t.Bounds, t.Holding) {
		if typ, ok := (&schema.Schema{Columns: t.Columns}).Lookup(bound.Column); ok && typ.Kind != schema.Timestamp {
			return fault.New(fault.StoreSchemaIncompatible, bound.Column, fmt.Sprintf("column %q of table %q is stored as %s and bounds the read, so it must be a timestamp", bound.Column, d.Name, typ))
		}
	}
	if b.Horizon == nil {
		return nil
	}
	for _, c := range t.Columns {
		if at, ok := c.FirstLandedAt(); ok && at.After(b.Horizon.Time) {
			src.hide(c.Name)
		}
	}
	if s := d.Snapshot; s != nil {
		t.Captured = &duck.Captured{Column: s.CapturedAt, At: *b.Horizon, Score: s.LeakScore, Mark: d.AvailableTime != nil && d.AvailableTime.LiveSince != ""}
		if s.CapturedAt == "" {
			t.Captured.Column = schema.IngestedAt
		}
	}
	return nil
}

// declared refuses a bound on a clock that none of the statement's tables declares: the answer would look bounded and not be
// (store.bound-time.valid-undeclared).
func declared(sources []*source, b Bounds) error {
	if len(sources) == 0 {
		return nil
	}
	var names []string
	valid, available, vintage := false, false, false
	for _, src := range sources {
		d := src.view.Declaration
		names = append(names, fmt.Sprintf("%q", d.Name))
		valid = valid || d.ValidTime != nil
		available = available || d.AvailableTime != nil
		vintage = vintage || d.AvailableTime != nil && d.Keyed()
	}
	for _, c := range []struct {
		asked, there bool
		bound, needs string
	}{
		{b.ValidAsOf != nil, valid, "valid_as_of", "declares valid_time"},
		{b.AvailableAsOf != nil, available, "available_as_of", "declares available_time"},
		{b.First, vintage, "vintage", "is keyed and declares available_time"},
	} {
		if c.asked && !c.there {
			return fault.New(fault.StoreBoundUndeclared, sources[0].view.Declaration.Name,
				fmt.Sprintf("%s bounds nothing: no table of the statement (%s) %s", c.bound, strings.Join(names, ", "), c.needs)).
				WithHint("declare it in " + decl.FileName + ", or leave the bound out")
		}
	}
	return nil
}

// Check resolves a table under the bounds and refuses what a read of it would refuse: for verbs that read no row.
func Check(ctx context.Context, st *store.Store, table string, b Bounds) (*store.View, error) {
	if err := b.pin(ctx, st, []string{table}); err != nil {
		return nil, err
	}
	src, err := resolve(ctx, st, table, b)
	if err != nil {
		return nil, err
	}
	return src.view, declared([]*source{src}, b)
}
