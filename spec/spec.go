// Package spec is the law of the contextful store: one Markdown page per operation, one heading per clause, and the
// index that reads them. It holds prose and data, no behaviour, and imports nothing but the standard library.
//
// A page is found from a clause id: the id without its last segment, dots as slashes. `store.pull.pointer-last`
// stands on `store/pull.md`. How a page is written is told in README.md beside this file.
package spec

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

//go:embed README.md */*.md
var pages embed.FS

// A Level says how binding a clause is.
type Level string

// The levels. A MUST that fails makes an implementation not conformant; a SHOULD is reported, and fails under --strict.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
)

// A Clause is one rule of the law, as its page states it.
type Clause struct {
	ID         string   // three dotted segments, for instance "store.pull.pointer-last"
	Level      Level    // MUST or SHOULD
	Needs      []string // capabilities an implementation must claim to be asked; see Capabilities
	Facets     []Facet  // the separately violable things the clause says; none where it says one thing
	Raises     []string // error codes a violation is refused with, to the letter
	From       string   // the sources, as written: "A-store (decision), guide", or "supporting"
	Supporting bool     // a clause of this project that no source states
	Text       string   // the normative Markdown, facet items included
	Why        string   // the reason
	Reading    string   // the choice between two readings; empty where there was none
	Page       string   // path below spec/, for instance "store/pull.md"
	Line       int      // the 1-based line of the heading on that page
	Digest     string   // lower-case hex SHA-256 of the normative text, facets, level and raises; white space does not count
}

// A Facet is one separately violable thing a clause says: scenarios, gaps and mutants are counted by it.
type Facet struct {
	Name string // lower-case words joined by dashes, unique within the clause
	Text string // what is seen, from the clause's list item of that name
}

// Operation is the id without its last segment: "store.pull".
func (c Clause) Operation() string { return c.ID[:strings.LastIndexByte(c.ID, '.')] }

// HasFacet reports whether the clause names the facet.
func (c Clause) HasFacet(name string) bool {
	for _, f := range c.Facets {
		if f.Name == name {
			return true
		}
	}
	return false
}

// FacetNames lists the names of the facets in page order; nil for a clause that says one thing.
func (c Clause) FacetNames() []string {
	var names []string
	for _, f := range c.Facets {
		names = append(names, f.Name)
	}
	return names
}

// An Index holds every clause of a set of pages. It is read only and safe for concurrent use.
type Index struct {
	clauses  []Clause
	byID     map[string]int
	findings []Finding
}

// Load reads the pages embedded in the binary. The error is of reading only; what is wrong with a page is in Lint.
func Load() (*Index, error) { return LoadFS(pages) }

// LoadFS reads the pages of a directory laid out as spec/ is: every `<area>/<operation>.md` below its root.
func LoadFS(fsys fs.FS) (*Index, error) {
	names, err := fs.Glob(fsys, "*/*.md")
	if err != nil {
		return nil, fmt.Errorf("list the pages of the spec: %w", err)
	}
	sort.Strings(names)
	x := &Index{byID: map[string]int{}}
	for _, name := range names {
		if strings.HasPrefix(name, "testdata/") {
			continue
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read a page of the spec: %w", err)
		}
		clauses, findings := parsePage(name, string(text))
		x.findings = append(x.findings, findings...)
		for _, c := range clauses {
			if first, dup := x.byID[c.ID]; dup {
				x.report(c, "%s already stands at %s:%d", c.ID, x.clauses[first].Page, x.clauses[first].Line)
				continue
			}
			x.byID[c.ID] = len(x.clauses)
			x.clauses = append(x.clauses, c)
		}
	}
	x.lint()
	return x, nil
}

// Lookup finds a clause by its full id.
func (x *Index) Lookup(id string) (Clause, bool) {
	i, ok := x.byID[id]
	if !ok {
		return Clause{}, false
	}
	return x.clauses[i], true
}

// All lists the clauses: pages sorted by path, clauses in the order of their page.
func (x *Index) All() []Clause { return append([]Clause(nil), x.clauses...) }

// Match lists, in the order of All, the clauses whose id the glob covers. `*` stands for any run of characters, dots
// included, and nothing else is special: "store.pull.*", "*fence*". A glob that covers nothing gives an empty list.
func (x *Index) Match(glob string) []Clause {
	var out []Clause
	for _, c := range x.clauses {
		if matches(glob, c.ID) {
			out = append(out, c)
		}
	}
	return out
}

func matches(glob, id string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == id
	}
	rest, ok := strings.CutPrefix(id, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, p)
		if at < 0 {
			return false
		}
		rest = rest[at+len(p):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// Digest is a lower-case hex SHA-256 over what the law asks: every id with its digest and its needs. A reason or a
// reading put better does not change it.
func (x *Index) Digest() string {
	h := sha256.New()
	for _, c := range x.clauses {
		fmt.Fprintf(h, "%s %s %s\n", c.ID, c.Digest, strings.Join(c.Needs, ","))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Readme is the text of spec/README.md: how to read a page, terms, capabilities, levels.
func Readme() string {
	text, err := pages.ReadFile("README.md")
	if err != nil { // the file is embedded by name, so the build would have failed
		return ""
	}
	return string(text)
}

// PageOf is the page, below spec/, a clause id belongs to.
func PageOf(id string) string {
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 {
		return ""
	}
	return path.Join(strings.Split(id[:dot], ".")...) + ".md"
}
