package harness

import "time"

// wall is the kit's own clock: it stamps reports and measures durations, and no implementation is shown it.
func wall() time.Time { return time.Now() }
