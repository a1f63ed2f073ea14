package schema

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"contextful/ref/fault"
)

// Column is one column of a table.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Metadata map[string]string // Arrow field metadata beside the extension name
}

// Schema is a table's columns, in order, and its string metadata ("contextful.primary_key" …). Column names are unique and
// stay so ignoring case.
type Schema struct {
	Columns  []Column
	Metadata map[string]string
}

// Injected names of the columns the engine stamps on every row.
const (
	IngestedAt = "_ingested_at"
	RunID      = "_run_id"
	SiteID     = "_site_id"
	RowSeq     = "_row_seq"
	CommitSeq  = "_commit_seq"
	// BatchSeq stands only in rows that came within a batch scope, a pipeline's run.
	BatchSeq = "_batch_seq"
)

// BatchColumn is the injected column of rows within a batch scope. A table may have it and rows without.
func BatchColumn() Column { return Column{Name: BatchSeq, Type: Of(Int32), Nullable: true} }

// Injected lists the engine's columns in the order in which they end every part and every schema: none is nullable.
func Injected() []Column {
	return []Column{
		{Name: IngestedAt, Type: Of(Timestamp)}, {Name: RunID, Type: Of(Utf8)}, {Name: SiteID, Type: Of(Utf8)},
		{Name: RowSeq, Type: Of(Int64)}, {Name: CommitSeq, Type: Of(Int64)},
	}
}

// injectedRank orders the engine's columns; -1 for a producer's.
func injectedRank(name string) int {
	if name == "" || name[0] != '_' {
		return -1
	}
	switch name {
	case IngestedAt:
		return 0
	case RunID:
		return 1
	case SiteID:
		return 2
	case RowSeq:
		return 3
	case CommitSeq:
		return 4
	case BatchSeq:
		return 5
	}
	return -1
}

// IsInjected reports whether the engine writes this column itself (store.reserve.injected).
func IsInjected(name string) bool { return injectedRank(name) >= 0 }

// Index gives the position of the column, -1 where there is none. Names compare exactly.
func (s *Schema) Index(name string) int {
	if s != nil {
		for i := range s.Columns {
			if s.Columns[i].Name == name {
				return i
			}
		}
	}
	return -1
}

// Lookup gives a column's type and whether there is one.
func (s *Schema) Lookup(name string) (Type, bool) {
	if i := s.Index(name); i >= 0 {
		return s.Columns[i].Type, true
	}
	return Type{}, false
}

// Clone is a deep enough copy: columns and metadata may be changed, types are never mutated.
func (s *Schema) Clone() *Schema {
	c := &Schema{Columns: append([]Column(nil), s.Columns...), Metadata: cloneMap(s.Metadata)}
	for i := range c.Columns {
		c.Columns[i].Metadata = cloneMap(c.Columns[i].Metadata)
	}
	return c
}

func cloneMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// Equal reports whether both hold the same columns (type, nullability, metadata), in any order, and the same metadata.
func (s *Schema) Equal(o *Schema) bool {
	if len(s.Columns) != len(o.Columns) || !equalMap(s.Metadata, o.Metadata) {
		return false
	}
	at := make(map[string]*Column, len(o.Columns))
	for i := range o.Columns {
		at[o.Columns[i].Name] = &o.Columns[i]
	}
	for i := range s.Columns {
		c, d := &s.Columns[i], at[s.Columns[i].Name]
		if d == nil || c.Nullable != d.Nullable || !c.Type.Equal(d.Type) || !equalMap(c.Metadata, d.Metadata) {
			return false
		}
	}
	return true
}

func equalMap(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

// MergeType joins two types of one column (store.reconcile.lattice, nested-lattice). A pair without a join is
// StoreSchemaIncompatible with an empty subject; Merge names the column.
func MergeType(stored, arriving Type) (Type, error) { return mergeType("", stored, arriving) }

// MergeColumn is MergeType for a column: a refusal names it, or the path in it.
func MergeColumn(name string, stored, arriving Type) (Type, error) {
	return mergeType(name, stored, arriving)
}

func mergeType(path string, stored, arriving Type) (Type, error) {
	a, b := stored.Kind, arriving.Kind
	switch {
	case a == None:
		return arriving, nil
	case b == None:
		return stored, nil
	case a == Int64 && b == Float64 || a == Float64 && b == Int64:
		return Of(Float64), nil
	case a == JSON && b == Utf8 || a == Utf8 && b == JSON:
		return Of(JSON), nil
	case a != b || stored.Width != arriving.Width || stored.Dim != arriving.Dim:
		return Type{}, Incompatible(path, stored, arriving)
	case a == List || a == Map:
		at := path + "[]"
		if a == Map {
			at = path + "{}"
		}
		e, err := mergeType(at, *stored.Elem, *arriving.Elem)
		return Type{Kind: a, Elem: &e}, err
	case a == Struct:
		return mergeFields(path, stored, arriving)
	}
	return stored, nil
}

func mergeFields(path string, stored, arriving Type) (Type, error) {
	out := Type{Kind: Struct, Fields: append([]Field(nil), stored.Fields...)}
	at := make(map[string]int, len(out.Fields))
	for i, f := range out.Fields {
		at[FoldName(f.Name)] = i
	}
	for _, f := range arriving.Fields {
		i, ok := at[FoldName(f.Name)]
		if !ok {
			at[FoldName(f.Name)] = len(out.Fields)
			out.Fields = append(out.Fields, f)
			continue
		}
		if out.Fields[i].Name != f.Name {
			return Type{}, ambiguous(path+"."+out.Fields[i].Name, path+"."+f.Name)
		}
		t, err := mergeType(path+"."+f.Name, out.Fields[i].Type, f.Type)
		if err != nil {
			return Type{}, err
		}
		out.Fields[i].Type = t
	}
	return out, nil
}

// Incompatible is the refusal of store.reconcile.incompatible: column (a path for a nested one), stored and arriving type.
func Incompatible(column string, stored, arriving Type) *fault.Error {
	return fault.New(fault.StoreSchemaIncompatible, column,
		fmt.Sprintf("column %q is stored as %s and arrives as %s", column, stored, arriving))
}

func ambiguous(a, b string) *fault.Error {
	if b < a {
		a, b = b, a
	}
	return fault.New(fault.StoreColumnAmbiguous, b, fmt.Sprintf("columns %q and %q differ only in case", a, b)).
		WithHint("rename one of them: SQL cannot tell them apart")
}

// Merge gives the schema that serves both: columns of stored in their order, then what arriving adds, then the injected
// columns; types by MergeType; metadata united. Neither argument is changed, either may be nil. Producers' columns come out
// nullable, since a file written before a column reads it as null (store.reconcile.additive).
//
// keys are the table's primary key: a key column that would take the Float64 promotion raises StoreKeyWidened, naming it
// (store.reconcile.key-widening), and one that arrives with a nested type, a variant or a vector StoreSchemaIncompatible. Sync passes nil keys: rows landed elsewhere exist already, and the fold is where they meet.
// Other refusals: StoreSchemaIncompatible (column, stored type, arriving type), StoreColumnAmbiguous (both names).
// A "contextful." metadata key with two values is StoreDeclarationChanged, of any other the smaller text stays, of a column's
// first_landed_at the earlier instant.
func Merge(stored, arriving *Schema, keys []string) (*Schema, error) {
	if stored == nil {
		stored = &Schema{}
	}
	if arriving == nil {
		arriving = &Schema{}
	}
	isKey := make(map[string]bool, len(keys))
	for _, k := range keys {
		isKey[k] = true
	}
	out := &Schema{}
	at := make(map[string]int, len(stored.Columns)+len(arriving.Columns))
	for _, side := range [2]*Schema{stored, arriving} {
		for _, c := range side.Columns {
			if isKey[c.Name] && side == arriving && !tellsApart(c.Type) {
				return nil, fault.New(fault.StoreSchemaIncompatible, c.Name, fmt.Sprintf("primary key column %q arrives as %s, by which no row can be told apart", c.Name, c.Type)).
					WithHint("key the table by a column of a plain type, or declare this one as json")
			}
			fold := FoldName(c.Name)
			i, ok := at[fold]
			if !ok {
				at[fold] = len(out.Columns)
				c.Metadata = cloneMap(c.Metadata)
				out.Columns = append(out.Columns, c)
				continue
			}
			have := &out.Columns[i]
			if have.Name != c.Name {
				return nil, ambiguous(have.Name, c.Name)
			}
			t, err := mergeType(c.Name, have.Type, c.Type)
			if err != nil {
				return nil, err
			}
			if isKey[c.Name] && t.Kind == Float64 && have.Type.Kind != c.Type.Kind && have.Type.Kind != None && c.Type.Kind != None {
				return nil, KeyWidened(c.Name, have.Type, c.Type)
			}
			have.Type, have.Nullable = t, have.Nullable || c.Nullable
			if have.Metadata, err = mergeMap(have.Metadata, c.Metadata, c.Name); err != nil {
				return nil, err
			}
		}
	}
	if len(out.Columns) > MaxFields {
		return nil, fault.New(fault.StoreSchemaIncompatible, "", fmt.Sprintf("the table would have %d columns, more than %d", len(out.Columns), MaxFields))
	}
	for i := range out.Columns {
		if at := overfull(out.Columns[i].Name, out.Columns[i].Type); at != "" {
			return nil, fault.New(fault.StoreSchemaIncompatible, at, fmt.Sprintf("column %q would have more than %d fields", at, MaxFields)).
				WithHint("a record of that many fields is a map, or belongs in a json column")
		}
	}
	settle(out)
	var err error
	if out.Metadata, err = mergeMap(cloneMap(stored.Metadata), arriving.Metadata, ""); err != nil {
		return nil, err
	}
	return out, nil
}

// overfull names a struct of t that has more fields than a schema.json may have, "" for none.
func overfull(path string, t Type) string {
	switch {
	case len(t.Fields) > MaxFields:
		return path
	case t.Kind == List:
		return overfull(path+"[]", *t.Elem)
	case t.Kind == Map:
		return overfull(path+"{}", *t.Elem)
	}
	for _, f := range t.Fields {
		if len(f.Type.Fields) == 0 && f.Type.Elem == nil {
			continue
		}
		if at := overfull(path+"."+f.Name, f.Type); at != "" {
			return at
		}
	}
	return ""
}

// tellsApart says whether a key may have values of type t (store.declare.key-type).
func tellsApart(t Type) bool { return t.Kind == None || t.Scalar() || t.Kind == FixedBinary }

// KeyWidened is the refusal of store.reconcile.key-widening.
func KeyWidened(column string, stored, arriving Type) *fault.Error {
	return fault.New(fault.StoreKeyWidened, column,
		fmt.Sprintf("primary key column %q is stored as %s and arrives as %s: a key is never widened to float64", column, stored, arriving)).
		WithHint("send the key in its stored type, or declare the column's type")
}

// settle moves injected columns to the end, in their order, and fixes nullability.
func settle(s *Schema) {
	for i := range s.Columns {
		s.Columns[i].Nullable = !IsInjected(s.Columns[i].Name) || s.Columns[i].Name == BatchSeq
	}
	sort.SliceStable(s.Columns, func(i, j int) bool {
		return injectedRank(s.Columns[i].Name) < injectedRank(s.Columns[j].Name)
	})
}

func mergeMap(into, from map[string]string, column string) (map[string]string, error) {
	for k, v := range from {
		have, ok := into[k]
		if ok && column != "" && k == MetaFirstLandedAt {
			into[k] = firstOf(have, v)
			continue
		}
		if ok && have != v && strings.HasPrefix(k, "contextful.") {
			a, b := min(have, v), max(have, v)
			return nil, fault.New(fault.StoreDeclarationChanged, strings.TrimPrefix(k, "contextful."),
				fmt.Sprintf("two schemas of one table differ in %s%s: %s and %s", k, of(column), a, b))
		}
		if !ok || v < have {
			if into == nil {
				into = make(map[string]string, len(from))
			}
			into[k] = v
		}
	}
	return into, nil
}

func of(column string) string {
	if column == "" {
		return ""
	}
	return " of column " + column
}

// FoldName is the name all spellings of it that differ only in case share.
func FoldName(name string) string {
	ascii := true
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 0x80 || c >= 'A' && c <= 'Z' {
			ascii = false
			break
		}
	}
	if ascii {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			if r != 'k' && r != 's' {
				return r
			}
		}
		// The largest ASCII member, else the smallest of the orbit, stands for it: K, k and the Kelvin sign are one.
		low, ascii := r, rune(0)
		for f := r; ; {
			if f < 0x80 {
				ascii = max(ascii, f)
			}
			low = min(low, f)
			if f = unicode.SimpleFold(f); f == r {
				break
			}
		}
		if ascii != 0 {
			return ascii
		}
		return low
	}, name)
}
