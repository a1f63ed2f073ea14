package merge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"contextful/ref/fault"
	"contextful/ref/store"
)

// Digests hashes files of a store and remembers, as long as the process lives, what it hashed: a file of the same size and time
// is the same file. Safe for concurrent use.
type Digests struct {
	mu    sync.Mutex
	known map[string]digested
}

type digested struct {
	size  int64
	mtime time.Time
	sum   string
}

// NewDigests knows nothing yet.
func NewDigests() *Digests { return &Digests{known: map[string]digested{}} }

// Of gives the lower-case hex SHA-256 and the size of a store's file. The error satisfies fs.ErrNotExist for an absent one.
func (d *Digests) Of(ctx context.Context, s *store.Store, rel string) (sum string, size int64, err error) {
	f, err := s.FS().Open(s.Path(rel))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := s.FS().Stat(s.Path(rel))
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, fault.New(fault.StorePartDamaged, rel, rel+" is no regular file")
	}
	d.mu.Lock()
	k := d.known[rel]
	d.mu.Unlock()
	if k.sum != "" && k.size == info.Size() && k.mtime.Equal(info.ModTime()) {
		return k.sum, k.size, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, ended{ctx, f})
	if err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", rel, err)
	}
	sum = hex.EncodeToString(h.Sum(nil))
	d.Note(rel, n, info.ModTime(), sum)
	return sum, n, nil
}

// Note records a digest known otherwise.
func (d *Digests) Note(rel string, size int64, mtime time.Time, sum string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[rel] = digested{size, mtime, sum}
}

// ended stops a long read when its context ends.
type ended struct {
	ctx context.Context
	r   io.Reader
}

func (e ended) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}
