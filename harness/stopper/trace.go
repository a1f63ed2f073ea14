package stopper

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Call is one system call of the process that matched.
type Call struct {
	N    int    // 1-based, in the order in which they took effect
	Name string // "renameat"
	Line string // as strace wrote it
	Fail bool   // the error was injected
}

// A Process is what a Trace acts on.
type Process interface {
	Kill() error
	Cont() error
}

// What a Trace does at the call it waits for.
type Action int

// The actions. Count only counts; Kill kills the process group right after the call; Hold leaves it stopped there until
// Resume.
const (
	Count Action = iota
	Kill
	Hold
)

// A Trace watches one run of a process. Make it with New (or Failing), start the process with Wrap before its argv and
// File as its descriptor 3, then call Watch.
type Trace struct {
	wrap   []string
	within string
	glob   *regexp.Regexp
	read   *os.File
	write  *os.File
	done   chan struct{}
	hit    chan struct{}

	mu    sync.Mutex
	calls []Call
	held  bool
	proc  Process

	late bool // of follow, until hit is closed
}

// New prepares a trace of a set of calls. Only calls whose arguments hold a path that begins with within count; glob, if
// not empty, must cover such a path below within as well (* crosses slashes).
func New(calls []string, within, glob string) (*Trace, error) {
	t, err := newTrace(within, glob)
	if err != nil {
		return nil, err
	}
	set := traced(calls)
	t.wrap = []string{"strace", "-f", "-qq", "-y", "-s", "4096", "-o", "/proc/self/fd/3", "-e", "signal=STOP", "-e", "trace=" + set,
		"-e", "inject=" + set + ":signal=STOP:when=1+"}
	return t, nil
}

// Failing prepares a run in which calls of the set fail with errno ("ENOSPC") from the nth of a thread on; path, if not
// empty, is the one exact path it is about. Fired says how many did. Renames are among Calls in any case: they tell what came before
// a commit and what after it.
func Failing(calls []string, errno string, from string, path, within string) (*Trace, error) {
	t, err := newTrace(within, "")
	if err != nil {
		return nil, err
	}
	set := traced(calls)
	t.wrap = []string{"strace", "-f", "-qq", "-y", "-s", "4096", "-o", "/proc/self/fd/3", "-e", "signal=none",
		"-e", "trace=" + set + "," + traced(sets["rename"]), "-e", "inject=" + set + ":error=" + errno + ":when=" + from}
	if path != "" {
		t.wrap = append(t.wrap, "-P", path)
	}
	return t, nil
}

func newTrace(within, glob string) (*Trace, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	t := &Trace{within: within, done: make(chan struct{}), hit: make(chan struct{})}
	if glob != "" {
		parts := strings.Split(glob, "*")
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		t.glob = regexp.MustCompile(regexp.QuoteMeta(within) + `/?` + strings.Join(parts, `[^"<>]*`) + `["<>]`)
	}
	var err error
	t.read, t.write, err = os.Pipe()
	return t, err
}

// Wrap is the argv that goes before the process's own.
func (t *Trace) Wrap() []string { return t.wrap }

// File is what the process gets as descriptor 3.
func (t *Trace) File() *os.File { return t.write }

// Discard frees a trace whose process never started.
func (t *Trace) Discard() {
	_ = t.write.Close()
	_ = t.read.Close()
}

// Watch follows the process in the background until it ends. At the nth matching call it acts; 0 never does.
func (t *Trace) Watch(p Process, at int, act Action) {
	_ = t.write.Close() // the process has its own; without this the log would never end
	t.mu.Lock()
	t.proc = p
	t.mu.Unlock()
	go t.follow(p, at, act)
}

var (
	entry   = regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\((.*)$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. ([a-z0-9_]+) resumed>(.*)$`)
	result  = regexp.MustCompile(`\) += (-?\d+|\?)`)
)

// quiet is how long the log may rest before a process that may have been stopped twice for one waking is woken again; still
// is how often one that is to be woken is looked at until all its threads stand.
const quiet, still = 20 * time.Millisecond, time.Millisecond

// patience is how many looks a process is given that never stands still, before it is woken all the same.
const patience = 2000

// follow reads the log. It wakes the process only where it stands still and the log has been read to its end: strace writes a
// call before it stops the process for it, so to wake one whose log has a line unread might take back the very stop that is
// waited for, and the process would run past its call.
func (t *Trace) follow(p Process, at int, act Action) {
	defer close(t.done)
	defer func() { _ = t.read.Close() }()
	open := map[string]string{} // pid → the unfinished call
	seen := map[string]bool{}   // threads that made a call
	log := &logReader{file: t.read}
	var reached string // the thread that made the call waited for
	announced, fresh, stopped, looks := false, false, false, 0
	for {
		if stopped && (looks > patience || anyHalted(seen)) && !log.unread() {
			t.wake(p, act, reached != "")
			stopped = false
		}
		if reached != "" && !announced && !log.unread() {
			announced = true
			close(t.hit)
		}
		wait := quiet
		switch {
		case len(seen) == 0:
			// Before the first line strace may still be about to take hold of the process, which waits for it in a stop of its
			// own: to wake it out of that would let it run untraced.
			wait = 0
		case stopped:
			wait = still
		}
		line, more, err := log.next(wait)
		if err != nil {
			return
		}
		if !more {
			if looks++; !stopped {
				stopped, looks = true, 0
			}
			continue
		}
		tid, _, _ := strings.Cut(line, " ")
		seen[tid] = true
		switch {
		case strings.HasSuffix(line, "<unfinished ...>"):
			if m := entry.FindStringSubmatch(line); m != nil {
				open[m[1]] = strings.TrimSuffix(line, "<unfinished ...>")
			}
		case strings.Contains(line, "--- stopped by SIGSTOP"):
			// Every thread reports the same stop.
			if fresh {
				fresh, stopped, looks = false, true, 0
			}
		default:
			if m := resumed.FindStringSubmatch(line); m != nil {
				line = open[m[1]] + m[3]
				delete(open, m[1])
			}
			fresh = fresh || entry.MatchString(line)
			n := t.take(line)
			if n == at && at > 0 && reached == "" {
				reached = tid
				t.act(p, act, tid)
			} else if n > 0 && tid == reached && !announced {
				t.late = true // before hit is closed, after which it is read
			}
		}
	}
}

// anyHalted reports whether one of the processes of these threads stands still.
func anyHalted(seen map[string]bool) bool {
	for text := range seen {
		tid, err := strconv.Atoi(text)
		if _, gone := os.Stat("/proc/" + text); err == nil && gone == nil && Halted(tid) {
			return true
		}
	}
	return false
}

// wake lets a process go on that is not held on purpose.
func (t *Trace) wake(p Process, act Action, reached bool) {
	t.mu.Lock()
	held := t.held
	t.mu.Unlock()
	if !held && !(reached && act == Kill) {
		_ = p.Cont() // one that runs, or has ended, needs no waking
	}
}

// take records a finished call that matches and did something. It gives the call's number, 0 for another line.
func (t *Trace) take(line string) int {
	m := entry.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	r := result.FindStringSubmatch(line)
	injected := strings.Contains(line, "(INJECTED)")
	if r == nil || (strings.HasPrefix(r[1], "-") && !injected) {
		return 0
	}
	text := line
	if strings.HasSuffix(strings.TrimSuffix(m[2], "2"), "at") { // a write's second argument is no path
		text = absolute(line)
	}
	if !strings.Contains(text, t.within) || (t.glob != nil && !t.glob.MatchString(text)) {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, Call{N: len(t.calls) + 1, Name: m[2], Line: strings.TrimLeft(text[len(m[1]):], " "), Fail: injected})
	return len(t.calls)
}

var dirPath = regexp.MustCompile(`(?:\d+|AT_FDCWD)<([^>]*)>, "([^"]*)"`)

// absolute writes a directory descriptor and a path relative to it as one path: the working directory of a process lies
// within the project, so that its name alone says nothing.
func absolute(line string) string {
	return dirPath.ReplaceAllStringFunc(line, func(s string) string {
		m := dirPath.FindStringSubmatch(s)
		if strings.HasPrefix(m[2], "/") {
			return `"` + m[2] + `"`
		}
		return `"` + m[1] + "/" + m[2] + `"`
	})
}

// act does what the trace is for. strace has the process stopped by now, or is about to; where two threads made a call at
// once, letting the first one go on takes the second one's stop back, so it is stopped here once more, by itself: a stop
// of the group would stop strace.
func (t *Trace) act(p Process, act Action, thread string) {
	if act == Kill {
		_ = p.Kill() // one that has just ended needs no killing
		return
	}
	t.mu.Lock()
	t.held = true
	t.mu.Unlock()
	if tid, err := strconv.Atoi(thread); err == nil {
		_ = syscall.Kill(tid, syscall.SIGSTOP)
		Stand(nil, func() bool { return Halted(tid) }) // what comes next must find it held
	}
}

// Resume lets a held process go on; later calls stop it no more than for a moment.
func (t *Trace) Resume() error {
	t.mu.Lock()
	t.held = false
	p := t.proc
	t.mu.Unlock()
	return p.Cont()
}

// Reached is closed when the process is at the call: killed, or held there.
func (t *Trace) Reached() <-chan struct{} { return t.hit }

// Late reports, once Reached is closed, that the thread had made another call by the time it was held.
func (t *Trace) Late() bool { return t.late }

// Done is closed when the log has ended, which is when the process has.
func (t *Trace) Done() <-chan struct{} { return t.done }

// Calls lists the matching calls so far.
func (t *Trace) Calls() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Call(nil), t.calls...)
}

// Fired counts the calls that were made to fail.
func (t *Trace) Fired() int {
	n := 0
	for _, c := range t.Calls() {
		if c.Fail {
			n++
		}
	}
	return n
}
