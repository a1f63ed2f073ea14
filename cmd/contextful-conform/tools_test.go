package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"contextful/harness/mutation"
	"contextful/harness/report"
	"contextful/harness/sut"
)

// command runs one command line of the kit and gives what it printed and its exit status.
func command(t *testing.T, args ...string) (string, int) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var code exitCode
	switch {
	case errors.As(err, &code):
		return out.String(), int(code)
	case err != nil:
		return out.String() + err.Error(), 2
	}
	return out.String(), 0
}

func TestInitWritesWhatTheKitReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "conform.toml")
	said, code := command(t, "init", "--sut", file, "--name", `a "b" \c`, "--command", "./x serve", "--claim", "sync,valid-time")
	require.Zero(t, code, said)
	cfg, err := sut.Load(file)
	require.NoError(t, err)
	require.Equal(t, `a "b" \c`, cfg.Name)
	require.Equal(t, []string{filepath.Join(filepath.Dir(file), "x"), "serve"}, cfg.Command)
	require.True(t, cfg.Capabilities["valid-time"])
	require.False(t, cfg.Capabilities["lazy"])

	said, code = command(t, "init", "--sut", file)
	require.Equal(t, 2, code)
	require.Contains(t, said, "exists already")
	said, code = command(t, "init", "--sut", file+"2", "--claim", "flying")
	require.Equal(t, 2, code)
	require.Contains(t, said, "there is no such capability")
	require.NoFileExists(t, file+"2")
}

// TestInitVerbsAreTheDefaults: with the # taken away, every line below [verbs] reads back as the default it shows.
func TestInitVerbsAreTheDefaults(t *testing.T) {
	text, err := configuration(initFlags{name: "x", command: "x", clock: "none", major: 1})
	require.NoError(t, err)
	for _, v := range sut.Verbs() {
		off := "# " + string(v.Verb) + " = "
		require.Contains(t, text, "\n"+off)
		text = string(bytes.Replace([]byte(text), []byte("\n"+off), []byte("\n"+off[2:]), 1))
	}
	cfg, err := sut.Parse("conform.toml", []byte(text))
	require.NoError(t, err)
	for _, v := range sut.Verbs() {
		require.Equal(t, v.Default.Argv, cfg.Verbs[v.Verb].Argv, v.Verb)
	}
}

func TestReportDiffAndReplay(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, v report.Verdict) string {
		r := &report.Report{Complete: true, SUT: report.Subject{Name: "x"}, Clauses: []report.Clause{{ID: "store.pull.a", Level: "MUST"}},
			Scenarios: []report.Scenario{{ID: "store/pull/a", Name: "a", Area: "store.pull", Feature: "store/pull.feature", Tags: []string{"store.pull.a"}, Level: "MUST", Verdict: v,
				Reason: "why", Reproduce: "contextful-conform run --scenario store/pull/a"}}}
		r.Summarise()
		r.Judge()
		require.NoError(t, report.WriteAll(filepath.Join(dir, name), r))
		return filepath.Join(dir, name)
	}
	good, bad := write("good", report.Pass), write("bad", report.Fail)

	said, code := command(t, "diff", good, bad)
	require.Equal(t, 1, code)
	require.Contains(t, said, "pass → fail  store/pull/a")
	_, code = command(t, "diff", bad, filepath.Join(good, "report.json"))
	require.Zero(t, code)

	require.NoError(t, os.Remove(filepath.Join(bad, "index.html")))
	summary := filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	said, code = command(t, "report", bad, "--github")
	require.Zero(t, code, said)
	require.Contains(t, said, "::error file=features/store/pull.feature")
	require.FileExists(t, filepath.Join(bad, "index.html"))
	require.FileExists(t, summary)

	r, err := report.Read(filepath.Join(bad, "report.json"))
	require.NoError(t, err)
	said, code = command(t, "replay", filepath.Join(bad, r.Scenarios[0].Bundle))
	require.Zero(t, code)
	require.Contains(t, said, "FAIL  a")
	require.Contains(t, said, "--scenario store/pull/a")
	_, code = command(t, "replay", good)
	require.Equal(t, 2, code)
}

// A path that is absolute is taken as it is; another begins at the root, where the module is.
func TestMutantsPathsBelowRoot(t *testing.T) {
	require.Equal(t, filepath.Join("tree", "build", "mutants"), below("tree", filepath.Join("build", "mutants")))
	require.Equal(t, filepath.FromSlash("/tmp/mutants"), below("tree", filepath.FromSlash("/tmp/mutants")))
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	said, code := command(t, "mutants", "--list", "--only", "store.fold.triggers", "--root", t.TempDir(), "--mutants", filepath.Join(root, "ref", "mutants"))
	require.Zero(t, code, said)
	require.Contains(t, said, "store.fold.triggers")
}

func TestChooseMutants(t *testing.T) {
	all := []mutation.Mutant{{ID: "one", Clause: "store.pull.a", Facet: "f"}, {ID: "two", Clause: "store.pull.b"}, {ID: "three", Clause: "store.land.c"}}
	for glob, want := range map[string]int{"": 3, "store.pull.*": 2, "t*": 2, "*#f": 1, "one": 1} {
		got, err := choose(all, glob)
		require.NoError(t, err)
		require.Len(t, got, want, glob)
	}
	_, err := choose(all, "nothing")
	require.ErrorContains(t, err, "covers no mutant")
}
