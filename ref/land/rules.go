package land

import (
	"fmt"
	"time"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/schema"
)

// rule says what is known of a column before a value is read. The zero rule is an undeclared column nobody has seen.
type rule struct {
	declared schema.Type // None where undeclared
	stored   schema.Type // None where the table does not have it
	key      bool
	native   bool // what undeclared objects and arrays become: a type of their own, or json
	required bool // every row has a value
	skip     bool // injected: the producer's value is checked for syntax and dropped
	// zone is where a value without an offset is read: of the availability instant alone, else nil.
	zone    *time.Location
	refused bool // begins with "_" and is not the producer's to name
}

// rules looks a column's rule up by name.
type rules struct {
	named  map[string]*rule
	native bool
}

func newRules(t *decl.Table, stored *schema.Schema, types map[string]schema.Type, native bool) rules {
	rs := rules{named: map[string]*rule{}, native: native}
	at := func(name string) *rule {
		if rs.named[name] == nil {
			rs.named[name] = &rule{native: native}
		}
		return rs.named[name]
	}
	if stored != nil {
		for _, c := range stored.Columns {
			at(c.Name).stored = c.Type
		}
	}
	if t != nil {
		for name, ty := range t.Columns {
			at(name).declared = ty
		}
		for _, k := range t.PrimaryKey {
			at(k).key = true
		}
		if s := t.Snapshot; s != nil {
			at(s.Document).required = true
			if s.CapturedAt != "" {
				at(s.CapturedAt).required = true
			}
		}
		if a := t.AvailableTime; a != nil {
			at(a.Column).zone = a.Location()
		}
	}
	for name, ty := range types {
		at(name).declared = ty
	}
	for name, r := range rs.named {
		r.reserve(name)
	}
	return rs
}

// producers are the names beginning with "_" that a producer may use (formats.md, Injected columns).
func (r *rule) reserve(name string) {
	if name == "" || name[0] != '_' {
		return
	}
	switch name {
	case "_modality", "_lang", "_provenance", "_prompt_hash":
	case "_batch_seq", "_authored_by", "_taint":
		r.skip = true
	default:
		r.skip = schema.IsInjected(name)
		r.refused = !r.skip
	}
}

func (rs rules) of(name string) *rule {
	if r := rs.named[name]; r != nil {
		return r
	}
	r := &rule{native: rs.native}
	r.reserve(name)
	return r
}

// checkTypes joins the declaration's types and --type: one column with two different types is a contradiction.
func checkTypes(t *decl.Table, types map[string]schema.Type) error {
	for name, ty := range types {
		if why := schema.CheckName(name); why != "" {
			return fault.New(fault.StoreInputMalformed, name, fmt.Sprintf("the column name %q %s", name, why)).WithHint(renameTheField)
		}
		r := rule{}
		if r.reserve(name); r.skip || r.refused {
			return fault.New(fault.StoreReservedColumnName, name, fmt.Sprintf("column %q is the store's own and takes no type", name)).WithHint("leave the type out: every run fills this column itself")
		}
		if t == nil {
			continue
		}
		if d, ok := t.Columns[name]; ok && !d.Equal(ty) {
			return fault.New(fault.StoreDeclarationInvalid, name, fmt.Sprintf("column %q is declared %s and given as %s", name, d, ty)).
				WithHint("leave the type out, or change the declaration")
		}
	}
	return nil
}

// rowError is a refusal about one value. row counts from 0 within its block, -1 for the row being read; line from 1 within the input, 0 where the
// input has no lines; the collector knows the rows before and turns it into a fault.
type rowError struct {
	code   fault.Code
	row    int
	line   int64
	column string
	text   string
	hint   string
}

func (e *rowError) Error() string { return e.text }

func malformed(format string, args ...any) *rowError {
	return &rowError{code: fault.StoreInputMalformed, row: -1, text: fmt.Sprintf(format, args...)}
}

// fault names input, line and row.
func (e *rowError) fault(input string, rowsBefore int64) *fault.Error {
	row := rowsBefore + int64(e.row) + 1
	where := fmt.Sprintf("%s row %d", input, row)
	if e.line > 0 {
		where = fmt.Sprintf("%s:%d", input, e.line)
	}
	text := where + ": "
	if e.line > 0 && e.column != "" && e.line != row {
		text += fmt.Sprintf("row %d, ", row)
	}
	subject := where
	if e.column != "" && e.code != fault.StoreInputMalformed {
		subject = e.column
	}
	return fault.New(e.code, subject, text+e.text).WithHint(e.advice())
}

// Kinds the scanner asks for by name.
const (
	floatKind = schema.Float64
	jsonKind  = schema.JSON
)
