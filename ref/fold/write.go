package fold

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// partOptions are those of the parts of this pass.
func (p *pass) partOptions() duck.PartOptions {
	var size, rows int64
	for _, f := range p.view.Files {
		// A file that is gone is refused where it is read.
		if info, err := p.fs().Stat(f.Path); err == nil && f.Rows > 0 {
			size, rows = size+info.Size(), rows+f.Rows
		}
	}
	return duck.PartOptions{RowGroupRows: duck.RowsOfGroup(size, rows)}
}

// pass is one pass's work with the engine.
type pass struct {
	session *duck.Session
	view    *store.View
	options Options
	rel     duck.Relation
	keyed   bool   // the primary key tells all rows apart
	dir     string // of the staging directory, absolute
}

func (p *pass) fs() vfs.FS { return p.view.Table.Store().FS() }

// prepare opens the inputs and refuses what must be refused before anything is staged.
func (p *pass) prepare(ctx context.Context) error {
	t := duck.ForFold(p.view)
	var err error
	if p.rel, err = p.session.Relation(ctx, p.fs(), t); err != nil {
		return p.explain(err)
	}
	p.keyed = t.Keyed(p.rel.Columns)
	if name, typ, ok := unkept(p.rel.Columns); ok {
		return fault.New(fault.StoreUnsupported, p.options.Table, fmt.Sprintf("column %q of table %q has type %s, which this build does not fold yet", name, p.options.Table, typ))
	}
	return p.keysUnwidened()
}

// keysUnwidened refuses where a key column has become float64 and a part still holds it as an integer: keys past the exact
// range would merge.
func (p *pass) keysUnwidened() error {
	for _, name := range p.view.Declaration.PrimaryKey {
		i := slices.IndexFunc(p.rel.Columns, func(c schema.Column) bool { return c.Name == name })
		if i < 0 || p.rel.Columns[i].Type.Kind != schema.Float64 {
			continue
		}
		for _, f := range p.view.Files {
			info, err := colfile.ReadInfo(p.fs(), f.Path)
			if err != nil {
				return err
			}
			in, err := schema.FromArrow(info.Schema)
			if err != nil {
				return err
			}
			if typ, ok := in.Lookup(name); ok && typ.Kind == schema.Int64 {
				return schema.KeyWidened(name, typ, schema.Of(schema.Float64))
			}
		}
	}
	return nil
}

// write stages all parts.
func (p *pass) write(ctx context.Context) ([]manifest.Part, error) {
	if len(p.view.Files) == 0 {
		return nil, nil // an empty inventory, or runs that are all superseded by one
	}
	// Where every row is written once the parts tell in the end; a key hides how many rows went in.
	read, known := p.view.Rows()
	if p.view.Declaration.Keyed() || !known {
		var err error
		if read, err = p.countInputs(ctx); err != nil {
			return nil, err
		}
	}
	p.options.say("folding %d rows of %d files", read, len(p.view.Files))
	var parts []manifest.Part
	var err error
	if len(p.view.Declaration.PartitionBy) == 0 {
		parts, err = p.writeWhole(ctx)
	} else {
		parts, err = p.writePartitions(ctx)
	}
	if err != nil {
		return nil, p.explain(err)
	}
	written := int64(0)
	for _, part := range parts {
		written += part.Rows
	}
	if !p.view.Declaration.Keyed() && written != read {
		if _, err := p.countInputs(ctx); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.StoreWriteFailed, p.options.Table, fmt.Sprintf("the pass wrote %d rows of the %d it read; nothing was published", written, read))
	}
	return parts, nil
}

// countInputs asks every footer and holds the sum against the manifests: what is folded away is not seen again.
func (p *pass) countInputs(ctx context.Context) (int64, error) {
	read, err := p.session.CountFiles(ctx, p.rel.Paths)
	if err != nil {
		return 0, p.explain(err)
	}
	if promised, ok := p.view.Rows(); !ok || promised == read {
		return read, nil
	}
	for _, f := range p.view.Files {
		if f.Rows >= 0 {
			if err := colfile.Verify(p.fs(), f.Path, f.Rows); err != nil {
				return 0, err
			}
		}
	}
	return 0, fault.New(fault.StorePartDamaged, p.options.Table, fmt.Sprintf("the parts of table %q hold %d rows, not what their manifests say", p.options.Table, read))
}

// explain names the damaged input behind an engine's error, where there is one.
func (p *pass) explain(err error) error {
	err = p.session.Explain(err)
	if fault.CodeOf(err) != fault.QueryFailed {
		return err
	}
	for _, f := range p.view.Files {
		if f.Rows >= 0 && strings.Contains(err.Error(), f.Path) {
			if damage := colfile.Verify(p.fs(), f.Path, f.Rows); damage != nil {
				return damage
			}
			return fault.New(fault.StorePartDamaged, f.Rel, "part "+f.Rel+" cannot be read").Wrap(err)
		}
	}
	return err
}

// order is cluster_by, or without one the start of validity; then the key, and where that leaves rows equal the order of landing
// (store.available-time.vintage-dedup-key).
func (p *pass) order() []string {
	d := p.view.Declaration
	names := slices.Concat(d.ClusterBy, d.DedupKey())
	if d.ValidTime != nil && len(d.ClusterBy) == 0 {
		names = slices.Insert(names, 0, d.ValidTime.From)
	}
	for _, c := range schema.Injected() {
		if !p.keyed {
			names = append(names, c.Name)
		}
	}
	var order []string
	for _, name := range names {
		if p.has(name) && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

func (p *pass) has(name string) bool {
	return slices.ContainsFunc(p.rel.Columns, func(c schema.Column) bool { return c.Name == name })
}

func (p *pass) writeWhole(ctx context.Context) ([]manifest.Part, error) {
	query := "SELECT * FROM (" + p.rel.SQL + ") ORDER BY " + duck.Idents(p.order())
	part, err := p.copyTo(ctx, query, key.PartName(0), nil)
	if err != nil || part == nil {
		return nil, err
	}
	return []manifest.Part{*part}, nil
}

// staged is the table in which a partitioned pass keeps its sorted rows; its columns are c0, c1, … so that no producer's name
// can hide rowid.
const staged = `"contextful staged"`

// writePartitions sorts once, partitions first, and copies each partition's range of rows.
func (p *pass) writePartitions(ctx context.Context) ([]manifest.Part, error) {
	var in, out []string
	at := map[string]string{}
	for i, c := range p.rel.Columns {
		at[c.Name] = fmt.Sprintf("c%d", i)
		in = append(in, duck.Ident(c.Name)+" AS "+at[c.Name])
		out = append(out, at[c.Name]+" AS "+duck.Ident(c.Name))
	}
	var groups, texts []string
	for _, name := range p.view.Declaration.PartitionBy {
		if !p.has(name) {
			// No row has the column: all of them lie in the null partition.
			groups, texts = append(groups, "NULL"), append(texts, "NULL")
			continue
		}
		typ, _ := (&schema.Schema{Columns: p.rel.Columns}).Lookup(name)
		text, err := partitionText(at[name], typ)
		if err != nil {
			return nil, fault.New(fault.StoreUnsupported, p.options.Table, fmt.Sprintf("partition_by column %q has type %s", name, typ)).Wrap(err)
		}
		groups, texts = append(groups, at[name]), append(texts, text)
	}
	order := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == "NULL" })
	for _, name := range p.order() {
		if !slices.Contains(order, at[name]) {
			order = append(order, at[name])
		}
	}
	if _, err := p.session.Exec(ctx, "CREATE TEMP TABLE "+staged+" AS SELECT "+strings.Join(in, ", ")+" FROM ("+p.rel.SQL+") ORDER BY "+strings.Join(order, ", ")); err != nil {
		return nil, err
	}
	ranges, err := p.ranges(ctx, texts)
	if err != nil {
		return nil, err
	}
	var parts []manifest.Part
	for i, r := range ranges {
		for j, value := range r.values {
			name := p.view.Declaration.PartitionBy[j]
			if typ, ok := (&schema.Schema{Columns: p.rel.Columns}).Lookup(name); ok && value != nil {
				text := shown(*value, typ)
				r.values[j] = &text
			}
		}
		dir := key.PartitionDir(r.values)
		if err := p.fs().MkdirAll(path.Join(p.dir, dir)); err != nil {
			return nil, fault.New(fault.StoreWriteFailed, dir, "no partition directory could be made").Wrap(err)
		}
		query := fmt.Sprintf("SELECT %s FROM %s WHERE rowid >= %d AND rowid <= %d", strings.Join(out, ", "), staged, r.from, r.to)
		part, err := p.copyTo(ctx, query, path.Join(dir, key.PartName(i)), r.values)
		if err != nil {
			return nil, err
		}
		if part == nil || part.Rows != r.to-r.from+1 {
			return nil, fault.New(fault.StoreWriteFailed, p.options.Table, fmt.Sprintf("a partition of %d rows was not written whole", r.to-r.from+1))
		}
		parts = append(parts, *part)
	}
	slices.SortFunc(parts, func(a, b manifest.Part) int { return strings.Compare(a.Name, b.Name) })
	return parts, nil
}

type rowRange struct {
	values   []*string
	from, to int64
}

// ranges finds where each partition's rows lie in the sorted table, and refuses where one is not a single range.
func (p *pass) ranges(ctx context.Context, texts []string) ([]rowRange, error) {
	list := strings.Join(texts, ", ")
	rows, err := p.session.Conn().QueryContext(ctx, "SELECT "+list+", min(rowid), max(rowid), count(*) FROM "+staged+" GROUP BY "+positions(len(texts))+" ORDER BY min(rowid)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []rowRange
	next := int64(0)
	for rows.Next() {
		r := rowRange{values: make([]*string, len(texts))}
		var count int64
		into := make([]any, 0, len(texts)+3)
		for i := range r.values {
			into = append(into, &r.values[i])
		}
		if err := rows.Scan(append(into, &r.from, &r.to, &count)...); err != nil {
			return nil, err
		}
		if r.from != next || r.to-r.from+1 != count {
			return nil, fault.New(fault.StoreWriteFailed, p.options.Table, "the sorted rows of a partition do not lie together")
		}
		next = r.to + 1
		found = append(found, r)
	}
	return found, rows.Err()
}

func positions(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(list, ", ")
}

// partitionText is the SQL that makes a partition value text without losing anything; shown finishes it.
func partitionText(column string, t schema.Type) (string, error) {
	switch t.Kind {
	case schema.Utf8, schema.JSON:
		return column, nil
	case schema.Boolean, schema.Int32, schema.Int64, schema.Float64:
		return "CAST(" + column + " AS VARCHAR)", nil
	case schema.Timestamp:
		return "CAST(epoch_ns(" + column + ") AS VARCHAR)", nil
	case schema.Binary:
		return "to_base64(" + column + ")", nil
	}
	return "", errors.New("no row can be told apart by it")
}

// shown prints a timestamp's nanoseconds as an instant; other texts stand as they are.
func shown(text string, t schema.Type) string {
	if t.Kind != schema.Timestamp {
		return text
	}
	nanos, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return text
	}
	return manifest.At(time.Unix(0, nanos)).String()
}

// copyTo writes one part and takes its digest. nil where there was no row.
func (p *pass) copyTo(ctx context.Context, query, name string, values []*string) (*manifest.Part, error) {
	file := path.Join(p.dir, name)
	written, err := p.session.WritePart(ctx, p.fs(), p.view.Table.Store().Root(), query, p.rel, file, p.partOptions())
	if err != nil || written.Rows == 0 {
		return nil, err
	}
	digest, err := digestOf(p.fs(), file)
	if err != nil {
		return nil, fault.New(fault.StoreWriteFailed, name, "the part just written cannot be read").Wrap(err)
	}
	p.options.say("wrote %s: %d rows", name, written.Rows)
	documents := p.documents()
	return &manifest.Part{Name: name, Rows: written.Rows, Partition: values, FineColumns: &written.Fine, JSONColumns: &documents, SHA256: digest}, nil
}

// documents are the json columns, whose text the relation has made JSON throughout.
func (p *pass) documents() []string {
	names := []string{}
	for _, c := range p.rel.Columns {
		if c.Type.Kind == schema.JSON {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

func digestOf(fsys vfs.FS, file string) (string, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, f, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
