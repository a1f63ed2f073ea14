package features

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"contextful/spec"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"
)

// A Tag names a clause, or one facet of it, that a scenario asks: "@store.pull.pointer-last#before".
type Tag struct {
	Clause string
	Facet  string // empty for a tag of the whole clause, which covers every facet of it
	Line   int    // 1-based
}

// String gives the tag without its "@".
func (t Tag) String() string {
	if t.Facet == "" {
		return t.Clause
	}
	return t.Clause + "#" + t.Facet
}

// A Scenario is one scenario or scenario outline of a feature file.
type Scenario struct {
	Feature string   // path below features/
	Line    int      // 1-based line of the keyword
	Name    string   // as written; an outline's placeholders stay
	Tags    []Tag    // the clauses it asks, those of its feature, rule and examples included
	Other   []string // further tags, without "@": what the scenario needs, for the harness
	Rows    int      // how many times it runs: 1, or the rows of an outline's examples
}

// Key names a scenario for good: its feature and its name.
func (s Scenario) Key() string { return s.Feature + ": " + s.Name }

// A Finding is something wrong with a feature, a gap or the lock, or (a Note) something to know.
type Finding struct {
	Path    string // below features/
	Line    int    // 1-based; 0 where the file as a whole is meant
	Note    bool   // lawful, told because it may not be meant
	Review  bool   // nothing wrong but the review: a person has to read the scenario against its clause
	Message string
}

// String gives "features/store/pull.feature:12: message", which editors and CI understand.
func (f Finding) String() string {
	at := f.Path
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	if f.Note {
		return fmt.Sprintf("features/%s: note: %s", at, f.Message)
	}
	return fmt.Sprintf("features/%s: %s", at, f.Message)
}

var clauseTag = regexp.MustCompile(`^@([a-z]+(?:\.[a-z0-9-]+){2})(?:#([a-z0-9-]+))?$`)

// reader collects the scenarios of one feature file.
type reader struct {
	path      string
	scenarios []Scenario
	findings  []Finding
}

func parse(src Source) ([]Scenario, []Finding) {
	n := 0
	doc, err := gherkin.ParseGherkinDocument(strings.NewReader(src.Text), func() string {
		n++
		return fmt.Sprint(n)
	})
	r := &reader{path: src.Path}
	if err != nil {
		r.report(0, "not readable as Gherkin: %v", err)
		return nil, r.findings
	}
	if doc.Feature == nil {
		r.report(0, "holds no feature")
		return nil, r.findings
	}
	for _, child := range doc.Feature.Children {
		if child.Scenario != nil {
			r.scenario(child.Scenario, doc.Feature.Tags)
		}
		if child.Rule != nil {
			inherited := append(append([]*messages.Tag(nil), doc.Feature.Tags...), child.Rule.Tags...)
			for _, c := range child.Rule.Children {
				if c.Scenario != nil {
					r.scenario(c.Scenario, inherited)
				}
			}
		}
	}
	return r.scenarios, r.findings
}

func (r *reader) report(line int, format string, args ...any) {
	r.findings = append(r.findings, Finding{Path: r.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *reader) scenario(sc *messages.Scenario, inherited []*messages.Tag) {
	s := Scenario{Feature: r.path, Line: line(sc.Location), Name: strings.TrimSpace(sc.Name)}
	tags := append(append([]*messages.Tag(nil), inherited...), sc.Tags...)
	if len(sc.Examples) == 0 {
		s.Rows = 1
	}
	for _, ex := range sc.Examples {
		tags = append(tags, ex.Tags...)
		s.Rows += len(ex.TableBody)
	}
	seen := map[string]bool{}
	for _, t := range tags {
		if seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		m := clauseTag.FindStringSubmatch(t.Name)
		switch {
		case m != nil:
			s.Tags = append(s.Tags, Tag{Clause: m[1], Facet: m[2], Line: line(t.Location)})
		case strings.HasPrefix(t.Name, "@needs.") && capability(t.Name[len("@needs."):]), strings.HasPrefix(t.Name, "@service."):
			s.Other = append(s.Other, t.Name[1:])
		case strings.ContainsAny(t.Name, ".#"):
			r.report(line(t.Location), "tag %s names neither a clause nor a facet: write @area.operation.clause or @…#facet", t.Name)
		default:
			s.Other = append(s.Other, strings.TrimPrefix(t.Name, "@"))
		}
	}
	if len(sc.Steps) == 0 {
		r.report(s.Line, "scenario %q has no steps", s.Name)
	}
	if s.Rows == 0 {
		r.report(s.Line, "outline %q has no example rows", s.Name)
	}
	r.scenarios = append(r.scenarios, s)
}

// capability reports whether the law knows a capability of that name.
func capability(name string) bool {
	return slices.ContainsFunc(spec.Capabilities(), func(c spec.Capability) bool { return c.Name == name })
}

func line(l *messages.Location) int {
	if l == nil {
		return 0
	}
	return int(l.Line)
}
