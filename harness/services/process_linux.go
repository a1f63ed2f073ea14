package services

import "syscall"

func attributes(c command) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: c.onDeath}
	if c.as != nil {
		attr.Credential = &syscall.Credential{Uid: c.as.Uid, Gid: c.as.Gid}
	}
	return attr
}
