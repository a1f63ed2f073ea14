package key

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"
)

// EscapePartition turns a partition value into one directory name: every byte outside [A-Za-z0-9._-] becomes %XX. Three
// cases the plain rule leaves open are escaped too, so that distinct values always get distinct, harmless names:
// the empty value ("%empty", which no escape produces), a name that would read as a dot-file or as one of the snapshot's
// own files (its first byte is escaped), and a value too long for a file name ("%long-" and its SHA-256).
func EscapePartition(value string) string {
	if value == "" {
		return "%empty"
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if c := value[i]; plain(c) && (i > 0 || !ownName(value)) {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	if b.Len() > maxSegment {
		sum := sha256.Sum256([]byte(value))
		return "%long-" + hex.EncodeToString(sum[:])
	}
	return b.String()
}

// PartitionDir is the directory of a row's partition values in partition_by order, "" where the table has none. A null is
// "%null".
func PartitionDir(values []*string) string {
	segs := make([]string, len(values))
	for i, v := range values {
		segs[i] = "%null"
		if v != nil {
			segs[i] = EscapePartition(*v)
		}
	}
	return path.Join(segs...)
}

// PartitionValues reads a partition's directory back; ok is false where no values have that name, or where it does not tell them (a
// value too long for a name). "" has none.
func PartitionValues(dir string) (values []*string, ok bool) {
	if dir == "" {
		return nil, true
	}
	for _, seg := range strings.Split(dir, "/") {
		if seg == "%null" {
			values = append(values, nil)
			continue
		}
		value, err := url.PathUnescape(seg)
		if seg == "%empty" {
			value, err = "", nil
		}
		if err != nil || EscapePartition(value) != seg {
			return nil, false
		}
		values = append(values, &value)
	}
	return values, true
}

func ownName(value string) bool {
	return value[0] == '.' || value[0] == '_' || value == "indexes" || strings.HasSuffix(value, ".parquet")
}
