package fold

import (
	"time"

	"contextful/ref/manifest"
	"contextful/ref/store"
)

// When a table is due for a pass that nobody asked for by name (store.fold.triggers).
const (
	DueRuns = 50
	DueAge  = 6 * time.Hour
)

// Due tells whether a table's committed runs that are not folded are as many, or the oldest of them as old at now, as calls for a
// pass; and how many there are.
func Due(view *store.View, now time.Time) (due bool, runs int) {
	for _, list := range [][]*manifest.Run{view.Runs, view.Superseded} {
		for _, run := range list {
			runs++
			due = due || now.Sub(run.CommittedAt.Time) >= DueAge
		}
	}
	return due || runs >= DueRuns, runs
}
