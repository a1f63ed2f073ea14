package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// Damage is one thing that is not what a document of the store promises.
type Damage struct {
	Code    fault.Code
	Subject string // relative to the store root
	Message string
}

// CheckOptions say how to look.
type CheckOptions struct {
	// VerifyPart opens a part's footer and compares its rows (manifest.RowsUnknown: any). Nil looks at sizes and digests only.
	VerifyPart func(path string, rows int64) error
	// Tables limits the check; nil means all.
	Tables []string
}

// Check looks at everything the store's documents promise: the identity, each pointer and its whole chain, each run and
// snapshot manifest, each schema, each part (there, of its recorded digest, its footer readable with its rows), each
// commit-log entry and blob. All damage is returned; the error is for a check that could not go on.
func (s *Store) Check(ctx context.Context, o CheckOptions) ([]Damage, error) {
	c := &checker{s: s, o: o}
	_, err := s.readIdentity()
	c.note(key.StoreIDName, err)
	names := o.Tables
	if names == nil {
		if names, err = s.Tables(); err != nil {
			return nil, err
		}
		if err := c.tree(ctx, "cursors", c.logEntry); err != nil {
			return nil, err
		}
		if err := c.tree(ctx, "blobs", c.blob); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		t, err := s.TableAt(name)
		if err != nil {
			return nil, err
		}
		if err := c.twice(ctx, t); err != nil {
			return nil, err
		}
	}
	return c.found, ctx.Err()
}

// twice looks at a table once more where it seems damaged, and keeps what was found both times: no lock is held, and retention
// may take away, under a slow look, what the documents it read still named.
func (c *checker) twice(ctx context.Context, t *Table) error {
	elsewhere := len(c.found)
	if err := c.table(ctx, t); err != nil || len(c.found) == elsewhere {
		return err
	}
	again := &checker{s: c.s, o: c.o}
	if err := again.table(ctx, t); err != nil {
		return err
	}
	first := slices.Clone(c.found[elsewhere:])
	c.found = append(c.found[:elsewhere], slices.DeleteFunc(first, func(d Damage) bool { return !slices.Contains(again.found, d) })...)
	return nil
}

type checker struct {
	s     *Store
	o     CheckOptions
	found []Damage
}

// note records an error as damage of subject.
func (c *checker) note(subject string, err error) {
	if err == nil {
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		c.found = append(c.found, Damage{fault.StorePartDamaged, subject, subject + ": " + err.Error()})
		return
	}
	if f.Subject != "" && f.Subject != c.s.Path(subject) {
		subject = f.Subject
	}
	d := Damage{f.Code, subject, f.Error()[len(f.Code)+2:]}
	for _, have := range c.found {
		if have == d {
			return // a manifest that two ways lead to is damaged once
		}
	}
	c.found = append(c.found, d)
}

func (c *checker) table(ctx context.Context, t *Table) error {
	sc, err := t.Schema()
	c.note(key.Schema(t.name), err)
	p, _, err := t.Pointer()
	c.note(key.Pointer(t.name), err)
	seen, looked, indexed := map[string]bool{}, map[string]manifest.Part{}, false
	var head *manifest.Snapshot
	for at, by := p.SnapshotID, key.Pointer(t.name); at != nil && ctx.Err() == nil; {
		rel := key.SnapshotManifest(t.name, *at)
		if seen[*at] {
			c.note(rel, fault.New(fault.StoreChainBroken, rel, fmt.Sprintf("the snapshots of table %q loop: %s is its own ancestor", t.name, *at)))
			break
		}
		seen[*at] = true
		m, err := t.ReadSnapshot(*at)
		if err == nil && m == nil && indexed {
			break // retention ended the chain here: a valid index above names what it folded
		}
		if err == nil && m == nil {
			err = fault.New(fault.StoreChainBroken, rel, fmt.Sprintf("%s is missing, %s names it, and no snapshot above it has a valid folded-runs index", rel, by))
		}
		c.note(rel, err)
		if m == nil || err != nil {
			break
		}
		if head == nil {
			head = m
		}
		if m.FoldedRuns != nil {
			if _, err := t.readIndex(ctx, m); err == nil {
				indexed = true
			} else if ctx.Err() == nil {
				c.note(rel, c.untrusted(rel, err))
			}
		}
		c.snapshotParts(ctx, t, m, looked)
		at, by = m.Parent, rel
	}
	c.note(t.name, t.CheckDeclaration(sc, head))
	refs, err := t.runDirs()
	if err != nil {
		return err
	}
	for _, r := range refs {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := t.ReadRun(r.run, r.node)
		c.note(key.RunManifest(t.name, r.run, r.node), err)
		if m == nil || err != nil {
			continue
		}
		for _, part := range m.Parts {
			c.part(ctx, key.RunDir(t.name, r.run, r.node)+"/"+part.Name, part)
		}
	}
	return ctx.Err()
}

// snapshotParts looks at a snapshot's parts, those that a collection took aside. What many snapshots name in one place is
// read once, unless they say different things of it; looked is what was read.
func (c *checker) snapshotParts(ctx context.Context, t *Table, m *manifest.Snapshot, looked map[string]manifest.Part) {
	collected, err := t.collected(m)
	c.note(key.SnapshotManifest(t.name, m.SnapshotID), err)
	for _, part := range m.Parts {
		rel := t.partDir(m, part) + "/" + part.Name
		if before, ok := looked[rel]; ok && before.SHA256 == part.SHA256 && before.Rows == part.Rows {
			continue
		}
		if collected && t.partThere(rel) != nil {
			continue
		}
		looked[rel] = part
		c.part(ctx, rel, part)
	}
}

// untrusted is the damage of an index that readers do not trust: it costs them a walk.
func (c *checker) untrusted(rel string, err error) error {
	if fault.CodeOf(err) == fault.StorePartDamaged {
		return err
	}
	return fault.New(fault.StoreManifestInvalid, rel, rel+" has folded_runs that no reader trusts").Wrap(err)
}

func (c *checker) part(ctx context.Context, rel string, p manifest.Part) {
	if ctx.Err() != nil {
		return
	}
	t := &Table{s: c.s}
	if err := t.partThere(rel); err != nil {
		c.note(rel, err)
		return
	}
	if p.SHA256 != "" {
		sum, err := c.digest(rel)
		if err == nil && sum != p.SHA256 {
			err = fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s has the digest %s, its manifest records %s", rel, sum, p.SHA256))
		}
		if err != nil {
			c.note(rel, err)
			return
		}
	}
	if c.o.VerifyPart != nil {
		if err := c.o.VerifyPart(c.s.Path(rel), p.Rows); err != nil {
			c.note(rel, fault.New(fault.StorePartDamaged, rel, rel+" is not what its manifest says").Wrap(err))
		}
	}
}

func (c *checker) digest(rel string) (string, error) {
	f, err := c.s.opts.FS.Open(c.s.Path(rel))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// tree visits the syncable files below a directory of the store root.
func (c *checker) tree(ctx context.Context, rel string, visit func(rel string, at key.Parsed)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, err := (&Table{s: c.s}).list(rel)
	if err != nil {
		return err
	}
	for _, e := range list {
		child := path.Join(rel, e.Name())
		if e.IsDir() {
			if err := c.tree(ctx, child, visit); err != nil {
				return err
			}
		} else if at, err := key.Parse(child); err == nil {
			visit(child, at)
		}
	}
	return nil
}

func (c *checker) logEntry(rel string, _ key.Parsed) {
	data, err := vfs.ReadFile(c.s.opts.FS, c.s.Path(rel), manifest.MaxPointer)
	if err == nil {
		_, err = manifest.DecodeLogEntry(rel, data)
	} else {
		err = unreadable(rel, err)
	}
	c.note(rel, err)
}

func (c *checker) blob(rel string, at key.Parsed) {
	sum, err := c.digest(rel)
	if err == nil && sum != at.Name {
		err = fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s has the digest %s, its name says another", rel, sum))
	}
	c.note(rel, err)
}
