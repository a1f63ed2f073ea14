package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"contextful/features"
	"contextful/harness"
	"contextful/harness/report"
	"contextful/harness/services"

	"github.com/spf13/cobra"
)

// runFlags are what `run` was told.
type runFlags struct {
	sut, services, out, baseline string
	dir                          string
	update                       bool
	clauses, scenarios, profile  []string
	require, strict, keep        bool
	jobs, repeat                 int
	shuffle                      string
	seed                         uint64
	timeout                      time.Duration
	verbose                      bool
}

const runHelp = `Asks the implementation under test every selected scenario and says which clauses of the law it meets. A part of the law is selected with --clause,
--scenario and --profile. What the implementation does not declare is reported as unsupported, and counted as not judged.

EXIT STATUS:
  0    conformant: everything that was asked has passed, or what failed was a SHOULD without --strict, or expected by --baseline
  1    not conformant: a scenario of a MUST clause failed, or a required service was not there
  2    the kit could not do its work: the conform.toml cannot be used, its command cannot be started, the selection matches
       nothing, or a scenario ended in an error of the kit or did not run
  3    nothing was judged: whatever was selected is unsupported, or needs a service that is not there
  4    the baseline is stale: something expected to fail has passed, expired or changed
  130  interrupted
The worst of them counts, from 2 over 3 and 1 to 4.`

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{Use: "run", Short: "Ask the implementation that a conform.toml describes", Args: cobra.NoArgs,
		Long: runHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, f) }}
	fl := cmd.Flags()
	fl.StringVar(&f.sut, "sut", "conform.toml", "the implementation under test")
	fl.StringVar(&f.dir, "dir", "", "a source tree with spec/ and features/ instead of what this binary embeds")
	fl.StringArrayVar(&f.clauses, "clause", nil, "only scenarios of clauses this glob covers, for instance 'store.pull.*' or 'store.pull.pointer-last#killed' (repeatable)")
	fl.StringArrayVar(&f.scenarios, "scenario", nil, "only this scenario id (repeatable)")
	fl.StringSliceVar(&f.profile, "profile", nil, "only clauses that need one of these capabilities; core is the rest")
	fl.StringVar(&f.services, "services", "auto", "auto, docker, local or none")
	fl.BoolVar(&f.require, "require-services", os.Getenv("CI") != "", "a service that is not there is a failure (the default where CI is set)")
	fl.IntVarP(&f.jobs, "jobs", "j", 0, "scenarios at a time (default: the number of CPUs)")
	fl.StringVar(&f.shuffle, "shuffle", "", "run in an order made from this seed; without a value, from --seed")
	fl.Lookup("shuffle").NoOptDefVal = "seed"
	fl.Uint64Var(&f.seed, "seed", 1, "of every random choice")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each scenario runs; verdicts that disagree are a failure")
	fl.StringVar(&f.baseline, "baseline", "", "conform.lock.toml: the failures that are expected")
	fl.BoolVar(&f.update, "update-baseline", false, "write the baseline anew from this run")
	fl.StringVar(&f.out, "out", "", "write report.json, junit.xml, index.html and failure bundles into this directory")
	fl.BoolVar(&f.strict, "strict", false, "a SHOULD that fails counts")
	fl.BoolVar(&f.keep, "keep", false, "leave the scenarios' directories and say where they are")
	fl.DurationVar(&f.timeout, "scenario-timeout", 5*time.Minute, "how long one scenario may take")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "a line for every scenario")
	return cmd
}

func run(cmd *cobra.Command, f runFlags) error {
	cfg, err := loadConfig(f.sut, cmd.Flags().Changed("sut"))
	if err != nil {
		return err
	}
	mode, err := services.ParseMode(f.services)
	if err != nil {
		return err
	}
	o := harness.Options{SUT: cfg, Select: f.clauses, Scenarios: f.scenarios, Profile: f.profile, Services: mode, RequireServices: f.require, Jobs: f.jobs,
		Seed: f.seed, Repeat: f.repeat, Strict: f.strict, Keep: f.keep, ScenarioTimeout: f.timeout, Command: "contextful-conform run --sut " + f.sut}
	law, set, err := loadFrom(f.dir)
	if err != nil {
		return err
	}
	o.Spec, o.Features, o.Gaps = law, set.Sources(), append([]features.Gap{}, set.Gaps()...)
	if f.dir != "" {
		o.Command += " --dir " + f.dir
	}
	if err := shuffle(&o, f.shuffle); err != nil {
		return err
	}
	if f.update && f.baseline == "" {
		return errors.New("--update-baseline writes the file that --baseline names: give one")
	}
	if f.update && (len(f.clauses)+len(f.scenarios)+len(f.profile) > 0) {
		return errors.New("--update-baseline refuses a filtered run: what was not asked would leave the baseline")
	}
	show := &progress{w: cmd.ErrOrStderr(), terminal: isTerminal(cmd.ErrOrStderr()), verbose: f.verbose}
	o.Observer = show.event
	o.Log = show.logf
	res, err := harness.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	show.clear()
	rep := res.Report()
	if err := applyBaseline(f, law, rep, res.Started); err != nil {
		return err
	}
	code := rep.Judge()
	if f.out != "" {
		if err := report.WriteAll(f.out, rep); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	summarise(cmd.OutOrStdout(), rep, f)
	if res.Dir != "" {
		fmt.Fprintln(cmd.OutOrStdout(), "the scenarios' directories:", res.Dir)
	}
	if err := annotate(cmd.OutOrStdout(), rep); err != nil {
		return err
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

func shuffle(o *harness.Options, text string) error {
	if text == "" {
		return nil
	}
	o.Shuffle = true
	if text != "seed" {
		if _, err := fmt.Sscan(text, &o.Seed); err != nil {
			return fmt.Errorf("--shuffle %q is no seed: want a whole number", text)
		}
	}
	return nil
}

// progress shows how far a run is: one line that is rewritten on a terminal, a line now and then elsewhere; failures at
// once either way.
type progress struct {
	w         io.Writer
	terminal  bool
	verbose   bool
	drawn     bool
	nextPlain int
	counts    map[harness.Verdict]int
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

func (p *progress) logf(format string, args ...any) {
	if p.verbose {
		p.clear()
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *progress) event(e harness.Event) {
	if p.counts == nil {
		p.counts = map[harness.Verdict]int{}
	}
	if s := e.Scenario; s != nil {
		p.counts[s.Verdict]++
		bad := s.Verdict == harness.Fail || s.Verdict == harness.Errored
		if bad || p.verbose {
			p.clear()
			fmt.Fprintf(p.w, "%-11s %s  (%.1f s)\n", s.Verdict, s.ID, s.Duration.Seconds())
			if s.Reason != "" {
				fmt.Fprintf(p.w, "            %s\n", s.Reason)
			}
		}
		if bad {
			fmt.Fprintf(p.w, "            features/%s:%d  %s\n", s.Feature, s.Line, strings.Join(s.Tags, " "))
		}
	}
	line := fmt.Sprintf("%d/%d", e.Done, e.Total)
	for _, v := range report.Verdicts() {
		if n := p.counts[v]; n > 0 {
			line += fmt.Sprintf("  %d %s", n, v)
		}
	}
	if e.Done > 0 && e.Done < e.Total {
		left := e.Elapsed * time.Duration(e.Total-e.Done) / time.Duration(e.Done)
		line += fmt.Sprintf("  about %d s left", int(left.Seconds()+0.5))
	}
	switch {
	case p.terminal:
		fmt.Fprint(p.w, "\r\x1b[K"+line)
		p.drawn = true
	case e.Done >= p.nextPlain || e.Done == e.Total:
		fmt.Fprintln(p.w, line)
		p.nextPlain = e.Done + max(1, e.Total/10)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
