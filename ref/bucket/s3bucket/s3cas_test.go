package s3bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"contextful/fakes/s3cas"
	"contextful/ref/bucket"
	"contextful/ref/bucket/buckettest"
	"contextful/ref/bucket/commit"
	"contextful/ref/bucket/s3bucket"
	"contextful/ref/probe"
)

func fake(t *testing.T) (*s3cas.Server, *s3bucket.Bucket) {
	t.Helper()
	s, err := s3cas.New(s3cas.Options{Buckets: []string{"bkt"}, Principals: []s3cas.Principal{{AccessKey: "AK", Secret: "SK", Name: "alpha"}}}).Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, client(t, s.URL())
}

func TestContractOnTheFake(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) bucket.Bucket { _, b := fake(t); return b })
}

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// TestCommitUnderFaults sends one conditional create and one conditional replace through every way an answer can mislead.
func TestCommitUnderFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		want  commit.Outcome
	}{
		{`(ApplyThenDrop (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(ApplyThen 500 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(ApplyThen 412 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Drop (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Late 1 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Late 2 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Respond 409 "ConditionalRequestConflict" (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Respond 412 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Respond 500 (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Respond 503 "SlowDown" (And Put (Key "k") (OnIndex 0)))`, commit.Applied},
		{`(Rival "theirs" (And Put (Key "k") (OnIndex 0)))`, commit.Moved},
	} {
		for _, replace := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s replace=%v", c.fault, replace), func(t *testing.T) {
				s, b := fake(t)
				cond := bucket.Condition{IfAbsent: true}
				if replace {
					o, err := b.Put(context.Background(), "k", bytes.NewReader([]byte("old")), 3, bucket.Condition{})
					if err != nil {
						t.Fatal(err)
					}
					cond = bucket.Condition{IfMatch: o.ETag}
				}
				in, err := s.InjectText(c.fault)
				if err != nil {
					t.Fatal(err)
				}
				r, err := commit.Put(context.Background(), b, noPause, "k", commit.Bytes([]byte("ours")), cond)
				if err != nil || r.Outcome != c.want {
					t.Fatalf("%v, %v", r, err)
				}
				if in[0].Fired() != 1 {
					t.Fatalf("the fault fired %d times", in[0].Fired())
				}
				got, _, _ := s.Get("bkt", "k")
				if want := map[commit.Outcome]string{commit.Applied: "ours", commit.Moved: "theirs"}[c.want]; string(got) != want {
					t.Fatalf("the bucket holds %q", got)
				}
			})
		}
	}
}

// TestProbeOfDialects says which lies the probe sees.
func TestProbeOfDialects(t *testing.T) {
	for _, c := range []struct {
		mode    string
		args    []string
		verdict probe.Verdict
	}{
		{"", nil, probe.CAS},
		{"ignore_if_none_match", nil, probe.None},
		{"ignore_if_match", nil, probe.None},
		{"if_match_missing_creates", nil, probe.CAS}, // harmless: nothing that is replaced is ever deleted
		{"if_match_missing_412", nil, probe.CAS},
		{"inm_exists_304", nil, probe.Inconclusive},
		{"inm_missing_404", nil, probe.Inconclusive},
		{"conflict_409_once", nil, probe.CAS},
		{"conflict_409_always", nil, probe.None},
		{"toctou_window", []string{"2"}, probe.None},
		{"toctou_window", []string{"0"}, probe.None},
		{"condition_skipped_on_error", nil, probe.None},
		{"etag_weak", nil, probe.None},
		{"etag_opaque", nil, probe.CAS},
		{"etag_unquoted_required", nil, probe.None},
		{"etag_quoted_rejected", nil, probe.Inconclusive},
		{"200_without_etag", []string{"Put"}, probe.CAS},
		{"not_implemented", []string{"Conditional"}, probe.Inconclusive},
		{"forbid", nil, probe.Inconclusive},
		{"no_such_bucket", nil, probe.Inconclusive},
		{"stale_get", []string{"1"}, probe.None},
		{"reject_checksum_headers", nil, probe.CAS},
		{"reject_aws_chunked", nil, probe.CAS},
	} {
		t.Run(c.mode+fmt.Sprint(c.args), func(t *testing.T) {
			s, b := fake(t)
			if c.mode != "" {
				if err := s.SetMode(c.mode, c.args...); err != nil {
					t.Fatal(err)
				}
			}
			report, err := probe.Run(context.Background(), probe.Options{Bucket: b, Pause: noPause})
			if report.Verdict != c.verdict {
				t.Fatalf("verdict %s, %q, %v", report.Verdict, report.Reasons, err)
			}
			if left := s.Keys("bkt", ""); len(left) > 0 && c.mode != "forbid" {
				t.Errorf("left %q", left)
			}
		})
	}
}

func TestAnEndedContextLeavesTheOutcomeOpen(t *testing.T) {
	s, b := fake(t)
	if _, err := s.InjectText(`(Hold "gate" after (And Put (Key "k")))`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_ = s.Gate("gate").WaitHeld(context.Background(), 1)
		cancel()
	}()
	_, err := b.Put(ctx, "k", bytes.NewReader([]byte("x")), 1, bucket.Condition{IfAbsent: true})
	s.Gate("gate").Release() // not before: the answer must not overtake the end
	if !errors.Is(err, bucket.ErrUnknownOutcome) || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
}
