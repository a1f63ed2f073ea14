package spec

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

var (
	clauseRef = regexp.MustCompile("`((?:authority|read|run|store|surface|topology)\\.[a-z-]+\\.[a-z0-9-]+)`")
	codeRef   = regexp.MustCompile("`([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)`")
	fromForm  = regexp.MustCompile(`^(A-store|guide|pull-card)( \([a-z0-9-]+(, [a-z0-9-]+)*\))?$`)
)

// Lint lists what is wrong with the pages, in page order; a sound spec gives nil.
func (x *Index) Lint() []Finding {
	out := append([]Finding(nil), x.findings...)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Page != out[j].Page {
			return out[i].Page < out[j].Page
		}
		return out[i].Line < out[j].Line
	})
	return out
}

func (x *Index) report(c Clause, format string, args ...any) {
	x.findings = append(x.findings, Finding{Page: c.Page, Line: c.Line, Message: fmt.Sprintf(format, args...)})
}

// lint checks what takes the whole index, once, as it is loaded.
func (x *Index) lint() {
	known := map[string]bool{}
	for _, c := range Capabilities() {
		known[c.Name] = true
	}
	for _, c := range x.clauses {
		if c.Level != Must && c.Level != Should {
			x.report(c, "%s: unknown level %q, use MUST or SHOULD", c.ID, c.Level)
		}
		if want := PageOf(c.ID); want != c.Page {
			x.report(c, "%s belongs on spec/%s", c.ID, want)
		}
		for _, n := range c.Needs {
			if !known[n] {
				x.report(c, "%s needs %q, which is no capability", c.ID, n)
			}
		}
		x.lintFacets(c)
		x.lintProse(c)
		for _, r := range c.Raises {
			if !raiseForm.MatchString(r) {
				x.report(c, "%s raises %q, which has not the form of a code", c.ID, r)
			}
		}
		if c.From == "" {
			x.report(c, "%s does not say where it is from", c.ID)
		} else if !c.Supporting {
			for _, f := range splitFrom(c.From) {
				if !fromForm.MatchString(f) {
					x.report(c, "%s is from %q: name A-store (decision), guide, pull-card or supporting", c.ID, f)
				}
			}
		}
	}
}

func (x *Index) lintFacets(c Clause) {
	seen := map[string]bool{}
	for _, f := range c.Facets {
		switch {
		case !nameForm.MatchString(f.Name):
			x.report(c, "%s: facet %q must be lower-case words joined by dashes", c.ID, f.Name)
		case seen[f.Name]:
			x.report(c, "%s names the facet %q twice", c.ID, f.Name)
		case f.Text == "":
			x.report(c, "%s does not say what its facet %q shows: add a list item `- *%s*: …`", c.ID, f.Name, f.Name)
		}
		seen[f.Name] = true
	}
	if len(c.Facets) == 1 {
		x.report(c, "%s has one facet: a clause that says one thing has none", c.ID)
	}
}

func (x *Index) lintProse(c Clause) {
	if c.Text == "" {
		x.report(c, "%s says nothing", c.ID)
	}
	if c.Why == "" {
		x.report(c, "%s gives no reason (Why: …)", c.ID)
	}
	prose := c.Text + "\n" + c.Why + "\n" + c.Reading
	for _, m := range clauseRef.FindAllStringSubmatch(prose, -1) {
		if _, ok := x.byID[m[1]]; !ok {
			x.report(c, "%s refers to %s, which is no clause", c.ID, m[1])
		}
	}
	for _, r := range c.Raises {
		if !strings.Contains(c.Text, "`"+r+"`") {
			x.report(c, "%s raises %s, which its text never mentions", c.ID, r)
		}
	}
	for _, m := range codeRef.FindAllStringSubmatch(c.Text, -1) {
		if strings.HasPrefix(m[1], "Store") || strings.HasPrefix(m[1], "Sync") || strings.HasPrefix(m[1], "Lease") {
			if !x.raisedSomewhere(m[1]) {
				x.report(c, "%s mentions %s, which no clause raises", c.ID, m[1])
			}
		}
	}
}

func (x *Index) raisedSomewhere(code string) bool {
	for _, c := range x.clauses {
		for _, r := range c.Raises {
			if r == code {
				return true
			}
		}
	}
	return false
}

// splitFrom splits at the commas outside parentheses.
func splitFrom(from string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range from {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, strings.TrimSpace(from[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(from[start:]))
}
