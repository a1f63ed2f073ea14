package fold

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"contextful/ref/colfile"
	"contextful/ref/duck"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
	"contextful/ref/store"
	"contextful/ref/vfs"
)

// pass is one pass's work with the engine.
type pass struct {
	session *duck.Session
	view    *store.View
	options Options
	glances map[string]*colfile.Glance // what is known of footers, by path
	table   duck.Table                 // as a pass reads it; its files are those of rel
	fresh   []store.File               // the files folded for the first time
	rel     duck.Relation              // their rows: one survivor of each line, where the table has a key
	stored  []*stored                  // the snapshot's parts that may stay where they are, oldest first
	near    []*stored                  // those of stored that contestTable knows, by its numbers
	columns map[string]string          // a column's name in the engine's own tables
	keyed   bool                       // the line tells all rows of rel apart
	held    bool                       // rel's rows lie in deltaTable
	outputs []output
	dir     string // of the staging directory, absolute
}

func (p *pass) fs() vfs.FS { return p.view.Table.Store().FS() }

// prepare opens the inputs and refuses what must be refused before anything is staged.
func (p *pass) prepare(ctx context.Context) error {
	p.table = duck.ForFold(p.view)
	p.table.Files = p.duckFiles(p.view.Files)
	if err := p.split(ctx); err != nil {
		return p.explain(err)
	}
	var err error
	if p.rel, err = p.session.Relation(ctx, p.fs(), p.table); err != nil {
		return p.explain(err)
	}
	p.keyed = p.table.Keyed(p.rel.Columns)
	p.columns = map[string]string{}
	for i, c := range p.rel.Columns {
		p.columns[c.Name] = fmt.Sprintf("c%d", i)
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

// countFresh adds up what the footers say of what is folded for the first time and holds the sum against the manifests: what is folded
// away is not seen again.
func (p *pass) countFresh() (int64, error) {
	if len(p.fresh) == 0 {
		return 0, nil
	}
	read := p.rel.Rows
	promised, known := promisedRows(p.fresh)
	if !known || promised == read {
		return read, nil
	}
	for _, f := range p.fresh {
		if f.Rows >= 0 {
			if err := colfile.Verify(p.fs(), f.Path, f.Rows); err != nil {
				return 0, err
			}
		}
	}
	return 0, fault.New(fault.StorePartDamaged, p.options.Table, fmt.Sprintf("the parts of table %q hold %d rows, not what their manifests say", p.options.Table, read))
}

// promisedRows adds up what manifests say; known is false where one does not say.
func promisedRows(files []store.File) (rows int64, known bool) {
	known = true
	for _, f := range files {
		rows, known = rows+f.Rows, known && f.Rows >= 0
	}
	return rows, known
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
	if damage := duck.Mismatch(p.fs(), duck.ForFold(p.view)); damage != nil {
		return damage
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

// copyTo writes one part and takes its digest. fine are the columns in which an input has digits below the microsecond. nil where
// there was no row.
func (p *pass) copyTo(ctx context.Context, query, name string, values []*string, fine map[string]bool, o duck.PartOptions) (*manifest.Part, error) {
	file := path.Join(p.dir, name)
	rel := p.rel
	rel.Fine = fine
	written, err := p.session.WritePart(ctx, p.fs(), p.view.Table.Store().Root(), query, rel, file, o)
	if err != nil || written.Rows == 0 {
		return nil, err
	}
	digest, err := digestOf(p.fs(), file, make([]byte, digestBuffer))
	if err != nil {
		return nil, fault.New(fault.StoreWriteFailed, name, "the part just written cannot be read").Wrap(err)
	}
	p.options.say("wrote %s: %s", name, count(written.Rows, "row"))
	documents := p.documents()
	return &manifest.Part{Name: name, Rows: written.Rows, Partition: values, FineColumns: &written.Fine, JSONColumns: &documents, SHA256: digest}, nil
}

// partOptions are those of a part made of files.
func (p *pass) partOptions(files []store.File) duck.PartOptions {
	var size, rows int64
	for _, f := range files {
		if f.Rows <= 0 {
			continue
		}
		if g := p.glances[f.Path]; g != nil {
			size, rows = size+g.Size, rows+f.Rows
		} else if info, err := p.fs().Stat(f.Path); err == nil { // a file that is gone is refused where it is read
			size, rows = size+info.Size(), rows+f.Rows
		}
	}
	return duck.PartOptions{RowGroupRows: duck.RowsOfGroup(size, rows)}
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
