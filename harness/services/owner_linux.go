package services

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// self names this process so that another one on this machine can tell whether it still runs: the boot, the pid
// namespace, the pid and the moment it was started (a pid is used again, that pair is not). Form:
// "<boot id>/<pid namespace>/<pid>/<start in clock ticks>".
func self() string {
	here := machine()
	start, err := startOf(os.Getpid())
	if err != nil || here == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", here, os.Getpid(), start)
}

// ownerGone reports whether owner, as self wrote it, certainly runs no more. Anything it cannot judge (another
// machine's boot, another pid namespace, an unknown form) is not gone.
func ownerGone(owner string) bool {
	here := machine()
	rest, ok := strings.CutPrefix(owner, here+"/")
	if !ok || here == "" {
		return false
	}
	pidText, start, ok := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(pidText)
	if !ok || err != nil || pid <= 0 {
		return false
	}
	now, err := startOf(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && now != start
}

// machine is "<boot id>/<pid namespace>", or empty where it cannot be read.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + space
}

// startOf reads field 22 of /proc/<pid>/stat. The second field, the command in parentheses, may hold spaces, so the
// fields are counted from its end.
func startOf(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	after := stat[strings.LastIndexByte(string(stat), ')')+1:]
	fields := strings.Fields(string(after))
	if len(fields) < 20 {
		return "", errors.New("unknown form of /proc/<pid>/stat")
	}
	return fields[19], nil
}
