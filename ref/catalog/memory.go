package catalog

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is both catalogs in memory: what the contract suite runs on first, and what tests use.
type Memory struct {
	mu      sync.Mutex
	journal []Entry
	runs    map[[4]string]Run
	cursors map[[2]string]Cursor
	leases  map[string]Lease
	tables  map[string]TableRows
}

// NewMemory makes empty catalogs.
func NewMemory() *Memory {
	return &Memory{runs: map[[4]string]Run{}, cursors: map[[2]string]Cursor{}, leases: map[string]Lease{}, tables: map[string]TableRows{}}
}

var (
	_ Machine = (*Memory)(nil)
	_ Derived = (*Memory)(nil)
)

// Append implements Machine.
func (m *Memory) Append(ctx context.Context, e Entry) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	e.Seq = int64(len(m.journal)) + 1
	e.At, e.Body = e.At.UTC(), bytes.Clone(e.Body)
	m.journal = append(m.journal, e)
	return e.Seq, nil
}

// Journal implements Machine.
func (m *Memory) Journal(ctx context.Context, after int64, visit func(Entry) error) error {
	m.mu.Lock()
	list := slices.Clone(m.journal)
	m.mu.Unlock()
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Seq > after {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// PutRun implements Machine.
func (m *Memory) PutRun(_ context.Context, r Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(r)
	return nil
}

func (m *Memory) put(r Run) {
	r.StartedAt, r.EndedAt = utc(r.StartedAt), utc(r.EndedAt)
	m.runs[[4]string{r.Pipeline, r.Node, r.RunID, r.Table}] = r
}

// FillRuns implements Machine.
func (m *Memory) FillRuns(_ context.Context, rows []Run) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs) > 0 {
		return false, nil
	}
	for _, r := range rows {
		m.put(r)
	}
	return len(rows) > 0, nil
}

// Runs implements Machine.
func (m *Memory) Runs(_ context.Context, pipeline string) ([]Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Run
	for _, r := range m.runs {
		if pipeline == "" || r.Pipeline == pipeline {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Run) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(a.Pipeline, b.Pipeline), cmp.Compare(a.RunID, b.RunID),
			cmp.Compare(a.Table, b.Table), cmp.Compare(a.Node, b.Node))
	})
	return list, nil
}

// Cursor implements Machine.
func (m *Memory) Cursor(_ context.Context, pipeline, table string) (Cursor, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.cursors[[2]string{pipeline, table}]
	return c, ok, nil
}

// SwapCursor implements Machine.
func (m *Memory) SwapCursor(_ context.Context, c Cursor, was string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := [2]string{c.Pipeline, c.Table}
	if m.cursors[k].RunID != was {
		return ErrMoved
	}
	c.CommittedAt, c.Position = utc(c.CommittedAt), bytes.Clone(c.Position)
	m.cursors[k] = c
	return nil
}

// PutLease implements Machine.
func (m *Memory) PutLease(_ context.Context, l Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if have, ok := m.leases[l.Key]; !ok || have.Fence <= l.Fence {
		l.ExpiresAt = utc(l.ExpiresAt)
		m.leases[l.Key] = l
	}
	return nil
}

// Lease implements Machine.
func (m *Memory) Lease(_ context.Context, key string) (Lease, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.leases[key]
	return l, ok, nil
}

// Replace implements Derived.
func (m *Memory) Replace(_ context.Context, rows TableRows) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows.Snapshots, rows.Runs = slices.Clone(rows.Snapshots), slices.Clone(rows.Runs)
	m.tables[rows.Table] = rows
	return nil
}

// Tables implements Derived.
func (m *Memory) Tables(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.tables)), nil
}

// Table implements Derived.
func (m *Memory) Table(_ context.Context, name string) (TableRows, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, ok := m.tables[name]
	return rows, ok, nil
}

// Wipe implements Derived.
func (m *Memory) Wipe(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.tables)
	return nil
}

// Close implements both.
func (m *Memory) Close() error { return nil }

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
