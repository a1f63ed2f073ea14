package world

import (
	"fmt"
	"sort"
	"strings"

	"contextful/harness/inspect"
)

// A Table is what the scenario declares of a table. Keys hold TOML values by the names of the declaration language.
type Table struct {
	Name        string
	PrimaryKey  []string
	OrderBy     string
	PartitionBy []string
	WriteMode   string
	Columns     map[string]string // column → declared type
	Extra       map[string]string // further lines, TOML values
	Absent      bool              // the declaration has no such table (any more)
	landed      []landing
}

type landing struct {
	run, node string
	rows      []Row
}

// Events is what a table is where a scenario does not say: keyed by id, three regions as partitions, an instant.
func Events(name string) *Table {
	return &Table{Name: name, PrimaryKey: []string{"id"}, PartitionBy: []string{"region"}, Columns: map[string]string{"at": "timestamp"}}
}

// Declare adds or replaces a table of every node.
func (w *World) Declare(t *Table) *Table {
	if old, ok := w.tables[t.Name]; ok {
		t.landed = old.landed
	} else {
		w.names = append(w.names, t.Name)
	}
	w.tables[t.Name] = t
	return t
}

// Table gives a table's declaration; a name nobody declared becomes an Events table.
func (w *World) Table(name string) *Table {
	if t, ok := w.tables[name]; ok {
		return t
	}
	return w.Declare(Events(name))
}

// Declare gives one node a declaration of the table that differs from everybody else's.
func (n *Node) Declare(t *Table) { n.tables[t.Name] = t }

// Table is the node's declaration of a table: its own where it has one, else everybody's.
func (n *Node) Table(name string) *Table {
	if t, ok := n.tables[name]; ok {
		return t
	}
	return n.w.Table(name)
}

// Copy of a declaration, to be changed for one node; it shares nothing with the original.
func (t *Table) Copy() *Table {
	c := *t
	c.PrimaryKey = append([]string(nil), t.PrimaryKey...)
	c.PartitionBy = append([]string(nil), t.PartitionBy...)
	c.Columns, c.Extra, c.landed = map[string]string{}, map[string]string{}, nil
	for k, v := range t.Columns {
		c.Columns[k] = v
	}
	for k, v := range t.Extra {
		c.Extra[k] = v
	}
	return &c
}

func (n *Node) declaration() string {
	if n.Declaration != "" {
		return n.Declaration
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[project]\nname = %s\n\n[pipeline]\nid = \"conform\"\n", quote(n.w.title))
	b.WriteString(n.w.feed.toml())
	for _, name := range n.w.names {
		t := n.w.tables[name]
		if own, ok := n.tables[name]; ok {
			t = own
		}
		b.WriteString(t.toml())
	}
	for _, j := range n.w.jobs {
		b.WriteString(j.toml())
	}
	return b.String()
}

func (t *Table) toml() string {
	if t.Absent {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n[[pipeline.tables]]\nname = %s\n", quote(t.Name))
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		var quoted []string
		for _, v := range values {
			quoted = append(quoted, quote(v))
		}
		fmt.Fprintf(&b, "%s = [%s]\n", key, strings.Join(quoted, ", "))
	}
	list("primary_key", t.PrimaryKey)
	list("partition_by", t.PartitionBy)
	if t.OrderBy != "" {
		fmt.Fprintf(&b, "order_by = %s\n", quote(t.OrderBy))
	}
	if t.WriteMode != "" {
		fmt.Fprintf(&b, "write_mode = %s\n", quote(t.WriteMode))
	}
	if len(t.Columns) > 0 {
		var cols []string
		for c := range t.Columns {
			cols = append(cols, c)
		}
		sort.Strings(cols)
		for i, c := range cols {
			cols[i] = quote(c) + " = " + quote(t.Columns[c])
		}
		fmt.Fprintf(&b, "columns = { %s }\n", strings.Join(cols, ", "))
	}
	var extra []string
	for k := range t.Extra {
		extra = append(extra, k)
	}
	sort.Strings(extra)
	for _, k := range extra {
		fmt.Fprintf(&b, "%s = %s\n", k, t.Extra[k])
	}
	return b.String()
}

// Landed lists the rows every successful landing of the scenario put into the table, run by run.
func (w *World) Landed(table string) []Row {
	var out []Row
	for _, l := range w.Table(table).landed {
		out = append(out, l.rows...)
	}
	return out
}

// Expected is what a reader who has every run should read, producer's columns only: all rows of an unkeyed table, one
// survivor per key of a keyed one (the greatest order_by where there is one, else the row landed last), the rows of the
// last landing of a replacing one. It covers what the common steps build; clauses about ties and nulls say their rows
// themselves.
func (w *World) Expected(table string) inspect.Grid {
	t := w.Table(table)
	var rows []Row
	switch {
	case t.WriteMode == "replace" && len(t.landed) > 0:
		rows = t.landed[len(t.landed)-1].rows
	default:
		rows = w.Landed(table)
	}
	if len(t.PrimaryKey) == 0 {
		return GridOf(rows)
	}
	at := map[string]int{}
	var kept []Row
	for _, r := range rows {
		var key []string
		for _, k := range t.PrimaryKey {
			key = append(key, inspect.Canonical(r[k]))
		}
		id := strings.Join(key, "\x00")
		i, seen := at[id]
		switch {
		case !seen:
			at[id] = len(kept)
			kept = append(kept, r)
		case t.OrderBy == "" || !less(r[t.OrderBy], kept[i][t.OrderBy]):
			kept[i] = r
		}
	}
	return GridOf(kept)
}

// less orders two values of an order_by column; null is below everything.
func less(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b != nil
	}
	x, y := inspect.Canonical(a), inspect.Canonical(b)
	var fx, fy float64
	if _, err := fmt.Sscan(x, &fx); err == nil {
		if _, err := fmt.Sscan(y, &fy); err == nil && fx != fy {
			return fx < fy
		}
	}
	return x < y
}
