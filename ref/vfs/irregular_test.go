//go:build unix

package vfs_test

import (
	"errors"
	"io/fs"
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
