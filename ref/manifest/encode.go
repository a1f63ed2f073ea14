package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
)

// encode prints v with its fields in order, maps sorted, no HTML escaping, and a final newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// counts refuses to print a document whose writer does not know its rows.
func counts(parts []Part, rows int64) error {
	for _, p := range parts {
		rows = min(rows, p.Rows)
	}
	if rows < 0 {
		return errors.New("a manifest is written with the rows of each part and of all")
	}
	return nil
}

// EncodeRun prints a run manifest. An empty format_version becomes 1.0. The error is for cursors or taints that are no
// JSON, and for rows that are not known.
func EncodeRun(m *Run) ([]byte, error) {
	if err := counts(m.Parts, m.RowCount); err != nil {
		return nil, err
	}
	c := *m
	if c.FormatVersion == "" {
		c.FormatVersion = firstVersion
	}
	if c.Parts == nil {
		c.Parts = []Part{}
	}
	return encode(&c)
}

// EncodeSnapshot prints a snapshot manifest. An empty format_version becomes what SnapshotVersion says. Errors as
// EncodeRun's.
func EncodeSnapshot(m *Snapshot) ([]byte, error) {
	if err := counts(m.Parts, m.RowCount); err != nil {
		return nil, err
	}
	c := *m
	if c.FormatVersion == "" {
		c.FormatVersion = SnapshotVersion(m)
	}
	if c.Parts == nil {
		c.Parts = []Part{}
	}
	if c.IncludesRuns == nil {
		c.IncludesRuns = []string{}
	}
	if c.PrimaryKey == nil {
		c.PrimaryKey = []string{}
	}
	return encode(&c)
}

// EncodePointer prints a pointer.
func EncodePointer(p *Pointer) ([]byte, error) { return encode(p) }

// EncodeBucket prints a bucket manifest. Equal documents print as equal bytes.
func EncodeBucket(b *Bucket) ([]byte, error) {
	c := *b
	c.fill()
	if c.Format == 0 {
		c.Format = 1
	}
	return encode(&c)
}
