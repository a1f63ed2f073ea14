//go:build unix

package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// OS is the machine's file system. The zero value is ready.
type OS struct{}

var _ FS = OS{}

// Open opens a regular file for reading. It never waits: where a store's file should be, a FIFO that nobody writes or a device
// without an end is damage like any other (ErrInvalid), and not something to read.
func (OS) Open(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, absent("open", name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// These wrap fs.ErrInvalid.
var (
	errIrregular = fmt.Errorf("it is not a regular file: %w", fs.ErrInvalid)
	errDangling  = fmt.Errorf("it is a symbolic link to nothing: %w", fs.ErrInvalid)
)

// absent is err, unless it says that there is no such file where a symbolic link on the way leads nowhere: behind one, as when
// a disk is not mounted, what was committed may well be, and whoever took it for absent would read less or tidy it away.
func absent(op, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for at := name; ; at = path.Dir(at) {
		info, errLink := os.Lstat(at)
		switch {
		case errLink == nil && info.Mode()&fs.ModeSymlink == 0, at == path.Dir(at):
			return err
		case errLink == nil:
			if _, errTarget := os.Stat(at); errors.Is(errTarget, fs.ErrNotExist) {
				return &fs.PathError{Op: op, Path: at, Err: errDangling}
			}
			return err
		}
	}
}

// Create makes a new file with mode 0644 under the process's umask.
func (OS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename replaces.
func (OS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

// RenameNew moves without replacing: renameat2 with RENAME_NOREPLACE where the kernel and the file system know it, else
// link and unlink for a file, or an exclusive mkdir that the rename then fills for a directory.
func (OS) RenameNew(oldName, newName string) error {
	err := renameNoReplace(oldName, newName)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return renameNewPortable(oldName, newName)
}

func renameNewPortable(oldName, newName string) error {
	info, err := os.Lstat(oldName)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := os.Mkdir(newName, 0o755); err != nil {
			return err
		}
		// The system call itself, since os.Rename refuses any directory: it replaces an empty one only.
		if err := unix.Rename(oldName, newName); err != nil {
			return &os.LinkError{Op: "rename", Old: oldName, New: newName, Err: err}
		}
		return nil
	}
	if err := os.Link(oldName, newName); err != nil {
		return err
	}
	return os.Remove(oldName)
}

// Remove removes one file or empty directory.
func (OS) Remove(name string) error { return os.Remove(name) }

// RemoveAll removes a tree; an absent one is no error.
func (OS) RemoveAll(name string) error { return os.RemoveAll(name) }

// MkdirAll makes the missing directories of the path, each one synced into its parent before the next is made.
func (o OS) MkdirAll(name string) error {
	if info, err := os.Stat(name); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: name, Err: unix.ENOTDIR}
		}
		return nil
	}
	parent := path.Dir(name)
	if parent != name {
		if err := o.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Synced even where another process made it a moment ago: its own sync may still be to come.
	return o.SyncDir(parent)
}

// ReadDir lists a directory, sorted by name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(name)
	return list, absent("open", name, err)
}

// Stat follows symbolic links.
func (OS) Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	return info, absent("stat", name, err)
}

// Lstat does not.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// SyncDir makes the names in a directory durable. A file system that cannot sync directories is not an error: there is
// nothing more to do there.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// TryLock takes the lock if it is free. A symbolic link is none: what it leads to may lie anywhere, and would never be the
// file of that name.
func (OS) TryLock(name string) (Lock, bool, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644) // the os package sets O_CLOEXEC
		if err != nil {
			return nil, false, err
		}
		err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, false, f.Close()
		}
		if err != nil {
			return nil, false, errors.Join(&fs.PathError{Op: "flock", Path: name, Err: err}, f.Close())
		}
		// The holder before us may have removed the file with its directory: then we hold a lock nobody else can see.
		if current(f, name) {
			return &osLock{f}, true, nil
		}
		if err := f.Close(); err != nil {
			return nil, false, err
		}
	}
}

// Lock waits by asking again with growing pauses, so that an end of ctx is noticed: flock itself cannot be cancelled.
func (o OS) Lock(ctx context.Context, name string) (Lock, error) {
	pause := time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
		}
		lock, ok, err := o.TryLock(name)
		if err != nil || ok {
			return lock, err
		}
		timer.Reset(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}

type osLock struct{ f *os.File }

// Unlock closes the file, which frees the lock.
func (l *osLock) Unlock() error { return l.f.Close() }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func current(f *os.File, name string) bool {
	have, errHave := f.Stat()
	want, errWant := os.Lstat(name)
	return errHave == nil && errWant == nil && os.SameFile(have, want)
}
