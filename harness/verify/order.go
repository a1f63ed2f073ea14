package verify

import (
	"fmt"

	"contextful/fakes/s3cas"
)

// Before fails unless every request of first was applied before any of then was. Both lists come from the journal; a
// request that was never applied does not count as applied. An empty list of either is a failure: order between nothing
// proves nothing.
func Before(what string, first, then []s3cas.Entry) error {
	var last, start uint64
	var lastLine, startLine string
	for _, e := range first {
		if e.Applied > last {
			last, lastLine = e.Applied, e.String()
		}
	}
	for _, e := range then {
		if e.Applied != 0 && (start == 0 || e.Applied < start) {
			start, startLine = e.Applied, e.String()
		}
	}
	switch {
	case last == 0:
		return Fail(what, "requests that come first", "none was applied")
	case start == 0:
		return Fail(what, "requests that come after", "none was applied")
	case last < start:
		return nil
	}
	return Fail(what, fmt.Sprintf("all of the first kind before %s", startLine), "later came "+lastLine)
}

// Never fails if any of the requests was made.
func Never(what string, entries []s3cas.Entry) error { return Nothing(what, Lines(entries)) }

// Lines gives journal entries one line each.
func Lines(entries []s3cas.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.String())
	}
	return out
}
