package harness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"contextful/features"
	"contextful/spec"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"
)

// A question is one pickle: a scenario, or one row of an outline.
type question struct {
	id       string
	feature  features.Source
	line     int // of the scenario, or of the example row
	at       int // of the scenario keyword
	name     string
	tags     []string // "clause" or "clause#facet"
	other    []string // further tags, without "@"
	examples map[string]string
	steps    []Step
	text     string   // the feature with the outline's other rows blanked out
	needs    []string // capabilities
	level    string
}

var (
	clauseTag = regexp.MustCompile(`^@([a-z]+(?:\.[a-z0-9-]+){2}(?:#[a-z0-9-]+)?)$`)
	slugChars = regexp.MustCompile(`[^a-z0-9]+`)
)

func slug(s string) string {
	return strings.Trim(slugChars.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// questions reads the features. A feature that cannot be read is an error of the whole run: half a suite is no suite.
func questions(sources []features.Source, index *spec.Index) ([]*question, error) {
	var out []*question
	seen := map[string]int{}
	for _, src := range sources {
		n := 0
		id := func() string { n++; return fmt.Sprint(n) }
		doc, err := gherkin.ParseGherkinDocument(strings.NewReader(src.Text), id)
		if err != nil {
			return nil, &SelectionError{fmt.Sprintf("features/%s is not readable as Gherkin: %v", src.Path, err)}
		}
		if doc.Feature == nil {
			continue
		}
		ast := newAST(doc)
		for _, p := range gherkin.Pickles(*doc, src.Path, id) {
			q := ast.question(p, src)
			seen[q.id]++
			if k := seen[q.id]; k > 1 {
				q.id = fmt.Sprintf("%s-%d", q.id, k)
			}
			if err := q.judgedBy(index); err != nil {
				return nil, err
			}
			out = append(out, q)
		}
	}
	return out, nil
}

// judgedBy takes level and capabilities from the clauses the question asks.
func (q *question) judgedBy(index *spec.Index) error {
	q.level = string(spec.Should)
	for _, t := range q.tags {
		id, facet, _ := strings.Cut(t, "#")
		c, ok := index.Lookup(id)
		if !ok {
			return &SelectionError{fmt.Sprintf("features/%s:%d: the scenario %q asks %s, which is no clause of spec/", q.feature.Path, q.line, q.name, id)}
		}
		if facet != "" && !c.HasFacet(facet) {
			return &SelectionError{fmt.Sprintf("features/%s:%d: the clause %s has no facet %q", q.feature.Path, q.line, id, facet)}
		}
		if c.Level == spec.Must {
			q.level = string(spec.Must)
		}
		for _, n := range c.Needs {
			if !slices.Contains(q.needs, n) {
				q.needs = append(q.needs, n)
			}
		}
	}
	for _, t := range q.other {
		if n, ok := strings.CutPrefix(t, "needs."); ok && !slices.Contains(q.needs, n) {
			q.needs = append(q.needs, n)
		}
	}
	return nil
}

// matches reports whether a glob covers one of the tags: by clause, or by clause#facet where the glob has a #.
func (q *question) matches(glob string, index *spec.Index) bool {
	clauseGlob, facetGlob, withFacet := strings.Cut(glob, "#")
	for _, c := range index.Match(clauseGlob) {
		for _, t := range q.tags {
			id, facet, _ := strings.Cut(t, "#")
			if id == c.ID && (!withFacet || facet == facetGlob || facetGlob == "*") {
				return true
			}
		}
	}
	return false
}

func (q *question) needsAny(profile []string) bool {
	for _, p := range Globs(profile) {
		if slices.Contains(q.needs, p) || (p == "core" && len(q.needs) == 0) {
			return true
		}
	}
	return false
}

// service is the kind of bucket the question is asked on: "" for the embedded fake, "minio", "dir".
func (q *question) service() string {
	for _, t := range q.other {
		if name, ok := strings.CutPrefix(t, "service."); ok {
			return name
		}
	}
	return ""
}

func (q *question) area() string {
	return strings.ReplaceAll(strings.TrimSuffix(q.feature.Path, ".feature"), "/", ".")
}

// ast finds things of a parsed feature by their ids.
type ast struct {
	scenarios map[string]*messages.Scenario
	rows      map[string]*messages.TableRow
	headers   map[string]*messages.TableRow // by row id
	steps     map[string]*messages.Step
}

func newAST(doc *messages.GherkinDocument) *ast {
	a := &ast{map[string]*messages.Scenario{}, map[string]*messages.TableRow{}, map[string]*messages.TableRow{}, map[string]*messages.Step{}}
	background := func(b *messages.Background) {
		if b != nil {
			for _, s := range b.Steps {
				a.steps[s.Id] = s
			}
		}
	}
	scenario := func(s *messages.Scenario) {
		if s == nil {
			return
		}
		a.scenarios[s.Id] = s
		for _, st := range s.Steps {
			a.steps[st.Id] = st
		}
		for _, ex := range s.Examples {
			for _, r := range ex.TableBody {
				a.rows[r.Id], a.headers[r.Id] = r, ex.TableHeader
			}
		}
	}
	for _, c := range doc.Feature.Children {
		background(c.Background)
		scenario(c.Scenario)
		if c.Rule != nil {
			for _, rc := range c.Rule.Children {
				background(rc.Background)
				scenario(rc.Scenario)
			}
		}
	}
	return a
}

func (a *ast) question(p *messages.Pickle, src features.Source) *question {
	sc := a.scenarios[p.AstNodeIds[0]]
	q := &question{feature: src, name: p.Name, at: int(sc.Location.Line), line: int(sc.Location.Line), text: src.Text}
	q.id = strings.TrimSuffix(src.Path, ".feature") + "/" + slug(p.Name)
	if len(p.AstNodeIds) > 1 {
		a.row(q, sc, p.AstNodeIds[1])
	}
	for _, t := range p.Tags {
		if m := clauseTag.FindStringSubmatch(t.Name); m != nil {
			if !slices.Contains(q.tags, m[1]) {
				q.tags = append(q.tags, m[1])
			}
		} else {
			q.other = append(q.other, strings.TrimPrefix(t.Name, "@"))
		}
	}
	kind := "Given"
	for _, s := range p.Steps {
		st := a.steps[s.AstNodeIds[0]]
		word := strings.TrimSpace(st.Keyword)
		if word == "Given" || word == "When" || word == "Then" {
			kind = word
		}
		q.steps = append(q.steps, Step{Keyword: word, Kind: kind, Text: s.Text, Line: int(st.Location.Line), Status: StatusSkipped})
	}
	return q
}

// row names the question after its example row and blanks the other rows, so that line numbers stay what they are.
func (a *ast) row(q *question, sc *messages.Scenario, rowID string) {
	row, header := a.rows[rowID], a.headers[rowID]
	q.line = int(row.Location.Line)
	q.examples = map[string]string{}
	var values []string
	for i, c := range row.Cells {
		values = append(values, c.Value)
		if header != nil && i < len(header.Cells) {
			q.examples[header.Cells[i].Value] = c.Value
		}
	}
	q.id = strings.TrimSuffix(q.feature.Path, ".feature") + "/" + slug(sc.Name) + "/" + slug(strings.Join(values, " "))
	lines := strings.Split(q.feature.Text, "\n")
	for _, ex := range sc.Examples {
		for _, r := range ex.TableBody {
			if r.Id != rowID {
				lines[r.Location.Line-1] = ""
			}
		}
	}
	q.text = strings.Join(lines, "\n")
}
