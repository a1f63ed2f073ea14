package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextful/ref/clock"
	"contextful/ref/decl"
	"contextful/ref/manifest"
)

// version is set by the build (-ldflags "-X main.version=…").
var version = "dev"

// app is one command line at work: its streams, its global flags and what they resolve to.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	project     string
	declaration string
	now         string
	json        bool
	quiet       bool
	lockTimeout time.Duration
	memory      string

	args    []string // the command line
	started bool     // the command line was understood and its command runs
	// meant is the command that the line names, as far as it could be read; nil before it was.
	meant *cobra.Command
}

const rootLong = `contextful keeps tables as Parquet files under JSON manifests, on this machine first, and mirrors them to a bucket.

Every commit is one conditional write: a crashed or paused writer leaves nothing half visible.`

const rootExample = `  contextful init research
  contextful context land documents --rows documents.jsonl --run-id r1 --site-id here
  contextful query "SELECT count(*) FROM documents"
  contextful context compact documents
  contextful sync push`

const exitHelp = `

EXIT STATUS
  0    done
  1    refused or failed: the first line on standard error is "<Code>: <what>", the next may be "hint: <what to do>"
  2    the command line, contextful.toml or config.toml is wrong
  130  interrupted`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "contextful",
		Short:         "A local-first table store over Parquet, with a bucket as its mirror",
		Long:          rootLong + exitHelp,
		Example:       rootExample,
		Version:       version,
		Args:          cobra.ArbitraryArgs, // help says which are none
		RunE:          help,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.project, "project", "", "project directory (default: the nearest one upward that has a contextful.toml)")
	flags.StringVar(&a.declaration, "declaration", "", "declaration file (default: contextful.toml of the project)")
	flags.StringVar(&a.now, "now", "", "the instant to take for the current one, RFC 3339; commits go on from the latest one there is")
	flags.BoolVar(&a.json, "json", false, "print one JSON object, refusals included")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print no progress and no notes")
	flags.DurationVar(&a.lockTimeout, "lock-timeout", time.Minute, "how long to wait for another process on this machine")
	flags.StringVar(&a.memory, "memory", "1GiB", "memory that the query engine may use before it spills to disk")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// A flag behind a command that there is not belongs to the command that was meant.
		if _, rest, findErr := root.Find(a.args); findErr == nil && cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return unknownCommand(cmd, rest[0])
		}
		return usageError{err}
	})
	root.AddCommand(a.initCommand(), a.contextCommand(), a.queryCommand(), a.pipelineCommand(), a.syncCommand(), a.runCommand(), a.versionCommand())
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	completionCommand(root)
	a.addCompletion(root)
	for _, f := range []string{"project", "declaration", "now", "lock-timeout", "memory"} {
		completeFlag(root, flags.Lookup(f))
	}
	a.noteStart(root)
	return root
}

// noteStart marks where parsing ends: what cobra refuses before that is the command line's fault.
func (a *app) noteStart(cmd *cobra.Command) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return work(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		a.noteStart(child)
	}
}

// exactly and atMost hold a command to the arguments that its Use names.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }
func atMost(n int) cobra.PositionalArgs  { return between(0, n) }

func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		takes := "no argument"
		if _, words, ok := strings.Cut(cmd.Use, " "); ok && most > 0 {
			takes = words
		}
		return usageError{fmt.Errorf("%s takes %s and has %s", cmd.CommandPath(), takes, count(int64(len(args)), "argument"))}
	}
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: help}
	cmd.AddCommand(children...)
	return cmd
}

// clock gives the machine's clock, or the instant of --now.
func (a *app) clock() (clock.Clock, error) {
	if a.now == "" {
		return clock.System{}, nil
	}
	instant, err := instantFlag("--now", a.now)
	if err != nil {
		return nil, err
	}
	if t := instant.Time; t.Before(earliest) || t.After(latest) {
		return nil, usageError{fmt.Errorf("--now: %s lies outside %s to %s, after which 64 bits of nanoseconds have no room for what comes next", instant, manifest.At(earliest), manifest.At(latest))}
	}
	return clock.Fixed{Instant: instant.Time}, nil
}

// The instants that a table's timestamps can hold, but for the last day: commits and snapshots go on from the latest one there
// is, each a nanosecond on, and a table that had used the last could not be folded ever again.
var (
	earliest = time.Unix(0, math.MinInt64)
	latest   = time.Unix(0, math.MaxInt64).Add(-24 * time.Hour)
)

// instantFlag reads an RFC 3339 instant. A bound may lie beyond what a timestamp holds; the clock may not.
func instantFlag(flag, text string) (*manifest.Instant, error) {
	if text == "" {
		return nil, nil
	}
	instant, err := manifest.ParseInstant(text)
	if err != nil {
		return nil, usageError{flagError{flag, fmt.Errorf("%w, such as 2026-11-30T09:00:00Z", err)}}
	}
	return &instant, nil
}

var errNeedsHeld = errors.New("goes with --held")

type flagError struct {
	flag string
	err  error
}

func (f flagError) Error() string { return f.flag + ": " + f.err.Error() }

// loadProject finds the declaration from the flags and the working directory.
func (a *app) loadProject() (*decl.Project, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return decl.LoadProject(nil, decl.Where{StartDir: dir, ProjectDir: a.project, DeclarationPath: a.declaration})
}
