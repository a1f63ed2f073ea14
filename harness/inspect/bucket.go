package inspect

import (
	"encoding/json"
	"strings"
	"time"
)

// A BucketDoc is <prefix>/manifest.json or one of its generations.
type BucketDoc struct {
	Format      int                   `json:"format"`
	Generation  int64                 `json:"generation"`
	CommittedAt time.Time             `json:"committed_at"`
	CommittedBy string                `json:"committed_by"`
	Entries     map[string]Entry      `json:"entries"`
	Tombstones  map[string]any        `json:"tombstones"`
	Pointers    map[string]PointerDoc `json:"-"`
	Raw         []byte                `json:"-"`
}

// An Entry is one listed object.
type Entry struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Owner  string `json:"owner"`
}

// DecodeBucket reads the text of a bucket manifest.
func DecodeBucket(what string, text []byte) (BucketDoc, error) {
	var doc struct {
		BucketDoc
		RawPointers map[string]json.RawMessage `json:"pointers"`
	}
	if err := decode(what, text, &doc, "generation", "entries", "pointers"); err != nil {
		return doc.BucketDoc, err
	}
	b := doc.BucketDoc
	b.Raw, b.Pointers = text, map[string]PointerDoc{}
	for key, raw := range doc.RawPointers {
		p, err := DecodePointer(what+": the pointer "+key, raw)
		if err != nil {
			return b, err
		}
		b.Pointers[key] = p
	}
	return b, nil
}

// A LeaseDoc is a lease object; an empty Holder is a released one.
type LeaseDoc struct {
	Holder     string
	AcquiredAt time.Time
	ExpiresAt  time.Time
	Fence      int64
}

// DecodeLease reads the text of a lease object.
func DecodeLease(what string, text []byte) (LeaseDoc, error) {
	var doc struct {
		Holder     *string    `json:"holder"`
		AcquiredAt *time.Time `json:"acquired_at"`
		ExpiresAt  *time.Time `json:"expires_at"`
		Fence      int64      `json:"fence"`
	}
	if err := decode(what, text, &doc, "holder", "fence"); err != nil {
		return LeaseDoc{}, err
	}
	l := LeaseDoc{Fence: doc.Fence}
	if doc.Holder != nil {
		l.Holder = *doc.Holder
	}
	if doc.AcquiredAt != nil {
		l.AcquiredAt = *doc.AcquiredAt
	}
	if doc.ExpiresAt != nil {
		l.ExpiresAt = *doc.ExpiresAt
	}
	return l, nil
}

// IsPart reports whether a bucket or store key is a Parquet part.
func IsPart(key string) bool {
	return strings.HasSuffix(key, ".parquet") && strings.Contains(key, "/data/")
}

// IsRunManifest reports whether a key is the manifest of a run.
func IsRunManifest(key string) bool {
	return strings.HasSuffix(key, "/_manifest.json") && strings.Contains(key, "/data/runs/")
}

// IsPointer reports whether a key is a table's pointer.
func IsPointer(key string) bool { return strings.HasSuffix(key, "/_pointer.json") }
