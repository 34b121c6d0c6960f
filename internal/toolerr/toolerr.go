// Package toolerr owns the one error type that tool families and sessions
// hand upwards: a kind (which maps to one gRPC code), a stable reason that
// programs branch on, a message that people and models read, and the fields
// and bad arguments behind it (design.md section 3, "Errors").
//
// It knows no gRPC: package server maps a kind to a status, once. It does not
// wrap every failure of the process; an error without a toolerr inside is a
// fault of ours and becomes INTERNAL.
package toolerr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Kind says what class of thing went wrong. Each kind maps to exactly one
// gRPC code.
type Kind int

// The kinds, named as the gRPC codes they become.
const (
	// Internal is a fault of toolsd itself. It is the zero value on purpose:
	// an error that nobody classified is ours.
	Internal Kind = iota
	InvalidArgument
	NotFound
	AlreadyExists
	PermissionDenied
	Unauthenticated
	FailedPrecondition
	Aborted
	ResourceExhausted
	Unavailable
	DeadlineExceeded
	Canceled
	Unimplemented
)

// Violation names one bad argument, by its field path in the request, and
// says what is wrong with it.
type Violation struct {
	Field       string
	Description string
}

// Error is an error of a known kind. Build one with New; the With methods
// return the same error, so that building reads as one expression. An Error
// is not changed after it was returned, so it may be read by any goroutine.
type Error struct {
	Kind    Kind
	Reason  Reason
	Message string
	// Fields are the facts behind the message, for programs: the limit's name
	// and value, the owner of a run. Never secrets, never file contents.
	Fields map[string]string
	// Violations name every bad argument at once, not only the first.
	Violations []Violation
	cause      error
}

// New returns an error of kind with a stable reason. The message says what
// was wrong, with which value, and what to do next.
func New(kind Kind, reason Reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message; the cause stays reachable through errors.Is and
// errors.As but is not repeated in the text, which is written for a reader
// who cannot see toolsd's insides.
func (e *Error) Error() string { return e.Message }

// Unwrap returns what WithCause was given.
func (e *Error) Unwrap() error { return e.cause }

// WithField adds a fact for programs.
func (e *Error) WithField(key, value string) *Error {
	if e.Fields == nil {
		e.Fields = map[string]string{}
	}
	e.Fields[key] = value
	return e
}

// WithCause keeps the error that led to this one.
func (e *Error) WithCause(err error) *Error {
	e.cause = err
	return e
}

// As returns the Error inside err, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Is reports whether err carries the reason.
func Is(err error, reason Reason) bool {
	e, ok := As(err)
	return ok && e.Reason == reason
}

// BadArgument is the error for one malformed or missing argument.
func BadArgument(field, format string, args ...any) *Error {
	description := fmt.Sprintf(format, args...)
	return BadArguments(Violation{Field: field, Description: description})
}

// BadArguments is the error for every malformed or missing argument of a
// request, all named at once. It panics without a violation, because an error
// that names nothing would help nobody.
func BadArguments(violations ...Violation) *Error {
	if len(violations) == 0 {
		panic("toolerr: BadArguments needs at least one violation")
	}
	parts := make([]string, len(violations))
	for i, v := range violations {
		parts[i] = v.Field + ": " + v.Description
	}
	e := New(InvalidArgument, ReasonBadArgument, "%s", strings.Join(parts, "; "))
	e.Violations = violations
	return e
}

// Limit is the error for a limit of the daemon: it names the limit and its
// value, so that the caller knows which setting to raise or what to close.
func Limit(name string, value int64, format string, args ...any) *Error {
	return New(ResourceExhausted, ReasonLimit, format, args...).
		WithField("limit", name).
		WithField("value", strconv.FormatInt(value, 10))
}
