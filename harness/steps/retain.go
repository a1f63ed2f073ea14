package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps about what a table keeps of its past, and what a read asks of a past that is not kept.
func registerRetain(s *Suite) {
	s.Step(`^(\w+) has no bucket$`, hasNoBucket)
	s.Step(`^(\w+) is given the bucket$`, isGivenBucket)
	s.Step(`^each (\w+) lands (\d+) rows of "([^"]*)"$`, eachLands)
	s.Step(`^run "([^"]*)" of "([^"]*)" is gone from (\w+)$`, runGoes)
	s.Step(`^(\w+)'s chain of "([^"]*)" has (\d+) snapshots?, and (ends at its root|ends there)$`, chainEnds)
	s.Step(`^every file that (\w+)'s chain of "([^"]*)" names is there$`, namedIsThere)
	s.Step(`^(\w+)'s snapshots of "([^"]*)" hold nothing that its chain does not name$`, nothingUnnamed)
	s.Step(`^(\w+)'s pointer's snapshot of "([^"]*)" names a (part|segment) that an older snapshot wrote$`, namesOlder)
	s.Step(`^(\w+) reads "([^"]*)" as of "([^"]*)"$`, readsAsOf)
	s.Step(`^the parent of the pointer's snapshot of "([^"]*)" on (\w+) is collected$`, parentCollected)
	s.Step(`^the message names the instant of the (pointer's|oldest kept) snapshot of "([^"]*)" on (\w+)$`, namesInstant)
	s.Step(`^(\w+) reads of "([^"]*)" as of that instant the items (none|"[^"]*"(?:(?:, | and )"[^"]*")*)$`, readsAtInstant)
}

// eachLands lands the same rows under one run on every copy of a node that was killed.
func eachLands(ctx context.Context, node string, n int, table string) error {
	w := world.From(ctx)
	w.Table(table)
	landing := world.Landing{Table: table, Rows: fresh(w, table, n, 3), Run: w.NextRun(table)}
	return each(ctx, node, func(w *world.World, n *world.Node) error { return w.Land(ctx, n, landing) })
}

// runGoes is the other row of an outline in which a run stays.
func runGoes(ctx context.Context, run, table, node string) error {
	return nothingOfRun(ctx, run, table, node)
}

func hasNoBucket(ctx context.Context, node string) error {
	world.From(ctx).Node(node).Configuration = "# a store of one machine\n"
	return nil
}

// isGivenBucket ends hasNoBucket: from now on the node has the configuration that every node has.
func isGivenBucket(ctx context.Context, node string) error {
	world.From(ctx).Node(node).Configuration = ""
	return nil
}

func chainEnds(ctx context.Context, node, table string, n int, how string) error {
	chain, whole, err := inspect.ChainHere(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return err
	}
	// A chain that ends without its root ends by what was removed.
	return verify.Equal(fmt.Sprintf("%s's chain of %q", node, table), fmt.Sprintf("%d snapshots, the root among them: %t", n, how == "ends at its root"),
		fmt.Sprintf("%d snapshots, the root among them: %t", len(chain), whole))
}

// namedFiles lists, relative to the store root, what the manifests of a chain name, and themselves.
func namedFiles(n *world.Node, table string) (parts []inspect.Part, segments []inspect.SegmentDoc, files map[string]bool, err error) {
	chain, _, err := inspect.ChainHere(n.Root(), table)
	if err != nil {
		return nil, nil, nil, err
	}
	files = map[string]bool{}
	note := func(path string) {
		if rel, err := filepath.Rel(n.Root(), path); err == nil {
			files[filepath.ToSlash(rel)] = true
		}
	}
	for _, s := range chain {
		note(filepath.Join(s.Dir, "_manifest.json"))
		for _, p := range s.Parts {
			parts = append(parts, p)
			note(p.Path)
		}
		index, err := inspect.Index(n.Root(), s)
		if err != nil {
			return nil, nil, nil, err
		}
		if index == nil {
			continue
		}
		for _, seg := range index.Segments {
			segments = append(segments, seg)
			note(seg.Path)
		}
	}
	return parts, segments, files, nil
}

func namedIsThere(ctx context.Context, node, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		parts, segments, _, err := namedFiles(n, table)
		if err != nil {
			return err
		}
		missing := inspect.Complete(parts)
		for _, seg := range segments {
			if _, err := inspect.SegmentRows(seg); err != nil {
				missing = append(missing, err.Error())
			}
		}
		return verify.Nothing(fmt.Sprintf("what %s's chain of %q names and is not as it says", n.Name, table), missing)
	})
}

func nothingUnnamed(ctx context.Context, node, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		_, _, files, err := namedFiles(n, table)
		if err != nil {
			return err
		}
		tree, err := n.Tree()
		if err != nil {
			return err
		}
		var extra []string
		for path := range tree.Only(inspect.Meaningful) {
			if strings.HasPrefix(path, "tables/"+table+"/data/snapshots/") && !files[path] {
				extra = append(extra, path)
			}
		}
		slices.Sort(extra)
		return verify.Nothing(fmt.Sprintf("what lies in %s's snapshots of %q and no snapshot of the chain names", n.Name, table), extra)
	})
}

func namesOlder(ctx context.Context, node, table, what string) error {
	n := world.From(ctx).Node(node)
	chain, _, err := inspect.ChainHere(n.Root(), table)
	if err != nil {
		return err
	}
	if len(chain) == 0 {
		return verify.Fail(node+" has a snapshot of "+table, "one", "none")
	}
	s := chain[0]
	for _, p := range s.Parts {
		if what == "part" && p.SnapshotID != "" && p.SnapshotID != s.SnapshotID {
			return nil
		}
	}
	index, err := inspect.Index(n.Root(), s)
	if err != nil {
		return err
	}
	if index != nil && what == "segment" && slices.ContainsFunc(index.Segments, func(seg inspect.SegmentDoc) bool { return seg.SnapshotID != s.SnapshotID }) {
		return nil
	}
	return verify.Fail("the manifest of "+s.SnapshotID, "a "+what+" that lies in another snapshot's directory", string(s.Raw))
}

func readsAsOf(ctx context.Context, node, table, bound string) error {
	w := world.From(ctx)
	_, err := w.Do(ctx, w.Node(node), sut.Query, sut.A("sql", `SELECT item FROM "`+table+`"`, "as_of", bound))
	return err
}

// parentCollected leaves of the parent what a collection in the bucket leaves: its manifest, the marker, and what another
// snapshot names.
func parentCollected(ctx context.Context, table, node string) error {
	n := world.From(ctx).Node(node)
	chain, _, err := inspect.ChainHere(n.Root(), table)
	if err != nil {
		return err
	}
	if len(chain) < 2 {
		return verify.Fail("the chain of "+table, "a snapshot and its parent", len(chain))
	}
	needed := map[string]bool{}
	for _, p := range chain[0].Parts {
		needed[p.Path] = true
	}
	for _, p := range chain[1].Parts {
		if needed[p.Path] {
			continue
		}
		if err := os.Remove(p.Path); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(chain[1].Dir, "_collected.json"), []byte("{}\n"), 0o644)
}

var instantForm = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`)

// namesInstant looks for the instant in the last refusal, in whatever digits; the bound that was asked for does not count.
func namesInstant(ctx context.Context, which, table, node string) error {
	w := world.From(ctx)
	chain, _, err := inspect.ChainHere(w.Node(node).Root(), table)
	if err != nil {
		return err
	}
	if len(chain) == 0 {
		return verify.Fail("the chain of "+table, "one snapshot or more", 0)
	}
	want := chain[0].CreatedAt
	if which != "pointer's" {
		want = chain[len(chain)-1].CreatedAt
	}
	w.Values["retain.instant"] = sut.Instant(want)
	c, err := outcome(ctx, "read", node)
	if err != nil {
		return err
	}
	var found []string
	for _, text := range instantForm.FindAllString(c.Stderr, -1) {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			continue
		}
		if at.Equal(want) {
			return nil
		}
		found = append(found, text)
	}
	return verify.Fail("the instants that the refusal names", sut.Instant(want), found)
}

func readsAtInstant(ctx context.Context, node, table, items string) error {
	at, ok := world.From(ctx).Values["retain.instant"].(string)
	if !ok {
		return fmt.Errorf("no step has named an instant")
	}
	return readsItemsAsOf(ctx, node, "reads", table, at, items)
}
