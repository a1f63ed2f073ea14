package manifest

import (
	"encoding/json"
	"fmt"

	"contextful/ref/fault"

	strict "github.com/go-json-experiment/json"
)

// LogEntry is one file of a commit log: cursors/<pipeline>/<node>/<seq>.json (store.lease.commit-log).
type LogEntry struct {
	// Kind is "acquire" or "commit".
	Kind   string          `json:"kind"`
	Table  string          `json:"table,omitempty"`
	RunID  string          `json:"run_id,omitempty"`
	Cursor json.RawMessage `json:"cursor,omitempty"`
	Fence  *int64          `json:"fence,omitempty"`
}

// DecodeLogEntry reads one; path is what messages name. Refusals: StoreManifestInvalid.
func DecodeLogEntry(path string, data []byte) (*LogEntry, error) {
	e := &LogEntry{}
	if err := document(fault.StoreManifestInvalid, path, "commit-log entry", data, MaxPointer, e); err != nil {
		return nil, err
	}
	if e.Kind != "acquire" && e.Kind != "commit" {
		return nil, fault.New(fault.StoreManifestInvalid, path, fmt.Sprintf("%s is no commit-log entry: its kind is %q", path, e.Kind))
	}
	if e.Fence != nil && *e.Fence < 0 {
		return nil, fault.New(fault.StoreManifestInvalid, path, path+" carries a negative fence")
	}
	return e, nil
}

// EncodeLogEntry prints one.
func EncodeLogEntry(e *LogEntry) ([]byte, error) { return encode(e) }

// FenceBelow tells whether fence a is below fence b, a missing fence being below every number.
func FenceBelow(a, b *int64) bool {
	return b != nil && (a == nil || *a < *b)
}

// Frontier gives the frontier this run would be.
func (r *Run) Frontier() Frontier {
	f := Frontier{Run: r.Key(), CommitSeq: -1, CommittedAt: r.CommittedAt}
	if r.CommitSeq != nil {
		f.CommitSeq = *r.CommitSeq
	}
	return f
}

// frontierText is a frontier's form in a document.
type frontierText struct {
	Run         string  `json:"run"`
	CommitSeq   *int64  `json:"commit_seq,omitempty"`
	CommittedAt Instant `json:"committed_at"`
}

// MarshalJSON leaves out the commit_seq that the run did not have.
func (f Frontier) MarshalJSON() ([]byte, error) {
	text := frontierText{Run: f.Run, CommittedAt: f.CommittedAt}
	if f.CommitSeq >= 0 {
		text.CommitSeq = &f.CommitSeq
	}
	return json.Marshal(text)
}

// UnmarshalJSON reads a commit_seq that is missing as the lowest, as Compare does.
func (f *Frontier) UnmarshalJSON(data []byte) error {
	var text frontierText
	if err := strict.Unmarshal(data, &text); err != nil {
		return err
	}
	*f = Frontier{Run: text.Run, CommitSeq: -1, CommittedAt: text.CommittedAt}
	if text.CommitSeq != nil {
		if f.CommitSeq = *text.CommitSeq; f.CommitSeq < 0 {
			return fmt.Errorf("the replacement's commit_seq is %d", f.CommitSeq)
		}
	}
	return nil
}

// Compare orders runs and frontiers by (commit_seq, committed_at, key); a missing commit_seq sorts first.
func (f Frontier) Compare(g Frontier) int {
	switch {
	case f.CommitSeq != g.CommitSeq:
		if f.CommitSeq < g.CommitSeq {
			return -1
		}
		return 1
	case !f.CommittedAt.Equal(g.CommittedAt.Time):
		return f.CommittedAt.Compare(g.CommittedAt.Time)
	case f.Run < g.Run:
		return -1
	case f.Run > g.Run:
		return 1
	}
	return 0
}
