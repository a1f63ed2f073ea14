package s3cas

import (
	"context"
	"time"
)

// wallNow is the only reading of the wall clock in this package: the default of Options.Now.
func wallNow() time.Time { return time.Now() }

// wallSleep is the default of Options.Sleep: it waits d of real time, or until ctx ends.
func wallSleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
