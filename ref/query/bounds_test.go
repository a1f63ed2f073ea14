package query

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck/ducktest"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

const clocks = `
[[pipeline.tables]]
name = "t"
[pipeline.tables.valid_time]
from = "f"
to = "u"
[pipeline.tables.available_time]
column = "a"
`

func instant(n int64) string {
	return time.Unix(0, n).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

// TestBoundsAtTheEnds reads bounds at and around the ends of what 64 bits hold, beside values there.
func TestBoundsAtTheEnds(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2, math.MinInt64 + 1000, math.MinInt64 + 1001, math.MinInt64 + 2000, -1001, -1000, -999, -1, 0, 1, 999, 1000, math.MaxInt64 - 1, math.MaxInt64}
	for _, step := range []int64{1, 1000} { // values with digits below the microsecond, and without
		st := ducktest.Open(t, "n", "", clocks)
		var rows []string
		var stored []int64
		for _, v := range values {
			v = v / step * step
			if !slices.Contains(stored, v) {
				stored = append(stored, v)
				rows = append(rows, fmt.Sprintf(`[%q,%q,%q]`, instant(v), instant(v), fmt.Sprint(v)))
			}
		}
		ducktest.Land(t, st, ducktest.Landing{Table: "t", Run: "r", Columns: []string{"a timestamp", "u timestamp", "n utf8"}, Rows: rows})
		bounds := []manifest.Instant{manifest.At(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), manifest.At(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)),
			manifest.At(time.Unix(0, math.MinInt64).Add(-1)), manifest.At(time.Unix(0, math.MaxInt64).Add(1))}
		for _, v := range values {
			bounds = append(bounds, manifest.At(time.Unix(0, v)), manifest.At(time.Unix(0, v).Add(-1)), manifest.At(time.Unix(0, v).Add(1)))
		}
		for _, at := range bounds {
			want := 0
			for _, v := range stored {
				if !time.Unix(0, v).After(at.Time) {
					want++
				}
			}
			if got := rows1(t, st, "SELECT count(*) FROM t", Bounds{AvailableAsOf: &at}); got != fmt.Sprintf("[[%d]]", want) {
				t.Errorf("step %d, available by %s: %s, want %d", step, at, got, want)
			}
		}
	}
}

func rows1(t *testing.T, st *store.Store, sql string, b Bounds) string {
	t.Helper()
	return strings.Join(strings.Fields(rows(t, st, sql, func(o *Options) { o.Bounds = b })), "")
}

// TestAdjustmentsOfOddTables: names that a statement of ours could take for its own, several adjustments of one column, and factors
// that are not there yet.
func TestAdjustmentsOfOddTables(t *testing.T) {
	const adjusted = `
[[pipeline.tables]]
name = "p"
primary_key = ["c0"]
[pipeline.tables.valid_time]
from = "from"
[pipeline.tables.available_time]
column = "a"
[[pipeline.tables.available_time.adjustments]]
table = "s"
columns = ["f0", "row"]
factor = "x"
effective = "day"
on = ["c0"]
[[pipeline.tables.available_time.adjustments]]
table = "none yet"
columns = ["f0"]
factor = "x"
effective = "day"
on = ["c0"]
[[pipeline.tables.available_time.adjustments]]
table = "s"
columns = ["f0"]
factor = "y"
effective = "day"
on = ["c0"]
[[pipeline.tables]]
name = "s"
primary_key = ["c0", "day"]
[pipeline.tables.available_time]
column = "told"
[[pipeline.tables]]
name = "none-yet"
[pipeline.tables.available_time]
column = "told"
`
	st := ducktest.Open(t, "n", "", strings.ReplaceAll(adjusted, "none yet", "none-yet"))
	at := func(day int) string { return instant(ducktest.Epoch.AddDate(0, 0, day).UnixNano()) }
	ducktest.Land(t, st, ducktest.Landing{Table: "p", Run: "r", Columns: []string{"c0 utf8", "from timestamp", "a timestamp", "f0 int64", "row float64", "contextful row int64"},
		Rows: []string{fmt.Sprintf(`["k",%q,%q,10,3,7]`, at(1), at(1)), fmt.Sprintf(`["other",%q,%q,10,3,7]`, at(1), at(1))}})
	ducktest.Land(t, st, ducktest.Landing{Table: "s", Run: "r", Columns: []string{"c0 utf8", "day timestamp", "told timestamp", "x float64", "y int64", "f0 int64"},
		Rows: []string{fmt.Sprintf(`["k",%q,%q,0.5,3,1]`, at(5), at(2)), fmt.Sprintf(`["k",%q,%q,0.5,null,1]`, at(6), at(2))}})
	sql := `SELECT c0, f0, "row", "contextful row" FROM p ORDER BY 1`
	for day, want := range map[int]string{1: `[["k",10.0,3.0,7],["other",10.0,3.0,7]]`, 2: `[["k",7.5,0.75,7],["other",10.0,3.0,7]]`} {
		by := manifest.At(ducktest.Epoch.AddDate(0, 0, day))
		if got := rows1(t, st, sql, Bounds{AvailableAsOf: &by}); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("day %d: %s, want %s", day, got, want)
		}
	}
	if got := rows1(t, st, sql, Bounds{}); got != `[["k",10,3.0,7],["other",10,3.0,7]]` {
		t.Errorf("unbounded: %s", got)
	}
	other := ducktest.At(t, "n", st.Root(), st.Project())
	by := manifest.At(ducktest.Epoch)
	if _, err := ask(t, other, "SELECT * FROM s JOIN p USING (c0)", func(o *Options) { o.Bounds = Bounds{ValidAsOf: &by} }); err != nil {
		t.Error(err)
	}
	if _, err := ask(t, other, "SELECT * FROM s", func(o *Options) { o.Bounds = Bounds{ValidAsOf: &by} }); fault.CodeOf(err) != fault.StoreBoundUndeclared {
		t.Error(err)
	}
}
