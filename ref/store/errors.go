package store

import (
	"context"
	"errors"
	"io/fs"

	"contextful/ref/fault"
)

// WriteFailed names what could not be written. A refusal that already has a code, and the end of a context, pass through.
func WriteFailed(subject string, err error) error {
	if err == nil || fault.CodeOf(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	f := fault.New(fault.StoreWriteFailed, subject, subject+" could not be written").Wrap(err)
	if errors.Is(err, fs.ErrPermission) {
		return f.WithHint("the directory must be writable for this user")
	}
	return f
}

// unreadable names a document of the store that is there and cannot be read.
func unreadable(subject string, err error) error {
	if err == nil || fault.CodeOf(err) != "" {
		return err
	}
	return fault.New(fault.StoreManifestInvalid, subject, subject+" cannot be read").Wrap(err)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
