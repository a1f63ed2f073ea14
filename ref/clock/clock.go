// Package clock is the port through which the reference reads time: no other package asks the machine.
package clock

import "time"

// Clock tells the current instant in UTC. Implementations are safe for concurrent use.
type Clock interface {
	Now() time.Time
}

// System is the machine's clock at whole microseconds: an instant without sub-microsecond digits stays exact in DuckDB,
// which keeps microseconds.
type System struct{}

// Now gives the wall clock, UTC, truncated to the microsecond.
func (System) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Fixed always answers its instant: what --now sets.
type Fixed struct{ Instant time.Time }

// Now gives the instant, in UTC and to the nanosecond.
func (f Fixed) Now() time.Time { return f.Instant.UTC() }

var (
	_ Clock = System{}
	_ Clock = Fixed{}
)
