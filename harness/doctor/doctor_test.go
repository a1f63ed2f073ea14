package doctor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"contextful/harness/sut"
)

// A store of shell: init works, query is slow, describe crashes, and the rest answers as the case says.
const script = `#!/bin/sh
case "$1 $2" in
init*) %INIT% ;;
"context land") ` + "%LAND%" + ` ;;
"sync probe") echo "the bucket is fine" ;;
*) echo "StoreBusy: somebody else is here" >&2; exit 1 ;;
esac
`

const makes = `mkdir -p .contextful/context/research; echo 0a3f7c52-9d1e-4b68-8a70-5c2e91d4f6b3 > .contextful/context/research/store-id`

func consult(t *testing.T, land string, change func(*sut.Config)) map[sut.Verb]Check {
	t.Helper()
	return consultInit(t, makes, land, change)
}

func consultInit(t *testing.T, begin, land string, change func(*sut.Config)) map[sut.Verb]Check {
	t.Helper()
	file := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer("%INIT%", begin, "%LAND%", land).Replace(script)), 0o755))
	cfg := sut.Default("shell", []string{file}, "sync")
	cfg.Limit = time.Minute
	if change != nil {
		change(cfg)
	}
	checks, err := Run(context.Background(), Options{Config: cfg, Dir: t.TempDir(), Wall: time.Now, Known: func(w string) bool { return w == "StoreBusy" }})
	require.NoError(t, err)
	require.False(t, Sound(checks))
	var b bytes.Buffer
	Print(&b, checks)
	require.Regexp(t, "1 verb works|[02-9] verbs work", b.String())
	out := map[sut.Verb]Check{}
	for _, c := range checks {
		out[c.Verb] = c
	}
	return out
}

func TestAWrongTemplateIsNamed(t *testing.T) {
	got := consult(t, `echo "error: unknown flag: --run-id" >&2; exit 64`, nil)
	require.Equal(t, Right, got[sut.Init].State)
	require.Equal(t, Wrong, got[sut.Land].State)
	require.Contains(t, got[sut.Land].Why, "does not understand the arguments (exit 64): error: unknown flag: --run-id")
	require.Equal(t, "change the template [verbs] land", got[sut.Land].Hint)
	require.Equal(t, Check{Verb: sut.Query, State: Skipped, Why: "land has to work first"}, got[sut.Query])
	require.Contains(t, got[sut.Probe].Why, `no JSON object but "the bucket is fine"`)
	require.Equal(t, "[capabilities] lease is false", got[sut.LeaseAcquire].Why)
}

func TestRefusedCrashedAndSilent(t *testing.T) {
	refused := consult(t, `echo "StoreBusy: wait" >&2; exit 1`, nil)[sut.Land]
	require.Contains(t, refused.Why, "it understood and refused (StoreBusy): StoreBusy: wait")
	crashed := consult(t, `echo "panic: oh" >&2; exit 2`, nil)[sut.Land]
	require.Equal(t, "it crashed: panic: oh", crashed.Why)
	silent := consult(t, "exit 3", nil)[sut.Land]
	require.Contains(t, silent.Why, "exit 3, and not a word")
	idle := consult(t, "true", nil)[sut.Land]
	require.Contains(t, idle.Why, "it said it is done, but")
	late := consult(t, "cat /dev/zero > /dev/null", func(c *sut.Config) { c.Limit = 200 * time.Millisecond })[sut.Land]
	require.Contains(t, late.Why, "no answer")
}

func TestACommandThatIsNotThere(t *testing.T) {
	_, err := Run(context.Background(), Options{Config: sut.Default("none", []string{"/nowhere/store"}), Dir: t.TempDir(), Wall: time.Now})
	var config *sut.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "[sut] command: /nowhere/store cannot be started: no such file or directory (hint: ")
}

// TestNothingWorksBeforeInitDoes: an init that makes nothing, or something else than an identity, is named, and no other
// verb is blamed for it.
func TestNothingWorksBeforeInitDoes(t *testing.T) {
	for begin, why := range map[string]string{
		"true": "it said it is done (exit 0), but made no ",
		"mkdir -p .contextful/context/research; echo 7 > .contextful/context/research/store-id": "no canonical UUID",
		"echo 'sh: ./inner: Permission denied' >&2; exit 126":                                   "exit 126: sh: ./inner: Permission denied",
	} {
		got := consultInit(t, begin, "true", nil)
		require.Equal(t, Wrong, got[sut.Init].State)
		require.Contains(t, got[sut.Init].Why, why)
		require.NotEmpty(t, got[sut.Init].Hint)
		for verb, c := range got {
			if verb != sut.Init && !strings.HasSuffix(c.Why, " is false") { // a capability
				require.Equal(t, Check{Verb: verb, State: Skipped, Why: "init has to work first"}, c)
			}
		}
	}
}

func TestAnswersAreLookedAt(t *testing.T) {
	require.NoError(t, threeRows(nil, `{"columns":["id"],"rows":[[1],[2],[3]],"truncated":false}`))
	require.ErrorContains(t, threeRows(nil, `{"columns":["id"],"rows":[[1]],"truncated":false}`), "it gives 1")
	require.ErrorContains(t, threeRows(nil, "id\n1\n"), "its output is not")
	require.ErrorContains(t, object("fence")(nil, `{"holder":"a"}`), `no field "fence"`)
}
