package query

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// Options of a query or a scan.
type Options struct {
	SQL   string
	Limit int64 // rows; 0 is no limit
	Bounds
	Format Format // default JSON
	Out    io.Writer
	Engine duck.Options
}

// Report is what was printed.
type Report struct {
	Columns   []string
	Rows      int64
	Truncated bool
}

// Run answers one SELECT over the store's tables and prints the result to Options.Out. A table is named as it is declared; a name with '/' or '.' is
// quoted, as in "filings/annual". Column types are duck.SQLType's. Errors: QueryRefused for anything that is not one
// SELECT over tables alone, QueryFailed for the engine's own errors, StoreTableUnknown, and whatever store.Resolve refuses
// about a table the statement names.
func Run(ctx context.Context, st *store.Store, o Options) (Report, error) {
	return again(func() (Report, error) { return run(ctx, st, o) })
}

// again answers once more where files were missing: a reader holds no lock, and retention may remove, under a slow one, what it has
// resolved. The second answer resolves anew; nothing is printed before an answer is complete.
func again(answer func() (Report, error)) (Report, error) {
	report, err := answer()
	if errors.Is(err, fault.StorePartDamaged) || errors.Is(err, fault.StoreChainBroken) {
		return answer()
	}
	return report, err
}

func run(ctx context.Context, st *store.Store, o Options) (Report, error) {
	engine := start(ctx, o.Engine)
	early := resolveAhead(ctx, st, o.SQL, o.Bounds)
	s, err := engine()
	if err != nil {
		return Report{}, err
	}
	defer s.Close()
	parsed, err := parse(ctx, s, o.SQL)
	if err != nil {
		return Report{}, err
	}
	tables, err := match(st, parsed)
	if err != nil {
		return Report{}, err
	}
	if err := o.pin(ctx, st, tables); err != nil {
		return Report{}, err
	}
	sources, err := early.of(ctx, st, tables, o.Bounds)
	if err != nil {
		return Report{}, err
	}
	return answer(ctx, s, st, sources, parsed.views, trimStatement(o.SQL), o)
}

// Scan prints all rows of one table, in a stable order: its primary key and start of validity, or without one the order in which rows were landed.
func Scan(ctx context.Context, st *store.Store, table string, o Options) (Report, error) {
	return again(func() (Report, error) { return scan(ctx, st, table, o) })
}

func scan(ctx context.Context, st *store.Store, table string, o Options) (Report, error) {
	engine := start(ctx, o.Engine)
	src, resolved := resolvePinned(ctx, st, table, &o.Bounds)
	s, err := engine()
	if err != nil {
		return Report{}, err
	}
	defer s.Close()
	if resolved != nil {
		return Report{}, resolved
	}
	order, t := src.view.Declaration.LineKey(), src.table
	columns := t.Columns
	for _, c := range schema.Injected() {
		if !t.Keyed(columns) {
			order = append(order, c.Name)
		}
	}
	order = slices.DeleteFunc(order, func(name string) bool {
		return t.Hidden[name] || !slices.ContainsFunc(columns, func(c schema.Column) bool { return c.Name == name })
	})
	for i, name := range order {
		order[i] = duck.Ident(name) + " NULLS FIRST"
	}
	sql := "SELECT * FROM " + duck.Ident(table)
	if len(order) > 0 {
		sql += " ORDER BY " + strings.Join(order, ", ")
	}
	return answer(ctx, s, st, []*source{src}, false, sql, o)
}

// match finds the store's table for each name of a statement: the exact name, or the one table that differs in case alone.
func match(st *store.Store, parsed *statement) ([]string, error) {
	names := parsed.tables
	if len(names) == 0 {
		return nil, nil
	}
	all, err := st.Tables()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		table := name
		if !slices.Contains(all, name) {
			var close []string
			for _, t := range all {
				if strings.EqualFold(t, name) {
					close = append(close, t)
				}
			}
			switch {
			case len(close) == 1:
				table = close[0]
			case parsed.with[strings.ToLower(name)]:
				continue
			case len(close) > 1:
				return nil, refused("%q could be any of the tables %s; write its name as it is declared, in quotes", name, strings.Join(close, ", "))
			case looksLikeFile(name):
				return nil, refused("%q is no table of the store, and a query reads no files", name)
			default:
				return nil, st.TableUnknown(name)
			}
		}
		for _, other := range found {
			if other != table && strings.EqualFold(other, table) {
				return nil, refused("tables %q and %q differ only in case, and one statement cannot name both", other, table)
			}
		}
		if !slices.Contains(found, table) {
			found = append(found, table)
		}
	}
	return found, nil
}

// answer gives the engine the views, locks it, runs the statement and prints.
func answer(ctx context.Context, s *duck.Session, st *store.Store, sources []*source, asViews bool, sql string, o Options) (Report, error) {
	if err := declared(sources, o.Bounds); err != nil {
		return Report{}, err
	}
	var views []*store.View
	for _, src := range sources {
		views = append(views, src.view)
		for _, f := range src.factors {
			views = append(views, f.source.view)
		}
	}
	var prefix, standIn []string
	var paths, replace []string
	for _, src := range sources {
		rel, err := src.relation(ctx, s, st)
		if err != nil {
			return Report{}, blame(st, views, err)
		}
		paths = append(paths, rel.Paths...)
		name := duck.Ident(src.view.Table.Name())
		// What names and types an answer has the columns tell: files are bound once, when it is computed.
		if asViews {
			if _, err := s.Exec(ctx, "CREATE VIEW "+name+" AS "+rel.Empty); err != nil {
				return Report{}, blame(st, views, s.Explain(err))
			}
			replace = append(replace, "CREATE OR REPLACE VIEW "+name+" AS "+rel.SQL)
			continue
		}
		// A WITH is bound where it is used, a view once more when it is made: with a thousand files that is worth it.
		prefix = append(prefix, name+" AS NOT MATERIALIZED ("+rel.SQL+")")
		standIn = append(standIn, name+" AS NOT MATERIALIZED ("+rel.Empty+")")
	}
	if err := s.LockDown(ctx, paths); err != nil {
		return Report{}, err
	}
	result, err := describe(ctx, s, with(standIn), sql)
	if err != nil {
		return Report{}, blame(st, views, err)
	}
	for _, text := range replace {
		if _, err := s.Exec(ctx, text); err != nil {
			return Report{}, blame(st, views, s.Explain(err))
		}
	}
	err = result.run(ctx, with(prefix), sql, o.Limit)
	if err != nil {
		return Report{}, mismatched(st, views, blame(st, views, err))
	}
	encoder := newEncoder(o.Format, o.Out)
	if err := result.write(ctx, encoder, o.Format != CSV && o.Format != Table); err != nil {
		return Report{}, s.Explain(err)
	}
	if err := encoder.end(result.cut, o.Bounds); err != nil {
		return Report{}, err
	}
	return Report{Columns: result.columns, Rows: result.rows, Truncated: result.cut}, nil
}

func with(tables []string) string {
	if len(tables) == 0 {
		return ""
	}
	return "WITH " + strings.Join(tables, ", ") + "\n"
}

// blame finds the damaged part behind an engine's error about a file, so that the refusal names the part and not the SQL. A file
// that has gone since it was resolved the engine takes for a pattern, which its lock refuses.
func blame(st *store.Store, views []*store.View, err error) error {
	var coded *fault.Error
	if !errors.As(err, &coded) || coded.Code != fault.QueryFailed && coded.Code != fault.QueryRefused {
		return err
	}
	if strings.Contains(coded.Message, "Too many open files") {
		return coded.WithHint("let the process open more files (ulimit -n)") // it says nothing of the part that was next
	}
	for _, view := range views {
		for _, f := range view.Files {
			if !strings.Contains(coded.Message, f.Path) {
				continue
			}
			if damage := colfile.Verify(st.FS(), f.Path, f.Rows); damage != nil {
				return damage
			}
			if coded.Code == fault.QueryRefused {
				return err
			}
			return fault.New(fault.StorePartDamaged, f.Rel, "part "+f.Rel+" cannot be read").Wrap(errors.New(coded.Message))
		}
	}
	return err
}

// mismatched finds, behind an error of the running statement, the part that is not what its table's columns say.
func mismatched(st *store.Store, views []*store.View, err error) error {
	if fault.CodeOf(err) != fault.QueryFailed {
		return err
	}
	for _, view := range views {
		if damage := duck.Mismatch(st.FS(), duck.FromView(view)); damage != nil {
			return damage
		}
	}
	return err
}
