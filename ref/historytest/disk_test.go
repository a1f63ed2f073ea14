package historytest

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"contextful/ref/vfs"
)

// errPower is what every operation says once the power has failed.
var errPower = errors.New("the power has failed")

// scratch is a temporary directory, in memory where the machine has such: every commit waits for the disk several times.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "history")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// entry is a file or directory of a disk: what is seen of it, and what a power cut leaves. A file's bytes are seen in the real file;
// synced holds them as they were when it was last synced, nil for never.
type entry struct {
	dir     bool
	names   map[string]*entry // what is seen
	durable map[string]*entry // what was there when the directory was last synced
	synced  []byte
}

// disk is the real file system below a directory, with a memory of what was synced, and a power cut at some operation. What is written
// past it (by the query engine) is seen, and lost like everything that nobody synced. It follows vfs.FS: a create, rename or remove
// is durable with a SyncDir of its directory, bytes with a Sync of their file.
type disk struct {
	vfs.OS
	root string
	top  *entry

	mu    sync.Mutex
	left  int // operations until the power fails; negative for never
	count int // operations so far
	down  bool
}

// newDisk takes everything below root for durable.
func newDisk(root string, left int) (*disk, error) {
	d := &disk{root: root, left: left}
	top, err := durable(root)
	d.top = top
	return d, err
}

func durable(path string) (*entry, error) {
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	e := &entry{dir: true, names: map[string]*entry{}}
	for _, f := range list {
		child := filepath.Join(path, f.Name())
		if f.IsDir() {
			e.names[f.Name()], err = durable(child)
		} else {
			e.names[f.Name()] = &entry{}
			e.names[f.Name()].synced, err = read(child)
		}
		if err != nil {
			return nil, err
		}
	}
	e.durable = maps.Clone(e.names)
	return e, nil
}

// read gives a file's bytes, never nil.
func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	return append([]byte{}, data...), err
}

// change is one operation that changes what is seen or durable; note is told once it is done.
func (d *disk) change(work func() error, note func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down || d.left == 0 {
		d.down = true
		return errPower
	}
	d.left--
	d.count++
	if err := work(); err != nil {
		return err
	}
	return note()
}

// at finds the entry of a path, taking up what was made past the disk; nil for what is not below root or not there.
func (d *disk) at(path string) *entry {
	rel, below := strings.CutPrefix(path, d.root)
	if !below {
		return nil
	}
	e, here := d.top, d.root
	for _, name := range strings.Split(strings.Trim(rel, "/"), "/") {
		if name == "" {
			continue
		}
		here = filepath.Join(here, name)
		info, err := os.Lstat(here)
		if err != nil || !e.dir {
			return nil
		}
		if e.names[name] == nil {
			e.names[name] = &entry{dir: info.IsDir(), names: map[string]*entry{}, durable: map[string]*entry{}}
		}
		e = e.names[name]
	}
	return e
}

func (d *disk) drop(path string) {
	if dir := d.at(filepath.Dir(path)); dir != nil {
		delete(dir.names, filepath.Base(path))
	}
}

func (d *disk) Create(name string) (f vfs.File, err error) {
	err = d.change(func() error { f, err = d.OS.Create(name); return err }, func() error { d.drop(name); d.at(name); return nil })
	if err != nil {
		return nil, err
	}
	return &diskFile{f, d, name}, nil
}

func (d *disk) Open(name string) (vfs.File, error) {
	if d.isDown() {
		return nil, errPower
	}
	f, err := d.OS.Open(name)
	if err != nil {
		return nil, err
	}
	return &diskFile{f, d, name}, nil
}

func (d *disk) isDown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.down
}

func (d *disk) move(oldName, newName string, rename func(a, b string) error) error {
	var e *entry
	return d.change(func() error { e = d.at(oldName); return rename(oldName, newName) }, func() error {
		d.drop(oldName)
		if dir := d.at(filepath.Dir(newName)); dir != nil && e != nil {
			dir.names[filepath.Base(newName)] = e
		}
		return nil
	})
}

func (d *disk) Rename(a, b string) error    { return d.move(a, b, d.OS.Rename) }
func (d *disk) RenameNew(a, b string) error { return d.move(a, b, d.OS.RenameNew) }

func (d *disk) Remove(name string) error {
	return d.change(func() error { return d.OS.Remove(name) }, func() error { d.drop(name); return nil })
}

func (d *disk) RemoveAll(name string) error {
	return d.change(func() error { return d.OS.RemoveAll(name) }, func() error { d.drop(name); return nil })
}

// MkdirAll syncs each parent that it changes.
func (d *disk) MkdirAll(name string) error {
	if _, err := os.Stat(name); err == nil && !d.isDown() {
		return nil
	}
	return d.change(func() error { return d.OS.MkdirAll(name) }, func() error {
		for path := name; len(path) > len(d.root); path = filepath.Dir(path) {
			dir, e := d.at(filepath.Dir(path)), d.at(path)
			if dir != nil && e != nil && dir.durable[filepath.Base(path)] == nil {
				dir.durable[filepath.Base(path)] = e
			}
		}
		return nil
	})
}

func (d *disk) SyncDir(name string) error {
	return d.change(func() error { return d.OS.SyncDir(name) }, func() error {
		e := d.at(name)
		if e == nil {
			return nil
		}
		list, err := os.ReadDir(name)
		if err != nil {
			return err
		}
		clear(e.durable)
		for _, f := range list {
			e.durable[f.Name()] = d.at(filepath.Join(name, f.Name()))
		}
		return nil
	})
}

func (d *disk) Lock(ctx context.Context, name string) (vfs.Lock, error) {
	if d.isDown() {
		return nil, errPower
	}
	return d.OS.Lock(ctx, name)
}

func (d *disk) TryLock(name string) (vfs.Lock, bool, error) {
	if d.isDown() {
		return nil, false, errPower
	}
	return d.OS.TryLock(name)
}

type diskFile struct {
	vfs.File
	d    *disk
	name string
}

func (f *diskFile) Write(p []byte) (n int, err error) {
	err = f.d.change(func() error { n, err = f.File.Write(p); return err }, func() error { return nil })
	return n, err
}

func (f *diskFile) Sync() error {
	return f.d.change(f.File.Sync, func() error {
		e := f.d.at(f.name)
		if e == nil {
			return nil
		}
		var err error
		e.synced, err = read(f.name)
		return err
	})
}

// mode says what of the unsynced a power cut leaves.
type mode int

const (
	loses     mode = iota // names and bytes that were synced
	keepNames             // every name, and the bytes that were synced
	keepAll               // everything: only the process died
	modes
)

func (m mode) String() string {
	return []string{"what was not synced is lost", "names stay, unsynced bytes are lost", "only the process died"}[m]
}

// remains writes what a power cut leaves into a directory.
func (d *disk) remains(m mode, into string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m == keepAll {
		return os.CopyFS(into, os.DirFS(d.root))
	}
	return leave(d.top, m, into)
}

func leave(e *entry, m mode, into string) error {
	if !e.dir {
		return os.WriteFile(into, e.synced, 0o644)
	}
	if err := os.Mkdir(into, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	names := e.names
	if m == loses {
		names = e.durable
	}
	for name, child := range names {
		if err := leave(child, m, filepath.Join(into, name)); err != nil {
			return err
		}
	}
	return nil
}
