package land

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"contextful/ref/colfile"
	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// Compared is what a landing into a vintage table looked at: row groups of the stored parts, how many of them it read, and the
// bytes it read of them.
type Compared struct {
	Groups     int
	GroupsRead int
	BytesRead  int64
}

// comparedKeys is how many vintages are looked for at a time: what a comparison holds in memory, at some 200 bytes each.
const comparedKeys = 512 << 10

// comparison finds the arriving rows that are stored already: store.available-time.vintage-scope.
//
// A vintage is a primary key, a start of validity where the table has one, and an availability instant. An arriving row is skipped where
// the row that reads answer for its vintage has the same content: every column of the producer's. What reads answer is the one that
// order_by and then the order of landing put first, so a correction that was taken back is written again. Where one batch
// brings a vintage with two contents, both are written.
type comparison struct {
	ctx    context.Context
	fsys   vfs.FS
	view   *store.View
	c      *collector
	merged *schema.Schema
	key    []string // tells vintages apart; the line's columns come first
	order  []string // what decides between rows of one vintage, as a read does
	limit  int      // vintages looked for at a time
	skip   rowSet
	report Compared
}

// rowSet holds numbers of the input's rows.
type rowSet struct {
	bits []uint64
	n    int64
}

func (s *rowSet) has(row int64) bool { return s.bits != nil && s.bits[row/64]&(1<<(row%64)) != 0 }

func (s *rowSet) add(row int64, rows int64) {
	if s.bits == nil {
		s.bits = make([]uint64, rows/64+1)
	}
	if !s.has(row) {
		s.bits[row/64] |= 1 << (row % 64)
		s.n++
	}
}

// vintage tells whether rows of the table are compared. A table that is not declared here tells by its schema.
func vintage(d *decl.Table, stored *schema.Schema) bool {
	if d == nil {
		return stored != nil && stored.Metadata[store.MetaAvailableTime] != ""
	}
	return d.AvailableTime != nil && d.Keyed()
}

// compare gives the rows that are not written, under the table's lock. A replacement is compared with nothing: what it does not
// bring is gone. Refusals: those of store.Resolve, StorePartDamaged where a row group that may hold a vintage cannot be read.
func compare(ctx context.Context, t *store.Table, c *collector, merged *schema.Schema, replacement bool) (rowSet, Compared, error) {
	if replacement || c.rows == 0 || !vintage(t.Declared(), merged) {
		return rowSet{}, Compared{}, nil
	}
	view, err := t.Resolve(ctx, store.Bounds{})
	if err != nil {
		return rowSet{}, Compared{}, err
	}
	d := view.Declaration
	if d.AvailableTime == nil || !d.Keyed() || len(view.Files) == 0 {
		return rowSet{}, Compared{}, nil
	}
	x := &comparison{ctx: ctx, fsys: t.Store().FS(), view: view, c: c, merged: merged, key: d.DedupKey(), limit: comparedKeys,
		order: []string{d.OrderBy, schema.IngestedAt, schema.RunID, schema.RowSeq, schema.CommitSeq, schema.SiteID}}
	if err := x.run(); err != nil {
		return rowSet{}, Compared{}, err
	}
	return x.skip, x.report, nil
}

func (x *comparison) run() error {
	for _, k := range x.view.Declaration.PrimaryKey {
		if x.merged.Index(k) < 0 {
			return nil // no row has it: a read does not tell rows apart either
		}
	}
	passes := max(1, (x.c.rows+int64(x.limit)-1)/int64(x.limit))
	for pass := range passes {
		w, err := x.gather(uint64(pass), uint64(passes))
		if err != nil {
			return err
		}
		for _, f := range x.view.Files {
			if err := x.look(f, w); err != nil {
				return notCompared(f, err)
			}
		}
		w.each(func(v *arriving) {
			if v.mixed || v.best == nil || v.stored != v.content {
				return
			}
			x.skip.add(v.row, x.c.rows)
			for _, row := range v.more {
				x.skip.add(row, x.c.rows)
			}
		})
	}
	// A row group is counted once, however many passes looked at it.
	x.report.Groups /= int(passes)
	return nil
}

// notCompared names the part as the store does.
func notCompared(f store.File, err error) error {
	if fault.CodeOf(err) != fault.StorePartDamaged {
		return err
	}
	return fault.New(fault.StorePartDamaged, f.Rel, f.Rel+" may hold vintages of the arriving keys, and cannot be read").
		WithHint("contextful context check lists all damage; sync pull brings home what the bucket still has").Wrap(err)
}

// arriving is one vintage of the batch: its first row, the others, its content, and of the rows stored of it the one that ranks first.
type arriving struct {
	row     int64
	more    []int64
	content rowHash
	mixed   bool // the batch brings two contents of it
	best    []byte
	stored  rowHash
}

// search is what one pass looks for.
type search struct {
	at     map[rowHash]int32
	list   []arriving
	wanted *colfile.Wanted
}

func (s *search) each(visit func(*arriving)) {
	for i := range s.list {
		visit(&s.list[i])
	}
}

// gather collects the vintages of one pass; passes divide them by their hashes.
func (x *comparison) gather(pass, passes uint64) (*search, error) {
	s := &search{at: map[rowHash]int32{}}
	columns := x.wantedColumns()
	var scratch []byte
	row := int64(0)
	err := x.c.spool.each(func(p piece) error {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		key, content, done, err := x.arrivingColumns(p, row)
		defer done()
		if err != nil {
			return err
		}
		wanted := make([]arrow.Array, len(columns))
		for k := range columns {
			for _, c := range key {
				if c.name == columns[k].Name {
					wanted[k] = c.values
				}
			}
		}
		for i := range p.rows {
			var h, body rowHash
			var ok bool
			if h, scratch, ok = hashRow(scratch, key, i, true); !ok {
				continue
			}
			if passes > 1 && hashPass(h, passes) != pass {
				continue
			}
			if body, scratch, ok = hashRow(scratch, content, i, false); !ok {
				body = rowHash{}
			}
			at, seen := s.at[h]
			if seen {
				v := &s.list[at]
				v.mixed = v.mixed || v.content != body
				if v.more = append(v.more, row+int64(i)); v.mixed {
					v.more = nil
				}
				continue
			}
			s.at[h] = int32(len(s.list))
			s.list = append(s.list, arriving{row: row + int64(i), content: body, mixed: !ok})
			for k := range columns {
				addWanted(&columns[k], wanted[k], i)
			}
		}
		row += int64(p.rows)
		return nil
	})
	s.wanted = colfile.NewWanted(len(s.list), columns)
	return s, err
}

// hashPass divides vintages evenly.
func hashPass(h rowHash, passes uint64) uint64 {
	return (uint64(h[0])<<24 | uint64(h[1])<<16 | uint64(h[2])<<8 | uint64(h[3])) % passes
}

// wantedColumns are the empty columns by which row groups are left out: of the line's those that have an order, and the availability
// instant. What row groups are sorted by comes first.
func (x *comparison) wantedColumns() []colfile.WantedColumn {
	var list []colfile.WantedColumn
	d := x.view.Declaration
	for _, name := range x.key {
		k, ok := x.c.at[name]
		if !ok {
			continue
		}
		w := colfile.WantedColumn{Name: name}
		switch x.c.columns[k].typ.Kind {
		case schema.Utf8:
			if ty, _ := x.merged.Lookup(name); ty.Kind != schema.Utf8 {
				continue
			}
			w.Kind = colfile.WantedText
		case schema.Int32, schema.Int64:
			w.Kind = colfile.WantedInteger
		case schema.Timestamp:
			w.Kind = colfile.WantedInstant
		default:
			continue
		}
		w.Unlisted = !slices.Contains(d.PrimaryKey, name)
		list = append(list, w)
	}
	place := func(w colfile.WantedColumn) int {
		switch {
		case d.ValidTime != nil && w.Name == d.ValidTime.From:
			return 0
		case w.Name == d.AvailableTime.Column:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b colfile.WantedColumn) int { return place(a) - place(b) })
	return list
}

// arrivingColumns gives the key and the content of a piece whose first row is row of the input. done frees them.
func (x *comparison) arrivingColumns(p piece, row int64) (key, content []hashColumn, done func(), err error) {
	for i, k := range p.columns {
		col := x.c.columns[k]
		merged, _ := x.merged.Lookup(col.name)
		as := textAsJSON(col.typ, merged)
		var values arrow.Array
		if values, err = col.final(p.values[i], p.types[i], row); err != nil {
			break
		}
		content = append(content, hashColumn{name: col.name, values: dress(values, col.typ, as), json: as.Kind == schema.JSON, opaque: opaque(merged)})
		values.Release()
	}
	sortColumns(content)
	for _, c := range content {
		if slices.Contains(x.key, c.name) {
			key = append(key, c)
		}
	}
	return key, content, func() {
		for _, c := range content {
			c.values.Release()
		}
	}, err
}

// opaque types are not compared: text inside a struct, list or map may have become JSON since, and no part says what its is.
func opaque(t schema.Type) bool {
	if t.Scalar() {
		return false
	}
	if t.Elem != nil && (t.Elem.Kind == schema.JSON || opaque(*t.Elem)) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f schema.Field) bool { return f.Type.Kind == schema.JSON || opaque(f.Type) })
}

func sortColumns(list []hashColumn) {
	slices.SortFunc(list, func(a, b hashColumn) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
}

// look compares one stored part with what is searched.
func (x *comparison) look(f store.File, s *search) (err error) {
	g, err := colfile.OpenGroups(x.fsys, f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	var names []string // content and ranks
	for _, field := range g.Schema().Fields() {
		if !schema.IsInjected(field.Name) || slices.Contains(x.order, field.Name) {
			names = append(names, field.Name)
		}
	}
	x.report.Groups += g.Len()
	for group := range g.Len() {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		if len(s.list) == 0 || !g.MayHold(group, s.wanted) {
			continue
		}
		x.report.GroupsRead++
		found, err := x.matches(g, group, f, s)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		if err := x.settle(g, group, f, s, found, names); err != nil {
			return err
		}
	}
	return nil
}

// match is a stored row of a vintage that the batch brings.
type match struct{ row, at int32 }

// matches reads the key columns of a row group.
func (x *comparison) matches(g *colfile.GroupReader, group int, f store.File, s *search) (found []match, err error) {
	x.report.BytesRead += g.Bytes(group, x.key)
	var scratch []byte
	from := int32(0)
	err = x.scan(g, group, x.key, func(rec arrow.RecordBatch) {
		key := x.storedColumns(rec, f, g.Schema(), func(name string) bool { return slices.Contains(x.key, name) })
		for i := range int(rec.NumRows()) {
			var h rowHash
			var ok bool
			if h, scratch, ok = hashRow(scratch, key, i, true); !ok {
				continue
			}
			if at, is := s.at[h]; is {
				found = append(found, match{from + int32(i), at})
			}
		}
		from += int32(rec.NumRows())
	})
	return found, err
}

// settle ranks the found rows against those found before and keeps the content of the one that reads answer.
func (x *comparison) settle(g *colfile.GroupReader, group int, f store.File, s *search, found []match, names []string) error {
	x.report.BytesRead += g.Bytes(group, names)
	var scratch, order []byte
	from := int32(0)
	return x.scan(g, group, names, func(rec arrow.RecordBatch) {
		content := x.storedColumns(rec, f, g.Schema(), func(name string) bool { return !schema.IsInjected(name) })
		ranks := x.storedColumns(rec, f, g.Schema(), func(name string) bool { return slices.Contains(x.order, name) })
		for ; len(found) > 0 && found[0].row < from+int32(rec.NumRows()); found = found[1:] {
			i, v := int(found[0].row-from), &s.list[found[0].at]
			order = x.rank(order[:0], ranks, i)
			if v.best != nil && string(v.best) >= string(order) {
				continue
			}
			v.best = append(v.best[:0], order...)
			var ok bool
			if v.stored, scratch, ok = hashRow(scratch, content, i, false); !ok {
				v.stored = rowHash{}
			}
		}
		from += int32(rec.NumRows())
	})
}
