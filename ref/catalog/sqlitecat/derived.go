package sqlitecat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"contextful/ref/catalog"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const derivedTables = `
CREATE TABLE tables (tbl TEXT PRIMARY KEY, snapshot TEXT NOT NULL, fence INTEGER, schema BLOB) WITHOUT ROWID;
CREATE TABLE snapshots (tbl TEXT NOT NULL, n INTEGER NOT NULL, snapshot_id TEXT NOT NULL, parent TEXT NOT NULL, created_at TEXT NOT NULL,
	row_count INTEGER NOT NULL, parts INTEGER NOT NULL, PRIMARY KEY (tbl, n)) WITHOUT ROWID;
CREATE TABLE runs (tbl TEXT NOT NULL, n INTEGER NOT NULL, run_id TEXT NOT NULL, node_id TEXT NOT NULL, committed_at TEXT NOT NULL,
	commit_seq INTEGER NOT NULL, row_count INTEGER NOT NULL, folded_in TEXT NOT NULL, PRIMARY KEY (tbl, n)) WITHOUT ROWID`

func derivedLayout() layout {
	return layout{version: 1, journal: "DELETE", tables: derivedTables}
}

// Derived is derived.sqlite.
type Derived struct{ *db }

var _ catalog.Derived = (*Derived)(nil)

// ErrUnusable: derived.sqlite is absent, damaged, no database, or of a layout this build does not know. RebuildDerived mends it.
var ErrUnusable = errors.New("the derived catalog cannot be used")

// OpenDerived opens derived.sqlite at an absolute path. Where it is not there or cannot be read as one, the error wraps
// ErrUnusable: one made empty would be taken for a store without tables.
func OpenDerived(ctx context.Context, path string) (*Derived, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	l := derivedLayout()
	l.tables = ""
	d, err := open(ctx, path, l)
	if unusable(err) {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if err != nil {
		return nil, err
	}
	return &Derived{d}, nil
}

// RebuildDerived makes derived.sqlite again: fill is given an empty one under a temporary name beside it, which then takes the
// place of whatever was there. Where fill fails, what was there stays. One process at a time may rebuild or hold it open: the
// caller has a lock.
func RebuildDerived(ctx context.Context, path string, fill func(catalog.Derived) error) error {
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+filepath.Base(path))
	if err := discard(tmp); err != nil { // a killed rebuild's
		return failed(path, err)
	}
	err := fillNew(ctx, tmp, fill)
	if err == nil {
		err = failed(path, replace(tmp, path))
	}
	if err != nil {
		return errors.Join(err, discard(tmp))
	}
	return nil
}

func fillNew(ctx context.Context, path string, fill func(catalog.Derived) error) error {
	d, err := open(ctx, path, derivedLayout())
	if err != nil {
		return err
	}
	err = fill(&Derived{d})
	return errors.Join(err, d.failed(d.Close()))
}

// replace moves a complete database over another. The side files of a killed writer belong to the old one and would be read into
// the new: where there are any, the old one goes first, with them.
func replace(tmp, path string) error {
	f, err := os.Open(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + side); err == nil {
			if err := discard(path); err != nil {
				return err
			}
			break
		}
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// unusable tells a file that is no database of ours, or a damaged one, from one that is only busy or out of reach.
func unusable(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errLayout) || errors.As(err, &e) && (e.Code()&0xff == lib.SQLITE_NOTADB || e.Code()&0xff == lib.SQLITE_CORRUPT)
}

// Replace implements catalog.Derived.
func (d *Derived) Replace(ctx context.Context, t catalog.TableRows) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, t.Table); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO tables VALUES (?, ?, ?, ?)`, t.Table, t.Snapshot, t.Fence, t.Schema); err != nil {
			return err
		}
		for i, s := range t.Snapshots {
			if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)`,
				t.Table, i, s.SnapshotID, s.Parent, text(s.CreatedAt), s.Rows, s.Parts); err != nil {
				return err
			}
		}
		for i, r := range t.Runs {
			if _, err := tx.ExecContext(ctx, `INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				t.Table, i, r.RunID, r.NodeID, text(r.CommittedAt), r.CommitSeq, r.Rows, r.FoldedIn); err != nil {
				return err
			}
		}
		return nil
	})
}

func remove(ctx context.Context, tx *sql.Tx, table string) error {
	for _, statement := range []string{`DELETE FROM tables WHERE tbl = ?`, `DELETE FROM snapshots WHERE tbl = ?`, `DELETE FROM runs WHERE tbl = ?`} {
		if _, err := tx.ExecContext(ctx, statement, table); err != nil {
			return err
		}
	}
	return nil
}

// Tables implements catalog.Derived.
func (d *Derived) Tables(ctx context.Context) ([]string, error) {
	rows, err := d.QueryContext(ctx, `SELECT tbl FROM tables ORDER BY tbl`)
	if err != nil {
		return nil, d.failed(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, d.failed(err)
		}
		names = append(names, name)
	}
	return names, d.failed(rows.Err())
}

// Table implements catalog.Derived. It reads in one transaction, so a Replace meanwhile is seen whole or not at all.
func (d *Derived) Table(ctx context.Context, name string) (t catalog.TableRows, ok bool, err error) {
	t.Table = name
	err = d.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT snapshot, fence, schema FROM tables WHERE tbl = ?`, name).Scan(&t.Snapshot, &t.Fence, &t.Schema)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		return errors.Join(readSnapshots(ctx, tx, &t), readRuns(ctx, tx, &t))
	})
	if err != nil || !ok {
		return catalog.TableRows{}, false, err
	}
	return t, true, nil
}

func readSnapshots(ctx context.Context, tx *sql.Tx, t *catalog.TableRows) error {
	rows, err := tx.QueryContext(ctx, `SELECT snapshot_id, parent, created_at, row_count, parts FROM snapshots WHERE tbl = ? ORDER BY n`, t.Table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s catalog.SnapshotRow
		if err := rows.Scan(&s.SnapshotID, &s.Parent, when{&s.CreatedAt}, &s.Rows, &s.Parts); err != nil {
			return err
		}
		t.Snapshots = append(t.Snapshots, s)
	}
	return rows.Err()
}

func readRuns(ctx context.Context, tx *sql.Tx, t *catalog.TableRows) error {
	rows, err := tx.QueryContext(ctx, `SELECT run_id, node_id, committed_at, commit_seq, row_count, folded_in FROM runs WHERE tbl = ? ORDER BY n`, t.Table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r catalog.RunRow
		if err := rows.Scan(&r.RunID, &r.NodeID, when{&r.CommittedAt}, &r.CommitSeq, &r.Rows, &r.FoldedIn); err != nil {
			return err
		}
		t.Runs = append(t.Runs, r)
	}
	return rows.Err()
}

// Wipe implements catalog.Derived.
func (d *Derived) Wipe(ctx context.Context) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM tables; DELETE FROM snapshots; DELETE FROM runs`)
		return err
	})
}
