package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of the snapshot operation: captures, and reads that name one. A capture is named by its run.
func registerCapture(s *Suite) {
	s.Step(`^(\w+) captures of "([^"]*)" as run "([^"]*)":$`, captures)
	s.Step(`^(\w+) has captured of "([^"]*)" as run "([^"]*)":$`, hasCaptured)
	s.Step(`^(\w+) captures runs (.+) into "([^"]*)" at once$`, capturesAtOnce)
	s.Step(`^(\w+)'s capture of "([^"]*)" as run "([^"]*)" is killed at (.+):$`, captureKilledAt)
	s.Step(`^the killed capture of "([^"]*)", made again, succeeds on each (\w+)$`, killedCaptureAgain)
	s.Step(`^(\w+) was told the same snapshot as before of capture "([^"]*)"$`, toldTheSame)
	s.Step(`^the captures (.+) of "([^"]*)" are (\w+)'s (\d+) snapshots, one each$`, oneSnapshotEach)
	s.Step(`^(\w+)'s list of "([^"]*)" names snapshots only$`, listSnapshotsOnly)

	s.Step(`^(\w+) reads of "([^"]*)" in capture "([^"]*)" exactly:$`, readsCapture)
	s.Step(`^(\w+)'s answer in capture "([^"]*)" to (.+) is:$`, answersCapture)
	s.Step(`^(\w+) reads "([^"]*)" in (capture|snapshot) "([^"]*)"$`, readsIn)
	s.Step(`^the read has answered nothing$`, answeredNothing)
	s.Step(`^(\w+) reads of "([^"]*)" at the horizon "([^"]*)":$`, readsAtHorizon)
}

// A corpus is what a capture said: the first of its id, and the latest.
type corpus struct{ first, latest string }

func corpusKey(n *world.Node, run string) string { return "capture." + n.Name + "." + run }

// captured keeps the snapshot that a capture's answer names.
func captured(w *world.World, n *world.Node, run string, c world.Call) error {
	var report struct {
		SnapshotID string `json:"snapshot_id"`
		RunID      string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil || !inspect.SnapshotForm.MatchString(report.SnapshotID) || report.RunID != run {
		return verify.Fail(fmt.Sprintf("what %s says of its capture %s", n.Name, run), fmt.Sprintf(`{"snapshot_id": "snapshot-…", "run_id": %q, …}`, run), c.Stdout)
	}
	have, ok := w.Values[corpusKey(n, run)].(corpus)
	if have.latest = report.SnapshotID; !ok {
		have.first = report.SnapshotID
	}
	w.Values[corpusKey(n, run)] = have
	return nil
}

func captureArgs(w *world.World, n *world.Node, table, run string, rows []world.Row) (sut.Args, error) {
	args, _, err := w.LandArgs(n, world.Landing{Table: table, Run: run, Rows: rows})
	return args, err
}

func capture(ctx context.Context, node, table, run string, t *godog.Table, ask func(*world.World, *world.Node, sut.Args) (world.Call, error)) error {
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	w := world.From(ctx)
	n := w.Node(node)
	args, err := captureArgs(w, n, table, run, rows)
	if err != nil {
		return err
	}
	c, err := ask(w, n, args)
	if err != nil || !c.OK() {
		return err
	}
	return captured(w, n, run, c)
}

func captures(ctx context.Context, node, table, run string, t *godog.Table) error {
	return capture(ctx, node, table, run, t, func(w *world.World, n *world.Node, args sut.Args) (world.Call, error) {
		return w.Do(ctx, n, sut.Capture, args)
	})
}

func hasCaptured(ctx context.Context, node, table, run string, t *godog.Table) error {
	return capture(ctx, node, table, run, t, func(w *world.World, n *world.Node, args sut.Args) (world.Call, error) {
		return w.Answer(ctx, n, sut.Capture, args)
	})
}

func capturesAtOnce(ctx context.Context, node, runs, table string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Prepare(ctx, n); err != nil {
		return err
	}
	tasks := map[string]*world.Task{}
	for _, run := range names(runs) {
		args, err := captureArgs(w, n, table, run, []world.Row{{"url": "/" + run, "seen": "2026-01-01T00:00:00Z", "text": run}})
		if err != nil {
			return err
		}
		if tasks[run], err = w.Start(ctx, n, sut.Capture, args); err != nil {
			return err
		}
	}
	for _, run := range names(runs) {
		c, err := w.Finish(ctx, tasks[run])
		if err != nil {
			return err
		}
		if err := verify.Succeeded(c.Result); err != nil {
			return err
		}
		if err := captured(w, n, run, c); err != nil {
			return err
		}
	}
	return nil
}

// killedCapture is what a step that makes it again needs.
type killedCapture struct {
	run  string
	rows []world.Row
}

func captureKilledAt(ctx context.Context, node, table, run, point string, t *godog.Table) error {
	call, ok := callOf(point)
	if !ok {
		return fmt.Errorf("a capture is killed at each <call> that it makes, not at %q", point)
	}
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	w := world.From(ctx)
	w.Values["capture.killed"] = killedCapture{run, rows}
	return w.KillAtEach(ctx, w.Node(node), sut.Capture, call, tableGlob(w, table), func(c *world.Node) (sut.Args, error) { return captureArgs(w, c, table, run, rows) })
}

func killedCaptureAgain(ctx context.Context, table, node string) error {
	killed, ok := world.From(ctx).Values["capture.killed"].(killedCapture)
	if !ok {
		return fmt.Errorf("no capture was killed")
	}
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		args, err := captureArgs(w, n, table, killed.run, killed.rows)
		if err != nil {
			return err
		}
		c, err := w.Do(ctx, n, sut.Capture, args)
		if err != nil {
			return err
		}
		if err := verify.Succeeded(c.Result); err != nil {
			return err
		}
		return captured(w, n, killed.run, c)
	})
}

func toldTheSame(ctx context.Context, node, run string) error {
	w := world.From(ctx)
	have, ok := w.Values[corpusKey(w.Node(node), run)].(corpus)
	if !ok {
		return fmt.Errorf("no capture %q was made", run)
	}
	return verify.Equal(fmt.Sprintf("the snapshot that %s says is capture %s", node, run), have.first, have.latest)
}

// oneSnapshotEach looks in the chain: as many snapshots as captures, each folding one of the runs, and named by its capture.
func oneSnapshotEach(ctx context.Context, runs, table, node string, count int) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		chain, err := inspect.Chain(n.Root(), table)
		if err != nil {
			return err
		}
		if err := verify.Equal(fmt.Sprintf("the number of snapshots that %s has of %q", n.Name, table), count, len(chain)); err != nil {
			return err
		}
		var want, got []string
		for _, run := range names(runs) {
			key := corpusKey(n, run)
			if _, ok := w.Values[key]; !ok {
				key = corpusKey(w.Node(node), run) // captured before the node was copied
			}
			said, ok := w.Values[key].(corpus)
			if !ok {
				return fmt.Errorf("no capture %q was made", run)
			}
			want = append(want, fmt.Sprintf("%s folds %s/%s", said.latest, run, n.ID))
		}
		for _, s := range chain {
			got = append(got, fmt.Sprintf("%s folds %s", s.SnapshotID, strings.Join(s.IncludesRuns, " and ")))
		}
		return verify.SameSet(fmt.Sprintf("%s's snapshots of %q and the captures they fold", n.Name, table), want, got)
	})
}

func listSnapshotsOnly(ctx context.Context, node, table string) error {
	list, _, err := listed(ctx, node, table)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(f string) bool { return strings.Contains(f, "/data/snapshots/") })
	return verify.Nothing(fmt.Sprintf("what %s's list of %q names outside snapshots", node, table), list)
}

// snapshotOf gives a capture's snapshot, or the id as it stands.
func snapshotOf(w *world.World, node, kind, name string) (string, error) {
	if kind == "snapshot" {
		return name, nil
	}
	said, ok := w.Values[corpusKey(w.Node(node), name)].(corpus)
	if !ok {
		return "", fmt.Errorf("no capture %q was made", name)
	}
	return said.first, nil
}

func readsCapture(ctx context.Context, node, table, run string, t *godog.Table) error {
	w := world.From(ctx)
	id, err := snapshotOf(w, node, "capture", run)
	if err != nil {
		return err
	}
	got, err := w.Read(ctx, w.Node(node), table, "snapshot", id)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("what %s reads of %q in capture %s", node, table, run)
	if err := verify.SameSet("the columns of "+what, cells(t)[0], got.Columns); err != nil {
		return err
	}
	return sameTable(what, t, got)
}

func answersCapture(ctx context.Context, node, run, sql string, t *godog.Table) error {
	w := world.From(ctx)
	id, err := snapshotOf(w, node, "capture", run)
	if err != nil {
		return err
	}
	got, err := w.Query(ctx, w.Node(node), sql, "snapshot", id)
	if err != nil {
		return err
	}
	return sameTable(fmt.Sprintf("what %s answers to %s in capture %s", node, sql, run), t, got)
}

func readsIn(ctx context.Context, node, table, kind, name string) error {
	w := world.From(ctx)
	id, err := snapshotOf(w, node, kind, name)
	if err != nil {
		return err
	}
	w.Values["name:the snapshot"] = id
	_, err = w.Do(ctx, w.Node(node), sut.Query, sut.A("sql", `SELECT * FROM "`+table+`"`, "snapshot", id))
	return err
}

func answeredNothing(ctx context.Context) error {
	c, err := outcome(ctx, "query", "")
	if err != nil {
		return err
	}
	return verify.Equal("what the read printed", "", strings.TrimSpace(c.Stdout))
}

func readsAtHorizon(ctx context.Context, node, table, horizon string, t *godog.Table) error {
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table, "horizon", horizon)
	if err != nil {
		return err
	}
	return sameTable(fmt.Sprintf("what %s reads of %q at the horizon %s", node, table, horizon), t, got)
}
