package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"contextful/fakes/s3cas"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps of the probe operation: buckets that lie in every way the fake knows, and what is made of them.
func registerProbe(s *Suite) {
	s.Step("^the bucket is (in the mode|speaking|given to) [\"`](.+)[\"`]$", bucketIs)
	s.Step(`^its third write from now on comes too soon$`, thirdTooSoon)
	s.Step(`^the probe says "(cas|none|inconclusive)"$`, probeSays)
	s.Step(`^the probe does not say "cas"$`, probeNotCAS)
	s.Step(`^(\w+)'s probe has written its sentinel$`, wroteSentinel)
	s.Step(`^no sentinel is left in the bucket$`, noSentinel)
	s.Step(`^the refusal tells of (".+")$`, tellsOf)
	s.Step(`^the probe is not refused with (\w+)$`, notRefusedWith)
	s.Step(`^each push succeeded, or was refused with (\w+)$`, eachPushOrRefused)
	s.Step(`^a new node "(\w+)" that pulls reads of "([^"]*)" exactly what was landed$`, newNodeReads)
}

func bucketIs(ctx context.Context, how, what string) error {
	w := world.From(ctx)
	s, err := w.Fake()
	if err != nil {
		return err
	}
	switch how {
	case "in the mode":
		return s.SetMode(what)
	case "speaking":
		if err := s.UseDialect(what); err != nil {
			return err
		}
		return secondPerWrite(w, s)
	}
	_, err = w.Inject(what)
	return err
}

// secondPerWrite has the scenario's clock run with the writes, so that a service that counts them by the second is met as in
// the world, where a write takes its time.
func secondPerWrite(w *world.World, s *s3cas.Server) error {
	early := &atomic.Int64{} // how many writes from now on until one comes too soon
	w.Values["probe.early"] = early
	s.Register("a second", func(*s3cas.Call) {
		if early.Add(-1) != 0 {
			_ = w.Advance(time.Second) // a clock that cannot be moved leaves the bucket's as it is
		}
	})
	_, err := s.InjectText(`(Call "a second" Writes)`)
	return err
}

// thirdTooSoon leaves one write without its second.
func thirdTooSoon(ctx context.Context) error {
	early, ok := world.From(ctx).Values["probe.early"].(*atomic.Int64)
	if !ok {
		return errors.New("no step has said what the bucket is speaking")
	}
	early.Store(3)
	return nil
}

// verdictOf reads the probe's report; ok is false where it printed none.
func verdictOf(ctx context.Context) (verdict string, c world.Call, ok bool, err error) {
	c, err = outcome(ctx, "probe", "")
	if err != nil {
		return "", c, false, err
	}
	var report struct{ Verdict string }
	ok = json.Unmarshal([]byte(c.Stdout), &report) == nil && report.Verdict != ""
	return report.Verdict, c, ok, nil
}

func probeSays(ctx context.Context, want string) error {
	verdict, c, ok, err := verdictOf(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return verify.Fail("the probe says "+want, `{"verdict": "`+want+`"}`, verify.Outcome(c.Result))
	}
	return verify.Equal("what the probe says", want, verdict)
}

// probeNotCAS takes a refusal without a report for an answer too.
func probeNotCAS(ctx context.Context) error {
	verdict, c, ok, err := verdictOf(ctx)
	if err != nil {
		return err
	}
	if ok {
		return verify.That(verdict != "cas", "the probe does not say cas", "none or inconclusive", verdict)
	}
	return verify.That(!c.OK(), "the probe says what it found", "a verdict that is not cas, or a refusal", verify.Outcome(c.Result))
}

func wroteSentinel(ctx context.Context, node string) error {
	w := world.From(ctx)
	got, err := w.Requests(w.Node(node), sut.Probe, s3cas.Filter{Ops: []s3cas.Op{s3cas.OpPut}, Key: w.FullKey("_contextful/cas-probe/*"), Status: 200})
	if err != nil {
		return err
	}
	return verify.That(len(got) > 0, node+"'s probe has written its sentinel", "a write below _contextful/cas-probe/", "none")
}

func noSentinel(ctx context.Context) error {
	keys, err := world.From(ctx).Bucket().Keys(ctx, "_contextful/")
	if err != nil {
		return err
	}
	return verify.Nothing("no sentinel is left in the bucket", keys)
}

// tellsOf wants one of several words for what was met: nobody is told how to say it.
func tellsOf(ctx context.Context, phrase string) error {
	c, err := world.From(ctx).Last()
	if err != nil {
		return err
	}
	for _, word := range names(phrase) {
		if strings.Contains(c.Stderr, word) {
			return nil
		}
	}
	return verify.Fail("the refusal tells what was met", "one of "+phrase, verify.Outcome(c.Result))
}

func notRefusedWith(ctx context.Context, code string) error {
	_, c, ok, err := verdictOf(ctx)
	if err != nil {
		return err
	}
	if err := verify.That(ok || !c.OK(), "the probe says what it found", "a verdict, or a refusal", verify.Outcome(c.Result)+", and no verdict"); err != nil {
		return err
	}
	w := world.From(ctx)
	was := verify.Refusal{Code: code, Known: w.Known, Find: w.Config().Refusal}.Check(c.Result) == nil
	return verify.That(!was, "the probe is not refused with "+code, "another outcome", verify.Outcome(c.Result))
}

func eachPushOrRefused(ctx context.Context, code string) error {
	w := world.From(ctx)
	for _, n := range w.Nodes() {
		c, err := lastOf(ctx, n.Name, sut.Push, 0)
		if err != nil {
			return err
		}
		if c.OK() {
			continue
		}
		if err := (verify.Refusal{Code: code, Known: w.Known, Find: w.Config().Refusal}).Check(c.Result); err != nil {
			return err
		}
	}
	return nil
}

// newNodeReads is what the bucket promises everybody: a fresh clone pulls and has every row.
func newNodeReads(ctx context.Context, node, table string) error {
	w := world.From(ctx)
	if err := w.Ok(ctx, w.Node(node), sut.Pull, nil); err != nil {
		return err
	}
	if err := promisesKept(ctx, node); err != nil {
		return fmt.Errorf("%w", err)
	}
	return readsLanded(ctx, node, table)
}
