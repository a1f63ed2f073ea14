package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"

	"contextful/features"
	"contextful/harness/report"
)

// Report turns the results into the one model that everything is written from: summarised, not yet judged. A baseline is
// applied between Report and Judge.
func (r *Results) Report() *report.Report {
	o := r.Options
	out := &report.Report{Complete: true, Interrupted: r.Interrupted, Started: r.Started.UTC(), Seconds: r.Duration.Seconds(), Services: r.Services,
		SUT: report.Subject{Name: o.SUT.Name, Command: o.SUT.Command, Clock: string(o.SUT.Clock), Config: o.SUT.Path, Capabilities: o.SUT.Capabilities},
		Selection: report.Selection{Clauses: Globs(o.Select), Profiles: Globs(o.Profile), Scenarios: o.Scenarios, Seed: o.Seed, Shuffle: o.Shuffle, Repeat: o.Repeat,
			Jobs: o.Jobs, Strict: o.Strict, Require: o.RequireServices},
		Digests: report.Digests{Binary: binaryDigest(o.SUT.Command), Spec: o.Spec.Digest(), Features: digestOf(o.Features, o.Gaps), Kit: kitDigest()},
	}
	for _, c := range o.Spec.All() {
		out.Clauses = append(out.Clauses, report.Clause{ID: c.ID, Level: string(c.Level), Needs: c.Needs, Facets: c.FacetNames(), Text: c.Text, Why: c.Why, Page: c.Page, Line: c.Line})
	}
	for _, g := range o.Gaps {
		out.Gaps = append(out.Gaps, report.Gap{Clause: g.Clause, Facet: g.Facet, Reason: g.Reason, AttestedBy: g.AttestedBy, Later: g.Later})
	}
	for i := range r.Scenarios {
		out.Scenarios = append(out.Scenarios, reported(&r.Scenarios[i]))
	}
	out.Summarise()
	return out
}

// Exit is the exit status of a run without a baseline.
func (r *Results) Exit() int { return r.Report().Judge() }

func reported(s *Scenario) report.Scenario {
	out := report.Scenario{ID: s.ID, Name: s.Name, Feature: s.Feature, Line: s.Line, Area: s.Area, Tags: s.Tags, Level: s.Level, Needs: s.Needs, Verdict: s.Verdict,
		Reason: s.Reason, Attempt: s.Attempt, Flaky: s.Flaky, Seconds: s.Duration.Seconds(), Journal: s.Journal, Tree: s.TreeDiff, Notes: s.Notes, Reproduce: s.Reproduce}
	for _, t := range s.Other {
		if name, ok := strings.CutPrefix(t, "service."); ok {
			out.Services = append(out.Services, name)
		}
	}
	for _, st := range s.Steps {
		out.Steps = append(out.Steps, report.Step{Keyword: st.Keyword, Kind: st.Kind, Text: st.Text, Line: st.Line, Status: st.Status, Seconds: st.Duration.Seconds(), Error: st.Error})
	}
	if m := s.Mismatch; m != nil {
		out.Mismatch = &report.Mismatch{Clause: m.Clause, What: m.What, Expected: m.Expected, Actual: m.Actual}
	}
	for _, c := range s.Invocations {
		out.Calls = append(out.Calls, report.Call{Node: c.Node, Verb: string(c.Verb), Principal: c.Principal, Argv: c.Argv, Env: c.Env, Stdin: c.Stdin, Exit: c.Exit,
			Signal: c.Signal, Killed: c.Killed, Seconds: c.Duration.Seconds(), Stdout: c.Stdout, Stderr: c.Stderr, NoAnswer: c.NoAnswer, Panicked: c.Panicked})
	}
	return out
}

// digestOf is features.Digest for the sources this run used.
func digestOf(sources []features.Source, gaps []features.Gap) string {
	if own := features.Sources(); len(own) == len(sources) {
		same := true
		for i := range own {
			same = same && own[i] == sources[i]
		}
		if same {
			return features.Digest()
		}
	}
	h := sha256.New()
	for _, s := range sources {
		h.Write([]byte(s.Path + " " + strconv.Itoa(len(s.Text)) + "\n" + s.Text))
	}
	var lines []string
	for _, g := range gaps {
		lines = append(lines, g.Clause+"#"+g.Facet+" "+g.AttestedBy+" "+g.Later)
	}
	sort.Strings(lines)
	h.Write([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(h.Sum(nil))
}

// binaryDigest is that of the command's first word; empty where it is no file.
func binaryDigest(command []string) string {
	if len(command) == 0 {
		return ""
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	return fileDigest(path)
}

func kitDigest() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return fileDigest(path)
}

func fileDigest(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
