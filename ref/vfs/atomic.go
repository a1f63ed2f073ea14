package vfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// TemporaryPrefix begins the name of every temporary file; it lies in the directory of its final name.
const TemporaryPrefix = ".tmp-"

// ErrSymlink is wrapped by NoSymlink's refusal.
var ErrSymlink = errors.New("a symbolic link on the way")

// WriteAtomic replaces or makes name with data: a temporary file beside it, synced, renamed over it, the directory synced.
// However it ends, name holds its old bytes or the new ones whole; after a nil error the new ones are durable.
func WriteAtomic(fsys FS, name string, data []byte) error {
	return write(fsys, name, data, fsys.Rename)
}

// WriteNew is WriteAtomic that fails with fs.ErrExist where name exists: of racing writers exactly one wins.
func WriteNew(fsys FS, name string, data []byte) error {
	return write(fsys, name, data, fsys.RenameNew)
}

func write(fsys FS, name string, data []byte, rename func(oldName, newName string) error) error {
	tmp, err := WriteTemp(fsys, path.Dir(name), data)
	if err != nil {
		return err
	}
	if err := rename(tmp, name); err != nil {
		_ = fsys.Remove(tmp) // it is of no use; whoever recovers the directory would remove it too
		return err
	}
	return fsys.SyncDir(path.Dir(name))
}

// WriteTemp writes data to a new temporary file in dir, synced, and gives its path. On an error nothing stays behind.
func WriteTemp(fsys FS, dir string, data []byte) (string, error) {
	tmp := TempName(dir)
	f, err := fsys.Create(tmp)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = fsys.Remove(tmp)
		return "", err
	}
	return tmp, nil
}

// TempName gives an unused temporary name in dir.
func TempName(dir string) string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return path.Join(dir, TemporaryPrefix+hex.EncodeToString(b[:]))
}

// ReadFile reads a whole file of at most limit bytes; a longer one is an error, so an untrusted file costs no memory.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, nil
}

// SyncFile makes an existing file's bytes durable.
func SyncFile(fsys FS, name string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// NoSymlink refuses (wrapping ErrSymlink, naming it) where any existing component of rel below root is a symbolic link.
// root itself may be one. A component that does not exist ends the walk without error.
func NoSymlink(fsys FS, root, rel string) error {
	at := root
	for _, seg := range strings.Split(rel, "/") {
		at = path.Join(at, seg)
		info, err := fsys.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: %w", at, ErrSymlink)
		}
	}
	return nil
}

// Exists tells whether name is there.
func Exists(fsys FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// TemporaryName tells whether a file name is a temporary one.
func TemporaryName(base string) bool { return strings.HasPrefix(base, TemporaryPrefix) }
