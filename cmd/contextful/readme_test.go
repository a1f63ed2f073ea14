package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// A shown is a command of the README with what it is said to print.
type shown struct{ command, output string }

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

// commandsShown takes a page's console blocks apart: a command begins at "$ " and goes on over a here-document and after a line that
// ends in a pipe or &&.
func commandsShown(page string) []shown {
	var all []shown
	for _, block := range consoleBlock.FindAllStringSubmatch(page, -1) {
		lines := strings.Split(strings.TrimSuffix(block[1], "\n"), "\n")
		for i := 0; i < len(lines); {
			first, ok := strings.CutPrefix(lines[i], "$ ")
			i++
			if !ok {
				continue
			}
			command := []string{first}
			for i < len(lines) && (strings.HasSuffix(command[len(command)-1], "|") || strings.HasSuffix(command[len(command)-1], "&&")) {
				command, i = append(command, lines[i]), i+1
			}
			if strings.HasSuffix(first, "<<'END'") {
				for command[len(command)-1] != "END" {
					command, i = append(command, lines[i]), i+1
				}
			}
			var output []string
			for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
				output, i = append(output, lines[i]), i+1
			}
			all = append(all, shown{strings.Join(command, "\n"), strings.Join(output, "\n")})
		}
	}
	return all
}

// What differs from one run to the next.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|snapshot-\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|stock-\d+-[0-9a-f]+|\d+ bytes`)

// TestReadme runs the README's commands one after the other in a shell, below another directory than /tmp, and compares what they print.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	commands := commandsShown(string(page))
	require.Greater(t, len(commands), 40)
	const mark = "==== "
	var script strings.Builder
	script.WriteString("exec 2>&1\n")
	for i, c := range commands {
		if strings.HasPrefix(c.command, "go build ") {
			c.command = "true" // the test's own binary is in the path
		}
		fmt.Fprintf(&script, "echo '%s%d'\n%s\n", mark, i, c.command)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte("exec bash readme.sh\ncp stdout printed\nreport printed\n"), 0o600))
	printed := map[string]string{}
	t.Run("commands", func(t *testing.T) { // which ends when its parallel tests have
		testscript.Run(t, testscript.Params{
			Dir: dir,
			Setup: func(env *testscript.Env) error {
				env.Setenv("CONTEXTFUL_STATE_DIR", filepath.Join(env.WorkDir, "state"))
				return os.WriteFile(filepath.Join(env.WorkDir, "readme.sh"), []byte(strings.ReplaceAll(script.String(), "/tmp/", env.WorkDir+"/")), 0o600)
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"report": func(ts *testscript.TestScript, _ bool, args []string) {
					for _, part := range strings.Split(ts.ReadFile(args[0]), mark)[1:] {
						number, text, _ := strings.Cut(part, "\n")
						printed[number] = strings.ReplaceAll(text, ts.Getenv("WORK")+"/", "/tmp/")
					}
				},
			},
		})
	})
	same := func(text string) string { return changing.ReplaceAllString(strings.TrimRight(text, "\n"), "…") }
	for i, c := range commands {
		got, ok := printed[fmt.Sprint(i)]
		require.True(t, ok, "the README's commands ended before %q", c.command)
		require.Equal(t, same(c.output), same(got), "the README shows another answer to\n%s", c.command)
	}
}
