//go:build !linux

package services

import "syscall"

// Without Linux a server outlives a kit that is killed: there is no signal on a parent's death.
func attributes(c command) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if c.as != nil {
		attr.Credential = &syscall.Credential{Uid: c.as.Uid, Gid: c.as.Gid}
	}
	return attr
}
