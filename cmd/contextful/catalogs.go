package main

import (
	"context"
	"encoding/json"
	"errors"

	"contextful/ref/catalog"
	"contextful/ref/catalog/sqlitecat"
	"contextful/ref/fold"
	"contextful/ref/store"
)

// The names of the catalogs in the store root. Both are this machine's own and never synced.
const (
	machineName = "machine.sqlite"
	derivedName = "derived.sqlite"
)

// journal appends one entry to machine.sqlite.
func (s *session) journal(ctx context.Context, kind, subject string, body []byte) error {
	m, err := sqlitecat.OpenMachine(ctx, s.store.Path(machineName))
	if err != nil {
		return err
	}
	_, err = m.Append(ctx, catalog.Entry{At: s.store.Clock().Now(), Kind: kind, Subject: subject, Body: body})
	return errors.Join(err, m.Close())
}

// derive brings derived.sqlite up to date for some tables.
func (s *session) derive(ctx context.Context, tables ...*store.Table) error {
	d, err := sqlitecat.OpenDerived(ctx, s.store.Path(derivedName))
	if err != nil {
		return err
	}
	for _, t := range tables {
		err = errors.Join(err, t.Derive(ctx, d))
	}
	return errors.Join(err, d.Close())
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
