package store

import (
	"cmp"
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
	// Of keyed tables: it chooses the survivors. Absent in what earlier builds wrote.
	MetaOrderBy = "contextful.order_by"
	// Absent where the table does not declare them.
	MetaValidTime     = "contextful.valid_time"
	MetaAvailableTime = "contextful.available_time"
)

// DeclarationMetadata is what a declaration records in schema.json at the first landing.
func DeclarationMetadata(d *decl.Table) map[string]string {
	m := map[string]string{
		MetaPrimaryKey:  jsonText(nonNil(d.PrimaryKey)),
		MetaPartitionBy: jsonText(nonNil(d.PartitionBy)),
		MetaWriteMode:   jsonText(d.WriteMode),
	}
	if d.Keyed() {
		m[MetaOrderBy] = jsonText(d.OrderBy)
	}
	if v := RecordedValidTime(d); v != nil {
		m[MetaValidTime] = jsonText(v)
	}
	if a := RecordedAvailableTime(d); a != nil {
		m[MetaAvailableTime] = jsonText(a)
	}
	return m
}

// RecordedValidTime is what documents say of a table's valid_time, nil where it declares none.
func RecordedValidTime(d *decl.Table) *manifest.ValidTime {
	if d.ValidTime == nil {
		return nil
	}
	return &manifest.ValidTime{From: d.ValidTime.From, To: d.ValidTime.To}
}

// RecordedAvailableTime is what documents say of a table's available_time: what its stored instants are. live_since and
// adjustments are the reader's and may change.
func RecordedAvailableTime(d *decl.Table) *manifest.AvailableTime {
	if d.AvailableTime == nil {
		return nil
	}
	return &manifest.AvailableTime{Column: d.AvailableTime.Column, Zone: d.AvailableTime.Zone}
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
		{MetaOrderBy, "order_by"},
	} {
		recorded, ok := metadata(s, m.meta)
		if ok && !sameJSON(recorded, declared[m.meta]) {
			return differs(m.what, recorded, declared[m.meta])
		}
		if !ok && m.meta == MetaPrimaryKey && head != nil && !slices.Equal(head.PrimaryKey, nonNil(t.decl.PrimaryKey)) {
			return differs(m.what, jsonText(head.PrimaryKey), declared[m.meta])
		}
	}
	// A clock leaves no trace where it is not declared: what says nothing of it says "none", if it is ours to say.
	recorded, known := recordedClocks(s, head)
	for _, m := range []struct{ meta, what string }{{MetaValidTime, "valid_time"}, {MetaAvailableTime, "available_time"}} {
		if have, want := recorded[m.meta], declared[m.meta]; known && !sameJSON(have, want) {
			return differs(m.what, cmp.Or(have, "none"), cmp.Or(want, "none"))
		}
	}
	return nil
}

// recordedClocks is what the schema, or where another writer's says nothing of keys the head snapshot, records of the
// declared clocks, by metadata key; known is false where neither is there.
func recordedClocks(s *schema.Schema, head *manifest.Snapshot) (recorded map[string]string, known bool) {
	recorded = map[string]string{}
	if s != nil {
		_, known = s.Metadata[MetaPrimaryKey]
		for _, k := range []string{MetaValidTime, MetaAvailableTime} {
			if v, ok := s.Metadata[k]; ok {
				recorded[k], known = v, true
			}
		}
	}
	if known || head == nil {
		return recorded, known
	}
	if head.ValidTime != nil {
		recorded[MetaValidTime] = jsonText(head.ValidTime)
	}
	if head.AvailableTime != nil {
		recorded[MetaAvailableTime] = jsonText(head.AvailableTime)
	}
	return recorded, true
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
	read(MetaOrderBy, &d.OrderBy)
	recorded, _ := recordedClocks(s, head)
	var valid manifest.ValidTime
	if json.Unmarshal([]byte(recorded[MetaValidTime]), &valid) == nil && valid.From != "" {
		d.ValidTime = &decl.ValidTime{From: valid.From, To: valid.To}
	}
	var available manifest.AvailableTime
	if json.Unmarshal([]byte(recorded[MetaAvailableTime]), &available) == nil && available.Column != "" {
		d.AvailableTime = &decl.AvailableTime{Column: available.Column, Zone: available.Zone}
	}
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
