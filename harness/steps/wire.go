package steps

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Faults of the bucket, holds, and the record of requests.
func registerWire(s *Suite) {
	s.Step(`^the bucket will do `+"`([^`]+)`"+`$`, injectText)
	s.Step(`^the bucket's mode is "([^"]*)"$`, mode)
	s.Step(`^the bucket will hold (\w+)'s request for "([^"]*)"$`, holdGet)
	s.Step(`^the bucket will hold (\w+)'s write of "([^"]*)"( once it is applied)?$`, holdPut)
	s.Step(`^the (?:answer|request|write) is held$`, isHeld)
	s.Step(`^the (?:answer|request|write) is let through$`, letThrough)
	s.Step(`^(\w+) is killed by its (first|last|\d+(?:st|nd|rd|th)) request$`, killedByRequest)

	s.Step(`^(\w+) has asked the bucket nothing$`, askedNothing)
	s.Step(`^(\w+)'s (`+verbWords+`) has (written|asked for|listed|deleted) nothing(?: (?:but|of) "([^"]*)")?$`, neverDid)
	s.Step(`^(\w+)'s (`+verbWords+`) writes "([^"]*)" only after every "([^"]*)"$`, writesAfter)
	s.Step(`^every write of "([^"]*)" was conditional$`, conditional)
}

var bracketed = regexp.MustCompile(`<([^>]+)>`)

// Gate is the one gate that the common hold steps use; an operation that needs two names its own.
const Gate = "held"

func injectText(ctx context.Context, text string) error {
	_, err := world.From(ctx).Inject(text)
	return err
}

func mode(ctx context.Context, text string) error {
	s, err := world.From(ctx).Fake()
	if err != nil {
		return err
	}
	return s.SetMode(text)
}

func holdGet(ctx context.Context, node, glob string) error {
	w := world.From(ctx)
	return w.Hold(Gate, "before", "Get", world.Who(w.Node(node), ""), w.Key(glob), "(OnIndex 0)")
}

func holdPut(ctx context.Context, node, glob, applied string) error {
	w := world.From(ctx)
	phase := "before"
	if applied != "" {
		phase = "after"
	}
	return w.Hold(Gate, phase, "Put", world.Who(w.Node(node), ""), w.Key(glob), "(OnIndex 0)")
}

func isHeld(ctx context.Context) error { return world.From(ctx).Held(ctx, Gate, 1) }

func letThrough(ctx context.Context) error { return world.From(ctx).Release(Gate) }

// killedByRequest arms the fake: the node's process dies before that request of its next verb is applied.
func killedByRequest(ctx context.Context, node, which string) error {
	if which == "last" {
		return fmt.Errorf("the last request is known only after a run: use the crash steps")
	}
	index := 0
	if which != "first" {
		if _, err := fmt.Sscanf(which, "%d", &index); err != nil {
			return err
		}
		index--
	}
	w := world.From(ctx)
	_, err := w.Inject(fmt.Sprintf("(Kill before (And %s (OnIndex %d)))", world.Who(w.Node(node), ""), index))
	return err
}

func askedNothing(ctx context.Context, node string) error {
	w := world.From(ctx)
	got, err := w.Requests(w.Node(node), "")
	if err != nil {
		return err
	}
	return verify.Never(node+" has asked the bucket nothing", got)
}

func neverDid(ctx context.Context, node, word, how, glob string) error {
	w := world.From(ctx)
	ops := map[string][]s3cas.Op{"written": {s3cas.OpPut, s3cas.OpCopy, s3cas.OpCompleteMultipart}, "asked for": {s3cas.OpGet, s3cas.OpHead},
		"listed": {s3cas.OpList}, "deleted": {s3cas.OpDelete, s3cas.OpDeleteObjects}}[how]
	got, err := w.Requests(w.Node(node), verbOf(word), s3cas.Filter{Ops: ops})
	if err != nil {
		return err
	}
	var out []s3cas.Entry
	for _, e := range got {
		if glob == "" || !s3cas.Glob(w.FullKey(glob), e.Key) {
			out = append(out, e)
		}
	}
	return verify.Never(strings.TrimSpace(fmt.Sprintf("%s's %s has %s nothing but %q", node, word, how, glob)), out)
}

func writesAfter(ctx context.Context, node, word, late, early string) error {
	w := world.From(ctx)
	puts := func(glob string) ([]s3cas.Entry, error) {
		return w.Requests(w.Node(node), verbOf(word), s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut, s3cas.OpCompleteMultipart}, Key: w.FullKey(glob)})
	}
	first, err := puts(early)
	if err != nil {
		return err
	}
	then, err := puts(late)
	if err != nil {
		return err
	}
	return verify.Before(fmt.Sprintf("%s's %s writes %s only after every %s", node, word, late, early), first, then)
}

func conditional(ctx context.Context, glob string) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	puts := s.JournalFor(s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: w.FullKey(glob)})
	if len(puts) == 0 {
		return verify.Fail("every write of "+glob+" was conditional", "a write", "there was none")
	}
	var bad []s3cas.Entry
	for _, e := range puts {
		if e.IfMatch == "" && e.IfNoneMatch == "" && e.Principal != "rival" {
			bad = append(bad, e)
		}
	}
	return verify.Never("every write of "+glob+" was conditional", bad)
}
