// Package vfs is the port to the local file system, reduced to what a durable commit needs: exclusive create, rename with
// and without replacement, directory sync, and a lock that dies with its process.
package vfs

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// File is an open file. Sync makes its bytes survive a power cut; Close without Sync promises nothing.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	Sync() error
}

// FS is a file system of absolute, slash-separated paths. Errors satisfy errors.Is with fs.ErrNotExist, fs.ErrExist and
// fs.ErrPermission. A rename or create is visible at once and durable only after SyncDir of its directory.
type FS interface {
	Open(name string) (File, error)
	// Create makes a new file for writing and fails with fs.ErrExist where one is.
	Create(name string) (File, error)
	// Rename replaces newName in one step.
	Rename(oldName, newName string) error
	// RenameNew moves oldName to newName in one step and fails with fs.ErrExist where newName exists: the local form of
	// a create under If-None-Match.
	RenameNew(oldName, newName string) error
	Remove(name string) error
	RemoveAll(name string) error
	// MkdirAll makes a directory and its parents and syncs each parent it changed.
	MkdirAll(name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat follows symbolic links, Lstat describes the link itself.
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	SyncDir(name string) error
	// Lock takes an exclusive advisory lock on the file name (made if absent, never removed), waiting until ctx ends. The
	// kernel frees it when the process ends, however it ends; no clock is involved.
	Lock(ctx context.Context, name string) (Lock, error)
	// TryLock is Lock without waiting: ok is false where another holds it.
	TryLock(name string) (lock Lock, ok bool, err error)
}

// Lock is held until Unlock or the end of the process.
type Lock interface {
	Unlock() error
}

// Changed is the instant at which a file or a directory of this machine was last changed, its times and its rights included: unlike
// ModTime none that a tool which copies or restores can set back. Of a file system that does not know it, as one in memory, it is
// ModTime.
func Changed(info fs.FileInfo) time.Time {
	if nanos, ok := changed(info.Sys()); ok {
		return time.Unix(0, nanos)
	}
	return info.ModTime()
}
