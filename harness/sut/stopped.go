package sut

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A signal is sent before it is felt: for a moment a thread that is running goes on. How long Stop waits for the last of
// them, and how often it looks.
const (
	stopWait  = 2 * time.Second
	stopLooks = time.Millisecond
)

// settled returns when every thread of the process and of its children is stopped, when it has ended, or after stopWait.
// Where there is no /proc it returns at once.
func (r *Running) settled() {
	over := time.NewTimer(stopWait)
	defer over.Stop()
	tick := time.NewTicker(stopLooks)
	defer tick.Stop()
	for !stopped(r.PID()) {
		select {
		case <-r.done:
			return
		case <-over.C:
			return
		case <-tick.C:
		}
	}
}

func stopped(pid int) bool {
	dirs, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*") // the pattern is right
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil { // a thread that has just ended
			continue
		}
		// pid (name) state …; a stopped thread, a traced one, or one that is no more
		at := strings.LastIndexByte(string(text), ')')
		if at < 0 || at+2 >= len(text) || !strings.ContainsRune("TtZX", rune(text[at+2])) {
			return false
		}
		children, err := os.ReadFile(filepath.Join(dir, "children"))
		if err != nil {
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
