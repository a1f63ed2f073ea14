package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Feed is the source that every node's declaration names: a directory "feed" of the project, or a command "./feed" in it. What
// lies there, and what the command says, is each node's own.
type Feed struct {
	Kind      string // "file" or "command"
	Normalize string // "" says nothing
}

// Feed declares the source.
func (w *World) Feed(f *Feed) { w.feed = f }

func (f *Feed) toml() string {
	if f == nil {
		return ""
	}
	var b strings.Builder
	if f.Normalize != "" {
		fmt.Fprintf(&b, "normalize = %s\n", quote(f.Normalize))
	}
	fmt.Fprintf(&b, "\n[pipeline.source]\nkind = %s\n", quote(f.Kind))
	if f.Kind == "command" {
		b.WriteString("command = [\"./feed\"]\n")
	} else {
		b.WriteString("path = \"feed\"\n")
	}
	return b.String()
}

// FeedPath is the directory of a file source, or a file in it. Prepare the node first.
func (n *Node) FeedPath(name string) string {
	return filepath.Join(n.Project(), "feed", filepath.FromSlash(name))
}

// The command of a feed notes the cursor it was given, prints what it is to say from there on, and ends as it is to end. It
// believes in positions that are whole numbers.
const feedScript = `#!/bin/sh
echo "${CONTEXTFUL_CURSOR-nothing}" >> feed.asked
if [ -n "$CONTEXTFUL_CURSOR" ] && grep -q "^{\"position\": $CONTEXTFUL_CURSOR}\$" feed.says; then
	sed "1,/^{\"position\": $CONTEXTFUL_CURSOR}\$/d" feed.says
else
	cat feed.says
fi
. ./feed.ends
`

// Says has the node's command print some lines and then end, in the words of the shell ("exit 0").
func (w *World) Says(ctx context.Context, n *Node, lines, ends string) error {
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	for _, f := range []struct {
		name, text string
		mode       os.FileMode
	}{{"feed", feedScript, 0o755}, {"feed.says", lines, 0o644}, {"feed.ends", ends + "\n", 0o644}} {
		if err := os.WriteFile(filepath.Join(n.Project(), f.name), []byte(f.text), f.mode); err != nil {
			return err
		}
	}
	return nil
}

// Asked lists the cursors that the node's command was given, in the order of its runs; "nothing" where it was given none.
func (n *Node) Asked() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(n.Project(), "feed.asked"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// A Job is one [[job]] of every node's declaration; what is empty is not written.
type Job struct{ Name, Kind, Schedule, Target, Enabled string }

// Job declares a job.
func (w *World) Job(j Job) { w.jobs = append(w.jobs, j) }

func (j Job) toml() string {
	var b strings.Builder
	b.WriteString("\n[[job]]\n")
	for _, line := range [][2]string{{"name", quote(j.Name)}, {"kind", quote(j.Kind)}, {"schedule", quote(j.Schedule)}, {"target", quote(j.Target)}, {"enabled", j.Enabled}} {
		if line[1] != "" && line[1] != `""` {
			fmt.Fprintf(&b, "%s = %s\n", line[0], line[1])
		}
	}
	return b.String()
}

// Tables lists the names of the declared tables.
func (w *World) Tables() []string { return append([]string(nil), w.names...) }
