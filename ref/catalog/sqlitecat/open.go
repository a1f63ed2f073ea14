// Package sqlitecat keeps the catalogs in SQLite files: machine.sqlite and derived.sqlite beside the store. It is the only
// package that imports SQLite.
//
// Answers: store.lay-out.catalog-ports, store.lay-out.machine-catalog, store.lay-out.derived-catalog (the local files).
//
// Both files are in WAL mode; a writing transaction takes its lock at its beginning and waits up to five seconds for
// another process. Instants are kept as RFC 3339 text with nine fractional digits, a missing one as "".
package sqlitecat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"contextful/ref/fault"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// version is the layout of both files, kept in user_version.
const version = 1

type db struct {
	*sql.DB
	path string
}

var errLayout = errors.New("a layout this build does not know")

func open(ctx context.Context, path string, layout string) (*db, error) {
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"}
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	d := &db{pool, path}
	err = d.change(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		switch have {
		case version:
			return nil
		case 0:
			_, err := tx.ExecContext(ctx, layout+fmt.Sprintf("; PRAGMA user_version = %d", version))
			return err
		}
		return fmt.Errorf("%w: %d, and it reads %d", errLayout, have, version)
	})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return d, nil
}

// change runs one writing transaction.
func (d *db) change(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return d.failed(err)
	}
	if err := work(tx); err != nil {
		return d.failed(errors.Join(err, tx.Rollback()))
	}
	return d.failed(tx.Commit())
}

func (d *db) failed(err error) error {
	if err == nil || fault.CodeOf(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.StoreWriteFailed, d.path, d.path+": the catalog failed").Wrap(err)
}

// discard removes a database with its side files.
func discard(path string) error {
	var errs []error
	for _, side := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const layout = "2006-01-02T15:04:05.000000000Z"

func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// when scans an instant.
type when struct{ t *time.Time }

func (w when) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("an instant is text, not %T", v)
	}
	*w.t = time.Time{}
	if s == "" {
		return nil
	}
	t, err := time.Parse(layout, s)
	*w.t = t.UTC()
	return err
}
