// Package colfile writes, verifies and opens the Parquet parts of a store.
//
// Answers: store.reserve.injected (TIMESTAMP(UTC, NANOS)); it serves store.lay-out.components, store.fold.pass and
// store.declare.dedup-view, whose order is exact to the nanosecond.
//
// # A part
//
// Zstandard, data pages V1, statistics on, row groups of at most 128 Ki rows and about 64 MiB, timestamps as
// TIMESTAMP(isAdjustedToUTC = true, NANOS), and the Arrow schema under the key ARROW:schema, so that json and vectors read
// back as themselves. For DuckDB json is plain text.
//
// # Foreign bytes
//
// A file is not trusted: its footer is walked before the library decodes it, chunks must lie within the file, pages and blocks of
// differences are bounded, and codecs write no further than the page they fill. Damage costs what the file is worth.
//
// # Row groups
//
// GroupReader reads single row groups. MayHold asks a footer's bounds and bloom filters whether a row group can hold rows that
// somebody looks for (store.available-time.vintage-scope); of one that cannot no byte is read.
//
// # The footer flip
//
// DuckDB reads TIMESTAMP(UTC, NANOS) as TIMESTAMPTZ and drops what is below the microsecond. With isAdjustedToUTC false the
// same bytes read as TIMESTAMP_NS, exactly. That flag is one byte of the Thrift footer for each column, and no length
// changes: FlipUTC turns it in a footer, OpenFlipped gives a turned copy to read from, FlipFile turns a file DuckDB wrote.
package colfile
