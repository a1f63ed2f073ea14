package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"contextful/ref/catalog"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/land"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

// Options say which pipeline to run. Store and Pipeline, which has a source, are needed.
type Options struct {
	Store    *store.Store
	Pipeline *decl.Pipeline
	Machine  catalog.Machine // may be nil
	TempDir  string          // of the landings' spools
	// Progress is called with the rows read of a batch so far.
	Progress func(table string, rows int64)
}

// LockName is the file whose lock a run of the pipeline holds, relative to the store root. It is this machine's own.
func LockName(pipeline string) string { return ".pipelines/" + pipeline + ".lock" }

// Run asks the source once for every table of the pipeline, in their order, and commits what it says. A table that fails has its
// refusal in its report and the others go on. One run of a pipeline at a time: another one on this machine is waited for.
//
// The error is StoreBusy where the other one does not end within the lock timeout, or the context's.
//
// Reports' refusals: PipelineSourceFailed, PipelineInventoryIncomplete, PipelinePositionMissing, and everything land.Run refuses
// but StoreInputEmpty.
func Run(ctx context.Context, o Options) ([]Report, error) {
	lock, err := o.Store.LockFile(ctx, LockName(o.Pipeline.ID), fmt.Sprintf("the lock of pipeline %q", o.Pipeline.ID))
	if err != nil {
		return nil, err
	}
	r := &runner{o: o}
	var reports []Report
	for _, table := range o.Pipeline.Tables {
		report := r.table(ctx, table)
		if err = ctx.Err(); err != nil {
			break
		}
		reports = append(reports, report)
	}
	return reports, errors.Join(err, lock.Unlock())
}

type runner struct{ o Options }

// dir is the declaration's directory, which the source's paths refer to and its command runs in.
func (r *runner) dir() string { return filepath.Dir(r.o.Store.Project().Path) }

// work is one table of a run.
type work struct {
	*runner
	t         *store.Table
	replacing bool
	at        standing
	root      string // what the run before the first one is called: the snapshot where there is one
	started   manifest.Instant
	number    int32 // of the next batch, from 0: the batch scope is this run of this table
	report    Report
}

func (r *runner) table(ctx context.Context, name string) Report {
	w := &work{runner: r, started: manifest.At(r.o.Store.Clock().Now()), report: Report{Pipeline: r.o.Pipeline.ID, Table: name, Outcome: Unchanged}}
	err := w.run(ctx)
	// A failure of the source reaches us as an input that could not be read.
	var source *sourceFailure
	if errors.As(err, &source) {
		err = source.fault
	}
	if err != nil {
		w.report.Outcome, w.report.Err = Failed, err
	}
	w.report.Position = w.at.position
	return w.report
}

func (w *work) run(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	p, err := w.source().pull(ctx, question{table: w.t.Name(), position: w.at.position, whole: w.replacing})
	if err != nil {
		return err
	}
	defer p.close()
	for more := true; more && err == nil; {
		more, err = w.batch(ctx, p)
	}
	return err
}

// open finds where the pipeline stands in the table, and notes a commit that a killed run could not note.
func (w *work) open(ctx context.Context) error {
	var err error
	if w.t, err = w.o.Store.Table(w.report.Table); err != nil {
		return err
	}
	w.replacing = w.t.Declared() != nil && w.t.Declared().WriteMode == decl.Replace
	pointer, _, err := w.t.Pointer()
	if err != nil {
		return err
	}
	if pointer.SnapshotID != nil {
		w.root = *pointer.SnapshotID
	}
	if w.at, err = w.standing(ctx, w.t); err != nil {
		return err
	}
	if w.at.lost {
		w.note(ctx, "landed", w.at.at)
	}
	return nil
}

// batch reads one and commits it, as its ending says.
func (w *work) batch(ctx context.Context, p pull) (more bool, err error) {
	rows, err := land.Read(ctx, w.o.Store, land.Options{
		Table: w.t.Name(), SiteID: w.o.Store.Node(), PipelineID: w.o.Pipeline.ID, BatchSeq: &w.number, TempDir: w.o.TempDir,
		Normalize: w.o.Pipeline.Normalize, InputName: "the source", Inputs: p.inputs(), Progress: func(n int64) {
			if w.o.Progress != nil {
				w.o.Progress(w.t.Name(), n)
			}
		},
	})
	if err != nil {
		return false, err
	}
	defer rows.Close()
	e, err := p.ended()
	if err != nil {
		return false, err
	}
	commit, err := w.judge(e, rows.Rows())
	if err == nil && commit {
		err = w.commit(ctx, rows, e)
		w.number++
	}
	return e.more, err
}

// judge tells whether a batch is committed (run.advance.snapshot-completion, run.advance.zero-row-commit).
func (w *work) judge(e ending, rows int64) (commit bool, err error) {
	if e.unchanged {
		return false, nil // rows and position stay
	}
	if w.replacing {
		if !e.complete {
			return false, fault.New(fault.PipelineInventoryIncomplete, w.t.Name(), fmt.Sprintf(
				"the source of pipeline %q ended after %d rows of table %q without saying that they are complete, and the table is replaced as a whole",
				w.o.Pipeline.ID, rows, w.t.Name())).
				WithHint(`a source ends with {"inventory": "complete"}, also where there is no row, or says {"skip": "unchanged"}`)
		}
		return true, nil
	}
	if rows > 0 && e.position == nil {
		return false, fault.New(fault.PipelinePositionMissing, w.t.Name(), fmt.Sprintf(
			"the source of pipeline %q ended after row %d of table %q without a position, so the next run would land them again", w.o.Pipeline.ID, rows, w.t.Name())).
			WithHint(`a source prints {"position": …} after the rows it covers`)
	}
	return rows > 0, nil
}

// commit makes the batch a run of the table, position and all, then notes it.
func (w *work) commit(ctx context.Context, rows *land.Batch, e ending) error {
	digest, err := rows.Digest(e.position)
	if err != nil {
		return err
	}
	id := w.at.runID(w.o.Pipeline.ID, w.t.Name(), w.root, digest)
	done, err := rows.Commit(ctx, land.Ending{RunID: id, Position: e.position, Complete: e.complete})
	if err != nil {
		return err
	}
	w.at = standing{position: e.position, run: id, at: w.started}
	if m, err := w.t.ReadRun(id, w.o.Store.Node()); err == nil && m != nil {
		w.at.at = m.CommittedAt
	}
	w.report.Runs = append(w.report.Runs, Batch{RunID: id, Rows: done.Rows, CommitSeq: done.CommitSeq})
	w.report.Rows += done.Rows
	switch {
	case !w.replacing:
		w.report.Outcome = Landed
	case done.Rows == 0:
		w.report.Outcome = Empty
	default:
		w.report.Outcome = Replaced
	}
	w.note(ctx, string(w.report.Outcome), w.started)
	return nil
}

// note writes the run state and the machine's catalog. What fails is written by the next run.
func (w *work) note(ctx context.Context, status string, started manifest.Instant) {
	position := w.at.position
	if position == nil {
		position = []byte("null")
	}
	err := w.o.Store.Record(ctx, w.o.Machine,
		catalog.Run{Pipeline: w.o.Pipeline.ID, RunID: w.at.run, Table: w.t.Name(), Status: status, StartedAt: started.Time, EndedAt: w.at.at.Time},
		&catalog.Cursor{Pipeline: w.o.Pipeline.ID, Table: w.t.Name(), Position: position, RunID: w.at.run, CommittedAt: w.at.at.Time})
	if err != nil {
		w.o.Store.Logf("note: run %s of pipeline %q is committed and was not noted on this machine: %v", w.at.run, w.o.Pipeline.ID, err)
	}
}
