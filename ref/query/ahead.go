package query

import (
	"context"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/store"
)

// start opens an engine beside what the caller does meanwhile, which is a third of what a small query takes. The engine is the
// caller's to close; it must be taken.
func start(ctx context.Context, o duck.Options) (take func() (*duck.Session, error)) {
	var session *duck.Session
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		session, err = duck.Open(ctx, o)
	}()
	return func() (*duck.Session, error) {
		<-done
		return session, err
	}
}

// ahead is what was resolved before the engine could say which tables a statement names: those whose names stand in it.
// What is wrong with one of them is said where the statement really names it, when it is resolved again.
type ahead map[string]*source

func resolveAhead(ctx context.Context, st *store.Store, sql string, b Bounds) ahead {
	found := ahead{}
	if len(b.Snapshots) > 0 {
		return found // pins are dealt out among the tables that the statement names
	}
	all, err := st.Tables()
	if err != nil {
		return found
	}
	for _, name := range all {
		if !mentions(sql, name) {
			continue
		}
		if src, err := resolve(ctx, st, name, b); err == nil {
			found[name] = src
		}
	}
	for _, src := range found {
		src.glance(st)
	}
	return found
}

// of gives the sources of the tables a statement names. All of them are resolved before a part of any is looked at
// (store.query.one-resolution), so where one was not foreseen all are resolved now.
func (a ahead) of(ctx context.Context, st *store.Store, tables []string, b Bounds) ([]*source, error) {
	foreseen := !slices.ContainsFunc(tables, func(name string) bool { return a[name] == nil })
	var sources []*source
	for _, name := range tables {
		src := a[name]
		if !foreseen {
			var err error
			if src, err = resolve(ctx, st, name, b); err != nil {
				return nil, err
			}
		}
		sources = append(sources, src)
	}
	return sources, nil
}

// resolvePinned resolves the one table of a scan.
func resolvePinned(ctx context.Context, st *store.Store, table string, b *Bounds) (*source, error) {
	if err := b.pin(ctx, st, []string{table}); err != nil {
		return nil, err
	}
	src, err := resolve(ctx, st, table, *b)
	if err == nil {
		src.glance(st)
	}
	return src, err
}

// glance looks at the footers of a source's parts. One that has something wrong is looked at again when it is read.
func (src *source) glance(st *store.Store) {
	kept := map[string]string{} // a wide schema is held once
	files := src.table.Files
	for i, f := range files {
		seen, err := colfile.Fits(st.FS(), f.Path, f.Rows)
		if err != nil {
			continue
		}
		if _, ok := kept[seen.Schema]; !ok {
			kept[seen.Schema] = seen.Schema
		}
		seen.Schema = kept[seen.Schema]
		files[i].Seen = &seen
	}
}

// mentions says whether a table's name stands in a statement, as a word of its own and in whatever case.
func mentions(sql, name string) bool {
	sql, name = strings.ToLower(sql), strings.ToLower(name)
	for from := 0; ; {
		at := strings.Index(sql[from:], name)
		if at < 0 {
			return false
		}
		begin := from + at
		end := begin + len(name)
		if (begin == 0 || !wordByte(sql[begin-1])) && (end == len(sql) || !wordByte(sql[end])) {
			return true
		}
		from = begin + 1
	}
}
