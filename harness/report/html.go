package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
)

//go:embed page
var page embed.FS

// area is one operation's part of the page.
type area struct {
	Name      string
	Counts    Counts
	Scenarios []*Scenario
}

// rank puts what needs a look first and what nobody judged last.
func (a area) rank() int {
	switch c := a.Counts; {
	case c.Fail+c.Error+c.XPass > 0:
		return 0
	case c.Pass+c.XFail > 0:
		return 1
	}
	return 2
}

// view is what the page's template sees.
type view struct {
	*Report
	CSS   template.CSS
	JS    template.JS
	Areas []area
	Needs []string // capabilities that some scenario needs
	law   map[string]*Clause
}

// HTML writes the report as one page that needs nothing else: no network, no file beside it. It can be read without
// scripts; with them it filters by words, area, verdict and capability. Light and dark follow the reader's system.
func HTML(w io.Writer, r *Report) error {
	v := view{Report: r, law: map[string]*Clause{}}
	css, err := page.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	js, err := page.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	v.CSS, v.JS = template.CSS(css), template.JS(js) // our own files
	v.arrange()
	t, err := template.New("page.html").Funcs(v.funcs()).ParseFS(page, "page/page.html")
	if err != nil {
		return err
	}
	return t.Execute(w, v)
}

func (v *view) arrange() {
	for i := range v.Clauses {
		v.law[v.Clauses[i].ID] = &v.Clauses[i]
	}
	at := map[string]int{}
	needs := map[string]bool{}
	for i := range v.Scenarios {
		s := &v.Scenarios[i]
		n, ok := at[s.Area]
		if !ok {
			n = len(v.Areas)
			at[s.Area] = n
			v.Areas = append(v.Areas, area{Name: s.Area})
		}
		v.Areas[n].Scenarios = append(v.Areas[n].Scenarios, s)
		v.Areas[n].Counts.add(s.Verdict)
		for _, need := range s.Needs {
			needs[need] = true
		}
	}
	sort.SliceStable(v.Areas, func(i, j int) bool { return v.Areas[i].rank() < v.Areas[j].rank() })
	for n := range needs {
		v.Needs = append(v.Needs, n)
	}
	sort.Strings(v.Needs)
}

func (v *view) funcs() template.FuncMap {
	return template.FuncMap{
		"verdicts": Verdicts,
		"md":       markdown,
		"join":     func(list []string) string { return strings.Join(list, " ") },
		"shell":    ShellJoin,
		"secs":     func(f float64) string { return fmt.Sprintf("%.2f s", f) },
		"short": func(s string) string {
			if len(s) > 12 {
				return s[:12]
			}
			return s
		},
		"anchor":  anchor,
		"inc":     func(i int) int { return i + 1 },
		"clauses": v.clausesOf,
		"open":    func(s *Scenario) bool { return s.Verdict == Fail || s.Verdict == Error },
		"lead":    v.lead,
		"gist":    gist,
		"state":   requestState,
		"matrix":  func(level string, verdict Verdict) int { return v.Matrix[level][verdict] },
		"declared": func(name string) bool {
			return v.SUT.Capabilities[name]
		},
	}
}

// clausesOf lists the clauses a scenario asks.
func (v *view) clausesOf(s *Scenario) []*Clause {
	var out []*Clause
	seen := map[string]bool{}
	for _, t := range s.Tags {
		id, _, _ := strings.Cut(t, "#")
		if c := v.law[id]; c != nil && !seen[id] {
			seen[id] = true
			out = append(out, c)
		}
	}
	return out
}

// lead is the line under a scenario's name: what is wrong, or nothing.
func (v *view) lead(s *Scenario) string {
	switch {
	case s.Mismatch == nil:
		return s.Reason
	case settingFailed(s):
		return "the setting could not be made: " + s.Mismatch.What
	}
	return s.Mismatch.What
}

// gist is the beginning of an expectation, for the line of its scenario: its first line, up to 160 letters.
func gist(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 160 {
		line, more = string(r[:160]), true
	}
	if more {
		line += " …"
	}
	return line
}

var notInAnchor = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func anchor(id string) string { return notInAnchor.ReplaceAllString(id, "-") }

// requestState colours a journal line by the answer it got.
func requestState(line string) string {
	for _, word := range strings.Fields(line) {
		if len(word) == 3 && (word[0] == '4' || word[0] == '5') && strings.Trim(word, "0123456789") == "" {
			return "refused"
		}
	}
	return ""
}

// markdown renders a clause's text. goldmark leaves raw HTML out.
func markdown(text string) template.HTML {
	var b bytes.Buffer
	if err := goldmark.Convert([]byte(text), &b); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(text) + "</pre>")
	}
	return template.HTML(b.String())
}
