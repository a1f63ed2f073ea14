package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
)

// A Row is one row as its producer gives it: column → JSON value.
type Row map[string]any

var regions = []string{"north", "south", "west", "east", "mid", "coast", "island", "hill"}

// MakeRows generates n rows of an Events table with ids from first on, spread over the given number of regions. The same
// seed and ids give the same rows; salt tells one version of a row from another.
func (w *World) MakeRows(first, n, partitions int, salt string) []Row {
	partitions = min(max(partitions, 1), len(regions))
	var out []Row
	for i := range n {
		id := first + i
		out = append(out, Row{
			"id": id, "region": regions[i%partitions], "kind": fmt.Sprintf("k%d", id%7), "amount": (id*7919 + len(salt)) % 100_003, "note": salt,
			"at": start.Add(-time.Duration(id) * time.Minute).Format("2006-01-02T15:04:05.000000000Z"),
		})
	}
	return out
}

// GridOf turns rows into a grid over the union of their columns, sorted; a missing one reads as null.
func GridOf(rows []Row) inspect.Grid {
	seen := map[string]bool{}
	var g inspect.Grid
	for _, r := range rows {
		for c := range r {
			if !seen[c] {
				seen[c] = true
				g.Columns = append(g.Columns, c)
			}
		}
	}
	sort.Strings(g.Columns)
	for _, r := range rows {
		row := make([]any, len(g.Columns))
		for i, c := range g.Columns {
			row[i] = r[c]
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// JSONLines writes rows as JSON Lines.
func JSONLines(rows []Row) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, r := range rows {
		if err := e.Encode(r); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Cell reads a cell of a feature's table: empty or null, true, false, a JSON number, a quoted JSON text or structure; all
// else is text as it stands.
func Cell(s string) any {
	switch s {
	case "", "null":
		return nil
	case "true":
		return true
	case "false":
		return false
	}
	if strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		var v any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if err := d.Decode(&v); err == nil {
			return v
		}
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil && json.Valid([]byte(s)) {
		return json.Number(s)
	}
	return s
}

// RowsOf reads the rows of a feature's table: the first line names the columns. A column whose cell is empty is absent
// from the row; write null to send one.
func RowsOf(table [][]string) ([]Row, error) {
	if len(table) < 1 {
		return nil, fmt.Errorf("a table of rows needs a line that names its columns")
	}
	var out []Row
	for _, line := range table[1:] {
		r := Row{}
		for i, c := range line {
			if c != "" {
				r[table[0][i]] = Cell(c)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// InputFile writes an input of the node's, outside its project, and gives its path.
func (n *Node) InputFile(name string, body []byte) (string, error) {
	dir := filepath.Join(n.dir, "input")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, body, 0o644)
}

// A Landing is what Land is told. Run is made up where it is empty ("run-1", "run-2" for each table); Site is "lab".
type Landing struct {
	Table, Run, Site string
	Rows             []Row
	File             string   // an input that is not Rows
	Format           string   // of File
	Types            []string // "col=type"
}

// LandArgs writes the input and gives the arguments of the verb and the run's id.
func (w *World) LandArgs(n *Node, l Landing) (sut.Args, string, error) {
	w.Table(l.Table)
	if l.Run == "" {
		l.Run = w.NextRun(l.Table)
	}
	if l.Site == "" {
		l.Site = "lab"
	}
	if l.File == "" {
		text, err := JSONLines(l.Rows)
		if err != nil {
			return nil, "", err
		}
		w.mu.Lock()
		n.count++
		name := fmt.Sprintf("rows-%d.jsonl", n.count)
		w.mu.Unlock()
		if l.File, err = n.InputFile(name, text); err != nil {
			return nil, "", err
		}
	}
	args := sut.A("table", l.Table, "rows", l.File, "run", l.Run, "site", l.Site, "format", l.Format)
	if len(l.Types) > 0 {
		args["type"] = l.Types
	}
	return args, l.Run, nil
}

// NextRun is a run id nobody has used for the table yet.
func (w *World) NextRun(table string) string {
	key := "world.runs." + table
	n, _ := w.Values[key].(int)
	w.Values[key] = n + 1
	return fmt.Sprintf("run-%d", n+1)
}

// Land lands rows on a node and remembers them for Expected when the verb succeeds. The error is a *verify.Mismatch when
// it does not.
func (w *World) Land(ctx context.Context, n *Node, l Landing) error {
	args, run, err := w.LandArgs(n, l)
	if err != nil {
		return err
	}
	if err := w.Ok(ctx, n, sut.Land, args); err != nil {
		return err
	}
	if len(l.Rows) > 0 {
		if err := n.landed(l.Table, run); err != nil {
			return err
		}
	}
	w.Remember(l.Table, run, n, l.Rows)
	return nil
}

// landed fails where a landing said that it is done and the table has not one file.
func (n *Node) landed(table, run string) error {
	tree, err := inspect.Snap(inspect.TableDir(n.Root(), table))
	if err != nil {
		return err
	}
	return verify.That(len(tree) > 0, fmt.Sprintf("%s has landed run %s of %q", n.Name, run, table), "files below tables/"+table, "exit 0 and not one file")
}

// Remember adds a committed landing to what Expected knows; a run landed again counts once.
func (w *World) Remember(table, run string, n *Node, rows []Row) {
	t := w.Table(table)
	for _, l := range t.landed {
		if l.run == run && l.node == n.ID {
			return
		}
	}
	t.landed = append(t.landed, landing{run: run, node: n.ID, rows: rows})
}
