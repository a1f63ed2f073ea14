package steps

import (
	"context"
	"fmt"
	"strings"
	"time"

	"contextful/fakes/s3cas"
	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// What a pull asked the bucket for, and what it did with it. "Given" means answered whole, without a fault.
func registerPullAsked(s *Suite) {
	s.Step(`^(\w+)'s pull has asked for nothing but the bucket's manifest and store-id$`, askedOnlyWhose)
	s.Step(`^(\w+)'s pull has asked for (`+things+`) of "([^"]*)" (\d+) times$`, askedTimes)
	s.Step(`^(\w+)'s pull has asked again for no part that it had been given$`, askedNothingAgain)
	s.Step(`^(\w+)'s pull has asked only for what was not there as listed$`, askedOnlyMissing)
	s.Step(`^all that (\w+)'s pull was given lies on \w+ under its name$`, givenIsHome)
	s.Step(`^(\w+)'s (pull|push) has asked for the pointer of each table once, by its key$`, askedPointersOnce)
	s.Step(`^(\d+) of (\w+)'s downloads come to be held together$`, heldTogether)
	s.Step(`^never more than (\d+) are held together as they go through one by one$`, neverMore)
}

// asked lists what the node's latest run of a verb asked to be given, by key relative to the prefix, in order.
func asked(w *world.World, n *world.Node, verb sut.Verb) (keys []string, entries []s3cas.Entry, err error) {
	entries, err = w.Requests(n, verb, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpGet, s3cas.OpHead}})
	for _, e := range entries {
		keys = append(keys, strings.TrimPrefix(e.Key, w.FullKey("")+"/"))
	}
	return keys, entries, err
}

func given(e s3cas.Entry) bool {
	return e.Op == s3cas.OpGet && e.Status == 200 && !e.Dropped && e.Fault == ""
}

func askedOnlyWhose(ctx context.Context, node string) error {
	w := world.From(ctx)
	keys, _, err := asked(w, w.Node(node), sut.Pull)
	if err != nil {
		return err
	}
	var more []string
	for _, k := range keys {
		if k != "manifest.json" && k != w.StoreKey("store-id") {
			more = append(more, k)
		}
	}
	return verify.Nothing(node+"'s pull has asked for nothing but the bucket's manifest and store-id", more)
}

func askedTimes(ctx context.Context, node, what, table string, times int) error {
	w := world.From(ctx)
	want, err := keyOf(ctx, w, what, table)
	if err != nil {
		return err
	}
	keys, entries, err := asked(w, w.Node(node), sut.Pull)
	if err != nil {
		return err
	}
	n := 0
	for i, k := range keys {
		if k == want && entries[i].Op == s3cas.OpGet {
			n++
		}
	}
	return verify.Equal(fmt.Sprintf("how often %s's pull has asked for %s", node, want), times, n)
}

// askedNothingAgain looks at parts alone: they are what a pull is long for, and they never change.
func askedNothingAgain(ctx context.Context, node string) error {
	w := world.From(ctx)
	keys, entries, err := asked(w, w.Node(node), sut.Pull)
	if err != nil {
		return err
	}
	had := map[string]bool{}
	var again []string
	for i, k := range keys {
		if !inspect.IsPart(k) || entries[i].Op != s3cas.OpGet {
			continue
		}
		if had[k] {
			again = append(again, entries[i].String())
		}
		had[k] = had[k] || given(entries[i])
	}
	if len(had) == 0 {
		return verify.Fail(node+"'s pull asks for parts", "a GET of a part", "none")
	}
	return verify.Nothing(node+"'s pull has asked again for no part that it had been given", again)
}

// askedOnlyMissing compares with the node's disk when the pull began. Whose bucket it is may always be asked.
func askedOnlyMissing(ctx context.Context, node string) error {
	w := world.From(ctx)
	n := w.Node(node)
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	keys, _, err := asked(w, n, sut.Pull)
	if err != nil {
		return err
	}
	var again []string
	for _, k := range keys {
		e, listed := doc.Entries[k]
		if listed && k != w.StoreKey("store-id") && n.Before()[rel(w, k)].SHA256 == e.SHA256 {
			again = append(again, k)
		}
	}
	return verify.Nothing(node+"'s pull has asked only for what was not there as listed", again)
}

// givenIsHome leaves out what has no name of its own on disk yet: run manifests wait for everything else, schemas are
// merged.
func givenIsHome(ctx context.Context, node string) error {
	w := world.From(ctx)
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	keys, entries, err := asked(w, w.Node(node), sut.Pull)
	if err != nil {
		return err
	}
	now, err := w.Node(node).Tree()
	if err != nil {
		return err
	}
	parts := 0
	var lost []string
	for i, k := range keys {
		e, listed := doc.Entries[k]
		if !listed || !given(entries[i]) || inspect.IsRunManifest(k) || strings.HasSuffix(k, "/schema.json") {
			continue
		}
		if inspect.IsPart(k) {
			parts++
		}
		if now[rel(w, k)].SHA256 != e.SHA256 {
			lost = append(lost, k)
		}
	}
	if parts == 0 {
		return fmt.Errorf("%s's pull was given no part", node)
	}
	return verify.Nothing("all that "+node+"'s pull was given lies on it under its name: what does not", lost)
}

// askedPointersOnce counts requests of any kind for each table that the bucket manifest lists. A table that has no
// pointer yet may be known not to have one.
func askedPointersOnce(ctx context.Context, node, word string) error {
	w := world.From(ctx)
	keys, _, err := asked(w, w.Node(node), verbOf(word))
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, k := range keys {
		times[k]++
	}
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	tables := 0
	for key := range doc.Entries {
		table, ok := strings.CutSuffix(key, "/schema.json")
		if !ok {
			continue
		}
		_, has := doc.Pointers[table+"/_pointer.json"]
		what := fmt.Sprintf("how often %s's %s has asked for %s/_pointer.json", node, word, table)
		if n := times[table+"/_pointer.json"]; has || n > 1 {
			tables++
			if err := verify.Equal(what, 1, n); err != nil {
				return err
			}
		}
	}
	if tables == 0 {
		return fmt.Errorf("the bucket lists no table with a pointer")
	}
	return nil
}

// settle is how long the kit waits for one more download to be held. It bounds a failure, never a success.
const settle = 5 * time.Second

func heldTogether(ctx context.Context, n int, node string) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	doc, err := w.BucketDoc(ctx)
	if err != nil {
		return err
	}
	parts := 0
	for key := range doc.Entries {
		if inspect.IsPart(key) && strings.Contains(key, "/data/snapshots/") {
			parts++
		}
	}
	if parts < n+4 {
		return fmt.Errorf("%d parts are too few to see that no more than %d are held together", parts, n)
	}
	w.Values["pull.parts"] = parts
	return waitHeld(ctx, s.Gate(widthGate), n)
}

func waitHeld(ctx context.Context, g *s3cas.Gate, n int) error {
	limited, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	if err := g.WaitHeld(limited, n); err != nil && ctx.Err() == nil {
		return verify.Fail("how many downloads are held together", n, g.Held())
	}
	return ctx.Err()
}

// neverMore comes after another verb has run meanwhile, in which time a wider pull has had all that it wants held. It lets
// one download through at a time and waits for the next to take its place; at no look may more than n be held. The last n
// have no successors and go together.
func neverMore(ctx context.Context, n int) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	parts, ok := w.Values["pull.parts"].(int)
	if !ok {
		return fmt.Errorf("nothing was held together before")
	}
	g := s.Gate(widthGate)
	for left := parts - n; ; left-- {
		if held := g.Held(); held > n {
			return verify.Fail("how many downloads are held together", fmt.Sprintf("never more than %d", n), held)
		}
		if left == 0 {
			g.Release()
			return nil
		}
		g.Pass(1)
		if err := waitHeld(ctx, g, n); err != nil {
			return err
		}
	}
}
