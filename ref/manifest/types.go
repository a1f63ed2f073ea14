// Package manifest holds the JSON documents of a store and of its bucket: bytes in, bytes out, no I/O.
//
// Answers: store.lay-out.run-manifest, store.lay-out.table-pointer, store.lay-out.format-version, store.push.manifest-commit.
// Every integer stays an integer (2^53+1 survives), unknown fields of a newer minor are ignored on reading, a missing field
// reads as its default, and instants are RFC 3339 UTC with nine fractional digits and Z.
package manifest

import "encoding/json"

// Run is the commit record of one landing on one node: tables/<t>/data/runs/<run-id>/<node-id>/_manifest.json.
type Run struct {
	FormatVersion string          `json:"format_version"`
	RunID         string          `json:"run_id"`
	Table         string          `json:"table"`
	NodeID        string          `json:"node_id"`
	Parts         []Part          `json:"parts"`
	CommittedAt   Instant         `json:"committed_at"`
	PipelineID    string          `json:"pipeline_id,omitempty"`
	Cursor        json.RawMessage `json:"cursor,omitempty"`
	Fence         *int64          `json:"fence,omitempty"`
	Logged        bool            `json:"logged,omitempty"`
	CommitSeq     *int64          `json:"commit_seq,omitempty"`
	BatchDigest   string          `json:"batch_digest,omitempty"`
	// Replacement marks a replacement frontier: this run is the whole table, every earlier run is superseded.
	Replacement  bool            `json:"replacement,omitempty"`
	RowCount     int64           `json:"row_count"`
	RelandedFrom string          `json:"relanded_from,omitempty"`
	SiteID       string          `json:"site_id,omitempty"`
	AuthoredBy   string          `json:"authored_by,omitempty"`
	Taint        json.RawMessage `json:"taint,omitempty"`
}

// Key is "<run-id>/<node-id>", how snapshots name a run.
func (r *Run) Key() string { return r.RunID + "/" + r.NodeID }

// Part is one Parquet file. In a run manifest the name is relative to the run's node directory; in a snapshot manifest it is
// relative to data/snapshots/<SnapshotID>/ and may lie in a partition directory.
type Part struct {
	Name       string `json:"name"`
	SnapshotID string `json:"snapshot_id,omitempty"`
	Rows       int64  `json:"rows"`
	// Partition holds the partition columns' values as text, in partition_by order; nil where the table has none.
	Partition  []*string `json:"partition,omitempty"`
	KeyVersion *int64    `json:"key_version,omitempty"`
	SHA256     string    `json:"sha256,omitempty"`
	// FineColumns names the timestamp columns holding digits below the microsecond; [] means "none, and this writer looked",
	// absent means unknown: such a part is read exactly, by the slow way. Ours; other readers ignore it.
	FineColumns *[]string `json:"fine_columns,omitempty"`
	// JSONColumns names the columns whose every value in this part is a JSON document, sorted; any other text of the part is
	// plain text, and reads as the JSON string of it where its column has become json since (store.reconcile.lattice). Absent:
	// the part's own schema says. Ours; other readers ignore it.
	JSONColumns *[]string `json:"json_columns,omitempty"`
}

// Snapshot is a compacted, immutable set of parts: tables/<t>/data/snapshots/<snapshot-id>/_manifest.json.
type Snapshot struct {
	FormatVersion string   `json:"format_version"`
	SnapshotID    string   `json:"snapshot_id"`
	Parent        *string  `json:"parent"`
	Table         string   `json:"table"`
	CreatedAt     Instant  `json:"created_at"`
	IncludesRuns  []string `json:"includes_runs"`
	PrimaryKey    []string `json:"primary_key"`
	OrderBy       string   `json:"order_by,omitempty"`
	RowCount      int64    `json:"row_count"`
	// ValidTime and AvailableTime are set where the table declares them, and leave no trace where it does not.
	ValidTime     *ValidTime     `json:"valid_time,omitempty"`
	AvailableTime *AvailableTime `json:"available_time,omitempty"`
	// Parts of a document read are nil where a major 1 document has no such list: then its parts are what lies in its directory,
	// one in each (store.lay-out.format-migrate). Written, nil is an empty list.
	Parts     []Part          `json:"parts"`
	Indexes   json.RawMessage `json:"indexes,omitempty"`
	Fence     *int64          `json:"fence"`
	CommitSeq *int64          `json:"commit_seq,omitempty"`
	// Replacement is the newest frontier folded in, so that an older run arriving late stays superseded.
	Replacement *Frontier   `json:"replacement,omitempty"`
	FoldedRuns  *FoldedRuns `json:"folded_runs,omitempty"`
	// Nonce makes the writer's own document recognisable after an unknown outcome.
	Nonce string `json:"nonce,omitempty"`
}

// ValidTime names the columns that bound when a row held; To is "" where it is open. Also what schema.json records.
type ValidTime struct {
	From string `json:"from"`
	To   string `json:"to,omitempty"`
}

// AvailableTime names the column that says when a row was released, and the zone of values without an offset.
type AvailableTime struct {
	Column string `json:"column"`
	Zone   string `json:"zone"`
}

// Frontier names a replacement frontier: the run, its commit sequence and its instant. A run is superseded by it when it
// sorts before it by (commit_seq, committed_at, key). A run without a commit_seq has -1 here and none in the document.
type Frontier struct {
	Run         string  `json:"run"`
	CommitSeq   int64   `json:"commit_seq"`
	CommittedAt Instant `json:"committed_at"`
}

// Pointer names a table's current snapshot and its commit fence: tables/<t>/_pointer.json. A null snapshot reads as "none
// yet", a null fence is below every number.
type Pointer struct {
	SnapshotID *string `json:"snapshot_id"`
	Fence      *int64  `json:"fence"`
	// Writer and Nonce make a conditional write recognisable when read back after an unknown outcome.
	Writer string `json:"writer,omitempty"`
	Nonce  string `json:"nonce,omitempty"`
}

// Bucket is <prefix>/manifest.json: everything the bucket holds for its readers. Keys are relative to the prefix.
type Bucket struct {
	Format       int                        `json:"format"`
	Generation   int64                      `json:"generation"`
	CommittedAt  Instant                    `json:"committed_at"`
	CommittedBy  string                     `json:"committed_by"`
	Nonce        string                     `json:"nonce,omitempty"`
	Entries      map[string]Entry           `json:"entries"`
	Tombstones   map[string]Tombstone       `json:"tombstones"`
	Collected    map[string]json.RawMessage `json:"collected,omitempty"`
	Pointers     map[string]Pointer         `json:"pointers"`
	ControlHeads map[string]json.RawMessage `json:"control_heads,omitempty"`
}

// Entry is one object: its digest (lower-case hex SHA-256), its size in bytes and the node that owns it ("" for none).
type Entry struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Owner  string `json:"owner"`
}

// Tombstone records a deletion by the owner of a key.
type Tombstone struct {
	Owner     string  `json:"owner"`
	DeletedAt Instant `json:"deleted_at"`
	KeyID     string  `json:"key_id,omitempty"`
	Signature string  `json:"signature,omitempty"`
}
