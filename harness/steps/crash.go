package steps

import (
	"context"
	"fmt"
	"strings"

	"contextful/harness/sut"
	"contextful/harness/world"
)

// Kills: at a request of the bucket, or right after a call of the process's own (through strace).
func registerCrash(s *Suite) {
	s.Step(`^(\w+)'s (push|pull|probe|pipeline run) is killed at (.+)$`, killedAt)
	s.Step(`^(\w+)'s fold of "([^"]*)" is killed at (.+)$`, foldKilledAt)
	s.Step(`^(\w+)'s landing of (\d+) rows of "([^"]*)" is killed at (.+)$`, landingKilledAt)
}

// callOf reads "each rename that it makes" and gives the word for the calls.
func callOf(point string) (string, bool) {
	w, ok := strings.CutPrefix(point, "each ")
	w, ok2 := strings.CutSuffix(w, " that it makes")
	return w, ok && ok2
}

func killedAt(ctx context.Context, node, word, point string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if call, ok := callOf(point); ok {
		return w.KillAtEach(ctx, n, verbOf(word), call, "", nil)
	}
	switch point {
	case "its first request":
		return w.KillAtRequest(ctx, n, verbOf(word), 0)
	case "its last request":
		return w.KillAtRequest(ctx, n, verbOf(word), -1)
	}
	return fmt.Errorf("nobody knows where %q is: its first request, its last request, or each <call> that it makes", point)
}

func foldKilledAt(ctx context.Context, node, table, point string) error {
	call, ok := callOf(point)
	if !ok {
		return fmt.Errorf("a fold is killed at each <call> that it makes, not at %q", point)
	}
	w := world.From(ctx)
	return w.KillAtEach(ctx, w.Node(node), sut.Compact, call, "", func(*world.Node) (sut.Args, error) { return sut.A("table", table), nil })
}

// landingKilledAt keeps the rows under Values["crash.rows"] and the run under Values["crash.run"]: a step that lands the
// same run again finds them there. Whether they count as landed is for the steps after it to find out.
func landingKilledAt(ctx context.Context, node string, rows int, table, point string) error {
	call, ok := callOf(point)
	if !ok {
		return fmt.Errorf("a landing is killed at each <call> that it makes, not at %q", point)
	}
	w := world.From(ctx)
	n := w.Node(node)
	w.Table(table)
	made, run := fresh(w, table, rows, 3), w.NextRun(table)
	w.Values["crash.rows"], w.Values["crash.run"] = made, run
	return w.KillAtEach(ctx, n, sut.Land, call, "", func(c *world.Node) (sut.Args, error) {
		args, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: made})
		return args, err
	})
}
