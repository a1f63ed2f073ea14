package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"contextful/ref/clock"
)

// progress shows how far a long command is: a bar on a terminal, a plain line about every two seconds elsewhere, nothing
// under --quiet. It is not safe for concurrent use.
type progress struct {
	app  *app
	what string
	unit string
	bar  *progressbar.ProgressBar
	next time.Time
}

// plainEvery is how often a plain line is printed.
const plainEvery = 2 * time.Second

// progress starts one; what is "landing", unit is "rows".
func (a *app) progress(what, unit string) *progress {
	return &progress{app: a, what: what, unit: unit, next: clock.System{}.Now().Add(plainEvery)}
}

// at reports done of total; total 0 is unknown.
func (p *progress) at(done, total int64) {
	switch {
	case p.app.quiet || p.app.json && !terminal(p.app.stderr):
	case terminal(p.app.stderr):
		p.draw(done, total)
	default:
		if now := (clock.System{}).Now(); now.After(p.next) {
			p.next = now.Add(plainEvery)
			if total > 0 {
				fmt.Fprintf(p.app.stderr, "%s: %d of %d %s\n", p.what, done, total, p.unit)
				return
			}
			fmt.Fprintf(p.app.stderr, "%s: %d %s\n", p.what, done, p.unit)
		}
	}
}

func (p *progress) draw(done, total int64) {
	if p.bar == nil {
		if total == 0 {
			total = -1
		}
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.app.stderr), progressbar.OptionSetDescription(p.what),
			progressbar.OptionSetItsString(p.unit), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish()) // no colours, whatever NO_COLOR says
	}
	if total > 0 {
		p.bar.ChangeMax64(total)
	}
	// A bar that cannot be drawn must not stop the work it shows.
	_ = p.bar.Set64(done)
}

// end clears the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
