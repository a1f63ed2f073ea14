package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"contextful/ref/decl"
	"contextful/ref/fault"
	"contextful/ref/manifest"
	"contextful/ref/schema"
)

// Metadata keys under which schema.json records what may not change once data exists. Each value is JSON text.
const (
	MetaPrimaryKey  = "contextful.primary_key"
	MetaPartitionBy = "contextful.partition_by"
	MetaWriteMode   = "contextful.write_mode"
)

// DeclarationMetadata is what a declaration records in schema.json at the first landing.
func DeclarationMetadata(d *decl.Table) map[string]string {
	return map[string]string{
		MetaPrimaryKey:  jsonText(nonNil(d.PrimaryKey)),
		MetaPartitionBy: jsonText(nonNil(d.PartitionBy)),
		MetaWriteMode:   jsonText(d.WriteMode),
	}
}

// CheckDeclaration refuses with StoreDeclarationChanged where the table's declaration differs from what its schema records;
// where the schema (another writer's) records no primary key, from the head snapshot's. Schema and head may be nil, and a
// table that is not declared agrees with everything.
func (t *Table) CheckDeclaration(s *schema.Schema, head *manifest.Snapshot) error {
	if t.decl == nil {
		return nil
	}
	differs := func(what, recorded, declared string) error {
		return fault.New(fault.StoreDeclarationChanged, t.name,
			fmt.Sprintf("table %q was written with %s = %s and is declared with %s", t.name, what, recorded, declared)).
			WithHint("declare it as it was written, or begin another table")
	}
	declared := DeclarationMetadata(t.decl)
	for _, m := range []struct{ meta, what string }{
		{MetaPrimaryKey, "primary_key"}, {MetaPartitionBy, "partition_by"}, {MetaWriteMode, "write_mode"},
	} {
		recorded, ok := metadata(s, m.meta)
		if ok && !sameJSON(recorded, declared[m.meta]) {
			return differs(m.what, recorded, declared[m.meta])
		}
		if !ok && m.meta == MetaPrimaryKey && head != nil && !slices.Equal(head.PrimaryKey, nonNil(t.decl.PrimaryKey)) {
			return differs(m.what, jsonText(head.PrimaryKey), declared[m.meta])
		}
	}
	return nil
}

// effective is the declaration readers go by: the declared one, else what schema.json and the head snapshot record, so that
// a table that was only pulled still reads through its key.
func (t *Table) effective(s *schema.Schema, head *manifest.Snapshot) *decl.Table {
	if t.decl != nil {
		return t.decl
	}
	d := &decl.Table{Name: t.name, OrderBy: decl.DefaultOrderBy, WriteMode: decl.Append, Replicate: true, RetainRuns: decl.DefaultRetainRuns}
	if head != nil {
		d.PrimaryKey = head.PrimaryKey
		if head.OrderBy != "" {
			d.OrderBy = head.OrderBy
		}
	}
	read := func(meta string, into any) {
		if text, ok := metadata(s, meta); ok {
			_ = json.Unmarshal([]byte(text), into) // metadata that is no JSON says nothing
		}
	}
	read(MetaPrimaryKey, &d.PrimaryKey)
	read(MetaPartitionBy, &d.PartitionBy)
	read(MetaWriteMode, &d.WriteMode)
	return d
}

func metadata(s *schema.Schema, name string) (string, bool) {
	if s == nil {
		return "", false
	}
	v, ok := s.Metadata[name]
	return v, ok
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return jsonText(x) == jsonText(y)
}

func jsonText(v any) string {
	data, _ := json.Marshal(v) // strings and lists of strings always print
	return string(data)
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
