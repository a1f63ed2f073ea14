package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// What a reader sees, and what the disk promises a reader.
func registerReading(s *Suite) {
	s.Step(`^(\w+) reads "([^"]*)"$`, reads)
	s.Step(`^(\w+) reads of "([^"]*)" what (\w+) reads$`, readsAlike)
	s.Step(`^(\w+) reads of "([^"]*)" exactly (?:the rows|what was) landed$`, readsLanded)
	s.Step(`^(\w+) reads of "([^"]*)":$`, readsRows)
	s.Step(`^(\w+) reads of "([^"]*)" as of "([^"]*)":$`, readsRowsAsOf)
	s.Step(`^(\w+) reads (\d+|no) rows? of "([^"]*)"$`, readsCount)
	s.Step(`^the next (push|pull) succeeds and (\w+) reads of "([^"]*)" what (\w+) reads$`, nextThenAlike)
	s.Step(`^(\w+) has no pointer for "([^"]*)"$`, noPointer)
	s.Step(`^(\w+)'s pointer for "([^"]*)" is what it was$`, pointerUnchanged)
	s.Step(`^every part that a pointer of (\w+)'s promises is there$`, promisesKept)
	s.Step(`^(\w+)'s store checks out$`, checksOut)
}

func reads(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.Query, sut.A("sql", `SELECT * FROM "`+table+`"`))
	return err
}

func readsAlike(ctx context.Context, node, table, other string) error {
	w := world.From(ctx)
	want, err := w.ReadAll(ctx, w.Node(other), table)
	if err != nil {
		return err
	}
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		got, err := w.ReadAll(ctx, n, table)
		if err != nil {
			return err
		}
		return verify.SameRows(fmt.Sprintf("%s reads of %q what %s reads", n.Name, table, other), want, got)
	})
}

func readsLanded(ctx context.Context, node, table string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		got, err := w.Read(ctx, n, table)
		if err != nil {
			return err
		}
		return verify.SameRows(fmt.Sprintf("%s reads of %q exactly the rows landed", n.Name, table), w.Expected(table), got)
	})
}

func readsRows(ctx context.Context, node, table string, t *godog.Table) error {
	return readsRowsAsOf(ctx, node, table, "", t)
}

func readsRowsAsOf(ctx context.Context, node, table, asOf string, t *godog.Table) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		got, err := w.ReadAll(ctx, n, table, "as_of", asOf)
		if err != nil {
			return err
		}
		return sameTable(fmt.Sprintf("what %s reads of %q", n.Name, table), t, got)
	})
}

// sameTable compares the columns that a feature's table names.
func sameTable(what string, t *godog.Table, got inspect.Grid) error {
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	columns := cells(t)[0]
	return verify.SameRows(what, world.GridOf(rows).Select(columns...), got.Select(columns...))
}

func readsCount(ctx context.Context, node, count, table string) error {
	if count == "no" {
		count = "0"
	}
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		got, err := w.Read(ctx, n, table)
		if err != nil {
			return err
		}
		return verify.Equal(fmt.Sprintf("the number of rows %s reads of %q", n.Name, table), count, fmt.Sprint(len(got.Rows)))
	})
}

func nextThenAlike(ctx context.Context, word, node, table, other string) error {
	if err := nextSucceeds(ctx, word, node); err != nil {
		return err
	}
	return readsAlike(ctx, node, table, other)
}

func noPointer(ctx context.Context, node, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		p, err := inspect.Pointer(n.Root(), table)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return verify.Fail(n.Name+" has no pointer for "+table, "no _pointer.json", "it names "+p.SnapshotID)
	})
}

// pointerUnchanged compares the pointer with what it was when the node's latest verb was asked.
func pointerUnchanged(ctx context.Context, node, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		now, err := n.Tree()
		if err != nil {
			return err
		}
		only := func(p string) bool { return p == "tables/"+table+"/_pointer.json" }
		return verify.Unchanged(n.Name+"'s pointer for "+table+" is what it was", n.Before().Only(only), now.Only(only))
	})
}

// promisesKept walks the chain of every pointer: each part named is there, opens and has its rows.
func promisesKept(ctx context.Context, node string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		tables, err := inspect.Tables(n.Root())
		if err != nil {
			return err
		}
		for _, table := range tables {
			what := fmt.Sprintf("every part that %s's pointer for %q promises is there", n.Name, table)
			chain, err := inspect.Chain(n.Root(), table)
			if err != nil {
				return verify.Fail(what, "a chain whose manifests are all here", err)
			}
			if len(chain) == 0 {
				continue
			}
			if err := verify.Nothing(what, inspect.Complete(chain[0].Parts)); err != nil {
				return err
			}
		}
		return nil
	})
}

func checksOut(ctx context.Context, node string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error { return w.Ok(ctx, n, sut.Check, nil) })
}
