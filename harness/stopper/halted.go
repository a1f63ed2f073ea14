package stopper

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// How long a held process may take to stand still, and how often that is looked at.
const (
	standWait  = 2 * time.Second
	standLooks = time.Millisecond
)

// Halted reports whether every thread of the process that the thread belongs to is stopped. One that has ended is, and so
// is everything where there is no /proc to look at.
func Halted(tid int) bool {
	stats, _ := filepath.Glob("/proc/" + strconv.Itoa(tid) + "/task/*/stat") // the pattern is right
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if err != nil { // a thread that has just ended
			continue
		}
		// pid (name) state …
		at := strings.LastIndexByte(string(text), ')')
		if at < 0 || at+2 >= len(text) || !strings.ContainsRune("TtZX", rune(text[at+2])) {
			return false
		}
	}
	return true
}

// Stand waits until still says so, the process has ended (done, nil where nobody knows), or standWait is over: a signal is sent
// before it is felt, and for a moment a thread that is running goes on.
func Stand(done <-chan struct{}, still func() bool) {
	over := time.NewTimer(standWait)
	defer over.Stop()
	tick := time.NewTicker(standLooks)
	defer tick.Stop()
	for !still() {
		select {
		case <-done:
			return
		case <-over.C:
			return
		case <-tick.C:
		}
	}
}
