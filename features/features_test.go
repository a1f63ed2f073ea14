package features

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"contextful/spec"
)

const page = `# store.pull

## store.pull.one
MUST · facets: a, b · from: guide

Says:

- *a*: one thing
- *b*: another

Why: because.

## store.pull.two
MUST · from: guide

Says one thing.

Why: because.
`

const feature = `Feature: pull

  @store.pull.one#a @slow
  Scenario: first
    Given x

  @store.pull.two
  Scenario Outline: second <n>
    Given <n>

    @store.pull.one#b
    Examples:
      | n |
      | 1 |
      | 2 |
`

func index(t *testing.T) *spec.Index {
	t.Helper()
	x, err := spec.LoadFS(fstest.MapFS{"store/pull.md": {Data: []byte(page)}})
	if err != nil {
		t.Fatal(err)
	}
	if f := x.Lint(); len(f) > 0 {
		t.Fatal(f)
	}
	return x
}

func set(t *testing.T, feature, gaps, lock string) *Set {
	t.Helper()
	s, err := LoadFS(fstest.MapFS{
		"store/pull.feature": {Data: []byte(feature)},
		"gaps.toml":          {Data: []byte(gaps)},
		"reviewed.lock":      {Data: []byte(lock)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func said(s *Set, x *spec.Index) string {
	var out []string
	for _, f := range s.Lint(x) {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

func TestScenariosCarryTheirTags(t *testing.T) {
	got := set(t, feature, "", "").Scenarios()
	if len(got) != 2 {
		t.Fatalf("%d scenarios", len(got))
	}
	first, second := got[0], got[1]
	if first.Key() != "store/pull.feature: first" || first.Line != 4 || first.Rows != 1 {
		t.Errorf("first reads as %+v", first)
	}
	if len(first.Tags) != 1 || first.Tags[0].String() != "store.pull.one#a" || strings.Join(first.Other, " ") != "slow" {
		t.Errorf("tags of first: %+v, %v", first.Tags, first.Other)
	}
	if second.Rows != 2 || len(second.Tags) != 2 || second.Tags[1].Facet != "b" {
		t.Errorf("second reads as %+v", second)
	}
}

func TestASoundSetIsClean(t *testing.T) {
	x := index(t)
	s := set(t, feature, "", "")
	if got := said(set(t, feature, "", s.Reviewed(x).Text()), x); got != "" {
		t.Fatal(got)
	}
}

func TestLintNamesWhatIsWrong(t *testing.T) {
	x := index(t)
	lock := set(t, feature, "", "").Reviewed(x).Text()
	for _, tt := range []struct{ name, old, new, gaps, want string }{
		{"clause", "@store.pull.two", "@store.pull.three", "", "features/store/pull.feature:7: tag @store.pull.three: there is no clause"},
		{"facet", "@store.pull.one#a", "@store.pull.one#z", "", `store.pull.one has no facet "z", only a, b`},
		{"form", "@slow", "@store.pull", "", "names neither a clause nor a facet"},
		{"bare", "@store.pull.one#a", "@store.pull.one", "", "note: tag @store.pull.one covers every facet: a, b"},
		{"name", "Scenario Outline: second <n>", "Scenario Outline: first", "", `scenario "first" stands at line 4 already`},
		{"no clause", "@store.pull.one#a @slow", "@slow", "", `scenario "first" names no clause`},
		{"no rows", "      | 1 |\n      | 2 |\n", "", "", "has no example rows"},
		{"no steps", "Scenario: first\n    Given x", "Scenario: first", "", "has no steps"},
		{"gherkin", "Feature: pull", "Fable: pull", "", "not readable as Gherkin"},
		{"gap clause", "", "", "[[gap]]\nclause='store.pull.x'\nreason='r'\nlater='l'", "there is no clause \"store.pull.x\""},
		{"gap facet", "", "", "[[gap]]\nclause='store.pull.one'\nfacet='z'\nreason='r'\nlater='l'", "has no such facet"},
		{"gap bare", "", "", "[[gap]]\nclause='store.pull.one'\nreason='r'\nlater='l'", "name one of its facets"},
		{"gap reason", "", "", "[[gap]]\nclause='store.pull.two'\nlater='l'", "gives no reason"},
		{"gap how", "", "", "[[gap]]\nclause='store.pull.two'\nreason='r'", "give attested_by or later"},
		{"gap whole", "", "", "[[gap]]\nclause='store.pull.one'\nfacet='a'\nreason='r'\nlater='l'\n[[gap]]\nclause='store.pull.one'\nfacet='b'\nreason='r'\nlater='l'", "every facet of store.pull.one is a gap"},
	} {
		got := said(set(t, strings.Replace(feature, tt.old, tt.new, 1), tt.gaps, lock), x)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: want %q, lint says %q", tt.name, tt.want, got)
		}
	}
	stray, err := LoadFS(fstest.MapFS{"store/fly.feature": {Data: []byte(feature)}})
	if err != nil {
		t.Fatal(err)
	}
	got := said(stray, x)
	if !strings.Contains(got, "there is no spec/store/fly.md") || !strings.Contains(got, "asks no clause of spec/store/fly.md") {
		t.Errorf("a feature without a page passes: %s", got)
	}
}

func TestALockTellsWhatToLookAtAgain(t *testing.T) {
	x := index(t)
	lock := set(t, feature, "", "").Reviewed(x)
	digest := lock.Entries()[0].Digest
	for _, tt := range []struct{ name, lock, want string }{
		{"changed", strings.Replace(lock.Text(), digest, strings.Repeat("0", 64), 1), "pull.feature:4: store.pull.one has changed since scenario \"first\" was reviewed"},
		{"new", "", `scenario "first" was never reviewed against store.pull.one`},
		{"gone", lock.Text() + "store/pull.feature \"third\" store.pull.two " + digest + "\n", `reviewed.lock:6: scenario "third" of store/pull.feature no longer asks store.pull.two`},
	} {
		if got := said(set(t, feature, "", tt.lock), x); !strings.Contains(got, tt.want) {
			t.Errorf("%s: want %q, lint says %q", tt.name, tt.want, got)
		}
	}
	for _, bad := range []string{"a b c d", `a "b" c`, `a "b" c d` + "\n" + `a "b" c e`} {
		if _, err := ParseLock(bad); err == nil {
			t.Errorf("the lock %q is read", bad)
		}
	}
}

func TestCoverageCountsByFacet(t *testing.T) {
	x := index(t)
	gap := "[[gap]]\nclause='store.pull.one'\nfacet='b'\nreason='r'\nlater='l'"
	without := strings.Replace(feature, "    @store.pull.one#b\n", "", 1)
	if got := set(t, without, "", "").Uncovered(x); len(got) != 1 || got[0].Facet != "b" || !got[0].Claimed {
		t.Errorf("uncovered: %+v", got)
	}
	if got := set(t, without, gap, "").Uncovered(x); len(got) != 0 {
		t.Errorf("a gap leaves uncovered: %+v", got)
	}
	bare := strings.Replace(without, "@store.pull.one#a", "@store.pull.one", 1)
	if got := set(t, bare, "", "").Uncovered(x); len(got) != 0 {
		t.Errorf("a tag of the whole clause leaves uncovered: %+v", got)
	}
}

func TestDigestFollowsFeaturesAndGaps(t *testing.T) {
	base := set(t, feature, "", "").Digest()
	if set(t, feature, "", lockHead).Digest() != base {
		t.Error("a review changes the digest")
	}
	if set(t, feature+"\n", "", "").Digest() == base || set(t, feature, "# x", "").Digest() == base {
		t.Error("a change of a feature or a gap does not change the digest")
	}
}

func TestUnknownKeysOfAGapAreRefused(t *testing.T) {
	if _, err := parseGaps("[[gap]]\nclaus = 'x'"); err == nil {
		t.Error("a misspelt key is read")
	}
}

// What is embedded names the law's clauses and facets. Reviews are owed by a person, so a stale lock is lint's to tell.
func TestEmbeddedFilesNameTheLaw(t *testing.T) {
	x, err := spec.Load()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Lint(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if !f.Note && !f.Review {
			t.Error(f)
		}
	}
	if len(Digest()) != 64 {
		t.Error("no digest of what is embedded")
	}
	if _, err := Gaps(); err != nil {
		t.Error(err)
	}
}

// A folder added beside store/ must be embedded too, or its questions are never asked.
func TestEverythingBelowFeaturesIsEmbedded(t *testing.T) {
	disk, err := LoadFS(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(disk.Sources()) != len(Sources()) || disk.Digest() != Digest() {
		t.Errorf("%d feature files on disk, %d embedded: extend go:embed in features.go", len(disk.Sources()), len(Sources()))
	}
}
