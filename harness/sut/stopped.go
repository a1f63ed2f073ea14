package sut

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"contextful/harness/stopper"
)

// settled returns when every thread of the process and of its children is stopped or it has ended; it waits no longer than
// stopper.Stand does. Where there is no /proc it returns at once.
func (r *Running) settled() {
	stopper.Stand(r.done, func() bool { return stopped(r.PID()) })
}

func stopped(pid int) bool {
	if !stopper.Halted(pid) {
		return false
	}
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children") // the pattern is right
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil { // a thread that has just ended
			continue
		}
		for _, c := range strings.Fields(string(children)) {
			if child, err := strconv.Atoi(c); err == nil && !stopped(child) {
				return false
			}
		}
	}
	return true
}
