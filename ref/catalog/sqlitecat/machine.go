package sqlitecat

import (
	"context"
	"database/sql"
	"errors"

	"contextful/ref/catalog"
)

const machineRuns = `
CREATE TABLE runs (pipeline TEXT NOT NULL, node_id TEXT NOT NULL, run_id TEXT NOT NULL, tbl TEXT NOT NULL, status TEXT NOT NULL,
	started_at TEXT NOT NULL, ended_at TEXT NOT NULL, PRIMARY KEY (pipeline, node_id, run_id, tbl)) WITHOUT ROWID;`

const machineTables = machineRuns + `
CREATE TABLE journal (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE cursors (pipeline TEXT NOT NULL, tbl TEXT NOT NULL, position BLOB NOT NULL, run_id TEXT NOT NULL, committed_at TEXT NOT NULL,
	PRIMARY KEY (pipeline, tbl)) WITHOUT ROWID;
CREATE TABLE leases (key TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, expires_at TEXT NOT NULL) WITHOUT ROWID`

// machineLayout: layout 1 did not say whose a run was, and no command wrote run rows under it.
func machineLayout() layout {
	return layout{version: 2, journal: "WAL", tables: machineTables, from: map[int]string{1: "DROP TABLE runs;" + machineRuns}}
}

// Machine is machine.sqlite.
type Machine struct{ *db }

var _ catalog.Machine = (*Machine)(nil)

// OpenMachine opens machine.sqlite at an absolute path, making it where absent. A file that is no such database is an
// error: what it held is nowhere else.
func OpenMachine(ctx context.Context, path string) (*Machine, error) {
	d, err := open(ctx, path, machineLayout())
	if err != nil {
		return nil, err
	}
	return &Machine{d}, nil
}

// Append implements catalog.Machine.
func (m *Machine) Append(ctx context.Context, e catalog.Entry) (seq int64, err error) {
	err = m.change(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO journal SELECT coalesce(max(seq), 0) + 1, ?, ?, ?, ? FROM journal RETURNING seq`,
			text(e.At), e.Kind, e.Subject, blob(e.Body)).Scan(&seq)
	})
	return seq, err
}

// Journal implements catalog.Machine.
func (m *Machine) Journal(ctx context.Context, after int64, visit func(catalog.Entry) error) error {
	rows, err := m.QueryContext(ctx, `SELECT seq, at, kind, subject, body FROM journal WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		return m.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e catalog.Entry
		if err := rows.Scan(&e.Seq, when{&e.At}, &e.Kind, &e.Subject, &e.Body); err != nil {
			return m.failed(err)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return m.failed(rows.Err())
}

// PutRun implements catalog.Machine.
func (m *Machine) PutRun(ctx context.Context, r catalog.Run) error {
	return m.change(ctx, func(tx *sql.Tx) error {
		return putRun(ctx, tx, r)
	})
}

func putRun(ctx context.Context, tx *sql.Tx, r catalog.Run) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.Pipeline, r.Node, r.RunID, r.Table, r.Status, text(r.StartedAt), text(r.EndedAt))
	return err
}

// FillRuns implements catalog.Machine.
func (m *Machine) FillRuns(ctx context.Context, rows []catalog.Run) (filled bool, err error) {
	err = m.change(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM runs LIMIT 1)`).Scan(&have); err != nil || have > 0 {
			return err
		}
		for _, r := range rows {
			if err := putRun(ctx, tx, r); err != nil {
				return err
			}
		}
		filled = len(rows) > 0
		return nil
	})
	return filled && err == nil, err
}

// Runs implements catalog.Machine.
func (m *Machine) Runs(ctx context.Context, pipeline string) ([]catalog.Run, error) {
	rows, err := m.QueryContext(ctx, `SELECT pipeline, node_id, run_id, tbl, status, started_at, ended_at FROM runs
		WHERE ? IN ('', pipeline) ORDER BY started_at DESC, pipeline, run_id, tbl, node_id`, pipeline)
	if err != nil {
		return nil, m.failed(err)
	}
	defer rows.Close()
	var list []catalog.Run
	for rows.Next() {
		var r catalog.Run
		if err := rows.Scan(&r.Pipeline, &r.Node, &r.RunID, &r.Table, &r.Status, when{&r.StartedAt}, when{&r.EndedAt}); err != nil {
			return nil, m.failed(err)
		}
		list = append(list, r)
	}
	return list, m.failed(rows.Err())
}

// Cursor implements catalog.Machine.
func (m *Machine) Cursor(ctx context.Context, pipeline, table string) (catalog.Cursor, bool, error) {
	c := catalog.Cursor{Pipeline: pipeline, Table: table}
	err := m.QueryRowContext(ctx, `SELECT position, run_id, committed_at FROM cursors WHERE pipeline = ? AND tbl = ?`, pipeline, table).
		Scan(&c.Position, &c.RunID, when{&c.CommittedAt})
	if errors.Is(err, sql.ErrNoRows) {
		return catalog.Cursor{}, false, nil
	}
	return c, err == nil, m.failed(err)
}

// SwapCursor implements catalog.Machine.
func (m *Machine) SwapCursor(ctx context.Context, c catalog.Cursor, was string) error {
	moved := false
	err := m.change(ctx, func(tx *sql.Tx) error {
		var have string
		err := tx.QueryRowContext(ctx, `SELECT run_id FROM cursors WHERE pipeline = ? AND tbl = ?`, c.Pipeline, c.Table).Scan(&have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if moved = have != was; moved {
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?)`,
			c.Pipeline, c.Table, blob(c.Position), c.RunID, text(c.CommittedAt))
		return err
	})
	if err == nil && moved {
		return catalog.ErrMoved
	}
	return err
}

// PutLease implements catalog.Machine.
func (m *Machine) PutLease(ctx context.Context, l catalog.Lease) error {
	return m.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO leases VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
			SET holder = excluded.holder, fence = excluded.fence, expires_at = excluded.expires_at WHERE excluded.fence >= leases.fence`,
			l.Key, l.Holder, l.Fence, text(l.ExpiresAt))
		return err
	})
}

// Lease implements catalog.Machine.
func (m *Machine) Lease(ctx context.Context, key string) (catalog.Lease, bool, error) {
	l := catalog.Lease{Key: key}
	err := m.QueryRowContext(ctx, `SELECT holder, fence, expires_at FROM leases WHERE key = ?`, key).Scan(&l.Holder, &l.Fence, when{&l.ExpiresAt})
	if errors.Is(err, sql.ErrNoRows) {
		return catalog.Lease{}, false, nil
	}
	return l, err == nil, m.failed(err)
}

// blob keeps an empty value apart from NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
