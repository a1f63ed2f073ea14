package land

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/schema"
)

// column reads the value at t[i:] into a column that has a node. A refusal names the place in the column.
func (s *reader) column(c *column, row int, t []byte, i int) (int, error) {
	if isNull(t, i) {
		return i + 4, nil
	}
	if err := c.meets(row); err != nil {
		return i, err
	}
	end, err := s.deep(c.node, row, t, i)
	return end, rowOf(err, row)
}

// rowOf puts the row of the input on a refusal from within a column.
func rowOf(err error, row int) error {
	if e, ok := err.(*rowError); ok {
		e.row = row
	}
	return err
}

// meets settles a column that has a node, at its first value: its type has to join what the table stores.
func (c *column) meets(row int) error {
	if c.kind != schema.None {
		return nil
	}
	if _, err := schema.MergeColumn(c.name, c.rule.stored, c.node.typ); err != nil {
		return incompatible(err, row)
	}
	c.kind, c.first = c.node.typ.Kind, row
	return nil
}

// incompatible turns a refusal of the lattice into one of a row.
func incompatible(err error, row int) error {
	f, ok := err.(*fault.Error)
	if !ok {
		return err
	}
	return &rowError{code: f.Code, row: row, column: f.Subject, text: f.Message, hint: f.Hint}
}

func isNull(t []byte, i int) bool { return len(t)-i >= 4 && string(t[i:i+4]) == "null" }

// arrives names what stands at t[i:].
func arrives(t []byte, i int) string {
	switch c := t[i]; c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "utf8"
	case 't', 'f':
		return "boolean"
	}
	if _, integer, ok := number(t, i); ok && integer {
		return "int64"
	}
	return "float64"
}

func (n *node) broken(format string, args ...any) error {
	e := malformed("column %q: "+format, append([]any{n.path}, args...)...)
	e.column = n.path
	return e
}

// deep reads the value at t[i:] as row of n and gives the place behind it.
func (s *reader) deep(n *node, row int, t []byte, i int) (int, error) {
	if i >= len(t) {
		return i, n.broken("a value is missing")
	}
	if isNull(t, i) {
		return i + 4, nil
	}
	open := byte(0)
	switch n.typ.Kind {
	case schema.Struct, schema.Map:
		open = '{'
	case schema.List, schema.Vector32, schema.Vector16:
		open = '['
	case schema.FixedBinary:
		open = '"'
	case schema.Variant:
		return s.variant(n, row, t, i)
	default:
		end, err := s.value(n.leaf, row, t, i)
		if _, ok := err.(*rowError); err != nil && !ok {
			err = n.broken("%s", err)
		}
		return end, err
	}
	if t[i] != open {
		return i, s.other(n, t, i)
	}
	switch n.typ.Kind {
	case schema.FixedBinary:
		text, end, err := s.text(t, i)
		if err != nil {
			return end, n.broken("%s", err)
		}
		return end, n.putBase64(row, text)
	case schema.Struct:
		return s.fields(n, row, t, i)
	case schema.Map:
		return s.entries(n, row, t, i)
	case schema.List:
		return s.each(n, t, i, func(i int) (int, error) {
			end, err := s.deep(n.kids[0], n.list, t, i)
			n.list++
			return end, err
		}, func() { n.mark(row) })
	}
	return s.vector(n, row, t, i)
}

// other refuses what stands at t[i:] as a value of n, whatever it is.
func (s *reader) other(n *node, t []byte, i int) error {
	end, what := i, arrives(t, i)
	var text []byte // of a string, as it reads
	var err error
	switch t[i] {
	case '"':
		text, end, err = s.text(t, i)
	case '{', '[':
		end, err = s.skip(t, i)
	case 't', 'f':
		for _, w := range []string{"true", "false"} {
			if strings.HasPrefix(string(t[i:min(len(t), i+5)]), w) {
				end = i + len(w)
			}
		}
	default:
		end, _, _ = number(t, i)
	}
	if err != nil || end == i {
		return n.broken("%s is no value", found(t, i))
	}
	if text == nil {
		text = t[i:end]
	}
	return n.refuse(what, string(text))
}

// members walks the members of the object at t[i:]: visit reads the value at i and gives the place behind it.
func (s *reader) members(n *node, t []byte, i int, visit func(name string, i int) (int, error)) (int, error) {
	i = skipSpace(t, i+1)
	if i < len(t) && t[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(t) || t[i] != '"' {
			return i, n.broken("%s stands where a name in quotes belongs", found(t, i))
		}
		raw, end, err := s.text(t, i)
		if err != nil {
			return i, n.broken("a name: %s", err)
		}
		name := string(raw)
		if i = skipSpace(t, end); i >= len(t) || t[i] != ':' {
			return i, n.broken("the name %q is not followed by a colon", name)
		}
		if i, err = visit(name, skipSpace(t, i+1)); err != nil {
			return i, err
		}
		if i = skipSpace(t, i); i >= len(t) || t[i] != ',' && t[i] != '}' {
			return i, n.broken("%s stands where a comma or } belongs", found(t, i))
		}
		if t[i] == '}' {
			return i + 1, nil
		}
		i = skipSpace(t, i+1)
	}
}

// each walks the items of the array at t[i:]; done is called behind the last.
func (s *reader) each(n *node, t []byte, i int, visit func(i int) (int, error), done func()) (int, error) {
	i = skipSpace(t, i+1)
	if i < len(t) && t[i] == ']' {
		done()
		return i + 1, nil
	}
	for {
		var err error
		if i, err = visit(i); err != nil {
			return i, err
		}
		if i = skipSpace(t, i); i >= len(t) || t[i] != ',' && t[i] != ']' {
			return i, n.broken("%s stands where a comma or ] belongs", found(t, i))
		}
		if t[i] == ']' {
			done()
			return i + 1, nil
		}
		i = skipSpace(t, i+1)
	}
}

func (s *reader) fields(n *node, row int, t []byte, i int) (int, error) {
	n.mark(row)
	return s.members(n, t, i, func(name string, i int) (int, error) {
		k, ok := n.at[name]
		if !ok && s.settled && isNull(t, i) {
			return i + 4, nil // a field that never had a value is none
		}
		if !ok {
			return i, n.unknown(name)
		}
		if n.seen[k] == row+1 {
			return i, n.broken("the name %q stands twice in one object", name)
		}
		n.seen[k] = row + 1
		return s.deep(n.kids[k], row, t, i)
	})
}

// unknown refuses a key that is no field (store.reconcile.nested-landing).
func (n *node) unknown(name string) error {
	return unknownField(n.path, name, n.typ)
}

func unknownField(path, name string, t schema.Type) error {
	at := path + "." + name
	return &rowError{code: fault.StoreSchemaIncompatible, row: -1, column: at, hint: "declare the field, or leave it out",
		text: fmt.Sprintf("%q is no field: column %q is %s", at, path, shortType(t))}
}

// entries reads an object as a map, sorted by key: the order of keys says nothing.
func (s *reader) entries(n *node, row int, t []byte, i int) (int, error) {
	type entry struct {
		key     string
		at, end int
	}
	var list []entry
	end, err := s.members(n, t, i, func(name string, i int) (int, error) {
		end, err := s.past(n, t, i)
		list = append(list, entry{name, i, end})
		return end, err
	})
	if err != nil {
		return end, err
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for k, e := range list {
		if k > 0 && list[k-1].key == e.key {
			return e.at, n.broken("the key %s stands twice in one map", clip(e.key))
		}
		if err := n.kids[0].leaf.putText(n.list, []byte(e.key)); err != nil {
			return e.at, err
		}
		if err := s.again(n.kids[1], n.list, t, e.at, e.end); err != nil {
			return e.at, err
		}
		n.list++
	}
	n.mark(row)
	return end, nil
}

// past gives the place behind the value at t[i:], which is read later.
func (s *reader) past(n *node, t []byte, i int) (end int, err error) {
	if i >= len(t) {
		return i, n.broken("a value is missing")
	}
	switch t[i] {
	case '"':
		_, end, err = s.text(t, i)
	case '{', '[':
		end, err = s.skip(t, i)
	default:
		for end = i; end < len(t) && !strings.ContainsRune(",}] \t\r", rune(t[end])); end++ {
		}
	}
	if err != nil {
		err = n.broken("%s", err)
	}
	return end, err
}

// again reads a value that past has been behind.
func (s *reader) again(n *node, row int, t []byte, i, end int) error {
	stop, err := s.deep(n, row, t, i)
	if err == nil && stop != end {
		err = n.broken("%s is no value", found(t, i))
	}
	return err
}

// decodeBase64 takes padded base64 in its one canonical form: no stray bits, no line breaks.
func decodeBase64(text []byte) ([]byte, bool) {
	for _, c := range text {
		if c == '\r' || c == '\n' { // the decoder would skip them
			return nil, false
		}
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	k, err := base64.StdEncoding.Strict().Decode(raw, text)
	return raw[:k], err == nil
}

const base64Hint = "bytes are written as padded base64 text"

func (n *node) putBase64(row int, text []byte) error {
	raw, ok := decodeBase64(text)
	if !ok {
		err := n.refuse("utf8", string(text)).(*rowError)
		err.hint = base64Hint
		return err
	}
	return n.putFixed(row, raw)
}

// putFixed takes the bytes of a binary(n).
func (n *node) putFixed(row int, raw []byte) error {
	if len(raw) != n.typ.Width {
		return n.refuse(fmt.Sprintf("%d bytes", len(raw)), "")
	}
	n.leaf.appendBytes(row, raw)
	return nil
}

// vector reads an array of exactly as many numbers as the type says.
func (s *reader) vector(n *node, row int, t []byte, i int) (int, error) {
	var raw []byte
	count := 0
	end, err := s.each(n, t, i, func(i int) (int, error) {
		if i >= len(t) {
			return i, n.broken("the array does not end")
		}
		if count++; count > n.typ.Dim {
			return i, nil // counted to say how many there are
		}
		var err error
		raw, i, err = s.item(n, raw, t, i)
		return i, err
	}, func() {})
	if count > n.typ.Dim { // what stands beyond the last item is not looked at
		if end, err = s.skip(t, i); err != nil {
			return end, n.broken("%s", err)
		}
		return end, n.refuse("an array of other than "+strconv.Itoa(n.typ.Dim)+" numbers", string(t[i:end]))
	}
	if err != nil {
		return end, err
	}
	if count != n.typ.Dim {
		return end, n.refuse(fmt.Sprintf("an array of %d numbers", count), string(t[i:end]))
	}
	n.leaf.appendBytes(row, raw)
	return end, nil
}

// item reads one number of a vector.
func (s *reader) item(n *node, raw, t []byte, i int) ([]byte, int, error) {
	if t[i] == '"' {
		text, end, err := s.text(t, i)
		if err != nil {
			return raw, end, n.broken("%s", err)
		}
		if f, ok := wordFloat(text); ok {
			raw, _ = n.appendItem(raw, f)
			return raw, end, nil
		}
		return raw, end, n.refuse("an item that is utf8", string(text))
	}
	end, _, ok := number(t, i)
	if !ok {
		if isNull(t, i) {
			return raw, i, n.refuse("an item that is null", "")
		}
		return raw, i, s.other(&node{typ: n.typ, path: n.path + "[]", leaf: n.leaf}, t, i)
	}
	literal := t[i:end]
	bits := 64
	if n.typ.Kind == schema.Vector32 {
		bits = 32 // rounded once
	}
	f, err := strconv.ParseFloat(string(literal), bits)
	if err == nil {
		if raw, ok = n.appendItem(raw, f); ok {
			return raw, end, nil
		}
	}
	return raw, end, n.overflow(string(literal))
}

func (n *node) overflow(literal string) error {
	name := "float32"
	if n.typ.Kind == schema.Vector16 {
		name = "float16"
	}
	return n.refuse("an item past the range of "+name, literal)
}

// appendItem rounds to the nearest item, ties to even; ok is false where a finite number would become an infinity.
func (n *node) appendItem(raw []byte, f float64) ([]byte, bool) {
	finite := !math.IsInf(f, 0) && !math.IsNaN(f)
	if n.typ.Kind == schema.Vector32 {
		v := float32(f)
		return binary.LittleEndian.AppendUint32(raw, math.Float32bits(v)), !finite || !math.IsInf(float64(v), 0)
	}
	h := schema.HalfBits(f)
	return binary.LittleEndian.AppendUint16(raw, h), !finite || h&0x7c00 != 0x7c00
}

// wordFloat reads the words that stand for what JSON has no number for, as a query prints them.
func wordFloat(text []byte) (float64, bool) {
	switch string(text) {
	case "NaN":
		return math.NaN(), true
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	}
	return 0, false
}
