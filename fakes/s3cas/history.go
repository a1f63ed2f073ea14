package s3cas

import (
	"sync/atomic"
	"time"
)

// read returns what a GET of key sees, and the event number at which it looked.
func (b *bucket) read(key string, stale *Mode, now time.Time, events *atomic.Uint64) (*object, uint64) {
	sh := b.shard(key)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	at := events.Add(1)
	return sh.view(key, stale, now), at
}

// view is what a stale reader sees of a key. The shard is locked.
func (sh *shard) view(key string, stale *Mode, now time.Time) *object {
	cur := sh.objs[key]
	if stale == nil {
		return cur
	}
	h := sh.hist[key]
	if len(h) == 0 {
		return cur
	}
	if stale.hasN {
		return h[max(0, len(h)-1-stale.n)].obj
	}
	cutoff := now.Add(-stale.d)
	seen := h[0].obj
	for _, p := range h[1:] {
		if p.at.After(cutoff) {
			break
		}
		seen = p.obj
	}
	return seen
}

// ghost is what was last at a key that is gone.
func (sh *shard) ghost(key string) *object {
	h := sh.hist[key]
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].obj != nil {
			return h[i].obj
		}
	}
	return nil
}

// listed is what a listing shows of a key under the modes: nil for nothing.
func (b *bucket) listed(key string, m *modeSet, now time.Time) *object {
	sh := b.shard(key)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	o := sh.view(key, m.get(modeStaleList), now)
	if o == nil {
		if mode := m.get(modeListGhosts); mode != nil && len(mode.keys) == 0 {
			return sh.ghost(key)
		}
	}
	return o
}

// remembered reports whether the key or a past of it is kept.
func (b *bucket) remembered(key string) bool {
	sh := b.shard(key)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return sh.objs[key] != nil || len(sh.hist[key]) > 0
}
