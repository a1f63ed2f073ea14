package baseline

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"contextful/harness/report"
	"contextful/spec"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func law(t *testing.T) *spec.Index {
	t.Helper()
	page := "# pull\n\n## store.pull.order\nMUST · facets: before, after · from: supporting\n\nText.\n\n- *before*: one.\n- *after*: two.\n\nWhy: because.\n"
	index, err := spec.LoadFS(fstest.MapFS{"store/pull.md": {Data: []byte(page)}})
	require.NoError(t, err)
	return index
}

const tag = "store.pull.order#before"

func scenario(id string, v report.Verdict) report.Scenario {
	s := report.Scenario{ID: id, Tags: []string{tag}, Level: "MUST", Verdict: v}
	if v == report.Fail {
		s.Mismatch = &report.Mismatch{Clause: tag, What: "no pointer before its parts", Expected: "no _pointer.json", Actual: "it names s-1"}
	}
	return s
}

func entry(id, signature, expires string) string {
	return fmt.Sprintf("[[expected]]\nclause = %q\nscenario = %q\nreason = \"known\"\nlink = \"\"\nexpires = %s\nsignature = %q\n", tag, id, expires, signature)
}

func apply(t *testing.T, text string, scenarios ...report.Scenario) *report.Report {
	t.Helper()
	f, err := Parse("conform.lock.toml", []byte(text))
	require.NoError(t, err)
	r := &report.Report{Scenarios: scenarios}
	f.Apply(r, law(t), now)
	r.Summarise()
	return r
}

func TestApply(t *testing.T) {
	good := "no pointer before its parts | expected"
	other := scenario("a", report.Fail)
	other.Mismatch.What = "something else entirely"
	flaky := scenario("a", report.Fail)
	flaky.Flaky = true
	for _, c := range []struct {
		name    string
		text    string
		in      report.Scenario
		verdict report.Verdict
		stale   string
		exit    int
	}{
		{"fails as recorded", entry("a", good, "2026-11-30"), scenario("a", report.Fail), report.XFail, "", 0},
		{"passes", entry("a", good, "2027-01-01"), scenario("a", report.Pass), report.XPass, "it passes", 4},
		{"expired", entry("a", good, "2026-11-29"), scenario("a", report.Fail), report.Fail, "expired on 2026-11-29", 1},
		{"fails otherwise", entry("a", good, "2027-01-01"), other, report.Fail, "otherwise than recorded", 1},
		{"flaky", entry("a", good, "2027-01-01"), flaky, report.Fail, "flaky", 1},
		{"error", entry("a", good, "2027-01-01"), scenario("a", report.Error), report.Error, "cannot be expected", 2},
		{"gone", entry("b", good, "2027-01-01"), scenario("a", report.Pass), report.Pass, "no such scenario", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := apply(t, c.text, c.in)
			require.Equal(t, c.verdict, r.Scenarios[0].Verdict)
			if c.stale == "" {
				require.Empty(t, r.Baseline.Stale)
				require.Equal(t, 1, r.Baseline.Used)
			} else {
				require.Len(t, r.Baseline.Stale, 1)
				require.Contains(t, r.Baseline.Stale[0], c.stale)
			}
			require.Equal(t, c.exit, r.Judge(), r.Why)
		})
	}
}

func TestUnknownClauseIsStale(t *testing.T) {
	f, err := Parse("l", []byte("[[expected]]\nclause = \"store.pull.order#middle\"\nscenario = \"a\"\nreason = \"x\"\nexpires = 2027-01-01\nsignature = \"twelve chars\"\n"))
	require.NoError(t, err)
	r := &report.Report{Scenarios: []report.Scenario{scenario("a", report.Fail)}}
	f.Apply(r, law(t), now)
	require.Equal(t, []string{"l: a: there is no clause store.pull.order#middle"}, r.Baseline.Stale)
}

func TestAFilteredRunSaysNothingOfOthers(t *testing.T) {
	f, err := Parse("l", []byte(entry("elsewhere", "twelve chars", "2027-01-01")))
	require.NoError(t, err)
	r := &report.Report{Selection: report.Selection{Clauses: []string{"store.pull.*"}}}
	f.Apply(r, law(t), now)
	require.Empty(t, r.Baseline.Stale)
}

func TestFormIsChecked(t *testing.T) {
	_, err := Parse("l", []byte("[[expected]]\nscenario = \"a\"\nsignature = \"eleven char\"\n[[expected]]\nscenario = \"a\"\n"))
	for _, want := range []string{"entry 1 (a): clause is missing", "entry 1 (a): reason is missing", "entry 1 (a): expires is missing",
		`signature "eleven char" is shorter than 12`, "entry 2 (a): the scenario stands twice"} {
		require.ErrorContains(t, err, want)
	}
	_, err = Parse("l", []byte("[[expected]]\nclauze = \"a\"\n"))
	require.ErrorContains(t, err, "unknown key expected.clauze")
}

func TestUpdateRecordsWhatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conform.lock.toml")
	old, err := LoadOrEmpty(path)
	require.NoError(t, err)
	r := &report.Report{Started: now, Scenarios: []report.Scenario{scenario("b \"quoted\" \x01 é", report.Fail), scenario("a", report.Fail), scenario("c", report.Pass)}}
	r.Summarise()
	f, err := Update(old, r, now.AddDate(0, 3, 1).AddDate(0, 0, -2))
	require.NoError(t, err)
	require.NoError(t, f.Save())
	back, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, f.Entries, back.Entries)
	require.Equal(t, "no pointer before its parts", back.Entries[0].Signature)
	require.Equal(t, "2027-03-01", back.Entries[0].Expires.String())

	back.Entries[0].Reason = "we know"
	back.Apply(r, law(t), now)
	r.Summarise()
	require.Equal(t, 0, r.Judge(), r.Why)
	kept, err := Update(back, r, now)
	require.NoError(t, err)
	require.Equal(t, back.Entries, kept.Entries)

	r.Selection.Clauses = []string{"x"}
	_, err = Update(back, r, now)
	require.ErrorContains(t, err, "filtered")
	r.Selection.Clauses = nil
	r.Scenarios[0].Verdict = report.Error
	r.Summarise()
	_, err = Update(back, r, now)
	require.ErrorContains(t, err, "cannot be expected")
}
