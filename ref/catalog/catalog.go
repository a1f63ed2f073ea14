// Package catalog is the port to a node's two catalogs. Machine is what this machine alone knows: its journal, its run
// rows, its cursors and the leases it has seen. Derived is a cache of what the store's canonical files say, and may be
// wiped at any time.
//
// Answers: store.lay-out.catalog-ports, store.lay-out.machine-catalog, store.lay-out.derived-catalog (the ports).
//
// Implementations are safe for concurrent use, also by several processes on one machine. Every method is one transaction:
// applied whole before it returns nil, not at all when it returns an error.
package catalog

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrMoved: a compare-and-swap found another value than it was told.
var ErrMoved = errors.New("the cursor was moved by another run")

// Entry is one line of the journal. Seq is given by Append: it rises by one, without gaps.
type Entry struct {
	Seq     int64
	At      time.Time // UTC, to the nanosecond
	Kind    string    // such as "land", "fold", "push"
	Subject string    // such as a table
	Body    []byte    // JSON
}

// Run is what the machine knows of one run of a pipeline. EndedAt is zero while it runs.
type Run struct {
	Pipeline  string
	Node      string // whose run it was
	RunID     string
	Table     string
	Status    string
	StartedAt time.Time
	EndedAt   time.Time
}

// Cursor is the committed position of a pipeline in a table.
type Cursor struct {
	Pipeline    string
	Table       string
	Position    []byte // JSON
	RunID       string
	CommittedAt time.Time
}

// Lease is a bucket lease as it was last seen: a hint, never a proof.
type Lease struct {
	Key       string // relative to the bucket prefix
	Holder    string // "" for nobody
	Fence     int64
	ExpiresAt time.Time
}

// Machine is machine.sqlite.
type Machine interface {
	// Append adds to the journal and gives the entry's Seq.
	Append(ctx context.Context, e Entry) (seq int64, err error)
	// Journal visits the entries after a Seq, in order; an error of visit ends it and is returned.
	Journal(ctx context.Context, after int64, visit func(Entry) error) error
	// PutRun adds or replaces the row of (Pipeline, Node, RunID, Table).
	PutRun(ctx context.Context, r Run) error
	// FillRuns adds rows where there is no run row at all, of any pipeline, and tells whether it did.
	FillRuns(ctx context.Context, rows []Run) (filled bool, err error)
	// Runs lists a pipeline's runs ("" for every pipeline's), newest start first.
	Runs(ctx context.Context, pipeline string) ([]Run, error)
	// Cursor gives the cursor of a pipeline in a table; ok is false where there is none.
	Cursor(ctx context.Context, pipeline, table string) (c Cursor, ok bool, err error)
	// SwapCursor stores c where the stored cursor's RunID is was ("" for no cursor), and fails with ErrMoved elsewhere.
	SwapCursor(ctx context.Context, c Cursor, was string) error
	// PutLease remembers a lease, unless one of a higher fence is known.
	PutLease(ctx context.Context, l Lease) error
	// Lease gives the remembered lease; ok is false where there is none.
	Lease(ctx context.Context, key string) (l Lease, ok bool, err error)
	io.Closer
}

// TableRows is everything derived of one table.
type TableRows struct {
	Table     string
	Snapshot  string // the pointer's, "" for none
	Fence     *int64
	Schema    []byte // schema.json, nil for none
	Snapshots []SnapshotRow
	Runs      []RunRow
}

// SnapshotRow is a snapshot of the pointer's chain.
type SnapshotRow struct {
	SnapshotID string
	Parent     string // "" for none
	CreatedAt  time.Time
	Rows       int64 // -1 where its manifest does not say
	Parts      int64
}

// RunRow is a committed run.
type RunRow struct {
	RunID       string
	NodeID      string
	CommittedAt time.Time
	CommitSeq   int64 // -1 where its manifest does not say
	Rows        int64 // -1 where its manifest does not say
	FoldedIn    string
}

// Derived is derived.sqlite.
type Derived interface {
	// Replace makes rows everything that is derived of their table.
	Replace(ctx context.Context, rows TableRows) error
	// Tables lists the tables, sorted.
	Tables(ctx context.Context) ([]string, error)
	// Table gives a table's rows: snapshots and runs in the order they were given. ok is false where there are none.
	Table(ctx context.Context, name string) (rows TableRows, ok bool, err error)
	// Wipe removes everything: what a rebuild begins with.
	Wipe(ctx context.Context) error
	io.Closer
}
