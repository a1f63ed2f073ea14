package store

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// lastCommitName caches the newest committed_at beside _commit_seq, local like it, with the counter it was written for: a
// counter that somebody put back to an older one does not agree with it and is not trusted, however new the file is. The
// line ends with its CRC-32: an instant that damage moved on would be that of every later commit.
const lastCommitName = ".last_commit"

// Next is what the next commit of a table carries.
type Next struct {
	// Seq is one above every _commit_seq the table holds, >= 1.
	Seq int64
	// NotBefore is the newest committed_at seen, zero where there is none.
	NotBefore manifest.Instant
}

// CommittedAt is the commit's instant: the clock's, or NotBefore where the clock is behind it.
func (n Next) CommittedAt(c clock.Clock) manifest.Instant {
	now := manifest.At(c.Now())
	if now.Before(n.NotBefore.Time) {
		return n.NotBefore
	}
	return now
}

// NextCommitSeq tells what a commit under this lock carries (store.reserve.commit-seq): one above the counter and every run
// and snapshot manifest on this disk, pulled ones included. It reserves nothing; RunWriter.Commit records it.
//
// The cost does not grow with the table: _commit_seq is trusted while data/runs and data/snapshots are older than it (every
// landing and every planted run of a new id changes data/runs, and a landing writes _commit_seq after that). A pull, which
// may add a node to a run id that is already there, goes through Admit. Without a trusted cache every manifest is
// read, and what killed writers left behind is removed on the way.
func (l *Lock) NextCommitSeq(ctx context.Context) (Next, error) {
	if n, ok := l.cachedNext(); ok {
		return n, nil
	}
	if _, err := l.Recover(ctx); err != nil {
		return Next{}, err
	}
	n, err := l.t.scanNext(ctx)
	if err != nil {
		return Next{}, err
	}
	// A collected run may have held the highest value of all: the counter still counts, however old it is.
	if counter, ok := l.readCounter(); ok && counter >= n.Seq {
		n.Seq = counter
	}
	if n.Seq == math.MaxInt64 {
		return Next{}, fault.New(fault.StoreWriteFailed, l.t.name, "table "+l.t.name+" has used every commit sequence number")
	}
	n.Seq++
	return n, nil
}

func (l *Lock) cachedNext() (Next, bool) {
	if !l.olderThanCounter(key.RunsDir(l.t.name)) || !l.olderThanCounter(key.SnapshotsDir(l.t.name)) {
		return Next{}, false
	}
	n, ok := l.readCached()
	if !ok || n.Seq == math.MaxInt64 {
		return Next{}, false
	}
	n.Seq++
	return n, true
}

// olderThanCounter tells whether a directory is absent or was last changed before _commit_seq was written. Equal times
// prove nothing: a file system's clock ticks in milliseconds.
func (l *Lock) olderThanCounter(rel string) bool {
	s := l.t.s
	counter, err := s.opts.FS.Stat(s.Path(key.CommitSeq(l.t.name)))
	if err != nil {
		return false
	}
	dir, err := s.opts.FS.Stat(s.Path(rel))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return dir.ModTime().Before(counter.ModTime())
}

// readCached reads both caches as they are; Seq is the counter's value.
func (l *Lock) readCached() (Next, bool) {
	counter, ok := l.readCounter()
	if !ok {
		return Next{}, false
	}
	text, err := vfs.ReadFile(l.t.s.opts.FS, path.Join(l.t.Dir(), lastCommitName), 100)
	if err != nil {
		return Next{}, false
	}
	instant, _, _ := strings.Cut(string(text), " ")
	last, err := manifest.ParseInstant(instant)
	return Next{Seq: counter, NotBefore: last}, err == nil && string(text) == lastCommit(counter, last)
}

// readCounter reads _commit_seq: decimal text and a newline, so that a torn write is not taken for a smaller number.
func (l *Lock) readCounter() (int64, bool) {
	data, err := vfs.ReadFile(l.t.s.opts.FS, l.t.s.Path(key.CommitSeq(l.t.name)), 100)
	if err != nil {
		return 0, false
	}
	digits, whole := strings.CutSuffix(string(data), "\n")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, whole && err == nil && n >= 0
}

// writeCounter stores both caches. They are not synced: a power cut leaves the older file, older than data/runs, or an empty
// one, and either way the next commit scans.
func (l *Lock) writeCounter(seq int64, at manifest.Instant) error {
	dir := l.t.Dir()
	err := replaceUnsynced(l.t.s.opts.FS, path.Join(dir, lastCommitName), []byte(lastCommit(seq, at)))
	if err == nil {
		err = replaceUnsynced(l.t.s.opts.FS, path.Join(dir, key.CommitSeqName), []byte(strconv.FormatInt(seq, 10)+"\n"))
	}
	return err
}

// lastCommit is the text of lastCommitName.
func lastCommit(seq int64, at manifest.Instant) string {
	line := at.String() + " " + strconv.FormatInt(seq, 10)
	return fmt.Sprintf("%s %08x\n", line, crc32.ChecksumIEEE([]byte(line)))
}

// replaceUnsynced replaces a cache that tells by itself whether it is whole: what a crash leaves of it is made again.
func replaceUnsynced(fsys vfs.FS, name string, data []byte) error {
	tmp := vfs.TempName(path.Dir(name))
	f, err := fsys.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp)
	}
	return err
}

// Admit runs write under the table's lock with the commit sequence forgotten: how a pull makes run and snapshot manifests
// appear that this table's own landings did not write. Without it a landing could go on counting from its cache, below a
// pulled run that joined a run id already there.
func (t *Table) Admit(ctx context.Context, write func() error) error {
	return t.under(ctx, func(l *Lock) error {
		if err := l.forgetCommitSeq(); err != nil {
			return err
		}
		return write()
	})
}

// forgetCommitSeq makes the next NextCommitSeq read every manifest. The counter's value is kept.
func (l *Lock) forgetCommitSeq() error {
	err := l.t.s.opts.FS.Remove(path.Join(l.t.Dir(), lastCommitName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = l.t.s.opts.FS.SyncDir(l.t.Dir())
	}
	return WriteFailed(key.CommitSeq(l.t.name), err)
}

// refreshCounter keeps the cache trusted over a pass of our own, which makes data/snapshots newer than it: where data/runs
// is still older, only the snapshots can hold anything new, and they are read. It is a cache: what fails here costs the next
// landing a scan.
func (l *Lock) refreshCounter() {
	if !l.olderThanCounter(key.RunsDir(l.t.name)) {
		return
	}
	n, ok := l.readCached()
	if !ok {
		return
	}
	if l.t.scanSnapshots(&n) == nil {
		_ = l.writeCounter(n.Seq, n.NotBefore)
	}
}

// scanNext finds the highest sequence and instant of all manifests, folded runs' and unreachable snapshots' included; Seq
// is that highest one, 0 where there is none.
func (t *Table) scanNext(ctx context.Context) (Next, error) {
	var n Next
	refs, err := t.runDirs()
	if err != nil {
		return n, err
	}
	for _, r := range refs {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := t.ReadRun(r.run, r.node)
		if err != nil {
			return n, err
		}
		if m != nil {
			n.see(m.CommitSeq, m.CommittedAt.Time)
		}
	}
	t.scanIndex(ctx, &n)
	return n, t.scanSnapshots(&n)
}

// scanIndex sees the runs whose manifests are gone. It helps the instant alone, their sequences are below their snapshots':
// a chain that cannot be read is a reader's to refuse.
func (t *Table) scanIndex(ctx context.Context, n *Next) {
	p, _, err := t.Pointer()
	if err != nil {
		return
	}
	f, err := t.Folded(ctx, p.SnapshotID)
	if err != nil {
		return
	}
	for k := range f.Keys() {
		if row := f.Row(k); row != nil && row.CommittedAt.Holds() {
			n.see(nil, row.CommittedAt.Time)
		}
	}
}

func (t *Table) scanSnapshots(n *Next) error {
	ids, err := t.snapshotDirs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		m, err := t.ReadSnapshot(id)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		n.see(m.CommitSeq, time.Time{})
		if m.Replacement != nil {
			n.see(&m.Replacement.CommitSeq, m.Replacement.CommittedAt.Time)
		}
	}
	return nil
}

func (n *Next) see(seq *int64, at time.Time) {
	if seq != nil {
		n.Seq = max(n.Seq, *seq)
	}
	if at.After(n.NotBefore.Time) {
		n.NotBefore = manifest.At(at)
	}
}

type runRef struct{ run, node string }

func (r runRef) key() string { return r.run + "/" + r.node }

// runDirs lists the node directories below data/runs, committed or not, sorted. Names that no run or node can have are
// strangers and left alone.
func (t *Table) runDirs() ([]runRef, error) {
	return t.runDirsBut(func(string) bool { return false })
}

// runDirsBut is runDirs without the run ids that are skipped: it asks for each of them, in their order.
func (t *Table) runDirsBut(skipped func(run string) bool) ([]runRef, error) {
	var refs []runRef
	runs, err := t.list(key.RunsDir(t.name))
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !r.IsDir() || key.ValidRun(r.Name()) != nil || skipped(r.Name()) {
			continue
		}
		nodes, err := t.list(path.Join(key.RunsDir(t.name), r.Name()))
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if n.IsDir() && key.ValidNode(n.Name()) == nil {
				refs = append(refs, runRef{r.Name(), n.Name()})
			}
		}
	}
	return refs, nil
}

// snapshotDirs lists the snapshot directories, reachable or not, without those in staging.
func (t *Table) snapshotDirs() ([]string, error) {
	list, err := t.list(key.SnapshotsDir(t.name))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range list {
		if e.IsDir() && key.ValidSnapshot(e.Name()) == nil {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// list reads a directory; one that is absent, or vanishes under a cleaner, is empty.
func (t *Table) list(rel string) ([]fs.DirEntry, error) {
	list, err := t.s.opts.FS.ReadDir(t.s.Path(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, unreadable(rel, err)
}
