// Package sqlitecat keeps the catalogs in SQLite files: machine.sqlite and derived.sqlite beside the store. It is the only
// package that imports SQLite.
//
// Answers: store.lay-out.catalog-ports, store.lay-out.machine-catalog, store.lay-out.derived-catalog (the local files).
//
// machine.sqlite is in WAL mode. derived.sqlite is not: it is replaced whole, and must then be one file. A writing transaction
// takes its lock at its beginning and waits up to five seconds for another process. Instants are kept as RFC 3339 text with nine fractional digits, a missing one as "".
package sqlitecat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"contextful/ref/fault"

	"modernc.org/sqlite" // also the driver named "sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// layout is how a file is laid out. version is kept in user_version; tables makes an empty file one of it ("": it stays none); from
// holds what turns an older one into this.
type layout struct {
	version int
	journal string
	tables  string
	from    map[int]string
}

type db struct {
	*sql.DB
	path string
}

var errLayout = errors.New("a layout this build does not know")

// open opens a file of a layout, making or changing it where that is called for. Two programs that make one file at once meet where its
// journal becomes a WAL, for which SQLite does not wait by itself.
func open(ctx context.Context, path string, l layout) (*db, error) {
	patience := time.NewTimer(busy)
	defer patience.Stop()
	again := time.NewTicker(busyPause)
	defer again.Stop()
	for {
		d, err := openOnce(ctx, path, l)
		var answer *sqlite.Error
		if !errors.As(err, &answer) || answer.Code()&0xff != sqlitelib.SQLITE_BUSY {
			return d, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience.C:
			return nil, err
		case <-again.C:
		}
	}
}

// busy is how long another program is waited for, busyPause how often it is looked for where SQLite does not wait.
const busy, busyPause = 5 * time.Second, 5 * time.Millisecond

func openOnce(ctx context.Context, path string, l layout) (*db, error) {
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf("_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(%s)&_pragma=synchronous(FULL)", busy.Milliseconds(), l.journal)}
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
		change, known := l.from[have]
		switch {
		case have == l.version:
			return nil
		case have == 0 && l.tables != "":
			change = l.tables
		case !known:
			return fmt.Errorf("%w: %d, and it reads %d", errLayout, have, l.version)
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA user_version = %d", strings.TrimSuffix(change, ";"), l.version))
		return err
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

func (d *db) failed(err error) error { return failed(d.path, err) }

func failed(path string, err error) error {
	if err == nil || fault.CodeOf(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.StoreWriteFailed, path, path+": the catalog failed").Wrap(err)
}

// discard removes a database with its side files. The database goes first: without it they mean nothing.
func discard(path string) error {
	var errs []error
	for _, side := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const instant = "2006-01-02T15:04:05.000000000Z"

func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(instant)
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
	t, err := time.Parse(instant, s)
	*w.t = t.UTC()
	return err
}
