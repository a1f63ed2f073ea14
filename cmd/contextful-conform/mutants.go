package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"contextful/features"
	"contextful/harness"
	"contextful/harness/mutation"
	"contextful/harness/report"
	"contextful/harness/services"
	"contextful/harness/sut"
	"contextful/spec"

	"github.com/spf13/cobra"
)

type mutantFlags struct {
	sut, root, command, dir, work, out, only, services string
	list, verbose, vet                                 bool
	jobs                                               int
	limit                                              time.Duration
}

const mutantsLong = `Breaks the reference on purpose, one mutant of ref/mutants at a time, and asks whether the scenarios of the mutant's own clause notice.

All mutants are compiled into one binary (go build -overlay); production source is not touched. First the clean binary is asked everything, then
each mutant the scenarios of its clause. A mutant is killed when a scenario that passed on the clean binary fails at a When or Then with a mismatch;
a crash, a timeout or a failed Given kills nothing.

EXIT STATUS: 0 every observed facet of a MUST clause has a mutant and all mutants are killed, 1 not so, 2 the mutants cannot be read or the command
does not compile.`

func mutantsCommand() *cobra.Command {
	var f mutantFlags
	cmd := &cobra.Command{Use: "mutants", Short: "Test the scenarios: break the reference on purpose and see who notices", Long: mutantsLong, Args: cobra.NoArgs,
		Example: "  contextful-conform mutants\n  contextful-conform mutants --only 'store.pull.*' -v\n  contextful-conform mutants --list",
		RunE:    func(cmd *cobra.Command, _ []string) error { return mutants(cmd, f) }}
	fl := cmd.Flags()
	fl.StringVar(&f.only, "only", "", "only mutants whose id, clause or clause#facet this glob covers; the result is printed and not written")
	fl.BoolVar(&f.list, "list", false, "list the mutants and the facets without one; build and run nothing")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show how each mutant was noticed")
	fl.StringVar(&f.out, "out", "build/mutants.json", "where the result of a whole hunt goes")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "mutants at a time")
	fl.StringVar(&f.sut, "sut", "conform.toml", "describes the reference; its command is replaced by the binaries built here")
	fl.StringVar(&f.root, "root", ".", "directory of the module's go.mod")
	fl.StringVar(&f.command, "command", "./cmd/contextful", "the command to break")
	fl.StringVar(&f.dir, "mutants", "ref/mutants", "directory of the mutants; a relative one is below root")
	fl.StringVar(&f.work, "work", "build/mutants", "directory of the binaries, kept for the next time; a relative one is below root")
	fl.StringVar(&f.services, "services", "none", "auto, docker, local or none")
	fl.DurationVar(&f.limit, "limit", 30*time.Second, "how long one verb of a mutant may take")
	fl.BoolVar(&f.vet, "vet", false, "run go vet over the mutated packages when they are built")
	return cmd
}

func mutants(cmd *cobra.Command, f mutantFlags) error {
	law, set, err := load()
	if err != nil {
		return err
	}
	dir := below(f.root, f.dir)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("there are no mutants here: %w (run it from the root of the source tree, or give --root)", err)
	}
	all, err := mutation.Load(os.DirFS(dir), law)
	if err != nil {
		return fmt.Errorf("the mutants cannot be read:\n%w", err)
	}
	chosen, err := choose(all, f.only)
	if err != nil {
		return err
	}
	if f.list {
		return listMutants(cmd, chosen, law, set)
	}
	return hunt(cmd, f, chosen, law, set)
}

// below is a path of a flag: one that is not absolute begins at the module's root.
func below(root, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, name)
}

// choose keeps the mutants that a glob covers by id, clause or clause#facet.
func choose(all []mutation.Mutant, glob string) ([]mutation.Mutant, error) {
	if glob == "" {
		return all, nil
	}
	var out []mutation.Mutant
	for _, m := range all {
		for _, name := range []string{m.ID, m.Clause, m.Tag()} {
			ok, err := path.Match(glob, name)
			if err != nil {
				return nil, fmt.Errorf("--only %q is no glob: %w", glob, err)
			}
			if ok {
				out = append(out, m)
				break
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--only %q covers no mutant, by id, clause or clause#facet", glob)
	}
	return out, nil
}

// listMutants prints what there is, and the facets that a scenario asks and no mutant violates.
func listMutants(cmd *cobra.Command, chosen []mutation.Mutant, law *spec.Index, set *features.Set) error {
	w := cmd.OutOrStdout()
	has := map[string]bool{}
	for _, m := range chosen {
		has[m.Tag()] = true
		fmt.Fprintf(w, "%-58s %-40s %s\n", m.Tag(), m.ID, m.File)
	}
	missing := 0
	for _, row := range set.Coverage(law) {
		c, _ := law.Lookup(row.Clause)
		tag := mutation.Mutant{Clause: row.Clause, Facet: row.Facet}.Tag()
		if len(row.Scenarios) > 0 && c.Level == spec.Must && !has[tag] {
			missing++
			fmt.Fprintf(w, "%-58s no mutant\n", tag)
		}
	}
	fmt.Fprintf(w, "\n%d mutants; %d facets are asked and have none\n", len(chosen), missing)
	return nil
}

func hunt(cmd *cobra.Command, f mutantFlags, chosen []mutation.Mutant, law *spec.Index, set *features.Set) error {
	cfg, err := referenceConfig(f.sut, cmd.Flags().Changed("sut"))
	if err != nil {
		return err
	}
	mode, err := services.ParseMode(f.services)
	if err != nil {
		return err
	}
	whole := f.only == ""
	if whole { // a result that lies there is not this hunt's
		if err := os.Remove(f.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	log := cmd.ErrOrStderr()
	started := wall()
	fmt.Fprintf(log, "building %s with %d mutants\n", f.command, len(chosen))
	binaries, err := mutation.Builder{Root: f.root, Command: f.command, Dir: below(f.root, f.work), Vet: f.vet}.Build(cmd.Context(), chosen)
	if err != nil {
		return err
	}
	for _, d := range binaries.Dead {
		fmt.Fprintf(log, "dead      %s: %s\n", d.ID, d.Why)
	}
	fmt.Fprintf(log, "built in %.0f s; asking the clean binary, then the mutants\n", wall().Sub(started).Seconds())
	h := mutation.Hunt{Runner: &kitRunner{cfg: cfg, mode: mode, set: set, law: law, jobs: f.jobs}, Law: law, Jobs: f.jobs, Limit: f.limit,
		Progress: func(done, total int, m *mutation.Outcome) {
			fmt.Fprintf(log, "%d/%d  %-8s  %s  %s (%.1f s)\n", done, total, m.Result, mutation.Mutant{Clause: m.Clause, Facet: m.Facet}.Tag(), m.ID, m.Seconds)
		}}
	r, err := h.Run(cmd.Context(), chosen, binaries, !whole)
	if err != nil {
		return err
	}
	r.Seconds = wall().Sub(started).Seconds()
	r.Digests = mutation.Digests{Spec: law.Digest(), Features: set.Digest(), Clean: filepath.Base(binaries.Clean), Mutated: filepath.Base(binaries.Mutated)}
	r.Print(cmd.OutOrStdout(), f.verbose)
	if whole {
		if err := r.Write(f.out); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "result:", f.out)
	}
	if !r.Passed() {
		return exitCode(1)
	}
	return nil
}

// referenceConfig reads a conform.toml; where none was named and none lies here, it is the reference's command line.
func referenceConfig(file string, named bool) (*sut.Config, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && !named {
		return sut.Default("contextful", []string{"contextful"}, "sync", "s3", "lease"), nil
	}
	return sut.Load(file)
}

// kitRunner asks through the kit itself.
type kitRunner struct {
	cfg  *sut.Config
	mode services.Mode
	set  *features.Set
	law  *spec.Index
	jobs int
}

var _ mutation.Runner = (*kitRunner)(nil)

// Run implements mutation.Runner.
func (k *kitRunner) Run(ctx context.Context, ask mutation.Ask) ([]report.Scenario, error) {
	cfg := *k.cfg
	cfg.Command = append([]string{ask.Binary}, k.cfg.Command[1:]...)
	cfg.Env = maps.Clone(k.cfg.Env)
	if cfg.Env == nil {
		cfg.Env = map[string]string{}
	}
	cfg.Env[mutation.Env] = ask.Mutant
	if ask.Limit > 0 {
		cfg.Limit = ask.Limit
	}
	o := harness.Options{SUT: &cfg, Services: k.mode, Jobs: ask.Jobs, Scenarios: ask.Scenarios, Spec: k.law, Features: k.set.Sources(), Gaps: k.set.Gaps()}
	if ask.Clauses != nil {
		o.Select = k.asked(ask.Clauses)
		if len(o.Select) == 0 {
			return nil, nil
		}
	}
	res, err := harness.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	out := make([]report.Scenario, len(res.Scenarios))
	for i := range res.Scenarios {
		out[i] = outcome(&res.Scenarios[i])
	}
	return out, nil
}

// asked keeps the clauses that some scenario asks: the kit refuses a selection that matches nothing.
func (k *kitRunner) asked(clauses []string) []string {
	has := map[string]bool{}
	for _, s := range k.set.Scenarios() {
		for _, t := range s.Tags {
			has[t.Clause] = true
		}
	}
	var out []string
	for _, c := range clauses {
		if has[c] {
			out = append(out, c)
		}
	}
	return out
}

// outcome keeps what a hunt looks at.
func outcome(s *harness.Scenario) report.Scenario {
	out := report.Scenario{ID: s.ID, Tags: s.Tags, Verdict: s.Verdict, Reason: s.Reason, Seconds: s.Duration.Seconds()}
	if m := s.Mismatch; m != nil {
		out.Mismatch = &report.Mismatch{Clause: m.Clause, What: m.What, Expected: m.Expected, Actual: m.Actual}
	}
	for _, st := range s.Steps {
		out.Steps = append(out.Steps, report.Step{Keyword: st.Keyword, Kind: st.Kind, Text: st.Text, Line: st.Line, Status: st.Status})
	}
	for _, c := range s.Invocations {
		out.Calls = append(out.Calls, report.Call{Node: c.Node, Verb: string(c.Verb), NoAnswer: c.NoAnswer, Panicked: c.Panicked})
	}
	if s.Crashed || s.NoAnswer {
		out.Calls = append(out.Calls, report.Call{Verb: "a verb", Panicked: s.Crashed, NoAnswer: s.NoAnswer})
	}
	return out
}
