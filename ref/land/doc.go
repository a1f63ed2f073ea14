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
// Columns declared, or stored, as a type that is no scalar go through a node for each place in it (deep.go). Undeclared objects and
// arrays are held as JSON text until the input has ended where its values decide the type: under Options.Normalize = native, and
// where the table's own type may be promoted by the lattice. A shape learns that type meanwhile (shape.go). Under native a column
// of objects or arrays that no one type holds lands as json: kinds that have no join at one place, scalars beside objects, an
// integer past int64, names that are empty or differ only in case, nothing but empty objects or lists, more than
// schema.MaxDepth levels or schema.MaxFields fields.
//
// # batch_digest
//
// The digest names the producer's rows in the types they arrive in, column by column, so it depends neither on the order of
// keys or columns nor on how the input was cut; and neither injected columns, nor the commit's instant, nor what the table
// holds meanwhile are in it. Integers are little-endian:
//
//	batch_digest = hex(SHA-256("contextful/batch/1\0" rows:u64 column* 0:u8 text(position)))
//	column       = text(name) text(type) values kid*                                       sorted by name
//	values       = SHA-256(nulls) SHA-256(fixed) SHA-256(bytes)
//	kid          = text(name) values kid*                                                  sorted by name
//	text(s)      = length:u64 s
//	nulls        = for each longest run of nulls: first row:u64, length:u64
//	fixed        = for each value: boolean u8 · int32 i32 · int64, timestamp (ns) i64 · float64 its bits · struct, variant nothing ·
//	               else length:u32, of a list or map the number of items
//	bytes        = the bytes of utf8, json and binary values, of a vector its items' as they are stored, joined
//
// Kids are a struct's fields, "[]" the items of a list, "{key}" and "{}" the keys and values of a map in the order of the keys;
// their rows are those of the values that are there, one after the other. A place where no value was is left out, of the type too
// (an item there is "null"), and the type's fields are sorted: so a field that is always null is as good as one that is not there.
//
// position is the source's position as JSON without spaces, members sorted; empty where there is none.
package land
