package sut

import "sync"

// keep is how much of each output the kit holds: 4 MiB is more than any question asks for.
const keep = 4 << 20

// capped keeps the first bytes written to it and counts the rest.
type capped struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := keep - len(c.buf)
	if room < len(p) {
		c.cut = true
		c.buf = append(c.buf, p[:max(room, 0)]...)
		return len(p), nil
	}
	c.buf = append(c.buf, p...)
	return len(p), nil
}

func (c *capped) text() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.buf), c.cut
}
