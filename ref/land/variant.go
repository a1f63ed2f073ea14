package land

import (
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// Places of a variant's fields.
const (
	kindField = iota
	stringField
	intField
	floatField
	boolField
	bytesField
)

// variant reads a scalar, or the tagged form {"kind": k, k: value}, as row of n (store.reconcile.variant).
func (s *reader) variant(n *node, row int, t []byte, i int) (int, error) {
	switch t[i] {
	case '{':
		return s.tagged(n, row, t, i)
	case '[':
		return i, s.other(n, t, i)
	}
	field := stringField
	switch arrives(t, i) {
	case "boolean":
		field = boolField
	case "int64":
		field = intField
	case "float64":
		field = floatField
	}
	end, err := s.deep(n.kids[field], row, t, i)
	if err != nil {
		return end, err
	}
	return end, n.tag(row, field)
}

// tag names the field that holds row's value.
func (n *node) tag(row, field int) error {
	n.mark(row)
	return n.kids[kindField].leaf.putText(row, []byte(schema.VariantFields().Fields[field].Name))
}

// tagged reads an object whose kind names the one field that is not null.
func (s *reader) tagged(n *node, row int, t []byte, i int) (int, error) {
	var at, ends [bytesField + 1]int
	end, err := s.members(n, t, i, func(name string, i int) (int, error) {
		k := fieldOf(name)
		if k < 0 {
			return i, n.unknown(name)
		}
		if at[k] > 0 {
			return i, n.broken("the name %q stands twice in one object", name)
		}
		var err error
		at[k] = i
		ends[k], err = s.past(n, t, i)
		return ends[k], err
	})
	if err != nil {
		return end, err
	}
	kind, field := "", -1
	if at[kindField] > 0 && at[kindField] < len(t) && t[at[kindField]] == '"' {
		text, _, err := s.text(t, at[kindField])
		if err != nil {
			return i, n.broken("%s", err)
		}
		kind = string(text)
	} else if at[kindField] > 0 && !isNull(t, at[kindField]) {
		return i, s.other(n.kids[kindField], t, at[kindField])
	}
	for k := stringField; k <= bytesField; k++ {
		if at[k] == 0 || isNull(t, at[k]) && ends[k] == at[k]+4 {
			continue
		}
		if field >= 0 {
			return i, n.both(field, k)
		}
		field = k
	}
	if field < 0 && kind == "" {
		return end, nil // nothing but nulls: no value
	}
	if err := n.agrees(kind, field); err != nil {
		return i, err
	}
	if field == bytesField {
		if t[at[field]] != '"' {
			return i, s.other(n.kids[field], t, at[field])
		}
		text, _, err := s.text(t, at[field])
		if err != nil {
			return i, n.broken("%s", err)
		}
		if _, ok := decodeBase64(text); !ok {
			err := n.kids[field].refuse("utf8", string(text)).(*rowError)
			err.hint = base64Hint
			return i, err
		}
	}
	if err := s.again(n.kids[field], row, t, at[field], ends[field]); err != nil {
		return i, err
	}
	return end, n.tag(row, field)
}

func (n *node) both(a, b int) error {
	return n.conflict(fmt.Sprintf("holds both %s and %s", schema.VariantFields().Fields[a].Name, schema.VariantFields().Fields[b].Name))
}

// agrees refuses a kind that does not name the one field with a value, -1 for none.
func (n *node) agrees(kind string, field int) error {
	switch {
	case kind == "":
		return n.conflict("names no kind")
	case fieldOf(kind) <= kindField:
		return n.conflict(fmt.Sprintf("is of the kind %s, which is none of string, int64, float64, boolean and bytes", clip(kind)))
	case field < 0:
		return n.conflict(fmt.Sprintf("is of the kind %s and holds no value", kind))
	case fieldOf(kind) != field:
		return n.conflict(fmt.Sprintf("is of the kind %s and holds %s", kind, schema.VariantFields().Fields[field].Name))
	}
	return nil
}

// conflict refuses a tagged value that contradicts itself.
func (n *node) conflict(what string) error {
	return &rowError{code: fault.StoreSchemaIncompatible, row: -1, column: n.path,
		text: fmt.Sprintf("column %q: a tagged value %s", n.path, what), hint: `a tagged value is {"kind": "int64", "int64": 7}: its kind names its one field`}
}

// fieldOf is the place of a variant's field, -1 for no field.
func fieldOf(name string) int {
	for i, f := range schema.VariantFields().Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}
