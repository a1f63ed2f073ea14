package steps

import (
	"context"
	"fmt"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the bound-time operation: reads bounded to an instant.
func registerBound(s *Suite) {
	s.Step(`^(\w+) (reads|scans) of "([^"]*)" as of "([^"]*)" the items (none|"[^"]*"(?:(?:, | and )"[^"]*")*)$`, readsItemsAsOf)
	s.Step(`^(\w+)'s list of "([^"]*)" as of "([^"]*)" names (nothing|runs only|a snapshot only)$`, listAsOf)
	s.Step(`^(\w+) has landed 0 more of "([^"]*)"$`, landsNoMore)
}

func readsItemsAsOf(ctx context.Context, node, how, table, bound, items string) error {
	w := world.From(ctx)
	verb, args := sut.Query, sut.A("sql", `SELECT item FROM "`+table+`"`, "as_of", bound)
	if how == "scans" {
		verb, args = sut.Scan, sut.A("table", table, "as_of", bound)
	}
	c, err := w.Answer(ctx, w.Node(node), verb, args)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("the items %s %s of %q as of %s", node, how, table, bound)
	got, err := inspect.ParseGrid(c.Stdout)
	if err != nil {
		return verify.Fail(what, `{"columns": […], "rows": [[…]]}`, err)
	}
	want := inspect.Grid{Columns: []string{"item"}}
	for _, n := range names(items) {
		want.Rows = append(want.Rows, []any{n})
	}
	return verify.SameRows(what, want, got.Select("item"))
}

// listAsOf tells which kind of parts a bounded read takes: their rows alone do not say from where they come.
func listAsOf(ctx context.Context, node, table, bound, kinds string) error {
	list, _, err := listed(ctx, node, table, "as_of", bound)
	if err != nil {
		return err
	}
	var runs, snapshots int
	for _, f := range list {
		if strings.Contains(f, "/data/runs/") {
			runs++
		}
		if strings.Contains(f, "/data/snapshots/") {
			snapshots++
		}
	}
	got := "runs and a snapshot"
	switch {
	case len(list) == 0:
		got = "nothing"
	case snapshots == 0:
		got = "runs only"
	case runs == 0:
		got = "a snapshot only"
	}
	return verify.Equal(fmt.Sprintf("what %s's list of %q as of %s names", node, table, bound), kinds, got)
}

// landsNoMore is the row of an outline in which nothing happens at that place.
func landsNoMore(context.Context, string, string) error { return nil }
