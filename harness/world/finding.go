package world

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
)

// Finding gives a step's error the blame it deserves. What a store root or the bucket should hold and does not, and what
// cannot be read as the document it should be, is a finding about the implementation: a *verify.Mismatch. Every other
// error stays what it is: the kit could not look.
func Finding(ctx context.Context, err error) error {
	var (
		mismatch *verify.Mismatch
		document *inspect.DocumentError
		object   *NoObject
		file     *fs.PathError
	)
	w := From(ctx)
	switch {
	case err == nil, errors.As(err, &mismatch):
		return err
	case errors.As(err, &object):
		return verify.Fail("the bucket holds "+object.Key, "an object", "none")
	case errors.As(err, &file) && errors.Is(err, fs.ErrNotExist) && w.stored(file.Path) != "":
		return verify.Fail("the store holds "+w.stored(file.Path), "a file", "none")
	case errors.As(err, &document):
		return verify.Fail("the documents of the store are there and can be read", "as spec/store/lay-out.md says", w.relative(err.Error()))
	}
	return err
}

// stored names a file of a node's store root, "alpha: tables/events/schema.json"; "" for any other path.
func (w *World) stored(path string) string {
	for _, n := range w.everyone() {
		if rel, err := filepath.Rel(n.Root(), path); err == nil && filepath.IsLocal(rel) {
			return n.Name + ": " + filepath.ToSlash(rel)
		}
	}
	return ""
}

// relative shortens the store roots in a message to the names of their nodes.
func (w *World) relative(text string) string {
	for _, n := range w.everyone() {
		text = strings.ReplaceAll(text, n.Root()+"/", n.Name+": ")
	}
	return text
}

// NoObject says that the bucket holds no such object. It is fs.ErrNotExist to errors.Is.
type NoObject struct{ Key string }

func (e *NoObject) Error() string { return "the bucket holds no " + e.Key }

// Is makes it fs.ErrNotExist.
func (e *NoObject) Is(target error) bool { return target == fs.ErrNotExist }
