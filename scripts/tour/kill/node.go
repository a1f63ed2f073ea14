package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"contextful/harness/stopper"
)

const (
	project = "debian"
	table   = "packages"
)

// declaration is the tour's.
const declaration = `[project]
name = "debian"

[[pipeline.tables]]
name = "packages"
primary_key = ["name", "architecture"]
`

// digest reads every column of every row of the keyed view, in an order of its own: equal digests are equal tables.
const digest = "SELECT count(*) AS packages, sha256(string_agg(CAST(ROW(name, architecture, version, section, priority, installed_size, size, maintainer, description, sha256, _run_id) AS VARCHAR), " +
	"chr(10) ORDER BY name, architecture)) AS digest FROM packages"

// A node is a project directory and the id it goes by.
type node struct {
	t       *tour
	id, dir string
}

func (n *node) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "CONTEXTFUL_NODE_ID=" + n.id, "TOUR_ACCESS_KEY=" + os.Getenv("TOUR_ACCESS_KEY"), "TOUR_SECRET_KEY=" + os.Getenv("TOUR_SECRET_KEY")}
}

func (n *node) command(ctx context.Context, wrap []string, argv ...string) *exec.Cmd {
	words := append(append(wrap, n.t.bin, "--quiet"), argv...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = n.dir, n.environment()
	return cmd
}

// do runs a verb to its end, which has to be a success.
func (n *node) do(ctx context.Context, argv ...string) (string, error) {
	cmd := n.command(ctx, nil, argv...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: contextful %s: %w: %s", n.id, strings.Join(argv, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// read gives the digest line of what the node reads.
func (n *node) read(ctx context.Context) (string, error) {
	out, err := n.do(ctx, "query", "--csv", digest)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1], nil
}

// process is a session of its own, so that strace and what it traces get a signal together.
type process struct{ cmd *exec.Cmd }

func (p process) Kill() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
func (p process) Cont() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT) }

// errTracer says that strace gave up, which 6.1 does now and then ("Unexpected wait status 0"): that says nothing about who was traced.
var errTracer = errors.New("strace gave up")

// killed runs a verb and kills it right after its nth call of the set on a path below within; 0 lets it end and counts. dead is false where the verb
// ended by itself.
func (n *node) killed(ctx context.Context, set []string, within string, nth int, argv ...string) (calls []stopper.Call, dead bool, err error) {
	trace, err := stopper.New(set, within, "")
	if err != nil {
		return nil, false, err
	}
	cmd := n.command(ctx, append([]string{}, trace.Wrap()...), argv...)
	cmd.ExtraFiles = []*os.File{trace.File()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		trace.Discard()
		return nil, false, err
	}
	act := stopper.Kill
	if nth == 0 {
		act = stopper.Count
	}
	trace.Watch(process{cmd}, nth, act)
	err = cmd.Wait()
	<-trace.Done()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL && nth > 0 {
		return trace.Calls(), true, ctx.Err()
	}
	if strings.Contains(errs.String(), "strace: ") {
		return nil, false, fmt.Errorf("%w: %s", errTracer, strings.TrimSpace(errs.String()))
	}
	if err != nil {
		return nil, false, fmt.Errorf("contextful %s, traced: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(errs.String()))
	}
	return trace.Calls(), false, nil
}

// takeRows copies the first rows of each file of the index (0: all) and counts them.
func takeRows(from, to string, first int) (files []string, rows int, err error) {
	for _, name := range []string{"packages-0", "packages-1", "packages-2", "packages-3", "updates"} {
		in, err := os.Open(filepath.Join(from, name+".jsonl"))
		if err != nil {
			return nil, 0, fmt.Errorf("%w (scripts/debpackages writes it, with -runs 4)", err)
		}
		defer in.Close()
		var out bytes.Buffer
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 16<<20)
		for n := 0; (first == 0 || n < first) && lines.Scan(); n++ {
			out.Write(lines.Bytes())
			out.WriteByte('\n')
			rows++
		}
		if err := lines.Err(); err != nil {
			return nil, 0, err
		}
		file := filepath.Join(to, name+".jsonl")
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			return nil, 0, err
		}
		files = append(files, file)
	}
	return files, rows, nil
}
