package features

import (
	"fmt"
	"sort"
	"strings"

	"contextful/spec"
)

// A Coverage row says who asks one facet, or one clause without facets.
type Coverage struct {
	Clause    string
	Facet     string   // empty for a clause without facets
	Claimed   bool     // some scenario or gap touches the clause
	Scenarios []string // keys of the scenarios that ask it
	Gap       *Gap     // the gap that takes it out; nil where there is none
}

// Covered reports whether a scenario asks it or a gap takes it out.
func (c Coverage) Covered() bool { return len(c.Scenarios) > 0 || c.Gap != nil }

// Coverage lists one row per facet of every clause of the index, in its order.
func (s *Set) Coverage(index *spec.Index) []Coverage {
	claimed := map[string]bool{}
	asks := map[string][]string{}
	for _, sc := range s.scenarios {
		for _, t := range sc.Tags {
			claimed[t.Clause] = true
			asks[t.String()] = append(asks[t.String()], sc.Key())
		}
	}
	gaps := map[string]*Gap{}
	for i := range s.gaps {
		g := &s.gaps[i]
		claimed[g.Clause] = true
		gaps[Tag{Clause: g.Clause, Facet: g.Facet}.String()] = g
	}
	var out []Coverage
	for _, c := range index.All() {
		names := c.FacetNames()
		if names == nil {
			names = []string{""}
		}
		for _, facet := range names {
			row := Coverage{Clause: c.ID, Facet: facet, Claimed: claimed[c.ID]}
			row.Scenarios = append(row.Scenarios, asks[c.ID]...)
			if facet != "" {
				row.Scenarios = append(row.Scenarios, asks[c.ID+"#"+facet]...)
			}
			row.Gap = gaps[Tag{Clause: c.ID, Facet: facet}.String()]
			out = append(out, row)
		}
	}
	return out
}

// Uncovered lists the rows that neither a scenario asks nor a gap takes out. Those of a claimed clause are owed first.
func (s *Set) Uncovered(index *spec.Index) []Coverage {
	var out []Coverage
	for _, row := range s.Coverage(index) {
		if !row.Covered() {
			out = append(out, row)
		}
	}
	return out
}

// Lint checks the embedded features, gaps and lock against the law. The error is of reading them.
func Lint(index *spec.Index) ([]Finding, error) {
	s, err := Load()
	if err != nil {
		return nil, err
	}
	return s.Lint(index), nil
}

// Lint lists what is wrong, sorted by place: tags and gaps that name no clause or facet, features without a page,
// scenarios of one name, outlines without rows, and scenarios whose clause has changed since they were reviewed. Notes
// are lawful.
func (s *Set) Lint(index *spec.Index) []Finding {
	l := &linter{index: index, out: append([]Finding(nil), s.findings...)}
	names := map[string]int{}
	for _, sc := range s.scenarios {
		if first := names[sc.Key()]; first > 0 {
			l.report(sc.Feature, sc.Line, "scenario %q stands at line %d already: names are unique within a feature", sc.Name, first)
		} else {
			names[sc.Key()] = sc.Line
		}
		l.scenario(sc)
	}
	for _, src := range s.sources {
		l.stem(src)
	}
	l.gaps(s.gaps)
	l.lock(s)
	sort.SliceStable(l.out, func(i, j int) bool {
		if l.out[i].Path != l.out[j].Path {
			return l.out[i].Path < l.out[j].Path
		}
		return l.out[i].Line < l.out[j].Line
	})
	return l.out
}

type linter struct {
	index *spec.Index
	out   []Finding
}

func (l *linter) report(path string, line int, format string, args ...any) {
	l.out = append(l.out, Finding{Path: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) note(path string, line int, format string, args ...any) {
	l.out = append(l.out, Finding{Path: path, Line: line, Note: true, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) stem(src Source) {
	page := strings.TrimSuffix(src.Path, ".feature") + ".md"
	for _, c := range l.index.All() {
		if c.Page == page {
			return
		}
	}
	l.report(src.Path, 0, "asks no page of the law: there is no spec/%s", page)
}

func (l *linter) scenario(sc Scenario) {
	if sc.Name == "" {
		l.report(sc.Feature, sc.Line, "a scenario needs a name")
	}
	if len(sc.Tags) == 0 {
		l.report(sc.Feature, sc.Line, "scenario %q names no clause", sc.Name)
		return
	}
	page := strings.TrimSuffix(sc.Feature, ".feature") + ".md"
	home := false
	for _, t := range sc.Tags {
		c, ok := l.index.Lookup(t.Clause)
		switch {
		case !ok:
			l.report(sc.Feature, t.Line, "tag @%s: there is no clause %s", t, t.Clause)
			continue
		case t.Facet != "" && !c.HasFacet(t.Facet):
			l.report(sc.Feature, t.Line, "tag @%s: %s has no facet %q, only %s", t, c.ID, t.Facet, listOr(c.FacetNames(), "none"))
		case t.Facet == "" && len(c.Facets) > 0:
			l.note(sc.Feature, t.Line, "tag @%s covers every facet: %s", t, strings.Join(c.FacetNames(), ", "))
		}
		home = home || c.Page == page
	}
	if !home {
		l.report(sc.Feature, sc.Line, "scenario %q asks no clause of spec/%s", sc.Name, page)
	}
}

func (l *linter) gaps(gaps []Gap) {
	const file = "gaps.toml"
	seen := map[string]bool{}
	for i, g := range gaps {
		at := Tag{Clause: g.Clause, Facet: g.Facet}.String()
		c, ok := l.index.Lookup(g.Clause)
		switch {
		case !ok:
			l.report(file, 0, "gap %d: there is no clause %q", i+1, g.Clause)
		case g.Facet != "" && !c.HasFacet(g.Facet):
			l.report(file, 0, "gap %s: the clause has no such facet, only %s", at, listOr(c.FacetNames(), "none"))
		case g.Facet == "" && len(c.Facets) > 0:
			l.report(file, 0, "gap %s: name one of its facets: %s", at, strings.Join(c.FacetNames(), ", "))
		}
		if g.Reason == "" {
			l.report(file, 0, "gap %s gives no reason", at)
		}
		if (g.AttestedBy == "") == (g.Later == "") {
			l.report(file, 0, "gap %s: give attested_by or later, one of them", at)
		}
		if seen[at] {
			l.report(file, 0, "gap %s stands twice", at)
		}
		seen[at] = true
	}
	for _, c := range l.index.All() {
		off := 0
		for _, f := range c.FacetNames() {
			if seen[c.ID+"#"+f] {
				off++
			}
		}
		if off > 0 && off == len(c.Facets) {
			l.report(file, 0, "every facet of %s is a gap: at least one must be asked", c.ID)
		}
	}
}

// lock compares the digests at review time with those of today.
func (l *linter) lock(s *Set) {
	now := s.Reviewed(l.index)
	for _, e := range now.entries {
		old, ok := s.lock.find(e)
		switch {
		case !ok:
			l.review(e.Feature, s.lineOf(e), "scenario %q was never reviewed against %s: read both, then record it", e.Scenario, e.Clause)
		case old.Digest != e.Digest:
			l.review(e.Feature, s.lineOf(e), "%s has changed since scenario %q was reviewed: look at it again, then record it", e.Clause, e.Scenario)
		}
	}
	for _, e := range s.lock.entries {
		if _, ok := now.find(e); !ok {
			l.review(lockFile, e.line, "scenario %q of %s no longer asks %s: record the review anew", e.Scenario, e.Feature, e.Clause)
		}
	}
}

func (l *linter) review(path string, line int, format string, args ...any) {
	l.report(path, line, format, args...)
	l.out[len(l.out)-1].Review = true
}

func (s *Set) lineOf(e Entry) int {
	for _, sc := range s.scenarios {
		if sc.Feature == e.Feature && sc.Name == e.Scenario {
			return sc.Line
		}
	}
	return 0
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}
