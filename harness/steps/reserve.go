package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the reserve operation: the columns that the store writes, looked at in the parts themselves, and its sequence.
func registerReserve(s *Suite) {
	s.Step(`^(\w+) has landed (\d+) rows of "([^"]*)" as run "([^"]*)"$`, hasLandedNRun)
	s.Step(`^(\w+) lands (\d+) rows of "([^"]*)" as run "([^"]*)"(?:, for the site "([^"]*)")?$`, landsNRun)
	s.Step(`^the parts of run "([^"]*)" of "([^"]*)" on (\w+) hold (_\w+) as UTC nanoseconds, never null$`, partsHoldInstants)
	s.Step(`^every row of run "([^"]*)" of "([^"]*)" on (\w+) has (the run's commit instant|the run's sequence|"[^"]*") as (_\w+)$`, everyRowHas)
	s.Step(`^run "([^"]*)" of "([^"]*)" on (\w+) was committed at "([^"]*)"$`, committedAt)
	s.Step(`^(\w+) reads of "([^"]*)" (\d+) rows with "([^"]*)" as (_\w+) and "([^"]*)" as (_\w+)$`, readsRowsWith)
	s.Step(`^the parts of run "([^"]*)" of "([^"]*)" on (\w+) have no column (\w+)$`, partsLack)
	s.Step(`^(\w+) reads of "([^"]*)" no column (\w+)$`, readsNoColumn)

	s.Step(`^runs ("[^"]*"(?:, "[^"]*")+) of "([^"]*)" on (\w+) have rising sequences, one for all rows of each$`, risingSequences)
	s.Step(`^run "([^"]*)" of "([^"]*)" on (\w+) has a sequence above every other row's$`, sequenceAbove)
	s.Step(`^the runs of (\w+)'s are collected from "([^"]*)" on (\w+)$`, runsCollected)
	s.Step(`^(\w+) keeps a copy of its counter file of "([^"]*)"$`, counterKept)
	s.Step(`^(\w+)'s counter file of "([^"]*)" is (deleted|the kept copy|empty)$`, counterLost)

	s.Step(`^another landing into "([^"]*)" on (\w+), of run "([^"]*)", goes as far as it can$`, anotherLanding)
	s.Step(`^the held landing is let go, and both landings end$`, bothLandingsEnd)
	s.Step(`^what the reader saw of "([^"]*)" on (\w+) has no value above a row that came later$`, noValueBelow)
	s.Step(`^the landings that succeeded are all in "([^"]*)" on (\w+), no value twice$`, allLandedOnce)
}

func hasLandedNRun(ctx context.Context, node string, n int, table, run string) error {
	w := world.From(ctx)
	return w.Land(ctx, w.Node(node), world.Landing{Table: table, Run: run, Rows: fresh(w, table, n, 3)})
}

func landsNRun(ctx context.Context, node string, n int, table, run, site string) error {
	w := world.From(ctx)
	return land(ctx, w, node, world.Landing{Table: table, Run: run, Site: site, Rows: fresh(w, table, n, 3)})
}

// runParts finds a run's parts through its manifest.
func runParts(ctx context.Context, run, table, node string) (inspect.RunDoc, []string, error) {
	n := world.From(ctx).Node(node)
	doc, err := inspect.Run(n.Root(), table, run, n.ID)
	if err != nil {
		return doc, nil, verify.Fail("the manifest of run "+run+" of "+table, "a committed run", err)
	}
	var paths []string
	for _, p := range doc.Parts {
		paths = append(paths, p.Path)
	}
	return doc, paths, nil
}

func partsHoldInstants(ctx context.Context, run, table, node, column string) error {
	_, paths, err := runParts(ctx, run, table, node)
	if err != nil {
		return err
	}
	for _, p := range paths {
		cols, _, err := inspect.ParquetColumns(p)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(cols, func(c inspect.ColumnDoc) bool { return c.Name == column })
		what := column + " in the part " + p
		if i < 0 {
			return verify.Fail(what, "a column", "none of that name")
		}
		got := cols[i].Physical + " " + cols[i].Logical
		right := cols[i].Physical == "INT64" && strings.Contains(got, "isAdjustedToUTC=true") && strings.Contains(got, "timeUnit=nanoseconds")
		if err := verify.That(right, what, "INT64, a timestamp adjusted to UTC in nanoseconds", got); err != nil {
			return err
		}
	}
	g, err := inspect.ParquetRows(paths...)
	if err != nil {
		return err
	}
	return verify.That(!slices.Contains(g.Column(column), nil), column+" of run "+run, "never null", "a null")
}

// everyRowHas compares an injected column, in the parts themselves, with what the landing was given or its manifest says.
func everyRowHas(ctx context.Context, run, table, node, what, column string) error {
	doc, paths, err := runParts(ctx, run, table, node)
	if err != nil {
		return err
	}
	want := strings.Trim(what, `"`)
	switch {
	case what == "the run's commit instant":
		want = sut.Instant(doc.CommittedAt)
	case what == "the run's sequence" && doc.CommitSeq != nil:
		want = strconv.FormatInt(*doc.CommitSeq, 10)
	case what == "the run's sequence":
		seq, err := sequence(ctx, run, table, node)
		if err != nil {
			return err
		}
		want = strconv.FormatInt(seq, 10)
	}
	g, err := inspect.ParquetRows(paths...)
	if err != nil {
		return err
	}
	cells := g.Column(column)
	if len(cells) == 0 {
		return verify.Fail(column+" of run "+run+" of "+table, want, "no such column, or no row")
	}
	for _, c := range cells {
		if err := verify.Equal(column+" of run "+run+" of "+table, inspect.Canonical(want), inspect.Canonical(c)); err != nil {
			return err
		}
	}
	return nil
}

func committedAt(ctx context.Context, run, table, node, instant string) error {
	doc, _, err := runParts(ctx, run, table, node)
	if err != nil {
		return err
	}
	want, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil {
		return err
	}
	return verify.Equal("the commit instant of run "+run+" of "+table, sut.Instant(want), sut.Instant(doc.CommittedAt))
}

func readsRowsWith(ctx context.Context, node, table string, rows int, one, column, two, other string) error {
	w := world.From(ctx)
	got, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	want := inspect.Grid{Columns: []string{column, other}}
	for range rows {
		want.Rows = append(want.Rows, []any{one, two})
	}
	return verify.SameRows(fmt.Sprintf("%s and %s of what %s reads of %q", column, other, node, table), want, got.Select(column, other))
}

func partsLack(ctx context.Context, run, table, node, column string) error {
	_, paths, err := runParts(ctx, run, table, node)
	if err != nil {
		return err
	}
	g, err := inspect.ParquetRows(paths...)
	if err != nil {
		return err
	}
	return verify.That(g.Index(column) < 0, "the columns of run "+run+" of "+table, "none named "+column, g.Columns)
}

func readsNoColumn(ctx context.Context, node, table, column string) error {
	w := world.From(ctx)
	g, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	return verify.That(g.Index(column) < 0, fmt.Sprintf("the columns %s reads of %q", node, table), "none named "+column, g.Columns)
}

// sequence is the one _commit_seq of a run's rows, as its parts have it.
func sequence(ctx context.Context, run, table, node string) (int64, error) {
	_, paths, err := runParts(ctx, run, table, node)
	if err != nil {
		return 0, err
	}
	g, err := inspect.ParquetRows(paths...)
	if err != nil {
		return 0, err
	}
	what := "_commit_seq of run " + run + " of " + table
	found := map[int64]bool{}
	for _, c := range g.Column("_commit_seq") {
		v, ok := c.(int64)
		if !ok {
			return 0, verify.Fail(what, "an int64 in every row", fmt.Sprintf("%T %v", c, c))
		}
		found[v] = true
	}
	if len(found) != 1 {
		return 0, verify.Fail(what, "one value in all rows", fmt.Sprint(len(found), " values"))
	}
	for v := range found {
		return v, nil
	}
	return 0, nil
}

func risingSequences(ctx context.Context, runs, table, node string) error {
	before := int64(-1 << 62)
	for _, run := range names(runs) {
		seq, err := sequence(ctx, run, table, node)
		if err != nil {
			return err
		}
		if err := verify.That(seq > before, "the sequence of run "+run+" of "+table, fmt.Sprint("above ", before), seq); err != nil {
			return err
		}
		before = seq
	}
	return nil
}

// sequences lists _commit_seq of every row a reader sees, by the row's id.
func sequences(g inspect.Grid) (map[string]int64, error) {
	out := map[string]int64{}
	at, ids := g.Column("_commit_seq"), g.Column("id")
	for i, c := range at {
		v, err := strconv.ParseInt(inspect.Canonical(c), 10, 64)
		if err != nil {
			return nil, verify.Fail("_commit_seq of every row", "an integer", inspect.Canonical(c))
		}
		out[inspect.Canonical(ids[i])] = v
	}
	return out, nil
}

func sequenceAbove(ctx context.Context, run, table, node string) error {
	own, err := sequence(ctx, run, table, node)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	rows, ok := w.LandedAs(table, run, w.Node(node))
	if !ok {
		return fmt.Errorf("%s has not landed run %s of %s", node, run, table)
	}
	g, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	seen, err := sequences(g)
	if err != nil {
		return err
	}
	mine := map[string]bool{}
	for _, r := range rows {
		mine[inspect.Canonical(r["id"])] = true
	}
	for id, seq := range seen {
		if err := verify.That(mine[id] || seq < own, "the sequence of run "+run+" of "+table, fmt.Sprintf("above %d, which row %s has", seq, id), own); err != nil {
			return err
		}
	}
	return nil
}

// runsCollected removes the directories of another node's runs, as a collection does once they are folded and old.
func runsCollected(ctx context.Context, owner, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	all, err := inspect.Runs(n.Root(), table)
	if err != nil {
		return err
	}
	gone := 0
	for _, r := range all {
		if r.NodeID == w.Node(owner).ID {
			gone++
			if err := os.RemoveAll(r.Dir); err != nil {
				return err
			}
		}
	}
	if gone == 0 {
		return verify.Fail(fmt.Sprintf("%s has a run of %s's to collect", node, owner), "a committed run", "none")
	}
	return nil
}

func counterFile(w *world.World, node, table string) string {
	return w.Node(node).TablePath(table, "_commit_seq")
}

func counterKept(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	text, err := os.ReadFile(counterFile(w, node, table))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil // an implementation without one has none to lose
	}
	w.Values["reserve.counter"] = text
	return err
}

func counterLost(ctx context.Context, node, table, becomes string) error {
	w := world.From(ctx)
	path := counterFile(w, node, table)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept, _ := w.Values["reserve.counter"].([]byte)
	switch becomes {
	case "deleted":
		return os.Remove(path)
	case "empty":
		kept = nil
	}
	return os.WriteFile(path, kept, 0o644)
}

// anotherLanding starts a landing beside the one that is held and gives it all the time it can use: where writers wait for
// each other it waits now, and elsewhere it has ended.
func anotherLanding(ctx context.Context, table, node, run string) error {
	w := world.From(ctx)
	held, ok := w.Values[heldKey].(*writer)
	if !ok {
		return errors.New("no landing is held that this could come beside")
	}
	other, err := startWriter(ctx, node, run, table, 801)
	if err != nil {
		return err
	}
	w.Values[writersKey] = []*writer{held, other}
	_, err = w.Settle(ctx, other.task)
	return err
}

func bothLandingsEnd(ctx context.Context) error {
	both, _ := world.From(ctx).Values[writersKey].([]*writer)
	if len(both) != 2 {
		return errors.New("there are no two landings under way")
	}
	if err := both[0].task.Cont(); err != nil {
		return err
	}
	for _, x := range both {
		if err := x.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// noValueBelow holds the answer read while one landing was held against what is there in the end: what is new since then
// has higher values than anything that was read.
func noValueBelow(ctx context.Context, table, node string) error {
	w := world.From(ctx)
	c, err := outcome(ctx, "read", node)
	if err != nil {
		return err
	}
	if err := verify.Succeeded(c.Result); err != nil {
		return err
	}
	first, err := inspect.ParseGrid(c.Stdout)
	if err != nil {
		return err
	}
	seen, err := sequences(first)
	if err != nil {
		return err
	}
	highest := int64(0)
	for _, v := range seen {
		highest = max(highest, v)
	}
	g, err := w.ReadAll(ctx, w.Node(node), table)
	if err != nil {
		return err
	}
	now, err := sequences(g)
	if err != nil {
		return err
	}
	for id, v := range now {
		if _, old := seen[id]; !old && v <= highest {
			return verify.Fail("a row of "+table+" that came after a read", fmt.Sprint("a _commit_seq above ", highest, ", which the read saw"), fmt.Sprintf("row %s has %d", id, v))
		}
	}
	return nil
}

func allLandedOnce(ctx context.Context, table, node string) error {
	w := world.From(ctx)
	if err := readsEachOnce(ctx, node, table); err != nil {
		return err
	}
	owner := map[int64]string{}
	all, err := inspect.Runs(w.Node(node).Root(), table)
	if err != nil {
		return err
	}
	for _, r := range all {
		seq, err := sequence(ctx, r.RunID, table, node)
		if err != nil {
			return err
		}
		if other, twice := owner[seq]; twice {
			return verify.Fail("the sequences of the runs of "+table, "each once", fmt.Sprintf("%d, of %s and of %s", seq, other, r.RunID))
		}
		owner[seq] = r.RunID
	}
	return nil
}
