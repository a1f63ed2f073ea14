package land

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rowHash names a row by some of its columns: 16 bytes of a SHA-256. The zero rowHash equals nothing that was hashed.
type rowHash [16]byte

// hashColumn is a column of a batch of rows, as the table knows it.
type hashColumn struct {
	name   string
	values arrow.Array
	json   bool // text that is JSON
	quote  bool // text of a column that has become json since: the JSON string of it is the value
	opaque bool // of a type that is not compared
}

// hashRow names row i by the columns, which come sorted by name; one that is null there counts as one that is not there. key
// says that values are told apart as a read's PARTITION BY does: the two zeros are one value, and so are all NaN. ok is false where a
// value is of a type that is not compared.
func hashRow(scratch []byte, columns []hashColumn, i int, key bool) (h rowHash, _ []byte, ok bool) {
	b := scratch[:0]
	for k := range columns {
		c := &columns[k]
		if c.values.IsNull(i) {
			continue
		}
		if c.opaque {
			return h, b, false
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(c.name)))
		b = append(b, c.name...)
		if b, ok = appendValue(b, c, i, key); !ok {
			return h, b, false
		}
	}
	sum := sha256.Sum256(b)
	copy(h[:], sum[:])
	return h, b, true
}

// Tags of values. Whole numbers are one kind of value however they are stored: a column of int64 may become float64.
const (
	tagBool = iota + 1
	tagWhole
	tagFloat
	tagInstant
	tagText
	tagJSON
	tagBytes
	tagNull
	tagList
	tagMap
	tagStruct
)

func appendValue(b []byte, c *hashColumn, i int, key bool) ([]byte, bool) {
	whole := func(tag byte, v int64) []byte { return binary.LittleEndian.AppendUint64(append(b, tag), uint64(v)) }
	bytes := func(tag byte, v string) []byte {
		return append(binary.LittleEndian.AppendUint64(append(b, tag), uint64(len(v))), v...)
	}
	switch a := c.values.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(b, tagBool, 1), true
		}
		return append(b, tagBool, 0), true
	case *array.Int32:
		return whole(tagWhole, int64(a.Value(i))), true
	case *array.Int64:
		return whole(tagWhole, a.Value(i)), true
	case *array.Float64:
		return appendFloat(b, a.Value(i), key), true
	case *array.Float32:
		return appendFloat(b, float64(a.Value(i)), key), true
	case *array.Float16:
		return appendFloat(b, float64(a.Value(i).Float32()), key), true
	case *array.Timestamp:
		v, ok := nanosIn(a, i)
		return whole(tagInstant, v), ok
	case *array.String:
		switch {
		case c.quote:
			text := quoteJSON(nil, []byte(a.Value(i)))
			return bytes(tagJSON, string(text)), true
		case c.json:
			return bytes(tagJSON, a.Value(i)), true
		}
		return bytes(tagText, a.Value(i)), true
	case *array.Binary:
		return bytes(tagBytes, string(a.Value(i))), true
	case *array.FixedSizeBinary:
		return bytes(tagBytes, string(a.Value(i))), true
	case array.ExtensionArray:
		return appendValue(b, &hashColumn{values: a.Storage()}, i, key)
	case *array.Map:
		from, to := a.ValueOffsets(i)
		b = whole(tagMap, to-from)
		return appendItems(b, []arrow.Array{a.Keys(), a.Items()}, from, to, key)
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		b = whole(tagList, to-from)
		return appendItems(b, []arrow.Array{a.ListValues()}, from, to, key)
	case *array.Struct:
		return appendStruct(b, a, i, key)
	}
	return b, false
}

func appendFloat(b []byte, v float64, key bool) []byte {
	tag, bits := byte(tagFloat), math.Float64bits(v)
	switch {
	case key && v == 0:
		tag, bits = tagWhole, 0
	case key && math.IsNaN(v):
		bits = math.Float64bits(math.NaN())
	case v == math.Trunc(v) && v >= math.MinInt64 && v < math.MaxInt64 && (v != 0 || !math.Signbit(v)):
		tag, bits = tagWhole, uint64(int64(v))
	}
	return binary.LittleEndian.AppendUint64(append(b, tag), bits)
}

func appendItems(b []byte, values []arrow.Array, from, to int64, key bool) (_ []byte, ok bool) {
	for ; from < to; from++ {
		for _, v := range values {
			if v.IsNull(int(from)) {
				b = append(b, tagNull)
				continue
			}
			if b, ok = appendValue(b, &hashColumn{values: v}, int(from), key); !ok {
				return b, false
			}
		}
	}
	return b, true
}

// appendStruct names the members that are there, sorted: one that is null counts as one that is not.
func appendStruct(b []byte, a *array.Struct, i int, key bool) ([]byte, bool) {
	typ, ok := a.DataType().(*arrow.StructType)
	if !ok {
		return b, false
	}
	members := make([]hashColumn, 0, a.NumField())
	for k := range a.NumField() {
		if v := a.Field(k); v.IsValid(i) {
			members = append(members, hashColumn{name: typ.Field(k).Name, values: v})
		}
	}
	sortColumns(members)
	b = binary.LittleEndian.AppendUint64(append(b, tagStruct), uint64(len(members)))
	for k := range members {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(members[k].name)))
		b = append(b, members[k].name...)
		if b, ok = appendValue(b, &members[k], i, key); !ok {
			return b, false
		}
	}
	return b, true
}

// nanosIn gives an instant in nanoseconds; parts of others may count in coarser units.
func nanosIn(a *array.Timestamp, i int) (int64, bool) {
	t, ok := a.DataType().(*arrow.TimestampType)
	if !ok {
		return 0, false
	}
	scale := int64(t.Unit.Multiplier())
	v := int64(a.Value(i))
	if v > math.MaxInt64/scale || v < math.MinInt64/scale {
		return 0, false
	}
	return v * scale, true
}

// appendOrder appends the value in a form that sorts by its bytes as a read's ORDER BY … DESC NULLS LAST ranks: what ranks higher is
// greater. float says that the table knows the column as float64. What has no order here ranks with null.
func appendOrder(b []byte, c *hashColumn, i int, float bool) []byte {
	number := func(v uint64) []byte { return binary.BigEndian.AppendUint64(append(b, 1), v) }
	if c.values.IsNull(i) {
		return append(b, 0)
	}
	whole := func(v int64) []byte {
		if float {
			return number(floatOrder(float64(v)))
		}
		return number(uint64(v) ^ 1<<63)
	}
	switch a := c.values.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 1, 1)
		}
		return append(b, 1, 0)
	case *array.Int32:
		return whole(int64(a.Value(i)))
	case *array.Int64:
		return whole(a.Value(i))
	case *array.Float64:
		return number(floatOrder(a.Value(i)))
	case *array.Timestamp:
		if v, ok := nanosIn(a, i); ok {
			return number(uint64(v) ^ 1<<63)
		}
	case *array.String:
		text := []byte(a.Value(i))
		if c.quote {
			text = quoteJSON(nil, text)
		}
		return appendText(append(b, 1), text)
	case *array.Binary:
		return appendText(append(b, 1), a.Value(i))
	}
	return append(b, 0)
}

// floatOrder sorts as DuckDB does: NaN above all, the two zeros alike.
func floatOrder(v float64) uint64 {
	if math.IsNaN(v) {
		return math.MaxUint64
	}
	bits := math.Float64bits(v + 0) // -0 + 0 is 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// appendText ends a text so that what follows does not count before it.
func appendText(b, text []byte) []byte {
	for _, c := range text {
		if b = append(b, c); c == 0 {
			b = append(b, 0xff)
		}
	}
	return append(b, 0, 0)
}
