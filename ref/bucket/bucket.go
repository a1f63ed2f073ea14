// Package bucket is the port to object storage: plain objects and one conditional write that the storage enforces.
//
// Answers: topology.coordinate.primitive (the one property everything rests on is Put under a Condition).
package bucket

import (
	"context"
	"errors"
	"io"
)

// Object describes one stored object. ETag is opaque: it is compared and sent back, never parsed.
type Object struct {
	Key  string
	Size int64
	ETag string
}

// Condition is what must hold for a Put to apply. The zero value applies always.
type Condition struct {
	// IfAbsent: apply only where no object has the key (If-None-Match: *).
	IfAbsent bool
	// IfMatch: apply only where the object's ETag is this one.
	IfMatch string
}

// Errors every implementation maps its own answers to; they are asked for with errors.Is.
var (
	// ErrNotFound: no such object (Get, Head). It is an answer, not a failure.
	ErrNotFound = errors.New("object not found")
	// ErrCondition: the storage says the condition does not hold (412, 409, and 404 NoSuchKey for IfMatch). The writer's own
	// earlier attempt may be the reason, and a 409 is worth sending the same once more: package commit reads back and does both.
	ErrCondition = errors.New("condition failed")
	// ErrUnsupported: the storage does not know the method or header (501, 405).
	ErrUnsupported = errors.New("not supported by the storage")
	// ErrForbidden: the credentials may not do this (401, 403).
	ErrForbidden = errors.New("forbidden")
	// ErrUnknownOutcome: the request may or may not have been applied (timeout, reset, 5xx after the body was sent).
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrTransport: nothing was applied and the storage gave no usable answer (refused connection, 503 before the body, a
	// 404 naming another code such as NoSuchBucket).
	ErrTransport = errors.New("storage unreachable")
	// ErrThrottled comes with ErrTransport: nothing was applied, and the storage asks to come again later (429, SlowDown).
	ErrThrottled = errors.New("asked to slow down")
)

// Reader reads objects. All methods are safe for concurrent use and may be called again after an error.
type Reader interface {
	// Get opens an object. The caller closes the body. A body that ends early fails with io.ErrUnexpectedEOF.
	Get(ctx context.Context, key string) (io.ReadCloser, Object, error)
	// Head describes an object without its body.
	Head(ctx context.Context, key string) (Object, error)
	// List calls visit for each object whose key begins with prefix, in byte order, and fails rather than end early.
	List(ctx context.Context, prefix string, visit func(Object) error) error
}

// Writer writes objects. Put is one request and is never retried by the port after its body was sent.
type Writer interface {
	// Put stores size bytes of body under key where cond holds, and returns the object with the ETag the storage gave.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, cond Condition) (Object, error)
	// Delete removes an object; an absent one is no error.
	Delete(ctx context.Context, key string) error
}

// Bucket is both, with a name for messages such as "s3://context-prod at http://127.0.0.1:9000".
type Bucket interface {
	Reader
	Writer
	Name() string
}
