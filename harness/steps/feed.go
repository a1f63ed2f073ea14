package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of the run area: sources that feed tables, what they say, and what a pipeline run makes of it.
func registerFeed(s *Suite) {
	s.Step(`^the tables are fed (from a directory|by a command)(?:, undeclared objects and arrays as (native|json))?$`, fed)
	s.Step(`^(\w+)'s directory holds the file "([^"]*)":$`, directoryHolds)
	s.Step(`^(\w+)'s directory holds (nothing|no file "[^"]*"|the empty file "[^"]*")$`, directoryWithout)
	s.Step(`^(\w+)'s directory is gone$`, directoryGone)
	s.Step(`^(\w+)'s command (says|goes on to say):$`, commandSays)
	s.Step(`^(\w+)'s command says nothing$`, commandSaysNothing)
	s.Step(`^(\w+)'s command ends (well|with status \d+|by a signal)$`, commandEnds)

	s.Step(`^(\w+) (runs its pipeline|validates its declaration)$`, does)
	s.Step(`^(\w+) has (run its pipeline)$`, hasDone)
	s.Step(`^(\w+)'s command was given the positions (.+)$`, wasGiven)
	s.Step(`^(\w+)'s newest run of "([^"]*)" (is|is no) replacement of (\d+) rows?$`, newestRun)
	s.Step(`^(\w+)'s newest run of "([^"]*)" has the position (.+)$`, newestPosition)
	s.Step(`^(\w+) has (\d+) runs? of "([^"]*)"$`, runCount)
	s.Step(`^all runs of "([^"]*)" on (\w+) have digests of their own$`, digestsDiffer)
	s.Step(`^(\w+) lists no file of "([^"]*)"$`, listsNoFile)
	s.Step(`^the jobs are:$`, theJobs)
	s.Step(`^(\w+)'s validation warns of (no table|.+ alone)$`, validationWarns)
	s.Step(`^(\w+)'s catalogs and run states are deleted$`, losesCatalogs)
}

func fed(ctx context.Context, how, normalize string) error {
	kind := map[string]string{"from a directory": "file", "by a command": "command"}[how]
	world.From(ctx).Feed(&world.Feed{Kind: kind, Normalize: normalize})
	return nil
}

// directoryHolds writes one file of the directory; .csv and .jsonl take a table of rows, a doc string is its bytes.
func directoryHolds(ctx context.Context, node, name string, t *godog.Table) error {
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	text, err := world.JSONLines(rows)
	if err != nil {
		return err
	}
	return directoryFile(ctx, node, name, text)
}

func directoryFile(ctx context.Context, node, name string, text []byte) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	path := n.FeedPath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func directoryWithout(ctx context.Context, node, what string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	quoted := names(what)
	switch {
	case strings.HasPrefix(what, "the empty"):
		return directoryFile(ctx, node, quoted[0], nil)
	case len(quoted) > 0:
		return os.Remove(n.FeedPath(quoted[0]))
	}
	if err := os.RemoveAll(n.FeedPath("")); err != nil {
		return err
	}
	return os.MkdirAll(n.FeedPath(""), 0o755)
}

func directoryGone(ctx context.Context, node string) error {
	return os.RemoveAll(world.From(ctx).Node(node).FeedPath(""))
}

// commandSays sets what the node's command prints, or adds to it. It ends well unless a step says otherwise.
func commandSays(ctx context.Context, node, how string, text *godog.DocString) error {
	return says(ctx, node, how, text.Content+"\n")
}

func commandSaysNothing(ctx context.Context, node string) error { return says(ctx, node, "says", "") }

func says(ctx context.Context, node, how, text string) error {
	w := world.From(ctx)
	key := "feed.says." + node
	if had, ok := w.Values[key].(string); ok && how == "goes on to say" {
		text = had + text
	}
	w.Values[key] = text
	return w.Says(ctx, w.Node(node), text, "exit 0")
}

func commandEnds(ctx context.Context, node, how string) error {
	w := world.From(ctx)
	text, ok := w.Values["feed.says."+node].(string)
	if !ok {
		return fmt.Errorf("no step has said what %s's command says", node)
	}
	ends := "exit 0"
	switch {
	case how == "by a signal":
		ends = "kill -KILL $$"
	case how != "well":
		ends = "exit " + strings.TrimPrefix(how, "with status ")
	}
	return w.Says(ctx, w.Node(node), text, ends)
}

// wasGiven compares the cursors of all runs of the command, as JSON: nothing, 2, 2.
func wasGiven(ctx context.Context, node, phrase string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		got, err := n.Asked()
		if err != nil {
			return err
		}
		return verify.Equal("the positions that "+n.Name+"'s command was given", strings.Join(list(phrase), ", "), strings.Join(got, ", "))
	})
}

// newest finds the run of the highest commit sequence.
func newest(n *world.Node, table, what string) (inspect.RunDoc, error) {
	runs, err := inspect.Runs(n.Root(), table)
	if err != nil {
		return inspect.RunDoc{}, verify.Fail(what, "run manifests that can be read", err)
	}
	var out *inspect.RunDoc
	for i := range runs {
		if runs[i].CommitSeq != nil && (out == nil || *out.CommitSeq < *runs[i].CommitSeq) {
			out = &runs[i]
		}
	}
	if out == nil {
		return inspect.RunDoc{}, verify.Fail(what, "a committed run with a commit_seq", "none")
	}
	return *out, nil
}

func newestRun(ctx context.Context, node, table, is string, rows int) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		what := fmt.Sprintf("%s's newest run of %q %s replacement of %d rows", n.Name, table, is, rows)
		run, err := newest(n, table, what)
		if err != nil {
			return err
		}
		in := int64(0)
		for _, p := range run.Parts {
			in += p.Rows
		}
		show := func(replacement bool, manifest, parts int64) string {
			return fmt.Sprintf("replacement %t, row_count %d, %d rows in parts", replacement, manifest, parts)
		}
		return verify.Equal(what, show(is == "is", int64(rows), int64(rows)), show(run.Replacement, run.RowCount, in))
	})
}

func newestPosition(ctx context.Context, node, table, position string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		what := fmt.Sprintf("the position of %s's newest run of %q", n.Name, table)
		run, err := newest(n, table, what)
		if err != nil {
			return err
		}
		var value any
		if len(run.Cursor) > 0 {
			if err := json.Unmarshal(run.Cursor, &value); err != nil {
				return verify.Fail(what, position, err)
			}
		}
		got, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return verify.Equal(what, position, string(got))
	})
}

func runCount(ctx context.Context, node, count, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		what := fmt.Sprintf("the number of runs %s has of %q", n.Name, table)
		runs, err := inspect.Runs(n.Root(), table)
		if err != nil {
			return verify.Fail(what, count, err)
		}
		return verify.Equal(what, count, fmt.Sprint(len(runs)))
	})
}

func digestsDiffer(ctx context.Context, table, node string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		what := fmt.Sprintf("the digests of all runs of %q on %s", table, n.Name)
		runs, err := inspect.Runs(n.Root(), table)
		if err != nil {
			return verify.Fail(what, "run manifests that can be read", err)
		}
		seen := map[string]bool{}
		for _, r := range runs {
			seen[r.BatchDigest] = true
		}
		return verify.That(len(seen) == len(runs) && len(runs) > 1 && !seen[""], what, "each another", fmt.Sprintf("%d digests in %d runs", len(seen), len(runs)))
	})
}

func listsNoFile(ctx context.Context, node, table string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		what := fmt.Sprintf("what %s lists of %q", n.Name, table)
		c, err := w.Answer(ctx, n, sut.Files, sut.A("table", table))
		if err != nil {
			return err
		}
		var doc struct {
			Files *[]string `json:"files"`
		}
		if err := json.Unmarshal([]byte(c.Stdout), &doc); err != nil || doc.Files == nil {
			return verify.Fail(what, `{"files": []}`, c.Stdout)
		}
		return verify.Nothing(what, *doc.Files)
	})
}

// losesCatalogs removes what sums up the store; what remains is the store.
func losesCatalogs(ctx context.Context, node string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		for _, name := range []string{"machine.sqlite", "machine.sqlite-wal", "machine.sqlite-shm", "derived.sqlite", "derived.sqlite-wal", "derived.sqlite-shm", "nodes"} {
			if err := os.RemoveAll(n.Path(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// theJobs takes a table of name, kind, schedule, target and enabled; an empty cell is not declared.
func theJobs(ctx context.Context, t *godog.Table) error {
	lines := cells(t)
	for _, line := range lines[1:] {
		var j world.Job
		for i, name := range lines[0] {
			into := map[string]*string{"name": &j.Name, "kind": &j.Kind, "schedule": &j.Schedule, "target": &j.Target, "enabled": &j.Enabled}[name]
			if into == nil {
				return fmt.Errorf("a job has no %q", name)
			}
			*into = line[i]
		}
		world.From(ctx).Job(j)
	}
	return nil
}

// validationWarns looks for the tables that standard error names.
func validationWarns(ctx context.Context, node, phrase string) error {
	c, err := outcome(ctx, "validation", node)
	if err != nil {
		return err
	}
	var got []string
	for _, table := range world.From(ctx).Tables() {
		if verify.Names(c.Stderr, table) {
			got = append(got, table)
		}
	}
	return verify.SameSet("the tables that "+node+"'s validation warns of", names(phrase), got)
}
