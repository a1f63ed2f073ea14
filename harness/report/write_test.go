package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rich is a report with every field of the model filled in, and words that need escaping.
func rich() *Report {
	r := &Report{
		Started: time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC), Seconds: 12.5, Complete: true, Interrupted: false,
		SUT:       Subject{Name: "contextful <rs>", Command: []string{"./target/release/contextful"}, Clock: "now-flag", Config: "conform.toml", Capabilities: map[string]bool{"sync": true, "lazy": false}},
		Selection: Selection{Seed: 7, Repeat: 2, Jobs: 2, Shuffle: true, Strict: true, Require: true},
		Digests:   Digests{Binary: strings.Repeat("b", 64), Spec: strings.Repeat("5", 64), Features: strings.Repeat("f", 64), Kit: strings.Repeat("1", 64)},
		Services:  []Service{{Name: "minio", Available: false, Detail: "docker: not there"}},
		Clauses: []Clause{
			{ID: "store.pull.pointer-last", Level: "MUST", Needs: []string{"sync"}, Facets: []string{"before", "killed"}, Text: "The pointer waits.\n\n- *before*: no <pointer> first.\n- *killed*: nor after a kill.", Why: "readers", Page: "store/pull.md", Line: 12},
			{ID: "store.pull.lazy", Level: "SHOULD", Needs: []string{"sync", "lazy"}, Text: "Later.", Page: "store/pull.md", Line: 40},
			{ID: "store.land.once", Level: "MUST", Text: "Once.", Page: "store/land.md", Line: 3},
		},
		Gaps: []Gap{{Clause: "store.pull.pointer-last", Facet: "killed", Reason: "no kill here", AttestedBy: "pull.TestKill", Later: "x"}},
		Scenarios: []Scenario{
			{ID: "store/pull/the-pointer-waits", Name: "the pointer waits & <sees>", Feature: "store/pull.feature", Line: 9, Area: "store.pull",
				Tags: []string{"store.pull.pointer-last#before"}, Level: "MUST", Needs: []string{"sync"}, Services: []string{"s3cas"}, Verdict: Fail,
				Reason: "no pointer before its parts: expected no _pointer.json", Attempt: 2, Flaky: true, Seconds: 0.25, Examples: map[string]string{"point": "its last request"},
				Steps: []Step{
					{Keyword: "Given", Kind: "Given", Text: `alpha has pushed "events"`, Line: 10, Status: StepPassed, Seconds: 0.1},
					{Keyword: "Then", Kind: "Then", Text: `beta has no pointer for "events"`, Line: 12, Status: StepFailed, Error: "it has one"},
				},
				Mismatch: &Mismatch{Clause: "store.pull.pointer-last#before", What: "no pointer before its parts", Expected: "no _pointer.json", Actual: "it names s-1\nand <more> \x01"},
				Calls: []Call{{Node: "beta", Verb: "pull", Principal: "beta.pull.1", Argv: []string{"contextful", "sync", "pull", "it's"}, Env: map[string]string{"A": "b"}, Stdin: "x",
					Exit: -1, Signal: "killed", Killed: "killed at GET x", Seconds: 0.1, Stdout: strings.Repeat("o", 9000), Stderr: "SyncFailed: <no>", NoAnswer: true, Panicked: true}},
				Journal: []string{"1 beta.pull.1 GET manifest.json 200", "2 beta.pull.1 PUT lease 412"}, Tree: []string{"+ tables/events/_pointer.json"}, Notes: []string{"a note"},
				Reproduce: "contextful-conform run --scenario 'store/pull/the-pointer-waits'"},
			{ID: "store/pull/lazy", Name: "lazy", Feature: "store/pull.feature", Line: 30, Area: "store.pull", Tags: []string{"store.pull.lazy"}, Level: "SHOULD", Needs: []string{"lazy"},
				Verdict: Unsupported, Reason: "needs lazy", Reproduce: "r"},
			{ID: "store/land/once", Name: "once", Feature: "store/land.feature", Line: 5, Area: "store.land", Tags: []string{"store.land.once"}, Level: "MUST", Verdict: Pass, Seconds: 1, Reproduce: "r"},
		},
		Baseline: &Baseline{File: "conform.lock.toml", Used: 1, Stale: []string{"x: it passes"}},
	}
	r.Summarise()
	r.Judge()
	return r
}

func TestWriteAllAndReadBack(t *testing.T) {
	dir := t.TempDir()
	r := rich()
	require.NoError(t, WriteAll(dir, r))
	back, err := Read(filepath.Join(dir, FileJSON))
	require.NoError(t, err)
	require.Equal(t, r, back)
	require.Less(t, len(back.Scenarios[0].Calls[0].Stdout), 5000)

	bundle, err := ReadBundle(filepath.Join(dir, back.Scenarios[0].Bundle))
	require.NoError(t, err)
	require.Len(t, bundle.Scenario.Calls[0].Stdout, 9000, "the bundle keeps all")
	require.Equal(t, "store.pull.pointer-last", bundle.Clauses[0].ID)
	text, err := os.ReadFile(filepath.Join(dir, back.Scenarios[0].Bundle, "failure.txt"))
	require.NoError(t, err)
	all := strings.TrimSpace(string(text))
	for _, want := range []string{"The pointer waits.", "expected: no _pointer.json", "$ contextful sync pull 'it'\\''s'", "stderr │ SyncFailed", "PUT lease 412", "+ tables/events/_pointer.json", "seed 7"} {
		require.Contains(t, all, want)
	}
	require.Equal(t, back.Scenarios[0].Reproduce, all[strings.LastIndex(all, "\n")+1:], "the last line reproduces it")

	require.NoError(t, WriteAll(dir, empty()), "a second run replaces the first")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 4, left)
}

func TestReadRefusesWhatItWouldMisread(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"schema_version": 2}`), 0o644))
	_, err := Read(file)
	require.ErrorContains(t, err, "schema_version 2")
	require.NoError(t, os.WriteFile(file, []byte(`<html>`), 0o644))
	_, err = Read(file)
	require.ErrorContains(t, err, "is no report")
	_, err = ReadBundle(filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "no failure bundle")
}

func TestJUnitSaysWhatTheExitStatusSays(t *testing.T) {
	r := rich()
	for _, s := range []Scenario{
		{ID: "should", Verdict: Fail, Level: "SHOULD"}, {ID: "xfail", Verdict: XFail}, {ID: "xpass", Verdict: XPass}, {ID: "error", Verdict: Error},
		{ID: "unavailable", Verdict: Unavailable}, {ID: "not-run", Verdict: NotRun},
	} {
		s.Area = "store.more"
		r.Scenarios = append(r.Scenarios, s)
	}
	kinds := func() map[string]string {
		var b bytes.Buffer
		require.NoError(t, JUnit(&b, r))
		var doc junitSuites
		require.NoError(t, xml.Unmarshal(b.Bytes(), &doc))
		out := map[string]string{}
		n := map[string]int{}
		for _, s := range doc.Suites {
			for _, c := range s.Cases {
				kind := "pass"
				switch {
				case c.Failure != nil:
					kind = "failure"
				case c.Error != nil:
					kind = "error"
				case c.Skipped != nil:
					require.NotEmpty(t, c.Skipped.Message)
					kind = "skipped"
				}
				out[c.Name] = kind
				n[kind]++
			}
		}
		require.Equal(t, []int{doc.Tests, doc.Failures, doc.Errors, doc.Skipped}, []int{len(r.Scenarios), n["failure"], n["error"], n["skipped"]})
		return out
	}
	require.Equal(t, map[string]string{"store/pull/the-pointer-waits": "failure", "store/pull/lazy": "skipped", "store/land/once": "pass", "should": "failure",
		"xfail": "skipped", "xpass": "failure", "error": "error", "unavailable": "failure", "not-run": "error"}, kinds())
	r.Selection.Strict, r.Selection.Require, r.Interrupted = false, false, true
	got := kinds()
	for _, id := range []string{"should", "unavailable", "not-run"} {
		require.Equal(t, "skipped", got[id], id)
	}
}

// TestThePageTellsAtFirstSight: a failure's line says what was expected and seen, and the list of what nobody judged has
// no window of its own to scroll in.
func TestThePageTellsAtFirstSight(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, HTML(&b, rich()))
	summary, _, _ := strings.Cut(b.String()[strings.Index(b.String(), "<summary>"):], "</summary>")
	require.Contains(t, summary, "expected <b>no _pointer.json</b>, got <b>it names s-1 …</b>")
	require.NotRegexp(t, `\.missing \{[^}]*(max-height|overflow)`, b.String())
	require.Equal(t, strings.Repeat("ü", 160)+" …", gist(strings.Repeat("ü", 161)))
}

func TestThePageIsSelfContainedAndEscaped(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, HTML(&b, rich()))
	html := b.String()
	require.NotRegexp(t, regexp.MustCompile(`(?i)(src|href)="?(https?:)?//`), html)
	require.NotContains(t, html, "@import")
	require.NotContains(t, html, "ZgotmplZ")
	require.NotContains(t, html, "<sees>")
	require.NotContains(t, html, "<pointer>", "no HTML from a clause")
	for _, want := range []string{"the pointer waits &amp; &lt;sees&gt;", "it names s-1", `data-verdict="unsupported"`, `<option>store.land</option>`, `<option>lazy</option>`, "PUT lease 412",
		"<em>before</em>", "prefers-color-scheme: dark"} {
		require.Contains(t, html, want)
	}
}

func TestCIWords(t *testing.T) {
	r := rich()
	var b bytes.Buffer
	Annotations(&b, r, "features")
	first, _, _ := strings.Cut(b.String(), "\n")
	require.Equal(t, "::error file=features/store/pull.feature,line=9,title=store.pull.pointer-last#before%3A the pointer waits & <sees>::"+
		"no pointer before its parts%0Aexpected: no _pointer.json%0Aactual: it names s-1%0Aand <more> \x01%0Acontextful-conform run --scenario 'store/pull/the-pointer-waits'", first)

	b.Reset()
	StepSummary(&b, r)
	for _, want := range []string{"## contextful &lt;rs>: not conformant", "2 of 3 clauses judged; not judged: lazy 1 (not declared)", "| **MUST** | 1 | 1 |", "| fail | store.pull.pointer-last#before |"} {
		require.Contains(t, b.String(), want)
	}
}

func TestBadges(t *testing.T) {
	got := Badges(rich())
	require.Equal(t, Badge{1, "contextful core", "1 of 1 clauses", "brightgreen"}, got["core"])
	require.Equal(t, Badge{1, "contextful sync", "1 of 1 clauses broken", "red"}, got["sync"])
	require.Equal(t, Badge{1, "contextful lazy", "not declared", "lightgrey"}, got["lazy"])
	text, err := json.Marshal(got["core"])
	require.NoError(t, err)
	require.JSONEq(t, `{"schemaVersion":1,"label":"contextful core","message":"1 of 1 clauses","color":"brightgreen"}`, string(text))
}

func TestDiff(t *testing.T) {
	report := func(verdicts map[string]Verdict) *Report {
		r := &Report{Complete: true}
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			if v, ok := verdicts[id]; ok {
				r.Scenarios = append(r.Scenarios, Scenario{ID: id, Verdict: v})
			}
		}
		return r
	}
	before := report(map[string]Verdict{"a": Pass, "b": Fail, "c": Pass, "d": Pass, "e": Unsupported, "f": Pass})
	after := report(map[string]Verdict{"a": Fail, "b": Pass, "c": Unavailable, "d": Pass, "e": Fail, "g": Pass})
	d := Compare(before, after)
	ids := func(list []Change) (out []string) {
		for _, c := range list {
			out = append(out, c.ID)
		}
		return out
	}
	require.Equal(t, []string{"a"}, ids(d.Regressions))
	require.Equal(t, []string{"b"}, ids(d.Fixed))
	require.Equal(t, []string{"c", "f"}, ids(d.Silent))
	require.Equal(t, []string{"e", "g"}, ids(d.Other))
	require.Equal(t, 1, d.Exit())
	var b bytes.Buffer
	d.Print(&b)
	require.Contains(t, b.String(), "regressed         pass → fail  a")
	require.Contains(t, b.String(), "1 regressed, 2 no longer judged, 1 fixed, 2 changed otherwise")

	after.Selection.Clauses = []string{"x"}
	require.Equal(t, []string{"c"}, ids(Compare(before, after).Silent), "a filtered report says nothing of the rest")
	require.Equal(t, 0, Compare(before, before).Exit())
	dropped := report(map[string]Verdict{"a": Unsupported})
	require.Equal(t, 1, Compare(before, dropped).Exit(), "dropping a capability is a step back")
}
