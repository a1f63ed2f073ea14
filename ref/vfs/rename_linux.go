package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace fails with fs.ErrExist where newName exists, and with errors.ErrUnsupported where kernel or file system
// do not know the flag.
func renameNoReplace(oldName, newName string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, oldName, unix.AT_FDCWD, newName, unix.RENAME_NOREPLACE)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP):
			return errors.ErrUnsupported
		}
		return &os.LinkError{Op: "renameat2", Old: oldName, New: newName, Err: err}
	}
}
