// Package commit is the one way this project writes under a condition and learns what became of it. The bucket manifest, table
// pointers, leases, schemas and uploads all go through it.
//
// Answers: topology.coordinate.primitive, store.push.manifest-commit, store.lease.acquire, store.lease.pointer-fence.
//
// An answer to a conditional put is evidence, not truth: a 412 may be the echo of the writer's own earlier attempt, a lost
// answer may belong to a write that was applied, or that will be. So after anything but a plain success the object is read back:
//
//	ours there             Applied: the write happened, whatever its answer said
//	another object there   Moved: the condition can never hold again, the caller looks and decides anew
//	as before              Unmoved: nothing is known; the same bytes under the same condition may be sent again, because
//	                       a late first copy and the second one are the same write
//
// Bodies must be recognisable: a document carries its writer and a nonce, an immutable part is its own digest.
package commit

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"time"

	"contextful/ref/bucket"
)

// Outcome is what became of one conditional put.
type Outcome int

const (
	// Unmoved: not applied as far as can be seen, and the condition still holds: send the same again.
	Unmoved Outcome = iota
	// Applied: the object is ours, under Result.ETag.
	Applied
	// Moved: the object is another one (or gone, where it had to match): the condition cannot hold any more.
	Moved
)

// Result tells an outcome, the ETag of ours (Applied), and the last answer that was no success (for messages).
type Result struct {
	Outcome Outcome
	ETag    string
	Answer  error
}

// Body is what is written: size bytes whose SHA-256 is Sum, read from the start at each attempt.
type Body struct {
	Reader io.ReadSeeker
	Size   int64
	Sum    [sha256.Size]byte
}

// Bytes makes a Body of a document.
func Bytes(data []byte) Body {
	return Body{Reader: bytes.NewReader(data), Size: int64(len(data)), Sum: sha256.Sum256(data)}
}

// Pause waits for d or until ctx ends, whose error it then gives. Tests pass one that returns at once.
type Pause func(ctx context.Context, d time.Duration) error

// Sleep is the Pause of a real process.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Backoff is how long to wait before attempt n (from 1): 50 ms doubling to 2 s, spread over its upper half so that writers
// that met do not meet again. The sum of the first five is below 3 s.
func Backoff(n int) time.Duration {
	d := min(50*time.Millisecond<<min(max(n, 1)-1, 10), 2*time.Second)
	return d/2 + mathrand.N(d/2)
}

// Nonce gives 128 random bits as hex: what makes a document the writer's own.
func Nonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// ReadAttempts bounds how often a read-back is asked before the outcome is given up as unknown.
const ReadAttempts = 4

// PutAttempts bounds how often Put sends the same body while the object does not move.
const PutAttempts = 6

// Attempt sends one conditional put and finds out what became of it. It fails only where nothing can be said: the storage
// does not know conditional writes (bucket.ErrUnsupported) or forbids the write (ErrForbidden), the read-back never answered
// (ErrUnknownOutcome and its cause), or the body could not be read.
func Attempt(ctx context.Context, b bucket.Bucket, pause Pause, key string, body Body, cond bucket.Condition) (Result, error) {
	if _, err := body.Reader.Seek(0, io.SeekStart); err != nil {
		return Result{}, err
	}
	o, err := b.Put(ctx, key, body.Reader, body.Size, cond)
	switch {
	case err == nil && o.ETag != "":
		return Result{Outcome: Applied, ETag: o.ETag}, nil
	case errors.Is(err, bucket.ErrUnsupported), errors.Is(err, bucket.ErrForbidden):
		return Result{}, err
	case err != nil && !known(err):
		return Result{}, err
	}
	r, readErr := ReadBack(ctx, b, pause, key, body, cond)
	if readErr != nil {
		return Result{}, fmt.Errorf("%w: %s: %w (reading it back: %w)", bucket.ErrUnknownOutcome, key, orNil(err), readErr)
	}
	r.Answer = err
	return r, nil
}

func orNil(err error) error {
	if err == nil {
		return errors.New("answered without an ETag")
	}
	return err
}

func known(err error) bool {
	for _, e := range []error{bucket.ErrCondition, bucket.ErrUnknownOutcome, bucket.ErrTransport, bucket.ErrNotFound} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// ReadBack looks at the object after a put whose answer is not trusted.
func ReadBack(ctx context.Context, b bucket.Reader, pause Pause, key string, body Body, cond bucket.Condition) (Result, error) {
	var err error
	for n := 1; n <= ReadAttempts; n++ {
		var sum [sha256.Size]byte
		var o bucket.Object
		sum, o, err = digest(ctx, b, key, body.Size)
		switch {
		case errors.Is(err, bucket.ErrNotFound):
			if cond.IfMatch != "" {
				return Result{Outcome: Moved}, nil
			}
			return Result{Outcome: Unmoved}, nil
		case err == nil && sum == body.Sum && o.Size == body.Size:
			return Result{Outcome: Applied, ETag: o.ETag}, nil
		case err == nil && cond.IfMatch != "" && o.ETag == cond.IfMatch, err == nil && cond == (bucket.Condition{}):
			return Result{Outcome: Unmoved, ETag: o.ETag}, nil
		case err == nil:
			return Result{Outcome: Moved, ETag: o.ETag}, nil
		case errors.Is(err, bucket.ErrForbidden):
			return Result{}, err
		}
		if n < ReadAttempts {
			if perr := pause(ctx, Backoff(n)); perr != nil {
				return Result{}, errors.Join(err, perr)
			}
		}
	}
	return Result{}, err
}

// digest hashes an object, reading at most one byte more than size: a longer one is not ours anyway.
func digest(ctx context.Context, b bucket.Reader, key string, size int64) (sum [sha256.Size]byte, o bucket.Object, err error) {
	r, o, err := b.Get(ctx, key)
	if err != nil {
		return sum, o, err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, size+1))
	if err != nil {
		return sum, o, err
	}
	if n != size {
		o.Size = n
		return sum, o, nil
	}
	h.Sum(sum[:0])
	return sum, o, nil
}

// Put sends the body until it is applied or the object has moved on, waiting a little longer each time. Where neither
// happens within PutAttempts it fails with bucket.ErrUnknownOutcome: the write may still come, nothing it makes visible may be
// deleted. Result.Outcome is Applied or Moved.
func Put(ctx context.Context, b bucket.Bucket, pause Pause, key string, body Body, cond bucket.Condition) (Result, error) {
	for n := 1; ; n++ {
		r, err := Attempt(ctx, b, pause, key, body, cond)
		if err != nil || r.Outcome != Unmoved {
			return r, err
		}
		if n == PutAttempts {
			return Result{}, fmt.Errorf("%w: %s did not take a write in %d attempts (last answer: %w)", bucket.ErrUnknownOutcome, key, n, orNil(r.Answer))
		}
		if err := pause(ctx, Backoff(n)); err != nil {
			return Result{}, fmt.Errorf("%w: %s: %w", bucket.ErrUnknownOutcome, key, err)
		}
	}
}

// Read gets a whole document of at most limit bytes, asking again after a transport failure. An absent one is
// bucket.ErrNotFound at once.
func Read(ctx context.Context, b bucket.Reader, pause Pause, key string, limit int64) ([]byte, bucket.Object, error) {
	for n := 1; ; n++ {
		data, o, err := read(ctx, b, key, limit)
		if err == nil || n == ReadAttempts || errors.Is(err, bucket.ErrNotFound) || errors.Is(err, bucket.ErrForbidden) || errors.Is(err, ErrTooBig) {
			return data, o, err
		}
		if perr := pause(ctx, Backoff(n)); perr != nil {
			return nil, o, errors.Join(err, perr)
		}
	}
}

// ErrTooBig: a document in the bucket is larger than any that this project writes.
var ErrTooBig = errors.New("document too big")

func read(ctx context.Context, b bucket.Reader, key string, limit int64) ([]byte, bucket.Object, error) {
	r, o, err := b.Get(ctx, key)
	if err != nil {
		return nil, o, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s holds more than %d bytes: %w", key, limit, ErrTooBig)
	}
	return data, o, err
}
