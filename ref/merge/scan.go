package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"golang.org/x/sync/errgroup"
)

// Local is what a store contributes to its bucket: its entries by key below the prefix, its pointers, and the tables that have
// a schema. Only what is committed is in it: runs of this node with a manifest, snapshots that the table's pointer reaches.
type Local struct {
	Entries  map[string]manifest.Entry
	Pointers map[string]manifest.Pointer // by table; those that name a snapshot
	Schemas  []string                    // tables with a schema.json, sorted
	// Chains holds each table's snapshots, newest first.
	Chains map[string][]*manifest.Snapshot
}

// Candidates are pointers that a scan takes in place of the stored ones, by table: snapshots that are complete on disk and not
// yet published here.
type Candidates map[string]manifest.Pointer

// Scan reads and hashes the store's contribution. Refusals: StorePartDamaged for a part that a manifest names and that is not
// there, StoreChainBroken, StoreManifestInvalid, SyncPrefixEscape for a symbolic link on the way.
func (r *Remote) Scan(ctx context.Context, s *store.Store, digests *Digests, candidates Candidates) (*Local, error) {
	sc := &scan{r: r, s: s, digests: digests, rels: map[string]bool{}, segments: map[string]string{}}
	local := &Local{Entries: map[string]manifest.Entry{}, Pointers: map[string]manifest.Pointer{}, Chains: map[string][]*manifest.Snapshot{}}
	if _, ok := s.Identity(); ok {
		sc.rels[key.StoreIDName] = true
	}
	tables, err := s.Tables()
	if err != nil {
		return nil, err
	}
	for _, name := range tables {
		t, err := s.TableAt(name)
		if err != nil {
			return nil, err
		}
		if err := sc.table(ctx, t, local, candidates); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{"cursors", "nodes", "blobs"} {
		if err := sc.walk(dir); err != nil {
			return nil, err
		}
	}
	return local, sc.hash(ctx, local)
}

type scan struct {
	r       *Remote
	s       *store.Store
	digests *Digests
	rels    map[string]bool
	// segments are the folded-runs segments with the digests their manifests record: only whole ones are contributed.
	segments map[string]string
}

func (sc *scan) table(ctx context.Context, t *store.Table, local *Local, candidates Candidates) error {
	name := t.Name()
	there, err := vfs.Exists(sc.s.FS(), sc.s.Path(key.Schema(name)))
	if err != nil {
		return err
	}
	if there {
		sc.rels[key.Schema(name)] = true
		local.Schemas = append(local.Schemas, name)
	}
	if err := sc.runs(t); err != nil {
		return err
	}
	if err := sc.walk(key.TableDir(name) + "/requests"); err != nil {
		return err
	}
	pointer, _, err := t.Pointer()
	if err != nil {
		return err
	}
	if c, ok := candidates[name]; ok {
		pointer = c
	}
	if pointer.SnapshotID == nil {
		return nil
	}
	lineage, err := t.Lineage(ctx, pointer.SnapshotID)
	if err != nil {
		return err
	}
	local.Chains[name] = lineage.Chain
	local.Pointers[name] = manifest.Pointer{SnapshotID: pointer.SnapshotID, Fence: pointer.Fence}
	for _, m := range lineage.Chain {
		if err := sc.snapshot(name, m); err != nil {
			return err
		}
	}
	return nil
}

// snapshot adds what a snapshot's manifest names. What a collection took is not missed, and neither is a folded-runs segment:
// without it readers walk.
func (sc *scan) snapshot(table string, m *manifest.Snapshot) error {
	sc.rels[key.SnapshotManifest(table, m.SnapshotID)] = true
	marker := key.SnapshotDir(table, m.SnapshotID) + "/" + key.CollectedName
	collected, err := vfs.Exists(sc.s.FS(), sc.s.Path(marker))
	if err != nil {
		return err
	}
	for _, p := range m.Parts {
		origin := p.SnapshotID
		if origin == "" {
			origin = m.SnapshotID
		}
		rel := key.SnapshotDir(table, origin) + "/" + p.Name
		if collected {
			there, err := vfs.Exists(sc.s.FS(), sc.s.Path(rel))
			if err != nil {
				return err
			}
			if !there {
				continue
			}
		}
		sc.rels[rel] = true
	}
	for rel, s := range m.FoldedRuns.Files(table) {
		sc.segments[rel] = s.SHA256
	}
	return nil
}

// runs adds this node's committed runs.
func (sc *scan) runs(t *store.Table) error {
	dir := key.RunsDir(t.Name())
	list, err := sc.list(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.IsDir() || key.ValidRun(e.Name()) != nil {
			continue
		}
		m, err := t.ReadRun(e.Name(), sc.s.Node())
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		run := key.RunDir(t.Name(), e.Name(), sc.s.Node())
		sc.rels[run+"/"+key.ManifestName] = true
		for _, p := range m.Parts {
			sc.rels[run+"/"+p.Name] = true
		}
		group, err := vfs.Exists(sc.s.FS(), sc.s.Path(run+"/"+key.GroupName))
		if err != nil {
			return err
		}
		if group {
			sc.rels[run+"/"+key.GroupName] = true
		}
	}
	return nil
}

// walk adds every file below a directory that syncs and is this node's or nobody's.
func (sc *scan) walk(dir string) error {
	list, err := sc.list(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		rel := dir + "/" + e.Name()
		if e.IsDir() {
			if err := sc.walk(rel); err != nil {
				return err
			}
			continue
		}
		if p, err := key.Parse(rel); err == nil && (p.Node == "" || p.Node == sc.s.Node()) {
			sc.rels[rel] = true
		}
	}
	return nil
}

func (sc *scan) list(rel string) ([]fs.DirEntry, error) {
	list, err := sc.s.FS().ReadDir(sc.s.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

func (sc *scan) hash(ctx context.Context, local *Local) error {
	rels := make([]string, 0, len(sc.rels)+len(sc.segments))
	for rel := range sc.rels {
		rels = append(rels, rel)
	}
	for rel := range sc.segments {
		rels = append(rels, rel)
	}
	slices.Sort(rels)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, rel := range rels {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := NoSymlink(sc.s, rel); err != nil {
				return err
			}
			sum, size, err := sc.digests.Of(ctx, sc.s, rel)
			if want, segment := sc.segments[rel]; segment && (errors.Is(err, fs.ErrNotExist) || err == nil && sum != want) {
				return nil
			}
			if errors.Is(err, fs.ErrNotExist) {
				return fault.New(fault.StorePartDamaged, rel, fmt.Sprintf("%s is missing, and a manifest of this store names it", rel)).
					WithHint("contextful context check shows what else is damaged")
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			local.Entries[sc.r.Key(rel)] = manifest.Entry{SHA256: sum, Size: size, Owner: key.Owner(rel)}
			return nil
		})
	}
	return group.Wait()
}

// NoSymlink refuses with SyncPrefixEscape where a symbolic link lies on the way from the store root to rel: what is behind it
// need not be the store.
func NoSymlink(s *store.Store, rel string) error {
	err := vfs.NoSymlink(s.FS(), s.Root(), rel)
	if errors.Is(err, vfs.ErrSymlink) {
		return fault.New(fault.SyncPrefixEscape, rel, fmt.Sprintf("%s would leave the store root", path.Clean(rel))).Wrap(err)
	}
	return err
}
