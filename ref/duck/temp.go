package duck

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"contextful/ref/decl"
	"contextful/ref/vfs"
)

const (
	tempPrefix = "contextful-duckdb-"
	tempLock   = ".lock"
)

// temporary is a session's directory for spilled data. Its lock is held while the session lives: a directory whose lock is
// free belonged to a process that was killed, and the next session in the same place removes it.
type temporary struct {
	dir  string
	lock vfs.Lock
}

func makeTemp(base string) (*temporary, error) {
	if base == "" {
		base = os.TempDir()
		if state, ok := decl.StateDir(os.Getenv); ok && os.MkdirAll(state, 0o700) == nil {
			base = state
		}
	} else if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	t, err := tempIn(base)
	if errors.Is(err, os.ErrPermission) {
		return tempIn(os.TempDir())
	}
	if err == nil {
		sweep(base, t.dir)
	}
	return t, err
}

func tempIn(base string) (*temporary, error) {
	for {
		dir, err := os.MkdirTemp(base, tempPrefix)
		if err != nil {
			return nil, err
		}
		lock, ok, err := vfs.OS{}.TryLock(filepath.Join(dir, tempLock))
		if errors.Is(err, os.ErrNotExist) || err == nil && !ok {
			continue // a sweeping neighbour was faster than this lock
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		return &temporary{dir: dir, lock: lock}, nil
	}
}

// sweep removes what killed sessions left in base. It is a courtesy: whatever fails, the next session may try.
func sweep(base, own string) {
	left, err := filepath.Glob(filepath.Join(escapeGlob(base), tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		if dir == own {
			continue
		}
		// Asked first, because taking the lock would make the file.
		if _, err := os.Stat(filepath.Join(dir, tempLock)); err != nil {
			continue
		}
		if lock, ok, err := (vfs.OS{}).TryLock(filepath.Join(dir, tempLock)); err == nil && ok {
			_ = os.RemoveAll(dir)
			_ = lock.Unlock()
		}
	}
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// spill is the directory the engine is told; it makes it when it needs it.
func (t *temporary) spill() string { return filepath.Join(t.dir, "spill") }

func (t *temporary) remove() error {
	return errors.Join(os.RemoveAll(t.dir), t.lock.Unlock())
}
