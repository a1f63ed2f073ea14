//go:build unix && !linux && !darwin && !freebsd && !netbsd

package vfs

func changed(any) (nanos int64, ok bool) { return 0, false }
