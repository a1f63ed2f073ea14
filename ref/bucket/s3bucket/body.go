package s3bucket

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"contextful/ref/bucket"
)

// body is an object on its way. It maps a failure while reading to the port's words, keeps io.ErrUnexpectedEOF findable, and
// gives up on a service that sends nothing for too long: no header says that one stopped in the middle.
type body struct {
	io.ReadCloser
	key    string
	stall  time.Duration
	cancel context.CancelFunc
	watch  *time.Timer
	silent atomic.Bool
}

// newBody takes over the answer and the cancellation of its request.
func newBody(in io.ReadCloser, key string, stall time.Duration, cancel context.CancelFunc) *body {
	b := &body{ReadCloser: in, key: key, stall: stall, cancel: cancel}
	b.watch = time.AfterFunc(stall, func() {
		b.silent.Store(true)
		cancel()
	})
	b.watch.Stop()
	return b
}

// Read is watched only while it waits: a slow reader is no silent service.
func (b *body) Read(p []byte) (int, error) {
	b.watch.Reset(b.stall)
	n, err := b.ReadCloser.Read(p)
	b.watch.Stop()
	switch {
	case err == nil || err == io.EOF:
	case b.silent.Load():
		err = fmt.Errorf("%s: %w: the service sent nothing for %s in the middle of the object", b.key, bucket.ErrTransport, b.stall)
	default:
		err = fmt.Errorf("%s: %w: %w", b.key, bucket.ErrTransport, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.watch.Stop()
	b.cancel()
	return b.ReadCloser.Close()
}
