package fold

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/store"
)

// piece is what a part of the new snapshot is made of: a stored part, or the rows to fold of one partition.
type piece struct {
	*stored           // nil for rows to fold
	lines   *rowRange // where those lie in stagedTable, nil for all of them
	rows    int64     // unknownRows where it is not known before they are written
}

const unknownRows = -1

// output is one part of the new snapshot.
type output struct {
	pieces []piece
	values []*string // of its partition
	rows   int64
}

// stays tells whether it is a part that lies there already.
func (o output) stays() bool {
	return len(o.pieces) == 1 && o.pieces[0].stored != nil && o.pieces[0].lost == 0
}

// replaces counts the parts of the current snapshot that it is made of.
func (o output) replaces() (n int64) {
	for _, p := range o.pieces {
		if p.stored != nil {
			n++
		}
	}
	return n
}

// count says "1 row", "2 rows".
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plan decides which parts the new snapshot has, and what is written for it. Nothing is staged yet.
func (p *pass) plan(ctx context.Context) error {
	read, known := promisedRows(p.fresh)
	if p.view.Declaration.Keyed() || !known {
		// Where every row is written once the parts tell in the end; a key hides how many rows went in.
		var err error
		if read, err = p.countFresh(); err != nil {
			return err
		}
	}
	if err := p.headWhole(); err != nil {
		return err
	}
	p.options.say("folding %s of %s", count(read, "row"), count(int64(len(p.fresh)), "file"))
	if p.keyed && len(p.stored) > 0 && len(p.fresh) > 0 {
		if err := p.contest(ctx); err != nil {
			return p.explain(err)
		}
	}
	delta, err := p.delta(ctx, read)
	if err != nil {
		return p.explain(err)
	}
	type partition struct {
		values  []*string
		pieces  []piece
		written bool
	}
	partitions := map[string]*partition{}
	at := func(values []*string) *partition {
		dir := key.PartitionDir(values)
		if partitions[dir] == nil {
			partitions[dir] = &partition{values: values}
		}
		return partitions[dir]
	}
	for _, s := range p.stored {
		in := at(s.file.Part.Partition)
		in.written = in.written || s.lost > 0
		if s.lost == 0 || s.lost < s.rows {
			in.pieces = append(in.pieces, piece{stored: s, rows: s.rows - s.lost})
		}
	}
	for _, d := range delta {
		var values []*string
		if d.lines != nil {
			values = d.lines.values
		}
		in := at(values)
		in.written, in.pieces = true, append(in.pieces, d)
	}
	for _, dir := range slices.Sorted(maps.Keys(partitions)) {
		in := partitions[dir]
		var rows []int64
		for _, piece := range in.pieces {
			rows = append(rows, piece.rows)
		}
		if !in.written {
			for _, one := range in.pieces {
				p.outputs = append(p.outputs, output{[]piece{one}, in.values, one.rows})
			}
			continue
		}
		for _, group := range tiers(rows) {
			o := output{values: in.values}
			for _, i := range group {
				o.pieces, o.rows = append(o.pieces, in.pieces[i]), o.rows+in.pieces[i].rows
			}
			p.outputs = append(p.outputs, o)
		}
	}
	return nil
}

// delta gives the rows to fold, one piece for each partition they touch.
func (p *pass) delta(ctx context.Context, read int64) ([]piece, error) {
	var pieces []piece
	rows := read
	switch {
	case len(p.fresh) == 0:
		return nil, nil
	case len(p.view.Declaration.PartitionBy) > 0:
		found, err := p.stage(ctx)
		if err != nil {
			return nil, err
		}
		rows = 0
		for _, r := range found {
			pieces = append(pieces, piece{lines: &r, rows: r.to - r.from + 1})
			rows += r.to - r.from + 1
		}
	case p.held:
		var err error
		if rows, err = p.session.Int(ctx, "SELECT count(*) FROM "+deltaTable); err != nil {
			return nil, err
		}
		pieces = []piece{{rows: rows}}
	case p.keyed:
		return []piece{{rows: unknownRows}}, nil
	default:
		pieces = []piece{{rows: rows}}
	}
	if !p.keyed && rows != read {
		if _, err := p.countFresh(); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.StoreWriteFailed, p.options.Table, fmt.Sprintf("the pass found %d rows of the %d it was promised; nothing was published", rows, read))
	}
	if rows == 0 {
		return nil, nil
	}
	return pieces, nil
}

// rewritten are the stored parts whose rows are written once more.
func (p *pass) rewritten() []store.File {
	var files []store.File
	for _, o := range p.outputs {
		for _, piece := range o.pieces {
			if piece.stored != nil && !o.stays() {
				files = append(files, piece.file)
			}
		}
	}
	return files
}

// write stages the parts that are written, and gives all parts of the snapshot.
func (p *pass) write(ctx context.Context) ([]manifest.Part, error) {
	var parts []manifest.Part
	n := 0
	for _, o := range p.outputs {
		if o.stays() {
			part, err := p.named(ctx, o.pieces[0].stored)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		part, err := p.writeOutput(ctx, o, n)
		if err != nil {
			return nil, p.explain(err)
		}
		if part != nil {
			parts = append(parts, *part)
			n++
			if replaced := o.replaces(); replaced > 0 {
				p.options.say("%s takes the place of %s", part.Name, count(replaced, "part"))
			}
		}
	}
	if kept := len(parts) - n; kept > 0 {
		p.options.say("parts that stay where they are: %d", kept)
	}
	slices.SortFunc(parts, func(a, b manifest.Part) int {
		return strings.Compare(a.Name+"/"+a.SnapshotID, b.Name+"/"+b.SnapshotID)
	})
	return parts, nil
}

// named is how the new manifest names a part that stays. What its writer did not say of its instants is said now: every read would
// look again.
func (p *pass) named(ctx context.Context, s *stored) (manifest.Part, error) {
	part := s.part()
	if part.FineColumns == nil {
		fine, err := colfile.FineColumns(ctx, p.fs(), s.file.Path)
		if err != nil {
			return part, err
		}
		part.FineColumns = &fine
	}
	return part, nil
}

// writeOutput writes one part. nil where there was no row.
func (p *pass) writeOutput(ctx context.Context, o output, n int) (*manifest.Part, error) {
	query, fine, files, err := p.query(ctx, o)
	if err != nil {
		return nil, err
	}
	dir := key.PartitionDir(o.values)
	if err := p.fs().MkdirAll(path.Join(p.dir, dir)); err != nil {
		return nil, fault.New(fault.StoreWriteFailed, dir, "no partition directory could be made").Wrap(err)
	}
	part, err := p.copyTo(ctx, query, path.Join(dir, key.PartName(n)), o.values, fine, p.partOptions(files))
	if err != nil {
		return nil, err
	}
	rows := int64(0)
	if part != nil {
		rows = part.Rows
	}
	if o.rows >= 0 && rows != o.rows {
		if _, err := p.countFresh(); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.StoreWriteFailed, p.options.Table, fmt.Sprintf("the pass wrote %d rows of %d into a part; nothing was published", rows, o.rows))
	}
	return part, nil
}

// query is the SQL of a part's rows in their order, the columns in which a source has digits below the microsecond, and the files it
// reads.
func (p *pass) query(ctx context.Context, o output) (string, map[string]bool, []store.File, error) {
	var sources []string
	var whole []*stored
	var files []store.File
	fine := map[string]bool{}
	open := func(list []*stored) (string, error) {
		t := p.storedTable(list)
		t.AllNanos, t.Origin = true, ""
		rel, err := p.session.Relation(ctx, p.fs(), t)
		for name := range rel.Fine {
			fine[name] = true
		}
		return rel.SQL, err
	}
	for _, piece := range o.pieces {
		switch {
		case piece.stored == nil:
			files = append(files, p.fresh...)
			for name := range p.rel.Fine {
				fine[name] = true
			}
			switch {
			case piece.lines != nil:
				rows := p.heldRows(stagedTable) + fmt.Sprintf(" WHERE rowid >= %d AND rowid <= %d", piece.lines.from, piece.lines.to)
				if len(o.pieces) == 1 {
					return rows, fine, files, nil // sorted as it lies there
				}
				sources = append(sources, rows)
			case p.held:
				sources = append(sources, p.heldRows(deltaTable))
			default:
				sources = append(sources, p.rel.SQL)
			}
		case piece.lost == 0:
			whole = append(whole, piece.stored)
			files = append(files, piece.file)
		default:
			files = append(files, piece.file)
			sql, err := open([]*stored{piece.stored})
			if err != nil {
				return "", nil, nil, err
			}
			sources = append(sources, p.left(slices.Index(p.near, piece.stored), sql))
		}
	}
	if len(whole) > 0 {
		sql, err := open(whole)
		if err != nil {
			return "", nil, nil, err
		}
		sources = append(sources, sql)
	}
	return "SELECT * FROM (" + strings.Join(sources, " UNION ALL ") + ") ORDER BY " + duck.Idents(p.order()), fine, files, nil
}
