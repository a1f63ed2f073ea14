// Package land writes one input as one run of a table, or refuses and leaves the store as it was.
//
// Answers: store.land.*, store.reserve.injected, store.reserve.reserved-name, store.reconcile.lattice,
// store.reconcile.additive, store.reconcile.incompatible, store.reconcile.key-widening (at the write), store.lay-out.run-digest,
// store.available-time.vintage-scope.
//
// # Two passes
//
// The first reads the whole input, checks every value, settles each column's type, hashes, and spools the typed rows: in
// memory, or beyond Options.MemoryBytes in a temporary file. JSON Lines are cut into blocks of whole lines, which are parsed
// side by side and taken in order. Nothing of the store is touched. The second runs under the table's lock: replay or
// conflict, schema, commit sequence, parts of at most 1 Mi rows with the injected columns, schema.json, manifest.
//
// # What a value becomes
//
// Declared columns take what their type holds without loss and refuse the rest. An undeclared JSON value is boolean, int64 (an
// integer literal), float64 (any other number), utf8 or json; where the table stores boolean, int32, timestamp or binary, a
// value that turns into it without loss does so. int64 and float64 in one column make float64, unless an integer would lose
// digits; utf8 and json in one column make json, the text as JSON strings. Text that joins a stored json column is written so too. null is the same as a name that is not
// there, and a column without any value is left out.
//
// # batch_digest
//
// The digest names the producer's rows in the types they arrive in, column by column, so it depends neither on the order of
// keys or columns nor on how the input was cut; and neither injected columns, nor the commit's instant, nor what the table
// holds meanwhile are in it. Integers are little-endian:
//
//	batch_digest = hex(SHA-256("contextful/batch/1\0" rows:u64 column* 0:u8 text(position)))
//	column       = text(name) text(type) SHA-256(nulls) SHA-256(fixed) SHA-256(bytes)      sorted by name
//	text(s)      = length:u64 s
//	nulls        = for each longest run of nulls: first row:u64, length:u64
//	fixed        = for each value: boolean u8 · int32 i32 · int64, timestamp (ns) i64 · float64 its bits · else length:u32
//	bytes        = the bytes of utf8, json and binary values, joined
//
// position is the source's position as JSON without spaces, members sorted; empty where there is none.
package land
