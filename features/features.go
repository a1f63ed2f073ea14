// Package features holds the questions: one feature file per page of the law, of the same stem
// (features/store/pull.feature asks spec/store/pull.md), with the gaps no scenario covers and the lock that says which
// text of a clause each scenario was reviewed against. It parses and checks them; running them is the harness's work.
package features

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A directory per area of the law. `all:` because an area may be empty but for a dot file.
//
//go:embed gaps.toml reviewed.lock all:read all:run all:store
var files embed.FS

// A Source is one feature file.
type Source struct {
	Path string // below features/, for instance "store/pull.feature"
	Text string
}

// A Gap takes one facet, or one clause without facets, out of what scenarios must cover. Exactly one of AttestedBy and
// Later is set.
type Gap struct {
	Clause     string `toml:"clause"`
	Facet      string `toml:"facet"`       // empty for a clause without facets
	Reason     string `toml:"reason"`      // why no scenario asks it
	AttestedBy string `toml:"attested_by"` // "package.TestName": a Go test that observes it from inside
	Later      string `toml:"later"`       // the capability it waits for
}

// A Set is everything below features/, parsed. It is read only.
type Set struct {
	sources   []Source
	scenarios []Scenario
	gaps      []Gap
	gapsText  string
	lock      Lock
	findings  []Finding
}

// Load parses the files embedded in the binary. The error is of reading and of TOML; what is wrong with a feature is in
// Lint.
func Load() (*Set, error) { return LoadFS(files) }

// LoadFS parses a directory laid out as features/ is. A missing gaps.toml or reviewed.lock reads as an empty one.
func LoadFS(fsys fs.FS) (*Set, error) {
	s := &Set{}
	var err error
	if s.sources, err = readSources(fsys); err != nil {
		return nil, err
	}
	for _, src := range s.sources {
		scenarios, findings := parse(src)
		s.scenarios = append(s.scenarios, scenarios...)
		s.findings = append(s.findings, findings...)
	}
	if s.gapsText, err = readOptional(fsys, "gaps.toml"); err != nil {
		return nil, err
	}
	if s.gaps, err = parseGaps(s.gapsText); err != nil {
		return nil, err
	}
	text, err := readOptional(fsys, lockFile)
	if err != nil {
		return nil, err
	}
	if s.lock, err = ParseLock(text); err != nil {
		return nil, err
	}
	return s, nil
}

// Sources lists the embedded feature files, sorted by path; nil if the build embedded none.
func Sources() []Source {
	out, err := readSources(files)
	if err != nil { // embedded files do not fail to read
		return nil
	}
	return out
}

// Gaps reads the embedded gaps.toml.
func Gaps() ([]Gap, error) {
	text, err := readOptional(files, "gaps.toml")
	if err != nil {
		return nil, err
	}
	return parseGaps(text)
}

// Digest is a lower-case hex SHA-256 over the embedded feature files and gaps.
func Digest() string {
	gaps, err := readOptional(files, "gaps.toml")
	if err != nil { // embedded files do not fail to read
		return ""
	}
	return digest(Sources(), gaps)
}

// Sources lists the feature files of the set, sorted by path.
func (s *Set) Sources() []Source { return append([]Source(nil), s.sources...) }

// Scenarios lists the scenarios in order of their feature and place.
func (s *Set) Scenarios() []Scenario { return append([]Scenario(nil), s.scenarios...) }

// Gaps lists the gaps in the order of gaps.toml.
func (s *Set) Gaps() []Gap { return append([]Gap(nil), s.gaps...) }

// Digest is a lower-case hex SHA-256 over the feature files and gaps of the set.
func (s *Set) Digest() string { return digest(s.sources, s.gapsText) }

func digest(sources []Source, gaps string) string {
	h := sha256.New()
	for _, src := range sources {
		fmt.Fprintf(h, "%s %d\n%s", src.Path, len(src.Text), src.Text)
	}
	fmt.Fprintf(h, "gaps.toml %d\n%s", len(gaps), gaps)
	return hex.EncodeToString(h.Sum(nil))
}

func readSources(fsys fs.FS) ([]Source, error) {
	var out []Source
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".feature") {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err == nil {
			out = append(out, Source{Path: name, Text: string(text)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the features: %w", err)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

func readOptional(fsys fs.FS, name string) (string, error) {
	if _, err := fs.Stat(fsys, name); err != nil {
		return "", nil
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return "", fmt.Errorf("read features/%s: %w", name, err)
	}
	return string(text), nil
}

func parseGaps(text string) ([]Gap, error) {
	var doc struct {
		Gap []Gap `toml:"gap"`
	}
	d := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read features/gaps.toml: %w", err)
	}
	return doc.Gap, nil
}
