package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"contextful/harness/sut"
	"contextful/spec"

	"github.com/spf13/cobra"
)

type initFlags struct {
	sut, name, command, clock string
	claims                    []string
	major                     int
}

func initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{Use: "init", Short: "Write a conform.toml that describes your implementation", Args: cobra.NoArgs,
		Long: `Writes a conform.toml with a comment for every setting. Every verb's default is the reference's command line; change only what differs in yours, then
try it with doctor.

EXIT STATUS: 0 written, 2 the file exists already or a setting is wrong.`,
		Example: "  contextful-conform init --name contextful-rs --command ./target/release/contextful --claim sync,s3\n  contextful-conform doctor",
		RunE:    func(cmd *cobra.Command, _ []string) error { return initialise(cmd, f) }}
	fl := cmd.Flags()
	fl.StringVar(&f.sut, "sut", "conform.toml", "the file to write")
	fl.StringVar(&f.name, "name", "my-contextful", "the implementation's name")
	fl.StringVar(&f.command, "command", "./my-contextful", "its command; words are split at spaces")
	fl.StringVar(&f.clock, "clock", "now-flag", "how it is told the time: now-flag, faketime or none")
	fl.StringSliceVar(&f.claims, "claim", nil, "capabilities it claims, by the law's names")
	fl.IntVar(&f.major, "format-major", 1, "the newest lay-out it reads")
	return cmd
}

func initialise(cmd *cobra.Command, f initFlags) error {
	text, err := configuration(f)
	if err != nil {
		return err
	}
	if _, err := sut.Parse(f.sut, []byte(text)); err != nil {
		return err
	}
	file, err := os.OpenFile(f.sut, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; remove it or name another with --sut", f.sut)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	next := "contextful-conform doctor"
	if f.sut != "conform.toml" {
		next += " --sut " + f.sut
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s written. Look at [capabilities] and [verbs], then try every verb once: %s\n", f.sut, next)
	return nil
}

const configurationHead = `# How the conformance kit runs this implementation. Every setting is told in docs/implementers.md.
# Try it with ` + "`contextful-conform doctor`" + `, then ask everything with ` + "`contextful-conform run --out report`" + `.

[sut]
name = %s
# Argv of the implementation; a path with a slash is relative to this file. Each verb's arguments follow it.
command = [%s]
# How it is told the time: "now-flag" (it takes {now}), "faketime" (Debian's libfaketime), or "none": whatever needs a
# moved clock is then unsupported.
clock = %s
# How long one verb may take before the kit says "no answer".
# limit = "60s"
# env = { MY_SETTING = "value" }

[format]
# The newest lay-out this implementation reads.
major = %d

# What it claims. A claimed capability that fails is a failure; an unclaimed one is unsupported, and is counted as not judged.
[capabilities]
`

const configurationTail = `
# Where the error code stands in a refusal: a group named code, searched in standard error. This is the default:
# [refusal]
# code = '''%s'''

# One command that sets a node up, instead of init and config.toml: {facts} is a JSON file with endpoint, bucket, prefix,
# node, project, root, name and the names of the variables that hold the keys.
# [prepare]
# command = ["./setup-node", "{facts}"]

# How each verb is asked. An inner list is left out when its placeholder has no value, and repeated when it has several.
# Instead of a list, a verb may be a table: { argv = [...], env = { X = "{run}" }, stdin = "{sql}", files = { "job.json" = "..." } }.
# Any verb may use: %s.
# The lines below are the defaults; take the # away from what differs.
[verbs]
`

// configuration is the text of a conform.toml.
func configuration(f initFlags) (string, error) {
	var known []string
	for _, c := range spec.Capabilities() {
		known = append(known, c.Name)
	}
	for _, c := range f.claims {
		if !slices.Contains(known, c) {
			return "", fmt.Errorf("--claim %s: there is no such capability%s; there are %s", c, sut.DidYouMean(c, known), strings.Join(known, ", "))
		}
	}
	var command []string
	for _, word := range strings.Fields(f.command) {
		command = append(command, strconv.Quote(word))
	}
	var b strings.Builder
	fmt.Fprintf(&b, configurationHead, strconv.Quote(f.name), strings.Join(command, ", "), strconv.Quote(f.clock), f.major)
	for _, c := range spec.Capabilities() {
		fmt.Fprintf(&b, "%-32s # %s\n", fmt.Sprintf("%s = %t", strings.ReplaceAll(c.Name, "-", "_"), slices.Contains(f.claims, c.Name)), c.What)
	}
	var everywhere []string
	for _, p := range sut.Everywhere() {
		everywhere = append(everywhere, "{"+p+"}")
	}
	fmt.Fprintf(&b, configurationTail, sut.DefaultRefusal, strings.Join(everywhere, ", "))
	for _, v := range sut.Verbs() {
		fmt.Fprintf(&b, "\n# %s\n# %s = %s\n", v.Does, v.Verb, tomlArgv(v.Default.Argv))
	}
	return b.String(), nil
}

func tomlArgv(argv []any) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if group, ok := a.([]any); ok {
			words[i] = tomlArgv(group)
		} else {
			words[i] = strconv.Quote(fmt.Sprint(a))
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}
