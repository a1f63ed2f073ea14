package s3cas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is one request in the journal. Arrived, Applied and Answered are positions in one order of events of the server, so they
// compare across entries: a request whose Applied is lower took effect before.
type Entry struct {
	Seq          int       `json:"seq"`                     // position in the journal, from 1, by arrival
	Arrived      uint64    `json:"arrived"`                 // when its header had been read
	Applied      uint64    `json:"applied,omitempty"`       // when it took effect or was decided; 0: not, or not yet
	Answered     uint64    `json:"answered,omitempty"`      // when its answer had been sent or withheld; 0: still open
	Principal    string    `json:"principal"`               // who asked; "rival" for a write that a fault made; "" when the signature failed
	AccessKey    string    `json:"access_key,omitempty"`    // as sent
	Region       string    `json:"region,omitempty"`        // the region the request was signed for
	Host         string    `json:"host,omitempty"`          // the Host header
	Op           Op        `json:"op"`                      //
	Bucket       string    `json:"bucket,omitempty"`        //
	Key          string    `json:"key,omitempty"`           // for List the prefix
	IfMatch      string    `json:"if_match,omitempty"`      // as sent, quotes included
	IfNoneMatch  string    `json:"if_none_match,omitempty"` // as sent
	Status       int       `json:"status"`                  // HTTP status sent; 0: none (open, or the connection was dropped)
	Code         string    `json:"code,omitempty"`          // S3 error code sent
	Dropped      bool      `json:"dropped,omitempty"`       // the connection was closed without a whole answer
	Late         bool      `json:"late,omitempty"`          // the late application of an earlier, dropped request
	BytesIn      int64     `json:"bytes_in"`                // decoded body received
	BytesOut     int64     `json:"bytes_out"`               // body sent
	ETagBefore   string    `json:"etag_before,omitempty"`   // without quotes; empty: no object
	ETagAfter    string    `json:"etag_after,omitempty"`    //
	Fault        string    `json:"fault,omitempty"`         // text of the faults that fired, joined by a space
	VirtualTime  time.Time `json:"virtual_time"`            // Options.Now at arrival
	Continuation string    `json:"continuation,omitempty"`  // List: the token or start-after it continued from
}

// Open reports whether the request has neither been answered nor dropped yet: it is in flight, or held at a gate.
func (e Entry) Open() bool { return e.Answered == 0 }

// String is one line that a golden test can hold: no instants, no ports, no event numbers.
//
//	#12 beta Put bkt/t/manifest.json If-Match="9e…" -> 412 PreconditionFailed in=120 out=311 etag 9e…=9e… (Respond 412 Put)
func (e Entry) String() string {
	var b strings.Builder
	who := e.Principal
	if who == "" {
		who = "?"
	}
	fmt.Fprintf(&b, "#%d %s %s", e.Seq, who, e.Op)
	if e.Bucket != "" {
		fmt.Fprintf(&b, " %s/%s", e.Bucket, e.Key)
	}
	if e.Continuation != "" {
		fmt.Fprintf(&b, " after=%q", e.Continuation)
	}
	if e.IfMatch != "" {
		fmt.Fprintf(&b, " If-Match=%s", e.IfMatch)
	}
	if e.IfNoneMatch != "" {
		fmt.Fprintf(&b, " If-None-Match=%s", e.IfNoneMatch)
	}
	b.WriteString(" -> ")
	switch {
	case e.Open():
		b.WriteString("open")
	case e.Dropped && e.Status == 0:
		b.WriteString("dropped")
	case e.Dropped && !e.Late:
		fmt.Fprintf(&b, "%d cut", e.Status)
	default:
		fmt.Fprintf(&b, "%d", e.Status)
	}
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	if e.Late {
		b.WriteString(" late")
	}
	fmt.Fprintf(&b, " in=%d out=%d", e.BytesIn, e.BytesOut)
	if e.ETagBefore != "" || e.ETagAfter != "" {
		op := ">"
		if e.ETagBefore == e.ETagAfter {
			op = "="
		}
		fmt.Fprintf(&b, " etag %s%s%s", dash(e.ETagBefore), op, dash(e.ETagAfter))
	}
	if e.Fault != "" {
		b.WriteString(" " + e.Fault)
	}
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Filter selects journal entries. A zero field selects everything.
type Filter struct {
	Since     int              // entries with Seq > Since: what Mark returned
	Principal string           // glob
	Ops       []Op             // any of them
	Bucket    string           // glob
	Key       string           // glob; * crosses slashes
	Status    int              // the status sent
	Where     func(Entry) bool // anything else
}

// Match reports whether e is selected.
func (f Filter) Match(e Entry) bool {
	return e.Seq > f.Since &&
		(f.Principal == "" || Glob(f.Principal, e.Principal)) &&
		(len(f.Ops) == 0 || slices.Contains(f.Ops, e.Op)) &&
		(f.Bucket == "" || Glob(f.Bucket, e.Bucket)) &&
		(f.Key == "" || Glob(f.Key, e.Key)) &&
		(f.Status == 0 || f.Status == e.Status) &&
		(f.Where == nil || f.Where(e))
}

// chunkLen is how many entries are allocated together: entries never move, so a request keeps a pointer to its own.
const chunkLen = 512

type journal struct {
	mu      sync.Mutex
	chunks  [][]Entry
	dropped int // entries forgotten from the front (whole chunks)
	next    int // entries ever begun
	limit   int // 0: keep all
	changed chan struct{}
}

// begin appends an entry and returns its place; e.Seq is filled in.
func (j *journal) begin(e Entry) *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := len(j.chunks)
	if n == 0 || len(j.chunks[n-1]) == chunkLen {
		j.chunks = append(j.chunks, make([]Entry, 0, chunkLen))
		n++
		if j.limit > 0 && (n-1)*chunkLen > j.limit {
			j.chunks = slices.Delete(j.chunks, 0, 1)
			j.dropped += chunkLen
			n--
		}
	}
	j.next++
	e.Seq = j.next
	c := &j.chunks[n-1]
	*c = append(*c, e)
	j.wakeLocked()
	return &(*c)[len(*c)-1]
}

// update changes an entry under the journal's lock.
func (j *journal) update(e *Entry, fn func(*Entry)) {
	j.mu.Lock()
	fn(e)
	j.wakeLocked()
	j.mu.Unlock()
}

func (j *journal) wakeLocked() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

func (j *journal) copyOf(e *Entry) Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return *e
}

func (j *journal) selectLocked(f Filter) []Entry {
	var out []Entry
	for i, c := range j.chunks {
		if f.Since >= j.dropped+i*chunkLen+len(c) {
			continue
		}
		for k := range c {
			if f.Match(c[k]) {
				out = append(out, c[k])
			}
		}
	}
	return out
}

func (j *journal) find(f Filter) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.selectLocked(f)
}

// wait blocks until at least n entries match, or ctx ends. It returns what matches then.
func (j *journal) wait(ctx context.Context, f Filter, n int) ([]Entry, error) {
	for {
		j.mu.Lock()
		got := j.selectLocked(f)
		if len(got) >= n {
			j.mu.Unlock()
			return got, nil
		}
		if j.changed == nil {
			j.changed = make(chan struct{})
		}
		ch := j.changed
		j.mu.Unlock()
		select {
		case <-ch:
		case <-ctx.Done():
			return got, fmt.Errorf("%d of %d matching requests seen: %w", len(got), n, ctx.Err())
		}
	}
}

// Journal returns every request in order of arrival, open ones included.
func (s *Server) Journal() []Entry { return s.journal.find(Filter{}) }

// JournalFor returns the entries that f selects, in order of arrival.
func (s *Server) JournalFor(f Filter) []Entry { return s.journal.find(f) }

// WaitJournal blocks until at least n entries match f (f.Where may ask that they be answered), or ctx ends.
func (s *Server) WaitJournal(ctx context.Context, f Filter, n int) ([]Entry, error) {
	return s.journal.wait(ctx, f, n)
}

// Mark returns the Seq of the newest entry: Filter{Since: mark} selects what comes after.
func (s *Server) Mark() int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.next
}
