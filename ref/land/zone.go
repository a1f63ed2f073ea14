package land

import (
	"fmt"
	"time"
)

// parseLocal reads an instant without an offset (a date, "T", a time; fractions to the nanosecond) as a wall clock in zone shows
// it: nanoseconds of UTC since 1970. What is no such text is errNoInstant. Clause: store.available-time.declaration.
func parseLocal(s []byte, zone *time.Location) (int64, error) {
	if len(s) < 19 {
		return 0, errNoInstant
	}
	wall, err := parseTimestamp(append(s[:len(s):len(s)], 'Z'))
	if err != nil {
		return 0, err
	}
	seconds, nanos := wall/1_000_000_000, wall%1_000_000_000
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+1_000_000_000
	}
	if seconds, err = instantOf(seconds, zone); err != nil {
		return 0, err
	}
	return nanosOf(seconds, nanos)
}

// instantOf turns the seconds a wall clock in zone shows into those of UTC. A time that the clock showed twice is the later
// instant: then no reader sees the row before it was there. One that it never showed is an error.
func instantOf(wall int64, zone *time.Location) (int64, error) {
	found, latest := false, int64(0)
	// No two changes of a zone lie so close that an offset in force around the wall time is missed.
	for _, around := range [...]int64{-26, -13, 0, 13, 26} {
		_, offset := time.Unix(wall+around*3600, 0).In(zone).Zone()
		at := wall - int64(offset)
		if _, there := time.Unix(at, 0).In(zone).Zone(); there == offset && (!found || at > latest) {
			found, latest = true, at
		}
	}
	if !found {
		return 0, fmt.Errorf("is a time the clocks of %s never showed", zone)
	}
	return latest, nil
}
