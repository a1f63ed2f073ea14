package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"contextful/harness/report"
	"contextful/spec"
)

// shell is a conform.toml of an implementation that refuses everything.
func shell(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("[sut]\nname = \"no\"\ncommand = [\"/bin/sh\", \"-c\", \"echo 'StoreUnsupported: not yet' >&2; exit 1\"]\nclock = \"now-flag\"\n[format]\nmajor = 1\n[capabilities]\n")
	for _, c := range spec.Capabilities() {
		b.WriteString(strings.ReplaceAll(c.Name, "-", "_") + " = " + map[bool]string{true: "true", false: "false"}[c.Name == "sync"] + "\n")
	}
	path := filepath.Join(t.TempDir(), "conform.toml")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("CI", "")
	t.Setenv("GITHUB_ACTIONS", "")
	var out, errs bytes.Buffer
	code = executeTo(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestARunThatFailsSaysSo(t *testing.T) {
	conf, out := shell(t), t.TempDir()
	code, stdout, stderr := invoke(t, "run", "--sut", conf, "--services", "none", "--clause", "store.pull.pointer-last#before", "--out", out)
	require.Equal(t, 1, code, stderr)
	require.Regexp(t, `selected (\d+) = \d+ fail\n`, stdout)
	require.Contains(t, stdout, "of "+strconv.Itoa(len(mustLoad(t).All()))+" clauses judged")
	require.Contains(t, stderr, "the setting could not be made")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Contains(t, lines[len(lines)-1], "contextful-conform run --sut "+conf+" --scenario 'store/pull/")
	for _, name := range []string{report.FileJSON, report.FileJUnit, report.FileHTML} {
		require.FileExists(t, filepath.Join(out, name))
	}
}

func TestConfigurationErrorsAreTwo(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--sut", filepath.Join(t.TempDir(), "none.toml")},
		{"run", "--sut", shell(t), "--clause", "store.nowhere.*"},
		{"run", "--sut", shell(t), "--services", "cloud"},
		{"run", "--sut", shell(t), "--update-baseline"},
		{"run", "--no-such-flag"},
		{"explain", "store.pull.no-such"},
		{"fly"},
	} {
		code, _, stderr := invoke(t, args...)
		require.Equal(t, 2, code, args)
		require.Contains(t, stderr, "contextful-conform: ", args)
	}
}

func TestUnsupportedAloneIsNothingJudged(t *testing.T) {
	code, stdout, _ := invoke(t, "run", "--sut", shell(t), "--services", "none", "--clause", "store.lease.held")
	require.Equal(t, 3, code)
	require.Contains(t, stdout, "unsupported")
}

func TestTheLawCanBeRead(t *testing.T) {
	code, stdout, _ := invoke(t, "list", "store.pull.*")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "store.pull.pointer-last")
	code, stdout, _ = invoke(t, "explain", "@store.pull.pointer-last#before")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "asked by features/store/pull.feature")
	code, stdout, _ = invoke(t, "list", "--steps")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "share a bucket")
	_, _, stderr := invoke(t, "explain", "pointer-last")
	require.Contains(t, stderr, "did you mean store.pull.pointer-last?")
}

func mustLoad(t *testing.T) *spec.Index {
	t.Helper()
	x, err := spec.Load()
	require.NoError(t, err)
	return x
}

func TestWhatIsMistypedIsGuessed(t *testing.T) {
	for want, args := range map[string][]string{
		`no clause of the law is called "store.pul.pointer-last" (did you mean store.pull.pointer-last?)`: {"run", "--sut", shell(t), "--clause", "store.pul.pointer-last"},
		`has no facet "befor" (did you mean before?)`:                                                     {"run", "--sut", shell(t), "--clause", "store.pull.pointer-last#befor"},
		`there is no capability "leese" (did you mean lease`:                                              {"run", "--sut", shell(t), "--profile", "leese"},
		`no clause is called "store.pul.pointer-last" (did you mean store.pull.pointer-last?)`:            {"explain", "store.pul.pointer-last"},
		`there is no such capability (did you mean sync?)`:                                                {"init", "--sut", filepath.Join(t.TempDir(), "c.toml"), "--claim", "snyc"},
	} {
		code, _, stderr := invoke(t, args...)
		require.Equal(t, 2, code, args)
		require.Contains(t, stderr, want)
	}
}

// TestACommandThatCannotBeStarted: run and doctor say the same one thing, and a missing conform.toml sends to init.
func TestACommandThatCannotBeStarted(t *testing.T) {
	conf, none := filepath.Join(t.TempDir(), "conform.toml"), filepath.Join(t.TempDir(), "none.toml")
	said, code := command(t, "init", "--sut", conf, "--command", "./nowhere")
	require.Zero(t, code, said)
	_, stdout, ran := invoke(t, "run", "--sut", conf, "--services", "none")
	require.Empty(t, stdout)
	require.Equal(t, 1, strings.Count(ran, "\n"), ran)
	require.Contains(t, ran, "nowhere cannot be started: no such file or directory (hint: ")
	code, _, consulted := invoke(t, "doctor", "--sut", conf)
	require.Equal(t, 2, code)
	require.Equal(t, ran, consulted)

	for _, verb := range []string{"run", "doctor"} {
		code, _, stderr := invoke(t, verb, "--sut", none)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "`contextful-conform init --sut "+none+"` writes one")
	}
	t.Chdir(t.TempDir())
	for _, verb := range []string{"run", "doctor"} {
		_, _, stderr := invoke(t, verb)
		require.Contains(t, stderr, "there is no conform.toml here: run `contextful-conform init` first")
	}
}

func TestHelpSaysHowItEnds(t *testing.T) {
	for _, verb := range []string{"run", "lint", "doctor"} {
		code, stdout, _ := invoke(t, verb, "--help")
		require.Zero(t, code)
		require.Contains(t, stdout, "EXIT STATUS")
	}
}

// TestLintTellsItsFindingsFromUnreadScenarios: what waits for a first review is one line, unless it is asked for.
func TestLintTellsItsFindingsFromUnreadScenarios(t *testing.T) {
	dir := t.TempDir()
	for _, part := range []string{"spec", "features"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("..", "..", part))))
	}
	_, code := command(t, "lint", "--dir", dir, "--reviewed")
	require.Zero(t, code)
	lock := filepath.Join(dir, "features", "reviewed.lock")
	text, err := os.ReadFile(lock)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	last := lines[len(lines)-1] // its clause has changed since; the two before it were never reviewed
	stale := last[:strings.LastIndexByte(last, ' ')+1] + strings.Repeat("0", 64) + "\n"
	require.NoError(t, os.WriteFile(lock, []byte(strings.Join(lines[:len(lines)-3], "")+stale), 0o644))

	said, code := command(t, "lint", "--dir", dir)
	require.Equal(t, 1, code)
	require.Equal(t, 1, strings.Count(said, "never reviewed"), said)
	require.Contains(t, said, "features/reviewed.lock: 2 times a scenario was never reviewed against a clause that it asks")
	require.Contains(t, said, "has changed since scenario")
	require.Contains(t, said, "2 of them reviews that nobody has made yet")
	said, code = command(t, "lint", "--dir", dir, "-v")
	require.Equal(t, 1, code)
	require.Equal(t, 2, strings.Count(said, "was never reviewed against"), said)
}
