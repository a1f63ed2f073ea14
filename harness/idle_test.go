package harness

import (
	"os"
	"path/filepath"
	"testing"

	"contextful/harness/services"
	"contextful/harness/sut"

	"github.com/stretchr/testify/require"
)

// TestNothingIsEarnedByDoingNothing asks every question of programs that do nothing: silently, with nonsense for an answer,
// and by refusing everything. No scenario may pass, and each failure is the program's, not the kit's.
func TestNothingIsEarnedByDoingNothing(t *testing.T) {
	for name, script := range map[string]string{
		"silent":   "exit 0",
		"nonsense": `echo '{"nonsense": true, "rows": 7}'; echo 'lorem ipsum'; echo 'dolor' >&2`,
		"refusing": "echo Nope >&2; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "idle")
			require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			res := run(t, Options{SUT: sut.Default(name, []string{file}, "sync", "s3", "lease", "pipeline"), Services: services.None, Jobs: 2})
			for _, s := range res.Scenarios {
				if s.Verdict != Unavailable && s.Verdict != Unsupported {
					require.Equal(t, Fail, s.Verdict, "%s: %s", s.ID, s.Reason)
				}
			}
			require.Equal(t, 1, res.Exit())
		})
	}
}

// TestAnEmptyStoreEarnsItsInitAlone asks every question of a program that makes an identity and nothing else: what it may
// pass is about that identity. What the kit could not hold or kill, because the program made no call, stays an error.
func TestAnEmptyStoreEarnsItsInitAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "idle")
	script := `#!/bin/sh
[ "$1" = init ] || exit 0
mkdir -p ".contextful/context/$2"
echo 0a3f7c52-9d1e-4b68-8a70-5c2e91d4f6b3 > ".contextful/context/$2/store-id"
`
	require.NoError(t, os.WriteFile(file, []byte(script), 0o755))
	res := run(t, Options{SUT: sut.Default("empty", []string{file}, "sync", "s3", "lease", "pipeline"), Services: services.None, Jobs: 2})
	for _, s := range res.Scenarios {
		switch s.Verdict {
		case Pass:
			require.Subset(t, []string{"store.init.declaration-file#declared", "store.init.declaration-file#root", "store.init.store-identity#format",
				"store.init.store-identity#repeated", "store.lay-out.name-safe#project"}, s.Tags, s.ID)
		case Errored:
			require.Regexp(t, "nothing was held|nothing to hold|no place to hold|no point to kill|was not killed|never in its way", s.Reason, s.ID)
		}
	}
}

// TestACommandThatCannotStartEndsTheRun: one message, and no scenario is asked.
func TestACommandThatCannotStartEndsTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store")
	options := Options{SUT: sut.Default("none", []string{file}, "sync"), Services: services.None, Jobs: 2}
	asked := 0
	options.Observer = func(e Event) { asked = e.Done }
	_, err := Run(t.Context(), options)
	require.ErrorContains(t, err, file+" cannot be started")
	require.Zero(t, asked)

	require.NoError(t, os.WriteFile(file, []byte("no program"), 0o755))
	_, err = Run(t.Context(), options)
	var config *sut.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "exec format error")
}
