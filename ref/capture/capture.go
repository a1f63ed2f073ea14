// Package capture commits a capture of documents as one snapshot: lands its rows as a run and folds it. Composite of land and fold.
//
// Answers: store.snapshot.capture.
//
//	read       the whole input, with nothing of the store touched
//	lock       captures of one table come one after the other, so that none's snapshot holds another's documents
//	waiting    what a capture that died has landed is folded first, as the snapshot it would have been
//	land       the run; where it is committed already this is a replay
//	fold       unless a snapshot names the run: it was folded before, or a fold that ran beside this has it
//	the id     of the snapshot that names the run, the same at every replay
//
// A capture that dies between landing and fold is finished by its replay. Without a run id the rows name the run, so a replay
// needs none.
package capture

import (
	"context"
	"errors"
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/fold"
	"contextful/ref/key"
	"contextful/ref/land"
	"contextful/ref/store"
)

// Options: Land's RunID may be empty. Fold carries engine and progress; its table is set here.
type Options struct {
	Land land.Options
	Fold fold.Options
}

// Report: SnapshotID names the corpus as this capture left it. Folded is the zero report where no fold was needed.
type Report struct {
	SnapshotID string
	Landed     land.Report
	Folded     fold.Report
}

// Run captures the documents of the input. Refusals: StoreDeclarationInvalid where the table declares no snapshot; those of land and
// fold. After a refusal of the fold the run is committed, and the same capture again ends it.
func Run(ctx context.Context, s *store.Store, o Options) (r Report, err error) {
	t, err := s.Table(o.Land.Table)
	if err != nil {
		return r, err
	}
	if d := t.Declared(); d == nil || d.Snapshot == nil {
		return r, fault.New(fault.StoreDeclarationInvalid, o.Land.Table, fmt.Sprintf("table %q declares no snapshot, so nothing says what a document of it is", o.Land.Table)).
			WithHint("add [pipeline.tables.snapshot] with document, and captured_at where the rows have it")
	}
	b, err := land.Read(ctx, s, o.Land)
	if err != nil {
		return r, err
	}
	defer b.Close()
	end := land.Ending{RunID: o.Land.RunID, Position: o.Land.Position, Complete: o.Land.Complete}
	if end.RunID == "" {
		digest, err := b.Digest(end.Position)
		if err != nil {
			return r, err
		}
		end.RunID = "capture-" + digest[:16]
	}
	l, err := s.LockFile(ctx, key.CaptureLock(o.Land.Table), fmt.Sprintf("the captures of table %q", o.Land.Table))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if err := foldWaiting(ctx, s, t, end.RunID, o); err != nil {
		return r, err
	}
	if r.Landed, err = b.Commit(ctx, end); err != nil {
		return r, err
	}
	run := end.RunID + "/" + s.Node()
	if r.SnapshotID, err = foldedIn(ctx, t, run); err != nil || r.SnapshotID != "" {
		return r, err
	}
	o.Fold.Table, o.Fold.Publish = o.Land.Table, nil
	if r.Folded, err = fold.Run(ctx, s, o.Fold); err != nil {
		return r, err
	}
	if r.SnapshotID, err = foldedIn(ctx, t, run); err == nil && r.SnapshotID == "" {
		err = fault.New(fault.StorePointerMoved, o.Land.Table, fmt.Sprintf("run %s of table %q is committed, and the pointer went to a snapshot that does not have it", run, o.Land.Table)).
			WithHint("capture the same rows again: what is landed is not landed twice")
	}
	return r, err
}

// foldWaiting folds what waits before a new capture lands: the run of one that died is a snapshot of its own, or its documents
// would have no corpus but this capture's, or none, where this one captures them anew.
func foldWaiting(ctx context.Context, s *store.Store, t *store.Table, run string, o Options) error {
	in, err := foldedIn(ctx, t, run+"/"+s.Node())
	if err != nil || in != "" {
		return err
	}
	o.Fold.Table, o.Fold.Publish = o.Land.Table, nil
	_, err = fold.Run(ctx, s, o.Fold)
	return err
}

// foldedIn gives the snapshot of the table's chain that folded a run, "" where none has.
func foldedIn(ctx context.Context, t *store.Table, run string) (string, error) {
	p, _, err := t.Pointer()
	if err != nil {
		return "", err
	}
	folded, err := t.Folded(ctx, p.SnapshotID)
	if err != nil {
		return "", err
	}
	snapshot, _ := folded.In(run)
	return snapshot, nil
}
