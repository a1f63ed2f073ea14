package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the pull operation. Each asks the node under test through its verbs and looks at disk and bucket with
// inspect's own readers. pull_moving.go holds what happens to the bucket meanwhile, pull_asked.go what the journal tells,
// pull_pointer.go pointers and schemas.
func registerPull(s *Suite) {
	s.Step(`^the bucket will hold its answer to (\w+)'s request for the last part of "([^"]*)", half sent$`, holdLastPart)
	s.Step(`^the bucket will hold (\w+)'s request for (`+things+`) of "([^"]*)"$`, holdThing)

	s.Step(`^nothing lies on (\w+) under the name of (`+things+`) of "([^"]*)"$`, nothingUnder)
	s.Step(`^(\w+)'s copy of (`+things+`) of "([^"]*)" is what it was$`, copyUnchanged)
	s.Step(`^(\w+)'s copy of (`+things+`) of "([^"]*)" is what the bucket lists$`, copyAsListed)
	s.Step(`^(\w+)'s copy of (`+things+`) of "([^"]*)" has a byte changed$`, copyDamaged)
	s.Step(`^(\w+) has no run manifest that it did not have$`, noNewRunManifest)
	s.Step(`^(\w+) has no run of "([^"]*)"$`, noRun)
	s.Step(`^the message names the identity of (\w+)'s store$`, namesIdentity)
	s.Step(`^the message names the key$`, namesKey)
	s.Step(`^the pull succeeds, or is refused with (\w+)$`, succeedsOrRefused)

	registerPullMoving(s)
	registerPullAsked(s)
	registerPullPointer(s)
	registerPullHostile(s)
}

// things are what a feature calls the objects of a table. "the" run is its only one or the one with the greatest key.
const things = `the last part|the first part|the snapshot's manifest|the run's part|the run's manifest|the schema|the pointer`

// thing gives the bucket key of a thing as manifest and pointer of the bucket tell it, so any implementation's names will
// do. The message of a refusal may have to name it: it is kept under name:the key.
func thing(ctx context.Context, w *world.World, what, table string) (string, error) {
	key, err := keyOf(ctx, w, what, table)
	if err == nil {
		w.Values["name:the key"] = key
	}
	return key, err
}

func keyOf(ctx context.Context, w *world.World, what, table string) (string, error) {
	switch what {
	case "the schema":
		return w.TableKey(table, "schema.json"), nil
	case "the pointer":
		return w.TableKey(table, "_pointer.json"), nil
	case "the run's part", "the run's manifest":
		return runKey(ctx, w, what, table)
	}
	snap, dir, err := bucketSnapshot(ctx, w, table)
	if err != nil {
		return "", err
	}
	if what == "the snapshot's manifest" {
		return w.TableKey(table, dir+"/_manifest.json"), nil
	}
	if len(snap.Parts) == 0 {
		return "", fmt.Errorf("the snapshot of %q has no parts", table)
	}
	// A part that the snapshot names in an older one's directory is nothing new: whoever pulled that one has it.
	parts := slices.DeleteFunc(slices.Clone(snap.Parts), func(p inspect.Part) bool { return p.SnapshotID != "" && p.SnapshotID != snap.SnapshotID })
	if len(parts) == 0 {
		parts = snap.Parts
	}
	part := parts[0]
	if what == "the last part" {
		part = parts[len(parts)-1]
	}
	if part.SnapshotID != "" {
		dir = "data/snapshots/" + part.SnapshotID
	}
	return w.TableKey(table, path.Join(dir, part.Name)), nil
}

// bucketSnapshot reads the snapshot that the bucket's pointer names, and gives its directory below the table's.
func bucketSnapshot(ctx context.Context, w *world.World, table string) (inspect.SnapshotDoc, string, error) {
	ptr, err := w.BucketPointer(ctx, table)
	if err != nil {
		return inspect.SnapshotDoc{}, "", err
	}
	dir := "data/snapshots/" + ptr.SnapshotID
	key := w.TableKey(table, dir+"/_manifest.json")
	text, changed := originals(w)[key] // as it was before a step damaged it
	if !changed {
		if text, err = w.Bucket().Get(ctx, key); err != nil {
			return inspect.SnapshotDoc{}, dir, err
		}
	}
	snap, err := inspect.DecodeSnapshot("the snapshot in the bucket", text)
	return snap, dir, err
}

func runKey(ctx context.Context, w *world.World, what, table string) (string, error) {
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return "", err
	}
	found := ""
	for key := range doc.Entries {
		if !strings.HasPrefix(key, w.TableKey(table, "data/runs/")) || key < found {
			continue
		}
		if what == "the run's manifest" && inspect.IsRunManifest(key) || what == "the run's part" && inspect.IsPart(key) {
			found = key
		}
	}
	if found == "" {
		return "", verify.Fail(fmt.Sprintf("the bucket lists a run of %q", table), "an entry", "none")
	}
	return found, nil
}

func holdLastPart(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	key, err := thing(ctx, w, "the last part", table)
	if err != nil {
		return err
	}
	return w.Hold(Gate, "body 50%", "Get", world.Who(w.Node(node), "pull"), w.Key(key))
}

func holdThing(ctx context.Context, node, what, table string) error {
	w := world.From(ctx)
	key, err := thing(ctx, w, what, table)
	if err != nil {
		return err
	}
	return w.Hold(Gate, "before", "Get", world.Who(w.Node(node), "pull"), w.Key(key), "(OnIndex 0)")
}

// rel is the path below the store root of a key of the project.
func rel(w *world.World, key string) string { return strings.TrimPrefix(key, w.StoreKey("")) }

func nothingUnder(ctx context.Context, node, what, table string) error {
	w := world.From(ctx)
	key, err := keyOf(ctx, w, what, table)
	if err != nil {
		return err
	}
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		here, err := n.Has(rel(w, key))
		if err != nil {
			return err
		}
		return verify.That(!here, fmt.Sprintf("nothing lies on %s as %s of %q", n.Name, what, table), "no file", rel(w, key))
	})
}

// copyUnchanged compares one file with what it was when the node's latest verb was asked. A scenario that says so of a
// file that was not there would say nothing.
func copyUnchanged(ctx context.Context, node, what, table string) error {
	w := world.From(ctx)
	key, err := keyOf(ctx, w, what, table)
	if err != nil {
		return err
	}
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		now, err := n.Tree()
		if err != nil {
			return err
		}
		only := func(p string) bool { return p == rel(w, key) }
		if len(n.Before().Only(only)) == 0 {
			return fmt.Errorf("%s had no copy of %s", n.Name, key)
		}
		return verify.Unchanged(fmt.Sprintf("%s's copy of %s of %q is what it was", n.Name, what, table), n.Before().Only(only), now.Only(only))
	})
}

func copyAsListed(ctx context.Context, node, what, table string) error {
	w := world.From(ctx)
	key, err := keyOf(ctx, w, what, table)
	if err != nil {
		return err
	}
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		_, got, err := inspect.FileDigest(n.Path(rel(w, key)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return verify.Equal(fmt.Sprintf("the SHA-256 of %s's copy of %s", n.Name, key), doc.Entries[key].SHA256, got)
	})
}

// copyDamaged changes a byte of a file in the middle; its size stays.
func copyDamaged(ctx context.Context, node, what, table string) error {
	w := world.From(ctx)
	key, err := thing(ctx, w, what, table)
	if err != nil {
		return err
	}
	return rewriteFile(w.Node(node).Path(rel(w, key)), func(body []byte) []byte { return flipped(body) })
}

// noNewRunManifest compares with the moment at which what is under way began, or else the latest verb.
func noNewRunManifest(ctx context.Context, node string) error {
	return each(ctx, node, func(w *world.World, n *world.Node) error {
		before := n.Before()
		if t, err := n.Task(); err == nil {
			before = t.Before()
		}
		now, err := n.Tree()
		if err != nil {
			return err
		}
		var fresh []string
		for p := range now.Only(func(p string) bool { return inspect.IsRunManifest("/" + p) }) {
			if _, had := before[p]; !had {
				fresh = append(fresh, p)
			}
		}
		return verify.Nothing(n.Name+" has no run manifest that it did not have", fresh)
	})
}

func noRun(ctx context.Context, node, table string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		runs, err := inspect.Runs(n.Root(), table)
		if err != nil {
			return err
		}
		var keys []string
		for _, r := range runs {
			keys = append(keys, r.Key())
		}
		return verify.Nothing(fmt.Sprintf("%s has no run of %q", n.Name, table), keys)
	})
}

func namesIdentity(ctx context.Context, node string) error {
	w := world.From(ctx)
	id, err := inspect.StoreID(w.Node(node).Root())
	if err != nil {
		return err
	}
	return messageNames(w, "the identity of "+node+"'s store", id)
}

// namesKey is about the object that a step has moved, damaged or listed.
func namesKey(ctx context.Context) error {
	w := world.From(ctx)
	key, ok := w.Values["name:the key"].(string)
	if !ok {
		return errors.New("no step has said which key")
	}
	return messageNames(w, "the key", key)
}

func messageNames(w *world.World, what, name string) error {
	c, err := w.Last()
	if err != nil {
		return err
	}
	return verify.That(verify.Names(c.Stderr, name), "the message names "+what, name, verify.Outcome(c.Result))
}

func succeedsOrRefused(ctx context.Context, code string) error {
	c, err := outcome(ctx, "pull", "")
	if err != nil || c.OK() {
		return err
	}
	return refused(ctx, "pull", code)
}
