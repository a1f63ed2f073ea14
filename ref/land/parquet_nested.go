package land

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// fileType is the type that nested values of a file's type land as: at each place the table's where that loses nothing, as for a flat
// column, else the file's. Fields without a type are left out.
func fileType(t, stored schema.Type) schema.Type {
	switch a, b := t.Kind, stored.Kind; {
	case a == schema.Int32 && (b == schema.Int64 || b == schema.Float64), a == schema.Int64 && b == schema.Int32, a == schema.Utf8 && b == schema.Timestamp,
		a == schema.None:
		return stored
	case a == schema.Struct:
		at := make(map[string]schema.Type, len(stored.Fields))
		for _, f := range stored.Fields {
			at[f.Name] = f.Type
		}
		out := schema.Type{Kind: schema.Struct}
		for _, f := range t.Fields {
			if ft := fileType(f.Type, at[f.Name]); ft.Kind != schema.None {
				out.Fields = append(out.Fields, schema.Field{Name: f.Name, Type: ft})
			}
		}
		return out
	case t.Elem != nil:
		inner := schema.Type{}
		if a == b {
			inner = *stored.Elem
		}
		e := fileType(*t.Elem, inner)
		return schema.Type{Kind: a, Elem: &e}
	}
	return t
}

// typeless names a place of t that has no type, "" for none.
func typeless(path string, t schema.Type) string {
	switch {
	case t.Kind == schema.None || t.Kind == schema.Struct && len(t.Fields) == 0:
		return path
	case t.Elem != nil:
		return typeless(path+"[]", *t.Elem)
	}
	for _, f := range t.Fields {
		if at := typeless(path+"."+f.Name, f.Type); at != "" {
			return at
		}
	}
	return ""
}

// filler puts value i of an array into a row of a node.
type filler func(row, i int) error

// fillFrom puts the values of a file's column of type t into the column's node.
func (c *column) fillFrom(a arrow.Array, t schema.Type) error {
	if at := typeless(c.name, c.node.typ); at != "" {
		return &rowError{code: fault.StoreUnsupported, column: at, text: fmt.Sprintf("column %q has no type in this file, and the table has none for it", at),
			hint: "declare the column's type, or leave the column out"}
	}
	if err := c.meets(0); err != nil {
		return err
	}
	put, err := c.node.filler(a, t)
	if err != nil {
		return rowOf(err, 0)
	}
	for i := range a.Len() {
		if err := put(i, i); err != nil {
			return rowOf(err, i)
		}
	}
	return nil
}

// filler gives what puts values of a, which the file has as type t, into n.
func (n *node) filler(a arrow.Array, t schema.Type) (filler, error) {
	switch x := a.(type) {
	case array.ExtensionArray:
		return n.filler(x.Storage(), t)
	case *array.Dictionary:
		put, err := n.filler(x.Dictionary(), t)
		return func(row, i int) error {
			if x.IsNull(i) {
				return nil
			}
			return put(row, x.GetValueIndex(i))
		}, err
	}
	put, err := n.present(a, t)
	return func(row, i int) error {
		if a.IsNull(i) {
			return nil
		}
		return put(row, i)
	}, err
}

// present is filler for values that are there.
func (n *node) present(a arrow.Array, t schema.Type) (filler, error) {
	other := n.refuse(shortType(t), "")
	switch n.typ.Kind {
	case schema.FixedBinary:
		switch x := a.(type) {
		case *array.FixedSizeBinary:
			return func(row, i int) error { return n.putFixed(row, x.Value(i)) }, nil
		case *array.Binary:
			return func(row, i int) error { return n.putFixed(row, x.Value(i)) }, nil
		}
		return nil, other
	case schema.Vector32, schema.Vector16:
		if x, ok := a.(array.ListLike); ok {
			return n.vectors(x, other)
		}
		return nil, other
	case schema.Struct:
		if x, ok := a.(*array.Struct); ok && t.Kind == schema.Struct && len(t.Fields) == x.NumField() {
			return n.structs(x, t)
		}
		return nil, other
	case schema.Variant:
		if x, ok := a.(*array.Struct); ok && t.Kind == schema.Variant {
			return n.variants(x)
		}
		return nil, other
	case schema.Map:
		if x, ok := a.(*array.Map); ok && t.Kind == schema.Map {
			return n.maps(x, *t.Elem)
		}
		return nil, other
	case schema.List:
		x, ok := a.(array.ListLike)
		if !ok || t.Kind != schema.List {
			return nil, other
		}
		put, err := n.kids[0].filler(x.ListValues(), *t.Elem)
		return func(row, i int) error {
			for k, end := x.ValueOffsets(i); k < end; k++ {
				if err := put(n.list, int(k)); err != nil {
					return err
				}
				n.list++
			}
			n.mark(row)
			return nil
		}, err
	}
	if deep(t) {
		return nil, other
	}
	if x, ok := a.(*array.Binary); ok && t.Kind != schema.Binary {
		// Text that Parquet annotates JSON comes as bytes.
		d := array.NewData(arrow.BinaryTypes.String, x.Len(), x.Data().Buffers(), nil, x.NullN(), x.Data().Offset())
		defer d.Release()
		a = array.NewStringData(d)
	}
	return n.leaf.putter(a, t.Kind), nil
}

// vectors takes lists of numbers of exactly the type's dimension.
func (n *node) vectors(x array.ListLike, other error) (filler, error) {
	var item func(raw []byte, k int) ([]byte, bool)
	switch v := x.ListValues().(type) {
	case *array.Float16:
		item = func(raw []byte, k int) ([]byte, bool) {
			return n.appendItem(raw, float64(schema.HalfValue(v.Value(k).Uint16())))
		}
	case *array.Float32:
		item = func(raw []byte, k int) ([]byte, bool) { return n.appendItem(raw, float64(v.Value(k))) }
	case *array.Float64:
		item = func(raw []byte, k int) ([]byte, bool) { return n.appendItem(raw, v.Value(k)) }
	default:
		return nil, other
	}
	var raw []byte
	return func(row, i int) error {
		from, to := x.ValueOffsets(i)
		if to-from != int64(n.typ.Dim) {
			return n.refuse(fmt.Sprintf("an array of %d numbers", to-from), "")
		}
		raw = raw[:0]
		for k := from; k < to; k++ {
			if x.ListValues().IsNull(int(k)) {
				return n.refuse("an item that is null", "")
			}
			var ok bool
			if raw, ok = item(raw, int(k)); !ok {
				return n.overflow(x.ListValues().ValueStr(int(k)))
			}
		}
		n.leaf.appendBytes(row, raw)
		return nil
	}, nil
}

func (n *node) structs(x *array.Struct, t schema.Type) (filler, error) {
	var puts []filler
	for k, f := range t.Fields {
		at, ok := n.at[f.Name]
		if !ok {
			if f.Type.Kind == schema.None {
				continue
			}
			return nil, n.unknown(f.Name)
		}
		if f.Type.Kind == schema.None {
			continue
		}
		put, err := n.kids[at].filler(x.Field(k), f.Type)
		if err != nil {
			return nil, err
		}
		puts = append(puts, put)
	}
	return func(row, i int) error {
		n.mark(row)
		for _, put := range puts {
			if err := put(row, i); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (n *node) maps(x *array.Map, value schema.Type) (filler, error) {
	keys, err := n.kids[0].filler(x.Keys(), schema.Of(schema.Utf8))
	if err != nil {
		return nil, err
	}
	values, err := n.kids[1].filler(x.Items(), value)
	if err != nil {
		return nil, err
	}
	var order []int
	return func(row, i int) error {
		order = order[:0]
		for k, end := x.ValueOffsets(i); k < end; k++ {
			if x.Keys().IsNull(int(k)) {
				return n.broken("a key of a map is null")
			}
			order = append(order, int(k))
		}
		key := func(k int) string { return x.Keys().ValueStr(k) }
		slices.SortFunc(order, func(a, b int) int { return strings.Compare(key(a), key(b)) })
		for j, k := range order {
			if j > 0 && key(order[j-1]) == key(k) {
				return n.broken("the key %s stands twice in one map", clip(key(k)))
			}
			if err := keys(n.list, k); err != nil {
				return err
			}
			if err := values(n.list, k); err != nil {
				return err
			}
			n.list++
		}
		n.mark(row)
		return nil
	}, nil
}

// variants takes the struct that a variant is stored as, where its kind names its one value.
func (n *node) variants(x *array.Struct) (filler, error) {
	var puts []filler
	for k, f := range schema.VariantFields().Fields {
		put, err := n.kids[k].filler(x.Field(k), f.Type)
		if err != nil {
			return nil, err
		}
		puts = append(puts, put)
	}
	return func(row, i int) error {
		field := -1
		for k := stringField; k <= bytesField; k++ {
			if x.Field(k).IsNull(i) {
				continue
			}
			if field >= 0 {
				return n.both(field, k)
			}
			field = k
		}
		kind := ""
		if !x.Field(kindField).IsNull(i) {
			kind = x.Field(kindField).ValueStr(i)
		}
		if field < 0 && kind == "" {
			return nil
		}
		if err := n.agrees(kind, field); err != nil {
			return err
		}
		if text := x.Field(field).ValueStr(i); field == bytesField {
			if _, ok := decodeBase64([]byte(text)); !ok {
				return n.kids[field].refuse("utf8", text)
			}
		}
		if err := puts[field](row, i); err != nil {
			return err
		}
		return n.tag(row, field)
	}, nil
}
