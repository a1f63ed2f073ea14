package fold

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// stored is a part of the snapshot the pass stands on.
type stored struct {
	file   store.File
	origin string // the snapshot whose directory it lies in
	rows   int64  // as its footer says
	lost   int64  // of them, those that a newer row replaces
}

// split tells what is folded anew from what may stay, and learns the columns of both.
func (p *pass) split(ctx context.Context) error {
	var kept []store.File
	for _, f := range p.view.Files {
		if f.Snapshot != nil && p.standsOnKey(f.Snapshot) {
			kept = append(kept, f)
		} else {
			p.fresh = append(p.fresh, f)
		}
	}
	if len(kept) > 0 {
		// One look at the columns of all files; what is folded anew is opened exactly, the rest only where it must be.
		all := p.table
		all.Coarse, all.AllNanos, all.Unique = true, false, true
		rel, err := p.session.Relation(ctx, p.fs(), all)
		if err != nil {
			return err
		}
		p.table.Columns, p.table.Reconcile = rel.Columns, false
	}
	for _, f := range kept {
		s, err := p.keep(f)
		if err != nil {
			return err
		}
		if s == nil {
			p.fresh = append(p.fresh, f)
		} else {
			p.stored = append(p.stored, s)
		}
	}
	slices.SortFunc(p.stored, func(a, b *stored) int {
		return strings.Compare(a.origin+"/"+a.file.Part.Name, b.origin+"/"+b.file.Part.Name)
	})
	if len(kept) > 0 {
		p.table.Files = p.duckFiles(p.fresh)
	}
	return nil
}

// standsOnKey tells whether a snapshot's rows are the survivors of the very lines that this pass keeps.
func (p *pass) standsOnKey(m *manifest.Snapshot) bool {
	d := p.view.Declaration
	return !d.Keyed() || slices.Equal(m.PrimaryKey, d.PrimaryKey) && sameClocks(m, d)
}

func sameClocks(m *manifest.Snapshot, d *decl.Table) bool {
	valid, available := store.RecordedValidTime(d), store.RecordedAvailableTime(d)
	from := func(v *manifest.ValidTime) string {
		if v == nil {
			return ""
		}
		return v.From
	}
	column := func(a *manifest.AvailableTime) string {
		if a == nil {
			return ""
		}
		return a.Column
	}
	return from(m.ValidTime) == from(valid) && column(m.AvailableTime) == column(available)
}

// keep looks whether a part is what its manifest says and may be named where it lies. nil: its partition is said otherwise than this
// pass would say it, so its rows are folded anew.
func (p *pass) keep(f store.File) (*stored, error) {
	info, err := colfile.ReadInfo(p.fs(), f.Path)
	if err != nil {
		return nil, err
	}
	s := &stored{file: f, origin: f.Part.SnapshotID, rows: info.Rows}
	if s.origin == "" {
		s.origin = f.Snapshot.SnapshotID
	}
	if err := colfile.Verify(p.fs(), f.Path, f.Rows); err != nil {
		return nil, err
	}
	by := p.view.Declaration.PartitionBy
	if values, ok := key.PartitionValues(partitionOf(f)); ok && f.Part.Partition == nil {
		s.file.Part.Partition = values // its directory says what its manifest does not
	}
	if len(s.file.Part.Partition) != len(by) {
		return nil, nil
	}
	if len(by) == 0 {
		return s, nil
	}
	in, err := schema.FromArrow(info.Schema)
	if err != nil {
		return nil, err
	}
	for i, name := range by {
		typ, ok := (&schema.Schema{Columns: p.table.Columns}).Lookup(name)
		have, there := in.Lookup(name)
		if s.file.Part.Partition[i] == nil || !ok {
			continue
		}
		if text := typ.Kind == schema.JSON && have.Kind == schema.Utf8 && f.Part.JSONColumns != nil && slices.Contains(*f.Part.JSONColumns, name); !there || have.Kind != typ.Kind && !text {
			return nil, nil
		}
	}
	return s, nil
}

func partitionOf(f store.File) string {
	if dir := path.Dir(f.Part.Name); dir != "." {
		return dir
	}
	return ""
}

// part is how the new manifest names a part that stays: as it was, where it is.
func (s *stored) part() manifest.Part {
	named := s.file.Part
	named.SnapshotID, named.Rows = s.origin, s.rows
	return named
}

// headWhole holds what a snapshot of an older format says in one number against what its parts have.
func (p *pass) headWhole() error {
	if p.view.Head == nil || p.view.HeadSuperseded || p.view.Head.RowCount < 0 {
		return nil
	}
	sum := int64(0)
	for _, s := range p.stored {
		if s.file.Snapshot == p.view.Head {
			sum += s.rows
		}
	}
	for _, f := range p.fresh {
		if f.Snapshot == nil {
			continue
		}
		info, err := colfile.ReadInfo(p.fs(), f.Path)
		if err != nil {
			return err
		}
		sum += info.Rows
	}
	if sum != p.view.Head.RowCount {
		rel := key.SnapshotManifest(p.options.Table, p.view.Head.SnapshotID)
		return fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s says %d rows, and its parts hold %d", rel, p.view.Head.RowCount, sum))
	}
	return nil
}
