package store

import (
	"fmt"
	"path"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
)

// directoryParts gives a snapshot the parts that its manifest has no list of: those of a document of major 1 are what lies in its
// directory, one in each, be it the snapshot's own or that of a partition (store.lay-out.format-migrate). What they hold is for
// their footers to say; where there is one part, row_count says it too. Refusals: StoreManifestInvalid where a directory holds two.
func (t *Table) directoryParts(m *manifest.Snapshot) error {
	m.Parts = []manifest.Part{}
	if err := t.partsIn(m, ""); err != nil {
		return err
	}
	if len(m.Parts) == 1 {
		m.Parts[0].Rows = m.RowCount
	}
	return nil
}

func (t *Table) partsIn(m *manifest.Snapshot, dir string) error {
	list, err := t.list(path.Join(key.SnapshotDir(t.name, m.SnapshotID), dir))
	if err != nil {
		return err
	}
	found := ""
	for _, e := range list {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			// A directory that no part may lie in is none of ours: sidecars have one.
			if key.SnapshotPartName(name + "/" + key.PartName(0)) {
				if err := t.partsIn(m, name); err != nil {
					return err
				}
			}
		case !key.SnapshotPartName(name) || strings.HasPrefix(e.Name(), "folded-"):
		case found != "":
			rel := key.SnapshotManifest(t.name, m.SnapshotID)
			return fault.New(fault.StoreManifestInvalid, rel, fmt.Sprintf("%s names no parts, and beside it lie %s and %s: which of them is its part nobody can tell", rel, found, name))
		default:
			found = name
			values, ok := key.PartitionValues(dir)
			if !ok {
				values = nil
			}
			m.Parts = append(m.Parts, manifest.Part{Name: name, Rows: manifest.RowsUnknown, Partition: values})
		}
	}
	return nil
}

// partsThere refuses a snapshot whose parts are what lies in its directory, where nothing does although it has rows.
func (t *Table) partsThere(m *manifest.Snapshot) error {
	if len(m.Parts) > 0 || m.RowCount <= 0 {
		return nil
	}
	rel := key.SnapshotDir(t.name, m.SnapshotID)
	return fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s holds no part, and its manifest says %d rows", rel, m.RowCount)).
		WithHint("contextful sync pull brings home what the bucket still has")
}

// ReadSnapshot reads a snapshot's manifest; nil where there is none. Refusals as ReadRun's.
func (t *Table) ReadSnapshot(id string) (*manifest.Snapshot, error) {
	m, err := t.snapshotDocument(id)
	if err != nil || m == nil || m.Parts != nil {
		return m, err
	}
	return m, t.directoryParts(m)
}
