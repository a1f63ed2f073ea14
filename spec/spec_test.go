package spec

import (
	"strings"
	"testing"
	"testing/fstest"
)

func load(t *testing.T) *Index {
	t.Helper()
	x, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestPagesAreSound(t *testing.T) {
	for _, f := range load(t).Lint() {
		t.Error(f)
	}
}

func TestLookupMatchAndOrder(t *testing.T) {
	x := load(t)
	c, ok := x.Lookup("store.pull.pointer-last")
	if !ok || c.Page != "store/pull.md" || c.Operation() != "store.pull" || c.Level != Must {
		t.Fatalf("pointer-last reads as %+v", c)
	}
	if got := strings.Join(c.FacetNames(), " "); got != "before killed" {
		t.Errorf("facets %q", got)
	}
	for _, f := range c.Facets {
		if f.Text == "" {
			t.Errorf("facet %s has no text", f.Name)
		}
	}
	if c.Why == "" || c.Reading == "" || strings.Contains(c.Text, "Why:") {
		t.Errorf("the reason and the reading are not told apart from the text: %+v", c)
	}
	for i, c := range x.All()[1:] {
		if before := x.All()[i]; before.Page > c.Page || before.Page == c.Page && before.Line >= c.Line {
			t.Errorf("%s stands before %s", before.ID, c.ID)
		}
	}
}

func TestMatchGlob(t *testing.T) {
	for _, tt := range []struct {
		glob, id string
		want     bool
	}{
		{"store.pull.*", "store.pull.pointer-last", true},
		{"store.pull.*", "store.pulls.x", false},
		{"*", "store.pull.x", true},
		{"*fence*", "store.lease.pointer-fence", true},
		{"store.*.pointer-*", "store.pull.pointer-last", true},
		{"store.pull", "store.pull.x", false},
		{"store.pull.x", "store.pull.x", true},
		{"s*pull*pull.x", "store.pull.x", false},
		{"", "store.pull.x", false},
	} {
		if got := matches(tt.glob, tt.id); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.glob, tt.id, got)
		}
	}
}

const good = `# store.pull

## store.pull.one
MUST · needs: sync · facets: a, b · raises: SyncBad · from: guide

It refuses with ` + "`SyncBad`" + `:

- *a*: one thing
- *b*: another
  thing

Why: because.
`

func findings(t *testing.T, page, text string) string {
	t.Helper()
	x, err := LoadFS(fstest.MapFS{page: &fstest.MapFile{Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range x.Lint() {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

func TestLintNamesWhatIsWrong(t *testing.T) {
	if got := findings(t, "store/pull.md", good); got != "" {
		t.Fatalf("a sound page is refused: %s", got)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"level", "MUST", "SHALL", `:3: store.pull.one: unknown level "SHALL"`},
		{"reason", "Why: because.", "", ":3: store.pull.one gives no reason"},
		{"page", "## store.pull.one", "## store.push.one", "belongs on spec/store/push.md"},
		{"facet form", "facets: a, b", "facets: a, b, C_x", `facet "C_x" must be lower-case`},
		{"facet told", "- *b*: another\n  thing\n", "", `does not say what its facet "b" shows`},
		{"facet unknown", "- *a*:", "- *z*:", `explains a facet "z"`},
		{"facet twice", "facets: a, b", "facets: a, a, b", `names the facet "a" twice`},
		{"one facet", "facets: a, b", "facets: a", "has one facet"},
		{"raise form", "raises: SyncBad", "raises: sync_bad", "has not the form of a code"},
		{"raise told", "`SyncBad`", "it", "which its text never mentions"},
		{"code unknown", "`SyncBad`:", "`SyncBad` or `SyncWorse`:", "mentions SyncWorse, which no clause raises"},
		{"capability", "needs: sync", "needs: telepathy", `needs "telepathy"`},
		{"source", "from: guide", "from: hearsay", `is from "hearsay"`},
		{"no source", " · from: guide", "", "does not say where it is from"},
		{"key", "from: guide", "form: guide", `unknown metadata key "form"`},
		{"id", "## store.pull.one", "## Store Pull", "is no clause id"},
		{"title", "# store.pull\n", "# Pulling\n", "must begin with the title"},
		{"metadata", "MUST · needs: sync · facets: a, b · raises: SyncBad · from: guide\n", "\n", "has no metadata line"},
		{"order", "Why: because.", "Why: because.\n\nAnd more.", "after Why or Reading"},
		{"reference", "Why: because.", "Why: of `store.pull.two`.", "refers to store.pull.two"},
	} {
		got := findings(t, "store/pull.md", strings.Replace(good, tt.old, tt.new, 1))
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: want %q, lint says %q", tt.name, tt.want, got)
		}
	}
	twice := good + strings.TrimPrefix(good, "# store.pull\n")
	if got := findings(t, "store/pull.md", twice); !strings.Contains(got, "already stands at store/pull.md:3") {
		t.Errorf("a second heading of one id passes: %q", got)
	}
}

func TestDigestFollowsTheLawOnly(t *testing.T) {
	of := func(text string) Clause {
		clauses, _ := parsePage("store/pull.md", text)
		return clauses[0]
	}
	base := of(good).Digest
	for name, text := range map[string]string{
		"white space": strings.Replace(good, "It refuses with", "It\nrefuses  with", 1),
		"reason":      strings.Replace(good, "because.", "of something else.", 1),
	} {
		if of(text).Digest != base {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, text := range map[string]string{
		"text":  strings.Replace(good, "It refuses", "It warns", 1),
		"facet": strings.Replace(good, "facets: a, b", "facets: a, c", 1),
		"level": strings.Replace(good, "MUST", "SHOULD", 1),
		"code":  strings.Replace(good, "raises: SyncBad", "raises: SyncWorse", 1),
	} {
		if of(text).Digest == base {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

func TestReadmeNamesEveryCapabilityAndLevel(t *testing.T) {
	for _, c := range Capabilities() {
		if !strings.Contains(Readme(), "| `"+c.Name+"` | "+c.What+" |") {
			t.Errorf("README.md lacks the row | `%s` | %s |", c.Name, c.What)
		}
	}
	for _, l := range []Level{Must, Should} {
		if !strings.Contains(Readme(), "`"+string(l)+"`") {
			t.Errorf("README.md does not say what %s means", l)
		}
	}
}

func FuzzParsePage(f *testing.F) {
	f.Add(good)
	f.Add("")
	f.Add("# store.pull\n\n## store.pull.one\nMUST\n\n- *\n\nWhy: \n")
	f.Add("## store.pull.one\nMUST · · facets: , · from:\n- *a*: x\n- *a*: y")
	f.Fuzz(func(t *testing.T, text string) {
		clauses, _ := parsePage("store/pull.md", text)
		again, _ := parsePage("store/pull.md", strings.ReplaceAll(text, "\n", "\r\n"))
		if len(again) != len(clauses) {
			t.Fatalf("line ends change the clauses: %d and %d", len(clauses), len(again))
		}
		for _, c := range clauses {
			if !idForm.MatchString(c.ID) || c.Line < 1 || len(c.Digest) != 64 {
				t.Fatalf("a clause without an id, a line or a digest: %+v", c)
			}
		}
	})
}
