package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Passes and reads of one machine that are held while others go on.
func registerFoldPaused(s *Suite) {
	s.Step(`^(\w+)'s fold of "([^"]*)" is held (when its snapshot lies ready|once the pointer is replaced)$`, foldHeldReady)
	s.Step(`^another fold of "([^"]*)" on (\w+) goes as far as it can$`, anotherFold)
	s.Step(`^the held fold is let go, and both folds end$`, bothLandingsEnd)
	s.Step(`^what was published of "([^"]*)" on (\w+) meanwhile is still in its chain$`, publishedStays)
	s.Step(`^no run of "([^"]*)" on (\w+) is folded twice$`, foldedOnce)
	s.Step(`^the folded runs of "([^"]*)" on (\w+) are collected$`, foldedCollected)
	s.Step(`^(\w+)'s pointer for "([^"]*)" names another snapshot, whose parent is the one before$`, pointerFollows)

	s.Step(`^(\w+)'s read of "([^"]*)" is held as it opens the first part$`, readHeld)
	s.Step(`^the held read goes on to its end$`, heldReadEnds)
	s.Step(`^the held read has given exactly what was landed before it began$`, heldReadGave)
	s.Step(`^the held read has given exactly the rows landed by now of "([^"]*)"$`, heldReadGaveAll)
	s.Step(`^(\w+)'s list of "([^"]*)" names no part of a run$`, listNamesNoRun)
}

// foldHeldReady holds a pass where it has done all but publish, or has just published and not ended.
func foldHeldReady(ctx context.Context, node, table, where string) (err error) {
	w := world.From(ctx)
	n, args := w.Node(node), sut.A("table", table)
	dir := ".contextful/context/" + w.Title() + "/tables/" + table
	x := &writer{table: table}
	if where == "once the pointer is replaced" {
		x.task, err = w.HoldAt(ctx, n, sut.Compact, args, "rename", dir+"/_pointer.json", 1)
	} else {
		x.task, err = w.HoldAfterLast(ctx, n, sut.Compact, args, "call", dir+"/data/snapshots*")
	}
	w.Values[heldKey] = x
	return err
}

// anotherFold starts a pass beside the one that is held and gives it all the time it can use; what it published is kept.
func anotherFold(ctx context.Context, table, node string) error {
	w := world.From(ctx)
	held, ok := w.Values[heldKey].(*writer)
	if !ok {
		return errors.New("no fold is held that this could come beside")
	}
	before := pointed(w, node, table)
	other, err := startWriter(ctx, node, "", table, 0)
	if err != nil {
		return err
	}
	w.Values[writersKey] = []*writer{held, other}
	if _, err = w.Settle(ctx, other.task); err != nil {
		return err
	}
	w.Values["fold.meanwhile"] = ""
	if now := pointed(w, node, table); now != before {
		w.Values["fold.meanwhile"] = now
	}
	return nil
}

// pointed is the snapshot that the pointer names now, "" where there is none.
func pointed(w *world.World, node, table string) string {
	p, err := inspect.Pointer(w.Node(node).Root(), table)
	if err != nil {
		return ""
	}
	return p.SnapshotID
}

func publishedStays(ctx context.Context, table, node string) error {
	w := world.From(ctx)
	id, ok := w.Values["fold.meanwhile"].(string)
	if !ok {
		return errors.New("no fold came in the middle")
	}
	chain, err := inspect.Chain(w.Node(node).Root(), table)
	what := fmt.Sprintf("the chain of %q on %s", table, node)
	if err != nil {
		return verify.Fail(what, "whole", err)
	}
	var ids []string
	for _, s := range chain {
		ids = append(ids, s.SnapshotID)
		if s.SnapshotID == id {
			return nil
		}
	}
	// An implementation whose passes wait for each other published nothing meanwhile.
	return verify.That(id == "", what, "the snapshot "+id+", published while the other pass was paused", ids)
}

func foldedOnce(ctx context.Context, table, node string) error {
	chain, err := inspect.Chain(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return verify.Fail("the chain of "+table, "whole", err)
	}
	in := map[string]string{}
	for _, s := range chain {
		for _, r := range s.IncludesRuns {
			if other, twice := in[r]; twice {
				return verify.Fail("the snapshot that folds run "+r+" of "+table, "one", other+" and "+s.SnapshotID)
			}
			in[r] = s.SnapshotID
		}
	}
	return nil
}

// foldedCollected removes the directories of all runs that the chain has folded: from now on only the snapshots tell.
func foldedCollected(ctx context.Context, table, node string) error {
	root := world.From(ctx).Node(node).Root()
	chain, err := inspect.Chain(root, table)
	if err != nil {
		return err
	}
	runs, err := inspect.Runs(root, table)
	if err != nil {
		return err
	}
	folded := map[string]bool{}
	for _, s := range chain {
		for _, r := range s.IncludesRuns {
			folded[r] = true
		}
	}
	for _, r := range runs {
		if folded[r.Key()] {
			if err := os.RemoveAll(r.Dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func pointerFollows(ctx context.Context, node, table string) error {
	chain, err := inspect.Chain(world.From(ctx).Node(node).Root(), table)
	what := fmt.Sprintf("%s's pointer for %q", node, table)
	if err != nil {
		return verify.Fail(what, "a chain that is whole", err)
	}
	return verify.That(len(chain) == 2, what, "a snapshot and its parent, which was there before", fmt.Sprintf("%d snapshots", len(chain)))
}

// readHeld holds a read when it opens the first part: it has resolved by then. What it must answer is what was landed so
// far.
func readHeld(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	return holdQuery(ctx, node, `SELECT * FROM "`+table+`"`, "tables/"+table+"/data/*.parquet", w.Expected(table))
}

// heldRead is a statement that was held, and what it has to answer.
type heldRead struct {
	task *world.Task
	want inspect.Grid
	call world.Call
}

func holdQuery(ctx context.Context, node, sql, glob string, want inspect.Grid) error {
	w := world.From(ctx)
	n, args := w.Node(node), sut.A("sql", sql)
	within := ".contextful/context/" + w.Title() + "/" + glob
	nth, err := firstPart(ctx, w, n, args, within)
	if err != nil {
		return err
	}
	task, err := w.HoldAt(ctx, n, sut.Query, args, "create", within, nth)
	w.Values["fold.read"] = &heldRead{task: task, want: want}
	return err
}

// firstPart is which of a query's calls opens the first part: it may read folded-runs segments before that, and what it reads
// of them is no row.
func firstPart(ctx context.Context, w *world.World, n *world.Node, args sut.Args, glob string) (int, error) {
	segments, err := filepath.Glob(filepath.Join(n.Root(), "tables", "*", "data", "snapshots", "*", "folded-*.parquet"))
	if err != nil || len(segments) == 0 {
		return 1, err
	}
	calls, err := w.FindCalls(ctx, n, sut.Query, args, "create", glob)
	if err != nil {
		return 0, err
	}
	for i, c := range calls {
		if !strings.Contains(c.Line, "/folded-") {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("the read of %s opens no part", n.Name)
}

func heldReadEnds(ctx context.Context) error {
	w := world.From(ctx)
	r, ok := w.Values["fold.read"].(*heldRead)
	if !ok {
		return errors.New("no read is held")
	}
	if err := r.task.Cont(); err != nil {
		return err
	}
	c, err := w.Finish(ctx, r.task)
	r.call = c
	return err
}

func heldReadGave(ctx context.Context) error {
	r, ok := world.From(ctx).Values["fold.read"].(*heldRead)
	if !ok {
		return errors.New("no read was held")
	}
	return r.gave(r.want)
}

// heldReadGaveAll is of a read that had to begin again.
func heldReadGaveAll(ctx context.Context, table string) error {
	w := world.From(ctx)
	r, ok := w.Values["fold.read"].(*heldRead)
	if !ok {
		return errors.New("no read was held")
	}
	return r.gave(w.Expected(table))
}

func (r *heldRead) gave(want inspect.Grid) error {
	if err := verify.Succeeded(r.call.Result); err != nil {
		return err
	}
	got, err := inspect.ParseGrid(r.call.Stdout)
	if err != nil {
		return verify.Fail("the answer of the read that was held", `{"columns": […], "rows": [[…]]}`, err)
	}
	return verify.SameRows("what the read that was held has given", want, got.Producer())
}

func listNamesNoRun(ctx context.Context, node, table string) error {
	list, _, err := listed(ctx, node, table)
	if err != nil {
		return err
	}
	var runs []string
	for _, f := range list {
		if strings.Contains(f, "/data/runs/") {
			runs = append(runs, f)
		}
	}
	return verify.Nothing(fmt.Sprintf("the parts of runs in %s's list of %q", node, table), runs)
}
