package vfs

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// ErrCrashed is what every operation answers between a planned crash and Crash.
var ErrCrashed = errors.New("the machine is down")

// CrashMode says what of the unsynced survives a crash.
type CrashMode int

const (
	// CrashLoses: nothing that was not synced is left, neither names nor bytes.
	CrashLoses CrashMode = iota
	// CrashKeepsNames: names reached the disk, bytes that were not synced did not: the renamed but empty file.
	CrashKeepsNames
	// CrashKeepsAll: only the process died; its locks are free.
	CrashKeepsAll
)

// Mem is a file system in memory that tells what is visible from what is durable. It keeps an ordered journal of all
// operations, can fail one of them, and can crash at one. It has no clock: modification times count operations, so a later
// change always has a later time. Safe for concurrent use.
type Mem struct {
	mu      sync.Mutex
	root    *node
	epoch   int // raised by Crash: older handles and locks are dead
	tick    int64
	freed   chan struct{} // closed and replaced when a lock is freed
	journal []Op
	changes int // operations that change something, since the last plan
	failAt  int
	failErr error
	crashAt int
	down    bool
	inject  func(Op) error
}

type node struct {
	dir      bool
	data     []byte
	synced   []byte
	entries  map[string]*node
	durable  map[string]*node
	modified int64
	holder   *memLock
}

func newDir() *node {
	return &node{dir: true, entries: map[string]*node{}, durable: map[string]*node{}}
}

// NewMem makes an empty file system holding "/".
func NewMem() *Mem { return &Mem{root: newDir(), freed: make(chan struct{})} }

var _ FS = (*Mem)(nil)

// Crash ends the process: what mode does not keep is gone, locks are free, open files fail. A planned crash is over.
func (m *Mem) Crash(mode CrashMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.crashAt, m.down = 0, false
	m.settle(m.root, mode, map[*node]bool{})
	m.wake()
}

func (m *Mem) settle(n *node, mode CrashMode, seen map[*node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	n.holder = nil
	if !n.dir {
		if mode != CrashKeepsAll {
			n.data = slices.Clone(n.synced)
		}
		return
	}
	if mode == CrashLoses {
		n.entries = maps.Clone(n.durable)
	} else {
		n.durable = maps.Clone(n.entries)
	}
	for _, child := range n.entries {
		m.settle(child, mode, seen)
	}
}

func (m *Mem) wake() {
	close(m.freed)
	m.freed = make(chan struct{})
}

// find walks to a path. The caller holds the mutex.
func (m *Mem) find(op, name string) (*node, error) {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at := m.root
	for _, seg := range strings.Split(name[1:], "/") {
		if seg == "" {
			break
		}
		if !at.dir {
			return nil, &fs.PathError{Op: op, Path: name, Err: errNotDir}
		}
		next := at.entries[seg]
		if next == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		at = next
	}
	return at, nil
}

var errNotDir = errors.New("not a directory")

func (m *Mem) parent(op, name string) (*node, string, error) {
	dir, base := path.Split(name)
	p, err := m.find(op, path.Clean(dir))
	if err == nil && !p.dir {
		err = &fs.PathError{Op: op, Path: name, Err: errNotDir}
	}
	return p, base, err
}

func (m *Mem) touch(n *node) {
	m.tick++
	n.modified = m.tick
}

// Open opens for reading (and writing, which callers do not do).
func (m *Mem) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpOpen, Name: name}); err != nil {
		return nil, err
	}
	n, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n, name: name, epoch: m.epoch}, nil
}

// Create makes a file.
func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpCreate, Name: name}); err != nil {
		return nil, err
	}
	p, base, err := m.parent("create", name)
	if err != nil {
		return nil, err
	}
	if p.entries[base] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	n := &node{}
	m.touch(n)
	p.entries[base] = n
	m.touch(p)
	return &memFile{m: m, n: n, name: name, epoch: m.epoch, write: true}, nil
}

// Rename replaces a file, or an empty directory by a directory.
func (m *Mem) Rename(oldName, newName string) error { return m.rename(OpRename, oldName, newName) }

// RenameNew never replaces.
func (m *Mem) RenameNew(oldName, newName string) error {
	return m.rename(OpRenameNew, oldName, newName)
}

func (m *Mem) rename(kind, oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: kind, Name: oldName, To: newName}); err != nil {
		return err
	}
	from, oldBase, err := m.parent(kind, oldName)
	if err != nil {
		return err
	}
	to, newBase, err := m.parent(kind, newName)
	if err != nil {
		return err
	}
	n, there := from.entries[oldBase], to.entries[newBase]
	switch {
	case n == nil:
		return &fs.PathError{Op: kind, Path: oldName, Err: fs.ErrNotExist}
	case n == there && kind == OpRename:
		return nil
	case there != nil && (kind == OpRenameNew || there.dir && len(there.entries) > 0):
		return &fs.PathError{Op: kind, Path: newName, Err: fs.ErrExist}
	case there != nil && there.dir != n.dir, strings.HasPrefix(newName+"/", oldName+"/"):
		return &fs.PathError{Op: kind, Path: newName, Err: fs.ErrInvalid}
	}
	delete(from.entries, oldBase)
	to.entries[newBase] = n
	m.touch(from)
	m.touch(to)
	return nil
}

// Remove removes a file or an empty directory.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpRemove, Name: name}); err != nil {
		return err
	}
	n, err := m.find("remove", name)
	if err != nil {
		return err
	}
	if len(n.entries) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrExist}
	}
	return m.unlink(name)
}

// RemoveAll removes a tree.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpRemoveAll, Name: name}); err != nil {
		return err
	}
	if _, err := m.find("removeall", name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return m.unlink(name)
}

func (m *Mem) unlink(name string) error {
	p, base, err := m.parent("remove", name)
	if err != nil {
		return err
	}
	delete(p.entries, base)
	m.touch(p)
	return nil
}

// MkdirAll makes each missing directory durable in its parent.
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !path.IsAbs(name) || path.Clean(name) != name {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	at, made := m.root, ""
	for _, seg := range strings.Split(name[1:], "/") {
		if seg == "" {
			break
		}
		made += "/" + seg
		next := at.entries[seg]
		if next == nil {
			if err := m.step(Op{Kind: OpMkdir, Name: made}); err != nil {
				return err
			}
			next = newDir()
			m.touch(next)
			at.entries[seg] = next
			m.touch(at)
			if err := m.step(Op{Kind: OpSyncDir, Name: path.Dir(made)}); err != nil {
				return err
			}
			at.durable = maps.Clone(at.entries)
		}
		if !next.dir {
			return &fs.PathError{Op: "mkdir", Path: made, Err: errNotDir}
		}
		at = next
	}
	return nil
}

// ReadDir lists, sorted by name.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpReadDir, Name: name}); err != nil {
		return nil, err
	}
	n, err := m.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	list := make([]fs.DirEntry, 0, len(n.entries))
	for _, base := range slices.Sorted(maps.Keys(n.entries)) {
		list = append(list, fs.FileInfoToDirEntry(infoOf(base, n.entries[base])))
	}
	return list, nil
}

// Stat describes.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpStat, Name: name}); err != nil {
		return nil, err
	}
	n, err := m.find("stat", name)
	if err != nil {
		return nil, err
	}
	return infoOf(path.Base(name), n), nil
}

// Lstat is Stat: there are no symbolic links here.
func (m *Mem) Lstat(name string) (fs.FileInfo, error) { return m.Stat(name) }

// SyncDir makes the names in a directory durable.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpSyncDir, Name: name}); err != nil {
		return err
	}
	n, err := m.find("syncdir", name)
	if err != nil {
		return err
	}
	if !n.dir {
		return &fs.PathError{Op: "syncdir", Path: name, Err: errNotDir}
	}
	n.durable = maps.Clone(n.entries)
	return nil
}

type memLock struct {
	m     *Mem
	n     *node
	epoch int
}

// TryLock takes the lock if it is free.
func (m *Mem) TryLock(name string) (Lock, bool, error) {
	lock, _, err := m.tryLock(name)
	if lock == nil {
		return nil, false, err
	}
	return lock, true, nil
}

func (m *Mem) tryLock(name string) (*memLock, chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.step(Op{Kind: OpLock, Name: name}); err != nil {
		return nil, nil, err
	}
	p, base, err := m.parent("lock", name)
	if err != nil {
		return nil, nil, err
	}
	n := p.entries[base]
	if n == nil {
		n = &node{}
		m.touch(n)
		p.entries[base] = n
		m.touch(p)
	}
	if n.holder != nil {
		return nil, m.freed, nil
	}
	n.holder = &memLock{m: m, n: n, epoch: m.epoch}
	return n.holder, nil, nil
}

// Lock waits.
func (m *Mem) Lock(ctx context.Context, name string) (Lock, error) {
	for {
		lock, freed, err := m.tryLock(name)
		if err != nil {
			return nil, err
		}
		if lock != nil {
			return lock, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-freed:
		}
	}
}

// Unlock frees; after a crash there is nothing to free.
func (l *memLock) Unlock() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.n.holder == l {
		l.n.holder = nil
		l.m.wake()
	}
	return nil
}
