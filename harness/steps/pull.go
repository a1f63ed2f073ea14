package steps

import (
	"context"
	"fmt"
	"path"

	"contextful/harness/inspect"
	"contextful/harness/world"
)

// Steps of the pull operation. Each asks the node under test through its verbs and looks at disk and bucket with
// inspect's own readers.
func registerPull(s *Suite) {
	s.Step(`^the bucket will hold its answer to (\w+)'s request for the last part of "([^"]*)", half sent$`, holdLastPart)
}

// holdLastPart finds the part in the snapshot's own manifest in the bucket, so any implementation's names will do.
func holdLastPart(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	ptr, err := w.BucketPointer(ctx, table)
	if err != nil {
		return err
	}
	dir := "data/snapshots/" + ptr.SnapshotID
	text, err := w.Bucket().Get(ctx, w.TableKey(table, dir+"/_manifest.json"))
	if err != nil {
		return err
	}
	snap, err := inspect.DecodeSnapshot("the snapshot in the bucket", text)
	if err != nil {
		return err
	}
	if len(snap.Parts) == 0 {
		return fmt.Errorf("the snapshot of %q has no parts to hold", table)
	}
	last := snap.Parts[len(snap.Parts)-1]
	return w.Hold(Gate, "body 50%", "Get", world.Who(w.Node(node), "pull"), w.Key(w.TableKey(table, path.Join(dir, last.Name))))
}
