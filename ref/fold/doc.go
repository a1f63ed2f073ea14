// Package fold compacts a table: one pass turns its current snapshot and the committed runs that it omits into a new
// snapshot.
//
// Answers: store.fold.pass, store.fold.pointer-commit (local side), store.fold.non-blocking, store.fold.compaction-lease
// (the fence it is given is stamped), store.lay-out.snapshot-id, store.reconcile.key-widening (the fold's side),
// store.declare.empty-replacement (a pass carries the frontier).
//
//	resolve            no lock; the pointer's ETag is what the swap will ask for
//	check              what would be refused is refused before anything is staged
//	stage              <id>.staging/, its writer lock held; parts through the engine, verified, synced
//	seal               manifest, then one rename to <id>/
//	publish            the pointer is swapped under the table's lock where its ETag is still the one resolved
//
// A pass that dies before the last step changed nothing that a reader sees. A pass that loses the last step removes its
// snapshot and starts over from the winner's, at most three times in all.
package fold
