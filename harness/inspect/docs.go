package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// A PointerDoc is a table's _pointer.json. An empty SnapshotID is "no snapshot yet"; a nil Fence is below every number.
type PointerDoc struct {
	SnapshotID string
	Fence      *int64
}

// A Part is one Parquet file a manifest names. Path is absolute where the manifest was read from disk.
type Part struct {
	Name       string          `json:"name"`
	SnapshotID string          `json:"snapshot_id"`
	Rows       int64           `json:"rows"`
	Partition  json.RawMessage `json:"partition"`
	SHA256     string          `json:"sha256"`
	Path       string          `json:"-"`
}

// A RunDoc is a run's _manifest.json. Dir is the node directory it was read from, RunSegment and NodeSegment its path.
type RunDoc struct {
	FormatVersion string          `json:"format_version"`
	RunID         string          `json:"run_id"`
	Table         string          `json:"table"`
	NodeID        string          `json:"node_id"`
	Parts         []Part          `json:"parts"`
	CommittedAt   time.Time       `json:"committed_at"`
	CommitSeq     *int64          `json:"commit_seq"`
	BatchDigest   string          `json:"batch_digest"`
	RowCount      int64           `json:"row_count"`
	SiteID        string          `json:"site_id"`
	Fence         *int64          `json:"fence"`
	Replacement   bool            `json:"replacement"`
	Logged        bool            `json:"logged"`
	Cursor        json.RawMessage `json:"cursor"`
	Dir           string          `json:"-"`
	Raw           []byte          `json:"-"`
}

// Key is "<run-id>/<node-id>".
func (r RunDoc) Key() string { return r.RunID + "/" + r.NodeID }

// A SnapshotDoc is a snapshot's _manifest.json; an empty Parent is a root.
type SnapshotDoc struct {
	FormatVersion string    `json:"format_version"`
	SnapshotID    string    `json:"snapshot_id"`
	Parent        string    `json:"parent"`
	Table         string    `json:"table"`
	CreatedAt     time.Time `json:"created_at"`
	IncludesRuns  []string  `json:"includes_runs"`
	PrimaryKey    []string  `json:"primary_key"`
	OrderBy       string    `json:"order_by"`
	RowCount      int64     `json:"row_count"`
	Parts         []Part    `json:"parts"`
	Fence         *int64    `json:"fence"`
	CommitSeq     *int64    `json:"commit_seq"`
	Dir           string    `json:"-"`
	Raw           []byte    `json:"-"`
}

// SnapshotForm is the form of a snapshot id.
var SnapshotForm = regexp.MustCompile(`^snapshot-[0-9]{20}$`)

// A DocumentError says that a document or a part of the store is not there, or is not what it has to be: a finding about
// whoever wrote it, never a failure to look. It wraps fs.ErrNotExist where the thing is missing.
type DocumentError struct{ Err error }

func (e *DocumentError) Error() string { return e.Err.Error() }

func (e *DocumentError) Unwrap() error { return e.Err }

// wrong makes a DocumentError.
func wrong(format string, args ...any) error { return &DocumentError{fmt.Errorf(format, args...)} }

// decode reads a JSON object into v and insists on the required keys. Numbers keep every digit because v has integers.
func decode(what string, text []byte, v any, required ...string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return wrong("%s is not a JSON object: %w", what, err)
	}
	for _, k := range required {
		if _, ok := keys[k]; !ok {
			return wrong("%s has no key %q", what, k)
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(v); err != nil {
		return wrong("%s: %w", what, err)
	}
	return nil
}

// DecodePointer reads the text of a pointer.
func DecodePointer(what string, text []byte) (PointerDoc, error) {
	var doc struct {
		SnapshotID *string `json:"snapshot_id"`
		Fence      *int64  `json:"fence"`
	}
	if err := decode(what, text, &doc, "snapshot_id", "fence"); err != nil {
		return PointerDoc{}, err
	}
	p := PointerDoc{Fence: doc.Fence}
	if doc.SnapshotID != nil {
		p.SnapshotID = *doc.SnapshotID
		if !SnapshotForm.MatchString(p.SnapshotID) {
			return p, wrong("%s names %q, which is no snapshot id", what, p.SnapshotID)
		}
	}
	return p, nil
}

// TableDir is a table's directory below a store root.
func TableDir(root, table string) string {
	return filepath.Join(root, "tables", filepath.FromSlash(table))
}

// PointerPath is where a table's pointer lies.
func PointerPath(root, table string) string {
	return filepath.Join(TableDir(root, table), "_pointer.json")
}

// Pointer reads a table's pointer; fs.ErrNotExist where there is none.
func Pointer(root, table string) (PointerDoc, error) {
	path := PointerPath(root, table)
	text, err := os.ReadFile(path)
	if err != nil {
		return PointerDoc{}, err
	}
	return DecodePointer(path, text)
}

// Runs reads the manifest of every committed run of a table, sorted by run id and node id.
func Runs(root, table string) ([]RunDoc, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(TableDir(root, table)), "data", "runs", "*", "*", "_manifest.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var out []RunDoc
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		doc, err := DecodeRun(path, text)
		if err != nil {
			return nil, err
		}
		doc.Dir = filepath.Dir(path)
		for i := range doc.Parts {
			doc.Parts[i].Path = filepath.Join(doc.Dir, filepath.FromSlash(doc.Parts[i].Name))
		}
		out = append(out, doc)
	}
	return out, nil
}

// Run reads the manifest of one run of one node; fs.ErrNotExist where it is not committed.
func Run(root, table, run, node string) (RunDoc, error) {
	all, err := Runs(root, table)
	if err != nil {
		return RunDoc{}, err
	}
	for _, r := range all {
		if r.RunID == run && (node == "" || r.NodeID == node) {
			return r, nil
		}
	}
	return RunDoc{}, wrong("run %s of %s: %w", run, table, fs.ErrNotExist)
}

// DecodeRun reads the text of a run manifest.
func DecodeRun(what string, text []byte) (RunDoc, error) {
	var doc RunDoc
	err := decode(what, text, &doc, "format_version", "run_id", "table", "node_id", "parts", "committed_at")
	doc.Raw = text
	return doc, err
}

// DecodeSnapshot reads the text of a snapshot manifest.
func DecodeSnapshot(what string, text []byte) (SnapshotDoc, error) {
	var doc struct {
		SnapshotDoc
		Parent *string `json:"parent"`
	}
	if err := decode(what, text, &doc, "format_version", "snapshot_id", "parent", "table", "created_at", "includes_runs", "parts", "fence"); err != nil {
		return doc.SnapshotDoc, err
	}
	s := doc.SnapshotDoc
	if doc.Parent != nil {
		s.Parent = *doc.Parent
	}
	s.Raw = text
	return s, nil
}

// SnapshotDir is where a snapshot lies.
func SnapshotDir(root, table, id string) string {
	return filepath.Join(TableDir(root, table), "data", "snapshots", id)
}

// Snapshot reads one snapshot's manifest; fs.ErrNotExist where it is not here. Part paths follow each part's origin.
func Snapshot(root, table, id string) (SnapshotDoc, error) {
	path := filepath.Join(SnapshotDir(root, table, id), "_manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return SnapshotDoc{}, err
	}
	doc, err := DecodeSnapshot(path, text)
	doc.Dir = filepath.Dir(path)
	for i, p := range doc.Parts {
		origin := p.SnapshotID
		if origin == "" {
			origin = id
		}
		doc.Parts[i].Path = filepath.Join(SnapshotDir(root, table, origin), filepath.FromSlash(p.Name))
	}
	return doc, err
}

// Chain reads the snapshots from the pointer down to the root, newest first; none where there is no pointer or it names
// no snapshot. A missing link is an error.
func Chain(root, table string) ([]SnapshotDoc, error) {
	p, err := Pointer(root, table)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []SnapshotDoc
	seen := map[string]bool{}
	for id := p.SnapshotID; id != ""; {
		if seen[id] {
			return nil, wrong("the chain of %s comes back to %s", table, id)
		}
		seen[id] = true
		s, err := Snapshot(root, table, id)
		if err != nil {
			return nil, wrong("the chain of %s: %w", table, err)
		}
		out = append(out, s)
		id = s.Parent
	}
	return out, nil
}

// Snapshots lists the ids of the snapshot directories that hold a manifest, sorted.
func Snapshots(root, table string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(TableDir(root, table)), "data", "snapshots", "*", "_manifest.json"))
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Base(filepath.Dir(p)))
	}
	sort.Strings(out)
	return out, err
}

// Tables lists the tables that have a schema, a run or a snapshot, sorted.
func Tables(root string) ([]string, error) {
	base := filepath.Join(root, "tables")
	found := map[string]bool{}
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if name == "schema.json" || name == "_pointer.json" || (d.IsDir() && name == "data") {
			rel, err := filepath.Rel(base, filepath.Dir(path))
			if err != nil {
				return err
			}
			found[filepath.ToSlash(rel)] = true
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	if os.IsNotExist(err) {
		return nil, nil
	}
	var out []string
	for t := range found {
		out = append(out, t)
	}
	sort.Strings(out)
	return out, err
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n$`)

// StoreID reads store-id; fs.ErrNotExist where there is none, another error where it is not canonical.
func StoreID(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "store-id"))
	if err != nil {
		return "", err
	}
	if !uuid4.Match(text) {
		return "", wrong("store-id holds %q, which is no canonical UUID of version 4 and a line end", text)
	}
	return strings.TrimSpace(string(text)), nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
