// Package store is a store on disk: its identity, its tables, what is committed in them, what a reader sees, and the few
// writes by which anything becomes visible.
//
// Answers: store.init.*, store.lay-out.components, store.lay-out.run-manifest, store.lay-out.uncommitted-run,
// store.lay-out.table-pointer, store.lay-out.format-newer, store.reserve.commit-seq, store.bound-time.unbounded-latest,
// store.bound-time.as-of, store.bound-time.as-of-unretained, store.lay-out.folded-index, store.lay-out.folded-index-valid,
// store.lay-out.folded-index-walk, store.lay-out.folded-committed, store.lay-out.run-folded-replay (the store's side),
// store.fold.folded-index, store.fold.reference-retention, store.fold.pointer-commit, store.declare.empty-replacement (readers' side).
//
// Two documents make rows visible and nothing else does: a run's _manifest.json and a table's _pointer.json. Whatever they
// name is complete and synced before they are renamed into place. A table's lock (tables/<t>/.lock) orders writers;
// readers take none.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/vfs"
)

// DefaultLockTimeout is how long a lock is waited for.
const DefaultLockTimeout = 60 * time.Second

// Options say which store to open and with what. FS nil is the machine's, Clock nil the system's, Log nil silent.
type Options struct {
	Project *decl.Project // may be nil: then no table is declared
	Config  *decl.Config  // may be nil
	Root    string        // absolute path of the store root
	Node    string        // this node's id
	FS      vfs.FS
	Clock   clock.Clock
	// Log takes one line for a person. It may be called from several goroutines, one at a time.
	Log func(line string)
	// LockTimeout: 0 means DefaultLockTimeout.
	LockTimeout time.Duration
}

// Store is an open store. Safe for concurrent use.
type Store struct {
	opts Options

	mu       sync.Mutex
	identity string
}

// Open opens the store at Options.Root. It creates nothing; a root or a store-id that is absent is no error (a clone has
// none before its first pull). Refusals: StoreNameInvalid for a node id that is none; StoreIdentityInvalid naming the file
// where store-id is not one canonical lower-case version-4 UUID and a newline.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !path.IsAbs(o.Root) || path.Clean(o.Root) != o.Root {
		return nil, fmt.Errorf("the store root %q is no clean absolute path", o.Root)
	}
	if err := key.ValidNode(o.Node); err != nil {
		return nil, err
	}
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = DefaultLockTimeout
	}
	s := &Store{opts: o}
	id, err := s.readIdentity()
	if err != nil {
		return nil, err
	}
	s.identity = id
	return s, nil
}

// Root is the absolute path of the store root.
func (s *Store) Root() string { return s.opts.Root }

// Node is this node's id.
func (s *Store) Node() string { return s.opts.Node }

// FS is the file system the store lies on.
func (s *Store) FS() vfs.FS { return s.opts.FS }

// Clock is the store's clock.
func (s *Store) Clock() clock.Clock { return s.opts.Clock }

// Project is the declaration, or nil.
func (s *Store) Project() *decl.Project { return s.opts.Project }

// Config is config.toml, or nil.
func (s *Store) Config() *decl.Config { return s.opts.Config }

// Path makes a store-relative path absolute.
func (s *Store) Path(rel string) string { return path.Join(s.opts.Root, rel) }

// Logf says one line to a person.
func (s *Store) Logf(format string, args ...any) {
	if s.opts.Log != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opts.Log(fmt.Sprintf(format, args...))
	}
}

// Tables lists the declared tables and those present on disk, sorted.
func (s *Store) Tables() ([]string, error) {
	var names []string
	if s.opts.Project != nil {
		for _, t := range s.opts.Project.Tables {
			names = append(names, t.Name)
		}
	}
	if err := s.walkTables("", &names); err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// walkTables finds tables below tables/: a directory with a table's own file or directory is one.
func (s *Store) walkTables(name string, names *[]string) error {
	list, err := s.opts.FS.ReadDir(path.Join(s.opts.Root, "tables", name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unreadable(key.TableDir(name), err)
	}
	present := false
	for _, e := range list {
		switch base := e.Name(); {
		case base == "data" && e.IsDir(), base == key.SchemaName && !e.IsDir(), base == key.PointerName && !e.IsDir():
			present = true
		case e.IsDir() && key.ValidTable(base) == nil:
			if err := s.walkTables(path.Join(name, base), names); err != nil {
				return err
			}
		}
	}
	if present && key.ValidTable(name) == nil {
		*names = append(*names, name)
	}
	return nil
}

// Table gives a table that is declared or present on disk. Refusals: StoreNameInvalid, StoreTableUnknown.
func (s *Store) Table(name string) (*Table, error) {
	t, err := s.TableAt(name)
	if err != nil || t.decl != nil {
		return t, err
	}
	for _, rel := range []string{key.Pointer(name), key.Schema(name), key.TableDir(name) + "/data"} {
		there, err := vfs.Exists(s.opts.FS, s.Path(rel))
		if err != nil {
			return nil, unreadable(rel, err)
		}
		if there {
			return t, nil
		}
	}
	return nil, s.TableUnknown(name)
}

// TableUnknown refuses a table that there is not, and says which one may have been meant or how one is declared.
func (s *Store) TableUnknown(name string) *fault.Error {
	f := fault.New(fault.StoreTableUnknown, name, fmt.Sprintf("table %q is neither declared nor present in this store", name))
	known, err := s.Tables()
	if err != nil {
		known = nil // whoever asks for one that there is hears of it
	}
	if near := decl.Nearest(name, known); near != "" {
		return f.WithHint(fmt.Sprintf("did you mean %q?", near))
	}
	hint := s.opts.Project.DeclareHint(name)
	if len(known) > 0 {
		hint = "contextful context tables lists those there are; " + hint
	}
	return f.WithHint(hint)
}

// TableAt gives a table by name alone, whether or not there is one yet: what a pull needs. Refusals: StoreNameInvalid.
func (s *Store) TableAt(name string) (*Table, error) {
	if err := key.ValidTable(name); err != nil {
		return nil, err
	}
	t := &Table{s: s, name: name}
	if s.opts.Project != nil {
		t.decl = s.opts.Project.Table(name)
	}
	return t, nil
}

// LockFile takes an exclusive lock on a file of the store, made if absent together with its directory. what says in a few
// words what is waited for ("the lock of table \"events\""): it is logged after a second, and named by StoreBusy once the
// lock timeout has passed.
func (s *Store) LockFile(ctx context.Context, rel, what string) (vfs.Lock, error) {
	name := s.Path(rel)
	if err := s.opts.FS.MkdirAll(path.Dir(name)); err != nil {
		return nil, WriteFailed(rel, err)
	}
	lock, ok, err := s.opts.FS.TryLock(name)
	if err != nil {
		return nil, WriteFailed(rel, err)
	}
	if ok {
		return lock, nil
	}
	bounded, cancel := context.WithTimeout(ctx, s.opts.LockTimeout)
	defer cancel()
	notice := time.AfterFunc(time.Second, func() {
		s.Logf("node %s waits for %s, which another process holds (%s)", s.opts.Node, what, rel)
	})
	defer notice.Stop()
	lock, err = s.opts.FS.Lock(bounded, name)
	switch {
	case err == nil:
		return lock, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case bounded.Err() != nil:
		return nil, fault.New(fault.StoreBusy, rel, fmt.Sprintf("%s is held by another process and was not freed within %s", what, s.opts.LockTimeout)).
			WithHint("try again when it has ended, or give a longer --lock-timeout")
	}
	return nil, WriteFailed(rel, err)
}

// LockPush takes the store's push lock: one push or pull that writes at a time.
func (s *Store) LockPush(ctx context.Context) (vfs.Lock, error) {
	return s.LockFile(ctx, key.PushLockName, "the push lock of this store")
}
