package steps

import (
	"context"
	"fmt"
	"sort"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the emit operation: the plan of a push, next to the push.
func registerEmit(s *Suite) {
	s.Step(`^(\w+) has emitted its manifest$`, hasEmitted)
	s.Step(`^the bucket is emptied$`, emptyBucket)
	s.Step(`^the bucket lists exactly what (\w+) emitted$`, listsEmitted)
	s.Step(`^(\w+)'s (`+verbWords+`) has asked the bucket nothing$`, verbAskedNothing)
	s.Step(`^(\w+) printed what it had printed before$`, printedAgain)
}

func hasEmitted(ctx context.Context, node string) error {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Emit, nil)
	if err != nil {
		return err
	}
	_, err = emittedDoc(c)
	return err
}

func emptyBucket(ctx context.Context) error {
	b := world.From(ctx).Bucket()
	keys, err := b.Keys(ctx, "")
	for _, k := range keys {
		if err == nil {
			err = b.Delete(ctx, k)
		}
	}
	return err
}

// entryLines gives entries one line each, so that sets of them compare.
func entryLines(entries map[string]inspect.Entry) []string {
	var out []string
	for k, e := range entries {
		out = append(out, fmt.Sprintf("%s sha256=%s size=%d owner=%q", k, e.SHA256, e.Size, e.Owner))
	}
	sort.Strings(out)
	return out
}

func listsEmitted(ctx context.Context, node string) error {
	c, err := lastOf(ctx, node, sut.Emit, 0)
	if err != nil {
		return err
	}
	emitted, err := emittedDoc(c)
	if err != nil {
		return err
	}
	listed, err := world.From(ctx).BucketDoc(ctx)
	if err != nil {
		return err
	}
	return verify.SameSet("what "+node+" emitted is what its push committed", entryLines(listed.Entries), entryLines(emitted.Entries))
}

func verbAskedNothing(ctx context.Context, node, word string) error {
	w := world.From(ctx)
	got, err := w.Requests(w.Node(node), verbOf(word))
	if err != nil {
		return err
	}
	return verify.Never(node+"'s "+word+" has asked the bucket nothing", got)
}

func printedAgain(ctx context.Context, node string) error {
	var docs [2]inspect.BucketDoc
	for back := range docs {
		c, err := lastOf(ctx, node, sut.Emit, back)
		if err != nil {
			return err
		}
		if docs[back], err = emittedDoc(c); err != nil {
			return err
		}
	}
	return verify.SameSet("with the endpoint down "+node+" prints the same entries", entryLines(docs[1].Entries), entryLines(docs[0].Entries))
}
