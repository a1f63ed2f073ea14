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
	require.Contains(t, stderr, "did you mean store.pull.pointer-last")
}

func mustLoad(t *testing.T) *spec.Index {
	t.Helper()
	x, err := spec.Load()
	require.NoError(t, err)
	return x
}
