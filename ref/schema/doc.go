// Package schema is the type language of columns, the lattice that merges what different landings bring, and the
// Arrow JSON document a table keeps of it (tables/<t>/schema.json). Bytes in, bytes out, no I/O.
//
// Answers: store.reconcile.lattice, store.reconcile.additive, store.reconcile.incompatible, store.reconcile.key-widening,
// store.reconcile.binary-and-vector, store.reconcile.nested-lattice, and the merge of store.pull.schema-merge.
//
// # The lattice
//
// Two types of one column have a join or the write is refused:
//
//	int64 ∨ float64 = float64      utf8 ∨ json = json      t ∨ t = t
//	struct ∨ struct = the union of fields, each joined     list<a> ∨ list<b> = list<a ∨ b>     map likewise
//	anything else: StoreSchemaIncompatible, naming the column (its path), the stored and the arriving type
//
// The join is commutative, associative and idempotent on types. Column order is the first argument's, then what the second
// adds, then the injected columns in their fixed order; so sync passes the bucket's schema first and both sides end at the
// same bytes.
//
// # schema.json
//
// The schema object of Arrow's integration format: {"fields": [{"name", "nullable", "type", "children", "metadata"}],
// "metadata"}, metadata as a list of {"key", "value"} sorted by key (an object is read too). json is utf8 with
// ARROW:extension:name = arrow.json, variant the struct of its fields with ARROW:extension:name = contextful.variant.
package schema
