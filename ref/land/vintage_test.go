package land

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"pgregory.net/rapid"

	"contextful/ref/colfile"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

const figures = `
[[pipeline.tables]]
name = "t"
primary_key = ["k"]
bloom_filter = ["k"]
[pipeline.tables.valid_time]
from = "f"
[pipeline.tables.available_time]
column = "a"
`

// figure is a row of the table above; day 0 is no availability at all.
func figure(k string, from, available int, value string) string {
	at := "null"
	if available > 0 {
		at = fmt.Sprintf(`"2024-02-%02dT00:00:00Z"`, available)
	}
	return fmt.Sprintf(`{"k":%q,"f":"2024-01-%02dT00:00:00Z","a":%s,"v":%s}`+"\n", k, from, at, value)
}

func landFigures(t testing.TB, s *store.Store, run, rows string) Report {
	t.Helper()
	r, err := Run(context.Background(), s, Options{Table: "t", Input: strings.NewReader(rows), RunID: run, SiteID: "s", InputName: "in"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVintagesStoredAlreadyAreSkipped(t *testing.T) {
	s := openStore(t, figures)
	first := figure("x", 1, 1, "1") + figure("y", 1, 1, "2")
	landFigures(t, s, "r1", first)
	for i, c := range []struct {
		what, rows    string
		rows2, skiped int64
	}{
		{"the same and one more", first + figure("z", 1, 1, "3"), 1, 2},
		{"all the same", first, 0, 2},
		{"members in another order", `{"v":1,"a":"2024-02-01T00:00:00Z","k":"x","f":"2024-01-01T00:00:00Z"}` + "\n", 0, 1},
		{"another start of validity", figure("x", 2, 1, "1"), 1, 0},
		{"the same value at another instant", figure("x", 1, 2, "1"), 1, 0},
		{"another value at the same instant", figure("y", 1, 1, "20"), 1, 0},
		{"what it was before that", figure("y", 1, 1, "2"), 1, 0},
		{"what it is now", figure("y", 1, 1, "2"), 0, 1},
		{"two values in one batch", figure("x", 1, 1, "1") + figure("x", 1, 1, "9") + figure("x", 1, 1, "1"), 3, 0},
		{"the same twice", figure("x", 1, 1, "1") + figure("x", 1, 1, "1"), 0, 2},
		{"a column more", strings.Replace(figure("x", 1, 1, "1"), "}", `,"w":0}`, 1), 1, 0},
		{"a column of nothing more", strings.Replace(figure("z", 1, 1, "3"), "}", `,"u":null}`, 1), 0, 1},
		{"no availability", figure("x", 1, 0, "1"), 1, 0},
		{"no availability again", figure("x", 1, 0, "1"), 0, 1},
	} {
		if r := landFigures(t, s, fmt.Sprintf("s%02d", i), c.rows); r.Rows != c.rows2 || r.Skipped != c.skiped {
			t.Errorf("%s: %d written, %d skipped; not %d and %d", c.what, r.Rows, r.Skipped, c.rows2, c.skiped)
		}
	}
	// A landing that wrote nothing is a run all the same, and its replay a replay.
	r := landFigures(t, s, "s01", first)
	if !r.Replayed || r.Rows != 0 {
		t.Error("the replay of a landing without a new row", r)
	}
	_, err := Run(context.Background(), s, Options{Table: "t", Input: strings.NewReader(figure("x", 1, 1, "7")), RunID: "s01", SiteID: "s"})
	if !errors.Is(err, fault.StoreRunConflict) {
		t.Error("other rows under the id of a landing without a new row:", err)
	}
}

// A replacement names all there is: what it left out would be gone.
func TestReplacementSkipsNothing(t *testing.T) {
	s := openStore(t, figures)
	rows := figure("x", 1, 1, "1") + figure("y", 1, 1, "2")
	landFigures(t, s, "r1", rows)
	r, err := Run(context.Background(), s, Options{Table: "t", Input: strings.NewReader(rows), RunID: "r2", SiteID: "s", Replace: true})
	if err != nil || r.Rows != 2 || r.Skipped != 0 || visible(t, s) != 2 {
		t.Fatal(r, err)
	}
}

// Values that read alike are alike, however they are stored.
func TestContentAcrossTypes(t *testing.T) {
	s := openStore(t, figures)
	landFigures(t, s, "r1", figure("x", 1, 1, "3")+figure("y", 1, 1, "4503599627370497"))
	for i, c := range []struct {
		what, row string
		skipped   int64
	}{
		{"a whole number as a fraction", figure("x", 1, 1, "3.0"), 1}, {"a fraction", figure("x", 1, 1, "3.5"), 0},
		{"the fraction again", figure("x", 1, 1, "3.5"), 1}, {"the whole number again", figure("x", 1, 1, "3"), 0},
		{"a long one", figure("y", 1, 1, "4503599627370497"), 1},
	} {
		if r := landFigures(t, s, fmt.Sprintf("s%02d", i), c.row); r.Skipped != c.skipped {
			t.Errorf("%s: %d skipped, not %d", c.what, r.Skipped, c.skipped)
		}
	}
	s = openStore(t, figures)
	landFigures(t, s, "r1", figure("x", 1, 1, `"7"`))
	landFigures(t, s, "r2", figure("y", 1, 1, `{"b":1,"a":[2]}`))
	for i, c := range []struct {
		what, row string
		skipped   int64
	}{
		{"text of a column that is json by now", figure("x", 1, 1, `"7"`), 1}, {"JSON of the same characters", figure("x", 1, 1, `{"n":7}`), 0},
		{"JSON in another order", figure("y", 1, 1, `{"a":[2], "b":1}`), 1},
	} {
		if r := landFigures(t, s, fmt.Sprintf("s%02d", i), c.row); r.Skipped != c.skipped {
			t.Errorf("%s: %d skipped, not %d", c.what, r.Skipped, c.skipped)
		}
	}
}

// Vectors, structs, lists and maps are content as any other.
func TestNestedContent(t *testing.T) {
	s := openStore(t, "[[pipeline.tables]]\nname = \"t\"\nprimary_key = [\"k\"]\ncolumns = { e = \"float16[3]\", g = \"float32[2]\", s = \"struct<a: int64, b: utf8>\", l = \"list<struct<n: int64>>\", m = \"map<utf8, float64>\" }\n[pipeline.tables.available_time]\ncolumn = \"a\"\n")
	row := func(k, e, rest string) string {
		return fmt.Sprintf(`{"k":%q,"a":"2024-02-01T00:00:00Z","e":%s,%s}`+"\n", k, e, rest)
	}
	const rest = `"g":[1,2.5],"s":{"a":7,"b":"x"},"l":[{"n":1},{"n":null},null],"m":{"x":1.5,"y":null}`
	landFigures(t, s, "r1", row("x", "[1,0.5,-2]", rest)+row("y", "null", `"g":null,"s":null,"l":null,"m":null`)+row("z", "[0,0,0]", `"s":{"b":null},"l":[],"m":{}`))
	for i, c := range []struct {
		what, row string
		skipped   int64
	}{
		{"the same", row("x", "[1,0.5,-2]", rest), 1}, {"nothing", row("y", "null", `"g":null`), 1}, {"empty ones", row("z", "[0,0,0]", `"s":{"a":null},"l":[],"m":{}`), 1},
		{"another vector", row("x", "[1,0.5,2]", rest), 0}, {"another member", row("z", "[0,0,0]", `"s":{"a":0},"l":[],"m":{}`), 0},
		{"no list for an empty one", row("z", "[0,0,0]", `"s":{"b":null},"m":{}`), 0}, {"an item more", row("x", "[1,0.5,-2]", strings.Replace(rest, "null],", "null,null],", 1)), 0},
	} {
		if r := landFigures(t, s, fmt.Sprintf("s%02d", i), c.row); r.Skipped != c.skipped {
			t.Errorf("%s: %d skipped, not %d", c.what, r.Skipped, c.skipped)
		}
	}
}

// A part's row group that no arriving vintage can be in is not read: it may be damaged. One that may hold a vintage refuses.
func TestRowGroupsOfOthersAreNotRead(t *testing.T) {
	s := openStore(t, figures)
	landFigures(t, s, "r1", figure("a", 1, 1, "1")+figure("b", 1, 1, "1"))
	landFigures(t, s, "r2", figure("a", 9, 9, "1")+figure("b", 9, 9, "1"))
	table, err := s.Table("t")
	must2(t, err)
	view, err := table.Resolve(context.Background(), store.Bounds{})
	must2(t, err)
	path := view.Files[0].Path
	data, err := os.ReadFile(path)
	must2(t, err)
	for i := 4; i < 200; i++ {
		data[i] = 0xff
	}
	must2(t, os.WriteFile(path, data, 0o600))
	r := landFigures(t, s, "r3", figure("a", 9, 9, "1")+figure("c", 9, 9, "1"))
	if r.Skipped != 1 || r.Compared.Groups != 2 || r.Compared.GroupsRead != 1 || r.Compared.BytesRead == 0 {
		t.Fatal(r)
	}
	_, err = Run(context.Background(), s, Options{Table: "t", Input: strings.NewReader(figure("a", 1, 1, "1")), RunID: "r4", SiteID: "s"})
	if !errors.Is(err, fault.StorePartDamaged) || !strings.Contains(err.Error(), "r1") {
		t.Fatal(err)
	}
	if have, err := table.ReadRun("r4", "n1"); have != nil || err != nil {
		t.Fatal("a refused landing is committed", err)
	}
}

func must2(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is landed, in whatever batches: a read answers what it would answer if nothing were ever skipped, and landing what
// the table answers again writes nothing.
func TestSkippingIsInvisible(t *testing.T) {
	type row struct {
		k, v         string
		f, a, order  int
		orderMissing bool
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		declared := figures
		if rapid.Bool().Draw(rt, "ordered") {
			declared = strings.Replace(figures, "bloom_filter", "order_by = \"o\"\nbloom_filter", 1)
		}
		s := memStoreOf(t, vfs.NewMem(), declared)
		text := func(rows []row) string {
			var b strings.Builder
			for _, r := range rows {
				line := strings.TrimSuffix(figure(r.k, r.f, r.a, r.v), "}\n")
				if !r.orderMissing {
					line += fmt.Sprintf(`,"o":%d`, r.order)
				}
				b.WriteString(line + "}\n")
			}
			return b.String()
		}
		var all []row
		batch := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row {
			return row{k: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "k"), v: rapid.SampledFrom([]string{"1", "2", "2.5", "null"}).Draw(rt, "v"),
				f: rapid.IntRange(1, 2).Draw(rt, "f"), a: rapid.IntRange(0, 2).Draw(rt, "a"), order: rapid.IntRange(0, 1).Draw(rt, "o"),
				orderMissing: rapid.IntRange(0, 4).Draw(rt, "om") == 0}
		}), 1, 4)
		survivors := func() map[string]row {
			best := map[string]row{}
			for _, r := range all {
				id := fmt.Sprint(r.k, r.f, r.a)
				have, seen := best[id]
				rank := func(r row) int {
					if r.orderMissing || !strings.Contains(declared, "order_by") {
						return -1
					}
					return r.order
				}
				if !seen || rank(r) >= rank(have) {
					best[id] = r
				}
			}
			return best
		}
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			rows := batch.Draw(rt, "batch")
			n++
			landFigures(t, s, fmt.Sprintf("r%06d", n), text(rows))
			all = append(all, rows...)
			want := []string{}
			for id, r := range survivors() {
				want = append(want, id+" "+contentOf(r.v, r.orderMissing, r.order))
			}
			sort.Strings(want)
			if got := storedSurvivors(t, s, strings.Contains(declared, "order_by")); !slices.Equal(got, want) {
				rt.Fatalf("the table answers\n%q, and without skipping\n%q", got, want)
			}
		}
		var again []row
		for _, r := range survivors() {
			again = append(again, r)
		}
		n++
		if r := landFigures(t, s, fmt.Sprintf("r%06d", n), text(again)); r.Rows != 0 || r.Skipped != int64(len(again)) {
			rt.Fatalf("what the table answers was landed again: %d written, %d skipped of %d", r.Rows, r.Skipped, len(again))
		}
	})
}

func contentOf(v string, orderMissing bool, order int) string {
	if orderMissing {
		return v + " none"
	}
	return fmt.Sprint(v, " ", order)
}

// storedSurvivors reads every part and ranks as store.declare.dedup-view does within a vintage.
func storedSurvivors(t testing.TB, s *store.Store, ordered bool) []string {
	t.Helper()
	table, err := s.Table("t")
	must2(t, err)
	view, err := table.Resolve(context.Background(), store.Bounds{})
	must2(t, err)
	type stored struct {
		content string
		rank    []int64
	}
	best := map[string]stored{}
	for _, f := range view.Files {
		file, err := s.FS().Open(f.Path)
		must2(t, err)
		sc, err := colfile.NewScanner(context.Background(), file, f.Path, nil)
		must2(t, err)
		rec, err := sc.Next()
		must2(t, err)
		cell := func(name string, i int) any {
			for c, field := range rec.Schema().Fields() {
				if field.Name == name && rec.Column(c).IsValid(i) {
					return rec.Column(c).GetOneForMarshal(i)
				}
			}
			return nil
		}
		for i := range int(rec.NumRows()) {
			day := func(name string) int {
				for c, field := range rec.Schema().Fields() {
					if field.Name == name && rec.Column(c).IsValid(i) {
						return rec.Column(c).(*array.Timestamp).Value(i).ToTime(arrow.Nanosecond).Day()
					}
				}
				return 0
			}
			id := fmt.Sprint(cell("k", i), day("f"), day("a"))
			order, seq := int64(-1), cell(schema.CommitSeq, i).(int64)
			v, err := json.Marshal(cell("v", i))
			must2(t, err)
			content := string(v) + " none"
			if o, ok := cell("o", i).(int64); ok {
				content = fmt.Sprint(string(v), " ", o)
				if ordered {
					order = o
				}
			}
			rank := []int64{order, seq, cell(schema.RowSeq, i).(int64)}
			if have, seen := best[id]; !seen || slices.Compare(rank, have.rank) > 0 {
				best[id] = stored{content, rank}
			}
		}
		rec.Release()
		sc.Close()
		file.Close()
	}
	list := []string{}
	for id, r := range best {
		list = append(list, id+" "+r.content)
	}
	sort.Strings(list)
	return list
}

// With a few vintages at a time the answer is the same.
func TestComparisonInPasses(t *testing.T) {
	s := openStore(t, figures)
	var rows strings.Builder
	for i := range 300 {
		rows.WriteString(figure(fmt.Sprint("k", i%150), 1+i/150, 1, fmt.Sprint(i)))
	}
	landFigures(t, s, "r1", rows.String())
	table, err := s.Table("t")
	must2(t, err)
	b, err := Read(context.Background(), s, Options{Table: "t", Input: strings.NewReader(rows.String() + figure("new", 1, 1, "1")), SiteID: "s", InputName: "in"})
	must2(t, err)
	defer b.Close()
	view, err := table.Resolve(context.Background(), store.Bounds{})
	must2(t, err)
	x := &comparison{ctx: context.Background(), fsys: vfs.OS{}, view: view, c: b.c, merged: view.Schema, key: view.Declaration.DedupKey(), order: []string{schema.CommitSeq},
		limit: 20}
	if err := x.run(); err != nil || x.skip.n != 300 || x.skip.has(300) {
		t.Fatal(x.skip.n, err)
	}
}
