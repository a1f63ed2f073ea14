package land

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/colfile"
	"contextful/ref/schema"
	"contextful/ref/store"
)

func addWanted(w *colfile.WantedColumn, values arrow.Array, i int) {
	null := values == nil || values.IsNull(i)
	w.Null = append(w.Null, null)
	var number int64
	switch a := values.(type) {
	case *array.String:
		text := ""
		if !null {
			text = a.Value(i)
		}
		w.Texts = append(w.Texts, text)
		return
	case *array.Int32:
		number = int64(a.Value(i))
	case *array.Int64:
		number = a.Value(i)
	case *array.Timestamp:
		number = int64(a.Value(i))
	case nil:
		if w.Kind == colfile.WantedText {
			w.Texts = append(w.Texts, "")
			return
		}
	}
	w.Ints = append(w.Ints, number)
}

// scan reads columns of a row group batch by batch.
func (x *comparison) scan(g *colfile.GroupReader, group int, names []string, visit func(arrow.RecordBatch)) error {
	s, err := g.Scan(x.ctx, group, names)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		rec, err := s.Next()
		if err != nil || rec == nil {
			return err
		}
		visit(rec)
		rec.Release()
	}
}

// storedColumns gives columns of a part's rows as the table knows them.
func (x *comparison) storedColumns(rec arrow.RecordBatch, f store.File, part *arrow.Schema, wanted func(string) bool) []hashColumn {
	var list []hashColumn
	for i, field := range rec.Schema().Fields() {
		if !wanted(field.Name) {
			continue
		}
		ty, _ := x.merged.Lookup(field.Name)
		c := hashColumn{name: field.Name, values: rec.Column(i), opaque: opaque(ty)}
		if ty.Kind == schema.JSON {
			if f.Part.JSONColumns != nil {
				c.json = slices.Contains(*f.Part.JSONColumns, field.Name)
			} else if at := part.FieldIndices(field.Name); len(at) > 0 {
				name, _ := part.Field(at[0]).Metadata.GetValue("ARROW:extension:name")
				c.json = name == "arrow.json"
			}
			c.quote = !c.json
		}
		list = append(list, c)
	}
	sortColumns(list)
	return list
}

func (x *comparison) rank(b []byte, ranks []hashColumn, i int) []byte {
	for _, name := range x.order {
		at := slices.IndexFunc(ranks, func(c hashColumn) bool { return c.name == name })
		if at < 0 {
			b = append(b, 0)
			continue
		}
		ty, _ := x.merged.Lookup(name)
		b = appendOrder(b, &ranks[at], i, ty.Kind == schema.Float64)
	}
	return b
}
