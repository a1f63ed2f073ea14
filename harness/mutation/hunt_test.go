package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"contextful/harness/report"
)

// fake answers as a table says: mutant → scenario id → how it ends. What is not in the table passes.
type fake struct {
	clean  []report.Scenario
	broken map[string]map[string]report.Scenario
}

func (f fake) Run(_ context.Context, ask Ask) ([]report.Scenario, error) {
	var out []report.Scenario
	for _, s := range f.clean {
		if ask.Scenarios != nil && (len(ask.Scenarios) != 1 || ask.Scenarios[0] != s.ID) {
			continue
		}
		if b, ok := f.broken[ask.Mutant][s.ID]; ok && ask.Binary == "mutated" {
			b.ID, b.Tags = s.ID, s.Tags
			s = b
		}
		out = append(out, s)
	}
	return out, nil
}

func passes(id string, seconds float64, tags ...string) report.Scenario {
	return report.Scenario{ID: id, Tags: tags, Verdict: report.Pass, Seconds: seconds}
}

func fails(keyword string, m *report.Mismatch, calls ...report.Call) report.Scenario {
	return report.Scenario{Verdict: report.Fail, Reason: "because", Mismatch: m, Calls: calls,
		Steps: []report.Step{{Keyword: "Given", Kind: "Given", Text: "ground", Status: report.StepPassed}, {Keyword: keyword, Kind: keyword, Text: "it holds", Status: report.StepFailed}}}
}

var differs = &report.Mismatch{What: "order", Expected: "first", Actual: "last"}

const (
	before = "store.pull.order#before"
	after  = "store.pull.order#after"
	plain  = "store.pull.plain"
)

func hunt(t *testing.T, f fake, mutants []Mutant, dead []Dead, only bool) *Result {
	t.Helper()
	var told []int
	h := Hunt{Runner: f, Law: law(t), Jobs: 3, Progress: func(done, total int, _ *Outcome) { told = append(told, done) }}
	r, err := h.Run(context.Background(), mutants, Binaries{Clean: "clean", Mutated: "mutated", Dead: dead}, only)
	require.NoError(t, err)
	require.Len(t, told, len(mutants))
	return r
}

func of(id, tag string) Mutant {
	m := Mutant{ID: id, Why: "a mistake", File: "ref/x.go"}
	switch tag {
	case plain:
		m.Clause = plain
	default:
		m.Clause, m.Facet = tag[:len("store.pull.order")], tag[len("store.pull.order#"):]
	}
	return m
}

func TestOnlyAMismatchOfItsOwnScenarioKills(t *testing.T) {
	clean := []report.Scenario{
		passes("slow", 9, before),
		passes("quick", 1, before),
		passes("other facet", 1, after),
		passes("whole clause", 2, "store.pull.order"),
		passes("plain", 1, plain),
		{ID: "not clean", Tags: []string{plain}, Verdict: report.Fail, Reason: "broken anyway"},
		{ID: "no service", Tags: []string{plain}, Verdict: report.Unavailable},
	}
	killing := fails("Then", differs)
	f := fake{clean: clean, broken: map[string]map[string]report.Scenario{
		"killed":      {"slow": killing},
		"by-whole":    {"whole clause": killing},
		"other":       {"other facet": killing, "plain": killing},
		"given":       {"plain": fails("Given", differs)},
		"panics":      {"plain": fails("Then", differs, report.Call{Verb: "pull", Panicked: true})},
		"hangs":       {"plain": fails("When", nil, report.Call{Verb: "pull", NoAnswer: true})},
		"may-hang":    {"plain": fails("When", nil, report.Call{Verb: "pull", NoAnswer: true})},
		"no-mismatch": {"plain": fails("Then", nil)},
		"error":       {"plain": {Verdict: report.Error, Reason: "no disk"}},
		"was-failing": {"not clean": killing},
	}}
	hanging := of("may-hang", plain)
	hanging.Hangs = true
	r := hunt(t, f, []Mutant{
		of("killed", before), of("by-whole", after), of("other", before), of("given", plain), of("panics", plain), of("hangs", plain),
		hanging, of("no-mismatch", plain), of("error", plain), of("was-failing", plain), of("dead", plain),
	}, []Dead{{"dead", "the snippet is gone"}}, false)

	for i, want := range []struct{ result, by, why string }{
		{Killed, "slow", "because"},
		{Killed, "whole clause", "because"},
		{Survived, "", "quick: it did not notice; whole clause: it did not notice; slow: it did not notice"},
		{Survived, "", "plain: it failed while it was being set up: it holds"},
		{Survived, "", "plain: the mutant crashed in pull, which is no answer to the question"},
		{Survived, "", "plain: the mutant gave no answer in time: say hangs = true if not answering is the violation"},
		{Killed, "plain", "because"},
		{Survived, "", "plain: it failed without a mismatch: because"},
		{Survived, "", "plain: verdict error kills nothing: no disk"},
		{Survived, "", "plain: it did not notice"},
		{DeadResult, "", "the snippet is gone"},
	} {
		m := r.Mutants[i]
		require.Equal(t, want.result, m.Result, m.ID)
		require.Equal(t, want.why, m.Why, m.ID)
		if want.by == "" {
			require.Empty(t, m.KilledBy, m.ID)
		} else {
			require.Equal(t, []string{want.by}, m.KilledBy, m.ID)
		}
	}
	require.Equal(t, 1, r.Mutants[4].Asked)
	require.Equal(t, []string{"not clean: broken anyway"}, r.NotClean)
	require.Equal(t, Score{Killed: 1, Observed: 3}, r.Score)
	require.False(t, r.Passed())
}

func TestTheGate(t *testing.T) {
	clean := []report.Scenario{passes("a", 1, before), passes("b", 1, after)}
	f := fake{clean: clean, broken: map[string]map[string]report.Scenario{"x": {"a": fails("Then", differs)}, "y": {"b": fails("When", differs)}}}

	r := hunt(t, f, []Mutant{of("x", before)}, nil, false)
	require.Equal(t, []string{after}, r.Missing)
	require.False(t, r.Passed())
	require.Equal(t, Score{1, 2}, r.Score)

	r = hunt(t, f, []Mutant{of("x", before)}, nil, true)
	require.Empty(t, r.Missing, "a partial hunt says nothing of others")
	require.True(t, r.Passed())
	require.False(t, r.Complete)

	r = hunt(t, f, []Mutant{of("x", before), of("y", after)}, nil, false)
	require.True(t, r.Passed(), r.Why)
	require.Equal(t, Score{2, 2}, r.Score)

	require.False(t, hunt(t, fake{}, nil, nil, false).Passed(), "no mutant at all is not a pass")

	r = hunt(t, f, []Mutant{of("z", plain)}, nil, false)
	require.Equal(t, "no scenario tagged @store.pull.plain passed on the clean binary", r.Mutants[0].Why)
}

func TestWhatIsWritten(t *testing.T) {
	clean := []report.Scenario{passes("a", 1, before)}
	f := fake{clean: clean, broken: map[string]map[string]report.Scenario{"x": {"a": fails("Then", differs)}}}
	r := hunt(t, f, []Mutant{of("x", before)}, nil, false)
	r.Digests = Digests{Spec: "s", Features: "f"}
	path := filepath.Join(t.TempDir(), "build", "mutants.json")
	require.NoError(t, r.Write(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var got struct {
		Digests map[string]string
		Mutants []struct {
			ID, Clause, Facet, Result string
			KilledBy                  []string `json:"killed_by"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, map[string]string{"spec": "s", "features": "f"}, got.Digests)
	require.Equal(t, "x", got.Mutants[0].ID)
	require.Equal(t, "before", got.Mutants[0].Facet)
	require.Equal(t, "killed", got.Mutants[0].Result)
	require.Equal(t, []string{"a"}, got.Mutants[0].KilledBy)

	var b bytes.Buffer
	r.Print(&b, true)
	require.Contains(t, b.String(), "noticed at:  Then it holds")
	require.Contains(t, b.String(), "1 of 1 mutants killed; 1 of 1 observed MUST facets (100 %); gate 100 %: passed")
}
