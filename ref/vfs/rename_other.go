//go:build unix && !linux

package vfs

import "errors"

func renameNoReplace(_, _ string) error { return errors.ErrUnsupported }
