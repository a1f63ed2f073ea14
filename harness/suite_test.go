package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextful/features"
	"contextful/harness/report"
	"contextful/harness/services"
	"contextful/harness/steps"
	"contextful/harness/sut"

	"github.com/stretchr/testify/require"
)

const clause = "store.pull.pointer-last#before"

func feature(body string) features.Source {
	return features.Source{Path: "store/pull.feature", Text: "Feature: f\n" + body}
}

func scenario(name string, lines ...string) string {
	return "  @" + clause + "\n  Scenario: " + name + "\n    " + strings.Join(lines, "\n    ") + "\n"
}

func options(t *testing.T, mode, body string) Options {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cfg := sut.Default("fake", []string{self}, "sync")
	cfg.Env = map[string]string{"FAKE_SUT": mode}
	cfg.Limit = time.Minute
	return Options{SUT: cfg, Features: []features.Source{feature(body)}, Services: services.None, OutDir: t.TempDir(), Jobs: 2}
}

func run(t *testing.T, o Options) *Results {
	t.Helper()
	res, err := Run(t.Context(), o)
	require.NoError(t, err)
	return res
}

const lands = "Given a table \"events\" without a key\n    When alpha lands 3 rows of \"events\"\n    Then the landing succeeds\n    And alpha reads 3 rows of \"events\""

func one(t *testing.T, mode, body string) Scenario {
	t.Helper()
	res := run(t, options(t, mode, body))
	require.Len(t, res.Scenarios, 1)
	return res.Scenarios[0]
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, mode, body string
		verdict          Verdict
		reason           string
		check            func(*testing.T, Scenario)
	}{
		{"pass", "good", scenario("s", lands), Pass, "", nil},
		{"a fail at a Then", "double", scenario("s", lands), Fail, "number of rows", func(t *testing.T, s Scenario) {
			require.Equal(t, "Then", s.FailedStep.Kind)
			require.Equal(t, "And", s.FailedStep.Keyword)
			require.Equal(t, "6", s.Mismatch.Actual)
			require.Equal(t, clause, s.Mismatch.Clause)
			require.True(t, s.Kills())
			require.Len(t, s.Invocations, 3)
			require.NotEmpty(t, s.TreeDiff)
		}},
		{"a refusal with another code", "refuse", scenario("s", `When alpha lands 1 rows of "events"`, "Then the landing is refused with StoreNameInvalid"), Fail, "StoreNameInvalid", nil},
		{"a refusal as it should be", "refuse", scenario("s", `When alpha lands 1 rows of "events"`, `Then the landing is refused with StoreRunConflict, naming "run-1"`), Pass, "", nil},
		{"a refusal that does not name", "refuse", scenario("s", `When alpha lands 1 rows of "events"`, `Then the landing is refused with StoreRunConflict, naming "run-7"`), Fail, "names run-7", nil},
		{"a setting that fails", "no-init", scenario("s", `Given alpha has landed 3 rows of "events"`, `Then alpha reads 3 rows of "events"`), Fail, "setting", func(t *testing.T, s Scenario) {
			require.True(t, s.SettingFailed)
			require.False(t, s.Kills())
		}},
		{"an init that makes nothing", "idle", scenario("s", `Given alpha has landed 3 rows of "events"`, `Then alpha reads 3 rows of "events"`), Fail, "init makes alpha's store", func(t *testing.T, s Scenario) {
			require.True(t, s.SettingFailed)
		}},
		{"a landing that leaves nothing", "lazy", scenario("s", `Given alpha has landed 3 rows of "events"`, `Then alpha reads 3 rows of "events"`), Fail, "has landed run run-1", func(t *testing.T, s Scenario) {
			require.True(t, s.SettingFailed)
		}},
		{"a file of the store that is not there", "good", scenario("s", `When alpha lands 3 rows of "events"`, `And the manifest of run "run-1" of "events" on alpha is of the next major`), Fail, "expected a file, got none", nil},
		{"a crash kills no mutant", "panic", scenario("s", lands), Fail, "succeeds", func(t *testing.T, s Scenario) {
			require.True(t, s.Crashed)
			require.False(t, s.Kills())
		}},
		{"an undefined step", "good", scenario("s", "Given a thing nobody knows"), Errored, "undefined", nil},
		{"a step after an undefined one is skipped", "good", scenario("s", "Given a thing nobody knows", `Given a node "alpha"`), Errored, "undefined", func(t *testing.T, s Scenario) {
			require.Equal(t, StatusSkipped, s.Steps[1].Status)
		}},
		{"a fault that never fires", "good", scenario("s", "Given the bucket will do `(Respond 500 Get)`", lands), Errored, "never fired", nil},
		{"a bad fault", "good", scenario("s", "Given the bucket will do `(Explode Get)`"), Errored, "Explode", nil},
		{"a service that is not there", "good", "  @service.minio\n" + scenario("s", lands), Unavailable, "switched off", nil},
		{"killed at each call", "good", scenario("s", `Given alpha has landed 2 rows of "events"`, `When alpha's landing of 3 rows of "events" is killed at each rename that it makes`, `Then alpha reads 5 rows of "events"`), Pass, "", nil},
		{"a copy that was killed fails", "good", scenario("s", `Given alpha has landed 2 rows of "events"`, `When alpha's landing of 3 rows of "events" is killed at each rename that it makes`, `Then alpha reads 2 rows of "events"`), Fail, "killed after rename 1 of 1", func(t *testing.T, s Scenario) {
			require.False(t, s.Crashed)
			require.NotEmpty(t, s.Notes)
		}},
		{"a kill that never happens", "torn", scenario("s", `When alpha's landing of 3 rows of "events" is killed at each rename that it makes`), Errored, "no point to kill it at", nil},
		{"a hold that never happens", "good", scenario("s", `Given the bucket will hold alpha's request for "*"`, `When alpha lands 1 rows of "events"`, "And the answer is held"), Errored, "nothing was held", nil},
		{"a capability nobody declares", "good", "  @needs.lazy\n" + scenario("s", lands), Unsupported, "lazy", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := one(t, c.mode, c.body)
			require.Equal(t, c.verdict, s.Verdict, s.Reason)
			require.Contains(t, s.Reason, c.reason)
			if c.check != nil {
				c.check(t, s)
			}
		})
	}
}

func TestAVerbPastItsLimitFails(t *testing.T) {
	o := options(t, "hang", scenario("s", lands))
	o.SUT.Limit = 300 * time.Millisecond
	s := run(t, o).Scenarios[0]
	require.Equal(t, Fail, s.Verdict, s.Reason)
	require.Contains(t, s.Reason, "no answer in 0.3 s")
	require.True(t, s.NoAnswer)
	require.False(t, s.Kills())
}

func TestAScenarioPastItsLimitEnds(t *testing.T) {
	o := options(t, "hang", scenario("s", lands))
	o.ScenarioTimeout = 300 * time.Millisecond
	s := run(t, o).Scenarios[0]
	require.Equal(t, Errored, s.Verdict, s.Reason)
}

func TestAPanicInAStepIsAnError(t *testing.T) {
	d := steps.Definition{Fn: func(context.Context) error { panic("no") }}
	err := d.Guarded(time.Second).(func(context.Context) error)(t.Context())
	var p *steps.Panic
	require.ErrorAs(t, err, &p)
	require.NoError(t, steps.Definition{Fn: func(context.Context, int) error { return nil }}.Guarded(time.Second).(func(context.Context, int) error)(t.Context(), 1))
}

func TestAnEndlessStepIsLeftBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stop := make(chan struct{})
	defer close(stop)
	err := steps.Definition{Expr: questionsExpr, Fn: func(context.Context) error { <-stop; return nil }}.Guarded(time.Millisecond).(func(context.Context) error)(ctx)
	var stuck *steps.Stuck
	require.ErrorAs(t, err, &stuck)
}

var questionsExpr = clauseTag

func TestEachRowIsAQuestion(t *testing.T) {
	body := "  @" + clause + "\n  Scenario Outline: it lands <n> rows\n    When alpha lands <n> rows of \"events\"\n    Then alpha reads <n> rows of \"events\"\n    Examples:\n      | n |\n      | 2 |\n      | 3 |\n    Examples: more\n      | n |\n      | 4 |\n"
	res := run(t, options(t, "double", body))
	require.Len(t, res.Scenarios, 3)
	for i, n := range []string{"2", "3", "4"} {
		s := res.Scenarios[i]
		require.Equal(t, "store/pull/it-lands-n-rows/"+n, s.ID)
		require.Equal(t, map[string]string{"n": n}, s.Examples)
		require.Equal(t, Fail, s.Verdict, s.Reason)
		require.Equal(t, n, s.Mismatch.Expected)
	}
	require.Equal(t, []int{8, 9, 12}, []int{res.Scenarios[0].Line, res.Scenarios[1].Line, res.Scenarios[2].Line})
}

func TestSelection(t *testing.T) {
	body := scenario("one", lands) + "  @store.pull.convergence#refetch\n  Scenario: two\n    " + lands + "\n"
	for _, c := range []struct {
		sel   []string
		names string
		err   string
	}{
		{nil, "one two", ""},
		{[]string{"store.pull.pointer-*"}, "one", ""},
		{[]string{"store.pull.pointer-last, store.pull.convergence"}, "one two", ""},
		{[]string{"store.pull.pointer-last#before"}, "one", ""},
		{[]string{"store.pull.pointer-last#killed"}, "", `"store.pull.pointer-last#killed"`},
		{[]string{"store.pull.*", "store.nowhere.*"}, "", "store.nowhere"},
	} {
		o := options(t, "good", body)
		o.Select = c.sel
		res, err := Run(t.Context(), o)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		var names []string
		for _, s := range res.Scenarios {
			names = append(names, s.Name)
		}
		require.Equal(t, c.names, strings.Join(names, " "))
	}
	o := options(t, "good", body)
	o.Scenarios = []string{"store/pull/two"}
	require.Equal(t, "two", run(t, o).Scenarios[0].Name)
	o.Scenarios = []string{"store/pull/three"}
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "three")
}

func TestAScenarioOfAnUnknownClauseIsAConfigurationError(t *testing.T) {
	_, err := Run(t.Context(), options(t, "good", "  @store.pull.no-such-clause\n  Scenario: s\n    Given a node \"a\"\n"))
	require.ErrorContains(t, err, "no-such-clause")
	_, err = Run(t.Context(), options(t, "good", "  @store.pull.pointer-last#sideways\n  Scenario: s\n    Given a node \"a\"\n"))
	require.ErrorContains(t, err, "sideways")
}

func TestTheSumOfTheVerdictsIsWhatWasSelected(t *testing.T) {
	var body strings.Builder
	for i := range 12 {
		body.WriteString(scenario(fmt.Sprintf("s%d", i), lands))
	}
	o := options(t, "good", body.String())
	o.Jobs, o.Shuffle, o.Seed = 4, true, 7
	res := run(t, o)
	require.Equal(t, map[Verdict]int{Pass: 12}, res.Counts())
	res.Scenarios[0].Verdict = ""
	require.ErrorContains(t, invariant(res, make([]*question, 12)), "without a verdict")
}

func TestAnInterruptLeavesTheRestNotRun(t *testing.T) {
	var body strings.Builder
	for i := range 6 {
		body.WriteString(scenario(fmt.Sprintf("s%d", i), lands))
	}
	o := options(t, "good", body.String())
	o.Jobs = 1
	ctx, cancel := context.WithCancel(t.Context())
	o.Observer = func(e Event) {
		if e.Done == 2 {
			cancel()
		}
	}
	res, err := Run(ctx, o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	counts := res.Counts()
	require.Equal(t, 6, counts[Pass]+counts[NotRun])
	require.GreaterOrEqual(t, counts[NotRun], 3)
}

func TestRepeatsThatDisagreeAreFlaky(t *testing.T) {
	o := options(t, "flaky", scenario("s", lands))
	o.SUT.Env["FAKE_FLAG"] = "flag"
	o.SUT.Env["TMPDIR"] = t.TempDir()
	o.Repeat = 3
	s := run(t, o).Scenarios[0]
	require.Equal(t, Fail, s.Verdict)
	require.True(t, s.Flaky)
	require.Contains(t, s.Reason, "flaky")
}

func TestABundleIsLeft(t *testing.T) {
	o := options(t, "double", scenario("s", lands))
	o.Command = "contextful-conform run --sut x.toml"
	res := run(t, o)
	rep := res.Report()
	require.Equal(t, 1, rep.Judge())
	require.NoError(t, report.WriteAll(o.OutDir, rep))
	found, err := filepath.Glob(filepath.Join(o.OutDir, "bundles", "*", "failure.txt"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Equal(t, "contextful-conform run --sut x.toml --scenario 'store/pull/s' --seed 1", all[len(all)-1])
	require.Contains(t, string(text), "expected: 3")
}

func TestExitCodes(t *testing.T) {
	for mode, want := range map[string]int{"good": 0, "double": 1} {
		require.Equal(t, want, run(t, options(t, mode, scenario("s", lands))).Exit(), mode)
	}
	require.Equal(t, 2, run(t, options(t, "good", scenario("s", "Given a thing nobody knows"))).Exit())
	require.Equal(t, 3, run(t, options(t, "good", "  @needs.lazy\n"+scenario("s", lands))).Exit())
	o := options(t, "good", scenario("a", lands)+"  @service.minio\n"+scenario("b", lands))
	require.Equal(t, 0, run(t, o).Exit())
	o.RequireServices = true
	require.Equal(t, 1, run(t, o).Exit())
	_, err := Run(t.Context(), Options{})
	var cfg *sut.ConfigError
	require.ErrorAs(t, err, &cfg)
}

func TestEmbeddedInAGoTest(t *testing.T) {
	o := options(t, "good", scenario("s", lands))
	require.Equal(t, 1, RunT(t, o).Counts()[Pass])
}
