package key

import (
	"errors"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"
)

// Kind classifies a file of a store.
type Kind int

// The kinds. Only files of these kinds ever sync.
const (
	KindNone Kind = iota
	KindStoreID
	KindCommitLog
	KindRunState
	KindControl
	KindBlob
	KindSchema
	KindPointer
	KindRunManifest
	KindRunGroup
	KindRunPart
	KindSnapshotManifest
	KindSnapshotCollected
	KindSnapshotFolded // a folded-runs segment
	KindSnapshotIndex  // under indexes/
	KindSnapshotPart
	KindRequests
)

// ErrNotSyncable: the path is safe, and names nothing that syncs (a local file, a lock, or something foreign).
var ErrNotSyncable = errors.New("not a file that syncs")

// Parsed is what a store-relative path says. Fields that its kind does not have are "".
type Parsed struct {
	Kind     Kind
	Table    string
	Run      string
	Node     string
	Snapshot string
	Pipeline string
	// Name is the rest: the file name, or the path below the snapshot's directory, or below control/.
	Name string
}

// Parse classifies a path relative to the store root. The error is SyncPrefixEscape for a path that is not safe to join
// to the root, and wraps ErrNotSyncable for everything that is no file of a kind above.
func Parse(rel string) (Parsed, error) {
	if err := Check(rel); err != nil {
		return Parsed{}, err
	}
	seg := strings.Split(rel, "/")
	for _, s := range seg {
		if s[0] == '.' {
			return unknown(rel)
		}
	}
	switch seg[0] {
	case StoreIDName:
		if len(seg) == 1 {
			return Parsed{Kind: KindStoreID, Name: StoreIDName}, nil
		}
	case "cursors":
		if len(seg) == 4 && ValidPipeline(seg[1]) == nil && ValidNode(seg[2]) == nil {
			if digits, ok := strings.CutSuffix(seg[3], ".json"); ok && len(digits) == 20 && allDigits(digits) {
				return Parsed{Kind: KindCommitLog, Pipeline: seg[1], Node: seg[2], Name: seg[3]}, nil
			}
		}
	case "nodes":
		if len(seg) == 3 && ValidNode(seg[1]) == nil && seg[2] == "run-state.json" {
			return Parsed{Kind: KindRunState, Node: seg[1], Name: seg[2]}, nil
		}
	case "control":
		if len(seg) > 1 {
			return Parsed{Kind: KindControl, Name: strings.Join(seg[1:], "/")}, nil
		}
	case "blobs":
		if len(seg) == 2 && IsDigest(seg[1]) {
			return Parsed{Kind: KindBlob, Name: seg[1]}, nil
		}
	case "tables":
		return parseTable(rel, seg[1:])
	}
	return unknown(rel)
}

func parseTable(rel string, seg []string) (Parsed, error) {
	// A table's segments are never data, requests, schema.json or "_…", so the first of those ends its name.
	end := 0
	for end < len(seg) && ValidTable(seg[end]) == nil {
		end++
	}
	p := Parsed{Table: strings.Join(seg[:end], "/")}
	rest := seg[end:]
	if end == 0 || len(rest) == 0 || ValidTable(p.Table) != nil {
		return unknown(rel)
	}
	p.Name = rest[len(rest)-1]
	switch {
	case len(rest) == 1 && rest[0] == SchemaName:
		p.Kind = KindSchema
	case len(rest) == 1 && rest[0] == PointerName:
		p.Kind = KindPointer
	case len(rest) == 2 && rest[0] == "requests":
		return parseLedger(rel, p)
	case len(rest) == 5 && rest[0] == "data" && rest[1] == "runs":
		return parseRun(rel, p, rest[2:])
	case len(rest) >= 4 && rest[0] == "data" && rest[1] == "snapshots":
		return parseSnapshot(rel, p, rest[2:])
	}
	if p.Kind == KindNone {
		return unknown(rel)
	}
	return p, nil
}

func parseLedger(rel string, p Parsed) (Parsed, error) {
	name, ok := strings.CutSuffix(p.Name, ".parquet")
	dot := strings.LastIndexByte(name, '.')
	if !ok || dot < 0 {
		return unknown(rel)
	}
	p.Kind, p.Run, p.Node = KindRequests, name[:dot], name[dot+1:]
	if ValidRun(p.Run) != nil || ValidNode(p.Node) != nil {
		return unknown(rel)
	}
	return p, nil
}

func parseRun(rel string, p Parsed, seg []string) (Parsed, error) {
	p.Run, p.Node = seg[0], seg[1]
	if ValidRun(p.Run) != nil || ValidNode(p.Node) != nil {
		return unknown(rel)
	}
	switch {
	case p.Name == ManifestName:
		p.Kind = KindRunManifest
	case p.Name == GroupName:
		p.Kind = KindRunGroup
	case RunPartName(p.Name):
		p.Kind = KindRunPart
	default:
		return unknown(rel)
	}
	return p, nil
}

func parseSnapshot(rel string, p Parsed, seg []string) (Parsed, error) {
	p.Snapshot, p.Name = seg[0], strings.Join(seg[1:], "/")
	if ValidSnapshot(p.Snapshot) != nil {
		return unknown(rel)
	}
	switch {
	case p.Name == ManifestName:
		p.Kind = KindSnapshotManifest
	case p.Name == CollectedName:
		p.Kind = KindSnapshotCollected
	case seg[1] == "indexes" && len(seg) > 2:
		p.Kind = KindSnapshotIndex
	case FoldedSegmentName(p.Name):
		p.Kind = KindSnapshotFolded
	case SnapshotPartName(p.Name):
		p.Kind = KindSnapshotPart
	default:
		return unknown(rel)
	}
	return p, nil
}

// RunPartName tells whether a run manifest may name this part: one plain segment ending in .parquet, not beginning with
// "_" or a dot.
func RunPartName(name string) bool {
	return segmentFault(name) == "" && name[0] != '_' && strings.HasSuffix(name, ".parquet")
}

// FoldedSegmentName tells whether a snapshot manifest may name this folded-runs segment: one plain segment beginning with
// "folded-" and ending in .parquet.
func FoldedSegmentName(name string) bool {
	return RunPartName(name) && strings.HasPrefix(name, foldedPrefix)
}

// SnapshotPartName tells whether a snapshot manifest may name this part: plain segments (partition directories, with
// percent-escapes and "=") and a last one as RunPartName has it.
func SnapshotPartName(name string) bool {
	seg := strings.Split(name, "/")
	last := len(seg) - 1
	if len(name) > maxKey || seg[0] == "indexes" || !RunPartName(seg[last]) {
		return false
	}
	for _, s := range seg[:last] {
		if segmentFault(strings.NewReplacer("%", "", "=", "").Replace(s)) != "" || s[0] == '.' || s[0] == '_' {
			return false
		}
	}
	return true
}

// IsDigest tells whether s is a lower-case hexadecimal SHA-256.
func IsDigest(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Owner is the node a store-relative path belongs to: the node segment of a run directory, of a request ledger's name, of
// a commit-log directory or of a run-state directory; "" for every other path (store.merge.ownership).
func Owner(rel string) string {
	p, err := Parse(rel)
	if err != nil {
		return ""
	}
	return p.Node
}

// Check refuses a key that could lead outside the prefix or the store root it is joined to: SyncPrefixEscape, naming the
// key. Refused are absolute keys, the segments "", "." and "..", backslashes, control bytes, bytes that are no UTF-8, and
// keys longer than 1,024 bytes. A symbolic link on the way is vfs.NoSymlink's to find.
func Check(key string) error {
	reason := ""
	switch {
	case key == "":
		reason = "it is empty"
	case len(key) > maxKey:
		reason = "it is longer than 1024 bytes"
	case key[0] == '/':
		reason = "it is absolute"
	case strings.ContainsRune(key, '\\'):
		reason = "it holds a backslash"
	case strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		reason = "it holds a control character"
	case !utf8.ValidString(key):
		reason = "it is no UTF-8 text"
	default:
		for _, seg := range strings.Split(key, "/") {
			if seg == "" || seg == "." || seg == ".." {
				reason = "it holds the segment " + quote(seg)
				break
			}
		}
	}
	if reason == "" {
		return nil
	}
	return fault.New(fault.SyncPrefixEscape, key, "key "+quote(key)+" would leave its prefix or the store root: "+reason)
}

func unknown(rel string) (Parsed, error) {
	return Parsed{}, &notSyncable{rel}
}

type notSyncable struct{ rel string }

func (e *notSyncable) Error() string { return quote(e.rel) + " is not a file that syncs" }
func (e *notSyncable) Unwrap() error { return ErrNotSyncable }
