package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"contextful/ref/catalog"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

// standing is where a pipeline stands in a table.
type standing struct {
	position json.RawMessage // nil for none
	run      string          // the id of the run that committed it, "" for none
	at       manifest.Instant
	lost     bool // this node committed it and was stopped before it noted it
}

// standing finds the newest commit of the pipeline in the table. The manifests say it; a cursor noted beside them counts where it
// is of a later commit, which is how a position outlives its run, and how another node's is known before its run is here.
func (r *runner) standing(ctx context.Context, t *store.Table) (standing, error) {
	var s standing
	runs, err := t.ListRuns(ctx)
	if err != nil {
		return s, err
	}
	for _, m := range runs { // in commit order
		if m.PipelineID == r.o.Pipeline.ID {
			s = standing{position: m.Cursor, run: m.RunID, at: m.CommittedAt, lost: m.NodeID == r.o.Store.Node()}
		}
	}
	cursors, err := r.cursors(ctx, t.Name())
	if err != nil {
		return s, err
	}
	for _, c := range cursors {
		switch {
		case c.RunID == s.run:
			s.lost = false
		case c.CommittedAt.After(s.at.Time):
			s = standing{position: c.Position, run: c.RunID, at: manifest.At(c.CommittedAt)}
		}
	}
	if len(s.position) == 0 || string(s.position) == "null" {
		s.position = nil
		return s, nil
	}
	if s.position, err = compact(s.position); err != nil {
		return s, fault.New(fault.StoreManifestInvalid, t.Name(), fmt.Sprintf("the position of pipeline %q in table %q is no JSON", r.o.Pipeline.ID, t.Name())).Wrap(err)
	}
	return s, nil
}

// cursors gives what the machine's catalog and the nodes' run states know.
func (r *runner) cursors(ctx context.Context, table string) ([]catalog.Cursor, error) {
	var list []catalog.Cursor
	if r.o.Machine != nil {
		c, ok, err := r.o.Machine.Cursor(ctx, r.o.Pipeline.ID, table)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, c)
		}
	}
	states, err := r.o.Store.RunStates(ctx)
	for _, state := range states {
		for _, c := range state.Cursors {
			if c.PipelineID == r.o.Pipeline.ID && c.Table == table {
				list = append(list, catalog.Cursor{Pipeline: c.PipelineID, Table: c.Table, Position: c.Position, RunID: c.RunID, CommittedAt: c.CommittedAt.Time})
			}
		}
	}
	return list, err
}

// runID names the run after: "<pipeline>-<number>-<digest>". The number rises, so that of two runs of one instant the later one has
// the greater id; the digest is over the run before and the batch, so that the same batch is the same run and the same rows at
// another time are not.
func (s standing) runID(pipeline, table, root, batch string) string {
	before, number := s.run, 0
	if before == "" {
		before = root
	}
	if head, _, ok := cutLast(s.run, "-"); ok && strings.HasPrefix(head, prefix(pipeline)) {
		_, digits, _ := cutLast(head, "-")
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < 99999999 {
			number = n + 1
		}
	}
	h := sha256.New()
	for _, part := range []string{"contextful/pipeline-run/1", pipeline, table, before, batch} {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	return fmt.Sprintf("%s%08d-%s", prefix(pipeline), number, hex.EncodeToString(h.Sum(nil)[:8]))
}

// prefix leaves room for the number and the digest in a run id.
func prefix(pipeline string) string { return pipeline[:min(len(pipeline), 120)] + "-" }

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
