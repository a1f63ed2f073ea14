package pull

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"contextful/ref/bucket"
	"contextful/ref/bucket/commit"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"golang.org/x/sync/errgroup"
)

// batch is one attempt's downloads.
type batch struct {
	p     *puller
	sc    *scene
	total int
	done  int

	dirs    map[string]bool   // changed directories, to be synced
	schemas map[string][]byte // by table: verified, to be merged
	gone    []string          // keys that were not there
	refusal error             // the first, by key
	subject string
	final   bool // the refusal is no matter of another attempt
}

func (p *puller) batch(sc *scene, total int) *batch {
	return &batch{p: p, sc: sc, total: total, dirs: map[string]bool{}, schemas: map[string][]byte{}}
}

// refuse keeps the refusal of the smallest key; a final one goes before one that another look may settle.
func (b *batch) refuse(rel string, final bool, err error) {
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	if b.refusal == nil || final && !b.final || final == b.final && rel < b.subject {
		b.refusal, b.subject, b.final = err, rel, final
	}
}

// fetch downloads rels, Transfers at once, and goes on past keys that are gone and bytes that are wrong: everything that can be
// verified gets home before anything is refused (store.pull.transfer-width). Only a bucket that does not answer, a full disk or
// an ended context stops it.
func (b *batch) fetch(ctx context.Context, rels []string) (gone string, err error) {
	stopped := b.each(ctx, rels, b.one)
	if err := b.sync(); err != nil && stopped == nil {
		stopped = err
	}
	return b.end(stopped)
}

// each does one for every key, Transfers at once, until an error stops it.
func (b *batch) each(ctx context.Context, rels []string, one func(ctx context.Context, rel string) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(b.p.o.Transfers)
	for _, rel := range rels {
		group.Go(func() error {
			if err := inner.Err(); err != nil {
				return err
			}
			return one(inner, rel)
		})
	}
	return group.Wait()
}

// end is what came of the batch: what stopped it, else its refusal, else the first key that was gone.
func (b *batch) end(stopped error) (gone string, err error) {
	switch {
	case stopped != nil:
		b.final = true
		return "", stopped
	case b.refusal != nil:
		return "", b.refusal
	case len(b.gone) > 0:
		slices.Sort(b.gone)
		return b.gone[0], nil
	}
	return "", nil
}

// sync makes the names in every changed directory durable, each once.
func (b *batch) sync() error {
	var group errgroup.Group
	group.SetLimit(b.p.o.Transfers)
	for dir := range b.dirs {
		group.Go(func() error { return store.WriteFailed(dir, b.p.s.FS().SyncDir(dir)) })
	}
	clear(b.dirs)
	return group.Wait()
}

// one brings one object home. What it returns ends the batch; refusals of the object itself are kept for the end.
func (b *batch) one(ctx context.Context, rel string) error {
	parsed, e := b.sc.kinds[rel], b.sc.entries[rel]
	if parsed.Kind == key.KindSchema {
		return b.schema(ctx, rel, parsed.Table, e)
	}
	tmp, err := b.download(ctx, rel, e)
	if tmp == "" || err != nil {
		return err
	}
	if err := b.p.s.FS().Rename(tmp, b.p.s.Path(rel)); err != nil {
		_ = b.p.s.FS().Remove(tmp)
		return store.WriteFailed(rel, err)
	}
	b.home(rel, e)
	return nil
}

// home counts an object that has its final name.
func (b *batch) home(rel string, e manifest.Entry) {
	p := b.p
	info, err := p.s.FS().Stat(p.s.Path(rel))
	if err == nil {
		p.o.Digests.Note(rel, e.Size, info.ModTime(), e.SHA256)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b.dirs[path.Dir(p.s.Path(rel))] = true
	b.counted(e.Size)
}

// counted is called with the lock held.
func (b *batch) counted(size int64) {
	p := b.p
	b.done++
	p.report.Downloaded++
	p.report.Bytes += size
	if p.o.Progress != nil {
		p.o.Progress(b.done, b.total, p.report.Bytes)
	}
}

// download streams an object to a temporary file beside its final name, verified and synced. "" and no error: the object is gone
// or wrong, and noted so.
func (b *batch) download(ctx context.Context, rel string, e manifest.Entry) (tmp string, err error) {
	fsys, dir := b.p.s.FS(), path.Dir(b.p.s.Path(rel))
	if err := fsys.MkdirAll(dir); err != nil {
		return "", store.WriteFailed(rel, err)
	}
	var verdict error
	err = b.again(ctx, rel, func() error {
		verdict = nil
		tmp = vfs.TempName(dir)
		f, err := fsys.Create(tmp)
		if err != nil {
			return store.WriteFailed(rel, err)
		}
		verdict, err = b.stream(ctx, rel, e, f)
		if err == nil && verdict == nil {
			err = store.WriteFailed(rel, f.Sync())
		}
		err = errors.Join(err, store.WriteFailed(rel, f.Close()))
		if err != nil || verdict != nil {
			_ = fsys.Remove(tmp)
			tmp = ""
		}
		return err
	})
	if err != nil || verdict != nil {
		return "", b.judge(rel, verdict, err)
	}
	return tmp, nil
}

// sweep removes what a killed pull left in the directories that this one writes to: under the push lock only pulls write where
// other nodes' runs and finished snapshots lie.
func (b *batch) sweep(rels []string) {
	swept := map[string]bool{}
	for _, rel := range rels {
		at, dir := b.sc.kinds[rel], path.Dir(b.p.s.Path(rel))
		if swept[dir] || at.Snapshot == "" && (at.Run == "" || at.Node == b.p.s.Node()) {
			continue
		}
		swept[dir] = true
		list, err := b.p.s.FS().ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if vfs.TemporaryName(e.Name()) {
				_ = b.p.s.FS().Remove(dir + "/" + e.Name()) // litter: what stays is removed next time
			}
		}
	}
}

// judge sorts what went wrong with one object: keys that are gone and digests that differ are noted, everything else ends the
// batch.
func (b *batch) judge(rel string, verdict, err error) error {
	k := b.p.r.Key(rel)
	switch {
	case err == nil && b.sc.kinds[rel].Kind == key.KindRunState:
		b.p.s.Logf("warning: %s is not the one the bucket manifest lists, and is left out", k)
		return nil
	case err == nil:
		// A schema is replaced in place, so its entry may be one push behind: the manifest is worth another look.
		b.refuse(rel, b.sc.kinds[rel].Kind != key.KindSchema, verdict)
		return nil
	case errors.Is(err, bucket.ErrNotFound):
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		b.gone = append(b.gone, k)
		return nil
	}
	return commit.Failure(b.p.o.Bucket.Name(), k, err)
}

// again asks a few times where the transport fails.
func (b *batch) again(ctx context.Context, rel string, ask func() error) error {
	for n := 1; ; n++ {
		err := ask()
		if err == nil || n == commit.ReadAttempts || fault.CodeOf(err) != "" || ctx.Err() != nil ||
			errors.Is(err, bucket.ErrNotFound) || errors.Is(err, bucket.ErrForbidden) {
			return err
		}
		if perr := b.p.r.Pause(ctx, commit.Backoff(n)); perr != nil {
			return errors.Join(err, perr)
		}
	}
}

// stream copies an object's bytes, never more than one past the listed size. verdict is the refusal of bytes that are not the
// listed ones, err a failure of transport or disk.
func (b *batch) stream(ctx context.Context, rel string, e manifest.Entry, to io.Writer) (verdict, err error) {
	body, _, err := b.p.o.Bucket.Get(ctx, b.p.r.Key(rel))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	h := sha256.New()
	w := &sink{to: to}
	n, err := io.Copy(io.MultiWriter(h, w), io.LimitReader(body, e.Size+1))
	if w.err != nil {
		return nil, store.WriteFailed(rel, w.err)
	}
	if err != nil {
		return nil, err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); n != e.Size || sum != e.SHA256 {
		return b.mismatch(rel, e, n, sum), nil
	}
	return nil, nil
}

// sink remembers that it was the disk that failed.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

func (b *batch) mismatch(rel string, e manifest.Entry, size int64, sum string) error {
	k := b.p.r.Key(rel)
	what := fmt.Sprintf("sha256 %s", sum)
	if size > e.Size {
		what = "more bytes"
	}
	return fault.New(fault.SyncObjectDigestMismatch, k, fmt.Sprintf(
		"%s is not what the bucket manifest lists (sha256 %s, %d bytes): it has %s; it was discarded", k, e.SHA256, e.Size, what))
}

// schema downloads a schema.json into memory.
func (b *batch) schema(ctx context.Context, rel, table string, e manifest.Entry) error {
	if e.Size > schema.MaxJSON {
		b.refuse(rel, true, fault.New(fault.SyncManifestInvalid, b.p.r.Key(rel), fmt.Sprintf("%s is listed with %d bytes, more than any schema has", b.p.r.Key(rel), e.Size)))
		return nil
	}
	var buf memory
	var verdict error
	err := b.again(ctx, rel, func() (err error) {
		buf = buf[:0]
		verdict, err = b.stream(ctx, rel, e, &buf)
		return err
	})
	if err != nil || verdict != nil {
		return b.judge(rel, verdict, err)
	}
	b.p.mu.Lock()
	defer b.p.mu.Unlock()
	b.schemas[table] = buf
	b.counted(e.Size)
	return nil
}

type memory []byte

func (m *memory) Write(p []byte) (int, error) {
	*m = append(*m, p...)
	return len(p), nil
}

// mergeSchemas merges the downloaded schemas into the local ones (store.pull.schema-merge), all decoded before the first is
// written.
func (b *batch) mergeSchemas(ctx context.Context) error {
	decoded := map[string]*schema.Schema{}
	for table, data := range b.schemas {
		k := b.p.r.Key(key.Schema(table))
		s, err := schema.Decode(data, k)
		if err != nil {
			return fault.New(fault.SyncManifestInvalid, k, k+" in the bucket is no schema").Wrap(err)
		}
		decoded[table] = s
	}
	for _, table := range slices.Sorted(maps.Keys(decoded)) {
		t, err := b.p.s.TableAt(table)
		if err != nil {
			return err
		}
		if err := t.PullSchema(ctx, decoded[table]); err != nil {
			return err
		}
	}
	return nil
}
