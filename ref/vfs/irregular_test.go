//go:build unix

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"contextful/ref/vfs"

	"golang.org/x/sys/unix"
)

// A FIFO, a directory or a device where a file of the store should be is refused, and never waited for.
func TestOpenTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	fifo := dir + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, dir, "/dev/zero"} {
		if f, err := (vfs.OS{}).Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
}

// Behind a symbolic link to nothing something may well be, as when a disk is not mounted: it is not absence.
func TestDanglingLinkIsNoAbsence(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir+"/elsewhere", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	look := map[string]func(string) error{
		"open": func(name string) error { _, err := (vfs.OS{}).Open(name); return err },
		"stat": func(name string) error { _, err := (vfs.OS{}).Stat(name); return err },
		"list": func(name string) error { _, err := (vfs.OS{}).ReadDir(name); return err },
	}
	for verb, ask := range look {
		for _, name := range []string{"/link", "/link/below", "/link/far/below"} {
			if err := ask(dir + name); err == nil || errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s of %s: %v", verb, name, err)
			}
		}
		if err := ask(dir + "/none/below"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of what is absent: %v", verb, err)
		}
	}
	if err := os.Mkdir(dir+"/elsewhere", 0o755); err != nil {
		t.Fatal(err)
	}
	for verb, ask := range look {
		if err := ask(dir + "/link/below"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of what is absent behind a link: %v", verb, err)
		}
	}
}

// A lock that is a symbolic link is refused at once, and nothing is made where it leads.
func TestLockIsNoLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir+"/target", dir+"/lock"); err != nil {
		t.Fatal(err)
	}
	for made := range 2 { // the target absent, then there
		if lock, ok, err := (vfs.OS{}).TryLock(dir + "/lock"); lock != nil || ok || err == nil {
			t.Fatal(lock, ok, err)
		}
		if f, err := os.OpenFile(dir+"/target", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
		} else if made == 0 {
			t.Fatal("the target was made", err)
		}
	}
}
