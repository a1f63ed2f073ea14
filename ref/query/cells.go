package query

import (
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"contextful/ref/duck"

	"github.com/duckdb/duckdb-go/v2"
)

// safeInteger is the largest integer that every JSON reader keeps: 2^53 - 1.
const safeInteger = 1<<53 - 1

// shape is how a column's cells print: kind, and what nested values are made of.
type shape struct {
	kind   duckdb.Type
	width  uint8 // digits of a decimal
	fields []string
	items  []*shape // list: 1, map: value, struct: as fields
	key    *shape   // map
}

// shapeOf gives the shape of a type, and the SQL type a column must be cast to first where the driver cannot hand its values over
// exactly ("" for none): json documents would come as floats, others not at all. lists: an ARRAY must be cast to a list, since the
// engine's CASE knows none (see fetched).
func shapeOf(info duckdb.TypeInfo, lists bool) (*shape, string) {
	plain := func(sql string) (*shape, string) { return &shape{kind: info.InternalType()}, sql }
	asText := func() (*shape, string) { return &shape{kind: duckdb.TYPE_VARCHAR}, "VARCHAR" }
	switch t := info.InternalType(); t {
	case duckdb.TYPE_BOOLEAN, duckdb.TYPE_TINYINT, duckdb.TYPE_SMALLINT, duckdb.TYPE_INTEGER, duckdb.TYPE_BIGINT, duckdb.TYPE_UTINYINT,
		duckdb.TYPE_USMALLINT, duckdb.TYPE_UINTEGER, duckdb.TYPE_UBIGINT, duckdb.TYPE_HUGEINT, duckdb.TYPE_UHUGEINT, duckdb.TYPE_FLOAT,
		duckdb.TYPE_DOUBLE, duckdb.TYPE_BLOB, duckdb.TYPE_TIMESTAMP, duckdb.TYPE_TIMESTAMP_NS, duckdb.TYPE_TIMESTAMP_TZ:
		return plain("")
	case duckdb.TYPE_TIMESTAMP_S, duckdb.TYPE_TIMESTAMP_MS:
		return &shape{kind: duckdb.TYPE_TIMESTAMP}, "TIMESTAMP"
	case duckdb.TYPE_VARCHAR:
		if info.Alias() != "" {
			return asText()
		}
		return plain("")
	case duckdb.TYPE_DECIMAL:
		d, ok := info.Details().(*duckdb.DecimalDetails)
		if !ok {
			return asText()
		}
		return &shape{kind: t, width: d.Width}, ""
	case duckdb.TYPE_LIST, duckdb.TYPE_ARRAY:
		var child duckdb.TypeInfo
		suffix := "[]"
		switch d := info.Details().(type) {
		case *duckdb.ListDetails:
			child = d.Child
		case *duckdb.ArrayDetails:
			child = d.Child
			if !lists {
				suffix = fmt.Sprintf("[%d]", d.Size)
			}
		default:
			return asText()
		}
		item, cast := shapeOf(child, lists)
		if lists && t == duckdb.TYPE_ARRAY && cast == "" {
			cast = sqlOf(child)
		}
		if cast != "" {
			cast += suffix
		}
		return &shape{kind: duckdb.TYPE_LIST, items: []*shape{item}}, cast
	case duckdb.TYPE_MAP:
		d, ok := info.Details().(*duckdb.MapDetails)
		if !ok {
			return asText()
		}
		key, keyCast := shapeOf(d.Key, lists)
		value, valueCast := shapeOf(d.Value, lists)
		m := &shape{kind: t, key: key, items: []*shape{value}}
		if keyCast == "" && valueCast == "" {
			return m, ""
		}
		if keyCast == "" {
			keyCast = sqlOf(d.Key)
		}
		if valueCast == "" {
			valueCast = sqlOf(d.Value)
		}
		return m, "MAP(" + keyCast + ", " + valueCast + ")"
	case duckdb.TYPE_STRUCT:
		d, ok := info.Details().(*duckdb.StructDetails)
		if !ok {
			return asText()
		}
		s := &shape{kind: t}
		changed := false
		var members []string
		for _, e := range d.Entries {
			item, cast := shapeOf(e.Info(), lists)
			changed = changed || cast != ""
			if cast == "" {
				cast = sqlOf(e.Info())
			}
			s.fields, s.items = append(s.fields, e.Name()), append(s.items, item)
			members = append(members, duck.Ident(e.Name())+" "+cast)
		}
		if !changed {
			return s, ""
		}
		return s, "STRUCT(" + strings.Join(members, ", ") + ")"
	}
	return asText()
}

// sqlOf prints the type of a value that needs no cast.
func sqlOf(info duckdb.TypeInfo) string {
	switch d := info.Details().(type) {
	case *duckdb.DecimalDetails:
		return fmt.Sprintf("DECIMAL(%d, %d)", d.Width, d.Scale)
	case *duckdb.ListDetails:
		return sqlOf(d.Child) + "[]"
	case *duckdb.ArrayDetails:
		return fmt.Sprintf("%s[%d]", sqlOf(d.Child), d.Size)
	case *duckdb.StructDetails:
		members := make([]string, len(d.Entries))
		for i, e := range d.Entries {
			members[i] = duck.Ident(e.Name()) + " " + sqlOf(e.Info())
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	case *duckdb.MapDetails:
		return "MAP(" + sqlOf(d.Key) + ", " + sqlOf(d.Value) + ")"
	}
	switch info.InternalType() {
	case duckdb.TYPE_TIMESTAMP_TZ:
		return "TIMESTAMPTZ"
	case duckdb.TYPE_TIMESTAMP_NS:
		return "TIMESTAMP_NS"
	}
	return typeNames[info.InternalType()]
}

var typeNames = map[duckdb.Type]string{
	duckdb.TYPE_BOOLEAN: "BOOLEAN", duckdb.TYPE_TINYINT: "TINYINT", duckdb.TYPE_SMALLINT: "SMALLINT", duckdb.TYPE_INTEGER: "INTEGER",
	duckdb.TYPE_BIGINT: "BIGINT", duckdb.TYPE_UTINYINT: "UTINYINT", duckdb.TYPE_USMALLINT: "USMALLINT", duckdb.TYPE_UINTEGER: "UINTEGER",
	duckdb.TYPE_UBIGINT: "UBIGINT", duckdb.TYPE_HUGEINT: "HUGEINT", duckdb.TYPE_UHUGEINT: "UHUGEINT", duckdb.TYPE_FLOAT: "FLOAT",
	duckdb.TYPE_DOUBLE: "DOUBLE", duckdb.TYPE_BLOB: "BLOB", duckdb.TYPE_VARCHAR: "VARCHAR", duckdb.TYPE_TIMESTAMP: "TIMESTAMP",
}

// fetched is value, of this shape, as the driver hands it over: of a map it would look up every key among all before it, and some
// keys it would not take at all, so a map comes as the list of its entries.
func (s *shape) fetched(value string, depth int) string {
	if !s.mapped() {
		return value
	}
	item := fmt.Sprintf("x%d", depth)
	switch s.kind {
	case duckdb.TYPE_LIST:
		return "list_transform(" + value + ", lambda " + item + ": " + s.items[0].fetched(item, depth+1) + ")"
	case duckdb.TYPE_MAP:
		entry := "{'key': " + s.key.fetched(item+".key", depth+1) + ", 'value': " + s.items[0].fetched(item+".value", depth+1) + "}"
		return "list_transform(map_entries(" + value + "), lambda " + item + ": " + entry + ")"
	}
	members := make([]string, len(s.fields))
	for i, name := range s.fields {
		members[i] = duck.Ident(name) + " := " + s.items[i].fetched("struct_extract("+value+", "+duck.Text(name)+")", depth)
	}
	return "CASE WHEN " + value + " IS NULL THEN NULL ELSE struct_pack(" + strings.Join(members, ", ") + ") END"
}

// mapped says whether there is a map at any depth.
func (s *shape) mapped() bool {
	return s.kind == duckdb.TYPE_MAP || slices.ContainsFunc(s.items, (*shape).mapped)
}

// wide says whether a shape may hold an integer past 2^53 - 1.
func (s *shape) wide() bool {
	switch s.kind {
	case duckdb.TYPE_BIGINT, duckdb.TYPE_UBIGINT, duckdb.TYPE_HUGEINT, duckdb.TYPE_UHUGEINT:
		return true
	}
	for _, item := range s.items {
		if item.wide() {
			return true
		}
	}
	return false
}

// exceeds says whether a value of this shape holds an integer beyond ±(2^53 - 1).
func (s *shape) exceeds(v driver.Value) bool {
	switch v := v.(type) {
	case int64:
		return v > safeInteger || v < -safeInteger
	case uint64:
		return v > safeInteger
	case *big.Int:
		return !v.IsInt64() || s.exceeds(v.Int64())
	case []any:
		for _, item := range v {
			if s.kind == duckdb.TYPE_MAP {
				_, item = entry(item)
			}
			if s.items[0].exceeds(item) {
				return true
			}
		}
	case map[string]any:
		for i, name := range s.fields {
			if s.items[i].exceeds(v[name]) {
				return true
			}
		}
	}
	return false
}

// entry takes an entry of a map apart.
func entry(v any) (key, value any) {
	e, _ := v.(map[string]any)
	return e["key"], e["value"]
}

// appendJSON prints one cell. quoted: integers of 64 bits and more print as decimal strings.
func (s *shape) appendJSON(b []byte, v driver.Value, quoted bool) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int8:
		return strconv.AppendInt(b, int64(v), 10)
	case int16:
		return strconv.AppendInt(b, int64(v), 10)
	case int32:
		return strconv.AppendInt(b, int64(v), 10)
	case uint8:
		return strconv.AppendUint(b, uint64(v), 10)
	case uint16:
		return strconv.AppendUint(b, uint64(v), 10)
	case uint32:
		return strconv.AppendUint(b, uint64(v), 10)
	case int64:
		return quote(strconv.AppendInt(openQuote(b, quoted), v, 10), quoted)
	case uint64:
		return quote(strconv.AppendUint(openQuote(b, quoted), v, 10), quoted)
	case *big.Int:
		return quote(v.Append(openQuote(b, quoted), 10), quoted)
	case duckdb.Decimal:
		text := v.String()
		long := s.width > 15 // such digits do not survive a float
		return quote(append(openQuote(b, long), text...), long)
	case float32:
		return appendFloat(b, float64(v), 32, true)
	case float64:
		return appendFloat(b, v, 64, true)
	case string:
		return appendString(b, v)
	case []byte:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v)
		return append(b, '"')
	case time.Time:
		b = append(b, '"')
		b = appendTime(b, v, s.kind)
		return append(b, '"')
	case []any:
		if s.kind == duckdb.TYPE_MAP {
			return s.appendMap(b, v, quoted)
		}
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = s.items[0].appendJSON(b, item, quoted)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range s.fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = s.items[i].appendJSON(b, v[name], quoted)
		}
		return append(b, '}')
	}
	return appendString(b, fmt.Sprint(v))
}

// appendMap prints a map as an object whose names are the texts of its keys, sorted. The text of a key is what its cell says
// without quotes.
func (s *shape) appendMap(b []byte, entries []any, quoted bool) []byte {
	names := make([]string, len(entries))
	order := make([]int, len(entries))
	for i, e := range entries {
		key, _ := entry(e)
		names[i], order[i] = string(s.key.appendText(nil, key)), i
	}
	sort.SliceStable(order, func(i, j int) bool { return names[order[i]] < names[order[j]] })
	b = append(b, '{')
	for i, at := range order {
		if i > 0 {
			b = append(b, ',')
		}
		_, value := entry(entries[at])
		b = append(appendString(b, names[at]), ':')
		b = s.items[0].appendJSON(b, value, quoted)
	}
	return append(b, '}')
}

func openQuote(b []byte, on bool) []byte {
	if on {
		return append(b, '"')
	}
	return b
}

func quote(b []byte, on bool) []byte { return openQuote(b, on) }

// appendText prints one cell for CSV and for people: as JSON without the quotes around a scalar. A null prints nothing.
func (s *shape) appendText(b []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case nil:
		return b
	case string:
		return append(b, strings.ToValidUTF8(v, "\uFFFD")...)
	case []byte:
		return base64.StdEncoding.AppendEncode(b, v)
	case time.Time:
		return appendTime(b, v, s.kind)
	case float32:
		return appendFloat(b, float64(v), 32, false)
	case float64:
		return appendFloat(b, v, 64, false)
	case duckdb.Decimal:
		return append(b, v.String()...)
	}
	return s.appendJSON(b, v, false)
}

func appendFloat(b []byte, f float64, bits int, quoted bool) []byte {
	word := ""
	switch {
	case math.IsNaN(f):
		word = "NaN"
	case math.IsInf(f, 1):
		word = "inf"
	case math.IsInf(f, -1):
		word = "-inf"
	}
	if word != "" {
		return quote(append(openQuote(b, quoted), word...), quoted)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, format, -1, bits)
	// A float stays one to a reader that tells 1 and 1.0 apart.
	if !strings.ContainsAny(string(b[from:]), ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// appendTime prints an instant as ISO 8601 in UTC with the fraction it has.
func appendTime(b []byte, t time.Time, kind duckdb.Type) []byte {
	if kind != duckdb.TYPE_TIMESTAMP_NS {
		switch t.UnixMicro() {
		case math.MaxInt64:
			return append(b, "infinity"...)
		case -math.MaxInt64:
			return append(b, "-infinity"...)
		}
	}
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999Z")
}

// appendString prints a JSON string. Text is UTF-8 by type; other bytes could only come from a damaged part.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return append(b, `""`...)
	}
	return append(b, strings.TrimSuffix(text.String(), "\n")...)
}
