package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	memory    = "/dev/shm"
	tmpfs     = 0x01021994 // TMPFS_MAGIC
	roomAtMin = 1 << 30    // bytes; a whole run needs a few megabytes for each job
)

// workBase is where scenarios live by default: in memory where there is room, since a store syncs every file it writes
// and a thousand small stores are made and removed. What a killed run left there is removed first.
func workBase() string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(memory, &st); err != nil || st.Type != tmpfs || st.Bavail*uint64(st.Bsize) < roomAtMin {
		return os.TempDir()
	}
	old, err := filepath.Glob(filepath.Join(memory, "conform-*"))
	if err != nil {
		return os.TempDir()
	}
	for _, dir := range old {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "conform-%d-", &pid); err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			restore(dir)
			_ = os.RemoveAll(dir) // another run may be removing it, too
		}
	}
	return memory
}
