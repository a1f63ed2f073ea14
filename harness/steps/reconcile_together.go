package steps

import (
	"context"
	"fmt"
	"slices"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the reconcile operation: columns that come at the same time.
func registerReconcileTogether(s *Suite) {
	s.Step(`^(\w+) pulls meanwhile, and both end$`, pullsMeanwhile)
	s.Step(`^(\w+) lands (\d+) runs into "([^"]*)" and pulls, all at once$`, landsAndPulls)
	s.Step(`^(\w+)'s landing of a new column into "([^"]*)" is killed after each (mkdir|fsync|rename) in the table$`, newColumnKilled)
	s.Step(`^(\w+)'s schema of "([^"]*)" has every column that was landed$`, hasEveryColumn)
}

func pullsMeanwhile(ctx context.Context, node string) error {
	w := world.From(ctx)
	held, ok := w.Values[heldKey].(*writer)
	if !ok {
		return fmt.Errorf("nothing is held that this could come in the middle of")
	}
	pull, err := w.Start(ctx, w.Node(node), sut.Pull, nil)
	if err != nil {
		return err
	}
	over := time.NewTimer(2 * patience) // it asks the bucket before it comes to the table
	defer over.Stop()
	select {
	case <-pull.Done():
	case <-over.C:
	}
	if err := held.task.Cont(); err != nil {
		return err
	}
	if err := held.finish(ctx); err != nil {
		return err
	}
	return ended(ctx, pull)
}

// ended waits for a verb that has to succeed.
func ended(ctx context.Context, t *world.Task) error {
	c, err := world.From(ctx).Finish(ctx, t)
	if err != nil {
		return err
	}
	return verify.Succeeded(c.Result)
}

func landsAndPulls(ctx context.Context, node string, runs int, table string) error {
	w := world.From(ctx)
	var all []*writer
	var pull *world.Task
	for i := range runs {
		x, err := startWriter(ctx, node, fmt.Sprintf("together%d", i+1), table, 1001+100*i)
		if err != nil {
			return err
		}
		all = append(all, x)
		if i == runs/4 {
			if pull, err = w.Start(ctx, w.Node(node), sut.Pull, nil); err != nil {
				return err
			}
		}
	}
	for _, x := range all {
		if err := x.finish(ctx); err != nil {
			return err
		}
		if err := verify.Succeeded(x.task.Result()); err != nil {
			return err
		}
	}
	return ended(ctx, pull)
}

func newColumnKilled(ctx context.Context, node, table, call string) error {
	w := world.From(ctx)
	rows, run := rowsOf(w, table, "killed", 501), "killed"
	w.Values["crash.rows"], w.Values["crash.run"] = rows, run
	return w.KillAtEach(ctx, w.Node(node), sut.Land, call, tableGlob(w, table), func(c *world.Node) (sut.Args, error) {
		args, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: rows})
		return args, err
	})
}

// hasEveryColumn wants a column of the schema for each that any row of a landing had, and no column twice.
func hasEveryColumn(ctx context.Context, node, table string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		fields, err := inspect.Schema(n.Root(), table)
		what := fmt.Sprintf("the columns of %s's schema of %q that were landed", n.Name, table)
		if err != nil {
			return verify.Fail(what, "a schema", err)
		}
		want := world.GridOf(w.Landed(table)).Columns
		var got []string
		for _, f := range fields {
			if slices.Contains(want, f.Name) {
				got = append(got, f.Name)
			}
		}
		return verify.SameSet(what, want, got)
	})
}
