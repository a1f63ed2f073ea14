package s3cas

import (
	"crypto/md5"
	"encoding/hex"
	"hash/maphash"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// shardCount spreads keys over locks. A power of two, so that a hash selects with a mask.
const shardCount = 64

// object is one version of one key. It never changes once stored, so readers hold it without a lock.
type object struct {
	body        []byte
	etag        string // without quotes
	modified    time.Time
	contentType string
	header      http.Header // stored response headers and x-amz-meta-*; nil when there are none
	sum         checksum
	version     uint64 // the event number at which it was applied: unique per write
}

// past is one earlier state of a key: what it held from at on. obj nil means that it held nothing.
type past struct {
	obj *object
	at  time.Time
}

type shard struct {
	mu   sync.RWMutex
	objs map[string]*object
	hist map[string][]past // filled only while a mode needs it
}

// bucket holds objects in shards by key hash, and the key order beside them.
type bucket struct {
	name    string
	created time.Time
	seed    maphash.Seed
	shards  [shardCount]shard
	index   keyIndex
	count   atomic.Int64
	history atomic.Bool // keep superseded versions (stale reads, ghosts)
	own     []Mode      // modes set on this bucket alone; guarded by Server.modeMu
	modes   atomic.Pointer[modeSet]

	uploadsMu sync.Mutex
	uploads   map[string]*upload
}

func newBucket(name string, created time.Time) *bucket {
	b := &bucket{name: name, created: created, seed: maphash.MakeSeed(), uploads: map[string]*upload{}}
	for i := range b.shards {
		b.shards[i].objs = map[string]*object{}
	}
	return b
}

func (b *bucket) shard(key string) *shard {
	return &b.shards[maphash.String(b.seed, key)&(shardCount-1)]
}

// get returns what key holds now, nil for nothing.
func (b *bucket) get(key string) *object {
	sh := b.shard(key)
	sh.mu.RLock()
	o := sh.objs[key]
	sh.mu.RUnlock()
	return o
}

// verdict is what a decision under the key's lock came to.
type verdict struct {
	write bool    // store next (nil next removes the key)
	next  *object // the new state
	err   *apiError
}

// decide runs fn with the state of key while no other writer can touch it, and applies its verdict before it lets go: check and
// write are one step. events supplies the number at which the decision took effect.
func (b *bucket) decide(key string, events *atomic.Uint64, now time.Time, fn func(cur *object) verdict) (before, after *object, at uint64, err *apiError) {
	sh := b.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	before = sh.objs[key]
	v := fn(before)
	at = events.Add(1)
	if !v.write {
		return before, before, at, v.err
	}
	if v.next != nil {
		v.next.version = at
	}
	b.replaceLocked(sh, key, before, v.next, now)
	return before, v.next, at, v.err
}

func (b *bucket) replaceLocked(sh *shard, key string, before, next *object, now time.Time) {
	if b.history.Load() {
		if sh.hist == nil {
			sh.hist = map[string][]past{}
		}
		h := sh.hist[key]
		if len(h) == 0 { // what stood before history was kept counts as always there
			h = append(h, past{obj: before})
		}
		sh.hist[key] = append(h, past{obj: next, at: now})
	}
	switch {
	case next == nil:
		if before != nil {
			delete(sh.objs, key)
			b.count.Add(-1)
			b.index.dropped()
		}
	case before == nil:
		sh.objs[key] = next
		b.count.Add(1)
		b.index.add(key)
	default:
		sh.objs[key] = next
	}
}

// swap exchanges what two keys hold, as two writes of a rival would.
func (b *bucket) swap(one, two string, events *atomic.Uint64, now time.Time) {
	x, y := b.get(one), b.get(two)
	b.set(one, y, events, now)
	b.set(two, x, events, now)
}

// set stores o under key without any condition; nil removes the key.
func (b *bucket) set(key string, o *object, events *atomic.Uint64, now time.Time) (before *object) {
	if o != nil {
		c := *o // a version number is stamped on store: never on a shared value
		o = &c
	}
	before, _, _, _ = b.decide(key, events, now, func(*object) verdict { return verdict{write: true, next: o} })
	return before
}

// startHistory begins to keep superseded versions.
func (b *bucket) startHistory() { b.history.Store(true) }

// keyIndex is the sorted list of keys ever seen, merged lazily: a write appends, a listing merges. A removed key stays until the
// dead outnumber the living; a listing looks each key up anyway.
type keyIndex struct {
	mu     sync.Mutex
	sorted []string // immutable once handed out
	added  []string
	dead   int
}

func (x *keyIndex) add(key string) {
	x.mu.Lock()
	x.added = append(x.added, key)
	x.mu.Unlock()
}

func (x *keyIndex) dropped() {
	x.mu.Lock()
	x.dead++
	x.mu.Unlock()
}

// keys returns every key that may be live, in byte order, without doubles. The caller looks each one up.
func (x *keyIndex) keys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.added) == 0 {
		return x.sorted
	}
	slices.Sort(x.added)
	merged := make([]string, 0, len(x.sorted)+len(x.added))
	i, j := 0, 0
	for i < len(x.sorted) || j < len(x.added) {
		var k string
		if j == len(x.added) || (i < len(x.sorted) && x.sorted[i] <= x.added[j]) {
			k = x.sorted[i]
			i++
		} else {
			k = x.added[j]
			j++
		}
		if len(merged) == 0 || merged[len(merged)-1] != k {
			merged = append(merged, k)
		}
	}
	x.sorted, x.added = merged, nil
	return x.sorted
}

// compact forgets removed keys once they outnumber half the list. live takes shard locks, and writers take the index lock under
// theirs, so it is asked outside the index lock: a key that returns meanwhile is in added, or has changed sorted.
func (x *keyIndex) compact(live func(string) bool) {
	x.mu.Lock()
	old, due := x.sorted, x.dead > 1024 && x.dead*2 > len(x.sorted)
	x.mu.Unlock()
	if !due || len(old) == 0 {
		return
	}
	kept := make([]string, 0, len(old)/2)
	for _, k := range old {
		if live(k) {
			kept = append(kept, k)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sorted) == len(old) && &x.sorted[0] == &old[0] {
		x.sorted, x.dead = kept, 0
	}
}

// newObject builds a plain object with the default ETag, the MD5 of the body in hex.
func newObject(body []byte, now time.Time) *object {
	sum := md5.Sum(body)
	return &object{body: body, etag: hex.EncodeToString(sum[:]), modified: now}
}
