package mutation

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"contextful/spec"
)

const page = `# pull

## store.pull.order
MUST · needs: sync · facets: before, after · from: supporting

Text.

- *before*: one.
- *after*: two.

Why: because.

## store.pull.plain
MUST · from: supporting

Text.

Why: because.
`

func law(t *testing.T) *spec.Index {
	t.Helper()
	index, err := spec.LoadFS(fstest.MapFS{"store/pull.md": {Data: []byte(page)}})
	require.NoError(t, err)
	return index
}

func TestLoadNamesEverythingThatIsWrong(t *testing.T) {
	dir := fstest.MapFS{
		"a.toml": {Data: []byte(`
[[mutant]]
id = "ok"
clause = "store.pull.order"
facet = "before"
why = "w"
file = "ref/x.go"
find = "a()"

[[mutant]]
id = "ok"
clause = "store.pull.order"
why = "w"
file = "../x.go"
find = "a()"

[[mutant]]
id = "Bad Id"
clause = "store.pull.nothing"
why = " "
file = "ref/x.go"
find = "\n"

[[mutant]]
id = "facet"
clause = "store.pull.plain"
facet = "before"
why = "w"
file = "ref/x.go"
find = "a()"
`)},
		"b.toml":    {Data: []byte("[[mutant]]\nid = \"x\"\nfnid = \"y\"\n")},
		"README.md": {Data: []byte("not read")},
	}
	_, err := Load(dir, law(t))
	for _, want := range []string{
		`b.toml: unknown key mutant.fnid (line 3)`,
		`mutant "ok": the id stands in a.toml already`,
		`mutant "ok": file "../x.go" is no Go file`,
		`mutant "ok": name the facet of store.pull.order it violates: before, after`,
		`mutant "Bad Id": an id is lower-case words`,
		`mutant "Bad Id": why is missing`,
		`mutant "Bad Id": find is missing`,
		`mutant "Bad Id": there is no clause "store.pull.nothing"`,
		`mutant "facet": store.pull.plain has no facet "before"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestLoadSortsByClause(t *testing.T) {
	text := func(id, clause, facet string) string {
		return "[[mutant]]\nid = \"" + id + "\"\nclause = \"" + clause + "\"\nfacet = \"" + facet + "\"\nwhy = \"w\"\nfile = \"ref/x.go\"\nfind = \"a()\"\nhangs = true\nimports = [\"sort\"]\n" +
			"[[mutant.also]]\nfile = \"ref/y.go\"\nfind = \"b()\"\nswap = \"c()\"\n"
	}
	dir := fstest.MapFS{
		"a.toml": {Data: []byte(text("c", "store.pull.plain", "") + text("b", "store.pull.order", "before"))},
		"b.toml": {Data: []byte(text("a", "store.pull.order", "after"))},
	}
	got, err := Load(dir, law(t))
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, []string{"store.pull.order#after", "store.pull.order#before", "store.pull.plain"}, []string{got[0].Tag(), got[1].Tag(), got[2].Tag()})
	require.True(t, got[0].Hangs)
	require.Len(t, got[0].Edits(), 2)
}

// FuzzFind: no text and no snippet makes the matcher fail other than by saying so, and what it finds is in bounds.
func FuzzFind(f *testing.F) {
	f.Add("package p\nfunc f() { a(); b() }", "a()")
	f.Add("x := `\r\n`", "`")
	f.Fuzz(func(t *testing.T, text, snippet string) {
		lexemes, err := lex(text)
		if err != nil {
			return
		}
		at, err := find(lexemes, text, snippet)
		if err == nil && (at.start < 0 || at.end > len(text) || at.start > at.end) {
			t.Fatalf("found at %v of %d bytes", at, len(text))
		}
	})
}
