package steps

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"contextful/fakes/s3cas"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the merge operation: how often a push asked for its commit, and what it left behind when it gave up.
func registerMerge(s *Suite) {
	s.Step(`^(\w+)'s push has asked (\d+) times to replace the bucket's manifest$`, askedToReplace)
	s.Step(`^the refusal tells of everything that (\w+)'s push uploaded$`, tellsOfUploads)
	s.Step(`^(\w+)'s push has uploaded nothing that its push before had uploaded$`, uploadedNothingAgain)
}

func askedToReplace(ctx context.Context, node string, want int) error {
	w := world.From(ctx)
	got, err := w.Requests(w.Node(node), sut.Push, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: w.FullKey("manifest.json")})
	if err != nil {
		return err
	}
	return verify.That(len(got) == want, fmt.Sprintf("%s's push asks for its commit %d times in all", node, want), fmt.Sprintf("%d requests", want),
		append([]string{fmt.Sprintf("%d requests", len(got))}, verify.Lines(got)...))
}

// uploads lists the objects of the store that a push put into the bucket, back pushes ago: neither lists, nor pointers, nor
// sentinels. Keys are relative to the prefix.
func uploads(ctx context.Context, node string, back int) ([]string, error) {
	c, err := lastOf(ctx, node, sut.Push, back)
	if err != nil {
		return nil, err
	}
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return nil, err
	}
	var out []string
	puts := s.JournalFor(s3cas.Filter{Principal: c.Principal, Ops: []s3cas.Op{s3cas.OpPut, s3cas.OpCompleteMultipart}, Key: w.FullKey(w.StoreKey("*")), Status: 200})
	for _, e := range puts {
		if !strings.HasSuffix(e.Key, "/_pointer.json") {
			out = append(out, strings.TrimPrefix(e.Key, w.FullKey("")+"/"))
		}
	}
	sort.Strings(out)
	return out, nil
}

// tellsOfUploads wants each key, whole or below the store root, or the number of them.
func tellsOfUploads(ctx context.Context, node string) error {
	keys, err := uploads(ctx, node, 0)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s's push uploaded nothing: there is nothing to tell of", node)
	}
	c, err := lastOf(ctx, node, sut.Push, 0)
	if err != nil || verify.Names(c.Stderr, fmt.Sprint(len(keys))) {
		return err
	}
	var untold []string
	for _, k := range keys {
		if !strings.Contains(c.Stderr, strings.TrimPrefix(k, world.From(ctx).StoreKey(""))) {
			untold = append(untold, k)
		}
	}
	return verify.Nothing("what the push uploaded and its refusal does not tell of", untold)
}

func uploadedNothingAgain(ctx context.Context, node string) error {
	before, err := uploads(ctx, node, 1)
	if err != nil {
		return err
	}
	now, err := uploads(ctx, node, 0)
	if err != nil {
		return err
	}
	had := map[string]bool{}
	for _, k := range before {
		had[k] = true
	}
	var twice []string
	for _, k := range now {
		if had[k] {
			twice = append(twice, k)
		}
	}
	return verify.Nothing("what "+node+"'s push wrote anew", twice)
}
