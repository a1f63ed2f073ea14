package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/vfs"

	"github.com/google/uuid"
)

// ParseIdentity reads the bytes of a store-id: one canonical lower-case version-4 UUID and a newline, nothing else.
// subject is the file or key that messages name. Refusals: StoreIdentityInvalid (store.init.identity-invalid).
func ParseIdentity(subject string, data []byte) (string, error) {
	if len(data) == 37 && data[36] == '\n' {
		text := string(data[:36])
		id, err := uuid.Parse(text)
		if err == nil && id.String() == text && id.Version() == 4 && id.Variant() == uuid.RFC4122 {
			return text, nil
		}
	}
	shown := data
	if len(shown) > 60 {
		shown = shown[:60]
	}
	return "", fault.New(fault.StoreIdentityInvalid, subject,
		fmt.Sprintf("%s must hold one lower-case version-4 UUID and a newline, and holds %q (%d bytes)", subject, shown, len(data)))
}

// Identity is the store's UUID; ok is false where the store has none yet.
func (s *Store) Identity() (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identity, s.identity != ""
}

// IdentityBytes is what store-id holds for an identity.
func IdentityBytes(id string) []byte { return []byte(id + "\n") }

func (s *Store) readIdentity() (string, error) {
	name := s.Path(key.StoreIDName)
	data, err := vfs.ReadFile(s.opts.FS, name, 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.New(fault.StoreIdentityInvalid, name, name+" cannot be read").Wrap(err)
	}
	return ParseIdentity(name, data)
}

// AdoptIdentity gives a store without identity the one of the bucket it is a clone of, durably. The same identity again is
// no change; another one refuses with StoreIdentityConflict (store.pull.identity-conflict).
func (s *Store) AdoptIdentity(id string) error {
	if _, err := ParseIdentity("the identity to adopt", IdentityBytes(id)); err != nil {
		return err
	}
	if err := s.opts.FS.MkdirAll(s.opts.Root); err != nil {
		return WriteFailed(key.StoreIDName, err)
	}
	err := vfs.WriteNew(s.opts.FS, s.Path(key.StoreIDName), IdentityBytes(id))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return WriteFailed(key.StoreIDName, err)
	}
	have, err := s.readIdentity()
	if err != nil {
		return err
	}
	if have != id {
		return fault.New(fault.StoreIdentityConflict, key.StoreIDName, fmt.Sprintf("this store is %s and the bucket's is %s", have, id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = have
	return nil
}

// Init creates the store root and its store-id where they are absent and opens the store; created says whether the identity
// is new. Both are kept by a repeated init (store.init.store-identity). Refusals: StoreIdentityInvalid, StoreWriteFailed.
func Init(ctx context.Context, o Options) (s *Store, created bool, err error) {
	s, err = Open(ctx, o)
	if err != nil {
		return nil, false, err
	}
	if _, ok := s.Identity(); ok {
		return s, false, nil
	}
	if err := s.opts.FS.MkdirAll(s.opts.Root); err != nil {
		return nil, false, WriteFailed(s.opts.Root, err)
	}
	fresh, err := uuid.NewRandom()
	if err != nil {
		return nil, false, WriteFailed(key.StoreIDName, err)
	}
	err = vfs.WriteNew(s.opts.FS, s.Path(key.StoreIDName), IdentityBytes(fresh.String()))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, WriteFailed(key.StoreIDName, err)
	}
	created = err == nil // another init may have come first: its identity counts
	s, err = Open(ctx, o)
	return s, created, err
}

// InitReport is what contextful init did.
type InitReport struct {
	Root               string // of the store, absolute
	StoreID            string
	DeclarationWritten bool
	IdentityCreated    bool
}

// InitProject is contextful init: it writes [project] name = "<name>" into dir's contextful.toml, appending to a file that
// declares no project and keeping its bytes, and creates the store root beside it (store.init.declaration-file). o gives
// node, file system and clock; its Root is set here. Refusals: StoreNameInvalid; StoreDeclarationInvalid where the file
// declares another name or cannot be read as TOML; StoreIdentityInvalid; StoreWriteFailed.
func InitProject(ctx context.Context, o Options, dir, name string) (InitReport, error) {
	if err := key.ValidProject(name); err != nil {
		return InitReport{}, err
	}
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	o.Root = key.StoreRoot(dir, name)
	r := InitReport{Root: o.Root}
	// A broken store-id is found before anything is written.
	if _, err := Open(ctx, o); err != nil {
		return r, err
	}
	written, err := declare(o.FS, dir, name)
	if err != nil {
		return r, err
	}
	s, created, err := Init(ctx, o)
	if err != nil {
		return r, err
	}
	r.DeclarationWritten, r.IdentityCreated = written, created
	r.StoreID, _ = s.Identity()
	return r, nil
}

// declare makes dir's contextful.toml name the project. It is atomic: temporary file, sync, rename.
func declare(fsys vfs.FS, dir, name string) (written bool, err error) {
	file := dir + "/" + decl.FileName
	section := fmt.Sprintf("[project]\nname = %q\n", name)
	data, err := vfs.ReadFile(fsys, file, 4<<20)
	if errors.Is(err, fs.ErrNotExist) {
		err = vfs.WriteNew(fsys, file, []byte(section))
		return err == nil, WriteFailed(file, err)
	}
	if err != nil {
		return false, fault.New(fault.StoreDeclarationInvalid, file, file+" cannot be read").Wrap(err)
	}
	have, declared, err := decl.ProjectName(file, data)
	switch {
	case err != nil:
		return false, err
	case declared && have == name:
		return false, nil
	case declared && have == "":
		return false, fault.New(fault.StoreDeclarationInvalid, file, file+" declares a project without a name").
			WithHint(fmt.Sprintf("add name = %q to its project", name))
	case declared:
		return false, fault.New(fault.StoreDeclarationInvalid, file, fmt.Sprintf("%s already declares the project %q, not %q", file, have, name)).
			WithHint("choose another directory, or the declared name")
	}
	gap := "\n"
	switch {
	case len(data) == 0:
		gap = ""
	case data[len(data)-1] != '\n':
		gap = "\n\n"
	}
	err = vfs.WriteAtomic(fsys, file, append(data[:len(data):len(data)], gap+section...))
	return err == nil, WriteFailed(file, err)
}
