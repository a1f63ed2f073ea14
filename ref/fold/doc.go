// Package fold compacts a table: one pass turns its current snapshot and the committed runs that it omits into a new
// snapshot.
//
// Answers: store.fold.pass, store.fold.pointer-commit (local side), store.fold.non-blocking, store.fold.compaction-lease
// (the fence it is given is stamped), store.fold.carry-by-reference, store.fold.tiered-merge, store.fold.triggers,
// store.lay-out.snapshot-id, store.lay-out.format-migrate (the pass that names older parts), store.reconcile.key-widening (the
// fold's side), store.declare.empty-replacement (a pass carries the frontier).
//
//	resolve            no lock; the pointer's ETag is what the swap will ask for
//	prepare            what would be refused is refused before anything is staged
//	plan               which rows survive, which parts stay, which are written and of what
//	write              <id>.staging/, its writer lock held; parts through the engine, verified, synced
//	seal               manifest, then one rename to <id>/
//	publish            the pointer is swapped under the table's lock where its ETag is still the one resolved
//	retain             what retain_runs no longer keeps goes, in a store without a bucket
//
// A pass that dies before the last step changed nothing that a reader sees. A pass that loses the last step removes its
// snapshot and starts over from the winner's, at most three times in all.
//
// # What a pass writes
//
// The invariant: the parts of a snapshot, wherever they lie, together hold every row of the table exactly once, and of a keyed table
// one row of each line (decl.Table.DedupKey), the one a reader would choose. So a pass need not touch what no new row concerns:
//
//   - The rows to fold (of committed runs that the snapshot omits) are ranked among themselves; what survives is the delta.
//   - A stored row with a line in common with it is compared by the readers' order, to the nanosecond. Where the stored row wins, the
//     delta's goes; where the delta wins, the part that holds the stored row is written anew without it. A line may so move from one
//     partition to another. First only the keys are asked, at the microsecond, which finds too many parts at worst; those found are
//     asked again exactly. Columns that are neither key nor order are not read for it.
//   - Every other part stays in the directory of the snapshot that wrote it, and the manifest names it there: its origin, its digest,
//     its bytes. Only what is written once more is compared with its digest; of a part that stays the footer is read.
//   - In a partition that the pass writes to, four parts of one size tier become one until no tier has four (tiers). What is merged
//     and what is new are written together, once: a row is written as it is folded and once for each tier it climbs, about log4(n)
//     times over a table's life of n equal appends.
//   - A replacement frontier drops all that is older: nothing from before it is named. A part whose partition values this pass would
//     write otherwise (its column has another type since), or whose snapshot was folded by another key, is folded anew with the runs.
//
// What names a part elsewhere is format_version 2: a reader of major 1 would look for it in the wrong directory.
package fold
