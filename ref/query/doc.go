// Package query answers one read-only SQL statement over a store's tables, and scans a table.
//
// Answers: store.declare.dedup-view, store.declare.unkeyed-union, store.reconcile.explicit-file-list,
// store.bound-time.unbounded-latest, store.bound-time.as-of (through store.Resolve), store.fold.non-blocking (a statement
// resolves all its tables once, before it runs, and keeps those files).
//
// A statement is parsed by the engine itself into a tree. What is no single SELECT, names a file, or calls a table function
// that could reach outside refuses with QueryRefused before any table is looked at; then only the tables it names are
// resolved, so a broken table breaks only queries about itself. The engine is then locked (no external access but to the
// resolved files, no settings) and the result is kept in a temporary table that spills to disk, since whether an integer
// column prints as text is known only once all its rows are.
package query
