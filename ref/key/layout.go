package key

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// File names with a meaning.
const (
	ManifestName    = "_manifest.json"
	GroupName       = "_group.json"
	CollectedName   = "_collected.json"
	PointerName     = "_pointer.json"
	SchemaName      = "schema.json"
	CommitSeqName   = "_commit_seq"
	StoreIDName     = "store-id"
	ConfigName      = "config.toml"
	LockName        = ".lock"
	CaptureLockName = ".capture.lock"
	WriterLockName  = ".writer.lock"
	KeptName        = ".kept" // in a snapshot's directory: it may still be published
	PushLockName    = ".push.lock"
	TemporaryPrefix = ".tmp-"
	StagingSuffix   = ".staging"
	snapshotPrefix  = "snapshot-"
	foldedPrefix    = "folded-"
)

// StoreRoot is where the store of a project lies, given the directory of its contextful.toml.
func StoreRoot(projectDir, project string) string {
	return path.Join(projectDir, ".contextful", "context", project)
}

// Paths relative to the store root. Their arguments must have passed their Valid checks.

// TableDir is tables/<table>.
func TableDir(table string) string { return "tables/" + table }

// Pointer is the table's pointer.
func Pointer(table string) string { return TableDir(table) + "/" + PointerName }

// Schema is the table's merged schema.
func Schema(table string) string { return TableDir(table) + "/" + SchemaName }

// CommitSeq is the table's local cache of the highest commit sequence.
func CommitSeq(table string) string { return TableDir(table) + "/" + CommitSeqName }

// CaptureLock is held by a capture of the table's documents, local.
func CaptureLock(table string) string { return TableDir(table) + "/" + CaptureLockName }

// TableLock is the table's lock file, local.
func TableLock(table string) string { return TableDir(table) + "/" + LockName }

// RunsDir holds one directory per run id.
func RunsDir(table string) string { return TableDir(table) + "/data/runs" }

// RunDir is one run of one node.
func RunDir(table, run, node string) string { return RunsDir(table) + "/" + run + "/" + node }

// RunManifest is what commits that run.
func RunManifest(table, run, node string) string {
	return RunDir(table, run, node) + "/" + ManifestName
}

// SnapshotsDir holds one directory per snapshot.
func SnapshotsDir(table string) string { return TableDir(table) + "/data/snapshots" }

// SnapshotDir is one snapshot.
func SnapshotDir(table, snapshot string) string { return SnapshotsDir(table) + "/" + snapshot }

// StagingDir is the same snapshot while a pass works on it, local.
func StagingDir(table, snapshot string) string { return SnapshotDir(table, snapshot) + StagingSuffix }

// SnapshotManifest describes that snapshot.
func SnapshotManifest(table, snapshot string) string {
	return SnapshotDir(table, snapshot) + "/" + ManifestName
}

// RequestLedger is tables/<table>/requests/<run>.<node>.parquet.
func RequestLedger(table, run, node string) string {
	return TableDir(table) + "/requests/" + run + "." + node + ".parquet"
}

// CommitLogDir holds a node's commit log of one pipeline.
func CommitLogDir(pipeline, node string) string { return "cursors/" + pipeline + "/" + node }

// CommitLogEntry is entry seq (>= 0) of that log.
func CommitLogEntry(pipeline, node string, seq int64) string {
	return fmt.Sprintf("%s/%020d.json", CommitLogDir(pipeline, node), seq)
}

// NodeDir holds what a node tells the others.
func NodeDir(node string) string { return "nodes/" + node }

// RunState is what a node tells the others of its runs.
func RunState(node string) string { return NodeDir(node) + "/run-state.json" }

// PartName is the file name of part n (from 0).
func PartName(n int) string { return fmt.Sprintf("part-%05d.parquet", n) }

// FoldedName is the file name of folded-runs segment n (from 0).
func FoldedName(n int) string { return fmt.Sprintf("%s%05d.parquet", foldedPrefix, n) }

// Keys relative to the bucket prefix.

// BucketManifest is the key every reader of a bucket begins with.
const BucketManifest = "manifest.json"

// Generation is the immutable copy of generation n of the bucket manifest.
func Generation(n int64) string { return "manifests/gen-" + strconv.FormatInt(n, 10) + ".json" }

// ProbeSentinel is the probe's object, id being a fresh UUID.
func ProbeSentinel(id string) string { return "_contextful/cas-probe/" + id }

// InProject puts a store-relative path under its project.
func InProject(project, rel string) string { return project + "/" + rel }

// WithoutProject strips the project; ok is false where the key belongs to another.
func WithoutProject(project, key string) (rel string, ok bool) {
	return strings.CutPrefix(key, project+"/")
}

// PipelineLease is the lease of a pipeline.
func PipelineLease(project, pipeline string) string { return project + "/leases/" + pipeline + ".json" }

// CompactLease is the lease of a table's compaction.
func CompactLease(project, table string) string {
	return project + "/leases/compact/" + table + ".json"
}

// SnapshotID prints "snapshot-" and the nanosecond value (>= 0), zero-padded to 20 characters
// (store.lay-out.snapshot-id).
func SnapshotID(nanos int64) string { return fmt.Sprintf("%s%020d", snapshotPrefix, nanos) }

// SnapshotNumber reads a snapshot id's number; ok is false for anything SnapshotID does not print.
func SnapshotNumber(id string) (nanos int64, ok bool) {
	digits, found := strings.CutPrefix(id, snapshotPrefix)
	if !found || len(digits) != 20 || !allDigits(digits) {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// ValidSnapshot accepts what SnapshotID prints (StoreNameInvalid otherwise).
func ValidSnapshot(id string) error {
	if _, ok := SnapshotNumber(id); !ok {
		return invalid("snapshot id", id, "it must be \"snapshot-\" and 20 digits of a nanosecond value")
	}
	return nil
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
