package land

import (
	"encoding/binary"
	"hash"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"contextful/ref/schema"
)

// kidDigest hashes one field of a struct, the items of a list, or the keys or values of a map: the ones that are there, one
// after the other.
type kidDigest struct {
	name string
	*columnDigest
}

// kid is the digest of that name, which is made at its place in the order.
func (d *columnDigest) kid(name string) *columnDigest {
	k := sort.Search(len(d.kids), func(i int) bool { return d.kids[i].name >= name })
	if k == len(d.kids) || d.kids[k].name != name {
		d.kids = append(d.kids, nil)
		copy(d.kids[k+1:], d.kids[k:])
		d.kids[k] = &kidDigest{name, newColumnDigest()}
	}
	return d.kids[k].columnDigest
}

// nested hashes rows i to j of nested values, none of which is null: how many items each has, then the items.
func (d *columnDigest) nested(a arrow.Array, i, j int) {
	slice := func(name string, values arrow.Array, from, to int64) {
		part := array.NewSlice(values, from, to)
		defer part.Release()
		d.kid(name).add(part)
	}
	if s, ok := a.(*array.Struct); ok {
		for k, f := range s.DataType().(*arrow.StructType).Fields() {
			slice(f.Name, s.Field(k), int64(i), int64(j))
		}
		return
	}
	list, ok := a.(array.ListLike)
	if !ok {
		return
	}
	from, _ := list.ValueOffsets(i)
	_, to := list.ValueOffsets(j - 1)
	for ; i < j; i++ {
		first, end := list.ValueOffsets(i)
		d.scratch = binary.LittleEndian.AppendUint32(d.scratch, uint32(end-first))
	}
	if m, ok := a.(*array.Map); ok {
		slice("{key}", m.Keys(), from, to)
		slice("{}", m.Items(), from, to)
		return
	}
	slice("[]", list.ListValues(), from, to)
}

// typed is a type without what no value was seen of: fields that were always null are as good as not there, and an item that
// never was has no type.
func (d *columnDigest) typed(t schema.Type) schema.Type {
	if !d.any {
		return schema.Type{}
	}
	switch t.Kind {
	case schema.Struct:
		out := schema.Type{Kind: schema.Struct}
		for _, f := range t.Fields {
			if ft := d.kid(f.Name).typed(f.Type); ft.Kind != schema.None {
				out.Fields = append(out.Fields, schema.Field{Name: f.Name, Type: ft})
			}
		}
		sort.Slice(out.Fields, func(i, j int) bool { return out.Fields[i].Name < out.Fields[j].Name })
		return out
	case schema.List:
		e := d.kid("[]").typed(*t.Elem)
		return schema.Type{Kind: schema.List, Elem: &e}
	case schema.Map:
		e := d.kid("{}").typed(*t.Elem)
		return schema.Type{Kind: schema.Map, Elem: &e}
	}
	return t
}

// close writes the three sums, and those of every kid of which a value was seen.
func (d *columnDigest) close(h hash.Hash) {
	d.endRun()
	h.Write(d.nulls.Sum(nil))
	h.Write(d.fixed.Sum(nil))
	h.Write(d.bytes.Sum(nil))
	for _, k := range d.kids {
		if k.any {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(k.name))))
			h.Write([]byte(k.name))
			k.close(h)
		}
	}
}
