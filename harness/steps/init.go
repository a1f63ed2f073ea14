package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the init operation: the declaration file, the store root and the identity in it.
func registerInit(s *Suite) {
	s.Step(`^(\w+)'s declaration file holds((?s:.*))$`, declarationHolds)
	s.Step(`^(\w+)'s declaration file is not there$`, noDeclaration)
	s.Step(`^(\w+) initialises the project "([^"]*)"$`, initialisesProject)
	s.Step(`^(\w+)'s declaration names the project "([^"]*)"$`, declarationNames)
	s.Step(`^(\w+)'s declaration begins with every byte it had$`, declarationBegins)
	s.Step(`^(\w+)'s declaration says all else that it said$`, declarationSaysElse)
	s.Step(`^(\w+)'s declaration file is what it was, to the byte$`, declarationSame)
	s.Step(`^(\w+)'s directory is what it was$`, directorySame)
	s.Step(`^(\w+) has the store root of "([^"]*)"$`, hasRoot)

	s.Step(`^(\w+)'s store-id is one canonical UUID of version 4 and a line end$`, identityCanonical)
	s.Step(`^(\w+) has the identity it had$`, identityKept)
	s.Step(`^(\w+) has another identity than it had$`, identityNew)
	s.Step(`^(\w+) has the identity of (\w+)$`, identityOf)
	s.Step(`^the bucket holds (\w+)'s identity and lists it$`, identityInBucket)
	s.Step(`^(\w+)'s store root was removed$`, rootRemoved)
	s.Step(`^(\w+)'s store-id holds((?s:.*))$`, identityHolds)
	s.Step(`^(\w+)'s store-id was replaced by its own in upper case$`, identityUpper)
	s.Step(`^(\w+)'s store-id is put back$`, identityBack)
}

// declaration is what a node's declaration file held before init, and what its directory held.
type declaration struct {
	text    string
	entries []string
}

func declarationOf(w *world.World, n *world.Node) declaration {
	d, _ := w.Values["init.declaration."+n.Name].(declaration)
	return d
}

// holds gives a file's text as a feature writes it: one space is the step's own, and \r is a carriage return.
func holds(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, " "), `\r`, "\r")
}

func declarationHolds(ctx context.Context, node, text string) error {
	n := world.From(ctx).Node(node)
	if err := os.MkdirAll(n.Project(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(n.Project(), "contextful.toml"), []byte(holds(text)), 0o644)
}

func noDeclaration(ctx context.Context, node string) error {
	n := world.From(ctx).Node(node)
	if _, err := os.Lstat(filepath.Join(n.Project(), "contextful.toml")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has a declaration file (%v)", node, err)
	}
	return nil
}

// initialisesProject remembers the directory as it was, then asks whatever comes of it.
func initialisesProject(ctx context.Context, node, name string) error {
	w := world.From(ctx)
	n := w.Node(node)
	if err := rememberMachine(ctx, n); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(n.Project(), "contextful.toml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := inspect.Entries(n.Project())
	if err != nil {
		return err
	}
	w.Values["init.declaration."+node] = declaration{string(text), entries}
	_, err = w.Do(ctx, n, sut.Init, nil, func(s *sut.Node) { s.Title = name })
	return err
}

func declarationNames(ctx context.Context, node, name string) error {
	doc, err := inspect.Declaration(world.From(ctx).Node(node).Project())
	if err != nil {
		return verify.Fail(node+"'s declaration names the project", name, err)
	}
	got, ok := inspect.ProjectName(doc)
	return verify.That(ok && got == name, node+"'s declaration names the project", name, fmt.Sprintf("%q", got))
}

func declarationText(n *world.Node) (string, error) {
	text, err := os.ReadFile(filepath.Join(n.Project(), "contextful.toml"))
	return string(text), err
}

func declarationBegins(ctx context.Context, node string) error {
	w := world.From(ctx)
	now, err := declarationText(w.Node(node))
	if err != nil {
		return verify.Fail(node+"'s declaration begins with every byte it had", "a file", err)
	}
	old := declarationOf(w, w.Node(node)).text
	return verify.That(strings.HasPrefix(now, old), node+"'s declaration begins with every byte it had", fmt.Sprintf("%q and more", old), fmt.Sprintf("%q", now))
}

// declarationSaysElse compares what the file means, the project key aside: what follows must not change what stood before.
func declarationSaysElse(ctx context.Context, node string) error {
	w := world.From(ctx)
	dir, err := w.Dir("declared-before-" + node)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "contextful.toml"), []byte(declarationOf(w, w.Node(node)).text), 0o644); err != nil {
		return err
	}
	before, err := inspect.Declaration(dir)
	if err != nil {
		return err
	}
	after, err := inspect.Declaration(w.Node(node).Project())
	if err != nil {
		return verify.Fail(node+"'s declaration says all else that it said", before, err)
	}
	delete(after, "project")
	return verify.That(reflect.DeepEqual(before, after), node+"'s declaration says all else that it said", before, after)
}

func declarationSame(ctx context.Context, node string) error {
	w := world.From(ctx)
	now, err := declarationText(w.Node(node))
	if err != nil {
		return verify.Fail(node+"'s declaration file is what it was", "the file", err)
	}
	return verify.Equal(node+"'s declaration file is what it was", fmt.Sprintf("%q", declarationOf(w, w.Node(node)).text), fmt.Sprintf("%q", now))
}

func directorySame(ctx context.Context, node string) error {
	w := world.From(ctx)
	now, err := inspect.Entries(w.Node(node).Project())
	if err != nil {
		return err
	}
	before := declarationOf(w, w.Node(node))
	if err := verify.SameSet(node+"'s directory is what it was", before.entries, now); err != nil || before.text == "" {
		return err
	}
	return declarationSame(ctx, node)
}

func hasRoot(ctx context.Context, node, name string) error {
	what := fmt.Sprintf("%s has the store root of %q", node, name)
	info, err := os.Stat(filepath.Join(world.From(ctx).Node(node).Project(), ".contextful", "context", filepath.FromSlash(name)))
	if err != nil {
		return verify.Fail(what, "a directory", err)
	}
	return verify.That(info.IsDir(), what, "a directory", info.Mode())
}

func identityCanonical(ctx context.Context, node string) error {
	if _, err := inspect.StoreID(world.From(ctx).Node(node).Root()); err != nil {
		return verify.Fail(node+"'s store-id", "one canonical lower-case UUID of version 4 and a line end", err)
	}
	return nil
}

// identities are what store-id held when the node's latest verb was asked, or what a step that removed it remembered, and
// what it holds now. Both have to be there: nothing is no identity that could be kept or changed.
func identities(ctx context.Context, node string) (old, now inspect.TreeFile, err error) {
	w := world.From(ctx)
	n := w.Node(node)
	tree, err := n.Tree()
	if err != nil {
		return old, now, err
	}
	old, had := w.Values["init.identity."+node].(inspect.TreeFile)
	if !had {
		old, had = n.Before()["store-id"]
	}
	now, has := tree["store-id"]
	if err := verify.That(had, node+" had an identity before", "a file store-id", "none"); err != nil {
		return old, now, err
	}
	return old, now, verify.That(has, node+" has an identity", "a file store-id", "none")
}

func identityKept(ctx context.Context, node string) error {
	old, now, err := identities(ctx, node)
	if err != nil {
		return err
	}
	return verify.Equal(node+" has the identity it had", old, now)
}

func identityNew(ctx context.Context, node string) error {
	old, now, err := identities(ctx, node)
	if err != nil {
		return err
	}
	return verify.That(old != now, node+" has another identity than it had", "another store-id", "the same")
}

func identityOf(ctx context.Context, node, other string) error {
	w := world.From(ctx)
	want, err := inspect.StoreID(w.Node(other).Root())
	if err != nil {
		return err
	}
	got, err := inspect.StoreID(w.Node(node).Root())
	if err != nil {
		return verify.Fail(node+" has the identity of "+other, want, err)
	}
	return verify.Equal(node+" has the identity of "+other, want, got)
}

func identityInBucket(ctx context.Context, node string) error {
	w := world.From(ctx)
	what, k := "the bucket holds "+node+"'s identity and lists it", w.StoreKey("store-id")
	want, err := os.ReadFile(w.Node(node).Path("store-id"))
	if err != nil {
		return err
	}
	got, err := w.Bucket().Get(ctx, k)
	if errors.Is(err, fs.ErrNotExist) {
		return verify.Fail(what, k, "no such object")
	}
	if err != nil {
		return err
	}
	if err := verify.Equal(what, string(want), string(got)); err != nil {
		return err
	}
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	_, listed := doc.Entries[k]
	return verify.That(listed, what, "an entry "+k, "there is none")
}

func rootRemoved(ctx context.Context, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	old, err := n.Tree()
	if err != nil {
		return err
	}
	id, ok := old["store-id"]
	if err := verify.That(ok, node+"'s store has an identity before it is removed", "a file store-id", "none"); err != nil {
		return err
	}
	w.Values["init.identity."+node] = id
	n.Bare = true // what is made anew is made by init alone
	return os.RemoveAll(n.Root())
}

func identityHolds(ctx context.Context, node, text string) error {
	n := world.From(ctx).Node(node)
	old, err := os.ReadFile(n.Path("store-id"))
	if err != nil {
		return err
	}
	world.From(ctx).Values["init.store-id."+node] = old
	return os.WriteFile(n.Path("store-id"), []byte(holds(text)), 0o644)
}

func identityUpper(ctx context.Context, node string) error {
	n := world.From(ctx).Node(node)
	old, err := os.ReadFile(n.Path("store-id"))
	if err != nil {
		return err
	}
	world.From(ctx).Values["init.store-id."+node] = old
	return os.WriteFile(n.Path("store-id"), []byte(strings.ToUpper(string(old))), 0o644)
}

func identityBack(ctx context.Context, node string) error {
	old, ok := world.From(ctx).Values["init.store-id."+node].([]byte)
	if !ok {
		return fmt.Errorf("%s's store-id was never replaced", node)
	}
	return os.WriteFile(world.From(ctx).Node(node).Path("store-id"), old, 0o644)
}
