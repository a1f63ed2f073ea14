package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBroken(t *testing.T) {
	text := "While a pull brings a snapshot, the pointer\nkeeps its old value until all of it is here. Only then it moves.\n\n- *before*: it is what it was.\n- *killed*: a killed pull\n  promises nothing.\n"
	fails := func(id, tag string, given bool) Scenario {
		kind := "Then"
		if given {
			kind = "Given"
		}
		return Scenario{ID: id, Name: "name of " + id, Feature: "store/pull.feature", Line: 8, Tags: []string{tag}, Verdict: Fail, Reason: "why",
			Steps:    []Step{{Keyword: "And", Kind: kind, Text: "beta has no pointer", Status: StepFailed}},
			Mismatch: &Mismatch{What: "no pointer", Expected: "none", Actual: "one\n            two"}, Calls: []Call{{Node: "beta", Verb: "pull", Argv: []string{"contextful", "sync", "pull"}}}, Bundle: "bundles/" + id, Reproduce: "run --scenario " + id}
	}
	r := &Report{
		Clauses: []Clause{{ID: "store.pull.pointer-last", Level: "MUST", Text: text}, {ID: "store.pull.other", Level: "MUST"}},
		Scenarios: []Scenario{fails("a", "store.pull.pointer-last#before", true), fails("b", "store.pull.pointer-last#killed", false),
			fails("c", "store.pull.pointer-last#killed", false), {ID: "d", Tags: []string{"store.pull.pointer-last#before"}, Verdict: Pass},
			{ID: "e", Tags: []string{"store.pull.other"}, Verdict: XFail}},
	}
	list := r.Broken()
	require.Len(t, list, 1)
	require.Equal(t, 4, list[0].Asked)
	require.Equal(t, 3, list[0].Failed)
	require.Equal(t, "b", list[0].Example.ID, "a failed setting explains less")
	var out strings.Builder
	r.WriteBroken(&out, "build/out")
	require.Equal(t, `
1 clause is broken:

store.pull.pointer-last (MUST): 3 of 4 scenarios fail (killed 2, before 1)
    the law    While a pull brings a snapshot, the pointer keeps its old value until all of it is here. killed: a killed pull promises nothing.
    scenario   name of b (features/store/pull.feature:8)
    failed at  And beta has no pointer
    checked    no pointer
    expected   none
    actual     one
               two
    call       pull on beta, exit 0: contextful sync pull
    record     build/out/bundles/b/failure.txt
    alone      run --scenario b

`, out.String())
	out.Reset()
	(&Report{}).WriteBroken(&out, "")
	require.Empty(t, out.String())
}

func TestJudgedCall(t *testing.T) {
	s := &Scenario{Calls: []Call{{Node: "alpha", Verb: "push"}, {Node: "beta", Verb: "pull"}, {Node: "alpha", Verb: "land"}, {Node: "gamma", Verb: "pull"}}}
	require.Equal(t, "gamma", s.judgedCall().Node)
	for what, verb := range map[string]string{"alpha's push is refused with LeaseFenced": "push", "beta has no pointer for events": "pull", "alpha's pointer is what it was": "land"} {
		s.Mismatch = &Mismatch{What: what}
		require.Equal(t, verb, s.judgedCall().Verb, what)
	}
	require.Nil(t, (&Scenario{}).judgedCall())
}
