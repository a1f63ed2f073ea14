// Package inspect reads what an implementation left on disk and in the bucket, with readers of its own: it shares no line
// with any implementation, so a bug cannot hide behind itself. It is strict: a document without a key that the format
// requires is an error.
//
// Layout it reads (formats.md):
//
//	<root>/store-id
//	<root>/tables/<t>/schema.json, _pointer.json
//	<root>/tables/<t>/data/runs/<run-id>/<node-id>/_manifest.json, part-*.parquet
//	<root>/tables/<t>/data/snapshots/<snapshot-id>/_manifest.json, …
//	<prefix>/manifest.json, manifests/gen-<N>.json, <prefix>/<project>/leases/…
//
// Answers: no clause; it is how the kit looks.
package inspect

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// A Grid is a table of values: what a query printed, what a Parquet part holds, or what was landed. A cell is nil, bool,
// int64, float64, json.Number, string, []any, map[string]any or time.Time.
type Grid struct {
	Columns []string
	Rows    [][]any
}

// ParseGrid reads the answer of `query --json`: {"columns": [...], "rows": [[...]], "truncated": bool}. A column is its
// name, or an object with a name.
func ParseGrid(stdout string) (Grid, error) {
	var doc struct {
		Columns   []json.RawMessage `json:"columns"`
		Rows      [][]any           `json:"rows"`
		Truncated bool              `json:"truncated"`
	}
	d := json.NewDecoder(strings.NewReader(stdout))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return Grid{}, fmt.Errorf("the answer is not the JSON of a query: %w: %.200q", err, stdout)
	}
	if doc.Columns == nil {
		return Grid{}, fmt.Errorf("the answer names no columns: %.200q", stdout)
	}
	if doc.Truncated {
		return Grid{}, fmt.Errorf("the answer says it is truncated, though no limit was asked for")
	}
	g := Grid{Rows: doc.Rows}
	for _, c := range doc.Columns {
		var name string
		if err := json.Unmarshal(c, &name); err != nil {
			var o struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(c, &o); err != nil || o.Name == "" {
				return Grid{}, fmt.Errorf("a column of the answer has no name: %s", c)
			}
			name = o.Name
		}
		g.Columns = append(g.Columns, name)
	}
	for i, r := range g.Rows {
		if len(r) != len(g.Columns) {
			return Grid{}, fmt.Errorf("row %d has %d cells for %d columns", i, len(r), len(g.Columns))
		}
	}
	return g, nil
}

// Index is the position of a column, -1 where there is none.
func (g Grid) Index(column string) int {
	for i, c := range g.Columns {
		if c == column {
			return i
		}
	}
	return -1
}

// Column lists the cells of a column; nil where there is none.
func (g Grid) Column(name string) []any {
	i := g.Index(name)
	if i < 0 {
		return nil
	}
	out := make([]any, 0, len(g.Rows))
	for _, r := range g.Rows {
		out = append(out, r[i])
	}
	return out
}

// Select keeps the named columns in that order; a missing one reads as null.
func (g Grid) Select(columns ...string) Grid {
	out := Grid{Columns: columns}
	for _, r := range g.Rows {
		row := make([]any, len(columns))
		for i, c := range columns {
			if at := g.Index(c); at >= 0 {
				row[i] = r[at]
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Producer keeps the columns a producer wrote: those whose name does not begin with `_`.
func (g Grid) Producer() Grid {
	var keep []string
	for _, c := range g.Columns {
		if !strings.HasPrefix(c, "_") {
			keep = append(keep, c)
		}
	}
	return g.Select(keep...)
}

// Lines gives every row as one canonical line, sorted: equal multisets of rows have equal lines. Columns are taken in the
// order of their names.
func (g Grid) Lines() []string {
	order := append([]string(nil), g.Columns...)
	sort.Strings(order)
	var out []string
	for _, r := range g.Select(order...).Rows {
		var cells []string
		for i, v := range r {
			cells = append(cells, order[i]+"="+Canonical(v))
		}
		out = append(out, strings.Join(cells, " "))
	}
	sort.Strings(out)
	return out
}

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// Canonical writes a cell so that equal values have equal text: 5 and 5.0, an integer and its decimal string (how a query
// prints what JSON cannot hold), and any two RFC 3339 forms of one instant.
func Canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case float32:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return Canonical(f)
		}
		return number(strconv.FormatFloat(float64(v), 'g', -1, 32))
	case float64:
		switch {
		case math.IsNaN(v):
			return `"NaN"`
		case math.IsInf(v, 1):
			return `"inf"`
		case math.IsInf(v, -1):
			return `"-inf"`
		}
		return number(strconv.FormatFloat(v, 'g', -1, 64))
	case json.Number:
		return number(v.String())
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000000000Z")
	case string:
		return text(v)
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, Canonical(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var keys, parts []string
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			parts = append(parts, strconv.Quote(k)+":"+Canonical(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return fmt.Sprintf("%v", v)
}

func text(s string) string {
	if integer.MatchString(s) {
		return number(s)
	}
	if len(s) >= len("2006-01-02T15:04:05Z") && s[4] == '-' {
		for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
			if t, err := time.Parse(form, s); err == nil {
				return Canonical(t)
			}
		}
	}
	return strconv.Quote(s)
}

func number(s string) string {
	if integer.MatchString(s) {
		if s == "-0" {
			return s
		}
		n, ok := new(big.Int).SetString(s, 10)
		if ok {
			return n.String()
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return strconv.Quote(s)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 && !(f == 0 && math.Signbit(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	if f == 0 {
		return "-0"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
