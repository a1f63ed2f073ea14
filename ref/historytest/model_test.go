package historytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The model: every row that was ever landed, kept in memory, and a read written from the pages of spec/store alone
// (store.declare, store.bound-time, store.available-time). It knows no snapshot, since no fold may change an answer.

// stamp is an instant in nanoseconds since 1970.
type stamp int64

func (s stamp) String() string { return time.Unix(0, int64(s)).UTC().Format(time.RFC3339Nano) }

// A row holds a producer's cells: int64, float64, string or stamp; a null is as good as no cell.
type row map[string]any

// text prints a row so that equal content has equal text.
func (r row) text() string {
	var cells []string
	for name, v := range r {
		if v != nil {
			cells = append(cells, name+"="+cell(v))
		}
	}
	slices.Sort(cells)
	return strings.Join(cells, " ")
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int64:
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

// compare orders two cells of one column ascending, a null before everything.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch a := a.(type) {
	case stamp:
		return cmp.Compare(a, b.(stamp))
	case string:
		return strings.Compare(a, b.(string))
	}
	return cmp.Compare(number(a), number(b))
}

func number(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

// A shape is a table's declaration.
type shape struct {
	name, order         string
	key                 []string
	replace             bool
	from, to, available string
	retain              time.Duration
	toml                string
}

func (s *shape) line() []string {
	if s.key == nil || s.from == "" {
		return s.key
	}
	return append(slices.Clone(s.key), s.from)
}

// A landed row and what decides between it and others of its line.
type landed struct {
	row
	run *run
	seq int
}

// A run is one commit.
type run struct {
	id, node    string
	seq         int64
	at          stamp // commit instant, which is _ingested_at
	replacement bool
	rows        []landed
}

func (r *run) less(o *run) bool {
	return cmp.Or(cmp.Compare(r.seq, o.seq), cmp.Compare(r.at, o.at), strings.Compare(r.id+"/"+r.node, o.id+"/"+o.node)) < 0
}

// A bound is what a read is asked under; nil is unbounded.
type bound struct {
	asOf, valid, available *stamp
	first                  bool
}

func (b bound) String() string {
	text := "a read"
	for name, at := range map[string]*stamp{"as_of": b.asOf, "valid_as_of": b.valid, "available_as_of": b.available} {
		if at != nil {
			text += " " + name + " " + at.String()
		}
	}
	if b.first {
		text += " of first vintages"
	}
	return text
}

// A table is its shape and everything that was committed.
type table struct {
	*shape
	runs    []*run
	folds   []stamp // when each snapshot was made
	retired bool    // retention may have removed something
}

// visible gives the rows of the runs a bound lets through, without those a replacement superseded.
func (t *table) visible(asOf *stamp) []landed {
	var frontier *run
	seen := func(r *run) bool { return asOf == nil || r.at <= *asOf }
	for _, r := range t.runs {
		if seen(r) && r.replacement && (frontier == nil || frontier.less(r)) {
			frontier = r
		}
	}
	var rows []landed
	for _, r := range t.runs {
		if seen(r) && (frontier == nil || !r.less(frontier)) {
			rows = append(rows, r.rows...)
		}
	}
	return rows
}

// better tells whether a is read rather than b of the same line.
func (t *table) better(a, b landed, first bool) bool {
	if t.available != "" {
		c := compare(a.row[t.available], b.row[t.available])
		if first && a.row[t.available] != nil && b.row[t.available] != nil {
			c = -c // a vintage without an instant is the last to be read either way
		}
		if c != 0 {
			return c > 0
		}
	}
	return t.later(a, b)
}

// later is dedup-view's order.
func (t *table) later(a, b landed) bool {
	order := 0
	if t.order != "" {
		order = compare(a.row[t.order], b.row[t.order])
	}
	return cmp.Or(order, cmp.Compare(a.run.at, b.run.at), strings.Compare(a.run.id, b.run.id), cmp.Compare(a.seq, b.seq)) > 0
}

func keyOf(r row, columns []string) string {
	var text []string
	for _, c := range columns {
		text = append(text, cell(r[c]))
	}
	return strings.Join(text, ",")
}

// survivors keeps one row for each value of the columns.
func survivors(rows []landed, columns []string, better func(a, b landed) bool) []landed {
	best := map[string]landed{}
	for _, r := range rows {
		k := keyOf(r.row, columns)
		if have, ok := best[k]; !ok || better(r, have) {
			best[k] = r
		}
	}
	var out []landed
	for _, r := range best {
		out = append(out, r)
	}
	return out
}

// read gives the sorted texts of what a reader sees.
func (t *table) read(b bound) []string {
	rows := t.visible(b.asOf)
	if t.available != "" && b.available != nil {
		rows = slices.DeleteFunc(rows, func(r landed) bool {
			at, ok := r.row[t.available].(stamp)
			return !ok || at > *b.available
		})
	}
	if t.key != nil {
		rows = survivors(rows, t.line(), func(x, y landed) bool { return t.better(x, y, b.first) })
	}
	if t.from != "" && b.valid != nil {
		rows = slices.DeleteFunc(rows, func(r landed) bool {
			from, ok := r.row[t.from].(stamp)
			to, ends := r.row[t.to].(stamp)
			return !ok || from > *b.valid || ends && to <= *b.valid
		})
	}
	texts := []string{}
	for _, r := range rows {
		texts = append(texts, r.text())
	}
	slices.Sort(texts)
	return texts
}

// written leaves out of a batch what a vintage table stores already (store.available-time.vintage-scope).
func (t *table) written(batch []row, replacement bool) []bool {
	keep := slices.Repeat([]bool{true}, len(batch))
	if t.key == nil || t.available == "" || replacement || t.replace {
		return keep
	}
	columns := append(slices.Clone(t.line()), t.available)
	stored := map[string]string{}
	for _, r := range survivors(t.visible(nil), columns, t.later) {
		stored[keyOf(r.row, columns)] = r.text()
	}
	contents := map[string]map[string]bool{}
	for _, r := range batch {
		k := keyOf(r, columns)
		if contents[k] == nil {
			contents[k] = map[string]bool{}
		}
		contents[k][r.text()] = true
	}
	for i, r := range batch {
		k := keyOf(r, columns)
		text, ok := stored[k]
		keep[i] = !ok || text != r.text() || len(contents[k]) > 1
	}
	return keep
}

// may tells whether retention may have made a bound unanswerable: there was something it could remove, and the bound lies before the
// newest snapshot.
func (t *table) mayRefuse(b bound) bool {
	return t.retired && b.asOf != nil && *b.asOf < t.folds[len(t.folds)-1]
}
