package colfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// scratch makes a file that only this process can reach and that ends with it.
func scratch() (*os.File, string, func(), error) {
	fd, err := unix.MemfdCreate("part", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, "", nil, fmt.Errorf("memfd_create: %w", err)
	}
	name := fmt.Sprintf("/proc/self/fd/%d", fd)
	f := os.NewFile(uintptr(fd), name)
	return f, name, func() { f.Close() }, nil
}
