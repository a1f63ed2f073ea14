package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// goodLines has a command line that succeeds in the project of shop for every command that does something, in an order in which they do.
var goodLines = [][]string{
	{"init", "research"},
	{"version"},
	{"pipeline", "validate"},
	{"pipeline", "run", "stock"},
	{"context", "land", "documents", "--rows", "rows.jsonl", "--run-id", "r1", "--site-id", "desk"},
	{"context", "capture", "pages", "--rows", "pages.jsonl"},
	{"context", "tables"},
	{"context", "files", "documents"},
	{"context", "scan", "documents"},
	{"context", "runs", "documents"},
	{"context", "compact", "documents"},
	{"context", "snapshots", "documents"},
	{"context", "describe", "documents"},
	{"context", "check"},
	{"context", "rebuild-catalog"},
	{"query", "SELECT count(*) FROM documents"},
	{"run", "list"},
	{"sync", "probe"},
	{"sync", "manifest", "--emit"},
	{"sync", "push"},
	{"sync", "pull"},
	{"sync", "lease", "acquire", "documents"},
	{"sync", "lease", "renew", "documents"},
	{"sync", "lease", "release", "documents"},
	{"sync", "compact", "documents"},
	{"completion", "bash"},
	{"completion", "fish"},
	{"completion", "powershell"},
	{"completion", "zsh"},
	{"help", "context", "land"},
}

// anywhere are the commands that need no project.
var anywhere = []string{"init", "version", "completion", "help"}

// shop makes the working directory a project before its init.
func shop(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("CONTEXTFUL_STATE_DIR", t.TempDir())
	t.Setenv("CONTEXTFUL_NODE_ID", "desk")
	for name, text := range map[string]string{
		"contextful.toml": "[pipeline]\nid = \"stock\"\n[pipeline.source]\nkind = \"file\"\npath = \"stock.jsonl\"\n[[pipeline.tables]]\nname = \"stock\"\nwrite_mode = \"replace\"\n",
		"pipelines/a.toml": "[pipeline]\nid = \"notes\"\n[[pipeline.tables]]\nname = \"documents\"\nprimary_key = [\"id\"]\n" +
			"[[pipeline.tables]]\nname = \"pages\"\nprimary_key = [\"url\"]\nsnapshot = { document = \"url\" }\n" +
			"[[job]]\nname = \"nightly\"\nkind = \"fold\"\nschedule = \"0 3 * * *\"\n",
		"stock.jsonl": `{"item": "pen"}`,
		"rows.jsonl":  `{"id": 1}`,
		"pages.jsonl": `{"url": "a.example"}`,
		".contextful/context/research/config.toml": "[sync]\nendpoint = \"file://" + filepath.Join(dir, "bucket") + "\"\nprefix = \"team\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("bucket", 0o755); err != nil {
		t.Fatal(err)
	}
}

// said is what a command line came to.
type said struct {
	code         int
	stdout, errs string
}

func say(ctx context.Context, args ...string) said {
	var out, errs bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &errs)
	return said{code, out.String(), errs.String()}
}

// The list above has every command there is, so that what follows is asked of each.
func TestEveryCommandIsAsked(t *testing.T) {
	listed := map[string]bool{}
	root := (&app{}).root()
	for _, line := range goodLines {
		cmd, _, err := root.Find(line)
		if err != nil {
			t.Fatal(err)
		}
		listed[cmd.CommandPath()] = true
	}
	there := map[string]bool{}
	walkCommands(root, func(c *cobra.Command) {
		if c.HasSubCommands() {
			return
		}
		there[c.CommandPath()] = true
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.ValidArgsFunction == nil {
			t.Errorf("%s: a short line without a full stop, and completion of its arguments: %q", c.CommandPath(), c.Short)
		}
		if !strings.HasPrefix(c.CommandPath(), "contextful completion ") && (!strings.Contains(c.Long, exitHelp) || c.Example == "") {
			t.Errorf("%s: help without exit status or without an example", c.CommandPath())
		}
	})
	if !maps.Equal(listed, there) {
		t.Errorf("listed %v\nthere are %v", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(there)))
	}
}

func walkCommands(c *cobra.Command, each func(*cobra.Command)) {
	each(c)
	for _, child := range c.Commands() {
		walkCommands(child, each)
	}
}

// With --quiet a command that succeeds says nothing on standard error, with --json it prints one object, and never does it send a
// terminal's control characters to what is none.
func TestEveryCommandSucceeds(t *testing.T) {
	for name, flags := range map[string][]string{"plain": nil, "quiet": {"--quiet"}, "json": {"--json"}, "both": {"-q", "--json"}} {
		t.Run(name, func(t *testing.T) {
			shop(t)
			for _, line := range goodLines {
				got := say(t.Context(), append(slices.Clone(line), flags...)...)
				if got.code != exitDone || got.stdout == "" || strings.Contains(got.stdout+got.errs, "\x1b[") {
					t.Fatalf("%v: exit %d\n%s\n%s", line, got.code, got.stdout, got.errs)
				}
				if slices.Contains(flags, "--quiet") && got.errs != "" {
					t.Errorf("%v: --quiet says\n%s", line, got.errs)
				}
				if slices.Contains(flags, "--json") && !slices.Contains([]string{"completion", "help"}, line[0]) && !oneObject(got.stdout) {
					t.Errorf("%v: --json prints\n%s", line, got.stdout)
				}
			}
		})
	}
}

func oneObject(text string) bool {
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && strings.HasSuffix(text, "}\n")
}

// What cannot be understood exits 2, before anything is done; with --json the refusal is one object.
func TestEveryCommandRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CONTEXTFUL_STATE_DIR", t.TempDir())
	for _, line := range goodLines {
		bad := map[string][]string{
			"an unknown flag": append(slices.Clone(line), "--bogus"),
			"many arguments":  append(slices.Clone(line), "one", "two", "three"),
			"a flag's value":  append(slices.Clone(line), "--lock-timeout", "soon"),
		}
		code := "Usage"
		if !slices.Contains(anywhere, line[0]) {
			bad["no project"] = line
		}
		for what, args := range bad {
			if code = "Usage"; what == "no project" {
				code = "ProjectNotFound"
			}
			if got := say(t.Context(), args...); got.code != exitUsage || got.stdout != "" || !isRefusal(got.errs, code) {
				t.Errorf("%s, %q: exit %d\n%s\n%s", what, args, got.code, got.stdout, got.errs)
			}
			got := say(t.Context(), append(slices.Clone(args), "--json")...)
			var r map[string]string
			if err := json.Unmarshal([]byte(got.errs), &r); err != nil || got.code != exitUsage || got.stdout != "" || len(r) != 4 || r["code"] != code || r["hint"] == "" {
				t.Errorf("%s, %q under --json: exit %d\n%s\n%s", what, args, got.code, got.stdout, got.errs)
			}
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("refusals left %v behind, %v", left, err)
	}
}

// isRefusal says whether a text is "<code>: …", then one hint.
func isRefusal(text, code string) bool {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return len(lines) == 2 && strings.HasPrefix(lines[0], code+": ") && strings.HasPrefix(lines[1], "hint: ")
}

// Once interrupted, a command has ended well or exits 130, and says so in one line; it never fails in another way.
func TestEveryCommandIsInterrupted(t *testing.T) {
	shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := 0
	for _, line := range goodLines {
		got := say(ctx, append(slices.Clone(line), "--json")...)
		switch got.code {
		case exitDone:
		case exitInterrupted:
			stopped++
			if !strings.HasPrefix(got.errs, `{"code":"Interrupted",`) || strings.Count(got.errs, "\n") != 1 {
				t.Errorf("%v: %s", line, got.errs)
			}
		default:
			t.Errorf("%v: exit %d\n%s", line, got.code, got.errs)
		}
		if got := say(t.Context(), line...); got.code != exitDone {
			t.Fatalf("%v after the interrupted one: exit %d\n%s", line, got.code, got.errs)
		}
	}
	if stopped < 5 {
		t.Errorf("only %d commands were interrupted", stopped)
	}
}

// What is completed is what the declaration has; files stand only where a file is taken.
func TestCompletionKnowsTablesAndPipelines(t *testing.T) {
	shop(t)
	if got := say(t.Context(), "init", "research"); got.code != exitDone {
		t.Fatal(got.errs)
	}
	const noFiles, files, folders = ":4", ":0", ":16"
	for _, c := range []struct {
		line []string
		want []string
		end  string
	}{
		{[]string{"context", "files", ""}, []string{"stock", "documents", "pages"}, noFiles},
		{[]string{"context", "files", "documents", ""}, nil, noFiles},
		{[]string{"sync", "lease", "acquire", ""}, []string{"stock", "documents", "pages"}, noFiles},
		{[]string{"pipeline", "run", ""}, []string{"stock"}, noFiles},
		{[]string{"query", ""}, nil, noFiles},
		{[]string{"context", "land", "stock", "--format", ""}, []string{"jsonl", "csv", "parquet"}, noFiles},
		{[]string{"context", "land", "stock", "--rows", ""}, nil, files},
		{[]string{"context", "land", "stock", "--run-id", ""}, nil, noFiles},
		{[]string{"--project", ""}, nil, folders},
		{[]string{"context", "files", "stock", "--project", "/nowhere", "--as-of", ""}, nil, noFiles},
	} {
		got := say(t.Context(), append([]string{"__complete"}, c.line...)...)
		want := strings.Join(append(slices.Clone(c.want), c.end), "\n") + "\n"
		if got.code != exitDone || got.stdout != want {
			t.Errorf("%q: exit %d\n%s\nnot\n%s", c.line, got.code, got.stdout, want)
		}
	}
}
