// Package pipeline asks the source of a declared pipeline for what is new and lands it, each row once.
//
// Answers: run.advance.snapshot-completion, run.advance.zero-row-commit, store.declare.empty-replacement (who commits it),
// store.declare.fold-job (Check).
//
// # A pull
//
// A pipeline's tables are pulled one after the other, in the order of their declaration, each with its own position: the source
// is told where the table stands, hands over batches of rows, and every batch is committed as one run whose manifest holds the
// rows and the position after them, so neither is ever there without the other. A table that is appended to commits each batch
// as its position comes; one that is replaced commits once, at the end, and only a complete inventory.
//
//	source says                                append                         replace
//	rows, a position                           landed, position moves         kept for the end
//	rows and no position after them            refused                        as the position says
//	complete inventory with rows               its positions have landed      replaced
//	complete inventory without rows            unchanged                      empty: the table is emptied
//	unchanged                                  unchanged                      unchanged: rows and position stay
//	nothing at all                             unchanged                      refused: nobody knows what it means
//	it failed                                  what a position closed stays   nothing of it is seen
//
// # The position
//
// It is the cursor of the newest run manifest of (pipeline, table), whichever node committed it; where retention has taken that
// manifest away, the machine's catalog and the nodes' run states still have it. A run's id is made of the run before it
// and of the batch's digest: a pull that was killed and comes again with the same rows finds its own directory, and what is
// committed already is told as such.
//
// # Sources
//
// "file": one file, or a directory whose files, all of them, in the order of their names and with those of its directories, are
// the inventory. Names that begin with a dot or end in ~, .tmp or .part are somebody's work under way and no part of it. Position:
// {"files": n, "sha256": …} over names, sizes and contents; the same again is unchanged. What moves while it is read fails.
//
// "command": a program, asked once for each table with CONTEXTFUL_PIPELINE, CONTEXTFUL_TABLE and, where there is one,
// CONTEXTFUL_CURSOR in its environment, in the declaration's directory. It prints one JSON object per line: {"row": {…}},
// {"position": …}, {"inventory": "complete"}, {"skip": "unchanged"}. The last two end what it has to say.
package pipeline
