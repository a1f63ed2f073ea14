package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A finished process.
type finished struct {
	took     time.Duration
	cpu      time.Duration // user and system
	resident int64         // peak, bytes
	stdout   string
}

// do runs a process to its end, which has to be a success.
func do(ctx context.Context, dir string, env []string, argv ...string) (finished, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := wall()
	err := cmd.Run()
	f := finished{took: wall().Sub(begin), stdout: out.String()}
	if err != nil {
		return f, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, tail(errs.String()+out.String()))
	}
	f.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		f.resident = u.Maxrss << 10 // Linux counts KiB
	}
	return f, nil
}

func tail(s string) string {
	const most = 2000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// A project is a node of a store with one table.
type project struct {
	b    *bench
	dir  string
	node string
}

const (
	storeName = "bench"
	tableName = "t"
)

// project makes a directory that is a project. initialise false leaves it without an identity, as a clone is before its first pull.
func (b *bench) project(ctx context.Context, node string, initialise bool, sync string) (*project, error) {
	dir, err := b.scratch(node)
	if err != nil {
		return nil, err
	}
	p := &project{b: b, dir: dir, node: node}
	if err := p.declare(""); err != nil {
		return nil, err
	}
	if initialise {
		if _, err := p.do(ctx, "init", storeName); err != nil {
			return nil, err
		}
	}
	return p, p.configure(sync)
}

// declare writes the declaration; settings are lines for the table.
func (p *project) declare(settings string) error {
	declaration := "[project]\nname = \"" + storeName + "\"\n\n[[pipeline.tables]]\nname = \"" + tableName + "\"\n" + settings
	return os.WriteFile(filepath.Join(p.dir, "contextful.toml"), []byte(declaration), 0o644)
}

// table is the table's directory.
func (p *project) table() string {
	return filepath.Join(p.dir, ".contextful", "context", storeName, "tables", tableName)
}

// configure writes the store's config.toml.
func (p *project) configure(sync string) error {
	if sync == "" {
		return nil
	}
	root := filepath.Join(p.dir, ".contextful", "context", storeName)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "config.toml"), []byte(sync), 0o644)
}

func (p *project) do(ctx context.Context, argv ...string) (finished, error) {
	env := []string{"CONTEXTFUL_NODE_ID=" + p.node, accessEnv + "=" + accessKey, secretEnv + "=" + secretKey}
	return do(ctx, p.dir, env, append([]string{p.b.ours, "--quiet"}, argv...)...)
}

func (p *project) land(ctx context.Context, rows, run string) (finished, error) {
	return p.do(ctx, "context", "land", tableName, "--rows", rows, "--run-id", run, "--site-id", "bench", "--type", "at=timestamp")
}
