package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"contextful/ref/catalog"
	"contextful/ref/fault"
)

const (
	fromCommand = "[pipeline.source]\nkind = \"command\"\ncommand = [\"./feed\", \"an argument\"]\n"
	appended    = "[[pipeline.tables]]\nname = \"log\"\n"
	replaced    = "[[pipeline.tables]]\nname = \"log\"\nwrite_mode = \"replace\"\n"
)

func (f *fixture) says(script string) { f.write("feed", "#!/bin/sh\n"+script+"\n") }

func TestCommandIsTold(t *testing.T) {
	f := setUp(t, fromCommand+appended)
	t.Setenv(envCursor, "somebody else's")
	f.says(`echo "$1|$CONTEXTFUL_PIPELINE|$CONTEXTFUL_TABLE|${CONTEXTFUL_CURSOR-none}|$(pwd)" >> told
echo '{"row":{"x":1}}'; echo '{"position": {"b": 9007199254740993, "a": [1.50]}}'`)
	require.NoError(t, f.run().Err)
	require.NoError(t, f.run().Err)
	told, err := os.ReadFile(filepath.Join(f.dir, "told"))
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(f.dir)
	require.NoError(t, err)
	require.Equal(t, []string{"an argument|feed|log|none|" + dir, `an argument|feed|log|{"a":[1.50],"b":9007199254740993}|` + dir}, strings.Split(strings.TrimSpace(string(told)), "\n"))
}

func TestCommandThatFails(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"status":         {`echo '{"row":{"x":1}}'; echo dear me >&2; exit 3`, "exit status 3: dear me"},
		"no such":        {"", "cannot be run"},
		"duplicate word": {`echo '{"row":{"x":1},"row":{}}'`, "line 1 of its output is none"},
		"null position":  {`echo '{"position":null}'`, "a position that is none"},
		"long position":  {`printf '{"position":"%70000d"}\n' 1`, "it may have"},
		"array":          {`echo '[1]'`, "line 1 of its output is none"},
		"timeout":        {`echo '{"row":{"x":1}}'; sleep 60 & sleep 60`, "did not end within 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, fromCommand+"timeout = \"1s\"\n"+replaced)
			if c.script != "" {
				f.says(c.script)
			}
			r := f.run()
			require.ErrorIs(t, r.Err, fault.PipelineSourceFailed)
			require.Contains(t, r.Err.Error(), c.says)
			require.Empty(t, f.runs("log"))
		})
	}
}

// TestCommandOfBadRows: a refusal of a row names the line of the command's output, of the batch it stands in.
func TestCommandOfBadRows(t *testing.T) {
	f := setUp(t, fromCommand+appended)
	f.says(`echo '{"row":{"x":1}}'; echo; echo '{"position":1}'; echo '{"row":{"x":2}}'; echo '{"row":7}'; echo '{"position":2}'; sleep 60`)
	r := f.run()
	require.ErrorIs(t, r.Err, fault.StoreInputMalformed)
	require.Contains(t, r.Err.Error(), "feed:5: ")
	require.Equal(t, `1`, string(r.Position))
	require.Len(t, r.Runs, 1)
}

func TestCommandIsInterrupted(t *testing.T) {
	f := setUp(t, fromCommand+appended)
	f.says(`echo $$ > pid; echo '{"row":{"x":1}}'; sleep 60`)
	ctx, cancel := context.WithCancel(t.Context())
	o := f.options()
	o.Progress = func(string, int64) { cancel() }
	stop := time.AfterFunc(time.Second, cancel) // a block of rows is full long before its end is known
	defer stop.Stop()
	_, err := Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, f.runs("log"))
}

func TestOneRunAtATime(t *testing.T) {
	f := setUp(t, fromCommand+appended)
	lock, err := f.s.LockFile(t.Context(), LockName("feed"), "the lock")
	require.NoError(t, err)
	_, err = Run(t.Context(), f.options())
	require.ErrorIs(t, err, fault.StoreBusy)
	require.NoError(t, lock.Unlock())
}

// TestPositionOutlivesItsRun: where retention took the manifests, the catalog and the run states still know it, and a run that
// could not note itself is noted by the next.
func TestPositionOutlivesItsRun(t *testing.T) {
	script := `case "$CONTEXTFUL_CURSOR" in
'') echo '{"row":{"x":1}}'; echo '{"position":1}';;
*) echo '{"row":{"x":2}}'; echo '{"position":2}';;
esac`
	for name, lose := range map[string]func(f *fixture){
		"run states": func(f *fixture) { require.NoError(t, os.RemoveAll(f.s.Path("nodes"))) },
		"catalog":    func(f *fixture) { f.machine = catalog.NewMemory() },
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, fromCommand+appended)
			f.says(script)
			require.Equal(t, Landed, f.run().Outcome)
			lose(f)
			require.NoError(t, os.RemoveAll(f.s.Path("tables/log/data/runs")))
			r := f.run()
			require.NoError(t, r.Err)
			require.Equal(t, "2", string(r.Position))
			require.Equal(t, "feed-00000001", r.Runs[0].RunID[:13])
		})
	}
	f := setUp(t, fromCommand+appended)
	f.says(script)
	require.NoError(t, f.run().Err)
	f.machine = catalog.NewMemory()
	require.NoError(t, os.RemoveAll(f.s.Path("nodes")))
	f.says("echo '{\"skip\":\"unchanged\"}'")
	require.NoError(t, f.run().Err)
	c, ok, err := f.machine.Cursor(t.Context(), "feed", "log")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, f.runs("log")[0].RunID, c.RunID)
	require.Equal(t, "1", string(c.Position))
}

func TestRunIDs(t *testing.T) {
	first := standing{}.runID("feed", "t", "", "digest")
	require.Equal(t, first, standing{}.runID("feed", "t", "", "digest"))
	second := standing{run: first}.runID("feed", "t", "", "digest")
	require.Regexp(t, `^feed-00000001-[0-9a-f]{16}$`, second)
	require.Greater(t, second, first)
	for _, other := range []string{standing{}.runID("feed", "t", "snapshot-1", "digest"), standing{}.runID("feed", "t", "", "other"), standing{}.runID("feed", "u", "", "digest"),
		standing{run: "feed-x"}.runID("feed", "t", "", "digest"), standing{run: "feed-99999999-00"}.runID("feed", "t", "", "digest")} {
		require.NotEqual(t, first, other)
	}
	require.Less(t, len(standing{}.runID(strings.Repeat("p", 180), "t", "", "d")), 180)
}

// FuzzLine: no line makes the reader panic, and what it takes for a row is one JSON value.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{`{"row":{"a":1}}`, `{"position":[1]}`, `{"inventory":"complete"}`, `{"skip":"unchanged"}`, `{"row":{}}x`, `{`, `{"row":`, "{\"row\":\"\\ud800\"}", ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p := &feed{dec: jsontext.NewDecoder(new(bytes.Buffer), jsontext.AllowDuplicateNames(true))}
		word, value, err := p.parse(line)
		if err != nil {
			if word != "" || value != nil {
				t.Fatal("an error and a value")
			}
			return
		}
		if !jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true)) || !strings.Contains("row position inventory skip", word) {
			t.Fatalf("%q %q", word, value)
		}
		again, same, err := p.parse(fmt.Appendf(nil, "{%q:%s}", word, value))
		if err != nil || again != word || !bytes.Equal(same, value) {
			t.Fatal(again, same, err)
		}
	})
}

var errBroken = errors.New("broken")

type brokenMachine struct{ catalog.Machine }

func (brokenMachine) Cursor(context.Context, string, string) (catalog.Cursor, bool, error) {
	return catalog.Cursor{}, false, errBroken
}

// TestUnreadablePosition: a run that cannot know where it stands asks nothing.
func TestUnreadablePosition(t *testing.T) {
	f := setUp(t, fromCommand+appended)
	f.says(`touch asked; echo '{"row":{"x":1}}'; echo '{"position":1}'`)
	f.machine = brokenMachine{f.machine}
	require.ErrorIs(t, f.run().Err, errBroken)
	require.NoFileExists(t, filepath.Join(f.dir, "asked"))
}
