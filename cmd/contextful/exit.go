package main

import (
	"errors"

	"contextful/ref/fault"
)

// Exit statuses, the only ones there are.
const (
	exitDone        = 0
	exitRefused     = 1 // refused or failed; the first line on standard error names the code
	exitUsage       = 2 // the command line, the declaration or the configuration is wrong
	exitInterrupted = 130
)

// codeUsage is the code of a command line that cannot be taken, where a usageError's hint would say too little.
const codeUsage fault.Code = "Usage"

// usageError is a command line that cobra or a command cannot read.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// exitOf maps a refusal to its exit status: the one place that does.
func exitOf(err error) int {
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	switch fault.CodeOf(err) {
	case codeUsage, fault.StoreDeclarationInvalid, fault.ProjectNotFound, fault.SyncNotConfigured, fault.SyncPullTablesEmpty,
		fault.StoreTypeUnknown: // a type stands in the declaration or in a flag
		return exitUsage
	default:
		return exitRefused
	}
}
