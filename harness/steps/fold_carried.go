package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Steps of passes that write what is new and name the rest where it lies: which parts are whose, how large, and when a table is due.
func registerFoldCarried(s *Suite) {
	s.Step(`^(\w+) remembers the parts of "([^"]*)"$`, remembersParts)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" names (all|none|all but (\d+)) of the remembered parts, where they lie and as they were$`, namesRemembered)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" has in its own directory (no part|parts of (\d+(?:, \d+)*) rows)$`, ownParts)
	s.Step(`^(\w+)'s snapshot of "([^"]*)" has parts of (\d+(?:, \d+)*) rows$`, allParts)
	s.Step(`^no partition that (\w+)'s snapshot of "([^"]*)" writes to has four parts of one size tier$`, tiersHold)
	s.Step(`^(\w+) lands and folds "([^"]*)" in turn, (\d+(?:, \d+)*) rows, and no tier is full after any$`, landsAndFolds)
	s.Step(`^(\w+) has landed and folded "([^"]*)" in turn, (\d+(?:, \d+)*) rows$`, hasLandedAndFolded)
	s.Step(`^(\w+) has landed rows of "([^"]*)" and folded each:$`, hasLandedAndFoldedEach)
	s.Step(`^(\w+)'s fold of "([^"]*)" is killed after each (mkdir|fsync|rename|removal) in the table$`, foldKilledInTable)
	s.Step(`^(\w+)'s (push|leased fold) has written (\d+) parts? of snapshots of "([^"]*)"$`, pushedParts)
	s.Step(`^every part of (\w+)'s snapshot of "([^"]*)" is what its manifest says$`, partsAsSaid)

	s.Step(`^the run "([^"]*)" of "([^"]*)" lies on (\w+) (\d+) times more, under other names$`, runMultiplied)
	s.Step(`^(\w+) folds what is due$`, foldsDue)
	s.Step(`^(\w+)'s pointer for "([^"]*)" names a new snapshot$`, pointerMovedOn)
}

const partsKey = "fold.parts"

// lying is a part as it was remembered.
type lying struct {
	path   string
	digest string
}

// currentSnapshot reads the snapshot that the pointer names, and none before it: those may be as an older writer left them.
func currentSnapshot(ctx context.Context, node, table string) (inspect.SnapshotDoc, error) {
	return pointedSnapshot(world.From(ctx).Node(node), table)
}

func pointedSnapshot(n *world.Node, table string) (inspect.SnapshotDoc, error) {
	root := n.Root()
	what := n.Name + "'s snapshot of " + table
	p, err := inspect.Pointer(root, table)
	if err != nil || p.SnapshotID == "" {
		return inspect.SnapshotDoc{}, verify.Fail(what, "a pointer that names one", fmt.Sprintf("%q, %v", p.SnapshotID, err))
	}
	head, err := inspect.Snapshot(root, table, p.SnapshotID)
	if err != nil {
		return head, verify.Fail(what, "a manifest", err)
	}
	return head, nil
}

func remembersParts(ctx context.Context, node, table string) error {
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	var parts []lying
	for _, p := range head.Parts {
		_, digest, err := inspect.FileDigest(p.Path)
		if err != nil {
			return err
		}
		parts = append(parts, lying{p.Path, digest})
	}
	if len(parts) == 0 {
		return fmt.Errorf("the snapshot of %s has no part to remember", table)
	}
	world.From(ctx).Values[partsKey] = parts
	return nil
}

// namesRemembered holds the parts that the pointer's snapshot names against those that lay there before: the same file, the same bytes.
func namesRemembered(ctx context.Context, node, table, which, missing string) error {
	before, ok := world.From(ctx).Values[partsKey].([]lying)
	if !ok {
		return errors.New("no step has remembered the parts")
	}
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, p := range head.Parts {
		named[p.Path] = true
	}
	want := len(before)
	switch which {
	case "none":
		want = 0
	case "all":
	default:
		n, err := strconv.Atoi(missing)
		if err != nil {
			return err
		}
		want -= n
	}
	got := 0
	for _, p := range before {
		if !named[p.path] {
			continue
		}
		got++
		_, digest, err := inspect.FileDigest(p.path)
		if err != nil {
			return verify.Fail("a part that the snapshot of "+table+" names", p.path+" as it was", err)
		}
		if err := verify.Equal("the digest of "+p.path, p.digest, digest); err != nil {
			return err
		}
	}
	return verify.Equal(fmt.Sprintf("the parts that %s's snapshot of %q names where they lay before, of %d", node, table, len(before)), want, got)
}

// rowsIn counts the rows of parts by their footers, sorted as the text of a feature is.
func rowsIn(paths []string) (string, error) {
	var counts []int
	for _, path := range paths {
		_, rows, err := inspect.ParquetColumns(path)
		if err != nil {
			return "", err
		}
		counts = append(counts, int(rows))
	}
	slices.Sort(counts)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", ", "), "[]"), nil
}

// ownParts looks into the directory, not only at what the manifest says of it: a part may lie there that nobody needs.
func ownParts(ctx context.Context, node, table, what, rows string) error {
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	var paths []string
	err = filepath.WalkDir(head.Dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "indexes":
			return filepath.SkipDir
		case !e.IsDir() && strings.HasSuffix(path, ".parquet") && !strings.HasPrefix(e.Name(), "folded-"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	got, err := rowsIn(paths)
	if err != nil {
		return err
	}
	if what == "no part" {
		rows = ""
	}
	return verify.Equal(fmt.Sprintf("the rows of each part in the directory of %s's snapshot of %q", node, table), rows, got)
}

func allParts(ctx context.Context, node, table, rows string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		head, err := pointedSnapshot(n, table)
		if err != nil {
			return err
		}
		got, err := rowsIn(partPaths(head.Parts))
		if err != nil {
			return verify.Fail("the parts of "+table, "whole", err)
		}
		return verify.Equal(fmt.Sprintf("the rows of each part that %s's snapshot of %q names", n.Name, table), rows, got)
	})
}

func partsAsSaid(ctx context.Context, node, table string) error {
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	if err := verify.Nothing("what the snapshot of "+table+" promises is there", inspect.Complete(head.Parts)); err != nil {
		return err
	}
	sum := int64(0)
	for _, p := range head.Parts {
		sum += p.Rows
	}
	return verify.Equal("row_count of the snapshot of "+table, sum, head.RowCount)
}

// sizeTier is floor(log4(rows)), counted from the footer.
func sizeTier(path string) (int, error) {
	_, rows, err := inspect.ParquetColumns(path)
	n := 0
	for ; rows >= 4; rows /= 4 {
		n++
	}
	return n, err
}

func tiersHold(ctx context.Context, node, table string) error {
	head, err := currentSnapshot(ctx, node, table)
	if err != nil {
		return err
	}
	count, written := map[string]int{}, map[string]bool{}
	for _, p := range head.Parts {
		tier, err := sizeTier(p.Path)
		if err != nil {
			return err
		}
		partition := string(p.Partition)
		count[fmt.Sprintf("partition %s, tier %d", partition, tier)]++
		if p.SnapshotID == "" || p.SnapshotID == head.SnapshotID {
			written[partition] = true
		}
	}
	for _, p := range head.Parts {
		tier, _ := sizeTier(p.Path)
		at := fmt.Sprintf("partition %s, tier %d", p.Partition, tier)
		if n := count[at]; written[string(p.Partition)] && n >= 4 {
			return verify.Fail(fmt.Sprintf("the parts of %s's snapshot of %q in one size tier", node, table), "fewer than 4", fmt.Sprintf("%d in %s", n, at))
		}
	}
	return nil
}

// inTurn lands and folds so many rows, and so many, and so on.
func inTurn(ctx context.Context, node, table, counts string, after func() error) error {
	w := world.From(ctx)
	for _, text := range strings.Split(counts, ", ") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if err := hasLandedN(ctx, node, n, table); err != nil {
			return err
		}
		if err := w.Ok(ctx, w.Node(node), sut.Compact, sut.A("table", table)); err != nil {
			return err
		}
		if err := after(); err != nil {
			return err
		}
	}
	return nil
}

func landsAndFolds(ctx context.Context, node, table, counts string) error {
	return inTurn(ctx, node, table, counts, func() error { return tiersHold(ctx, node, table) })
}

func hasLandedAndFolded(ctx context.Context, node, table, counts string) error {
	return inTurn(ctx, node, table, counts, func() error { return nil })
}

// hasLandedAndFoldedEach makes a run and a fold of every line of the table.
func hasLandedAndFoldedEach(ctx context.Context, node, table string, t *godog.Table) error {
	w := world.From(ctx)
	lines := cells(t)
	for _, line := range lines[1:] {
		rows, err := world.RowsOf([][]string{lines[0], line})
		if err != nil {
			return err
		}
		if err := w.Land(ctx, w.Node(node), world.Landing{Table: table, Rows: rows}); err != nil {
			return err
		}
		if err := w.Ok(ctx, w.Node(node), sut.Compact, sut.A("table", table)); err != nil {
			return err
		}
	}
	return nil
}

// foldKilledInTable leaves one copy of the node for each such call that its fold makes about the table.
func foldKilledInTable(ctx context.Context, node, table, call string) error {
	w := world.From(ctx)
	return w.KillAtEach(ctx, w.Node(node), sut.Compact, call, tableGlob(w, table), func(*world.Node) (sut.Args, error) { return sut.A("table", table), nil })
}

// pushedParts counts the uploads of snapshots' parts, whether they were refused or not: what is there is not sent.
func pushedParts(ctx context.Context, node, word string, want int, table string) error {
	w := world.From(ctx)
	dir := w.FullKey(w.TableKey(table, "data/snapshots/"))
	got, err := w.Requests(w.Node(node), verbOf(word), s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut, s3cas.OpCompleteMultipart}, Key: dir + "*"})
	if err != nil {
		return err
	}
	var keys []string
	for _, e := range got {
		in := strings.TrimPrefix(e.Key, dir)
		if strings.HasSuffix(in, ".parquet") && !strings.Contains(in, "/indexes/") && !strings.Contains(in, "/folded-") {
			keys = append(keys, in)
		}
	}
	return verify.That(len(keys) == want, fmt.Sprintf("the parts of snapshots of %q that %s's %s has sent", table, node, word), want, keys)
}

// runMultiplied makes more committed runs of one, with its parts and its place in the order.
func runMultiplied(ctx context.Context, run, table, node string, times int) error {
	w := world.From(ctx)
	n := w.Node(node)
	doc, err := inspect.Run(n.Root(), table, run, n.ID)
	if err != nil {
		return err
	}
	for i := range times {
		id := fmt.Sprintf("%s-%03d", run, i)
		dir := n.TablePath(table, "data/runs/"+id+"/"+n.ID)
		if err := os.CopyFS(dir, os.DirFS(doc.Dir)); err != nil {
			return err
		}
		path := filepath.Join(dir, "_manifest.json")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		keys := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &keys); err != nil {
			return err
		}
		if keys["run_id"], err = json.Marshal(id); err != nil {
			return err
		}
		if text, err = json.Marshal(keys); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// foldsDue asks for a fold and names no table.
func foldsDue(ctx context.Context, node string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.Compact, sut.A())
	return err
}

func pointerMovedOn(ctx context.Context, node, table string) error {
	n := world.From(ctx).Node(node)
	p, err := inspect.Pointer(n.Root(), table)
	what := fmt.Sprintf("%s's pointer for %q", node, table)
	if err != nil {
		return verify.Fail(what, "a new snapshot", err)
	}
	rel, err := filepath.Rel(n.Root(), filepath.Join(inspect.SnapshotDir(n.Root(), table, p.SnapshotID), "_manifest.json"))
	if err != nil {
		return err
	}
	_, there := n.Before()[filepath.ToSlash(rel)]
	return verify.That(p.SnapshotID != "" && !there, what, "a snapshot that was not there before", p.SnapshotID)
}
