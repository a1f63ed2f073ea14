package store

import (
	"errors"
	"io/fs"
	"path"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/vfs"
)

const maxKept = 4 << 10

// Kept is a sealed snapshot of this node that no pointer here names and that a bucket's pointer may still come to name: its
// publication's outcome is unknown. Base is the ETag of the bucket's pointer that the publication replaces, "" for none:
// where the bucket's pointer has another ETag by now and does not descend from the snapshot, it never will.
type Kept struct {
	ID   string
	Base string
}

// Keep ends a sealed pass whose publication's outcome is unknown. Its directory stays, and Recover leaves it alone, until
// Settle. After Close or Discard it does nothing. StoreWriteFailed.
func (p *Pass) Keep(base string) error {
	if p.writer == nil {
		return nil
	}
	defer p.Close()
	return WriteFailed(p.Rel(), vfs.WriteAtomic(p.t.s.opts.FS, path.Join(p.Dir(), key.KeptName), []byte(base)))
}

// Kept lists the snapshots that wait for their publication to become known.
func (t *Table) Kept() ([]Kept, error) {
	list, err := t.list(key.SnapshotsDir(t.name))
	if err != nil {
		return nil, err
	}
	var kept []Kept
	for _, e := range list {
		if !e.IsDir() || key.ValidSnapshot(e.Name()) != nil {
			continue
		}
		rel := key.SnapshotDir(t.name, e.Name()) + "/" + key.KeptName
		base, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), maxKept)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, unreadable(rel, err)
		}
		kept = append(kept, Kept{e.Name(), string(base)})
	}
	return kept, nil
}

// Settle says that a kept snapshot's fate is known: the chain has it, or never will, and then the next Recover removes it.
func (t *Table) Settle(id string) error {
	if err := key.ValidSnapshot(id); err != nil {
		return fault.New(fault.StoreNameInvalid, id, id+" is no snapshot id").Wrap(err)
	}
	rel := key.SnapshotDir(t.name, id) + "/" + key.KeptName
	if err := t.s.opts.FS.Remove(t.s.Path(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return WriteFailed(rel, err)
	}
	return nil
}
