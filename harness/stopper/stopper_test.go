package stopper

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary the process that is stopped: four threads, three renames each.
func TestMain(m *testing.M) {
	if dir := os.Getenv("STOPPED_DIR"); dir != "" {
		os.Exit(victim(dir))
	}
	os.Exit(m.Run())
}

func victim(dir string) int {
	var wg sync.WaitGroup
	failed := make(chan error, 4)
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			for j := range 3 {
				name := filepath.Join(dir, fmt.Sprintf("t%d-%d", i, j))
				if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
					failed <- err
					return
				}
				if err := os.Rename(name, name+".done"); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	wg.Wait()
	select {
	case err := <-failed:
		if errors.Is(err, syscall.ENOSPC) {
			return 28
		}
		return 1
	default:
		return 0
	}
}

type group struct{ cmd *exec.Cmd }

func (g group) Kill() error { return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
func (g group) Cont() error { return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGCONT) }

func start(t *testing.T, tr *Trace, dir string, at int, act Action) group {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	argv := append(append([]string{}, tr.Wrap()...), self)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "STOPPED_DIR="+dir)
	cmd.ExtraFiles = []*os.File{tr.File()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, cmd.Start())
	g := group{cmd}
	tr.Watch(g, at, act)
	return g
}

func renamed(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.done"))
	require.NoError(t, err)
	return len(found)
}

func prepare(t *testing.T, glob string) (*Trace, string) {
	t.Helper()
	dir := t.TempDir()
	set, err := Calls("rename")
	require.NoError(t, err)
	tr, err := New(set, dir, glob)
	require.NoError(t, err)
	return tr, dir
}

func TestCountsOverAllThreads(t *testing.T) {
	tr, dir := prepare(t, "")
	g := start(t, tr, dir, 0, Count)
	require.NoError(t, g.cmd.Wait())
	<-tr.Done()
	require.Len(t, tr.Calls(), 12)
	require.Equal(t, 12, renamed(t, dir))
	require.Equal(t, "renameat", tr.Calls()[0].Name)
}

func TestKillsRightAfterTheNth(t *testing.T) {
	for _, n := range []int{1, 5, 12} {
		tr, dir := prepare(t, "")
		g := start(t, tr, dir, n, Kill)
		_ = g.cmd.Wait() // killed
		<-tr.Done()
		// Threads that were inside a call at that moment finish it: at most the three others.
		require.GreaterOrEqual(t, renamed(t, dir), n)
		require.LessOrEqual(t, renamed(t, dir), n+3)
	}
}

func TestAGlobCountsOnlyItsPaths(t *testing.T) {
	tr, dir := prepare(t, "t2-*")
	g := start(t, tr, dir, 0, Count)
	require.NoError(t, g.cmd.Wait())
	<-tr.Done()
	require.Len(t, tr.Calls(), 3)
}

func TestHoldsUntilResumed(t *testing.T) {
	tr, dir := prepare(t, "")
	g := start(t, tr, dir, 4, Hold)
	<-tr.Reached()
	held := renamed(t, dir)
	require.GreaterOrEqual(t, held, 4)
	require.LessOrEqual(t, held, 7)
	require.Equal(t, held, renamed(t, dir))
	require.NoError(t, tr.Resume())
	require.NoError(t, g.cmd.Wait())
	require.Equal(t, 12, renamed(t, dir))
}

func TestCallsCanFail(t *testing.T) {
	dir := t.TempDir()
	set, err := Calls("rename")
	require.NoError(t, err)
	tr, err := Failing(set, "ENOSPC", "2+", "", dir)
	require.NoError(t, err)
	g := start(t, tr, dir, 0, Count)
	_ = g.cmd.Wait()
	<-tr.Done()
	require.Equal(t, 28, g.cmd.ProcessState.ExitCode())
	require.Equal(t, 4, tr.Fired())
	require.Equal(t, 4, renamed(t, dir))
}

func TestBeforeAnExactPath(t *testing.T) {
	dir := t.TempDir()
	set, err := Calls("rename")
	require.NoError(t, err)
	argv := Before(set, filepath.Join(dir, "t1-1.done"))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(argv[0], append(argv[1:], self)...)
	cmd.Env = append(os.Environ(), "STOPPED_DIR="+dir)
	require.Error(t, cmd.Run())
	require.NoFileExists(t, filepath.Join(dir, "t1-1.done"))
	require.FileExists(t, filepath.Join(dir, "t1-1"))
}

func TestEveryWordHasCalls(t *testing.T) {
	for _, w := range Words() {
		set, err := Calls(w)
		require.NoError(t, err)
		require.NotEmpty(t, set)
	}
	_, err := Calls("teleport")
	require.ErrorContains(t, err, strings.Join(Words(), " "))
}
