package steps

import (
	"context"
	"fmt"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Refusals, and that nothing changed.
func registerRefusal(s *Suite) {
	s.Step(`^the (`+verbWords+`) is refused with (\w+)$`, refused)
	s.Step(`^the (`+verbWords+`) is refused with (\w+), naming (.+)$`, refusedNaming)
	s.Step(`^(\w+)'s (`+verbWords+`) is refused with (\w+)$`, nodeRefused)
	s.Step(`^(\w+)'s (`+verbWords+`) is refused with (\w+), naming (.+)$`, nodeRefusedNaming)
	s.Step(`^the (`+verbWords+`) fails$`, failsSomehow)
	s.Step(`^(\w+)'s store (?:is|stays) as it was$`, storeUnchanged)
	s.Step(`^(\w+)'s store (?:is|stays) as it was, to the byte$`, storeUnchangedBytes)
	s.Step(`^"([^"]*)" on (\w+) (?:is|stays) as it was$`, tableUnchanged)
	s.Step(`^the bucket (?:is|stays) as it was$`, bucketUnchanged)
	s.Step(`^the bucket's manifest and pointers (?:are|stay) as they were$`, bucketReadersUnchanged)
}

func refused(ctx context.Context, word, code string) error { return refusal(ctx, word, "", code, nil) }

func refusedNaming(ctx context.Context, word, code, phrase string) error {
	return nodeRefusedNaming(ctx, "", word, code, phrase)
}

func nodeRefused(ctx context.Context, node, word, code string) error {
	return refusal(ctx, word, node, code, nil)
}

func nodeRefusedNaming(ctx context.Context, node, word, code, phrase string) error {
	names, err := phraseNames(ctx, phrase)
	if err != nil {
		return err
	}
	return refusal(ctx, word, node, code, names)
}

// phraseNames takes the quoted words of a phrase; a step of an operation that has to name a computed thing keeps it in
// Values under "name:<word>" and writes <word> between angle brackets: naming "events" and <the newer snapshot>.
func phraseNames(ctx context.Context, phrase string) ([]string, error) {
	w := world.From(ctx)
	out := names(phrase)
	for _, m := range bracketed.FindAllStringSubmatch(phrase, -1) {
		v, ok := w.Values["name:"+m[1]].(string)
		if !ok {
			return nil, fmt.Errorf("no step has said what <%s> is", m[1])
		}
		out = append(out, v)
	}
	return out, nil
}

func refusal(ctx context.Context, word, node, code string, names []string) error {
	c, err := outcome(ctx, word, node)
	if err != nil {
		return err
	}
	w := world.From(ctx)
	return verify.Refusal{Code: code, Names: names, Known: w.Known, Find: w.Config().Refusal}.Check(c.Result)
}

// failsSomehow is for the words of a setting, not for a clause: a refusal is judged by its code.
func failsSomehow(ctx context.Context, word string) error {
	c, err := outcome(ctx, word, "")
	if err != nil {
		return err
	}
	return verify.That(!c.OK(), "the "+word+" fails", "a non-zero exit", verify.Outcome(c.Result))
}

// storeUnchanged looks at what means something to a reader or a bucket: catalogs, locks and temporary files may move.
func storeUnchanged(ctx context.Context, node string) error {
	return unchanged(ctx, node, node+"'s store is as it was", inspect.Meaningful)
}

func storeUnchangedBytes(ctx context.Context, node string) error {
	return unchanged(ctx, node, node+"'s store is as it was, to the byte", func(string) bool { return true })
}

func tableUnchanged(ctx context.Context, table, node string) error {
	dir := "tables/" + table + "/"
	return unchanged(ctx, node, fmt.Sprintf("%q on %s is as it was", table, node), func(p string) bool {
		return len(p) > len(dir) && p[:len(dir)] == dir && inspect.Meaningful(p)
	})
}

func unchanged(ctx context.Context, node, what string, keep func(string) bool) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		now, err := n.Tree()
		if err != nil {
			return err
		}
		return verify.Unchanged(what, n.Before().Only(keep), now.Only(keep))
	})
}

func bucketUnchanged(ctx context.Context) error {
	w := world.From(ctx)
	now, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	return verify.NoChange("the bucket is as it was", w.BucketBefore().Diff(now))
}

// bucketReadersUnchanged allows orphan uploads: what a reader of the bucket resolves is as it was.
func bucketReadersUnchanged(ctx context.Context) error {
	w := world.From(ctx)
	now, err := w.BucketState(ctx)
	if err != nil {
		return err
	}
	keep := func(s world.BucketState) world.BucketState {
		out := world.BucketState{}
		for k, d := range s {
			if k == "manifest.json" || inspect.IsPointer(k) {
				out[k] = d
			}
		}
		return out
	}
	return verify.NoChange("the bucket's manifest and pointers are as they were", keep(w.BucketBefore()).Diff(keep(now)))
}
