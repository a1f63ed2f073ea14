// Package mutation tests the tests: it breaks the reference on purpose, one clause at a time, and asks whether the
// clause's own scenarios notice.
//
// A mutant is a snippet of one function body and its replacement, in ref/mutants/<operation>.toml:
//
//	[[mutant]]
//	id     = "pull-pointer-before-parts"   # unique; what CONTEXTFUL_MUTANT names
//	clause = "store.pull.pointer-last"
//	facet  = "before"                      # left out where the clause has none
//	why    = "the mistake a competent person would make"
//	file   = "ref/pull/pull.go"
//	find   = "…"                           # Go text that stands once in the file, inside one function body
//	swap   = "…"                           # its replacement; may be empty, which drops the snippet
//	imports = ["sort"]                     # optional: what the replacement needs and the file does not import
//	hangs  = true                          # optional: not answering is the violation
//	[[mutant.also]]                        # optional: a further replacement of the same mutant
//	file = "…", find = "…", swap = "…"
//
// Snippets are compared token by token, so indentation and comments do not matter.
//
// All mutants live in one binary. Each mutated function exists in a full copy per mutant, with the replacement applied,
// and the original begins with a dispatch on CONTEXTFUL_MUTANT. A snippet may therefore be any text of one body,
// declarations included, and mutants may overlap or nest: they never share a copy. Nothing of this is in the production
// source: the copies and the package that reads the environment exist in a `go build -overlay` only.
//
// Answers: no clause. It holds every clause's scenarios to account.
package mutation

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"contextful/spec"
)

// Env is the variable that names the active mutant to the mutated binary.
const Env = "CONTEXTFUL_MUTANT"

// A Mutant is one deliberate violation of one clause.
type Mutant struct {
	ID      string   `toml:"id"`
	Clause  string   `toml:"clause"`
	Facet   string   `toml:"facet"` // empty for a clause without facets
	Why     string   `toml:"why"`
	File    string   `toml:"file"` // relative to the module's root
	Find    string   `toml:"find"`
	Swap    string   `toml:"swap"`
	Imports []string `toml:"imports"` // "path" or "name path"
	Hangs   bool     `toml:"hangs"`
	Also    []Edit   `toml:"also"`

	Source string `toml:"-"` // the TOML file it stands in
}

// An Edit is a further replacement of the same mutant.
type Edit struct {
	File    string   `toml:"file"`
	Find    string   `toml:"find"`
	Swap    string   `toml:"swap"`
	Imports []string `toml:"imports"`
}

// Tag is the clause, or the facet of it, that the mutant violates: "clause" or "clause#facet".
func (m Mutant) Tag() string {
	if m.Facet == "" {
		return m.Clause
	}
	return m.Clause + "#" + m.Facet
}

// Edits lists every replacement of the mutant, its own first.
func (m Mutant) Edits() []Edit {
	return append([]Edit{{File: m.File, Find: m.Find, Swap: m.Swap, Imports: m.Imports}}, m.Also...)
}

// Load reads every *.toml of a directory. The mutants are sorted by clause, facet and id. The error lists everything
// that is wrong, one line each: unknown or missing keys, an id twice, a clause or facet the law does not have.
func Load(dir fs.FS, law *spec.Index) ([]Mutant, error) {
	names, err := fs.Glob(dir, "*.toml")
	if err != nil {
		return nil, err
	}
	var all []Mutant
	var wrong []string
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		var doc struct {
			Mutant []Mutant `toml:"mutant"`
		}
		if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&doc); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %s", name, tomlMessage(err)))
			continue
		}
		for _, m := range doc.Mutant {
			m.Source = name
			all = append(all, m)
		}
	}
	seen := map[string]string{}
	for _, m := range all {
		wrong = append(wrong, m.check(law, seen)...)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].order() < all[j].order() })
	return all, nil
}

func (m Mutant) order() string { return m.Clause + "\x00" + m.Facet + "\x00" + m.ID }

func tomlMessage(err error) string {
	if strict, ok := err.(*toml.StrictMissingError); ok {
		var keys []string
		for _, e := range strict.Errors {
			row, _ := e.Position()
			keys = append(keys, fmt.Sprintf("%s (line %d)", strings.Join(e.Key(), "."), row))
		}
		return "unknown key " + strings.Join(keys, ", ")
	}
	return err.Error()
}

func (m Mutant) check(law *spec.Index, seen map[string]string) []string {
	var wrong []string
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s: mutant %q: ", m.Source, m.ID)+fmt.Sprintf(format, args...))
	}
	if !validID(m.ID) {
		say("an id is lower-case words joined by dashes")
	}
	if first, ok := seen[m.ID]; ok {
		say("the id stands in %s already", first)
	}
	seen[m.ID] = m.Source
	if strings.TrimSpace(m.Why) == "" {
		say("why is missing: say which mistake it is")
	}
	for _, e := range m.Edits() {
		if e.File == "" || path.Clean(e.File) != e.File || path.IsAbs(e.File) || strings.HasPrefix(e.File, "..") || !strings.HasSuffix(e.File, ".go") {
			say("file %q is no Go file below the module's root", e.File)
		}
		if strings.TrimSpace(e.Find) == "" {
			say("find is missing")
		}
	}
	c, ok := law.Lookup(m.Clause)
	switch {
	case !ok:
		say("there is no clause %q", m.Clause)
	case m.Facet != "" && !c.HasFacet(m.Facet):
		say("%s has no facet %q, only: %s", c.ID, m.Facet, strings.Join(c.FacetNames(), ", "))
	case m.Facet == "" && len(c.Facets) > 0:
		say("name the facet of %s it violates: %s", c.ID, strings.Join(c.FacetNames(), ", "))
	}
	return wrong
}

func validID(id string) bool {
	for _, word := range strings.Split(id, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
