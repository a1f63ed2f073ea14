package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// settledName caches, beside a table's other local files, what a reader has to know of the runs that the pointer's chain folds, so
// that opening a table costs what is new in it and not what it ever held. It is believed only while all that it was made of is as
// it was, and a reader that does not believe it reads the index and every directory:
//
//   - the snapshot's manifest has the same digest, and each segment of its index the same size and modification time;
//   - a directory below data/runs that it lists was last changed at the instant it had then. Nothing but folded runs lay in it;
//     whoever adds another node's run to it changes that instant. It is the one of vfs.Changed: a modification time is what tar
//     and rsync put back when they have laid a backup, or another machine's runs, over what is here.
//
// A directory is written down only where its instant is older than a file made before anything was looked at: a file system's clock
// ticks in milliseconds, and a later change within one tick would not show. A segment that changes within one hides no run: what it
// held was read at its digest, which the manifest names.
//
// Layout, lines of text and then numbers: the digest of the table's name and all that follows; snapshot, digest of its manifest and how many of each
// follow; segments (size, nanoseconds, path); directories (nanoseconds, run id), sorted; fingerprints of the run keys and of the
// run ids, sorted, 64 bits little-endian each.
const (
	settledName  = ".settled"
	settledMagic = "cxsettled1 "
	maxSettled   = 1 << 30
)

// settled is the cache as a reader believes it.
type settled struct {
	head      *manifest.Snapshot
	runs      []settledRun // directories below data/runs, sorted by id
	keys, ids prints       // of all runs that the chain folds
}

type settledRun struct {
	id      string
	changed int64 // nanoseconds
}

// prints are sorted fingerprints as they stand in a file. What is not in them is surely not among what they were made of.
type prints []byte

func (p prints) len() int { return len(p) / 8 }

func (p prints) mayHold(text string) bool {
	want := fingerprint(text)
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(p[8*i:]) }
	i := sort.Search(p.len(), func(i int) bool { return at(i) >= want })
	return i < p.len() && at(i) == want
}

func (p prints) numbers() []uint64 {
	all := make([]uint64, p.len())
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(p[8*i:])
	}
	return all
}

func printsOf(texts []string) prints {
	all := make([]uint64, len(texts))
	for i, text := range texts {
		all[i] = fingerprint(text)
	}
	slices.Sort(all)
	var data prints
	for _, p := range all {
		data = binary.LittleEndian.AppendUint64(data, p)
	}
	return data
}

// settle writes the cache of what the chain of a snapshot folds, where its own index tells it. What fails here costs the next readers
// a look at everything.
func (l *Lock) settle(ctx context.Context, snapshot string) {
	t := l.t
	begun, err := l.fileClock()
	if err != nil {
		return
	}
	f, err := t.Folded(ctx, &snapshot)
	if err != nil || f.Index == nil || f.walked > 0 {
		return // a reader walks, or refuses
	}
	if text, err := t.settledText(f, begun); err == nil {
		_ = replaceUnsynced(t.s.opts.FS, path.Join(t.Dir(), settledName), text)
	}
}

// fileClock is the instant that the file system gives a change made now.
func (l *Lock) fileClock() (time.Time, error) {
	fsys, name := l.t.s.opts.FS, vfs.TempName(l.t.Dir())
	f, err := fsys.Create(name)
	if err != nil {
		return time.Time{}, err
	}
	_, err = f.Write([]byte{'\n'})
	err = errors.Join(err, f.Close())
	info, errStat := fsys.Stat(name)
	if err = errors.Join(err, errStat, fsys.Remove(name)); err != nil {
		return time.Time{}, err
	}
	// Some file systems do not date a directory by what comes into it.
	dir, err := fsys.Stat(l.t.Dir())
	if err == nil && vfs.Changed(dir).Before(vfs.Changed(info)) {
		err = errUndated
	}
	return vfs.Changed(info), err
}

var errUndated = errors.New("the file system keeps no record of when a directory was changed")

// settledText prints the cache of a chain whose index is its newest snapshot's. begun is a fileClock from before f was read.
func (t *Table) settledText(f *Folded, begun time.Time) ([]byte, error) {
	head := f.Chain[0]
	rel := key.SnapshotManifest(t.name, head.SnapshotID)
	document, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), manifest.MaxSnapshot)
	if err != nil {
		return nil, err
	}
	var segments, dirs bytes.Buffer
	for _, s := range f.segments {
		rel := key.SnapshotDir(t.name, s.SnapshotID) + "/" + s.Name
		info, err := t.s.opts.FS.Lstat(t.s.Path(rel))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&segments, "%d %d %s\n", info.Size(), info.ModTime().UnixNano(), rel)
	}
	here, before := map[string]int64{}, t.settledBefore(head)
	refs, err := t.runDirsBut(func(run string) bool {
		// The instant before the names: a name that comes in between changes it.
		info, err := t.s.opts.FS.Lstat(t.s.Path(key.RunsDir(t.name) + "/" + run))
		if err != nil || !vfs.Changed(info).Before(begun) {
			return false
		}
		changed := vfs.Changed(info).UnixNano()
		here[run] = changed
		was, ok := before[run]
		return ok && was == changed
	})
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if _, ok := f.In(r.key()); !ok {
			delete(here, r.run)
		}
	}
	var runs, keys, ids []string
	for run := range here {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	for _, run := range runs {
		fmt.Fprintf(&dirs, "%d %s\n", here[run], run)
	}
	for k := range f.Keys() {
		run, _, _ := manifest.SplitRunKey(k)
		keys, ids = append(keys, k), append(ids, run)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	sum := sha256.Sum256(document)
	body := fmt.Appendf(nil, "%s %x %d %d %d %d\n", head.SnapshotID, sum, len(f.segments), len(runs), len(keys), len(ids))
	body = slices.Concat(body, segments.Bytes(), dirs.Bytes(), printsOf(keys), printsOf(ids))
	return slices.Concat([]byte(settledSum(t.name, body)+"\n"), body), nil
}

// settledSum is the cache's first line. Two tables may have snapshots of one id.
func settledSum(table string, body []byte) string {
	h := sha256.New()
	h.Write(append([]byte(table), 0))
	h.Write(body)
	return settledMagic + hex.EncodeToString(h.Sum(nil))
}

// settledBefore are the directories that the cache of a snapshot's parent lists: what the parent's chain folds, the snapshot's does.
func (t *Table) settledBefore(m *manifest.Snapshot) map[string]int64 {
	data, err := vfs.ReadFile(t.s.opts.FS, path.Join(t.Dir(), settledName), maxSettled)
	if err != nil || m.Parent == nil {
		return nil
	}
	s, _, _ := parseSettled(data, t.name, *m.Parent)
	if s == nil {
		return nil
	}
	before := make(map[string]int64, len(s.runs))
	for _, r := range s.runs {
		before[r.id] = r.changed
	}
	return before
}

// settled reads the cache of a snapshot's chain; nil where there is none that can be believed. A manifest that cannot be read is
// for whoever walks to refuse.
func (t *Table) settled(snapshot string) *settled {
	data, err := vfs.ReadFile(t.s.opts.FS, path.Join(t.Dir(), settledName), maxSettled)
	if err != nil {
		return nil
	}
	s, segments, digest := parseSettled(data, t.name, snapshot)
	if s == nil {
		return nil
	}
	for _, segment := range segments {
		info, err := t.s.opts.FS.Lstat(t.s.Path(segment.rel))
		if err != nil || !info.Mode().IsRegular() || info.Size() != segment.size || info.ModTime().UnixNano() != segment.changed {
			return nil
		}
	}
	rel := key.SnapshotManifest(t.name, snapshot)
	document, err := vfs.ReadFile(t.s.opts.FS, t.s.Path(rel), manifest.MaxSnapshot)
	if sum := sha256.Sum256(document); err != nil || hex.EncodeToString(sum[:]) != digest {
		return nil
	}
	if s.head, err = manifest.DecodeSnapshot(rel, document); err != nil || s.head.Parts == nil && t.directoryParts(s.head) != nil {
		return nil
	}
	return s
}

type settledSegment struct {
	rel           string
	size, changed int64
}

// parseSettled takes the cache apart; nil where it is of another snapshot or table, or not whole.
func parseSettled(data []byte, table, snapshot string) (s *settled, segments []settledSegment, digest string) {
	first, body, _ := bytes.Cut(data, []byte("\n"))
	if string(first) != settledSum(table, body) {
		return nil, nil, ""
	}
	rest := string(body)
	line := func() (words []string) {
		text, after, _ := strings.Cut(rest, "\n")
		rest = after
		return strings.Fields(text)
	}
	words := line()
	if len(words) != 6 || words[0] != snapshot {
		return nil, nil, ""
	}
	var n [4]int
	for i := range n {
		v, err := strconv.Atoi(words[2+i])
		if err != nil || v < 0 || v > len(body) {
			return nil, nil, ""
		}
		n[i] = v
	}
	s, digest = &settled{runs: make([]settledRun, 0, n[1])}, words[1]
	for range n[0] {
		words := line()
		if len(words) != 3 {
			return nil, nil, ""
		}
		size, errSize := strconv.ParseInt(words[0], 10, 64)
		changed, errChanged := strconv.ParseInt(words[1], 10, 64)
		if errSize != nil || errChanged != nil {
			return nil, nil, ""
		}
		segments = append(segments, settledSegment{words[2], size, changed})
	}
	for range n[1] {
		text, after, _ := strings.Cut(rest, "\n")
		rest = after
		number, id, _ := strings.Cut(text, " ")
		changed, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, nil, ""
		}
		s.runs = append(s.runs, settledRun{id, changed})
	}
	if len(rest) != 8*(n[2]+n[3]) {
		return nil, nil, ""
	}
	tail := body[len(body)-len(rest):]
	s.keys, s.ids = prints(tail[:8*n[2]]), prints(tail[8*n[2]:])
	return s, segments, digest
}

// openFolded is Folded for a reader. One without a bound asks what is folded only of the runs that opened lists: where the cache is
// believed, the index is not read before Folded.Load.
func (t *Table) openFolded(ctx context.Context, head *string, b Bounds) (*Folded, error) {
	if head != nil && b == (Bounds{}) {
		if s := t.settled(*head); s != nil {
			return &Folded{Chain: []*manifest.Snapshot{s.head}, Index: s.head.FoldedRuns, t: t, settled: s}, nil
		}
	}
	return t.Folded(ctx, head)
}

// opened lists the run directories that may hold a run which f does not fold, sorted; without a cache all there are. f answers In
// for each of them.
func (f *Folded) opened(ctx context.Context) ([]runRef, error) {
	if f.settled == nil {
		return f.t.runDirs()
	}
	left := f.settled.runs
	refs, err := f.t.runDirsBut(func(run string) bool {
		for len(left) > 0 && left[0].id < run {
			left = left[1:]
		}
		if len(left) == 0 || left[0].id != run {
			return false
		}
		info, err := f.t.s.opts.FS.Lstat(f.t.s.Path(key.RunsDir(f.t.name) + "/" + run))
		return err == nil && info.IsDir() && vfs.Changed(info).UnixNano() == left[0].changed
	})
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		if f.settled.keys.mayHold(r.key()) {
			return refs, f.Load(ctx)
		}
	}
	return refs, nil
}

// Load reads the index where a cache has stood for it so far: before In, Row, Keys, Len and WriteFoldedRuns are asked. Refusals as
// Table.Folded's.
func (f *Folded) Load(ctx context.Context) error {
	if f.settled == nil {
		return nil
	}
	whole, err := f.t.Folded(ctx, &f.Chain[0].SnapshotID)
	if err == nil {
		*f = *whole
	}
	return err
}

// RunsUnique tells that no run id was landed on two nodes, folded runs and those read included. It may be false where a cache
// cannot tell.
func (v *View) RunsUnique() bool {
	nodes := map[string]string{}
	seen := func(run, node string) bool {
		other, ok := nodes[run]
		nodes[run] = node
		return !ok || other == node
	}
	if s := v.Folded.settled; s != nil {
		if s.ids.len() != s.keys.len() {
			return false
		}
		// No run of the view is folded: where its id is, that was on another node.
		for _, r := range v.Runs {
			if s.ids.mayHold(r.RunID) || !seen(r.RunID, r.NodeID) {
				return false
			}
		}
		return true
	}
	for k := range v.Folded.Keys() {
		if run, node, _ := manifest.SplitRunKey(k); !seen(run, node) {
			return false
		}
	}
	for _, r := range v.Runs {
		if !seen(r.RunID, r.NodeID) {
			return false
		}
	}
	return true
}
