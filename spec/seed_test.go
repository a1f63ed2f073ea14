package spec

import (
	"os"
	"strings"
	"testing"
)

// The ids, sources and codes of the seeds are law to the letter: each id has its page here, and whatever else stands on
// a page is supporting.
func TestEverySeedClauseHasItsPage(t *testing.T) {
	text, err := os.ReadFile("testdata/clauses.txt")
	if err != nil {
		t.Fatal(err)
	}
	x, seed := load(t), map[string]bool{}
	for _, row := range strings.Split(string(text), "\n") {
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		id, rest, _ := strings.Cut(row, "\t")
		from, codes, _ := strings.Cut(rest, "\t")
		seed[id] = true
		c, ok := x.Lookup(id)
		if !ok {
			t.Errorf("no page states %s", id)
			continue
		}
		if c.From != from {
			t.Errorf("%s is from %q, its page says %q", id, from, c.From)
		}
		raises := " " + strings.Join(c.Raises, " ") + " "
		for _, code := range list(codes) {
			if !strings.Contains(raises, " "+code+" ") {
				t.Errorf("%s raises %s, its page does not", id, code)
			}
		}
	}
	if len(seed) != 204 {
		t.Errorf("the list holds %d ids, want 204", len(seed))
	}
	for _, c := range x.All() {
		if !c.Supporting && !seed[c.ID] {
			t.Errorf("%s is of no seed: say from: supporting", c.ID)
		}
	}
}
