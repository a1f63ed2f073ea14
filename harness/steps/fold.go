package steps

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of the fold operation: what a pass makes. Passes and reads that are held are in fold_paused.go.
func registerFold(s *Suite) {
	s.Step(`^(\w+)'s snapshot of "([^"]*)" folds exactly the runs ("[^"]*"(?: and "[^"]*")*)$`, foldsExactly)
	s.Step(`^run "([^"]*)" of "([^"]*)" stays on (\w+)$`, runStays)
	s.Step(`^(\w+) has made no snapshot of "([^"]*)"$`, madeNoSnapshot)
	s.Step(`^(\w+) remembers what it reads of "([^"]*)"$`, remembersRows)
	s.Step(`^(\w+) reads of "([^"]*)" what it remembers$`, readsRemembered)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" holds exactly what \w+ remembers, in (\d+) rows$`, snapshotHolds)
	s.Step(`^every part of (\w+)'s snapshot of "([^"]*)" has the columns:$`, snapshotColumns)
	s.Step(`^the rows of each part of (\w+)'s snapshot of "([^"]*)" are in the order of ("[^"]*"(?:, "[^"]*")*)$`, partsOrdered)
	s.Step(`^no part of (\w+)'s snapshot of "([^"]*)" holds two values of "([^"]*)", and the manifest says which$`, partsOfOneValue)
	registerFoldPaused(s)
}

// headSnapshot reads the snapshot that the pointer names.
func headSnapshot(ctx context.Context, node, table string) (inspect.SnapshotDoc, error) {
	chain, err := inspect.Chain(world.From(ctx).Node(node).Root(), table)
	if err != nil || len(chain) == 0 {
		return inspect.SnapshotDoc{}, verify.Fail(node+"'s snapshot of "+table, "a pointer whose snapshots are all here", fmt.Sprintf("%d snapshots, %v", len(chain), err))
	}
	return chain[0], nil
}

// headRows reads the parts of a node's snapshot of a table; what names them.
func headRows(ctx context.Context, node, table string) (what string, g inspect.Grid, err error) {
	head, err := headSnapshot(ctx, node, table)
	if err != nil {
		return "", g, err
	}
	g, err = inspect.ParquetRows(partPaths(head.Parts)...)
	return fmt.Sprintf("the parts of %s's snapshot of %q", node, table), g, err
}

func foldsExactly(ctx context.Context, node, table, runs string) error {
	head, err := headSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	var want []string
	for _, r := range names(runs) {
		want = append(want, r+"/"+world.From(ctx).Node(node).ID)
	}
	return verify.SameSet("includes_runs of "+node+"'s snapshot of "+table, want, head.IncludesRuns)
}

// runStays is the other row of an outline in which runs are collected.
func runStays(ctx context.Context, run, table, node string) error {
	_, _, err := runParts(ctx, run, table, node)
	return err
}

func madeNoSnapshot(ctx context.Context, node, table string) error {
	n := world.From(ctx).Node(node)
	now, err := n.Tree()
	if err != nil {
		return err
	}
	dir := "tables/" + table + "/data/snapshots/"
	only := func(p string) bool { return strings.HasPrefix(p, dir) && inspect.Meaningful(p) }
	return verify.Unchanged(node+" has made no snapshot of "+table, n.Before().Only(only), now.Only(only))
}

func remembersRows(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	g, err := w.ReadAll(ctx, w.Node(node), table)
	w.Values["fold.remembered"] = g
	return err
}

func remembered(ctx context.Context) (inspect.Grid, error) {
	g, ok := world.From(ctx).Values["fold.remembered"].(inspect.Grid)
	if !ok {
		return g, errors.New("no step has remembered what was read")
	}
	return g, nil
}

func readsRemembered(ctx context.Context, node, table string) error {
	want, err := remembered(ctx)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	return verify.SameRows(fmt.Sprintf("what %s reads of %q after a fold", node, table), want, got)
}

func partPaths(parts []inspect.Part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.Path)
	}
	return out
}

func snapshotHolds(ctx context.Context, node, table string, rows int) error {
	want, err := remembered(ctx)
	if err != nil {
		return err
	}
	what, got, err := headRows(ctx, node, table)
	if err != nil {
		return err
	}
	if err := verify.Equal(what+": rows", rows, len(got.Rows)); err != nil {
		return err
	}
	return verify.SameRows(what, want, got)
}

func snapshotColumns(ctx context.Context, node, table string, t *godog.Table) error {
	head, err := headSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	var want []string
	for _, line := range cells(t)[1:] {
		want = append(want, line[0]+" "+line[1])
	}
	for _, p := range head.Parts {
		cols, _, err := inspect.ParquetColumns(p.Path)
		if err != nil {
			return err
		}
		var got []string
		for _, c := range cols {
			if !strings.HasPrefix(c.Name, "_") {
				got = append(got, c.Name+" "+c.Physical)
			}
		}
		if err := verify.SameSet("the columns of the part "+p.Name, want, got); err != nil {
			return err
		}
	}
	return nil
}

// compareCells orders two values of one column; a null says nothing, since the law does not say where nulls lie.
func compareCells(a, b any) (int, error) {
	switch x := a.(type) {
	case nil:
		return 0, nil
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return bytes.Compare([]byte(x), []byte(y)), nil
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), nil
		}
	}
	if b == nil {
		return 0, nil
	}
	return 0, fmt.Errorf("nobody knows how %T and %T are ordered", a, b)
}

func partsOrdered(ctx context.Context, node, table, columns string) error {
	head, err := headSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	order := names(columns)
	for _, p := range head.Parts {
		g, err := inspect.ParquetRows(p.Path)
		if err != nil {
			return err
		}
		g = g.Select(order...)
		for i := 1; i < len(g.Rows); i++ {
			for c := range order {
				n, err := compareCells(g.Rows[i-1][c], g.Rows[i][c])
				if err != nil {
					return err
				}
				if n > 0 {
					return verify.Fail("the rows of the part "+p.Name+" of "+table, "in the order of "+columns, fmt.Sprintf("row %d is %v and row %d is %v", i, g.Rows[i-1], i+1, g.Rows[i]))
				}
				if n < 0 {
					break
				}
			}
		}
	}
	return nil
}

// partitionValues are the values a manifest gives for a part, whether as a list or by column.
func partitionValues(raw json.RawMessage) []string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) == 0 || d.Decode(&v) != nil {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, sayable(x))
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, sayable(x))
		}
	default:
		out = append(out, sayable(v))
	}
	return out
}

// sayable is a value as a manifest may write it: as itself or as its text.
func sayable(v any) string {
	if s, ok := v.(string); ok {
		switch s {
		case "true", "false":
			return s
		}
		var n json.Number
		if json.Unmarshal([]byte(s), &n) == nil {
			return inspect.Canonical(n)
		}
	}
	return inspect.Canonical(v)
}

func partsOfOneValue(ctx context.Context, node, table, column string) error {
	head, err := headSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	for _, p := range head.Parts {
		g, err := inspect.ParquetRows(p.Path)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, v := range g.Column(column) {
			found[sayable(v)] = true
		}
		what := fmt.Sprintf("the values of %q in the part %s of %q", column, p.Name, table)
		if len(found) != 1 {
			return verify.Fail(what, "one", fmt.Sprintf("%d: %v", len(found), found))
		}
		said := partitionValues(p.Partition)
		for v := range found {
			told := false
			for _, s := range said {
				told = told || s == v
			}
			if err := verify.That(told, "what the manifest says of the part "+p.Name, v, string(p.Partition)); err != nil {
				return err
			}
		}
	}
	return nil
}
