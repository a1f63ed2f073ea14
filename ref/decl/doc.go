// Package decl reads what a person declares: contextful.toml with its pipelines/*.toml, and a store root's config.toml.
//
// Answers: store.init.declaration-file (what counts as a project key), store.endpoint.schemes, store.pull.tables-empty,
// store.merge.retries and store.pull.transfer-width (their defaults and bounds), store.index.declaration (a key outside its
// kind refuses).
//
// Nothing is guessed: a key nobody knows, a contradiction or a value out of bounds refuses with StoreDeclarationInvalid and
// names file, line and key. What a later issue serves (indexes, masks, …) is parsed here all the same, so that a
// declaration means one thing in every build.
//
//	contextful.toml       [project] name; [pipeline]; [pipeline.source]; [[pipeline.tables]]; [[job]]
//	pipelines/*.toml      the same without [project], merged in name order
//	<root>/config.toml    [sync] [node] [encryption] [replica] [catalog]
package decl
