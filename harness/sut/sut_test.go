package sut

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextful/spec"

	"github.com/stretchr/testify/require"
)

func conform(change func(string) string) string {
	var b strings.Builder
	b.WriteString("[sut]\nname = \"x\"\ncommand = [\"./x\"]\nclock = \"now-flag\"\n[format]\nmajor = 1\n[capabilities]\n")
	for _, c := range spec.Capabilities() {
		b.WriteString(strings.ReplaceAll(c.Name, "-", "_") + " = false\n")
	}
	return change(b.String())
}

func TestParse(t *testing.T) {
	add := func(s string) func(string) string { return func(all string) string { return all + s } }
	swap := func(old, now string) func(string) string {
		return func(all string) string { return strings.Replace(all, old, now, 1) }
	}
	for _, c := range []struct {
		name   string
		change func(string) string
		err    string
	}{
		{"as it should be", add(""), ""},
		{"an overridden verb", add("[verbs]\nland = [\"put\", \"{table}\", [\"--at\", \"{now}\"]]\n"), ""},
		{"a verb as a table", add("[verbs.query]\nargv = [\"ask\"]\nstdin = \"{sql}\"\nenv = { A = \"{table}\" }\n"), "unknown placeholder {table}"},
		{"an unknown key", swap("clock =", "klock ="), "klock"},
		{"no name", swap("name = \"x\"\n", ""), "name is missing"},
		{"a strange clock", swap("now-flag", "sundial"), "sundial"},
		{"no major", swap("major = 1", ""), "major is missing"},
		{"a capability nobody stated", swap("lazy = false\n", ""), "lazy not stated"},
		{"a capability nobody knows", add("telepathy = true\n"), "telepathy"},
		{"an unknown verb", add("[verbs]\nfly = [\"fly\"]\n"), "unknown verb fly"},
		{"an unknown placeholder", add("[verbs]\npush = [\"push\", \"{wings}\"]\n"), "{wings}"},
		{"a verb of another shape", add("[verbs]\npush = 3\n"), "push"},
		{"a refusal without its group", add("[refusal]\ncode = '''[A-Z]+'''\n"), "(?P<code>"},
		{"a bad limit", swap("clock =", "limit = \"soon\"\nclock ="), "soon"},
		{"no TOML", func(string) string { return "[sut" }, "TOML"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("/etc/x/conform.toml", []byte(conform(c.change)))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				var ce *ConfigError
				require.ErrorAs(t, err, &ce)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "/etc/x/x", cfg.Command[0])
			require.Len(t, cfg.Verbs, len(Verbs()))
		})
	}
}

func TestTemplatesExpand(t *testing.T) {
	for _, info := range Verbs() {
		require.NoError(t, info.Default.check(info), info.Verb)
	}
	land, _ := verbInfo(Land)
	argv, err := land.Default.expand(A("table", "t", "rows", "r", "run", "u", "site", "s", "type", "a=int64", "type", "b=json", "now", ""))
	require.NoError(t, err)
	require.Equal(t, strings.Fields("context land t --rows r --run-id u --site-id s --type a=int64 --type b=json --json"), argv)
}

func shell(script string) *Processes {
	cfg := Default("sh", []string{"/bin/sh", "-c", script, "sh"})
	cfg.Limit = 10 * time.Second
	return &Processes{Config: cfg, Now: func() time.Time { return time.Unix(7, 0) }}
}

func node(t *testing.T) Node {
	dir := t.TempDir()
	return Node{Name: "alpha", ID: "alpha", Project: dir, Root: filepath.Join(dir, "root"), Home: dir, State: dir, Title: "research", Env: map[string]string{"SECRET": "s"}, Now: time.Unix(0, 1)}
}

func TestAProcessSeesOnlyItsOwnEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "leak")
	res, err := shell("env; pwd; exit 3").Do(t.Context(), node(t), Push, nil)
	require.NoError(t, err)
	require.Equal(t, 3, res.Exit)
	require.NotContains(t, res.Stdout, "leak")
	require.Contains(t, res.Stdout, "CONTEXTFUL_NODE_ID=alpha")
	require.Contains(t, res.Stdout, "SECRET=s")
	require.False(t, res.OK())
}

func TestTheClockIsAFlag(t *testing.T) {
	res, err := shell(`echo "$@"`).Do(t.Context(), node(t), Pull, A("table", "events"))
	require.NoError(t, err)
	require.Equal(t, "sync pull --table events --now 1970-01-01T00:00:00.000000001Z --json\n", res.Stdout)
}

func TestPastTheLimitThereIsNoAnswer(t *testing.T) {
	p := shell("read x < /dev/zero & wait")
	p.Config.Limit = 100 * time.Millisecond
	res, err := p.Do(t.Context(), node(t), Push, nil)
	var late *NoAnswer
	require.ErrorAs(t, err, &late)
	require.True(t, res.NoAnswer)
	require.Equal(t, "killed", res.Signal)
}

func TestStopContinueKill(t *testing.T) {
	n := node(t)
	fifo := filepath.Join(n.Project, "go")
	r, err := shell("while [ ! -e go ]; do :; done; echo went").Start(t.Context(), n, Push, nil)
	require.NoError(t, err)
	require.NoError(t, r.Stop())
	require.NoError(t, os.WriteFile(fifo, nil, 0o644))
	require.False(t, r.Ended())
	require.NoError(t, r.Cont())
	res, err := r.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "went\n", res.Stdout)
	require.ErrorIs(t, r.Kill(), os.ErrProcessDone)

	ctx, cancel := context.WithCancel(t.Context())
	r, err = shell("while :; do :; done").Start(ctx, node(t), Push, nil)
	require.NoError(t, err)
	cancel()
	_, err = r.Wait(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, r.Ended())
}

func TestOutputIsBounded(t *testing.T) {
	var c capped
	for range 5 {
		_, err := c.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	text, cut := c.text()
	require.Len(t, text, keep)
	require.True(t, cut)
}

func TestCrashesAreToldFromRefusals(t *testing.T) {
	res, err := shell("echo 'panic: oh' >&2; exit 2").Do(t.Context(), node(t), Push, nil)
	require.NoError(t, err)
	require.True(t, res.Panicked)
}
