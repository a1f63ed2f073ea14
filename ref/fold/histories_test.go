package fold

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck/ducktest"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/store"
	"contextful/ref/vfs"

	"pgregory.net/rapid"
)

const histories = `
[[pipeline.tables]]
name = "loose"
cluster_by = ["v"]
[[pipeline.tables]]
name = "placed"
partition_by = ["p"]
[[pipeline.tables]]
name = "keyed"
primary_key = ["k", "g"]
order_by = "rev"
[[pipeline.tables]]
name = "moving"
primary_key = ["g", "k"]
partition_by = ["p"]
order_by = "rev"
[[pipeline.tables]]
name = "lines"
primary_key = ["k"]
order_by = "rev"
[pipeline.tables.valid_time]
from = "since"
[[pipeline.tables]]
name = "whole"
write_mode = "replace"
primary_key = ["k"]
order_by = "rev"
`

// told is a row as the model has it. Instants are nanoseconds after the epoch; 0 for rev is none.
type told struct {
	k          int
	g          string // "" is null
	rev, since int
	p          string // "" is null
	v          int
	landing    int // which landing, and where in it
	row        int
}

// line is what a table keeps one row of, "" where it has no key.
func (r told) line(table string) string {
	switch table {
	case "keyed", "moving":
		return fmt.Sprint(r.k, "/", r.g)
	case "lines":
		return fmt.Sprint(r.k, "/", r.since)
	case "whole":
		return fmt.Sprint(r.k)
	}
	return fmt.Sprint(r.landing, "/", r.row)
}

func (r told) after(o told) bool {
	return cmp.Or(cmp.Compare(r.rev, o.rev), cmp.Compare(r.landing, o.landing), cmp.Compare(r.row, o.row)) > 0
}

func (r told) json() string {
	text := func(s string) string {
		if s == "" {
			return "null"
		}
		return quote(s)
	}
	rev := "null"
	if r.rev != 0 {
		rev = quote(instant(r.rev))
	}
	return fmt.Sprintf("[%d, %s, %s, %s, %s, %d]", r.k, text(r.g), rev, quote(instant(r.since)), text(r.p), r.v)
}

// instant is before 1970 for the small ones, where the engine rounds towards zero.
func instant(nanos int) string {
	return time.Unix(0, int64(nanos)-3000).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

var columnsTold = []string{"k int64", "g utf8", "rev timestamp", "since timestamp", "p utf8", "v int64"}

// TestHistories: whatever was landed and folded in whatever order, a table reads as the model says, its parts hold the rows it reads
// and no other, no part changes once written, and what a pass writes to has no full tier.
func TestHistories(t *testing.T) {
	if err := flag.Set("rapid.checks", "12"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		st := ducktest.Open(t, "alpha", "", histories)
		table := rapid.SampledFrom([]string{"loose", "placed", "keyed", "moving", "lines", "whole"}).Draw(r, "table")
		var rows []told
		seen := map[string]string{}
		landings := 0
		for range rapid.IntRange(2, 12).Draw(r, "steps") {
			if landings > 0 && rapid.IntRange(0, 2).Draw(r, "fold") > 0 {
				if len(resolve(t, st, table).Runs)+len(resolve(t, st, table).Superseded) > 0 {
					_, view := folded(t, st, table)
					inParts(r, st, table, view, survivors(table, rows), seen)
				}
				continue
			}
			landings++
			l := ducktest.Landing{Table: table, Run: fmt.Sprintf("r%03d", landings), Columns: columnsTold, At: ducktest.Epoch.Add(time.Duration(landings)), Foreign: rapid.Bool().Draw(r, "foreign")}
			if l.Replacement = table == "whole" && rapid.IntRange(0, 3).Draw(r, "replaces") > 0; l.Replacement {
				rows = nil
			}
			for i := range rapid.SampledFrom([]int{0, 1, 3, 4, 5, 17}).Draw(r, "rows") {
				row := told{k: rapid.IntRange(1, 9).Draw(r, "k"), g: rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "g"), rev: rapid.SampledFrom([]int{0, 1000, 1001, 1999, 4000, 4001}).Draw(r, "rev"),
					since: rapid.SampledFrom([]int{1000, 1001, 5000}).Draw(r, "since"), p: rapid.SampledFrom([]string{"", "x", "y/z"}).Draw(r, "p"), v: len(rows) % 5, landing: landings, row: i}
				rows, l.Rows = append(rows, row), append(l.Rows, row.json())
			}
			ducktest.Land(t, st, l)
		}
		var got []string
		for _, row := range cellsOf(t, st, table, nil, "_run_id", "_row_seq") {
			got = append(got, fmt.Sprint(row...))
		}
		slices.Sort(got)
		var want []string
		for _, row := range survivors(table, rows) {
			want = append(want, fmt.Sprint(fmt.Sprintf("r%03d", row.landing), row.row))
		}
		slices.Sort(want)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			r.Fatalf("table %s reads\n%s\nwant\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func survivors(table string, rows []told) []told {
	best := map[string]told{}
	for _, row := range rows {
		if have, ok := best[row.line(table)]; !ok || row.after(have) {
			best[row.line(table)] = row
		}
	}
	var list []told
	for _, row := range best {
		list = append(list, row)
	}
	return list
}

// inParts looks at a snapshot just made: its rows, what it wrote, and that what lay there before is as it was.
func inParts(r *rapid.T, st *store.Store, table string, view *store.View, want []told, seen map[string]string) {
	r.Helper()
	if view.Head.RowCount != int64(len(want)) {
		r.Fatalf("table %s: the parts hold %d rows of %d", table, view.Head.RowCount, len(want))
	}
	written, count := map[string]bool{}, map[string]map[int]int{}
	for _, p := range view.Head.Parts {
		dir := key.PartitionDir(p.Partition)
		written[dir] = written[dir] || p.SnapshotID == ""
		if count[dir] == nil {
			count[dir] = map[int]int{}
		}
		count[dir][tier(p.Rows)]++
	}
	for dir, tiers := range count {
		for tier, n := range tiers {
			if written[dir] && n >= Width {
				r.Fatalf("table %s: %d parts of tier %d in partition %q", table, n, tier, dir)
			}
		}
	}
	version := "1.0"
	for _, p := range view.Head.Parts {
		if p.SnapshotID != "" {
			version = "2.0"
		}
	}
	if view.Head.FormatVersion != manifest.SnapshotVersion(view.Head) || version == "2.0" && view.Head.FormatVersion != "2.1" {
		r.Fatalf("format_version %s of a snapshot that is %s", view.Head.FormatVersion, version)
	}
	err := filepath.WalkDir(st.Path(key.SnapshotsDir(table)), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := digestOf(vfs.OS{}, path, make([]byte, 4096))
		if before, ok := seen[path]; ok && before != sum {
			r.Fatalf("%s has changed", path)
		}
		seen[path] = sum
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
}

// TestOnlyWhatChangesIsWritten: of a keyed table's parts a pass writes those anew whose rows are replaced, and no other.
func TestOnlyWhatChangesIsWritten(t *testing.T) {
	st := ducktest.Open(t, "alpha", "", histories)
	land := func(run string, rows ...told) {
		l := ducktest.Landing{Table: "moving", Run: run, Columns: columnsTold, At: ducktest.Epoch.Add(time.Duration(len(run)))}
		for _, row := range rows {
			l.Rows = append(l.Rows, row.json())
		}
		ducktest.Land(t, st, l)
	}
	land("r1", told{k: 1, g: "a", rev: 5, p: "x"}, told{k: 2, g: "a", rev: 5, p: "x"}, told{k: 3, rev: 5, p: "y"}, told{k: 4, rev: 5, p: "z"})
	first, _ := folded(t, st, "moving")
	// One key moves from x to y; one older row changes nothing in z.
	land("r2", told{k: 2, g: "a", rev: 6, p: "y"}, told{k: 4, rev: 4, p: "z"})
	second, view := folded(t, st, "moving")
	written := map[string]int64{}
	for _, p := range view.Head.Parts {
		if p.SnapshotID == "" {
			written[key.PartitionDir(p.Partition)] += p.Rows
		} else if p.SnapshotID != first.SnapshotID {
			t.Errorf("%+v lies in no snapshot there is", p)
		}
	}
	if second.Rows != 4 || len(view.Head.Parts) != 4 || len(written) != 2 || written["x"] != 1 || written["y"] != 1 {
		t.Errorf("written %v, and %+v", written, view.Head.Parts)
	}
	// Nothing of this survives: the snapshot names the run all the same, and writes no part.
	land("r3", told{k: 1, g: "a", rev: 1, p: "q"}, told{k: 3, rev: 0, p: "q"})
	third, view := folded(t, st, "moving")
	if third.Runs != 1 || third.Rows != 4 || len(view.Head.Parts) != 4 || view.Head.FormatVersion != manifest.SnapshotVersion(view.Head) || view.Head.FormatVersion[0] != '2' {
		t.Errorf("%+v %+v", third, view.Head)
	}
	for _, p := range view.Head.Parts {
		if p.SnapshotID == "" {
			t.Errorf("%+v is written once more", p)
		}
	}
	if list, err := filepath.Glob(st.Path(key.SnapshotDir("moving", third.SnapshotID)) + "/*"); err != nil || len(list) != 3 {
		t.Errorf("in its directory %v (%v), and not a manifest, a lock and a segment alone", list, err)
	}
}
