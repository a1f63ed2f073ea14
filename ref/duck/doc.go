// Package duck is the one way this project reads and writes Parquet through DuckDB: a session with every default pinned, and
// the SQL of a table as its readers see it.
//
// Answers: store.reconcile.explicit-file-list, store.reconcile.additive, store.reconcile.lattice, store.declare.dedup-view,
// store.declare.unkeyed-union, store.bound-time.interval-rows, store.bound-time.valid-as-of, store.available-time.available-as-of,
// store.available-time.vintage-rows, store.available-time.vintage-dedup-key (what fold and query share of them).
//
// # A table's relation
//
//	SELECT CAST(column AS type) …                          our schema decides names, order and types
//	FROM (SELECT NULL::type AS column … WHERE false        a column no file has reads as null
//	      UNION ALL BY NAME
//	      SELECT * FROM read_parquet([every file], union_by_name, no hive columns))
//	[WHERE bounds on commit and availability]              before survivors are chosen
//	[QUALIFY ROW_NUMBER() OVER (PARTITION BY line ORDER BY [availability,] …) = 1]
//	[WHERE bounds on validity]                             of the survivors: what a later row closed is closed
//
// # Text that became json
//
// A json column may have parts of the time when it was utf8. Their text reads as the JSON string of it: which parts hold
// text the manifests say (json_columns), and where one does not, the part's own schema. Parts are told apart by DuckDB's
// index of the file within the list, so they stay in one read_parquet.
//
// # Timestamps
//
// Parts hold UTC nanoseconds. DuckDB reads such a column as TIMESTAMPTZ and drops what is below the microsecond, which is
// exact where nothing is there. A file with finer digits is read through a copy whose footer flag is turned
// (colfile.OpenFlipped) and gives TIMESTAMP_NS. One column has one type in one statement, whichever files it comes from:
// TIMESTAMPTZ where no visible file has finer digits in it, TIMESTAMP_NS in UTC where one has. The first compares with
// now() and prunes row groups, so it is the rule; the second is exact, so it is the exception that the data asks for.
// Instants inside structs, lists and maps are always TIMESTAMP_NS.
package duck
