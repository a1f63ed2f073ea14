// Package stopper stops an implementation on its own disk, with no help from it, through strace.
//
// Measured with strace 6.1: the counter of `inject=…:when=N` is kept per thread, so it names no definite call of a program
// that moves between threads. The stopper therefore has strace stop the process after every call of the set
// (signal=STOP:when=1+; about a millisecond each), reads strace's log as it is written, and lets the process go on until
// the call it waits for: the count is of the whole process, in one order. The call has then taken effect and the next
// instruction has not run. Before(path) stops a process dead before its first call on one exact path.
//
// Answers: no clause.
package stopper

import (
	"fmt"
	"os/exec"
	"sort"
	"strings"
	"sync"
)

// Unavailable says that processes cannot be traced here.
type Unavailable struct{ Why string }

func (u *Unavailable) Error() string { return "the stopper (strace) is unavailable: " + u.Why }

// sets are the system calls behind a word of the features.
var sets = map[string][]string{
	"rename":  {"rename", "renameat", "renameat2"},
	"link":    {"link", "linkat"},
	"fsync":   {"fsync", "fdatasync"},
	"removal": {"unlink", "unlinkat", "rmdir"},
	"mkdir":   {"mkdir", "mkdirat"},
	"write":   {"write", "pwrite64", "writev", "pwritev", "copy_file_range"},
	"create":  {"openat", "open", "creat"},
	"call":    {"rename", "renameat", "renameat2", "link", "linkat", "fsync", "fdatasync", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "ftruncate"},
}

// Words lists the words that Calls knows, sorted.
func Words() []string {
	var out []string
	for w := range sets {
		out = append(out, w)
	}
	sort.Strings(out)
	return out
}

// Calls gives the system calls behind a word: "rename", "fsync", …, "call" for all that make a change durable or visible.
func Calls(word string) ([]string, error) {
	set, ok := sets[word]
	if !ok {
		return nil, fmt.Errorf("no set of calls is named %q; there are %v", word, Words())
	}
	return set, nil
}

var available = sync.OnceValue(func() error {
	path, err := exec.LookPath("strace")
	if err != nil {
		return &Unavailable{"strace is not installed"}
	}
	if out, err := exec.Command(path, "-qq", "-f", "-o", "/dev/null", "-e", "trace=renameat", "true").CombinedOutput(); err != nil {
		return &Unavailable{fmt.Sprintf("strace cannot trace here: %v: %s", err, strings.TrimSpace(string(out)))}
	}
	return nil
})

// Available is nil where processes can be traced, else an *Unavailable. It tries once.
func Available() error { return available() }

// traced writes the set as strace takes it: a name this machine's architecture does not have is ignored (?).
func traced(calls []string) string {
	var out []string
	for _, c := range calls {
		out = append(out, "?"+c)
	}
	return strings.Join(out, ",")
}

// Before gives the argv that kills a process before its first call of the set on that exact path.
func Before(calls []string, path string) []string {
	return []string{"strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-e", "trace=" + traced(calls), "-e", "inject=" + traced(calls) + ":signal=KILL:when=1"}
}
