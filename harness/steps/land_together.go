package steps

import (
	"context"
	"fmt"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Writers that are held at a call of theirs, and what others do meanwhile.
func registerTogether(s *Suite) {
	const where = `(after its first mkdir|just before its manifest|just before the pointer)`
	s.Step(`^(\w+)'s landing of run "([^"]*)" into "([^"]*)" is held `+where+`$`, landingHeld)
	s.Step(`^(\w+)'s fold of "([^"]*)" is held `+where+`$`, foldHeld)
	s.Step(`^(\w+) lands run "([^"]*)" into "([^"]*)" meanwhile, and both end$`, landsMeanwhile)
	s.Step(`^(\w+) folds "([^"]*)" meanwhile, and both end$`, foldsMeanwhile)
	s.Step(`^the held (landing|fold) goes on to its end$`, heldEnds)
	s.Step(`^(\w+) lands (\d+) runs into "([^"]*)" and folds it, all at once$`, allAtOnce)
	s.Step(`^at least one of them has succeeded$`, oneSucceeded)
	s.Step(`^(\w+) reads every row landed into "([^"]*)" once, and no other$`, readsEachOnce)
}

// A writer is a landing or a fold under way.
type writer struct {
	task  *world.Task
	table string
	run   string // "" for a fold
	rows  []world.Row
	ok    bool
}

const heldKey, writersKey = "land.held", "land.writers"

// rowsOf makes rows for a run of its own: fresh ones, with a column that no other run has.
func rowsOf(w *world.World, table, run string, first int) []world.Row {
	rows := w.MakeRows(first, 3, 3, run)
	for _, r := range rows {
		r["by_"+run] = run
	}
	return rows
}

// place finds how many calls a verb makes before the one on a path. It asks a copy, so the node stays as it is.
func place(ctx context.Context, w *world.World, n *world.Node, verb sut.Verb, table, path string, args func(*world.Node) (sut.Args, error)) (int, error) {
	_, calls, err := w.CountOnCopy(ctx, n, verb, "call", tableGlob(w, table), args)
	if err != nil {
		return 0, err
	}
	for i, call := range calls {
		if i > 0 && strings.Contains(call.Line, path+`"`) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the %s makes no call on %s that another comes before: there is no place to hold it at", verb, path)
}

// tableGlob covers a table's directory below a project.
func tableGlob(w *world.World, table string) string {
	return ".contextful/context/" + w.Title() + "/tables/" + table + "*"
}

func hold(ctx context.Context, node string, verb sut.Verb, table, path, where string, args func(*world.Node) (sut.Args, error)) (*world.Task, error) {
	w := world.From(ctx)
	n := w.Node(node)
	if err := w.Prepare(ctx, n); err != nil {
		return nil, err
	}
	word, nth := "mkdir", 1
	if where != "after its first mkdir" {
		at, err := place(ctx, w, n, verb, table, path, args)
		if err != nil {
			return nil, err
		}
		word, nth = "call", at
	}
	a, err := args(n)
	if err != nil {
		return nil, err
	}
	return w.HoldAt(ctx, n, verb, a, word, tableGlob(w, table), nth)
}

func landingHeld(ctx context.Context, node, run, table, where string) error {
	w := world.From(ctx)
	n := w.Node(node)
	rows := rowsOf(w, table, run, 501)
	path := "data/runs/" + run + "/" + n.ID + "/_manifest.json"
	task, err := hold(ctx, node, sut.Land, table, path, where, func(c *world.Node) (sut.Args, error) {
		args, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: rows})
		return args, err
	})
	if err != nil {
		return err
	}
	w.Values[heldKey] = &writer{task: task, table: table, run: run, rows: rows}
	if _, err := inspect.Run(n.Root(), table, run, n.ID); err == nil {
		return fmt.Errorf("run %s was committed already when its landing was held", run)
	}
	return nil
}

func foldHeld(ctx context.Context, node, table, where string) error {
	task, err := hold(ctx, node, sut.Compact, table, "/_pointer.json", where, func(*world.Node) (sut.Args, error) { return sut.A("table", table), nil })
	if err != nil {
		return err
	}
	world.From(ctx).Values[heldKey] = &writer{task: task, table: table}
	return nil
}

// startWriter starts a landing, or a fold where run is empty.
func startWriter(ctx context.Context, node, run, table string, first int) (*writer, error) {
	w := world.From(ctx)
	n := w.Node(node)
	out := &writer{table: table, run: run}
	verb, args, err := sut.Compact, sut.A("table", table), error(nil)
	if run != "" {
		out.rows, verb = rowsOf(w, table, run, first), sut.Land
		args, _, err = w.LandArgs(n, world.Landing{Table: table, Run: run, Rows: out.rows})
	}
	if err == nil {
		out.task, err = w.Start(ctx, n, verb, args)
	}
	return out, err
}

// finish waits for a writer and remembers its rows where it succeeded.
func (x *writer) finish(ctx context.Context) error {
	w := world.From(ctx)
	c, err := w.Finish(ctx, x.task)
	if err != nil {
		return err
	}
	if x.ok = c.OK(); x.ok && x.run != "" {
		w.Remember(x.table, x.run, x.task.Node, x.rows)
	}
	return nil
}

func landsMeanwhile(ctx context.Context, node, run, table string) error {
	return meanwhile(ctx, node, run, table)
}

func foldsMeanwhile(ctx context.Context, node, table string) error {
	return meanwhile(ctx, node, "", table)
}

// patience is how long the writer that came meanwhile may take before the held one goes on: an implementation whose
// writers wait for each other is as lawful as one whose writers do not, and only the second kind ends within it.
const patience = 300 * time.Millisecond

func meanwhile(ctx context.Context, node, run, table string) error {
	held, ok := world.From(ctx).Values[heldKey].(*writer)
	if !ok {
		return fmt.Errorf("nothing is held that this could come in the middle of")
	}
	other, err := startWriter(ctx, node, run, table, 801)
	if err != nil {
		return err
	}
	over := time.NewTimer(patience)
	defer over.Stop()
	both := []*writer{held, other}
	select {
	case <-other.task.Done():
		both = []*writer{other, held}
	case <-over.C:
	}
	if err := held.task.Cont(); err != nil {
		return err
	}
	world.From(ctx).Values[writersKey] = both
	for _, x := range both {
		if err := x.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

func heldEnds(ctx context.Context, _ string) error {
	held, ok := world.From(ctx).Values[heldKey].(*writer)
	if !ok {
		return fmt.Errorf("nothing is held")
	}
	if err := held.task.Cont(); err != nil {
		return err
	}
	return held.finish(ctx)
}

func allAtOnce(ctx context.Context, node string, runs int, table string) error {
	var all []*writer
	for i := range runs {
		x, err := startWriter(ctx, node, fmt.Sprintf("together%d", i+1), table, 501+100*i)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	x, err := startWriter(ctx, node, "", table, 0)
	if err != nil {
		return err
	}
	all = append(all, x)
	world.From(ctx).Values[writersKey] = all
	for _, x := range all {
		if err := x.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

func oneSucceeded(ctx context.Context) error {
	all, _ := world.From(ctx).Values[writersKey].([]*writer)
	var ends []string
	for _, x := range all {
		if x.ok {
			return nil
		}
		ends = append(ends, verify.Outcome(x.task.Result()))
	}
	return verify.Fail("at least one of them has succeeded", "exit 0", ends)
}

// readsEachOnce compares rows over the columns that were landed: one that a refused landing left in the schema is no row.
func readsEachOnce(ctx context.Context, node, table string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		got, err := w.Read(ctx, n, table)
		if err != nil {
			return err
		}
		want := w.Expected(table)
		return verify.SameRows(fmt.Sprintf("%s reads every row landed into %q once, and no other", n.Name, table), want, got.Select(want.Columns...))
	})
}
