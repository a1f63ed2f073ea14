package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this binary the command when a script calls contextful.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"contextful": main})
}

// TestScripts runs testdata/script/*.txtar: the command lines of a person, with what they print and leave behind. Beside
// testscript's own commands there are
//
//	status N contextful …        runs, and wants this exit status
//	refused N CODE contextful …  the same, wants the first line of standard error to begin with "CODE: ", and wants the project
//	                             directory to be byte for byte what it was (locks and scratch aside)
//	replace FILE OLD NEW         in place, wants OLD to be there
//	expand FILE TARGET           a copy with $VARIABLES replaced
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONTEXTFUL_STATE_DIR", env.WorkDir+"/.state")
			env.Setenv("CONTEXTFUL_NODE_ID", "desk")
			env.Setenv("STORE", ".contextful/context/research")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  status,
			"refused": refused,
			"replace": replace,
			"expand":  expand,
		},
		RequireUniqueNames: true,
	})
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command…")
	}
	if got := exitStatus(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, not %s\n%s", got, args[0], ts.ReadFile("stderr"))
	}
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused N CODE command…")
	}
	before := tree(ts)
	status(ts, false, slices.Concat(args[:1], args[2:]))
	if text := ts.ReadFile("stderr"); !refusedWith(text, args[1]) {
		ts.Fatalf("no refusal %q in:\n%s", args[1], text)
	}
	if after := tree(ts); !slices.Equal(before, after) {
		ts.Fatalf("a refusal changed the tree:\n%s\nis now\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// refusedWith looks past notes and progress: a refusal is the first line that begins with a code.
func refusedWith(text, code string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, code+": ") || strings.HasPrefix(line, `{"code":"`+code+`"`)
	})
}

func exitStatus(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("%s: %v", args[0], err)
	return -1
}

// tree digests the working directory: names, kinds and bytes. What belongs to this machine's processes is left out.
func tree(ts *testscript.TestScript) []string {
	root := ts.MkAbs(".")
	var lines []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == ".scratch" || name == ".state"):
			return fs.SkipDir
		case name == ".lock" || name == ".push.lock":
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !entry.Type().IsRegular() {
			lines = append(lines, rel+" "+entry.Type().String())
			return err
		}
		data, err := os.ReadFile(path)
		lines = append(lines, fmt.Sprintf("%s %x", rel, sha256.Sum256(data)))
		return err
	})
	ts.Check(err)
	return lines
}

func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s holds no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expand FILE TARGET")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}
