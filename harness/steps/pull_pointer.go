package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/cucumber/godog"
)

// Pointers of node and bucket, and the schema beside them.
func registerPullPointer(s *Suite) {
	s.Step(`^(\w+)'s pointer for "([^"]*)" is the bucket's$`, pointerIsBuckets)
	s.Step(`^(\w+)'s pointer for "([^"]*)" is not the bucket's$`, pointerIsNotBuckets)
	s.Step(`^(\w+)'s pointer for "([^"]*)" carries the fence (\d+)$`, pointerCarries)
	s.Step(`^the bucket's pointer for "([^"]*)" carries the fence (\d+)$`, bucketPointerCarries)
	s.Step(`^the fence of (\w+)'s pointer for "([^"]*)" is (\d+)$`, fenceIs)
	s.Step(`^(\w+) has folded "([^"]*)" onto a branch of its own$`, foldedOwnBranch)
	s.Step(`^(\w+)'s pulls? adopts? no other branch$`, adoptsNothing)
	s.Step(`^(\w+)'s schema of "([^"]*)" has the columns:$`, schemaHas)
}

func pointerIsBuckets(ctx context.Context, node, table string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		want, got, err := pointers(ctx, w, n, table)
		if err != nil {
			return err
		}
		return verify.Equal(fmt.Sprintf("%s's pointer for %q is the bucket's", n.Name, table), tellPointer(want), tellPointer(got))
	})
}

// pointerIsNotBuckets makes sure that a setting is one in which the two could be taken for each other.
func pointerIsNotBuckets(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	want, got, err := pointers(ctx, w, w.Node(node), table)
	if err != nil {
		return err
	}
	return verify.That(tellPointer(want) != tellPointer(got), node+"'s pointer is not the bucket's", "another", tellPointer(got))
}

func pointers(ctx context.Context, w *world.World, n *world.Node, table string) (bucket, local inspect.PointerDoc, err error) {
	if bucket, err = w.BucketPointer(ctx, table); err != nil {
		return bucket, local, err
	}
	local, err = inspect.Pointer(n.Root(), table)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return bucket, local, err
}

func tellPointer(p inspect.PointerDoc) string {
	if p.Fence == nil {
		return fmt.Sprintf("%q without a fence", p.SnapshotID)
	}
	return fmt.Sprintf("%q under the fence %d", p.SnapshotID, *p.Fence)
}

// pointerText writes a pointer as formats.md has it.
func pointerText(id string, fence int) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"snapshot_id": id, "fence": fence})
	return append(text, '\n'), err
}

func pointerCarries(ctx context.Context, node, table string, fence int) error {
	n := world.From(ctx).Node(node)
	p, err := inspect.Pointer(n.Root(), table)
	if err != nil {
		return err
	}
	text, err := pointerText(p.SnapshotID, fence)
	if err != nil {
		return err
	}
	return os.WriteFile(inspect.PointerPath(n.Root(), table), text, 0o644)
}

func bucketPointerCarries(ctx context.Context, table string, fence int) error {
	w := world.From(ctx)
	p, err := w.BucketPointer(ctx, table)
	if err != nil {
		return err
	}
	text, err := pointerText(p.SnapshotID, fence)
	if err != nil {
		return err
	}
	return w.Bucket().Put(ctx, w.TableKey(table, "_pointer.json"), text)
}

func fenceIs(ctx context.Context, node, table string, fence int) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		p, err := inspect.Pointer(n.Root(), table)
		if err != nil {
			return err
		}
		got := "none"
		if p.Fence != nil {
			got = fmt.Sprint(*p.Fence)
		}
		return verify.Equal(fmt.Sprintf("the fence of %s's pointer for %q", n.Name, table), fmt.Sprint(fence), got)
	})
}

// foldedOwnBranch folds on the node and keeps both snapshots by name: <the bucket's snapshot> is what stands in the bucket
// when the step ends, <its own snapshot> the node's.
func foldedOwnBranch(ctx context.Context, node, table string) error {
	if err := hasFolded(ctx, node, table); err != nil {
		return err
	}
	w := world.From(ctx)
	remote, local, err := pointers(ctx, w, w.Node(node), table)
	if err != nil {
		return err
	}
	if remote.SnapshotID == "" || local.SnapshotID == "" || remote.SnapshotID == local.SnapshotID {
		return fmt.Errorf("the branches are not two: %q and %q", remote.SnapshotID, local.SnapshotID)
	}
	w.Values["name:the bucket's snapshot"], w.Values["name:its own snapshot"] = remote.SnapshotID, local.SnapshotID
	return nil
}

// adoptsNothing: an implementation that declares adoption is asked by store.pull.pointer-adopt instead.
func adoptsNothing(ctx context.Context, _ string) error {
	if world.From(ctx).Config().Capabilities["adoption"] {
		return &world.Unsupported{Why: "the implementation adopts a foreign branch, so it does not refuse one"}
	}
	return nil
}

// schemaHas looks at the columns the table names; the schema may have more.
func schemaHas(ctx context.Context, node, table string, t *godog.Table) error {
	var want []string
	for _, c := range cells(t)[1:] {
		want = append(want, c[0]+" "+c[1])
	}
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		fields, err := inspect.Schema(n.Root(), table)
		if err != nil {
			return err
		}
		types := map[string]string{}
		for _, f := range fields {
			types[f.Name] = f.Type
		}
		var got []string
		for _, c := range cells(t)[1:] {
			if types[c[0]] == "" {
				types[c[0]] = "(no such column)"
			}
			got = append(got, c[0]+" "+types[c[0]])
		}
		return verify.SameSet(fmt.Sprintf("the columns of %s's schema of %q", n.Name, table), want, got)
	})
}
