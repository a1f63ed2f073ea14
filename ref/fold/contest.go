package fold

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextful/ref/duck"
	"contextful/ref/schema"
	"contextful/ref/store"
)

// The engine's tables of a pass. Columns of the table are c0, c1, … in them, so that no producer's name can hide rowid.
const (
	deltaTable   = `"contextful delta"`   // the rows folded for the first time
	hitsTable    = `"contextful hits"`    // key and order of the stored rows that have a key in common with them
	contestTable = `"contextful contest"` // both, with the place of each among the rows of its key
	stagedTable  = `"contextful staged"`  // the delta as it is written: without the rows that lost, sorted
)

// contest decides between the rows to fold and the stored ones of the same keys, by the order that readers go by. The rows to fold
// that lose leave deltaTable; of each stored part it notes how many rows have lost. Of stored parts only the columns of key and order
// are read, and of those that share no key only the former.
func (p *pass) contest(ctx context.Context) error {
	if err := p.holdAs(ctx, deltaTable, ""); err != nil {
		return err
	}
	p.held = true
	near, err := p.nearby(ctx)
	if err != nil || len(near) == 0 {
		return err
	}
	p.near = near
	keys := p.table.LineColumns(p.rel.Columns)
	names := keys
	for _, name := range p.table.SurvivorOrder(p.rel.Columns) {
		if !slices.Contains(names, name) {
			names = append(slices.Clone(names), name)
		}
	}
	exact := p.storedTable(near)
	exact.AllNanos = true
	rel, err := p.session.Relation(ctx, p.fs(), exact)
	if err != nil {
		return err
	}
	var named, own, same, order, partition []string
	for _, name := range names {
		named = append(named, duck.Ident(name)+" AS "+p.columns[name])
		own = append(own, p.columns[name])
	}
	for _, name := range keys {
		same = append(same, "s."+p.columns[name]+" IS NOT DISTINCT FROM d."+p.columns[name])
		partition = append(partition, p.columns[name])
	}
	for _, name := range p.table.SurvivorOrder(p.rel.Columns) {
		order = append(order, p.columns[name]+" DESC NULLS LAST")
	}
	on := strings.Join(append(same, "TRUE"), " AND ") // a key that no row has is one key
	by := ""
	if len(partition) > 0 {
		by = "PARTITION BY " + strings.Join(partition, ", ") + " "
	}
	list := strings.Join(own, ", ")
	for _, text := range []string{
		"CREATE TEMP TABLE " + hitsTable + " AS SELECT s.* FROM (SELECT " + strings.Join(named, ", ") + ", " + duck.Ident(exact.Origin) + " AS part FROM (" + rel.SQL +
			")) s SEMI JOIN " + deltaTable + " d ON (" + on + ")",
		"CREATE TEMP TABLE " + contestTable + " AS SELECT *, ROW_NUMBER() OVER (" + by + "ORDER BY " + strings.Join(order, ", ") +
			") AS place FROM (SELECT " + list + ", -1 AS part, d.rowid AS line FROM " + deltaTable + " d SEMI JOIN " + hitsTable + " s ON (" + on + ") UNION ALL SELECT " + list +
			", part, NULL FROM " + hitsTable + ")",
		"DELETE FROM " + deltaTable + " WHERE rowid IN (SELECT line FROM " + contestTable + " WHERE part < 0 AND place > 1)",
	} {
		if _, err := p.session.Exec(ctx, text); err != nil {
			return err
		}
	}
	rows, err := p.session.Conn().QueryContext(ctx, "SELECT part, count(*) FROM "+contestTable+" WHERE part >= 0 AND place > 1 GROUP BY part")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var at, lost int64
		if err := rows.Scan(&at, &lost); err != nil {
			return err
		}
		near[at].lost = lost
	}
	return rows.Err()
}

// nearby finds the stored parts in which a key of the rows to fold may occur. Instants are compared to the microsecond, which finds too
// many at worst.
func (p *pass) nearby(ctx context.Context) ([]*stored, error) {
	var same, named []string
	for _, name := range p.table.LineColumns(p.rel.Columns) {
		typ, _ := (&schema.Schema{Columns: p.rel.Columns}).Lookup(name)
		column := p.columns[name]
		switch {
		case typ.Kind == schema.Timestamp:
			same = append(same, "s."+column+" IS NOT DISTINCT FROM epoch_us(d."+column+")")
			named = append(named, "epoch_us("+duck.Ident(name)+") AS "+column)
		case typ.Scalar():
			same = append(same, "s."+column+" IS NOT DISTINCT FROM d."+column)
			named = append(named, duck.Ident(name)+" AS "+column)
		}
	}
	if len(same) == 0 {
		return p.stored, nil
	}
	coarse := p.storedTable(p.stored)
	coarse.Coarse = true
	rel, err := p.session.Relation(ctx, p.fs(), coarse)
	if err != nil {
		return nil, err
	}
	within, err := p.within(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := p.session.Conn().QueryContext(ctx, "SELECT DISTINCT s.part FROM (SELECT "+strings.Join(named, ", ")+", "+duck.Ident(coarse.Origin)+" AS part FROM ("+rel.SQL+")"+within+
		") s SEMI JOIN "+deltaTable+" d ON ("+strings.Join(same, " AND ")+") ORDER BY 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []*stored
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return nil, err
		}
		near = append(near, p.stored[at])
	}
	return near, rows.Err()
}

// within bounds the keys by those of the rows to fold, so that the engine leaves out the row groups whose bounds lie elsewhere.
func (p *pass) within(ctx context.Context) (string, error) {
	var terms []string
	for _, name := range p.table.LineColumns(p.rel.Columns) {
		typ, _ := (&schema.Schema{Columns: p.rel.Columns}).Lookup(name)
		if typ.Kind != schema.Int32 && typ.Kind != schema.Int64 && typ.Kind != schema.Utf8 {
			continue
		}
		var least, most *string
		var nulls bool
		column := p.columns[name]
		err := p.session.Conn().QueryRowContext(ctx, "SELECT CAST(min("+column+") AS VARCHAR), CAST(max("+column+") AS VARCHAR), count(*) > count("+column+") FROM "+deltaTable).Scan(&least, &most, &nulls)
		if err != nil {
			return "", err
		}
		if nulls || least == nil {
			continue
		}
		low, high := *least, *most
		if typ.Kind == schema.Utf8 {
			low, high = duck.Text(low), duck.Text(high)
		}
		terms = append(terms, duck.Ident(name)+" BETWEEN "+low+" AND "+high)
	}
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), nil
}

// storedTable is what a relation of stored parts is made of: every row, with its part's place in the list.
func (p *pass) storedTable(list []*stored) duck.Table {
	t := p.table
	files := make([]store.File, len(list))
	for i, s := range list {
		files[i] = s.file
	}
	t.Files, t.Columns = p.duckFiles(files), p.rel.Columns
	t.PrimaryKey, t.Line, t.Reconcile, t.AllNanos, t.Coarse = nil, nil, false, false, false
	t.Origin = "_part"
	for p.has(t.Origin) {
		t.Origin += "_"
	}
	return t
}

// duckFiles are files of the view, with what is known of their footers.
func (p *pass) duckFiles(files []store.File) []duck.File {
	var list []duck.File
	for _, f := range files {
		of := duck.FileOf(p.view, f)
		of.Seen = p.glances[f.Path]
		list = append(list, of)
	}
	return list
}

// left is the SQL of the rows of p.near[at] without those that lost; sql has them all.
func (p *pass) left(at int, sql string) string {
	var same []string
	for _, name := range p.table.LineColumns(p.rel.Columns) {
		same = append(same, "s."+duck.Ident(name)+" IS NOT DISTINCT FROM l."+p.columns[name])
	}
	return fmt.Sprintf("SELECT s.* FROM (%s) s ANTI JOIN (SELECT * FROM %s WHERE part = %d AND place > 1) l ON (%s)", sql, contestTable, at, strings.Join(append(same, "TRUE"), " AND "))
}
