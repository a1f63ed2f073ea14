package steps

import (
	"context"
	"fmt"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of the available-time operation: what a landing into a vintage table writes.
func registerVintageLanding(s *Suite) {
	s.Step(`^run "([^"]*)" of "([^"]*)" holds on (\w+) (\d+) rows?$`, runHoldsCount)
	s.Step(`^run "([^"]*)" of "([^"]*)" holds on (\w+) the rows:$`, runHolds)
	s.Step(`^the runs "([^"]*)" and "([^"]*)" of "([^"]*)" together hold on (\w+) (\d+) rows?$`, runsHoldCount)
	s.Step(`^(\w+) lands the same rows of "([^"]*)" as runs "([^"]*)" and "([^"]*)", the first held just before its manifest:$`, landsTheSameTwice)
}

// runRows reads what a run's parts hold, after comparing with what its manifest says they do.
func runRows(node, table, run string) func(ctx context.Context) (inspect.Grid, error) {
	return func(ctx context.Context) (inspect.Grid, error) {
		n := world.From(ctx).Node(node)
		doc, err := inspect.Run(n.Root(), table, run, n.ID)
		if err != nil {
			return inspect.Grid{}, verify.Fail(fmt.Sprintf("run %s of %q is committed on %s", run, table, node), "a manifest", err)
		}
		var paths []string
		rows := int64(0)
		for _, p := range doc.Parts {
			paths = append(paths, p.Path)
			rows += p.Rows
		}
		grid, err := inspect.ParquetRows(paths...)
		if err != nil {
			return inspect.Grid{}, err
		}
		what := fmt.Sprintf("the rows of run %s of %q by its manifest's row_count, by its list of parts and in them", run, table)
		return grid, verify.Equal(what, fmt.Sprint(len(grid.Rows), len(grid.Rows), len(grid.Rows)), fmt.Sprint(doc.RowCount, rows, len(grid.Rows)))
	}
}

func runHoldsCount(ctx context.Context, run, table, node string, rows int) error {
	grid, err := runRows(node, table, run)(ctx)
	if err != nil {
		return err
	}
	return verify.Equal(fmt.Sprintf("the number of rows in run %s of %q on %s", run, table, node), rows, len(grid.Rows))
}

func runHolds(ctx context.Context, run, table, node string, t *godog.Table) error {
	grid, err := runRows(node, table, run)(ctx)
	if err != nil {
		return err
	}
	return sameTable(fmt.Sprintf("the rows of run %s of %q on %s", run, table, node), t, grid)
}

// runsHoldCount counts the rows of two runs, of which one may not have been committed.
func runsHoldCount(ctx context.Context, one, other, table, node string, rows int) error {
	n := world.From(ctx).Node(node)
	got := 0
	for _, run := range []string{one, other} {
		if _, err := inspect.Run(n.Root(), table, run, n.ID); err != nil {
			continue
		}
		grid, err := runRows(node, table, run)(ctx)
		if err != nil {
			return err
		}
		got += len(grid.Rows)
	}
	return verify.Equal(fmt.Sprintf("the number of rows in the runs %s and %s of %q on %s", one, other, table, node), rows, got)
}

// landsTheSameTwice holds the first landing where all but its manifest is written, and lets it go on once the other has ended or waits for it.
func landsTheSameTwice(ctx context.Context, node, table, one, other string, t *godog.Table) error {
	w := world.From(ctx)
	n := w.Node(node)
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	args := func(run string) func(*world.Node) (sut.Args, error) {
		return func(c *world.Node) (sut.Args, error) {
			a, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: rows})
			return a, err
		}
	}
	path := "data/runs/" + one + "/" + n.ID + "/_manifest.json"
	held, err := hold(ctx, node, sut.Land, table, path, "just before its manifest", args(one))
	if err != nil {
		return err
	}
	a, err := args(other)(n)
	if err != nil {
		return err
	}
	second, err := w.Start(ctx, n, sut.Land, a)
	if err != nil {
		return err
	}
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case <-second.Done():
	case <-over.C:
	}
	if err := held.Cont(); err != nil {
		return err
	}
	both := []*writer{{task: held, table: table, run: one, rows: rows}, {task: second, table: table, run: other, rows: rows}}
	w.Values[writersKey] = both
	for _, x := range both {
		if err := x.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}
