package pipeline

import (
	"encoding/json"
)

// Outcome is what became of one table in a run of its pipeline.
type Outcome string

// Outcomes. Landed: rows were appended. Replaced: a complete inventory is the table now. Empty: a complete inventory without rows
// is. Unchanged: the source had nothing new. Failed: Report.Err says why; what Report.Runs holds was committed before.
const (
	Landed    Outcome = "landed"
	Replaced  Outcome = "replaced"
	Empty     Outcome = "empty"
	Unchanged Outcome = "unchanged"
	Failed    Outcome = "failed"
)

// Report is one table of one pipeline.
type Report struct {
	Pipeline string
	Table    string
	Outcome  Outcome
	Runs     []Batch
	Rows     int64           // of Runs
	Position json.RawMessage // the committed one, nil for none
	Err      error
}

// Batch is one committed run.
type Batch struct {
	RunID     string
	Rows      int64
	CommitSeq int64
}
