// Package baseline holds expected failures: conform.lock.toml, which lets an implementation that is not finished gate
// on "no worse than recorded".
//
//	[[expected]]
//	clause    = "store.pull.pointer-last#before"   # a tag of the scenario
//	scenario  = "store/pull.feature: …"            # its id in report.json; a row of an outline has its own
//	reason    = "the pointer is written first; the rewrite is under way"
//	link      = "https://example.org/issues/12"    # may be empty
//	expires   = 2027-03-31                         # the last day it holds, UTC
//	signature = "no pointer before its parts"      # how the failure begins, at least 12 characters
//
// An entry that passes, is past its day, fails otherwise than recorded, or names what does not exist is stale, and a
// stale entry fails the gate. An error of the kit is never expected.
//
// Answers: no clause.
package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"contextful/harness/report"
	"contextful/spec"
)

// MinSignature is how many characters of a failure an entry has to record: fewer would match anything.
const MinSignature = 12

// An Entry is one expected failure.
type Entry struct {
	Clause    string         `toml:"clause"`
	Scenario  string         `toml:"scenario"`
	Reason    string         `toml:"reason"`
	Link      string         `toml:"link"`
	Expires   toml.LocalDate `toml:"expires"`
	Signature string         `toml:"signature"`
}

// A File is a conform.lock.toml.
type File struct {
	Path    string
	Entries []Entry
}

// Load reads a file. A file that is not there is an error that satisfies errors.Is(err, fs.ErrNotExist).
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads a file's text. The error lists everything that is wrong with its form, one line each.
func Parse(path string, text []byte) (*File, error) {
	var doc struct {
		Expected []Entry `toml:"expected"`
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&doc); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			return nil, fmt.Errorf("%s: unknown key %s", path, strings.Join(strict.Errors[0].Key(), "."))
		}
		return nil, fmt.Errorf("%s: not readable as TOML: %w", path, err)
	}
	var wrong []string
	seen := map[string]bool{}
	for i, e := range doc.Expected {
		say := func(what string) {
			wrong = append(wrong, fmt.Sprintf("%s: entry %d (%s): %s", path, i+1, e.Scenario, what))
		}
		if e.Clause == "" {
			say("clause is missing")
		}
		if e.Scenario == "" {
			say("scenario is missing: the id of the scenario in report.json")
		}
		if strings.TrimSpace(e.Reason) == "" {
			say("reason is missing")
		}
		if e.Expires == (toml.LocalDate{}) {
			say("expires is missing: a day such as 2027-03-31")
		}
		if len([]rune(e.Signature)) < MinSignature {
			say(fmt.Sprintf("signature %q is shorter than %d characters", e.Signature, MinSignature))
		}
		if seen[e.Scenario] {
			say("the scenario stands twice")
		}
		seen[e.Scenario] = true
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "\n"))
	}
	return &File{Path: path, Entries: doc.Expected}, nil
}

// Apply marks the scenarios of a report: a failure as recorded becomes xfail, a pass that was expected to fail xpass.
// What is stale is listed in the report's Baseline. Summarise and Judge the report afterwards. now is the run's instant.
func (f *File) Apply(r *report.Report, law *spec.Index, now time.Time) {
	b := &report.Baseline{File: f.Path, Stale: []string{}}
	r.Baseline = b
	at := map[string]*report.Scenario{}
	for i := range r.Scenarios {
		at[r.Scenarios[i].ID] = &r.Scenarios[i]
	}
	today := now.UTC().Format(time.DateOnly)
	for _, e := range f.Entries {
		say := func(format string, args ...any) {
			b.Stale = append(b.Stale, fmt.Sprintf("%s: %s: ", f.Path, e.Scenario)+fmt.Sprintf(format, args...))
		}
		id, facet, _ := strings.Cut(e.Clause, "#")
		c, ok := law.Lookup(id)
		if !ok || facet != "" && !c.HasFacet(facet) {
			say("there is no clause %s", e.Clause)
			continue
		}
		s, ok := at[e.Scenario]
		if !ok {
			if !r.Selection.Filtered() {
				say("there is no such scenario")
			}
			continue
		}
		if !slices.Contains(s.Tags, e.Clause) {
			say("the scenario does not ask %s, only %s", e.Clause, strings.Join(s.Tags, ", "))
			continue
		}
		switch {
		case s.Verdict == report.Pass:
			s.Verdict = report.XPass
			s.Reason = "passes, but the baseline expects a failure: " + e.Reason
			say("it passes: take the entry out")
		case s.Verdict == report.Error:
			say("it ends in an error of the kit, which cannot be expected")
		case s.Verdict != report.Fail:
		case e.Expires.String() < today:
			say("the entry expired on %s", e.Expires)
		case s.Flaky:
			say("its repeats disagree: a flaky failure cannot be expected")
		case !strings.HasPrefix(Signature(*s), e.Signature):
			say("it fails otherwise than recorded: %q begins with no %q", short(Signature(*s)), e.Signature)
		default:
			s.Verdict = report.XFail
			s.Reason = "as recorded: " + e.Reason
			b.Used++
		}
	}
}

// Signature is the failure of a scenario on one line: the rule, what was expected, what was seen; or, without a
// mismatch, the reason. An entry records how it begins.
func Signature(s report.Scenario) string {
	text := s.Reason
	if m := s.Mismatch; m != nil {
		text = m.What + " | expected " + m.Expected + " | actual " + m.Actual
	}
	return strings.Join(strings.Fields(text), " ")
}

func short(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// Update makes the file that would have expected exactly the failures of a report. Entries that still hold keep their
// words and their day; new ones expire at the given day. It refuses a run that was filtered, interrupted or incomplete,
// and one with errors: what was not seen cannot be recorded.
func Update(old *File, r *report.Report, expires time.Time) (*File, error) {
	switch {
	case r.Selection.Filtered():
		return nil, errors.New("the run was filtered: a baseline is recorded from a whole run")
	case r.Interrupted || r.Counts.NotRun > 0:
		return nil, errors.New("the run did not finish: a baseline is recorded from a whole run")
	case r.Counts.Error > 0:
		return nil, fmt.Errorf("%d scenarios ended in an error of the kit, and an error cannot be expected", r.Counts.Error)
	}
	out := &File{Path: old.Path}
	had := map[string]Entry{}
	for _, e := range old.Entries {
		had[e.Scenario] = e
	}
	for _, s := range r.Scenarios {
		if e, ok := had[s.ID]; ok && s.Verdict == report.XFail {
			out.Entries = append(out.Entries, e)
			continue
		}
		if s.Verdict != report.Fail || len(s.Tags) == 0 || s.Flaky {
			continue
		}
		e := Entry{Clause: s.Tags[0], Scenario: s.ID, Reason: "recorded " + r.Started.UTC().Format(time.DateOnly) + ", to be explained",
			Expires: toml.LocalDate{Year: expires.Year(), Month: int(expires.Month()), Day: expires.Day()}, Signature: beginning(s)}
		if prior, ok := had[s.ID]; ok {
			e.Reason, e.Link = prior.Reason, prior.Link
		}
		if s.Mismatch != nil && slices.Contains(s.Tags, s.Mismatch.Clause) {
			e.Clause = s.Mismatch.Clause
		}
		if len([]rune(e.Signature)) < MinSignature {
			return nil, fmt.Errorf("%s fails with %q: too few words to recognise it by", s.ID, e.Signature)
		}
		out.Entries = append(out.Entries, e)
	}
	sort.Slice(out.Entries, func(i, j int) bool { return out.Entries[i].Scenario < out.Entries[j].Scenario })
	return out, nil
}

// beginning is as much of a failure as names it and does not vary: the rule, and more only where that is too short.
func beginning(s report.Scenario) string {
	all := Signature(s)
	if s.Mismatch != nil {
		if what := strings.Join(strings.Fields(s.Mismatch.What), " "); len([]rune(what)) >= MinSignature {
			return what
		}
	}
	if r := []rune(all); len(r) > 4*MinSignature {
		return string(r[:4*MinSignature])
	}
	return all
}

// Text is the file as it is written; Parse reads it back.
func (f *File) Text() string {
	var b strings.Builder
	b.WriteString("# Expected failures: see `contextful-conform run --help`. An entry that no longer holds fails the gate.\n")
	for _, e := range f.Entries {
		fmt.Fprintf(&b, "\n[[expected]]\nclause = %s\nscenario = %s\nreason = %s\nlink = %s\nexpires = %s\nsignature = %s\n",
			quote(e.Clause), quote(e.Scenario), quote(e.Reason), quote(e.Link), e.Expires, quote(e.Signature))
	}
	return b.String()
}

// quote writes a TOML basic string. TOML knows \uXXXX and no \xXX.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u` + fmt.Sprintf("%04X", r))
		default:
			b.WriteString(string(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Save writes the file in one rename.
func (f *File) Save() error {
	tmp := f.Path + ".tmp-" + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(tmp, []byte(f.Text()), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, f.Path)
}

// LoadOrEmpty is Load, an absent file read as an empty one.
func LoadOrEmpty(path string) (*File, error) {
	f, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Path: path}, nil
	}
	return f, err
}
