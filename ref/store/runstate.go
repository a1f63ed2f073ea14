package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"contextful/ref/catalog"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// Record notes what a pipeline's run of this node has come to: in nodes/<node>/run-state.json, which travels to the other nodes, and
// in the machine's catalog m (nil for none). cursor is the position the run has committed, nil where it committed none; one older
// than what is noted already changes nothing. It follows a commit and decides nothing: where it fails, the commit stands.
//
// run.Node and the instants of both must be set; run.EndedAt is zero while the run goes on. Refusals: StoreManifestFormatNewer for a
// run state that a newer build wrote, StoreWriteFailed, StoreBusy.
func (s *Store) Record(ctx context.Context, m catalog.Machine, run catalog.Run, cursor *catalog.Cursor) error {
	run.Node = s.opts.Node
	err := s.recordState(ctx, run, cursor)
	if m == nil {
		return err
	}
	err = errors.Join(err, m.PutRun(ctx, run))
	if cursor != nil {
		err = errors.Join(err, forward(ctx, m, *cursor))
	}
	return err
}

// forward moves the cached cursor on, never back.
func forward(ctx context.Context, m catalog.Machine, c catalog.Cursor) error {
	for {
		have, ok, err := m.Cursor(ctx, c.Pipeline, c.Table)
		if err != nil || ok && have.CommittedAt.After(c.CommittedAt) {
			return err
		}
		if err := m.SwapCursor(ctx, c, have.RunID); !errors.Is(err, catalog.ErrMoved) {
			return err
		}
	}
}

func (s *Store) recordState(ctx context.Context, run catalog.Run, cursor *catalog.Cursor) error {
	rel := key.RunState(s.opts.Node)
	lock, err := s.LockFile(ctx, key.NodeDir(s.opts.Node)+"/.lock", "this node's run state")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // it dies with this process at the latest
	state, err := s.RunState(s.opts.Node)
	switch {
	case errors.Is(err, fault.StoreManifestInvalid):
		s.Logf("warning: %v; it is written anew", err)
		state = nil
	case err != nil:
		return err
	}
	if state == nil {
		state = &manifest.RunState{NodeID: s.opts.Node, Runs: map[string]manifest.PipelineRun{}}
	}
	row := manifest.PipelineRun{RunID: run.RunID, Table: run.Table, Status: run.Status, StartedAt: manifest.At(run.StartedAt)}
	if !run.EndedAt.IsZero() {
		ended := manifest.At(run.EndedAt)
		row.EndedAt = &ended
	}
	if have, ok := state.Runs[run.Pipeline]; !ok || !have.StartedAt.After(run.StartedAt) {
		state.Runs[run.Pipeline] = row
	}
	if cursor != nil {
		state.Cursors = advanced(state.Cursors, manifest.PipelineCursor{PipelineID: cursor.Pipeline, Table: cursor.Table, Position: cursor.Position,
			RunID: cursor.RunID, CommittedAt: manifest.At(cursor.CommittedAt)})
	}
	data, err := manifest.EncodeRunState(state)
	if err != nil {
		return err
	}
	if err := vfs.WriteAtomic(s.opts.FS, s.Path(rel), data); err != nil {
		return WriteFailed(rel, err)
	}
	return nil
}

func advanced(list []manifest.PipelineCursor, c manifest.PipelineCursor) []manifest.PipelineCursor {
	i := slices.IndexFunc(list, func(h manifest.PipelineCursor) bool { return h.PipelineID == c.PipelineID && h.Table == c.Table })
	switch {
	case i < 0:
		return append(list, c)
	case !list[i].CommittedAt.After(c.CommittedAt.Time):
		list[i] = c
	}
	return list
}

// RunState reads one node's run state; nil where there is none. Refusals: StoreManifestInvalid, StoreManifestFormatNewer.
func (s *Store) RunState(node string) (*manifest.RunState, error) {
	if err := key.ValidNode(node); err != nil {
		return nil, err
	}
	rel := key.RunState(node)
	data, err := vfs.ReadFile(s.opts.FS, s.Path(rel), manifest.MaxRunState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(rel, err)
	}
	return manifest.DecodeRunState(rel, data)
}

// RunStates reads every node's, sorted by node: this one's and those a pull brought. They are hints of other machines: one that
// cannot be read is left out with a warning that names it.
func (s *Store) RunStates(ctx context.Context) ([]*manifest.RunState, error) {
	list, err := s.opts.FS.ReadDir(s.Path("nodes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable("nodes", err)
	}
	var states []*manifest.RunState
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !e.IsDir() || key.ValidNode(e.Name()) != nil {
			continue
		}
		state, err := s.RunState(e.Name())
		if err != nil {
			s.Logf("warning: %v; it is left out", err)
			continue
		}
		if state != nil {
			states = append(states, state)
		}
	}
	slices.SortFunc(states, func(a, b *manifest.RunState) int { return cmp.Compare(a.NodeID, b.NodeID) })
	return states, nil
}

// RefillRuns gives a machine's catalog that has no run row the ones the run states know (store.lay-out.machine-catalog); it changes
// nothing else in it. It tells how many rows that were.
func (s *Store) RefillRuns(ctx context.Context, m catalog.Machine) (int, error) {
	states, err := s.RunStates(ctx)
	if err != nil {
		return 0, err
	}
	var rows []catalog.Run
	for _, state := range states {
		for pipeline, r := range state.Runs {
			row := catalog.Run{Pipeline: pipeline, Node: state.NodeID, RunID: r.RunID, Table: r.Table, Status: r.Status, StartedAt: r.StartedAt.Time}
			if r.EndedAt != nil {
				row.EndedAt = r.EndedAt.Time
			}
			rows = append(rows, row)
		}
	}
	filled, err := m.FillRuns(ctx, rows)
	if err != nil || !filled {
		return 0, err
	}
	return len(rows), nil
}
