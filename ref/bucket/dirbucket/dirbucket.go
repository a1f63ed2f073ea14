// Package dirbucket is a bucket in a directory: each object is a file, and a conditional put is a version check and a rename
// under a lock that every process on the machine respects.
//
// Answers: store.endpoint.schemes (file://), topology.coordinate.primitive for a file system.
//
//	<dir>/<key>                         an object; a segment that no file can safely be called is escaped with "%"
//	<dir>/.contextful-bucket/locks/NN   256 lock files; a key's digest picks one
//	<dir>/.contextful-bucket/tmp/…      bodies on their way, each locked by its writer; free ones are removed at Open
//
// An ETag is the SHA-256 of the content, so it is the same in every process and after a restart. A body is synced before it is
// renamed and its directory after, so an answered Put survives a power cut. One thing a directory cannot do: hold an object
// whose key is the folder of another.
package dirbucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"contextful/ref/bucket"
	"contextful/ref/fault"
)

const ownDir = ".contextful-bucket"

// Bucket is one directory. It is safe for concurrent use, by several processes too.
type Bucket struct {
	root string

	mu   sync.Mutex
	tags map[string]tagged
}

// tagged remembers a file's digest as long as it is the same file: inode, size and time unchanged.
type tagged struct {
	inode uint64
	size  int64
	mtime time.Time
	tag   string
}

var _ bucket.Bucket = (*Bucket)(nil)

// Open uses the directory dir (absolute), making it where it is absent, and removes what killed writers left. Refusal:
// SyncUnreachable.
func Open(dir string) (*Bucket, error) {
	b := &Bucket{root: filepath.Clean(dir), tags: map[string]tagged{}}
	for _, d := range []string{"locks", "tmp"} {
		if err := mkdirSynced(filepath.Join(b.root, ownDir, d)); err != nil {
			return nil, fault.New(fault.SyncUnreachable, dir, "the bucket directory "+dir+" cannot be used").Wrap(err)
		}
	}
	b.sweep()
	return b, nil
}

// Name says "file://<dir>".
func (b *Bucket) Name() string { return "file://" + b.root }

// sweep removes bodies whose writer is gone: their lock is free. Best effort, they are only litter.
func (b *Bucket) sweep() {
	dir := filepath.Join(b.root, ownDir, "tmp")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

func failed(key string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", key, bucket.ErrNotFound)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", bucket.ErrForbidden, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		return fmt.Errorf("%w: %w", bucket.ErrTransport, err)
	}
}

// open opens an object's file; a directory or a path through a file is "not found". It never waits: a FIFO or a device is damage.
func (b *Bucket) open(key string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(b.file(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.Name())
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// tag gives the ETag of an open file and leaves it at its start.
func (b *Bucket) tag(f *os.File, info fs.FileInfo) (string, error) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if ok {
		b.mu.Lock()
		known := b.tags[f.Name()]
		b.mu.Unlock()
		if known.tag != "" && known.inode == sys.Ino && known.size == info.Size() && known.mtime.Equal(info.ModTime()) && known.size > 1<<16 {
			return known.tag, nil
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	tag := etag(h.Sum(nil))
	// Small files are always read again: an inode can come back within one tick of the clock, and they are the ones that
	// conditions are about. Large ones are immutable parts.
	if ok && info.Size() > 1<<16 {
		b.mu.Lock()
		b.tags[f.Name()] = tagged{inode: sys.Ino, size: info.Size(), mtime: info.ModTime(), tag: tag}
		b.mu.Unlock()
	}
	return tag, nil
}

func etag(sum []byte) string { return `"` + hex.EncodeToString(sum) + `"` }

// Get opens an object: the file as it is now, whatever replaces it later.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, bucket.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, bucket.Object{}, err
	}
	f, info, err := b.open(key)
	if err != nil {
		return nil, bucket.Object{}, failed(key, err)
	}
	tag, err := b.tag(f, info)
	if err != nil {
		_ = f.Close()
		return nil, bucket.Object{}, failed(key, err)
	}
	return f, bucket.Object{Key: key, Size: info.Size(), ETag: tag}, nil
}

// Head describes an object.
func (b *Bucket) Head(ctx context.Context, key string) (bucket.Object, error) {
	f, o, err := b.Get(ctx, key)
	if err != nil {
		return bucket.Object{}, err
	}
	return o, f.Close()
}

// Put writes the body beside the objects, then checks the condition and renames under the key's lock.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond bucket.Condition) (bucket.Object, error) {
	if err := ctx.Err(); err != nil {
		return bucket.Object{}, err
	}
	temp, sum, err := b.spool(body, size)
	if err != nil {
		return bucket.Object{}, failed(key, err)
	}
	defer func() { _ = os.Remove(temp.Name()); _ = temp.Close() }()
	unlock, err := b.lock(ctx, key)
	if err != nil {
		return bucket.Object{}, failed(key, err)
	}
	defer unlock()
	if err := b.check(key, cond); err != nil {
		return bucket.Object{}, err
	}
	name := b.file(key)
	if err := mkdirSynced(filepath.Dir(name)); err != nil {
		return bucket.Object{}, blocked(key, err)
	}
	if err := os.Rename(temp.Name(), name); err != nil {
		return bucket.Object{}, blocked(key, err)
	}
	if err := syncDir(filepath.Dir(name)); err != nil {
		// The rename is there, but a power cut may undo it.
		return bucket.Object{}, fmt.Errorf("%w: %w", bucket.ErrUnknownOutcome, err)
	}
	return bucket.Object{Key: key, Size: size, ETag: etag(sum)}, nil
}

// blocked is a failure that must not read as "no such object": the way to the key is taken by another kind of thing.
func blocked(key string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return failed(key, err)
	}
	return fmt.Errorf("%s: %w: %w", key, bucket.ErrTransport, err)
}

func (b *Bucket) check(key string, cond bucket.Condition) error {
	if cond == (bucket.Condition{}) {
		return nil
	}
	f, info, err := b.open(key)
	if errors.Is(err, fs.ErrNotExist) {
		if cond.IfMatch != "" {
			return fmt.Errorf("%s is absent: %w", key, bucket.ErrCondition)
		}
		return nil
	}
	if err != nil {
		return failed(key, err)
	}
	defer f.Close()
	if cond.IfAbsent {
		return fmt.Errorf("%s exists: %w", key, bucket.ErrCondition)
	}
	tag, err := b.tag(f, info)
	if err != nil {
		return failed(key, err)
	}
	if tag != cond.IfMatch {
		return fmt.Errorf("%s moved: %w", key, bucket.ErrCondition)
	}
	return nil
}

// spool writes the body to a locked temporary file and syncs it.
func (b *Bucket) spool(body io.Reader, size int64) (*os.File, []byte, error) {
	f, err := b.temporary()
	if err != nil {
		return nil, nil, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), body)
	if err == nil && n != size {
		err = fmt.Errorf("body holds %d bytes, %d were announced", n, size)
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = os.Remove(f.Name())
		_ = f.Close()
		return nil, nil, err
	}
	return f, h.Sum(nil), nil
}

// temporary makes a locked temporary file. Between its creation and its lock another process's sweep may have taken it for
// litter: then it has no name any more, and a new one is made.
func (b *Bucket) temporary() (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Join(b.root, ownDir, "tmp"), "put-")
		if err != nil {
			return nil, err
		}
		var stat syscall.Stat_t
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err == nil {
			err = syscall.Fstat(int(f.Fd()), &stat)
		}
		if err == nil && stat.Nlink > 0 {
			return f, nil
		}
		_ = os.Remove(f.Name())
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// patience is how long a key's lock is asked for. It is held for a check and a rename: whoever keeps it longer was stopped in
// between, and waiting for that one has no end.
const patience = 15 * time.Second

// lock takes the key's lock, asking again until ctx ends: flock itself cannot be interrupted.
func (b *Bucket) lock(ctx context.Context, key string) (func(), error) {
	sum := sha256.Sum256([]byte(key))
	f, err := os.OpenFile(filepath.Join(b.root, ownDir, "locks", hex.EncodeToString(sum[:1])), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%w: another process holds the lock of %s", bucket.ErrTransport, key))
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			_ = f.Close()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// Delete removes an object under its key's lock. The folders above it stay: an empty one is nobody's object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	unlock, err := b.lock(ctx, key)
	if err != nil {
		return failed(key, err)
	}
	defer unlock()
	f, _, err := b.open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed(key, err)
	}
	_ = f.Close()
	name := b.file(key)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(key, err)
	}
	if err := syncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("%w: %w", bucket.ErrUnknownOutcome, err)
	}
	return nil
}

func mkdirSynced(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent == dir || strings.TrimSpace(dir) == "" {
		return err
	}
	if err := mkdirSynced(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	return errors.Join(err, f.Close())
}
