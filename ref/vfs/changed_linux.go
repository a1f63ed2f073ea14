package vfs

import "syscall"

func changed(sys any) (nanos int64, ok bool) {
	s, ok := sys.(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return s.Ctim.Nano(), true
}
