package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/stopper"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Disks that do not take a write, and landings that are killed.
func registerDisk(s *Suite) {
	s.Step(`^(\w+)'s (landing|fold) of "([^"]*)" finds (no space left|a read-only disk) at each (fsync|rename|mkdir)$`, diskFails)
	s.Step(`^(\w+)'s landing of "([^"]*)" finds no space left in each file that it writes$`, filesFail)
	s.Step(`^(\w+)'s landing of "([^"]*)" finds no space left as it names its manifest$`, manifestFails)
	s.Step(`^each of them is refused with (\w+), naming a file of "([^"]*)"$`, eachRefused)
	s.Step(`^with room again the (landing|fold) of "([^"]*)" succeeds on each (\w+)$`, roomAgain)

	s.Step(`^(\w+)'s landing of (\d+) rows of "([^"]*)" is killed after each (mkdir|fsync|rename) in the table$`, landingKilledInTable)
	s.Step(`^(\w+) has all of the killed run of "([^"]*)" or nothing of it$`, wholeOrNothing)
	s.Step(`^the killed landing of "([^"]*)" is made again on each (\w+)$`, killedAgain)
	s.Step(`^(\w+) lands (\d+) rows of "([^"]*)", watched$`, landsWatched)
	s.Step(`^every part of that run of "([^"]*)" on (\w+) was synced before its manifest appeared$`, syncedFirst)
}

const failedKey = "land.failed"

// verbArgs gives the arguments of a landing of three rows under the run of crash.run, with a column that the table has not
// got yet, or of a fold.
func verbArgs(w *world.World, word, table string) func(*world.Node) (sut.Args, error) {
	if word == "fold" {
		return func(*world.Node) (sut.Args, error) { return sut.A("table", table), nil }
	}
	rows, run := rowsOf(w, table, "late", 701), "late"
	w.Values["crash.rows"], w.Values["crash.run"] = rows, run
	return func(c *world.Node) (sut.Args, error) {
		args, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: rows})
		return args, err
	}
}

// fail runs the verb on a copy of the node whose calls fail from the nth of a thread on. inTable is how many of those that
// failed were about the table, fired how many there were in all.
func fail(ctx context.Context, w *world.World, n *world.Node, k int, verb sut.Verb, args func(*world.Node) (sut.Args, error), set []string, errno, from, table, rel string) (c *world.Node, inTable, fired int, err error) {
	if c, err = w.Fork(n, k); err != nil {
		return nil, 0, 0, err
	}
	a, err := args(c)
	if err != nil {
		return nil, 0, 0, err
	}
	path := ""
	if rel != "" {
		path = c.TablePath(table, rel)
	}
	t, err := stopper.Failing(set, errno, from, path, filepath.Dir(c.Project()))
	if err != nil {
		return nil, 0, 0, err
	}
	task, err := w.Traced(ctx, c, verb, a, t, 0, stopper.Count)
	if err != nil {
		return nil, 0, 0, err
	}
	_, err = w.Finish(ctx, task)
	<-t.Done()
	run, _ := w.Values["crash.run"].(string)
	commit := inspect.TableDir(c.Root(), table) + "/_pointer.json"
	if verb == sut.Land {
		commit = inspect.TableDir(c.Root(), table) + "/data/runs/" + run + "/" + c.ID + "/_manifest.json"
	}
	for _, call := range costly(t.Calls(), inspect.TableDir(c.Root(), table), commit) {
		if inTable++; inTable == 1 {
			c.Point = fmt.Sprintf("%s at %s", errno, call.Line)
		}
	}
	return c, inTable, t.Fired(), err
}

// costly are the failed calls about a table that a verb must not pass over: all before the file that commits has its name, and behind
// that the first sync of its directory. What follows is for the next verb's comfort, and the verb may report what it has done.
func costly(calls []stopper.Call, dir, commit string) []stopper.Call {
	var list []stopper.Call
	committed, synced := false, false
	for _, call := range calls {
		syncs := strings.Contains(call.Line, "<"+filepath.Dir(commit)+">")
		switch {
		case call.Fail && strings.Contains(call.Line, dir) && (!committed || syncs && !synced):
			list = append(list, call)
		case !call.Fail && strings.Contains(call.Line, `"`+commit+`"`):
			committed = true
		}
		synced = synced || committed && syncs
	}
	return list
}

func diskFails(ctx context.Context, node, word, table, how, call string) error {
	w := world.From(ctx)
	n := w.Node(node)
	set, err := stopper.Calls(call)
	if err != nil {
		return err
	}
	errno := map[string]string{"no space left": "ENOSPC", "a read-only disk": "EROFS"}[how]
	args := verbArgs(w, word, table)
	var copies []*world.Node
	for _, k := range []int{1, 2, 4, 7} { // from the kth call of a thread on: a thread makes few of a kind
		c, inTable, fired, err := fail(ctx, w, n, k, verbOf(word), args, set, errno, fmt.Sprintf("%d+", k), table, "")
		if err != nil {
			return err
		}
		if fired == 0 {
			break
		}
		if inTable > 0 { // what else lies in a store root is no row of a table's
			copies = append(copies, c)
		}
	}
	return failed(w, n, copies)
}

func failed(w *world.World, n *world.Node, copies []*world.Node) error {
	if len(copies) == 0 {
		return fmt.Errorf("no call of %s's failed: the disk was never in its way", n.Name)
	}
	w.Values[failedKey] = copies
	n.Copies(copies)
	return nil
}

var tracedPath = regexp.MustCompile(`^\w+\(\d+<([^>]*)>`)

// filesFail asks a copy first which files a landing writes to under the names they keep.
func filesFail(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	n := w.Node(node)
	args := verbArgs(w, "landing", table)
	counted, calls, err := w.CountOnCopy(ctx, n, sut.Land, "write", tableGlob(w, table), args)
	if err != nil {
		return err
	}
	set, err := stopper.Calls("write")
	if err != nil {
		return err
	}
	var copies []*world.Node
	seen := map[string]bool{}
	for _, call := range calls {
		m := tracedPath.FindStringSubmatch(call.Line)
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		rel, below := strings.CutPrefix(m[1], inspect.TableDir(counted.Root(), table)+"/")
		if _, err := os.Stat(m[1]); err != nil || !below {
			continue // a temporary name: the next landing's is another
		}
		c, inTable, _, err := fail(ctx, w, n, len(copies)+1, sut.Land, args, set, "ENOSPC", "1+", table, rel)
		if err != nil {
			return err
		}
		if inTable > 0 {
			copies = append(copies, c)
		}
	}
	return failed(w, n, copies)
}

// manifestFails finds the disk full at the last step of a landing, when all else has been written: the name its manifest gets.
func manifestFails(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	n := w.Node(node)
	args := verbArgs(w, "landing", table)
	run, _ := w.Values["crash.run"].(string)
	set, err := stopper.Calls("rename")
	if err != nil {
		return err
	}
	c, inTable, _, err := fail(ctx, w, n, 1, sut.Land, args, set, "ENOSPC", "1+", table, "data/runs/"+run+"/"+n.ID+"/_manifest.json")
	if err != nil || inTable == 0 {
		return errors.Join(err, failed(w, n, nil))
	}
	return failed(w, n, []*world.Node{c})
}

// landingKilledInTable is the common step for what is below the table's directory alone.
func landingKilledInTable(ctx context.Context, node string, rows int, table, call string) error {
	w := world.From(ctx)
	w.Table(table)
	made, run := fresh(w, table, rows, 3), w.NextRun(table)
	w.Values["crash.rows"], w.Values["crash.run"] = made, run
	return w.KillAtEach(ctx, w.Node(node), sut.Land, call, tableGlob(w, table), func(c *world.Node) (sut.Args, error) {
		args, _, err := w.LandArgs(c, world.Landing{Table: table, Run: run, Rows: made})
		return args, err
	})
}

func eachRefused(ctx context.Context, code, table string) error {
	w := world.From(ctx)
	copies, _ := w.Values[failedKey].([]*world.Node)
	for _, c := range copies {
		last, err := c.Last()
		if err != nil {
			return err
		}
		err = verify.Refusal{Code: code, Names: []string{"tables/" + table}, Known: w.Known, Find: w.Config().Refusal}.Check(last.Result)
		if err := at(c, err); err != nil {
			return err
		}
	}
	return nil
}

// at adds the point of a copy to a mismatch.
func at(c *world.Node, err error) error {
	if m, ok := err.(*verify.Mismatch); ok {
		m.What += ", " + c.Point
	}
	return err
}

func roomAgain(ctx context.Context, word, table, node string) error {
	if word == "fold" {
		return each(ctx, node, func(w *world.World, n *world.Node) error { return w.Ok(ctx, n, sut.Compact, sut.A("table", table)) })
	}
	return killedAgain(ctx, table, node)
}

// killedAgain lands the rows of the landing that was killed, or found no room, under its run id.
func killedAgain(ctx context.Context, table, node string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		rows, _ := w.Values["crash.rows"].([]world.Row)
		run, _ := w.Values["crash.run"].(string)
		return w.Land(ctx, n, world.Landing{Table: table, Run: run, Rows: rows})
	})
}

// wholeOrNothing looks whether there is a manifest, at the parts that it names, and at what a reader makes of them.
func wholeOrNothing(ctx context.Context, node, table string) error {
	rows, _ := world.From(ctx).Values["crash.rows"].([]world.Row)
	run, _ := world.From(ctx).Values["crash.run"].(string)
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		runs, err := inspect.Runs(n.Root(), table)
		if err != nil {
			return verify.Fail("the manifests of "+table, "JSON that is whole", err)
		}
		for _, r := range runs {
			if r.RunID != run {
				continue
			}
			if err := verify.Nothing("what the killed run's manifest promises is there", inspect.Complete(r.Parts)); err != nil {
				return err
			}
			got, err := w.Read(ctx, n, table)
			if err != nil {
				return err
			}
			want := world.GridOf(append(append([]world.Row{}, w.Landed(table)...), rows...))
			return verify.SameRows("what is read after the kill", want, got)
		}
		return nil // parts without a manifest are store.lay-out.uncommitted-run's to ask about
	})
}

// landsWatched lands rows and keeps the calls that make things durable or visible, in their order.
func landsWatched(ctx context.Context, node string, n int, table string) error {
	w := world.From(ctx)
	rows := fresh(w, table, n, 3)
	args, run, err := w.LandArgs(w.Node(node), world.Landing{Table: table, Rows: rows})
	if err != nil {
		return err
	}
	calls, err := w.CountCalls(ctx, w.Node(node), sut.Land, args, "call", tableGlob(w, table))
	if err != nil {
		return err
	}
	w.Remember(table, run, w.Node(node), rows)
	w.Values["land.calls"], w.Values["crash.run"] = calls, run
	return nil
}

func syncedFirst(ctx context.Context, table, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	run, _ := w.Values["crash.run"].(string)
	doc, err := inspect.Run(n.Root(), table, run, n.ID)
	if err != nil {
		return verify.Fail("the manifest of run "+run, "a committed run with parts", err)
	}
	calls, _ := w.Values["land.calls"].([]stopper.Call)
	manifest := -1
	for i, c := range calls {
		if strings.Contains(c.Line, doc.Dir+`/_manifest.json"`) {
			manifest = i
			break
		}
	}
	if manifest < 0 {
		return fmt.Errorf("no call of the landing's made its manifest appear: the kit cannot tell what came before it")
	}
	for _, p := range doc.Parts {
		if err := verify.That(synced(calls[:manifest], p.Path), p.Name+" was synced before the manifest appeared", "an fsync of it", "none before the manifest"); err != nil {
			return err
		}
	}
	return nil
}

// synced looks for a sync of a file under its name, or under the one it was renamed from.
func synced(calls []stopper.Call, path string) bool {
	for i := len(calls) - 1; i >= 0; i-- {
		line := calls[i].Line
		switch {
		case strings.Contains(calls[i].Name, "sync") && strings.Contains(line, "<"+path+">"):
			return true
		case strings.HasPrefix(calls[i].Name, "rename") && strings.Contains(line, `"`+path+`"`):
			if q := quoted.FindAllStringSubmatch(line, 2); len(q) == 2 && q[1][1] == path {
				path = q[0][1]
			}
		}
	}
	return false
}
