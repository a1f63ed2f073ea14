// Package stopper stops an implementation on its own disk, with no help from it, through strace.
package stopper

// Unavailable says that processes cannot be traced here.
type Unavailable struct{ Why string }

func (u *Unavailable) Error() string { return "the stopper is unavailable: " + u.Why }
