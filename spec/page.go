package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// The form of a page, as ASCII:
//
//	# store.pull                      the operation, then an introduction that binds nobody
//
//	## store.pull.pointer-last        one heading per clause
//	MUST · needs: sync · facets: before, killed · raises: Code · from: A-store (replica-read-whole), guide
//
//	Normative paragraphs. Where the clause has facets, one list item for each:
//
//	- *before*: what is seen from outside
//	- *killed*: …
//
//	Why: the reason.
//
//	Reading: a choice between two readings, where one was made.
var (
	idForm    = regexp.MustCompile(`^[a-z]+(\.[a-z][a-z0-9]*(-[a-z0-9]+)*){2}$`)
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	raiseForm = regexp.MustCompile(`^([A-Z][a-z0-9]+([A-Z][a-z0-9]*)*|[a-z]+(-[a-z]+)+)$`)
	facetItem = regexp.MustCompile(`^- \*([^*]+)\*: (.+)$`)
)

// A Finding is something wrong with a page.
type Finding struct {
	Page    string // path below spec/
	Line    int    // 1-based
	Message string
}

// String gives "spec/store/pull.md:12: message", which editors and CI understand.
func (f Finding) String() string { return fmt.Sprintf("spec/%s:%d: %s", f.Page, f.Line, f.Message) }

// parser reads one page. It never fails: what it cannot read becomes a finding, and the clause keeps what was read.
type parser struct {
	page     string
	clauses  []Clause
	findings []Finding
}

func parsePage(page, text string) ([]Clause, []Finding) {
	p := &parser{page: page}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	operation := strings.ReplaceAll(strings.TrimSuffix(page, ".md"), "/", ".")
	if lines[0] != "# "+operation {
		p.report(1, "the page must begin with the title %q", "# "+operation)
	}
	start := -1
	for i, line := range lines {
		if strings.HasPrefix(line, "## ") {
			if start >= 0 {
				p.clause(lines[start:i], start+1)
			}
			start = i
		}
	}
	if start >= 0 {
		p.clause(lines[start:], start+1)
	} else {
		p.report(1, "the page holds no clause")
	}
	return p.clauses, p.findings
}

func (p *parser) report(line int, format string, args ...any) {
	p.findings = append(p.findings, Finding{Page: p.page, Line: line, Message: fmt.Sprintf(format, args...)})
}

// clause reads the lines of one clause, heading first; at is the 1-based line of the heading.
func (p *parser) clause(lines []string, at int) {
	c := Clause{ID: strings.TrimSpace(strings.TrimPrefix(lines[0], "## ")), Page: p.page, Line: at}
	if !idForm.MatchString(c.ID) {
		p.report(at, "%q is no clause id: three dotted segments of lower-case words", c.ID)
		return
	}
	body := 1
	if len(lines) > 1 && strings.TrimSpace(lines[1]) != "" {
		p.metadata(&c, lines[1], at+1)
		body = 2
	} else {
		p.report(at, "%s has no metadata line right under its heading", c.ID)
	}
	said := map[string]string{}
	var normative []string
	for _, par := range paragraphs(lines[body:]) {
		switch {
		case strings.HasPrefix(par, "Why: "):
			c.Why = join(c.Why, strings.TrimPrefix(par, "Why: "))
		case strings.HasPrefix(par, "Reading: "):
			c.Reading = join(c.Reading, strings.TrimPrefix(par, "Reading: "))
		case c.Why != "" || c.Reading != "":
			p.report(at, "%s: a paragraph after Why or Reading must be one of them too: %.40q", c.ID, par)
		default:
			normative = append(normative, par)
			p.items(&c, par, at, said)
		}
	}
	c.Text = strings.Join(normative, "\n\n")
	for i := range c.Facets {
		c.Facets[i].Text = said[c.Facets[i].Name]
	}
	c.Digest = digest(c)
	p.clauses = append(p.clauses, c)
}

// items reads the list items of a paragraph that say what a facet is.
func (p *parser) items(c *Clause, par string, at int, said map[string]string) {
	for _, item := range splitItems(par) {
		m := facetItem.FindStringSubmatch(item)
		if m == nil {
			continue
		}
		if !c.HasFacet(m[1]) {
			p.report(at, "%s explains a facet %q that its metadata does not name", c.ID, m[1])
		}
		if said[m[1]] != "" {
			p.report(at, "%s explains the facet %q twice", c.ID, m[1])
		}
		said[m[1]] = m[2]
	}
}

// metadata reads "MUST · needs: a, b · facets: … · raises: … · from: …".
func (p *parser) metadata(c *Clause, line string, at int) {
	seen := map[string]bool{}
	for i, field := range strings.Split(line, " · ") {
		field = strings.TrimSpace(field)
		if i == 0 {
			c.Level = Level(field)
			continue
		}
		key, value, ok := strings.Cut(field, ": ")
		if !ok || seen[key] {
			p.report(at, "%s: metadata %q must be `key: value`, each key once", c.ID, field)
			continue
		}
		seen[key] = true
		switch key {
		case "needs":
			c.Needs = list(value)
		case "facets":
			for _, name := range list(value) {
				c.Facets = append(c.Facets, Facet{Name: name})
			}
		case "raises":
			c.Raises = list(value)
		case "from":
			c.From = strings.TrimSpace(value)
			c.Supporting = c.From == "supporting"
		default:
			p.report(at, "%s: unknown metadata key %q", c.ID, key)
		}
	}
}

// paragraphs splits at empty lines and joins the lines of a paragraph; list items keep a line each.
func paragraphs(lines []string) []string {
	var out []string
	cur := ""
	flush := func() {
		if cur != "" {
			out = append(out, cur)
		}
		cur = ""
	}
	for _, line := range lines {
		t := strings.TrimSpace(line)
		switch {
		case t == "":
			flush()
		case cur == "":
			cur = t
		case strings.HasPrefix(t, "- "):
			cur += "\n" + t
		default:
			cur += " " + t
		}
	}
	flush()
	return out
}

func splitItems(par string) []string {
	var out []string
	for _, line := range strings.Split(par, "\n") {
		if strings.HasPrefix(line, "- ") {
			out = append(out, line)
		}
	}
	return out
}

func list(value string) []string {
	var out []string
	for _, v := range strings.Split(value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

func digest(c Clause) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", c.Level, strings.Join(strings.Fields(c.Text), " "),
		strings.Join(c.FacetNames(), ","), strings.Join(c.Raises, ","))
	return hex.EncodeToString(h.Sum(nil))
}
