package services

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	keptOutput = 16 << 10
	stopWait   = 10 * time.Second // before a server that was asked to end is killed
)

// account is whom a command runs as.
type account struct{ Uid, Gid uint32 }

// command is one server or tool to run. It gets its own process group, so an interrupt at the terminal reaches the
// kit and not the server it still needs.
type command struct {
	argv    []string
	env     []string // all of it
	dir     string
	as      *account       // nil: this process's own
	onDeath syscall.Signal // what it gets when the kit is killed (Linux)
}

// process is a started command. done is closed when it has ended.
type process struct {
	argv []string
	pid  int
	done chan struct{}
	err  error // valid once done is closed
	out  tail
}

// start runs the command and returns at once.
func start(c command) (*process, error) {
	p := &process{argv: c.argv, done: make(chan struct{})}
	began := make(chan error, 1)
	go func() {
		// The signal on the parent's death is tied to the thread that forked: this one stays until the child ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.Env, cmd.Dir = c.env, c.dir
		cmd.Stdout, cmd.Stderr = &p.out, &p.out
		cmd.WaitDelay = stopWait // a grandchild may hold the pipe
		cmd.SysProcAttr = attributes(c)
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		began <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-began; err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.argv[0], err)
	}
	return p, nil
}

// wait waits for a command that ends by itself, and kills it when ctx ends first.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.stop(context.WithoutCancel(ctx), syscall.SIGKILL))
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop sends the signal and waits for the end; a process that does not end in time, or before ctx does, is killed
// with its group.
func (p *process) stop(ctx context.Context, signal syscall.Signal) error {
	if p.ended() {
		return nil
	}
	if err := syscall.Kill(p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stopping %s (pid %d): %w", p.argv[0], p.pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	if err := syscall.Kill(-p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing %s (pid %d): %w", p.argv[0], p.pid, err)
	}
	<-p.done
	return nil
}

func (p *process) output() []byte { return p.out.bytes() }

// tail keeps the last keptOutput bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - keptOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept...)
}
