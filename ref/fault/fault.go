// Package fault is how the reference refuses: one code per reason, equal to the specification's name for it, and an
// error that tells a person what happened, to which file, key or row, and what to do next.
package fault

import (
	"errors"
	"strings"
)

// Code is a refusal's name. It is itself an error, so errors.Is(err, fault.LeaseHeld) asks for it.
type Code string

// Error makes a Code usable with errors.Is.
func (c Code) Error() string { return string(c) }

// Error is one refusal. Code names it, Op is the verb that refused ("land", "sync push"), Subject the file, key, table or
// row it is about, Message the sentence for a person, Hint at most one thing that works, Err the cause. A hint may show lines to
// copy: they follow its first one, each after a line end.
type Error struct {
	Code    Code
	Op      string
	Subject string
	Message string
	Hint    string
	Err     error
}

// New is the short form: a code, what it is about, and a sentence.
func New(code Code, subject, message string) *Error {
	return &Error{Code: code, Subject: subject, Message: message}
}

// WithHint returns the error with one hint that works.
func (e *Error) WithHint(hint string) *Error { e.Hint = hint; return e }

// Wrap records the cause.
func (e *Error) Wrap(err error) *Error { e.Err = err; return e }

// Error prints "<Code>: <message>[: <cause>]" on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf finds the code of the outermost refusal in err, or "" where there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
