package query

import (
	"context"
	"fmt"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/store"
)

// Pin reads exactly one snapshot of a table (store.snapshot.capture). Table "" is the one table of the statement whose chain holds it.
type Pin struct{ Table, ID string }

// pin finds the table of each pin among those of a statement.
func (b *Bounds) pin(ctx context.Context, st *store.Store, tables []string) error {
	b.pins = map[string]string{}
	for _, p := range b.Snapshots {
		var of []string
		for _, name := range tables {
			if p.Table != "" && p.Table != name {
				continue
			}
			if p.Table != "" {
				of = append(of, name) // resolving it says what is wrong with the id
				continue
			}
			t, err := st.Table(name)
			if err != nil {
				return err
			}
			if _, err := t.Resolve(ctx, store.Bounds{Snapshot: p.ID}); err == nil {
				of = append(of, name)
			} else if len(tables) == 1 || fault.CodeOf(err) != fault.StoreSnapshotUnknown {
				return err
			}
		}
		switch {
		case len(of) > 1:
			return refused("snapshot %q is one of the table %s; say of which with <table>=<snapshot>", p.ID, strings.Join(of, " and one of "))
		case len(of) == 0 && p.Table != "":
			return refused("the statement does not read table %q, of which it names a snapshot", p.Table)
		case len(of) == 0:
			return fault.New(fault.StoreSnapshotUnknown, p.ID, fmt.Sprintf("no table of the statement has a snapshot %q that its pointer reaches", p.ID)).
				WithHint("contextful context snapshots <table> lists them")
		case b.pins[of[0]] != "" && b.pins[of[0]] != p.ID:
			return refused("two snapshots are named of table %q, and a statement reads one", of[0])
		}
		b.pins[of[0]] = p.ID
	}
	return nil
}

// columnsOf hides the columns that no part of a pinned snapshot has: they came later.
func (src *source) columnsOf(st *store.Store) error {
	if len(src.view.Files) == 0 {
		return nil
	}
	there := map[string]bool{}
	for _, f := range src.view.Files {
		info, err := colfile.ReadInfo(st.FS(), f.Path)
		if err != nil {
			return err
		}
		for _, field := range info.Schema.Fields() {
			there[field.Name] = true
		}
	}
	for _, c := range src.table.Columns {
		if !there[c.Name] {
			src.hide(c.Name)
		}
	}
	return nil
}

func (src *source) hide(column string) {
	if src.table.Hidden == nil {
		src.table.Hidden = map[string]bool{}
	}
	src.table.Hidden[column] = true
}
