package land

import (
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// shape learns what type objects and arrays have that no declaration types, from all of them. The table's own type, where it has
// one, is the guide: its values keep their types, and join them by the lattice. Values wait in the spool as JSON text meanwhile.
type shape struct {
	guide  schema.Type // None: nothing is known here
	native bool        // objects may bring fields that the guide lacks
	wide   bool        // an integer was seen that float64 does not hold
	seen   kinds
	fields []*shapeField
	at     map[string]int
	elem   *shape
	odd    string // why no type holds what was seen, "" while one may
}

type shapeField struct {
	name string
	*shape
}

type kinds uint8

const (
	sawBool kinds = 1 << iota
	sawInt
	sawFloat
	sawText
	sawObject
	sawArray
	sawOther // a value of a guide that takes no part in the lattice: read when the type is known
)

func newShape(guide schema.Type, native bool) *shape { return &shape{guide: guide, native: native} }

// loose reports whether values that come without a declaration into a column of the table's type may make another type of it: a
// number or a text in it may be promoted.
func loose(t schema.Type) bool {
	switch t.Kind {
	case schema.Int64, schema.Float64, schema.Utf8, schema.JSON:
		return true
	case schema.List, schema.Map:
		return loose(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if loose(f.Type) {
				return true
			}
		}
	}
	return false
}

func hasStruct(t schema.Type) bool {
	return t.Kind == schema.Struct || t.Elem != nil && hasStruct(*t.Elem)
}

func (h *shape) strange(why string) {
	if h.odd == "" {
		h.odd = why
	}
}

// object takes the object or array at t[i:], whose syntax is right.
func (h *shape) object(s *reader, path string, t []byte, i int) error {
	_, err := h.take(s, path, t, i, 1)
	return err
}

// take learns from the value at t[i:] and gives the place behind it.
func (h *shape) take(s *reader, path string, t []byte, i, depth int) (int, error) {
	if isNull(t, i) {
		return i + 4, nil
	}
	what := arrives(t, i)
	k := map[string]kinds{"boolean": sawBool, "int64": sawInt, "float64": sawFloat, "utf8": sawText, "an object": sawObject, "an array": sawArray}[what]
	n := &node{path: path, typ: h.guide}
	switch h.guide.Kind {
	case schema.None, schema.JSON:
	case schema.Int64, schema.Float64:
		if k&(sawInt|sawFloat) == 0 {
			return i, s.other(n, t, i)
		}
	case schema.Utf8:
		if k&(sawText|sawObject|sawArray) == 0 {
			return i, s.other(n, t, i)
		}
	case schema.Struct, schema.Map:
		if k != sawObject {
			return i, s.other(n, t, i)
		}
	case schema.List:
		if k != sawArray {
			return i, s.other(n, t, i)
		}
	default:
		k = sawOther
	}
	if depth > schema.MaxDepth {
		h.strange(fmt.Sprintf("it nests deeper than %d", schema.MaxDepth))
	}
	h.seen |= k
	inside := k == sawObject || k == sawArray
	if !inside || h.odd != "" || h.guide.Kind == schema.JSON || h.guide.Kind == schema.Utf8 {
		end, err := s.past(n, t, i)
		if err == nil && k == sawInt {
			if v, err := parseInt(t[i:end]); err != nil {
				h.strange("an integer lies past the range of int64")
			} else if !exact(v) {
				h.wide = true
			}
		}
		return end, err
	}
	if k == sawArray {
		elem := h.item()
		return s.each(n, t, i, func(i int) (int, error) { return elem.take(s, path+"[]", t, i, depth+1) }, func() {})
	}
	return s.members(n, t, i, func(name string, i int) (int, error) {
		if h.guide.Kind == schema.Map {
			return h.item().take(s, path+"{}", t, i, depth+1)
		}
		f := h.field(name)
		if f == nil {
			if h.guide.Kind == schema.Struct && !h.native {
				return i, unknownField(path, name, h.guide)
			}
			return s.past(n, t, i)
		}
		return f.take(s, path+"."+name, t, i, depth+1)
	})
}

// item is the shape of the items of a list, or of the values of a map.
func (h *shape) item() *shape {
	if h.elem == nil {
		h.elem = newShape(schema.Type{}, h.native)
		if h.guide.Elem != nil {
			h.elem.guide = *h.guide.Elem
		}
	}
	return h.elem
}

// field is the shape of a field, nil where there can be none of that name.
func (h *shape) field(name string) *shape {
	if k, ok := h.at[name]; ok {
		return h.fields[k].shape
	}
	guide, known := schema.Type{}, false
	for _, f := range h.guide.Fields {
		if f.Name == name {
			guide, known = f.Type, true
		}
	}
	switch why := schema.CheckName(name); {
	case known:
	case h.guide.Kind == schema.Struct && !h.native:
		return nil
	case why != "":
		h.strange(fmt.Sprintf("the name %s %s", clip(name), why))
		return nil
	case len(h.fields) >= schema.MaxFields:
		h.strange(fmt.Sprintf("it has more than %d fields", schema.MaxFields))
		return nil
	}
	if h.at == nil {
		h.at = map[string]int{}
	}
	h.at[name] = len(h.fields)
	h.fields = append(h.fields, &shapeField{name, newShape(guide, h.native)})
	return h.fields[len(h.fields)-1].shape
}

// join adds what another stretch of the input has shown.
func (h *shape) join(o *shape) {
	if o.odd != "" {
		h.strange(o.odd)
	}
	h.seen |= o.seen
	h.wide = h.wide || o.wide
	if o.elem != nil {
		h.item().join(o.elem)
	}
	for _, f := range o.fields {
		if into := h.field(f.name); into != nil {
			into.join(f.shape)
		}
	}
}

// typed gives the type of all that was seen, None where no value was; oddity is why no type holds it, "" where one does.
func (h *shape) typed() (t schema.Type, oddity string) {
	if h.odd != "" {
		return t, h.odd
	}
	switch text := h.guide.Kind == schema.JSON || h.guide.Kind == schema.Utf8; {
	case h.seen == 0:
		return t, ""
	case text && h.seen == sawText:
		return schema.Of(schema.Utf8), ""
	case text:
		return schema.Of(schema.JSON), ""
	}
	switch h.seen {
	case sawBool:
		return schema.Of(schema.Boolean), ""
	case sawInt:
		return schema.Of(schema.Int64), ""
	case sawFloat:
		return schema.Of(schema.Float64), ""
	case sawInt | sawFloat:
		if h.wide {
			return t, "an integer would lose digits beside fractions"
		}
		return schema.Of(schema.Float64), ""
	case sawText:
		return schema.Of(schema.Utf8), ""
	case sawOther:
		return h.guide, ""
	}
	switch h.seen {
	case sawArray:
		elem, odd := h.item().typed()
		if odd == "" && elem.Kind == schema.None {
			if elem = h.item().guide; elem.Kind == schema.None {
				odd = "a list never has an item"
			}
		}
		return schema.Type{Kind: schema.List, Elem: &elem}, odd
	case sawObject:
		if h.guide.Kind == schema.Map {
			elem, odd := h.item().typed()
			if odd == "" && elem.Kind == schema.None {
				elem = *h.guide.Elem
			}
			return schema.Type{Kind: schema.Map, Elem: &elem}, odd
		}
		return h.structure()
	}
	return t, "values of several kinds stand in one place"
}

// structure is the struct of the fields that have a value somewhere.
func (h *shape) structure() (schema.Type, string) {
	t := schema.Type{Kind: schema.Struct}
	folded := map[string]string{}
	for _, f := range h.guide.Fields {
		folded[schema.FoldName(f.Name)] = f.Name
	}
	for _, f := range h.fields {
		ft, odd := f.typed()
		if odd != "" {
			return t, odd
		}
		if ft.Kind == schema.None {
			continue
		}
		if other, ok := folded[schema.FoldName(f.name)]; ok && other != f.name {
			return t, fmt.Sprintf("the fields %q and %q differ only in case", min(other, f.name), max(other, f.name))
		}
		folded[schema.FoldName(f.name)] = f.name
		t.Fields = append(t.Fields, schema.Field{Name: f.name, Type: ft})
	}
	if len(t.Fields) == 0 {
		if h.guide.Kind == schema.Struct {
			return h.guide, ""
		}
		return t, "an object never has a field with a value"
	}
	return t, ""
}

// misfit refuses what no type holds in a column that the table has a type for.
func misfit(name string, stored schema.Type, oddity string) *fault.Error {
	return fault.New(fault.StoreSchemaIncompatible, name, fmt.Sprintf("column %q is stored as %s and arrives as json, since %s", name, shortType(stored), oddity)).WithHint(correctValue)
}
