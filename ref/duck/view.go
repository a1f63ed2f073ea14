package duck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// FromView is what a reader's relation needs of a resolved view: one row of each line. Columns are the schema's, or before
// anything was landed the declared ones.
func FromView(v *store.View) Table {
	d := v.Declaration
	t := Table{
		Root: v.Table.Store().Root(), PrimaryKey: d.PrimaryKey, Line: d.LineKey(), OrderBy: d.OrderBy,
		// A pass leaves one row per line, unless it keeps vintages: then its snapshot alone needs no ranking.
		Unique: v.Head != nil && len(v.Runs) == 0 && d.AvailableTime == nil && v.Head.AvailableTime == nil &&
			slices.Equal(v.Head.PrimaryKey, d.PrimaryKey) && sameFrom(v.Head.ValidTime, d.ValidTime),
	}
	if d.AvailableTime != nil && d.Keyed() {
		t.Available = d.AvailableTime.Column
	}
	t.RunsUnique = len(t.PrimaryKey) > 0 && v.RunsUnique()
	if v.Schema != nil && len(v.Schema.Columns) > 0 {
		t.Columns = v.Schema.Columns
	} else {
		t.Reconcile = true
		for name, typ := range v.Declaration.Columns {
			t.Columns = append(t.Columns, schema.Column{Name: name, Type: typ, Nullable: true})
		}
		slices.SortFunc(t.Columns, func(a, b schema.Column) int { return strings.Compare(a.Name, b.Name) })
		t.Columns = append(t.Columns, schema.Injected()...)
	}
	// What a cast makes of nested values of another type is not said by an error: a struct reads as a map, and another field as null.
	t.Reconcile = t.Reconcile || slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Type.Kind != schema.None && !c.Type.Scalar() })
	for _, f := range v.Files {
		t.Files = append(t.Files, FileOf(v, f))
	}
	// This node's landings write the schema first; what another node landed may be here before its schema is.
	for _, r := range v.Runs {
		t.Reconcile = t.Reconcile || r.NodeID != v.Table.Store().Node()
	}
	return t
}

// FileOf is one file of a view.
func FileOf(v *store.View, f store.File) File {
	return File{Path: f.Path, Rows: f.Rows, Fine: f.Fine, JSON: f.Part.JSONColumns, Foreign: f.Run != nil && f.Run.NodeID != v.Table.Store().Node()}
}

// ForFold is FromView for a pass: one row of each vintage of a line, timestamps exact, and every column there is.
func ForFold(v *store.View) Table {
	t := FromView(v)
	t.Line, t.Available = v.Declaration.DedupKey(), ""
	t.AllNanos, t.Reconcile = true, true
	return t
}

func sameFrom(recorded *manifest.ValidTime, declared *decl.ValidTime) bool {
	if recorded == nil || declared == nil {
		return recorded == nil && declared == nil
	}
	return recorded.From == declared.From
}

// reconcile compares what the engine finds in the files with the columns known, and where they differ merges every file's schema in
// (store.reconcile.lattice; keys are not judged here). paths name one file of each schema that the files of t have: the engine would
// open every other only to find the same.
func (s *Session) reconcile(ctx context.Context, fsys vfs.FS, t Table, paths []string) ([]schema.Column, error) {
	stored, err := s.described(ctx, empty(t.Columns, func(c schema.Column) string { return storedType(c.Type, true) }))
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for i, c := range t.Columns {
		known[schema.FoldName(c.Name)] = i
	}
	found, err := s.described(ctx, "SELECT * FROM "+ReadParquet(paths))
	agree := err == nil
	for _, c := range found {
		i, ok := known[schema.FoldName(c.name)]
		agree = agree && ok && reads(t.Columns[i].Type, stored[i].typ, c.typ)
	}
	if agree {
		return t.Columns, nil
	}
	merged := &schema.Schema{Columns: t.Columns}
	for _, f := range t.Files {
		in, err := columnsOf(fsys, f.Path)
		if err != nil {
			return nil, err
		}
		if !f.Foreign {
			if err := mismatch(t, f, in); err != nil {
				return nil, err
			}
		}
		if merged, err = schema.Merge(merged, &schema.Schema{Columns: in.Columns}, nil); err != nil {
			return nil, inFile(t.Root, f, err)
		}
	}
	// The files agree among themselves, and yet the engine does not read them.
	return merged.Columns, err
}

type described struct{ name, typ string }

// described asks for the names and types of a query's columns.
func (s *Session) described(ctx context.Context, query string) ([]described, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+query+")")
	if err != nil {
		return nil, s.Explain(err)
	}
	defer rows.Close()
	var columns []described
	for rows.Next() {
		var c described
		if err := rows.Scan(&c.name, &c.typ); err != nil {
			return nil, s.Explain(err)
		}
		columns = append(columns, c)
	}
	return columns, s.Explain(rows.Err())
}

// Mismatch looks, after the engine has failed over the files of t, for one that is not what the table's columns say: a file whose
// schema cannot be read, or that holds a column in a type no landing could have given it. nil where there is none.
// StorePartDamaged, naming file, column and both types, or what the file's schema itself refuses.
func Mismatch(fsys vfs.FS, t Table) error {
	for _, f := range t.Files {
		in, err := columnsOf(fsys, f.Path)
		if err != nil {
			return inFile(t.Root, f, err)
		}
		if err := mismatch(t, f, in); err != nil {
			return err
		}
	}
	return nil
}

// mismatch compares the columns of one file with the table's.
func mismatch(t Table, f File, in *schema.Schema) error {
	known := &schema.Schema{Columns: t.Columns}
	for _, c := range in.Columns {
		typ, ok := known.Lookup(c.Name)
		if !ok {
			continue
		}
		if _, err := schema.MergeType(typ, c.Type); err != nil {
			return otherType(t, f, c, typ)
		}
	}
	return nil
}

// scalarsAsStored refuses a file that holds a column in another scalar type than the table's columns account for: the engine's cast
// would make a value of almost everything (store.reconcile.part-columns). What another node landed may be ahead of the schema here
// and is reconciled instead; types that this build does not know are the engine's to refuse. in is what the file holds, nil where it
// cannot be read as columns.
func scalarsAsStored(t Table, f File, in *schema.Schema) error {
	if in == nil {
		return nil
	}
	known := &schema.Schema{Columns: t.Columns}
	for _, c := range in.Columns {
		typ, ok := known.Lookup(c.Name)
		if !ok || !typ.Scalar() || !c.Type.Scalar() {
			continue
		}
		if m, err := schema.MergeType(typ, c.Type); err != nil || !m.Equal(typ) {
			return otherType(t, f, c, typ)
		}
	}
	return nil
}

func otherType(t Table, f File, c schema.Column, typ schema.Type) error {
	name := strings.TrimPrefix(f.Path, t.Root+"/")
	return fault.New(fault.StorePartDamaged, name, fmt.Sprintf("part %s holds the column %q as %s, and the table as %s", name, c.Name, c.Type, typ))
}

// inFile names the file in a refusal about its columns.
func inFile(root string, f File, err error) error {
	var refused *fault.Error
	if errors.As(err, &refused) && !strings.Contains(refused.Message, f.Path) {
		refused.Message += " (in " + strings.TrimPrefix(f.Path, root+"/") + ")"
	}
	return err
}

func columnsOf(fsys vfs.FS, path string) (*schema.Schema, error) {
	info, err := colfile.ReadInfo(fsys, path)
	if err != nil {
		return nil, err
	}
	return schema.FromArrow(info.Schema)
}

// reads says whether a column of type t, which the engine calls stored, holds every value of the engine's type found.
func reads(t schema.Type, stored, found string) bool {
	switch t.Kind {
	case schema.Float64:
		return found == "DOUBLE" || found == "BIGINT"
	case schema.None:
		return false
	}
	return strings.ReplaceAll(found, "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS") == stored
}
