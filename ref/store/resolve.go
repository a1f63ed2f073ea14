package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"contextful/ref/decl"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// Bounds limit a read in time. The zero value is unbounded.
type Bounds struct {
	// AsOf: what was committed at or before this instant (store.bound-time.as-of).
	AsOf *manifest.Instant
	// Snapshot reads exactly this snapshot of the chain, and no run (store.snapshot.capture). It goes before AsOf.
	Snapshot string
}

// File is one Parquet part a reader reads.
type File struct {
	Path string // absolute
	Rel  string // relative to the store root
	Rows int64  // manifest.RowsUnknown where its manifest does not say
	// Fine names the timestamp columns with digits below the microsecond; nil means unknown.
	Fine *[]string
	Part manifest.Part
	// Run is set for a run's part, Snapshot for a snapshot's.
	Run      *manifest.Run
	Snapshot *manifest.Snapshot
}

// View is a table as one reader sees it: resolved once, before anything is read, and not touched by later commits.
type View struct {
	Table *Table
	// Declaration is the declared table, or for a table that is only present what its schema and snapshots record.
	Declaration *decl.Table
	Pointer     manifest.Pointer
	ETag        ETag
	// Folded is what the pointer's chain folds, however the read is bounded; its Chain is as much of it as had to be read. Load
	// comes before any question to it.
	Folded *Folded
	// Head is the snapshot the read stands on; nil where there is none (or none that old).
	Head *manifest.Snapshot
	// HeadSuperseded: a newer replacement frontier among Runs supersedes all of Head's rows; its parts are not in Files.
	HeadSuperseded bool
	// Runs are the visible committed runs that Head omits and no frontier supersedes, in commit order (commit_seq,
	// committed_at, key).
	Runs []*manifest.Run
	// Superseded are those that Head omits and the frontier supersedes: not read, yet a pass may name them as folded.
	Superseded []*manifest.Run
	// Files is everything to read, sorted by Rel.
	Files []File
	// Schema is schema.json; nil where there is none.
	Schema *schema.Schema
	// Frontier is the newest replacement frontier of Head and Runs.
	Frontier *manifest.Frontier
}

// Rows is the number of rows in Files; ok is false where a manifest does not say.
func (v *View) Rows() (n int64, ok bool) {
	for _, f := range v.Files {
		if f.Rows < 0 {
			return 0, false
		}
		n += f.Rows
	}
	return n, true
}

// Resolve tells what a reader of the table reads. It takes no lock: the pointer is read first, then the runs, then the
// schema, and each later document covers the earlier ones. An unbounded read reads the chain's manifests down to the first
// valid folded-runs index and those of the runs the chain does not fold; a bounded one follows the chain on to the first
// snapshot created at or before its bound (store.lay-out.folded-index-walk).
//
// Refusals: StoreManifestFormatNewer, StoreManifestInvalid, StoreChainBroken; StorePartDamaged naming a part that is not
// there; StoreDeclarationChanged; StoreAsOfUnretained where a bound lies before what is kept; StoreSnapshotUnknown.
func (t *Table) Resolve(ctx context.Context, b Bounds) (*View, error) {
	v := &View{Table: t}
	var err error
	if v.Pointer, v.ETag, err = t.Pointer(); err != nil {
		return nil, err
	}
	if v.Folded, err = t.openFolded(ctx, v.Pointer.SnapshotID, b); err != nil {
		return nil, err
	}
	c := &cut{b: b, f: v.Folded}
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	refs, err := v.Folded.opened(ctx)
	if err != nil {
		return nil, err
	}
	log := &commitLogs{t: t}
	var runs []*manifest.Run
	if b.Snapshot != "" {
		refs = nil
	}
	refs = slices.DeleteFunc(refs, func(r runRef) bool { return c.folds(r.key()) })
	manifests, err := t.readRuns(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i, r := range refs {
		m := manifests[i]
		if m == nil {
			continue
		}
		c.here(r.key())
		if b.AsOf != nil && m.CommittedAt.After(b.AsOf.Time) {
			continue
		}
		visible, err := log.visible(m)
		if err != nil {
			return nil, err
		}
		if visible {
			runs = append(runs, m)
		}
	}
	if err := c.retained(); err != nil {
		return nil, err
	}
	v.Head = c.base()
	if err := v.supersede(ctx, runs); err != nil {
		return nil, err
	}
	if err := v.files(); err != nil {
		return nil, err
	}
	if v.Schema, err = t.Schema(); err != nil {
		return nil, err
	}
	var head *manifest.Snapshot
	if len(v.Folded.Chain) > 0 {
		head = v.Folded.Chain[0]
	}
	if err := t.CheckDeclaration(v.Schema, head); err != nil {
		return nil, err
	}
	v.Declaration = t.effective(v.Schema, head)
	return v, nil
}

// supersede applies the replacement frontier (store.declare.empty-replacement): runs before the newest one are not read, and
// neither is a snapshot that does not stand on it. One that holds rows of a run from after the frontier, which came late, stays: what
// is from before cannot be told from them any more, and a row too many is no row lost.
func (v *View) supersede(ctx context.Context, runs []*manifest.Run) error {
	slices.SortFunc(runs, func(a, b *manifest.Run) int { return a.Frontier().Compare(b.Frontier()) })
	if v.Head != nil {
		v.Frontier = v.Head.Replacement
	}
	for _, m := range runs {
		if f := m.Frontier(); m.Replacement && (v.Frontier == nil || v.Frontier.Compare(f) < 0) {
			v.Frontier = &f
			outlives, err := v.outlives(ctx, f)
			if err != nil {
				return err
			}
			v.HeadSuperseded = v.Head != nil && !outlives
		}
	}
	for _, m := range runs {
		if v.Frontier != nil && m.Frontier().Compare(*v.Frontier) < 0 {
			v.Superseded = append(v.Superseded, m)
		} else {
			v.Runs = append(v.Runs, m)
		}
	}
	return nil
}

// outlives tells whether there is a head and it holds a run that sorts after f. Only where their numbers do not tell, the index is read,
// and where there is none the manifests of the runs.
func (v *View) outlives(ctx context.Context, f manifest.Frontier) (bool, error) {
	h := v.Head
	if h == nil {
		return false, nil
	}
	if h.CommitSeq != nil && *h.CommitSeq != f.CommitSeq {
		return *h.CommitSeq > f.CommitSeq, nil
	}
	if err := v.Folded.Load(ctx); err != nil {
		return false, err
	}
	for k := range v.Folded.Keys() {
		if by, _ := v.Folded.In(k); by > h.SnapshotID {
			continue
		}
		if m := v.folded(k); m != nil && f.Compare(m.Frontier()) < 0 {
			return true, ctx.Err()
		}
	}
	return false, ctx.Err()
}

// folded is what is known of a folded run: the index's row of it, or where a walk stood for the index its manifest; nil where neither
// tells.
func (v *View) folded(runKey string) *manifest.Run {
	run, node, _ := manifest.SplitRunKey(runKey)
	switch row := v.Folded.Row(runKey); {
	case row == nil:
		m, err := v.Table.ReadRun(run, node)
		if err != nil {
			return nil // nobody reads the manifest of a folded run, so nobody is refused for it
		}
		return m
	case row.CommittedAt.IsZero():
		return nil
	default:
		return v.Table.gone(row)
	}
}

// files lists the parts and looks that each is there.
func (v *View) files() error {
	t := v.Table
	add := func(dir string, p manifest.Part, f File) error {
		f.Rel = dir + "/" + p.Name
		if err := t.partThere(f.Rel); err != nil {
			return err
		}
		f.Path, f.Rows, f.Fine, f.Part = t.s.Path(f.Rel), p.Rows, p.FineColumns, p
		v.Files = append(v.Files, f)
		return nil
	}
	if v.Head != nil && !v.HeadSuperseded {
		if err := t.partsThere(v.Head); err != nil {
			return err
		}
		for _, p := range v.Head.Parts {
			if err := add(t.partDir(v.Head, p), p, File{Snapshot: v.Head}); err != nil {
				return err
			}
		}
	}
	for _, m := range v.Runs {
		for _, p := range m.Parts {
			if err := add(key.RunDir(t.name, m.RunID, m.NodeID), p, File{Run: m}); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(v.Files, func(a, b File) int { return cmp.Compare(a.Rel, b.Rel) })
	return nil
}

// partDir is where a snapshot's part lies: its origin's directory where it is carried by reference.
func (t *Table) partDir(m *manifest.Snapshot, p manifest.Part) string {
	if p.SnapshotID != "" {
		return key.SnapshotDir(t.name, p.SnapshotID)
	}
	return key.SnapshotDir(t.name, m.SnapshotID)
}

// commitLogs answers which runs marked logged are readable, reading each log once (store.lay-out.uncommitted-run,
// store.lease.commit-log).
type commitLogs struct {
	t      *Table
	commit map[string]map[runRef]bool // by log directory: the table and run of each commit that counts
}

func (c *commitLogs) visible(m *manifest.Run) (bool, error) {
	if !m.Logged {
		return true, nil
	}
	if key.ValidPipeline(m.PipelineID) != nil {
		return false, nil // no log can name it
	}
	dir := key.CommitLogDir(m.PipelineID, m.NodeID)
	if c.commit[dir] == nil {
		if c.commit == nil {
			c.commit = map[string]map[runRef]bool{}
		}
		entries, err := c.read(dir)
		if err != nil {
			return false, err
		}
		c.commit[dir] = entries
	}
	return c.commit[dir][runRef{m.Table, m.RunID}], nil
}

// read walks a log in the order of its numbers. A commit below a fence that an earlier entry acquired is a paused writer's
// and counts for nothing (store.lease.stale-fence).
func (c *commitLogs) read(dir string) (map[runRef]bool, error) {
	list, err := c.t.list(dir)
	if err != nil {
		return nil, err
	}
	commits := map[runRef]bool{}
	var fence *int64
	for _, f := range list { // sorted by name, and the numbers are padded
		rel := dir + "/" + f.Name()
		if at, err := key.Parse(rel); err != nil || at.Kind != key.KindCommitLog {
			continue
		}
		data, err := vfs.ReadFile(c.t.s.opts.FS, path.Join(c.t.s.opts.Root, rel), manifest.MaxPointer)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, unreadable(rel, err)
		}
		e, err := manifest.DecodeLogEntry(rel, data)
		if err != nil {
			return nil, err
		}
		if e.Kind == "commit" && !manifest.FenceBelow(e.Fence, fence) {
			commits[runRef{e.Table, e.RunID}] = true
		}
		if manifest.FenceBelow(fence, e.Fence) {
			fence = e.Fence
		}
	}
	return commits, nil
}
