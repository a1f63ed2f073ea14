package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"contextful/ref/catalog"
	"contextful/ref/catalog/sqlitecat"
	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/lease"
	"contextful/ref/store"
)

// The names of the catalogs in the store root. Both are this machine's own and never synced.
const (
	machineName = store.MachineCatalogName
	derivedName = store.DerivedCatalogName
	derivedLock = ".derived.lock" // whoever has derived.sqlite open holds it
)

// withMachine opens machine.sqlite for one piece of work.
func (s *session) withMachine(ctx context.Context, work func(catalog.Machine) error) error {
	m, err := sqlitecat.OpenMachine(ctx, s.store.Path(machineName))
	if err != nil {
		return err
	}
	return errors.Join(work(m), m.Close())
}

// journal appends one entry to machine.sqlite.
func (s *session) journal(ctx context.Context, kind, subject string, body []byte) error {
	return s.withMachine(ctx, func(m catalog.Machine) error {
		_, err := m.Append(ctx, catalog.Entry{At: s.store.Clock().Now(), Kind: kind, Subject: subject, Body: body})
		return err
	})
}

// derive brings derived.sqlite up to date for some tables. One that is absent or cannot be used is made anew, for all tables.
func (s *session) derive(ctx context.Context, tables ...*store.Table) error {
	lock, err := s.store.LockFile(ctx, derivedLock, "the derived catalog of this store")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // it dies with this process at the latest
	d, err := sqlitecat.OpenDerived(ctx, s.store.Path(derivedName))
	if err != nil && !errors.Is(err, sqlitecat.ErrUnusable) {
		return err
	}
	if err == nil {
		for _, t := range tables {
			err = errors.Join(err, t.Derive(ctx, d))
		}
		err = errors.Join(err, d.Close())
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	_, err = s.remake(ctx)
	return err
}

// remake makes derived.sqlite again, whole, and tells how many tables are in it. The caller holds the lock.
func (s *session) remake(ctx context.Context) (tables int, err error) {
	err = sqlitecat.RebuildDerived(ctx, s.store.Path(derivedName), func(d catalog.Derived) error {
		tables, err = s.store.RebuildCatalog(ctx, d)
		return err
	})
	return tables, err
}

// rebuild is rebuild-catalog: derived.sqlite made again, and machine.sqlite given the run rows it lacks.
func (s *session) rebuild(ctx context.Context) (tables, runs int, err error) {
	lock, err := s.store.LockFile(ctx, derivedLock, "the derived catalog of this store")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = lock.Unlock() }()
	if tables, err = s.remake(ctx); err != nil {
		return 0, 0, err
	}
	err = s.withMachine(ctx, func(m catalog.Machine) error {
		runs, err = s.store.RefillRuns(ctx, m)
		return err
	})
	var f *fault.Error
	if errors.As(err, &f) && f.Subject == s.store.Path(machineName) {
		err = f.WithHint("where it is damaged, move it away and ask again: its journal, cursors and leases are nowhere else")
	}
	return tables, runs, err
}

// runRows gives the machine's run rows; it makes no catalog where there is none.
func (s *session) runRows(ctx context.Context) (rows []catalog.Run, err error) {
	if _, err := os.Stat(s.store.Path(machineName)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	err = s.withMachine(ctx, func(m catalog.Machine) error {
		rows, err = m.Runs(ctx, "")
		return err
	})
	return rows, err
}

// noteFold writes the journal and refreshes the cache. Both follow the commit and neither undoes it.
func (s *session) noteFold(ctx context.Context, t *store.Table, r fold.Report) {
	if r.SnapshotID == "" {
		return
	}
	body, err := json.Marshal(r)
	if err == nil {
		err = s.journal(ctx, "fold", t.Name(), body)
	}
	if err = errors.Join(err, s.derive(ctx, t)); err != nil {
		s.store.Logf("note: the catalogs of this machine were not refreshed: %v", err)
	}
}

// notePull refreshes the cache for the tables that moved.
func (s *session) notePull(ctx context.Context, advanced []string) {
	if err := s.derive(ctx, s.tablesOf(advanced)...); err != nil {
		s.store.Logf("note: the derived catalog was not refreshed: %v", err)
	}
}

// noteLease remembers a bucket lease as it was last seen. It is the bucket's that counts.
func (s *session) noteLease(ctx context.Context, key string, r lease.Report) {
	seen := catalog.Lease{Key: key, Fence: r.Fence, ExpiresAt: r.ExpiresAt.Time}
	if r.Holder != nil {
		seen.Holder = *r.Holder
	}
	if err := s.withMachine(ctx, func(m catalog.Machine) error { return m.PutLease(ctx, seen) }); err != nil {
		s.store.Logf("note: the lease was not remembered on this machine: %v", err)
	}
}
