// Package key holds the names of a store and of its bucket: what a name may look like, where each file lies relative to
// the store root, and what a path found on disk or in an untrusted bucket manifest is.
//
// Answers: store.lay-out.components, store.lay-out.snapshot-id, store.merge.ownership.
//
//	store-id
//	cursors/<pipeline>/<node>/<seq>.json            seq: 20 digits
//	nodes/<node>/run-state.json
//	control/…
//	blobs/<sha256>
//	tables/<table>/schema.json, _pointer.json
//	tables/<table>/data/runs/<run>/<node>/_manifest.json, _group.json, <part>
//	tables/<table>/data/snapshots/<snapshot>/_manifest.json, _collected.json, folded-*.parquet, indexes/…, [<partition>/…]<part>
//	tables/<table>/requests/<run>.<node>.parquet
//
// Names are checked before a path is built of them: no function here returns a path that could leave the store root when
// its arguments passed their Valid check. A name that begins with a dot is refused everywhere, because dot-files are this
// machine's own (locks, temporary files) and never sync.
package key

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"
)

const (
	maxSegment = 200  // bytes of one path segment: file systems stop at 255, and names grow by suffixes
	maxRun     = 180  // bytes of a run id: "<run>.<node>.parquet" must stay one file name
	maxNode    = 64   // bytes of a node id
	maxKey     = 1024 // bytes of a whole key: S3's bound
)

// ValidProject accepts "/"-separated segments of [A-Za-z0-9._-] that do not begin with a dot (StoreNameInvalid otherwise).
func ValidProject(name string) error { return segments("project name", name, nil) }

// ValidTable accepts what ValidProject accepts, with no segment named data, requests or schema.json and none beginning
// with "_": such a table would lie inside another table's own files (StoreNameInvalid otherwise).
func ValidTable(name string) error {
	return segments("table name", name, func(seg string) string {
		switch {
		case seg == "data" || seg == "requests" || seg == "schema.json":
			return "\"" + seg + "\" is a table's own file"
		case seg[0] == '_':
			return "a segment begins with \"_\""
		}
		return ""
	})
}

// ValidRun accepts one segment of [A-Za-z0-9._-], at most 180 bytes, not beginning with a dot (StoreNameInvalid otherwise).
func ValidRun(id string) error { return single("run id", id, maxRun) }

// ValidPipeline accepts one segment, as ValidRun does.
func ValidPipeline(id string) error { return single("pipeline id", id, maxRun) }

// ValidNode accepts one segment of [A-Za-z0-9_-], 1 to 64 bytes: without a dot, so that the owner in a request ledger's
// name is unambiguous (StoreNameInvalid otherwise).
func ValidNode(id string) error {
	if id == "" {
		return invalid("node id", id, "it is empty")
	}
	if len(id) > maxNode {
		return invalid("node id", id, "it is longer than 64 bytes")
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; !plain(c) || c == '.' {
			return invalid("node id", id, "only A-Z, a-z, 0-9, \"_\" and \"-\" are allowed")
		}
	}
	return nil
}

func single(what, name string, limit int) error {
	if reason := segmentFault(name); reason != "" {
		return invalid(what, name, reason)
	}
	if len(name) > limit {
		return invalid(what, name, "it is too long")
	}
	return nil
}

func segments(what, name string, also func(string) string) error {
	if len(name) > maxKey/2 {
		return invalid(what, name, "it is too long")
	}
	for _, seg := range strings.Split(name, "/") {
		if reason := segmentFault(seg); reason != "" {
			return invalid(what, name, reason)
		}
		if also != nil {
			if reason := also(seg); reason != "" {
				return invalid(what, name, reason)
			}
		}
	}
	return nil
}

// segmentFault says what is wrong with one segment of a name, or "".
func segmentFault(seg string) string {
	if seg == "" {
		return "a segment is empty"
	}
	if len(seg) > maxSegment {
		return "a segment is longer than 200 bytes"
	}
	if seg[0] == '.' {
		return "a segment begins with a dot"
	}
	for i := 0; i < len(seg); i++ {
		if !plain(seg[i]) {
			return "only A-Z, a-z, 0-9, \".\", \"_\" and \"-\" are allowed"
		}
	}
	return ""
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

func invalid(what, name, reason string) error {
	example := "2026-11-30 or r7"
	switch what {
	case "project name", "table name":
		example = "documents or filings/annual"
	case "pipeline id":
		example = "filings-sync"
	case "node id":
		example = "desk or laptop-2"
	}
	return fault.New(fault.StoreNameInvalid, name, what+" "+quote(name)+" is not path-safe: "+reason).WithHint("a " + what + " looks like " + example)
}

// quote shows an untrusted name on one line and no longer than a person reads: what prints stands as it is, all else is
// escaped.
func quote(s string) string {
	const most = 120
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}
