package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/decl"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// factors is one declared adjustment with the table its factors are read from, under the statement's own bounds.
type factors struct {
	decl.Adjustment
	source *source
	none   bool // the table has no factor yet
}

// factorsOf resolves an adjustment's table. Of the bounds valid_as_of is left out: a factor counts by when it was known and by
// the row it adjusts. Clause: store.available-time.adjustments.
func factorsOf(ctx context.Context, st *store.Store, of *source, a decl.Adjustment, b Bounds) (factors, error) {
	bad := func(code fault.Code, format string, args ...any) (factors, error) {
		return factors{}, fault.New(code, a.Table, fmt.Sprintf("table %q is adjusted by %q, ", of.view.Declaration.Name, a.Table)+fmt.Sprintf(format, args...)).
			WithHint("see [[pipeline.tables.available_time.adjustments]] in " + decl.FileName)
	}
	b.ValidAsOf = nil
	src, err := plain(ctx, st, a.Table, b)
	if fault.CodeOf(err) == fault.StoreTableUnknown {
		return bad(fault.StoreTableUnknown, "which is neither declared nor present in this store")
	}
	if err != nil {
		return factors{}, err
	}
	if src.view.Declaration.AvailableTime == nil {
		return bad(fault.StoreDeclarationInvalid, "which declares no available_time: nobody could say which factors were known at a bound")
	}
	f := factors{Adjustment: a, source: src}
	have := &schema.Schema{Columns: src.table.Columns}
	for _, name := range slices.Concat(a.On, []string{a.Factor, a.Effective}) {
		typ, ok := have.Lookup(name)
		switch {
		case !ok && src.view.Schema != nil:
			return bad(fault.StoreDeclarationInvalid, "which has no column %q", name)
		case !ok || src.table.Hidden[name]:
			f.none = true
		case name == a.Effective && typ.Kind != schema.Timestamp, name == a.Factor && !numeric(typ):
			return bad(fault.StoreSchemaIncompatible, "whose column %q is stored as %s", name, typ)
		}
	}
	own := &schema.Schema{Columns: of.table.Columns}
	for _, name := range a.Columns {
		if typ, ok := own.Lookup(name); ok && !numeric(typ) {
			return bad(fault.StoreSchemaIncompatible, "and its column %q is stored as %s, which nothing multiplies", name, typ)
		}
	}
	return f, nil
}

func numeric(t schema.Type) bool {
	return t.Kind == schema.Float64 || t.Kind == schema.Int64 || t.Kind == schema.Int32
}

// relation is the source's rows as SQL, its listed columns multiplied. The paths of the factors' tables are among its own.
func (src *source) relation(ctx context.Context, s *duck.Session, st *store.Store) (duck.Relation, error) {
	rel, err := s.Relation(ctx, st.FS(), src.table)
	if err != nil || len(src.factors) == 0 {
		return rel, err
	}
	const row, factor = `"contextful row"`, `"contextful factor"`
	var products []string // one column for each adjustment, behind the row's own
	terms := map[string][]string{}
	for i, f := range src.factors {
		for _, name := range append([]string{src.view.Declaration.ValidTime.From}, f.On...) {
			f.none = f.none || !slices.ContainsFunc(rel.Columns, func(c schema.Column) bool { return c.Name == name })
		}
		product := "CAST(NULL AS DOUBLE)"
		if !f.none {
			from, err := s.Relation(ctx, st.FS(), f.source.table)
			if err != nil {
				return rel, err
			}
			rel.Paths = append(rel.Paths, from.Paths...)
			// Instants of either type compare by their nanoseconds. In one order, or roundings would change with the files.
			match := []string{fmt.Sprintf("epoch_ns(%s.%s) > epoch_ns(%s.%s)", factor, duck.Ident(f.Effective), row, duck.Ident(src.view.Declaration.ValidTime.From))}
			for _, name := range f.On {
				match = append(match, fmt.Sprintf("%s.%s = %s.%s", factor, duck.Ident(name), row, duck.Ident(name)))
			}
			product = fmt.Sprintf("(SELECT product(CAST(%[1]s.%[2]s AS DOUBLE) ORDER BY %[1]s.%[3]s, %[1]s.%[2]s) FROM (%[4]s) AS %[1]s WHERE %[5]s)",
				factor, duck.Ident(f.Factor), duck.Ident(f.Effective), from.SQL, strings.Join(match, " AND "))
		}
		products = append(products, "coalesce("+product+", 1.0::DOUBLE)")
		for _, name := range f.Columns {
			terms[name] = append(terms[name], fmt.Sprintf("f%d", i))
		}
	}
	// Columns go by place in between, so that no producer's name is in the way.
	var inner, outer, list, empty []string
	columns := slices.Clone(rel.Columns)
	for i, c := range columns {
		name, place := duck.Ident(c.Name), fmt.Sprintf("c%d", i)
		inner, outer = append(inner, row+"."+name), append(outer, place)
		if len(terms[c.Name]) == 0 {
			list, empty = append(list, place+" AS "+name), append(empty, name)
			continue
		}
		columns[i].Type = schema.Of(schema.Float64)
		list = append(list, strings.Join(append([]string{"CAST(" + place + " AS DOUBLE)"}, terms[c.Name]...), " * ")+" AS "+name)
		empty = append(empty, "CAST("+name+" AS DOUBLE) AS "+name)
	}
	for i, product := range products {
		inner, outer = append(inner, product), append(outer, fmt.Sprintf("f%d", i))
	}
	rel.SQL = fmt.Sprintf("SELECT %s FROM (SELECT %s FROM (%s) AS %s) AS adjusted(%s)", strings.Join(list, ", "), strings.Join(inner, ", "), rel.SQL, row, strings.Join(outer, ", "))
	rel.Empty = "SELECT " + strings.Join(empty, ", ") + " FROM (" + rel.Empty + ")"
	rel.Columns = columns
	return rel, nil
}
