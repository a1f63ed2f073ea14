package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the push operation: the bucket's list beside the bucket and beside the disks it came from.
func registerPush(s *Suite) {
	s.Step(`^the bucket lists what (\w+)(?: and (\w+))? (?:has|have) committed of "([^"]*)"$`, listsCommitted)
	s.Step(`^everything the bucket lists is there, with its digest and size$`, listedIsThere)
	s.Step(`^the kit looks at the bucket$`, look)
	s.Step(`^everything the bucket lists was there when the kit looked$`, listedWasThere)
	s.Step(`^the bucket's manifest is (one generation on|the second generation)$`, generationIs)
	s.Step(`^the bucket already holds (something else|the same) under (a part|the manifest) of (\w+)'s latest run of "([^"]*)"$`, holdsAlready)
	s.Step(`^what the bucket already held stays as it was$`, heldStays)
}

// contribution is what a node has to list of a table, read from its own disk: its runs and the chain of its pointer. Keys are
// relative to the prefix.
func contribution(w *world.World, n *world.Node, table string) (map[string]inspect.Entry, error) {
	files := map[string]string{} // absolute path → owner
	runs, err := inspect.Runs(n.Root(), table)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if filepath.Base(r.Dir) == n.ID {
			addFiles(files, r.Dir, r.Parts, n.ID)
		}
	}
	chain, err := inspect.Chain(n.Root(), table)
	if err != nil {
		return nil, err
	}
	for _, s := range chain {
		addFiles(files, s.Dir, s.Parts, "")
	}
	files[n.Path("store-id")] = ""
	out := map[string]inspect.Entry{}
	for file, owner := range files {
		rel, err := filepath.Rel(n.Root(), file)
		if err != nil {
			return nil, err
		}
		size, sum, err := inspect.FileDigest(file)
		if err != nil {
			return nil, err
		}
		out[w.StoreKey(filepath.ToSlash(rel))] = inspect.Entry{SHA256: sum, Size: size, Owner: owner}
	}
	return out, nil
}

func addFiles(files map[string]string, dir string, parts []inspect.Part, owner string) {
	files[filepath.Join(dir, "_manifest.json")] = owner
	for _, p := range parts {
		files[p.Path] = owner
	}
}

func listsCommitted(ctx context.Context, one, other, table string) error {
	w := world.From(ctx)
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return bucketMissing(err, "the bucket lists what was committed", "a manifest.json")
	}
	var wrong []string
	for _, name := range []string{one, other} {
		if name == "" {
			continue
		}
		want, err := contribution(w, w.Node(name), table)
		if err != nil {
			return err
		}
		for k, e := range want {
			if got := doc.Entries[k]; got != e {
				wrong = append(wrong, fmt.Sprintf("%s: %s has %+v, the bucket lists %+v", k, name, e, got))
			}
		}
	}
	if _, ok := doc.Entries[w.TableKey(table, "schema.json")]; !ok {
		wrong = append(wrong, w.TableKey(table, "schema.json")+" is not listed")
	}
	sort.Strings(wrong)
	return verify.Nothing("the bucket lists what was committed of "+table+": what differs", wrong)
}

// bucketMissing tells a bucket that has not what it should from one that cannot be looked at.
func bucketMissing(err error, what, expected string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return verify.Fail(what, expected, "there is none")
	}
	return err
}

func listedIsThere(ctx context.Context) error {
	w := world.From(ctx)
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return bucketMissing(err, "everything the bucket lists is there", "a manifest.json")
	}
	var wrong []string
	for k, e := range doc.Entries {
		body, err := w.Bucket().Get(ctx, k)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, k+" is listed and absent")
		case err != nil:
			return err
		case hexSum(body) != e.SHA256 || int64(len(body)) != e.Size:
			wrong = append(wrong, fmt.Sprintf("%s is listed with sha256 %s and %d bytes, and has %s and %d", k, e.SHA256, e.Size, hexSum(body), len(body)))
		}
	}
	sort.Strings(wrong)
	return verify.Nothing("everything the bucket lists is there, with its digest and size", wrong)
}

func hexSum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// looked is what the kit saw when a step had it look.
type looked struct {
	state world.BucketState
	doc   inspect.BucketDoc
}

func look(ctx context.Context) error {
	w := world.From(ctx)
	state, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	doc, err := w.BucketDoc(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.Values["push.looked"] = looked{state, doc}
	return nil
}

func lookedAt(ctx context.Context) (looked, error) {
	l, ok := world.From(ctx).Values["push.looked"].(looked)
	if !ok {
		return l, errors.New("no step has had the kit look at the bucket")
	}
	return l, nil
}

func listedWasThere(ctx context.Context) error {
	then, err := lookedAt(ctx)
	if err != nil {
		return err
	}
	doc, err := world.From(ctx).BucketDoc(ctx)
	if err != nil {
		return bucketMissing(err, "the push commits", "a manifest.json")
	}
	var wrong []string
	for k, e := range doc.Entries {
		if then.state[k] != e.SHA256 {
			wrong = append(wrong, k)
		}
	}
	sort.Strings(wrong)
	return verify.Nothing("what the list names and the bucket had not when the list was written", wrong)
}

func generationIs(ctx context.Context, which string) error {
	want := int64(2)
	if which == "one generation on" {
		then, err := lookedAt(ctx)
		if err != nil {
			return err
		}
		want = then.doc.Generation + 1
	}
	doc, err := world.From(ctx).BucketDoc(ctx)
	if err != nil {
		return bucketMissing(err, "the bucket's manifest is "+which, "a manifest.json")
	}
	return verify.Equal("the generation of the bucket's manifest", want, doc.Generation)
}

// holdsAlready puts an object where the node's next push will upload.
func holdsAlready(ctx context.Context, what, which, node, table string) error {
	w := world.From(ctx)
	n := w.Node(node)
	runs, err := inspect.Runs(n.Root(), table)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return verify.Fail(node+" has a run of "+table, "a committed run", "none")
	}
	latest := runs[0]
	for _, r := range runs {
		if r.CommittedAt.After(latest.CommittedAt) {
			latest = r
		}
	}
	file := filepath.Join(latest.Dir, "_manifest.json")
	if which == "a part" {
		file = latest.Parts[0].Path
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if what == "something else" {
		body[len(body)/2] ^= 0xff
	}
	rel, err := filepath.Rel(n.Root(), file)
	if err != nil {
		return err
	}
	key := w.StoreKey(filepath.ToSlash(rel))
	w.Values["push.held"], w.Values["push.held.sum"], w.Values["name:the key"] = key, hexSum(body), path.Join(path.Base(path.Dir(path.Dir(key))), path.Base(path.Dir(key)), path.Base(key))
	return w.Bucket().Put(ctx, key, body)
}

func heldStays(ctx context.Context) error {
	w := world.From(ctx)
	key, _ := w.Values["push.held"].(string)
	sum, _ := w.Values["push.held.sum"].(string)
	body, err := w.Bucket().Get(ctx, key)
	if err != nil {
		return bucketMissing(err, "what the bucket already held stays", strings.TrimSpace(key))
	}
	return verify.Equal("the content under "+key, sum, hexSum(body))
}
