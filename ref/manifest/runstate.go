package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"contextful/ref/fault"
	"contextful/ref/key"
)

// RunState is what a node tells the others of its pipelines: nodes/<node-id>/run-state.json. It sums up what lies elsewhere (run
// manifests, the machine's catalog) and decides nothing a reader sees.
type RunState struct {
	Format int    `json:"format"`
	NodeID string `json:"node_id"`
	// Runs holds each pipeline's latest run.
	Runs    map[string]PipelineRun `json:"runs"`
	Cursors []PipelineCursor       `json:"cursors"`
}

// PipelineRun is one run of a pipeline. Status is one lower-case word; EndedAt is the zero Instant while it runs.
type PipelineRun struct {
	RunID     string   `json:"run_id"`
	Table     string   `json:"table"`
	Status    string   `json:"status"`
	StartedAt Instant  `json:"started_at"`
	EndedAt   *Instant `json:"ended_at,omitempty"`
}

// PipelineCursor is the position a pipeline has committed in a table, by which run and when.
type PipelineCursor struct {
	PipelineID  string          `json:"pipeline_id"`
	Table       string          `json:"table"`
	Position    json.RawMessage `json:"position"`
	RunID       string          `json:"run_id"`
	CommittedAt Instant         `json:"committed_at"`
}

const (
	// RunStateFormat is the form of run state this build reads and writes.
	RunStateFormat = 1
	// MaxRunState is the largest run state that is read, in bytes.
	MaxRunState = 64 << 20
	maxStatus   = 32
)

// DecodeRunState reads the run state at rel, relative to the store root. Refusals: StoreManifestFormatNewer for a newer format;
// StoreManifestInvalid for everything that is no run state or is another node's than its path says.
func DecodeRunState(rel string, data []byte) (*RunState, error) {
	var head struct {
		Format *int `json:"format"`
	}
	if err := document(fault.StoreManifestInvalid, rel, "run state", data, MaxRunState, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format == nil || *head.Format < 1:
		return nil, invalid(rel, "it has no format")
	case *head.Format > RunStateFormat:
		return nil, fault.New(fault.StoreManifestFormatNewer, rel,
			fmt.Sprintf("%s has format %d and this build reads %d", rel, *head.Format, RunStateFormat)).
			WithHint("use a newer build on this store")
	}
	s := &RunState{}
	if err := document(fault.StoreManifestInvalid, rel, "run state", data, MaxRunState, s); err != nil {
		return nil, err
	}
	at, err := key.Parse(rel)
	switch {
	case err != nil || at.Kind != key.KindRunState:
		return nil, invalid(rel, "it does not lie where a run state lies")
	case s.NodeID != at.Node:
		return nil, disagrees(rel, "node_id", s.NodeID, at.Node)
	}
	if err := s.check(); err != nil {
		return nil, invalid(rel, err.Error())
	}
	s.fill()
	return s, nil
}

// EncodeRunState prints one, its cursors sorted: equal states print as equal bytes. The error is for a state that DecodeRunState
// would refuse.
func EncodeRunState(s *RunState) ([]byte, error) {
	c := *s
	c.Format = RunStateFormat
	if err := c.check(); err != nil {
		return nil, err
	}
	c.fill()
	return encode(&c)
}

func (s *RunState) fill() {
	if s.Runs == nil {
		s.Runs = map[string]PipelineRun{}
	}
	s.Cursors = slices.Clone(s.Cursors)
	if s.Cursors == nil {
		s.Cursors = []PipelineCursor{}
	}
	slices.SortFunc(s.Cursors, func(a, b PipelineCursor) int {
		return cmp.Or(cmp.Compare(a.PipelineID, b.PipelineID), cmp.Compare(a.Table, b.Table))
	})
}

// check says in a few words what is wrong.
func (s *RunState) check() error {
	if err := key.ValidNode(s.NodeID); err != nil {
		return err
	}
	for pipeline, r := range s.Runs {
		switch {
		case key.ValidPipeline(pipeline) != nil:
			return fmt.Errorf("%q is no pipeline id", pipeline)
		case key.ValidRun(r.RunID) != nil:
			return fmt.Errorf("pipeline %s has the run id %q, which is none", pipeline, r.RunID)
		case key.ValidTable(r.Table) != nil:
			return fmt.Errorf("pipeline %s has the table %q, which is none", pipeline, r.Table)
		case !statusWord(r.Status):
			return fmt.Errorf("pipeline %s has the status %q, which is no word", pipeline, r.Status)
		case r.StartedAt.IsZero() || !r.StartedAt.Holds():
			return fmt.Errorf("pipeline %s has no started_at that can be kept", pipeline)
		case r.EndedAt != nil && !r.EndedAt.IsZero() && !r.EndedAt.Holds():
			return fmt.Errorf("pipeline %s has no ended_at that can be kept", pipeline)
		}
	}
	seen := make(map[[2]string]bool, len(s.Cursors))
	for _, c := range s.Cursors {
		at := [2]string{c.PipelineID, c.Table}
		switch {
		case key.ValidPipeline(c.PipelineID) != nil:
			return fmt.Errorf("a cursor has the pipeline id %q, which is none", c.PipelineID)
		case key.ValidTable(c.Table) != nil:
			return fmt.Errorf("the cursor of pipeline %s has the table %q, which is none", c.PipelineID, c.Table)
		case seen[at]:
			return fmt.Errorf("pipeline %s has two cursors in table %s", c.PipelineID, c.Table)
		case key.ValidRun(c.RunID) != nil:
			return fmt.Errorf("the cursor of pipeline %s has the run id %q, which is none", c.PipelineID, c.RunID)
		case c.CommittedAt.IsZero() || !c.CommittedAt.Holds():
			return fmt.Errorf("the cursor of pipeline %s has no committed_at that can be kept", c.PipelineID)
		case !json.Valid(c.Position):
			return fmt.Errorf("the cursor of pipeline %s has no position", c.PipelineID)
		}
		seen[at] = true
	}
	return nil
}

func statusWord(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && s[i] != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxStatus
}
