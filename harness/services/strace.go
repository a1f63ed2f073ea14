package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// The oldest strace whose options the stopper uses: --seccomp-bpf came with 5.3.
const (
	straceMajor, straceMinor = 5, 3
	straceWait               = 20 * time.Second
)

// Strace returns the path and the version ("6.1") of a strace that can stop processes here, or an *Unavailable. It
// looks in PATH, and then has strace kill /bin/true at its own exit: a machine that forbids ptrace, or a strace that
// cannot inject signals, is found out now and not as a scenario that fails for the wrong reason. It keeps nothing:
// callers ask once.
func Strace(ctx context.Context) (path, version string, err error) {
	no := func(reason error) (string, string, error) {
		return "", "", &Unavailable{Service: NameStrace, Reasons: []string{"local: " + reason.Error()}}
	}
	path, err = exec.LookPath("strace")
	if err != nil {
		return no(errors.New("no binary strace in PATH (Debian: apt-get install strace; it exists on Linux only)"))
	}
	ctx, cancel := context.WithTimeout(ctx, straceWait)
	defer cancel()
	said, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return no(fmt.Errorf("%s --version: %w%s", path, err, quoteTail(said)))
	}
	version, err = straceVersion(said)
	if err != nil {
		return no(fmt.Errorf("%s: %w", path, err))
	}
	victim := "/bin/true"
	if _, err := os.Stat(victim); err != nil {
		victim = "/usr/bin/true"
	}
	// An output file of its own keeps what strace itself complains about apart from the trace.
	dir, err := os.MkdirTemp("", "conform-strace-")
	if err != nil {
		return no(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	trial := exec.CommandContext(ctx, path, "-f", "-qq", "-o", filepath.Join(dir, "trace"),
		"-e", "trace=exit_group", "-e", "inject=exit_group:signal=KILL:when=1", victim)
	said, err = trial.CombinedOutput()
	if ctx.Err() != nil {
		return no(fmt.Errorf("%s did not finish with %s: %w", path, victim, ctx.Err()))
	}
	// strace ends as its child did: by the injected signal.
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			return path, version, nil
		}
	}
	if err == nil {
		err = errors.New("the signal was not injected")
	}
	return no(fmt.Errorf("%s %s cannot stop a process here (ptrace forbidden?): %w%s", path, version, err, quoteTail(said)))
}

// straceVersion reads "strace -- version 6.1" and refuses what is too old.
func straceVersion(said []byte) (string, error) {
	m := regexp.MustCompile(`version (\d+)\.(\d+)`).FindSubmatch(said)
	if m == nil {
		return "", fmt.Errorf("no version in what --version printed%s", quoteTail(said))
	}
	major, err1 := strconv.Atoi(string(m[1]))
	minor, err2 := strconv.Atoi(string(m[2]))
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	version := fmt.Sprintf("%d.%d", major, minor)
	if major < straceMajor || (major == straceMajor && minor < straceMinor) {
		return "", fmt.Errorf("version %s is too old; the stopper needs %d.%d", version, straceMajor, straceMinor)
	}
	return version, nil
}
