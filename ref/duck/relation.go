package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/schema"
	"contextful/ref/vfs"
)

// File is one part of a table: its absolute path, the rows its manifest promises (negative where it does not say), the timestamp columns with digits below the
// microsecond, and the columns that hold JSON documents (nil where its writer did not say; then the part itself is asked).
type File struct {
	Path string
	Rows int64
	Fine *[]string
	JSON *[]string
	// Foreign is a run's part of another node, whose types the table's schema may not know yet.
	Foreign bool
	// Seen is what colfile.Fits has said of the file and Rows; where it is nil, that is asked.
	Seen *colfile.Glance
}

// Table is what a relation is made of. Root is the absolute store root all files lie in. PrimaryKey nil reads the union of all
// rows. AllNanos is for a writer of parts: every timestamp is TIMESTAMP_NS, whatever the files hold, and a vector the list of its
// items.
type Table struct {
	Root       string
	Columns    []schema.Column
	Files      []File
	PrimaryKey []string
	// Line is what one row is kept of: PrimaryKey and, behind it, what tells the rows of one key apart. Of all these a column
	// that no file has is null everywhere and tells nothing apart.
	Line    []string
	OrderBy string
	// Available, where set, decides between the vintages of a line before OrderBy does: the latest, or the earliest under
	// First. One without the instant comes after all that have it (store.available-time.vintage-rows).
	Available string
	First     bool
	// Bounds cut the rows before a line's survivor is chosen, Holding cuts the survivors: what a later row of its line took back
	// does not hold, whatever it said.
	Bounds, Holding []Bound
	// Captured, where set, judges captured documents before a line's survivor is chosen.
	Captured *Captured
	// Hidden columns take part in everything and are not in the relation (read.horizon.late-columns).
	Hidden map[string]bool
	// Unique says that no two rows share a line already (one snapshot and nothing else): then there is nothing to rank.
	Unique bool
	// RunsUnique says that no run id was landed on two nodes: then instant, run and row decide between any two rows.
	RunsUnique bool
	AllNanos   bool
	// Reconcile looks into the files for columns and types that Columns do not know yet: a pull brings runs before it merges
	// their schema, and a pass must not drop what it does not know.
	Reconcile bool
	// Coarse reads instants to the microsecond, whatever digits the files hold, and copies no file to memory: for a search that
	// is followed by an exact look at what it found.
	Coarse bool
	// Origin names a column to add: a row's file, by its place in Files (BIGINT). "" adds none. Columns must have no such name.
	Origin string
}

// Relation is a table's rows as SQL (one SELECT, no semicolon), the same without rows, its columns, the names DuckDB opens
// for it, the columns whose instants are seen as TIMESTAMP_NS, and those in which a file has digits below the microsecond. Empty tells names and
// types without a file being opened. Rows is how many the footers of all files promise.
type Relation struct {
	SQL     string
	Empty   string
	Columns []schema.Column
	Paths   []string
	Nanos   map[string]bool
	Fine    map[string]bool
	Rows    int64
}

// Relation prepares the files of t and gives its SQL. Files with fine digits are copied to memory until the session closes.
// Errors: StorePartDamaged, StoreWriteFailed, StoreSchemaIncompatible.
func (s *Session) Relation(ctx context.Context, fsys vfs.FS, t Table) (Relation, error) {
	rel := Relation{Nanos: map[string]bool{}, Fine: map[string]bool{}, Columns: t.Columns}
	plain, turned := group{origin: t.Origin}, group{origin: t.Origin}
	alike, examples := map[string]*shape{}, []string(nil) // one file of each schema there is
	judged := map[string]bool{}                           // those of which a file of this node has been looked at
	for i, f := range t.Files {
		fine, err := t.fine(ctx, fsys, f)
		if err != nil {
			return rel, err
		}
		for _, name := range fine {
			rel.Fine[name] = true
		}
		name, seen, err := s.open(fsys, t.Root, f, len(fine) > 0)
		if err != nil {
			return rel, err
		}
		rel.Rows += seen.Rows
		kind := fmt.Sprint(len(fine) > 0, seen.Schema)
		if alike[kind] == nil {
			// What cannot be read as columns is the engine's to refuse.
			in, _ := columnsOf(fsys, f.Path)
			alike[kind] = &shape{in}
			examples = append(examples, name)
		}
		if !f.Foreign && !judged[kind] {
			judged[kind] = true
			if err := scalarsAsStored(t, f, alike[kind].columns); err != nil {
				return rel, err
			}
		}
		if len(fine) > 0 {
			turned.add(f, name, i, seen.Rows, alike[kind])
		} else {
			plain.add(f, name, i, seen.Rows, alike[kind])
		}
	}
	rel.Paths = slices.Concat(plain.names, turned.names)
	if t.Reconcile && len(rel.Paths) > 0 {
		var err error
		if rel.Columns, err = s.reconcile(ctx, fsys, t, examples); err != nil {
			return rel, err
		}
	}
	if len(rel.Columns) > manyColumns {
		if err := s.fit(ctx, len(rel.Columns)); err != nil {
			return rel, err
		}
	}
	for _, c := range rel.Columns {
		rel.Nanos[c.Name] = hasTimestamp(c.Type) && (t.AllNanos || rel.Fine[c.Name] || c.Type.Kind != schema.Timestamp)
	}
	rel.Empty = empty(rel.Columns, func(c schema.Column) string { return SQLType(c.Type, rel.Nanos[c.Name]) })
	turned.turned = true
	plain.writes, turned.writes = t.AllNanos, t.AllNanos
	var parts []string
	for _, g := range []group{plain, turned} {
		split, err := g.raw(fsys, rel.Columns)
		if err != nil {
			return rel, err
		}
		for _, g := range split {
			parts = append(parts, g.sql(rel.Columns, rel.Nanos))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, (&group{origin: t.Origin}).sql(rel.Columns, rel.Nanos))
	}
	rel.SQL = strings.Join(parts, " UNION ALL ")
	if cut := where(t.Bounds, rel.Columns, rel.Nanos); cut != "" {
		rel.SQL = "SELECT * FROM (" + rel.SQL + ")" + cut
	}
	if t.Captured != nil {
		t.Captured.apply(&rel)
	}
	if rank := t.ranking(rel.Columns); rank != "" && !t.Unique && len(rel.Paths) > 0 {
		rel.SQL = "SELECT * FROM (" + rel.SQL + ") QUALIFY " + rank + " = 1"
	}
	if cut := where(t.Holding, rel.Columns, rel.Nanos); cut != "" {
		rel.SQL = "SELECT * FROM (" + rel.SQL + ")" + cut
	}
	if len(t.Hidden) > 0 {
		rel.Columns = slices.DeleteFunc(slices.Clone(rel.Columns), func(c schema.Column) bool { return t.Hidden[c.Name] })
		var names []string
		for _, c := range rel.Columns {
			names = append(names, c.Name)
		}
		rel.SQL = "SELECT " + Idents(names) + " FROM (" + rel.SQL + ")"
		rel.Empty = "SELECT " + Idents(names) + " FROM (" + rel.Empty + ")"
	}
	return rel, nil
}

// manyColumns is from how many columns on the engine's working memory depends on them more than on the rows.
const manyColumns = 1000

func (t *Table) fine(ctx context.Context, fsys vfs.FS, f File) ([]string, error) {
	if t.Coarse {
		return nil, nil
	}
	if f.Fine != nil {
		return *f.Fine, nil
	}
	return colfile.FineColumns(ctx, fsys, f.Path)
}

// open gives the name under which the engine opens a file, and what its footer says.
func (s *Session) open(fsys vfs.FS, root string, f File, turn bool) (name string, seen colfile.Glance, err error) {
	if f.Seen != nil {
		seen = *f.Seen
	} else if seen, err = colfile.Fits(fsys, f.Path, f.Rows); err != nil {
		return "", seen, err
	}
	if !turn {
		name, err = s.Path(root, f.Path)
		return name, seen, err
	}
	name, done, err := colfile.OpenFlipped(f.Path)
	if err != nil {
		return "", seen, err
	}
	s.cleanup = append(s.cleanup, done)
	s.show(name, f.Path)
	return name, seen, nil
}

// sql reads the files of a group.
func (g *group) sql(columns []schema.Column, nanos map[string]bool) string {
	var outer strings.Builder
	for i, c := range columns {
		if i > 0 {
			outer.WriteString(", ")
		}
		name := Ident(c.Name)
		switch {
		case c.Type.Kind == schema.Timestamp && nanos[c.Name] && !g.turned:
			// The same value as a CAST would give; that one asks the calendar about every row.
			outer.WriteString("make_timestamp_ns(epoch_ns(" + name + ")) AS " + name)
		case len(g.bits[c.Name]) > 0:
			outer.WriteString(g.document(c.Name) + " AS " + name)
		default:
			value := name
			if from, ok := g.inner[c.Name]; ok {
				value = rebuilt(name, from, c.Type, 0)
			}
			value = "CAST(" + value + " AS " + SQLType(c.Type, nanos[c.Name]) + ")"
			if g.writes && hasVector(c.Type) {
				// The cast before has looked at the dimension. The engine writes a null ARRAY wrongly, and a list rightly.
				value = "CAST(" + value + " AS " + storedType(c.Type, nanos[c.Name]) + ")"
			}
			outer.WriteString(value + " AS " + name)
		}
	}
	if g.origin != "" {
		outer.WriteString(", " + g.place() + " AS " + Ident(g.origin))
	}
	from := empty(columns, func(c schema.Column) string { return storedType(c.Type, g.turned) })
	if len(g.names) > 0 {
		read := "SELECT *"
		if g.index != "" {
			read += ", file_index AS " + Ident(g.index)
		}
		read += " FROM " + g.read()
		if from += " UNION ALL BY NAME " + read; g.shape().has(columns) {
			from = read
		}
	}
	return "SELECT " + outer.String() + " FROM (" + from + ")"
}

// empty has the columns and no row.
func empty(columns []schema.Column, typ func(schema.Column) string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "CAST(NULL AS " + typ(c) + ") AS " + Ident(c.Name)
	}
	return "SELECT " + strings.Join(list, ", ") + " WHERE false"
}

// ReadParquet names files for a FROM: each by its own name, by column name, without columns made of directory names.
func ReadParquet(files []string) string {
	return "read_parquet(" + texts(files) + ", union_by_name = true, hive_partitioning = false)"
}

// Keyed tells whether rows are told apart by the primary key. A column of it that no row has yet is null in every row: were the
// rows apart until it comes, its first value would change what was read as of before.
func (t *Table) Keyed(columns []schema.Column) bool { return len(t.PrimaryKey) > 0 && len(columns) > 0 }

// ranking is store.declare.dedup-view's window, "" where rows have no key.
func (t *Table) ranking(columns []schema.Column) string {
	if !t.Keyed(columns) {
		return ""
	}
	var order []string
	if hasColumn(columns, t.Available) && t.Available != "" {
		order = append(order, Ident(t.Available)+map[bool]string{false: " DESC NULLS LAST", true: " ASC NULLS LAST"}[t.First])
	}
	for _, name := range t.SurvivorOrder(columns) {
		if term := Ident(name) + " DESC NULLS LAST"; !slices.Contains(order, term) {
			order = append(order, term)
		}
	}
	partition := ""
	if line := t.LineColumns(columns); len(line) > 0 {
		partition = "PARTITION BY " + Idents(line) + " "
	}
	return "ROW_NUMBER() OVER (" + partition + "ORDER BY " + strings.Join(order, ", ") + ")"
}

// SurvivorOrder names the columns by which one of the rows of a line is chosen, each descending with nulls last: order_by and then
// the order of store.declare.dedup-view. _commit_seq and _site_id decide between rows equal in all of that (one run id landed on two
// nodes at one instant), so that every reader keeps the same one. They cost two columns more, so they are asked only where there
// is such a run id.
func (t *Table) SurvivorOrder(columns []schema.Column) []string {
	names := []string{t.OrderBy, schema.IngestedAt, schema.RunID, schema.RowSeq}
	if !t.RunsUnique {
		names = append(names, schema.CommitSeq, schema.SiteID)
	}
	var order []string
	for _, name := range names {
		if hasColumn(columns, name) && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// LineColumns names the columns of which one row is kept: Line without what no file has.
func (t *Table) LineColumns(columns []schema.Column) []string {
	var line []string
	for _, name := range slices.Concat(t.PrimaryKey, t.Line) {
		if hasColumn(columns, name) && !slices.Contains(line, name) {
			line = append(line, name)
		}
	}
	return line
}

func hasColumn(columns []schema.Column, name string) bool {
	return slices.ContainsFunc(columns, func(c schema.Column) bool { return c.Name == name })
}
