package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func sample(verdicts ...Verdict) *Report {
	r := &Report{
		Complete: true,
		SUT:      Subject{Name: "x", Capabilities: map[string]bool{"sync": true}},
		Clauses: []Clause{
			{ID: "store.pull.a", Level: "MUST", Needs: []string{"sync"}, Facets: []string{"f", "g"}},
			{ID: "store.pull.b", Level: "MUST", Needs: []string{"sync", "lazy"}},
			{ID: "store.land.c", Level: "SHOULD"},
		},
	}
	for i, v := range verdicts {
		r.Scenarios = append(r.Scenarios, Scenario{ID: string(rune('a' + i)), Tags: []string{"store.pull.a#f"}, Level: "MUST", Verdict: v})
	}
	r.Summarise()
	return r
}

func TestExitIsTheWorst(t *testing.T) {
	for _, c := range []struct {
		name     string
		verdicts []Verdict
		change   func(*Report)
		exit     int
	}{
		{"all pass", []Verdict{Pass, Unsupported}, nil, 0},
		{"a fail", []Verdict{Pass, Fail}, nil, 1},
		{"an error outranks a fail", []Verdict{Pass, Fail, Error}, nil, 2},
		{"nothing judged", []Verdict{Unsupported, Unavailable}, nil, 3},
		{"nothing selected", nil, nil, 3},
		{"stale baseline", []Verdict{Pass, XPass}, func(r *Report) { r.Baseline = &Baseline{Stale: []string{"it passes"}} }, 4},
		{"a fail outranks a stale baseline", []Verdict{Fail}, func(r *Report) { r.Baseline = &Baseline{Stale: []string{"it passes"}} }, 1},
		{"not run without an interrupt", []Verdict{Pass, NotRun}, nil, 2},
		{"interrupted", []Verdict{Fail, NotRun}, func(r *Report) { r.Interrupted = true }, 130},
		{"unavailable", []Verdict{Pass, Unavailable}, nil, 0},
		{"unavailable, required", []Verdict{Pass, Unavailable}, func(r *Report) { r.Selection.Require = true }, 1},
		{"the same id twice", []Verdict{Pass, Pass}, func(r *Report) { r.Scenarios[1].ID = "a" }, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sample(c.verdicts...)
			if c.change != nil {
				c.change(r)
			}
			require.Equal(t, c.exit, r.Judge(), r.Why)
			require.Equal(t, c.exit != 0, len(r.Why) > 0)
			require.True(t, r.Counts.Balanced())
		})
	}
}

func TestShouldFailsOnlyUnderStrict(t *testing.T) {
	r := sample(Pass, Fail)
	r.Scenarios[1].Level = "SHOULD"
	r.Summarise()
	require.Equal(t, 0, r.Judge())
	r.Selection.Strict = true
	require.Equal(t, 1, r.Judge())
}

func TestClausesKnowWhatAsksThem(t *testing.T) {
	r := sample(Pass, Fail)
	require.Equal(t, Fail, r.Clauses[0].Verdict)
	require.Equal(t, []string{"a", "b"}, r.Clauses[0].Scenarios)
	require.Equal(t, []string{"store.pull.a#g"}, r.Clauses[0].Uncovered)
	require.Equal(t, NotRun, r.Clauses[1].Verdict)
	require.Equal(t, 1, r.Judged.Clauses)
	require.Equal(t, []NotJudgedBy{{"", 1, true}, {"lazy", 1, false}}, r.Judged.Missing)

	r.Gaps = []Gap{{Clause: "store.pull.a", Facet: "g", Reason: "no black box sees it"}}
	r.Summarise()
	require.Empty(t, r.Clauses[0].Uncovered)
}

func TestAFilteredRunIsNotComplete(t *testing.T) {
	r := sample(Pass)
	require.True(t, r.Complete)
	r.Selection.Clauses = []string{"store.pull.*"}
	r.Summarise()
	require.False(t, r.Complete)
}
