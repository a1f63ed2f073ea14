// Package historytest drives random histories through the real packages and compares every read with a model that was written from
// the law alone: a read answers the same before and after any fold, for every bound, over every history.
//
// 200 histories by default, the same every time; CONTEXTFUL_HISTORIES=10000 asks for as many, from a seed of their own. A history that
// fails is shrunk, printed, and can be asked again by the -rapid.seed it names.
package historytest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// longRun names the environment variable that asks for more: a number of histories, and every power cut in every mode.
const longRun = "CONTEXTFUL_HISTORIES"

// instants are the columns declared as timestamps.
var instants = map[string]bool{"rev": true, "from": true, "to": true, "avail": true}

func shapes() map[string]*shape {
	const declared = `columns = { id = "int64", rev = "timestamp", from = "timestamp", to = "timestamp", avail = "timestamp" }` + "\n"
	list := []*shape{
		{name: "docs", order: "rev", key: []string{"id"}, toml: "partition_by = [\"p\"]\n"},
		{name: "composite", key: []string{"id", "sub"}, toml: "cluster_by = [\"v\"]\n"},
		{name: "log", toml: "partition_by = [\"p\"]\n"},
		{name: "state", order: "rev", key: []string{"id"}, replace: true, toml: "partition_by = [\"p\"]\n"},
		{name: "bag", replace: true},
		{name: "lines", order: "rev", key: []string{"id"}, from: "from", to: "to"},
		{name: "vintages", order: "rev", key: []string{"id"}, available: "avail", toml: "bloom_filter = [\"id\"]\n"},
		{name: "facts", order: "rev", key: []string{"id"}, from: "from", to: "to", available: "avail", toml: "partition_by = [\"p\"]\n"},
	}
	out := map[string]*shape{}
	for _, s := range list {
		s.retain = 24 * time.Hour
		s.toml += declared + "retain_runs = \"1d\"\n"
		if s.key != nil {
			s.toml += "primary_key = [\"" + strings.Join(s.key, "\", \"") + "\"]\n"
		}
		if s.order != "" {
			s.toml += "order_by = \"" + s.order + "\"\n"
		}
		if s.replace {
			s.toml += "write_mode = \"replace\"\n"
		}
		if s.from != "" {
			s.toml += "[pipeline.tables.valid_time]\nfrom = \"from\"\nto = \"to\"\n"
		}
		if s.available != "" {
			s.toml += "[pipeline.tables.available_time]\ncolumn = \"avail\"\n"
		}
		out[s.name] = s
	}
	return out
}

// moments lie around instants that differ by a nanosecond, by what DuckDB rounds away, and by hours.
func moment(t *rapid.T, label string) stamp {
	return begin + stamp(rapid.SampledFrom([]int64{0, 1, 999, 1000, 1001, int64(time.Hour), -int64(time.Hour), 1 << 40}).Draw(t, label))
}

func genRow(t *rapid.T, s *shape, grown int) row {
	r := row{"id": pick[int64](t, "id", 1, 1, 2, 3)}
	maybe := func(name string, value func() any) {
		if pick(t, name+"?", false, true, true, true) {
			r[name] = value()
		}
	}
	maybe("p", func() any { return rapid.SampledFrom([]string{"a", "b/%", "", "ü x"}).Draw(t, "p") })
	maybe("sub", func() any { return rapid.SampledFrom([]string{"x", "", "X"}).Draw(t, "sub") })
	maybe("rev", func() any { return moment(t, "rev") })
	maybe("v", func() any { return int64(rapid.IntRange(-2, 2).Draw(t, "v")) })
	if grown > 0 {
		maybe("w", func() any { return float64(rapid.IntRange(-2, 2).Draw(t, "w")) + 0.5 })
	}
	if grown > 1 {
		maybe("late", func() any { return rapid.SampledFrom([]string{"n", "null", "é"}).Draw(t, "late") })
	}
	if s.from != "" {
		r["from"] = moment(t, "from")
		maybe("to", func() any { return moment(t, "to") })
	}
	if s.available != "" {
		r["avail"] = moment(t, "avail")
	}
	return r
}

// history is one property: two tables, some steps, and after each of them reads under drawn bounds; at the end under all that matter.
// A short run reads less often.
func history(dir string, pair [2]string, long bool) func(*rapid.T) {
	return func(t *rapid.T) {
		at, err := os.MkdirTemp(dir, "h")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(at)
		all := shapes()
		w, err := newWorld(at, []*shape{all[pair[0]], all[pair[1]]})
		if err != nil {
			t.Fatal(err)
		}
		fail := func(err error) {
			if err != nil {
				t.Fatalf("%v\n\nafter\n%s", err, strings.Join(w.log, "\n"))
			}
		}
		nodes := []string{"alpha", "beta"}
		if rapid.Bool().Draw(t, "two machines") {
			nodes = append(nodes, "gamma")
		}
		grown := 0
		for range steps {
			w.now += stamp(rapid.SampledFrom([]int64{0, 1, int64(time.Hour), -int64(time.Minute), int64(60 * time.Hour)}).Draw(t, "time passes"))
			node := rapid.SampledFrom(nodes).Draw(t, "node")
			tab := w.site(node).tables[pick(t, "table", 0, 0, 0, 1)]
			// Only a table that is declared so is replaced from two machines: elsewhere no command makes a replacement.
			may := len(nodes) == 2 || tab.replace
			step := pick(t, "step", "rest", "land", "land", "land", "land", "land", "land", "land", "fold", "fold", "fold", "fold", "replace", "empty", "grow", "sync")
			switch {
			case step == "rest": // what a step that a failure does not need shrinks to
				continue
			case step == "sync" && len(nodes) > 2:
				fail(w.sync())
			case step == "fold" && node != "gamma": // of two that fold, one would be on a branch of its own
				fail(w.fold(tab, node))
			case step == "replace" && may:
				fail(w.land(tab, node, rows(t, tab, grown), true, false))
			case step == "empty" && may:
				fail(w.land(tab, node, nil, true, rapid.Bool().Draw(t, "complete")))
			default:
				if step == "grow" {
					grown++
				}
				fail(w.land(tab, node, rows(t, tab, grown), false, false))
			}
			if long {
				fail(w.check(node, bound{}))
				if step != "land" {
					fail(w.check(node, drawn(t, w)))
				}
				continue
			}
			// A read costs as much as several steps. What lay there after a landing is read at the end too, as of its instant.
			if step == "fold" || pick(t, "read?", true, false, false, false) {
				b := bound{}
				if rapid.Bool().Draw(t, "under a bound?") {
					b = drawn(t, w)
				}
				fail(w.check(node, b))
			}
		}
		if len(nodes) > 2 {
			fail(w.sync())
			fail(w.check("gamma", bound{}))
			if long {
				fail(w.check("gamma", drawn(t, w)))
			}
		}
		bounds := every(w.here)
		for len(bounds) > lastReads && !long {
			i := rapid.IntRange(0, len(bounds)-1).Draw(t, "left out")
			bounds = slices.Delete(bounds, i, i+1)
		}
		for _, b := range bounds {
			fail(w.check("beta", b))
		}
		for i, tab := range w.here.tables {
			if len(tab.runs) > 0 && (long || i == 0) {
				fail(w.scan(tab, drawn(t, w)))
			}
		}
	}
}

const (
	steps     = 12
	lastReads = 5 // of a short run
)

// pick draws one of two, four, eight or sixteen evenly, where rapid's own choices prefer the first.
func pick[T any](t *rapid.T, label string, of ...T) T {
	at := 0
	for n := 1; n < len(of); n *= 2 {
		at *= 2
		if rapid.Bool().Draw(t, label) {
			at++
		}
	}
	return of[at]
}

func rows(t *rapid.T, tab *table, grown int) []row {
	var out []row
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		out = append(out, genRow(t, tab.shape, grown))
	}
	return out
}

// edges are the instants at which something happened to some tables, and their neighbours.
func edges(tables []*table) []stamp {
	var at []stamp
	for _, t := range tables {
		for _, r := range t.runs {
			at = append(at, r.at-1, r.at, r.at+1)
		}
		for _, f := range t.folds {
			at = append(at, f-1, f)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// drawn gives some bound; a clock that no table has is left alone.
func drawn(t *rapid.T, w *world) bound {
	var b bound
	if list := edges(append(slices.Clone(w.here.tables), w.there.tables...)); len(list) > 0 && rapid.Bool().Draw(t, "as of?") {
		at := rapid.SampledFrom(list).Draw(t, "as of")
		b.asOf = &at
	}
	if rapid.Bool().Draw(t, "valid as of?") {
		at := moment(t, "valid as of")
		b.valid = &at
	}
	if rapid.Bool().Draw(t, "available as of?") {
		at := moment(t, "available as of")
		b.available = &at
	}
	b.first = rapid.Bool().Draw(t, "first")
	return b
}

// every gives each as_of that can matter, and the edges of the other clocks without it.
func every(s *site) []bound {
	var out []bound
	for _, at := range edges(s.tables) {
		out = append(out, bound{asOf: &at})
	}
	valid, available := map[stamp]bool{}, map[stamp]bool{}
	for _, t := range s.tables {
		for _, r := range t.runs {
			for _, l := range r.rows {
				for column, into := range map[string]map[stamp]bool{t.from: valid, t.to: valid, t.available: available} {
					if at, ok := l.row[column].(stamp); ok && column != "" {
						into[at] = true
					}
				}
			}
		}
	}
	for at := range valid {
		out = append(out, bound{valid: &at})
	}
	for at := range available {
		out = append(out, bound{available: &at}, bound{available: &at, first: true})
	}
	if len(available) > 0 {
		out = append(out, bound{first: true})
	}
	return out
}

// TestHistories: see the package.
func TestHistories(t *testing.T) {
	// Most happens to the first of a pair.
	pairs := [][2]string{{"docs", "log"}, {"composite", "state"}, {"lines", "vintages"}, {"facts", "docs"}, {"bag", "facts"},
		{"vintages", "composite"}, {"state", "lines"}, {"log", "facts"}}
	count, seed := 200, "1"
	if text := os.Getenv(longRun); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		count, seed = n, strconv.FormatUint(rand.Uint64(), 10)
	}
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa((count + len(pairs) - 1) / len(pairs)), "rapid.seed": seed,
		"rapid.nofailfile": "true"} {
		if !given[name] {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pair := range pairs {
		t.Run(fmt.Sprintf("%s and %s", pair[0], pair[1]), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, history(scratch(t), pair, os.Getenv(longRun) != ""))
		})
	}
}
