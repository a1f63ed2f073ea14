package sut

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A File is handed to a process.
type File = *os.File

// Processes is the Driver that runs the configured command. Each invocation is a session of its own, so that a signal
// to the group reaches whatever a wrapper started.
type Processes struct {
	Config *Config
	// Now stamps invocations; the kit's own clock, never shown to the implementation.
	Now func() time.Time
}

var _ Starter = (*Processes)(nil)

// Do runs the verb to its end.
func (p *Processes) Do(ctx context.Context, node Node, verb Verb, args Args) (Result, error) {
	r, err := p.Start(ctx, node, verb, args)
	if err != nil {
		return Result{Node: node.Name, Verb: verb, Exit: -1}, err
	}
	return r.Wait(ctx)
}

// Start begins the verb and returns at once.
func (p *Processes) Start(ctx context.Context, node Node, verb Verb, args Args) (*Running, error) {
	t, ok := p.Config.Verbs[verb]
	if !ok {
		return nil, fmt.Errorf("no template for the verb %s", verb)
	}
	full := Args{}
	for k, v := range args {
		full[k] = v
	}
	for k, v := range map[string]string{"project": node.Project, "root": node.Root, "name": node.Title, "node": node.ID} {
		full[k] = []string{v}
	}
	delete(full, "now")
	if p.Config.Clock == NowFlag && !node.Now.IsZero() {
		full["now"] = []string{Instant(node.Now)}
	}
	argv, err := t.expand(full)
	if err != nil {
		return nil, fmt.Errorf("verb %s: %w", verb, err)
	}
	for path, content := range t.Files {
		path = filepath.Join(node.Project, filepath.FromSlash(fill(path, full, 0)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(fill(content, full, 0)), 0o644); err != nil {
			return nil, err
		}
	}
	added := map[string]string{}
	for k, v := range p.Config.Env {
		added[k] = v
	}
	for k, v := range t.Env {
		added[fill(k, full, 0)] = fill(v, full, 0)
	}
	for k, v := range node.Env {
		added[k] = v
	}
	if p.Config.Clock == Faketime && !node.Now.IsZero() {
		lib, err := faketimeLibrary()
		if err != nil {
			return nil, err
		}
		added["LD_PRELOAD"], added["FAKETIME"] = lib, "@"+node.Now.UTC().Format("2006-01-02 15:04:05")
	}
	return p.launch(node, verb, append(append([]string{}, p.Config.Command...), argv...), added, fill(t.Stdin, full, 0))
}

// Instant writes an instant as formats.md does: RFC 3339, UTC, nine digits.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

func (p *Processes) launch(node Node, verb Verb, argv []string, added map[string]string, stdin string) (*Running, error) {
	full := append(append([]string{}, node.Wrap...), argv...)
	cmd := exec.Command(full[0], full[1:]...)
	cmd.Dir = node.Project
	cmd.Env = environment(node, added)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.ExtraFiles = node.Extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A wrapper may leave a child with our pipes: do not wait for it for ever.
	cmd.WaitDelay = 2 * time.Second
	r := &Running{cmd: cmd, limit: p.Config.Limit, now: p.Now, done: make(chan struct{}),
		res: Result{Node: node.Name, Verb: verb, Argv: argv, Env: added, Stdin: stdin, Exit: -1}}
	if r.limit <= 0 {
		r.limit = DefaultLimit
	}
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	if p.Now != nil {
		r.res.Started = p.Now()
	}
	if err := cmd.Start(); err != nil {
		return nil, p.notStarted(node, err)
	}
	go r.reap()
	return r, nil
}

// notStarted tells a command that no verb can ever be asked of, a *ConfigError, from a start that failed this once.
func (p *Processes) notStarted(node Node, err error) error {
	var at *os.PathError
	if len(node.Wrap) == 0 && errors.As(err, &at) && at.Op == "fork/exec" &&
		(errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EACCES)) {
		return &ConfigError{p.Config.Path, fmt.Sprintf("[sut] command: %s cannot be started: %v (hint: a script needs a first line such as #!/bin/sh that names what is there)", p.Config.Command[0], at.Err)}
	}
	return fmt.Errorf("the implementation cannot be started: %w", err)
}

// environment is the whole environment of a process: nothing of the caller's but PATH gets through.
func environment(node Node, added map[string]string) []string {
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": node.Home, "TMPDIR": filepath.Join(node.Home, "tmp"), "LANG": "C.UTF-8", "TZ": "UTC",
		"XDG_STATE_HOME": filepath.Join(node.Home, "state"), "XDG_CONFIG_HOME": filepath.Join(node.Home, "config"),
		"XDG_CACHE_HOME": filepath.Join(node.Home, "cache"), "CONTEXTFUL_STATE_DIR": node.State, "CONTEXTFUL_NODE_ID": node.ID,
		"AWS_EC2_METADATA_DISABLED": "true", "NO_COLOR": "1",
	}
	for k, v := range added {
		env[k] = v
	}
	var out []string
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out
}

func faketimeLibrary() (string, error) {
	for _, glob := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1"} {
		if found, err := filepath.Glob(glob); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("clock = \"faketime\" needs libfaketime, which is not on this machine: %w", fs.ErrNotExist)
}

// A Running is an invocation under way. Its methods are safe for concurrent use.
type Running struct {
	cmd            *exec.Cmd
	stdout, stderr capped
	limit          time.Duration
	now            func() time.Time
	done           chan struct{}

	mu     sync.Mutex
	res    Result
	onDone func(Result)
}

func (r *Running) reap() {
	err := r.cmd.Wait()
	r.mu.Lock()
	res := &r.res
	if r.now != nil {
		res.Duration = r.now().Sub(res.Started)
	}
	if state := r.cmd.ProcessState; state != nil {
		res.Exit = state.ExitCode()
		if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			res.Signal = ws.Signal().String()
		}
	} else if err != nil {
		res.Signal = err.Error()
	}
	var cutOut, cutErr bool
	res.Stdout, cutOut = r.stdout.text()
	res.Stderr, cutErr = r.stderr.text()
	res.Cut = cutOut || cutErr
	res.Panicked = res.Exit != 0 && crashed(res.Stderr)
	fn, copied := r.onDone, *res
	r.mu.Unlock()
	if fn != nil {
		fn(copied)
	}
	close(r.done)
}

// crashed recognises the last words of a runtime: such an exit is no refusal.
func crashed(stderr string) bool {
	for _, sign := range []string{"panic: ", "fatal error: ", "goroutine 1 [", "thread 'main' panicked", "Traceback (most recent call last)", "SIGSEGV"} {
		if strings.Contains(stderr, sign) {
			return true
		}
	}
	return false
}

// OnDone is called once with the result when the process has ended; at once if it already has.
func (r *Running) OnDone(fn func(Result)) {
	r.mu.Lock()
	select {
	case <-r.done:
		res := r.res
		r.mu.Unlock()
		fn(res)
		return
	default:
	}
	r.onDone = fn
	r.mu.Unlock()
}

// PID of the process, which leads its group.
func (r *Running) PID() int { return r.cmd.Process.Pid }

// Done is closed when the process has ended.
func (r *Running) Done() <-chan struct{} { return r.done }

// Ended reports whether the process has ended.
func (r *Running) Ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Result is what is known now; complete once Done is closed.
func (r *Running) Result() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.res
}

// Wait blocks until the process has ended. Past the limit it kills the group and returns *NoAnswer; when ctx ends first
// it kills the group and returns ctx's error.
func (r *Running) Wait(ctx context.Context) (Result, error) {
	limit := time.NewTimer(r.limit)
	defer limit.Stop()
	var why error
	select {
	case <-r.done:
		return r.Result(), nil
	case <-limit.C:
		why = &NoAnswer{r.Result().Verb, r.limit}
	case <-ctx.Done():
		why = ctx.Err()
	}
	r.mu.Lock()
	r.res.NoAnswer = true
	r.mu.Unlock()
	if err := r.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return r.Result(), err
	}
	<-r.done
	return r.Result(), why
}

func (r *Running) signal(sig syscall.Signal) error {
	if r.Ended() {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-r.PID(), sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to the process group of %s: %w", sig, r.res.Verb, err)
	}
	return nil
}

// Stop sends SIGSTOP to the group and returns when it has stopped: a paused writer.
func (r *Running) Stop() error {
	if err := r.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	r.settled()
	return nil
}

// Cont lets a stopped group go on.
func (r *Running) Cont() error { return r.signal(syscall.SIGCONT) }

// Kill sends SIGKILL to the group.
func (r *Running) Kill() error { return r.signal(syscall.SIGKILL) }
