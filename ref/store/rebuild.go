package store

import (
	"context"

	"contextful/ref/catalog"
	"contextful/ref/schema"
)

// RebuildCatalog makes the derived catalog anew from the canonical files: pointers, reachable snapshot manifests, committed
// run manifests and every schema (store.lay-out.derived-catalog). It gives the number of tables. Refusals as Resolve's: a
// table that cannot be read is not in the catalog, and the error says why.
func (s *Store) RebuildCatalog(ctx context.Context, d catalog.Derived) (int, error) {
	names, err := s.Tables()
	if err != nil {
		return 0, err
	}
	if err := d.Wipe(ctx); err != nil {
		return 0, err
	}
	for i, name := range names {
		t, err := s.TableAt(name)
		if err != nil {
			return i, err
		}
		if err := t.Derive(ctx, d); err != nil {
			return i, err
		}
	}
	return len(names), nil
}

// Derive replaces one table's rows in the derived catalog.
func (t *Table) Derive(ctx context.Context, d catalog.Derived) error {
	p, _, err := t.Pointer()
	if err != nil {
		return err
	}
	lineage, err := t.Lineage(ctx, p.SnapshotID)
	if err != nil {
		return err
	}
	runs, err := t.ListRuns(ctx)
	if err != nil {
		return err
	}
	rows := catalog.TableRows{Table: t.name, Snapshot: deref(p.SnapshotID), Fence: p.Fence}
	sc, err := t.Schema()
	if err != nil {
		return err
	}
	if sc != nil {
		if rows.Schema, err = schema.Encode(sc); err != nil {
			return err
		}
	}
	for _, m := range lineage.Chain {
		rows.Snapshots = append(rows.Snapshots, catalog.SnapshotRow{SnapshotID: m.SnapshotID, Parent: deref(m.Parent), CreatedAt: m.CreatedAt.Time,
			Rows: m.RowCount, Parts: int64(len(m.Parts))})
	}
	for _, r := range runs {
		if r.Gone {
			continue // the catalog is of manifests
		}
		rows.Runs = append(rows.Runs, catalog.RunRow{RunID: r.RunID, NodeID: r.NodeID, CommittedAt: r.CommittedAt.Time, CommitSeq: r.Frontier().CommitSeq,
			Rows: r.RowCount, FoldedIn: r.FoldedIn})
	}
	return d.Replace(ctx, rows)
}

// Catalog file names, in the store root.
const (
	MachineCatalogName = "machine.sqlite"
	DerivedCatalogName = "derived.sqlite"
)
