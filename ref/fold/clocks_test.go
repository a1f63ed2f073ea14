package fold

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/duck"
	"contextful/ref/duck/ducktest"
	"contextful/ref/manifest"
	"contextful/ref/query"
	"contextful/ref/store"

	"pgregory.net/rapid"
)

// dated is one row of the model. Instants are nanoseconds after day; nil is null.
type dated struct {
	key, from, to, available, order *int64
	v                               int
	at                              int64 // its commit
}

const day = 1_700_000_000_000_000_000

// The instants of the test: neighbours at the nanosecond, within a microsecond and across one.
func instants() []int64 { return []int64{0, 1, 2, 999, 1000, 1001, 2000, 1_000_000_000} }

func maybe(t *rapid.T, name string, of ...int64) *int64 {
	i := rapid.IntRange(0, len(of)).Draw(t, name)
	if i == len(of) {
		return nil
	}
	return &of[i]
}

func (r dated) json(valid, available bool) string {
	instant := func(n *int64) string {
		if n == nil {
			return "null"
		}
		return `"` + time.Unix(0, day+*n).UTC().Format("2006-01-02T15:04:05.000000000Z") + `"`
	}
	number := func(n *int64) string {
		if n == nil {
			return "null"
		}
		return fmt.Sprint(*n)
	}
	cells := fmt.Sprintf("%s,%s,%d", number(r.key), number(r.order), r.v)
	if valid {
		cells += "," + instant(r.from) + "," + instant(r.to)
	}
	if available {
		cells += "," + instant(r.available)
	}
	return "[" + cells + "]"
}

// better orders by a descending number, nulls last: whether x comes before y, and whether they differ.
func better(x, y *int64) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return cmp.Compare(*y, *x)
}

// model answers a read from the rows in landing order.
func model(rows []dated, b query.Bounds, valid, available bool) []int {
	in := func(n *int64, at *manifest.Instant) bool { return n != nil && day+*n <= at.UnixNano() }
	best := map[string]dated{}
	for _, r := range rows {
		if b.AsOf != nil && r.at > b.AsOf.UnixNano() || available && b.AvailableAsOf != nil && !in(r.available, b.AvailableAsOf) {
			continue
		}
		line := fmt.Sprint(text(r.key))
		if valid {
			line += "/" + text(r.from)
		}
		have, ok := best[line]
		order := 0
		if ok && available {
			order = better(r.available, have.available)
			if b.First && r.available != nil && have.available != nil {
				order = -order
			}
		}
		if !ok || cmp.Or(order, better(r.order, have.order), -1) < 0 {
			best[line] = r
		}
	}
	var out []int
	for _, r := range best {
		if !valid || b.ValidAsOf == nil || in(r.from, b.ValidAsOf) && (r.to == nil || !in(r.to, b.ValidAsOf)) {
			out = append(out, r.v)
		}
	}
	slices.Sort(out)
	return out
}

func text(n *int64) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}

// TestThreeClocks drives random histories of vintages and intervals and compares reads under all bounds with a model, before and
// after folds.
func TestThreeClocks(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		valid, available := rapid.Bool().Draw(t, "valid"), rapid.Bool().Draw(t, "available")
		declared := "[[pipeline.tables]]\nname = \"t\"\nprimary_key = [\"k\"]\norder_by = \"o\"\n"
		columns := []string{"k int64", "o int64", "v int64"}
		if valid {
			declared += "[pipeline.tables.valid_time]\nfrom = \"f\"\nto = \"u\"\n"
			columns = append(columns, "f timestamp", "u timestamp")
		}
		if available {
			declared += "[pipeline.tables.available_time]\ncolumn = \"a\"\n"
			columns = append(columns, "a timestamp")
		}
		dir, err := os.MkdirTemp("", "clocks")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		st := ducktest.Open(within{outer, dir}, "n", "", declared)
		var rows []dated
		for run := range rapid.IntRange(1, 3).Draw(t, "runs") {
			at := ducktest.Epoch.Add(time.Duration(run))
			l := ducktest.Landing{Table: "t", Run: fmt.Sprintf("r%d", run), Columns: columns, At: at}
			for range rapid.IntRange(1, 6).Draw(t, "rows") {
				r := dated{key: maybe(t, "key", 1, 2), from: maybe(t, "from", instants()...), to: maybe(t, "to", instants()...),
					available: maybe(t, "available", instants()...), order: maybe(t, "order", 1, 2), v: len(rows), at: at.UnixNano()}
				rows = append(rows, r)
				l.Rows = append(l.Rows, r.json(valid, available))
			}
			if _, err := ducktest.TryLand(st, l); err != nil {
				t.Fatal(err)
			}
			read(t, st, dir, rows, valid, available)
			if rapid.Bool().Draw(t, "fold") {
				if _, err := Run(context.Background(), st, Options{Table: "t", Engine: duck.Options{TempDir: dir}}); err != nil {
					t.Fatal(err)
				}
				read(t, st, dir, rows, valid, available)
			}
		}
	})
}

func read(t *rapid.T, st *store.Store, dir string, rows []dated, valid, available bool) {
	var b query.Bounds
	bound := func(name string, base int64, of ...int64) *manifest.Instant {
		n := maybe(t, name, of...)
		if n == nil {
			return nil
		}
		at := manifest.At(time.Unix(0, base+*n))
		return &at
	}
	b.AsOf = bound("as_of", ducktest.Epoch.UnixNano(), -1, 0, 1, 2, 3, 4)
	if valid {
		b.ValidAsOf = bound("valid_as_of", day, append(instants(), -1, -1_000_000)...)
	}
	if available {
		b.AvailableAsOf = bound("available_as_of", day, append(instants(), -1, -1_000_000)...)
		b.First = rapid.Bool().Draw(t, "first")
	}
	var out bytes.Buffer
	if _, err := query.Run(context.Background(), st, query.Options{SQL: "SELECT v FROM t ORDER BY v", Out: &out, Format: query.CSV, Bounds: b, Engine: duck.Options{TempDir: dir, Threads: 1}}); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(out.String(), "\n")
	var want []string
	for _, v := range model(rows, b, valid, available) {
		want = append(want, fmt.Sprint(v))
	}
	if got := strings.Fields(body); !slices.Equal(got, want) {
		t.Fatalf("bounds %+v: rows %v, want %v", b, got, want)
	}
}

// within lends ducktest the directory of one check.
type within struct {
	testing.TB
	dir string
}

func (w within) TempDir() string { return w.dir }
