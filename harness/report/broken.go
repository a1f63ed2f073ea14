package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Broken clause is one that an implementation fails, as its author reads it: what the law says, and one scenario that saw it.
type Broken struct {
	Clause  Clause
	Asked   int            // scenarios that ask it
	Failed  int            // those that failed
	Facets  map[string]int // failed scenarios by facet; "" for the clause as a whole
	Example *Scenario      // the first that failed in a Then or When; one whose setting failed where there is no other
	Facet   string         // of Example
}

// Broken lists the clauses with failed scenarios, in the law's order. A failure that the baseline expects is none.
func (r *Report) Broken() []Broken {
	type tagged struct {
		s     *Scenario
		facet string
	}
	by := map[string][]tagged{}
	for i := range r.Scenarios {
		for _, t := range r.Scenarios[i].Tags {
			id, facet, _ := strings.Cut(t, "#")
			by[id] = append(by[id], tagged{&r.Scenarios[i], facet})
		}
	}
	var out []Broken
	for _, c := range r.Clauses {
		b := Broken{Clause: c, Facets: map[string]int{}}
		seen := map[string]bool{}
		for _, t := range by[c.ID] {
			first := !seen[t.s.ID]
			seen[t.s.ID] = true
			if first {
				b.Asked++
			}
			if t.s.Verdict != Fail {
				continue
			}
			if first {
				b.Failed++
			}
			b.Facets[t.facet]++
			if b.Example == nil || b.Example.Mismatch == nil && t.s.Mismatch != nil || settingFailed(b.Example) && !settingFailed(t.s) {
				b.Example, b.Facet = t.s, t.facet
			}
		}
		if b.Failed > 0 {
			out = append(out, b)
		}
	}
	return out
}

func settingFailed(s *Scenario) bool {
	for _, st := range s.Steps {
		if st.Status == StepFailed || st.Status == StepError {
			return st.Kind == "Given"
		}
	}
	return false
}

// Law is what the clause says about its facet (about everything where facet is ""), as one line.
func (c Clause) Law(facet string) string {
	paragraphs := strings.Split(strings.TrimSpace(c.Text), "\n- ")
	for _, p := range paragraphs[1:] {
		if rest, ok := strings.CutPrefix(p, "*"+facet+"*:"); ok && facet != "" {
			p, _, _ = strings.Cut(rest, "\n\n")
			return sentence(c.lead()) + " " + facet + ": " + strings.Join(strings.Fields(p), " ")
		}
	}
	return sentence(c.lead())
}

// lead is the clause's first paragraph.
func (c Clause) lead() string {
	p, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n\n")
	p, _, _ = strings.Cut(p, "\n- ")
	return strings.Join(strings.Fields(p), " ")
}

// sentence cuts after the first one that is long enough to say something.
func sentence(text string) string {
	const least = 60
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '.' && text[i+1] == ' ' && i >= least {
			return text[:i+1]
		}
	}
	return text
}

// WriteBroken prints the broken clauses for the author of the implementation; dir is where the report lies, "" where it was not written.
func (r *Report) WriteBroken(w io.Writer, dir string) {
	list := r.Broken()
	if len(list) == 0 {
		return
	}
	many := "clauses are"
	if len(list) == 1 {
		many = "clause is"
	}
	fmt.Fprintf(w, "\n%d %s broken:\n", len(list), many)
	for _, b := range list {
		fmt.Fprintf(w, "\n%s (%s): %d of %d scenarios fail%s\n", b.Clause.ID, b.Clause.Level, b.Failed, b.Asked, b.facets())
		s := b.Example
		field(w, "the law", b.Clause.Law(b.Facet))
		field(w, "scenario", fmt.Sprintf("%s (features/%s:%d)", s.Name, s.Feature, s.Line))
		for _, st := range s.Steps {
			if st.Status == StepFailed || st.Status == StepError {
				field(w, "failed at", st.Keyword+" "+st.Text)
			}
		}
		if m := s.Mismatch; m != nil {
			field(w, "checked", m.What)
			field(w, "expected", m.Expected)
			field(w, "actual", m.Actual)
		} else {
			field(w, "because", s.Reason)
		}
		if c := s.judgedCall(); c != nil {
			field(w, "call", fmt.Sprintf("%s on %s, %s: %s", c.Verb, c.Node, c.Ended(), ShellJoin(c.Argv)))
		}
		if dir != "" && s.Bundle != "" {
			field(w, "record", filepath.Join(dir, s.Bundle, "failure.txt"))
		}
		field(w, "alone", s.Reproduce)
	}
	fmt.Fprintln(w)
}

// judgedCall is the call a mismatch is about: the last of the node and verb it names, else of the node, else of all.
func (s *Scenario) judgedCall() *Call {
	var node, last *Call
	for i := len(s.Calls) - 1; i >= 0; i-- {
		c := &s.Calls[i]
		if last == nil {
			last = c
		}
		if s.Mismatch == nil {
			break
		}
		if strings.HasPrefix(s.Mismatch.What, c.Node+"'s "+c.Verb) {
			return c
		}
		if node == nil && (strings.HasPrefix(s.Mismatch.What, c.Node+" ") || strings.HasPrefix(s.Mismatch.What, c.Node+"'s ")) {
			node = c
		}
	}
	return cmp.Or(node, last)
}

// field prints a name and a text whose further lines, however they were indented, stand below its first.
func field(w io.Writer, name, text string) {
	rest := strings.Split(strings.TrimSpace(text), "\n")
	fmt.Fprintf(w, "    %-10s %s\n", name, rest[0])
	for _, line := range rest[1:] {
		fmt.Fprintf(w, "    %-10s %s\n", "", strings.TrimLeft(line, " "))
	}
}

// facets gives ": before 2, killed 4", most first.
func (b Broken) facets() string {
	var names []string
	for f := range b.Facets {
		if f != "" {
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(b.Facets[y], b.Facets[x]), cmp.Compare(x, y))
	})
	for i, f := range names {
		names[i] = fmt.Sprintf("%s %d", f, b.Facets[f])
	}
	return " (" + strings.Join(names, ", ") + ")"
}
