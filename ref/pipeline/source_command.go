package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"contextful/ref/land"
)

const (
	maxFeedLine = 64<<20 + 64 // one row of a landing, and the words around it
	maxPosition = 64 << 10    // it travels in an environment variable
	maxSaid     = 500         // of the last line on standard error, in a message
	maxLogged   = 64 << 10    // of a run's standard error; what comes after goes unseen, so that a loop cannot fill a disk or a terminal
	// afterExit is how long a command's output is waited for when the command itself has ended.
	afterExit = 2 * time.Second
)

// What a command is told.
const (
	envPipeline = "CONTEXTFUL_PIPELINE"
	envTable    = "CONTEXTFUL_TABLE"
	envCursor   = "CONTEXTFUL_CURSOR"
)

// commandSource is a program that prints rows.
type commandSource struct {
	argv     []string
	dir      string
	limit    time.Duration // of one run, 0 for none
	pipeline string
	log      func(format string, args ...any)
}

// feed is one run of the program. Its Read is the rows of the batch under way as JSON Lines.
type feed struct {
	failures
	ctx   context.Context // ends the program
	outer context.Context
	stop  context.CancelFunc
	cmd   *exec.Cmd
	out   io.ReadCloser
	lines *bufio.Reader
	said  *lastWords
	limit time.Duration
	whole bool

	dec     *jsontext.Decoder
	line    int64  // number of the last line read
	first   int64  // of the batch under way
	pending []byte // of a row that was read and not handed on
	rows    bool   // the batch under way has rows
	batches int    // that a position closed
	end     ending
	final   string // the word that ended the output: inventory or skip
	over    bool   // the output is at its end
	waited  bool
}

// program gives the path of the command, or why there is none.
func program(name, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return exec.LookPath(name)
}

func (s *commandSource) pull(ctx context.Context, q question) (pull, error) {
	f := &feed{failures: failures{s.pipeline, q.table}, outer: ctx, limit: s.limit, whole: q.whole, first: 1,
		said: &lastWords{name: filepath.Base(s.argv[0]), log: s.log}}
	path, err := program(s.argv[0], s.dir)
	if err != nil {
		return nil, f.because(err, "%s cannot be run", s.argv[0])
	}
	if f.limit > 0 {
		f.ctx, f.stop = context.WithTimeout(ctx, f.limit)
	} else {
		f.ctx, f.stop = context.WithCancel(ctx)
	}
	f.cmd = exec.CommandContext(f.ctx, path, s.argv[1:]...)
	f.cmd.Dir, f.cmd.Stderr, f.cmd.WaitDelay = s.dir, f.said, afterExit
	f.cmd.Env = append(without(os.Environ(), envCursor), envPipeline+"="+s.pipeline, envTable+"="+q.table)
	if q.position != nil {
		f.cmd.Env = append(f.cmd.Env, envCursor+"="+string(q.position))
	}
	// A group of its own: what a shell started ends with it.
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.cmd.Cancel = func() error { return syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) }
	if f.out, err = f.cmd.StdoutPipe(); err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		f.stop()
		return nil, f.because(err, "%s cannot be run", s.argv[0])
	}
	// Somebody may hold the pipe open who left the group.
	context.AfterFunc(f.ctx, func() { _ = f.out.Close() })
	f.lines = bufio.NewReaderSize(f.out, 1<<20)
	f.dec = jsontext.NewDecoder(new(bytes.Buffer), jsontext.AllowDuplicateNames(true))
	return f, nil
}

func without(env []string, name string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			kept = append(kept, e)
		}
	}
	return kept
}

func (f *feed) inputs() []land.Input {
	return []land.Input{{Name: f.said.name, FirstLine: f.first, Open: func() (io.ReadCloser, error) { return io.NopCloser(f), nil }}}
}

// Read gives the rows up to what closes the batch.
func (f *feed) Read(p []byte) (int, error) {
	for len(f.pending) == 0 {
		if f.over || f.end.more {
			return 0, io.EOF
		}
		line, err := f.next()
		if err == io.EOF {
			f.over = true
			return 0, io.EOF
		}
		if err == nil {
			err = f.take(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, f.pending)
	f.pending = f.pending[n:]
	return n, nil
}

// next reads a line, without its end; io.EOF after the last one.
func (f *feed) next() ([]byte, error) {
	var long []byte
	for {
		part, err := f.lines.ReadSlice('\n')
		if len(long)+len(part) > maxFeedLine {
			return nil, f.because(nil, "line %d of its output is longer than 64 MiB", f.line+1)
		}
		switch {
		case err == bufio.ErrBufferFull:
			long = append(long, part...)
			continue
		case err == io.EOF && len(long)+len(part) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, f.broken(err)
		}
		f.line++
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimSuffix(part, []byte("\n")), nil
	}
}

// take reads what one line says. A line that is no row is an empty one to the landing, so that it counts lines as they are.
func (f *feed) take(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		f.pending = []byte("\n")
		return nil
	}
	word, value, err := f.parse(line)
	if err != nil {
		return f.because(nil, "line %d of its output is none of {\"row\": {…}}, {\"position\": …}, {\"inventory\": \"complete\"} and {\"skip\": \"unchanged\"}: %s", f.line, clip(line))
	}
	if f.final != "" {
		return f.because(nil, "line %d of its output says %q after %q, which ends it", f.line, word, f.final)
	}
	f.pending = []byte("\n")
	switch word {
	case "row":
		f.rows = true
		f.pending = append(append(make([]byte, 0, len(value)+1), value...), '\n')
	case "position":
		return f.position(value)
	case "inventory":
		f.final, f.end.complete = word, true
	case "skip":
		if f.rows || f.batches > 0 || f.end.position != nil {
			return f.because(nil, "line %d of its output says that the input is unchanged, after rows or a position", f.line)
		}
		f.final, f.end.unchanged = word, true
	}
	return nil
}

func (f *feed) position(value []byte) error {
	text, err := compact(value)
	if err != nil || string(text) == "null" {
		return f.because(err, "line %d of its output says a position that is none", f.line)
	}
	if len(text) > maxPosition {
		return f.because(nil, "line %d of its output says a position of %d bytes; it may have %d", f.line, len(text), maxPosition)
	}
	f.end.position = text
	if !f.whole {
		f.batches++
		f.end.more, f.pending = true, nil
	}
	return nil
}

// parse reads {"<word>": <value>}; the value is valid until the next line.
func (f *feed) parse(line []byte) (word string, value []byte, err error) {
	f.dec.Reset(bytes.NewBuffer(line))
	if t, err := f.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return "", nil, errors.Join(err, errNoLine)
	}
	t, err := f.dec.ReadToken()
	if err != nil || t.Kind() != '"' {
		return "", nil, errors.Join(err, errNoLine)
	}
	word = t.String()
	v, err := f.dec.ReadValue()
	if err != nil {
		return "", nil, err
	}
	if t, err := f.dec.ReadToken(); err != nil || t.Kind() != '}' {
		return "", nil, errors.Join(err, errNoLine)
	}
	if _, err := f.dec.ReadToken(); err != io.EOF {
		return "", nil, errNoLine
	}
	switch word {
	case "row", "position":
		return word, v, nil
	case "inventory", "skip":
		if want := map[string]string{"inventory": `"complete"`, "skip": `"unchanged"`}[word]; string(v) == want {
			return word, v, nil
		}
	}
	return "", nil, errNoLine
}

var errNoLine = errors.New("no line of a source")

// ended is called when a batch has been read to its end. At the end of the output it waits for the program.
func (f *feed) ended() (ending, error) {
	e := f.end
	if e.more {
		f.end, f.rows, f.first = ending{}, false, f.line+1
		return e, nil
	}
	err := f.wait()
	if f.ctx.Err() != nil {
		return ending{}, f.broken(f.ctx.Err())
	}
	if err != nil {
		return ending{}, f.because(nil, "%s ended with %v%s", f.said.name, err, f.said.words())
	}
	return e, nil
}

// broken says why the program's output ended early.
func (f *feed) broken(err error) error {
	switch {
	case f.outer.Err() != nil:
		return f.outer.Err()
	case errors.Is(f.ctx.Err(), context.DeadlineExceeded):
		return f.because(nil, "%s did not end within %s, its timeout%s", f.said.name, f.limit, f.said.words())
	}
	return f.because(err, "its output could not be read")
}

func (f *feed) wait() error {
	if f.waited {
		return nil
	}
	f.waited = true
	err := f.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it ended well, and left somebody behind who holds its standard error
	}
	return err
}

func (f *feed) close() {
	f.stop()
	_ = f.wait() // it was told to end; how it did says nothing
}

// lastWords logs standard error line by line, up to maxLogged bytes, and keeps the last one.
type lastWords struct {
	name   string
	log    func(format string, args ...any)
	open   []byte
	last   string
	logged int
}

func (w *lastWords) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			w.line()
		} else if len(w.open) < 4<<10 {
			w.open = append(w.open, b)
		}
	}
	return len(p), nil
}

func (w *lastWords) line() {
	if text := strings.TrimSpace(string(w.open)); text != "" {
		w.last = text
		w.show(text)
	}
	w.open = w.open[:0]
}

func (w *lastWords) show(text string) {
	if w.logged > maxLogged {
		return
	}
	if w.logged += len(text) + 1; w.logged > maxLogged {
		w.log("%s says more than %d KiB on standard error; the rest is not shown", w.name, maxLogged>>10)
		return
	}
	if !strings.HasPrefix(text, w.name+": ") { // many programs say their own name
		text = w.name + ": " + text
	}
	w.log("%s", text)
}

// words is for the end of a message; the program has ended.
func (w *lastWords) words() string {
	if w.line(); w.last == "" {
		return ""
	}
	return fmt.Sprintf(": %s", clipTo(w.last, maxSaid))
}

func clip(line []byte) string { return clipTo(string(line), 80) }

func clipTo(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func compact(v json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	err := json.Compact(&b, v)
	return b.Bytes(), err
}
