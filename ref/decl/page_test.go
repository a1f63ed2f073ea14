package decl

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"contextful/ref/fault"
)

// pageRow is one key as docs/declaration.md has it.
type pageRow struct{ typ, byDefault, clause, example string }

var (
	headingForm = regexp.MustCompile("^### `(\\[.*\\])`$")
	rowForm     = regexp.MustCompile("^\\| `([a-z_]+)` \\| (.+) \\| (.+) \\| (`[a-z0-9.-]+`|\\*ours\\*) \\| `(.+)` \\|$")
	clauseForm  = regexp.MustCompile(`(?m)^## ([a-z-]+\.[a-z-]+\.[a-z-]+)$`)
	blockForm   = regexp.MustCompile("(?s)```toml\n(# [a-z]+\\.toml)\n(.*?)```")
)

// readPage gives the rows of the page by section and key.
func readPage(t *testing.T, text string) map[string]map[string]pageRow {
	t.Helper()
	sections := map[string]map[string]pageRow{}
	var section map[string]pageRow
	for i, line := range strings.Split(text, "\n") {
		if m := headingForm.FindStringSubmatch(line); m != nil {
			section = map[string]pageRow{}
			sections[m[1]] = section
			continue
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		m := rowForm.FindStringSubmatch(line)
		if m == nil || section == nil {
			t.Fatalf("line %d is no row of a key: %s", i+1, line)
		}
		if _, twice := section[m[1]]; twice {
			t.Errorf("line %d: %s stands twice", i+1, m[1])
		}
		section[m[1]] = pageRow{m[2], m[3], strings.Trim(m[4], "`*"), m[5]}
	}
	return sections
}

// The page has every section and key that the decoder knows, and no other; each row's type is the decoder's, its clause one of the law,
// and its example is taken where it belongs.
func TestThePageHasEveryKey(t *testing.T) {
	data, err := os.ReadFile("../../docs/declaration.md")
	if err != nil {
		t.Fatal(err)
	}
	page, clauses := readPage(t, string(data)), clausesOfTheLaw(t)
	known := map[string]bool{}
	for _, root := range []any{&fileDoc{}, &configDoc{}} {
		for _, p := range placesOf(reflect.TypeOf(root).Elem())[1:] {
			known[p.header] = true
			rows, ok := page[p.header]
			if !ok {
				t.Errorf("the page has no section ### `%s`", p.header)
				continue
			}
			for _, f := range fieldsOf(p.typ) {
				if entry(f.typ).Kind() == reflect.Struct {
					continue // a section of its own
				}
				row, ok := rows[f.key]
				if !ok {
					t.Errorf("the section ### `%s` has no row of the key %q", p.header, f.key)
					continue
				}
				delete(rows, f.key)
				if want := strings.TrimPrefix(wants(bare(f.typ)), "a "); row.typ != want {
					t.Errorf("%s %s is %s, and %s on the page", p.header, f.key, want, row.typ)
				}
				if row.clause != "ours" && !clauses[row.clause] {
					t.Errorf("%s %s: the law has no clause %q", p.header, f.key, row.clause)
				}
				if line := p.header + "\n" + row.example + "\n"; !strings.HasPrefix(row.example, f.key+" = ") {
					t.Errorf("%s %s: its example is %s", p.header, f.key, row.example)
				} else if err := decodeStrict("/p/x.toml", []byte(line), reflect.New(reflect.TypeOf(root).Elem()).Interface()); err != nil {
					t.Errorf("%s %s: %v", p.header, f.key, err)
				}
			}
			for key := range rows {
				t.Errorf("the section ### `%s` has a row of %q, which the decoder does not know", p.header, key)
			}
		}
	}
	for section := range page {
		if !known[section] {
			t.Errorf("the page has a section ### `%s`, which the decoder does not know", section)
		}
	}
}

// The defaults that a constant says are the page's, and its blocks are read as they stand.
func TestThePageSaysTheDefaults(t *testing.T) {
	data, err := os.ReadFile("../../docs/declaration.md")
	if err != nil {
		t.Fatal(err)
	}
	page := readPage(t, string(data))
	for place, want := range map[[2]string]string{
		{"[sync]", "push_retries"}:             fmt.Sprint(DefaultPushRetries),
		{"[sync]", "transfers"}:                fmt.Sprint(DefaultTransfers),
		{"[sync]", "retain_generations"}:       fmt.Sprint(DefaultRetainGenerations),
		{"[sync]", "coordination"}:             fmt.Sprintf("`%q`", CoordinationCAS),
		{"[sync]", "region"}:                   fmt.Sprintf("`%q` of `https://`", DefaultRegion),
		{"[[pipeline.tables]]", "order_by"}:    fmt.Sprintf("`%q`", DefaultOrderBy),
		{"[[pipeline.tables]]", "write_mode"}:  fmt.Sprintf("`%q`", Append),
		{"[[pipeline.tables]]", "retain_runs"}: fmt.Sprintf("`\"%dd\"`", int(DefaultRetainRuns.Hours()/24)),
	} {
		if got := page[place[0]][place[1]].byDefault; got != want {
			t.Errorf("%v is %s by default, and %s on the page", place, want, got)
		}
	}
	blocks := blockForm.FindAllStringSubmatch(string(data), -1)
	if len(blocks) != strings.Count(string(data), "```toml") {
		t.Errorf("%d blocks say in their first line which file they are", len(blocks))
	}
	for _, b := range blocks {
		if b[1] == "# "+FileName {
			_, err = ParseProject("/p/"+FileName, []byte(b[2]))
		} else {
			_, err = ParseConfig("/p/"+ConfigName, []byte(b[2]))
		}
		var e *fault.Error
		if errors.As(err, &e) {
			t.Errorf("%s: %v", b[1], e)
		}
	}
}

func clausesOfTheLaw(t *testing.T) map[string]bool {
	t.Helper()
	clauses := map[string]bool{}
	err := filepath.WalkDir("../../spec", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range clauseForm.FindAllStringSubmatch(string(text), -1) {
			clauses[m[1]] = true
		}
		return err
	})
	if err != nil || len(clauses) < 200 {
		t.Fatalf("%d clauses, %v: %v", len(clauses), err, slices.Sorted(maps.Keys(clauses)))
	}
	return clauses
}
