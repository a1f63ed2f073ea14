package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Bundle is everything known about one scenario that did not pass, enough to read it elsewhere: bundle.json.
type Bundle struct {
	SchemaVersion int       `json:"schema_version"`
	SUT           Subject   `json:"sut"`
	Digests       Digests   `json:"digests"`
	Selection     Selection `json:"selection"` // its seed makes the scenario's random choices again
	Clauses       []Clause  `json:"clauses"`   // those the scenario asks
	Scenario      Scenario  `json:"scenario"`
}

const fileBundle = "bundle.json"

// bundleName is readable and unique: words of the id and a piece of its digest.
func bundleName(s Scenario) string {
	words := strings.FieldsFunc(strings.ToLower(s.ID), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-")
	}
	sum := sha256.Sum256([]byte(s.ID))
	return name + "-" + hex.EncodeToString(sum[:4])
}

// WriteBundle writes the bundle of one scenario into a directory of its own: bundle.json, and the same for a person in
// failure.txt.
func WriteBundle(dir string, r *Report, s *Scenario) error {
	b := Bundle{SchemaVersion: SchemaVersion, SUT: r.SUT, Digests: r.Digests, Selection: r.Selection, Scenario: *s}
	asked := map[string]bool{}
	for _, t := range s.Tags {
		id, _, _ := strings.Cut(t, "#")
		asked[id] = true
	}
	for _, c := range r.Clauses {
		if asked[c.ID] {
			b.Clauses = append(b.Clauses, c)
		}
	}
	if err := writeJSON(filepath.Join(dir, fileBundle), b); err != nil {
		return err
	}
	var text strings.Builder
	b.Show(&text)
	return writeFile(filepath.Join(dir, "failure.txt"), []byte(text.String()))
}

// ReadBundle reads a bundle from its directory or from its bundle.json.
func ReadBundle(path string) (*Bundle, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, fileBundle)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no failure bundle: a bundle is a directory with %s in it", path, fileBundle)
	}
	if err != nil {
		return nil, err
	}
	var b Bundle
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%s is no failure bundle: %w", path, err)
	}
	if b.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("%s has schema_version %d; this kit reads %d", path, b.SchemaVersion, SchemaVersion)
	}
	return &b, nil
}

// Show prints the bundle for a person. Its last line is the command that asks the scenario alone.
func (b *Bundle) Show(w io.Writer) {
	s := b.Scenario
	fmt.Fprintf(w, "%s  %s\n%s:%d  %s\n", strings.ToUpper(string(s.Verdict)), s.Name, "features/"+s.Feature, s.Line, s.ID)
	fmt.Fprintf(w, "implementation: %s (%s)\n", b.SUT.Name, strings.Join(b.SUT.Command, " "))
	for _, c := range b.Clauses {
		fmt.Fprintf(w, "\n── the law: %s (%s, spec/%s:%d)\n%s\n", c.ID, c.Level, c.Page, c.Line, strings.TrimSpace(c.Text))
	}
	fmt.Fprintf(w, "\n── the question: %s\n", strings.Join(s.Tags, ", "))
	for _, st := range s.Steps {
		fmt.Fprintf(w, "%s %-5s %s\n", mark(st.Status), st.Keyword, st.Text)
		if st.Error != "" && s.Mismatch == nil {
			fmt.Fprintf(w, "        %s\n", strings.ReplaceAll(st.Error, "\n", "\n        "))
		}
	}
	if s.Reason != "" {
		fmt.Fprintf(w, "\n── why: %s\n", s.Reason)
	}
	if m := s.Mismatch; m != nil {
		fmt.Fprintf(w, "\n── %s\nexpected: %s\nactual:   %s\n", m.What, under(m.Expected), under(m.Actual))
	}
	for i, c := range s.Calls {
		fmt.Fprintf(w, "\n── call %d: %s on %s, %s in %.2f s\n$ %s\n", i+1, c.Verb, c.Node, c.Ended(), c.Seconds, ShellJoin(c.Argv))
		stream(w, "stdout", c.Stdout)
		stream(w, "stderr", c.Stderr)
	}
	lines(w, "what the bucket was asked, in order", s.Journal)
	lines(w, "what changed on disk", s.Tree)
	lines(w, "notes", s.Notes)
	fmt.Fprintf(w, "\nseed %d; ask it alone:\n%s\n", b.Selection.Seed, s.Reproduce)
}

func mark(status string) string {
	switch status {
	case StepPassed:
		return "  ✓"
	case StepFailed, StepError:
		return "  ✗"
	}
	return "  ·"
}

func under(s string) string { return strings.ReplaceAll(s, "\n", "\n          ") }

func stream(w io.Writer, name, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fmt.Fprintf(w, "%s │ %s\n", name, strings.ReplaceAll(text, "\n", "\n       │ "))
	}
}

func lines(w io.Writer, title string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(w, "\n── %s\n%s\n", title, strings.Join(list, "\n"))
	}
}

// Ended says how an invocation ended, in a few words.
func (c Call) Ended() string {
	switch {
	case c.NoAnswer:
		return "no answer"
	case c.Killed != "":
		return c.Killed
	case c.Signal != "":
		return c.Signal
	}
	return fmt.Sprintf("exit %d", c.Exit)
}

// ShellJoin writes an argv as a POSIX shell would read it.
func ShellJoin(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") != "" {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
