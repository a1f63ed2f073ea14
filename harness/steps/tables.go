package steps

import (
	"context"
	"fmt"
	"strings"

	"contextful/harness/sut"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Declarations, landings, and the ready-made settings built from them.
func registerTables(s *Suite) {
	s.Step(`^(?:a|the) table "([^"]*)" keyed by "([^"]*)"$`, keyed)
	s.Step(`^(?:a|the) table "([^"]*)" keyed by "([^"]*)" and ordered by "([^"]*)"$`, keyedOrdered)
	s.Step(`^(?:a|the) table "([^"]*)" without a key$`, unkeyed)
	s.Step(`^"([^"]*)" is partitioned by "([^"]*)"$`, partitioned)
	s.Step(`^"([^"]*)" is replaced by every landing$`, replaced)
	s.Step(`^"([^"]*)" declares the columns?:$`, declaresColumns)
	s.Step(`^"([^"]*)" declares (\w+) as (.+)$`, declaresExtra)
	s.Step(`^(\w+)'s declaration of "([^"]*)" now says (primary_key|partition_by|order_by|write_mode) is "([^"]*)"$`, nowSays)
	s.Step(`^(\w+) declares "([^"]*)" no more$`, declaresNoMore)

	s.Step(`^(\w+) has landed (\d+) rows of "([^"]*)"$`, hasLandedN)
	s.Step(`^(\w+) has landed rows of "([^"]*)":$`, hasLandedRows)
	s.Step(`^(\w+) has landed rows of "([^"]*)" as run "([^"]*)":$`, hasLandedRun)
	s.Step(`^(\w+) lands (\d+) rows of "([^"]*)"$`, landsN)
	s.Step(`^(\w+) lands rows of "([^"]*)":$`, landsRows)
	s.Step(`^(\w+) lands rows of "([^"]*)" as run "([^"]*)":$`, landsRun)
	s.Step(`^(\w+) starts to land (\d+) rows of "([^"]*)"$`, startsToLand)

	s.Step(`^(\w+) has pushed "([^"]*)"$`, hasPushedTable)
	s.Step(`^(\w+) has pushed "([^"]*)", folded into (\d+) partitions?$`, hasPushedFolded)
	s.Step(`^(\w+) has folded "([^"]*)" into (\d+) partitions?$`, hasFoldedInto)
}

func list(phrase string) []string {
	var out []string
	for _, p := range strings.Split(phrase, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func keyed(ctx context.Context, table, key string) error {
	world.From(ctx).Declare(&world.Table{Name: table, PrimaryKey: list(key), Columns: map[string]string{}, Extra: map[string]string{}})
	return nil
}

func keyedOrdered(ctx context.Context, table, key, order string) error {
	world.From(ctx).Declare(&world.Table{Name: table, PrimaryKey: list(key), OrderBy: order, Columns: map[string]string{}, Extra: map[string]string{}})
	return nil
}

func unkeyed(ctx context.Context, table string) error {
	world.From(ctx).Declare(&world.Table{Name: table, Columns: map[string]string{}, Extra: map[string]string{}})
	return nil
}

func partitioned(ctx context.Context, table, by string) error {
	world.From(ctx).Table(table).PartitionBy = list(by)
	return nil
}

func replaced(ctx context.Context, table string) error {
	world.From(ctx).Table(table).WriteMode = "replace"
	return nil
}

// declaresColumns takes a table of column and type.
func declaresColumns(ctx context.Context, table string, t *godog.Table) error {
	decl := world.From(ctx).Table(table)
	for _, row := range cells(t) {
		if len(row) != 2 {
			return fmt.Errorf("a declared column is a name and a type, not %v", row)
		}
		if row[0] != "column" {
			decl.Columns[row[0]] = row[1]
		}
	}
	return nil
}

func declaresExtra(ctx context.Context, table, key, value string) error {
	t := world.From(ctx).Table(table)
	if t.Extra == nil {
		t.Extra = map[string]string{}
	}
	t.Extra[key] = value
	return nil
}

// nowSays changes one node's declaration of a table that may already hold data.
func nowSays(ctx context.Context, node, table, key, value string) error {
	w := world.From(ctx)
	t := w.Node(node).Table(table).Copy()
	switch key {
	case "primary_key":
		t.PrimaryKey = list(value)
	case "partition_by":
		t.PartitionBy = list(value)
	case "order_by":
		t.OrderBy = value
	default:
		t.WriteMode = value
	}
	w.Node(node).Declare(t)
	return nil
}

// declaresNoMore takes a table out of one node's declaration; its files stay.
func declaresNoMore(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	t := w.Node(node).Table(table).Copy()
	t.Absent = true
	w.Node(node).Declare(t)
	return nil
}

func cells(t *godog.Table) [][]string {
	var out [][]string
	for _, r := range t.Rows {
		var line []string
		for _, c := range r.Cells {
			line = append(line, c.Value)
		}
		out = append(out, line)
	}
	return out
}

// fresh makes rows nobody has landed into the table yet.
func fresh(w *world.World, table string, n, partitions int) []world.Row {
	return w.MakeRows(len(w.Landed(table))+1, n, partitions, "first")
}

func hasLandedN(ctx context.Context, node string, n int, table string) error {
	w := world.From(ctx)
	return w.Land(ctx, w.Node(node), world.Landing{Table: table, Rows: fresh(w, table, n, 3)})
}

func hasLandedRows(ctx context.Context, node, table string, t *godog.Table) error {
	return hasLandedRun(ctx, node, table, "", t)
}

func hasLandedRun(ctx context.Context, node, table, run string, t *godog.Table) error {
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	w := world.From(ctx)
	return w.Land(ctx, w.Node(node), world.Landing{Table: table, Run: run, Rows: rows})
}

func landsN(ctx context.Context, node string, n int, table string) error {
	w := world.From(ctx)
	return land(ctx, w, node, world.Landing{Table: table, Rows: fresh(w, table, n, 3)})
}

func landsRows(ctx context.Context, node, table string, t *godog.Table) error {
	return landsRun(ctx, node, table, "", t)
}

func landsRun(ctx context.Context, node, table, run string, t *godog.Table) error {
	rows, err := world.RowsOf(cells(t))
	if err != nil {
		return err
	}
	return land(ctx, world.From(ctx), node, world.Landing{Table: table, Run: run, Rows: rows})
}

// land asks for a landing whatever comes of it; its rows are expected only if it succeeds.
func land(ctx context.Context, w *world.World, node string, l world.Landing) error {
	n := w.Node(node)
	args, run, err := w.LandArgs(n, l)
	if err != nil {
		return err
	}
	c, err := w.Do(ctx, n, sut.Land, args)
	if err == nil && c.OK() {
		w.Remember(l.Table, run, n, l.Rows)
	}
	return err
}

func startsToLand(ctx context.Context, node string, n int, table string) error {
	w := world.From(ctx)
	args, _, err := w.LandArgs(w.Node(node), world.Landing{Table: table, Rows: fresh(w, table, n, 3)})
	if err != nil {
		return err
	}
	_, err = w.Start(ctx, w.Node(node), sut.Land, args)
	return err
}

// hasPushedTable lands twelve rows and pushes them as they are.
func hasPushedTable(ctx context.Context, node, table string) error {
	if err := hasLandedN(ctx, node, 12, table); err != nil {
		return err
	}
	return hasDone(ctx, node, "pushed")
}

func hasPushedFolded(ctx context.Context, node, table string, partitions int) error {
	if err := hasFoldedInto(ctx, node, table, partitions); err != nil {
		return err
	}
	return hasDone(ctx, node, "pushed")
}

func hasFoldedInto(ctx context.Context, node, table string, partitions int) error {
	w := world.From(ctx)
	rows := fresh(w, table, 4*partitions, partitions)
	if err := w.Land(ctx, w.Node(node), world.Landing{Table: table, Rows: rows}); err != nil {
		return err
	}
	return hasFolded(ctx, node, table)
}
