package s3cas

import (
	"slices"
	"sync"
	"sync/atomic"
)

// perform takes a request through the steps of the faults that fired: those that act before it is applied, the application, those
// that act on the answer.
func (rq *request) perform(steps []step) {
	var ans *answer
	for i := range steps {
		forced, dropped := rq.stepBefore(&steps[i])
		if dropped {
			rq.drop()
			return
		}
		if forced != nil {
			ans = forced
			break
		}
	}
	if ans == nil {
		ans = rq.apply()
	}
	rq.s.journal.update(rq.entry, rq.fill) // whoever looks at a held request sees what it did
	var breaks []breakAt
	for i := range steps {
		if rq.stepAfter(&steps[i], ans, &breaks) {
			rq.drop()
			return
		}
	}
	slices.SortStableFunc(breaks, func(a, b breakAt) int { return a.at - b.at })
	rq.send(ans, breaks)
}

// stepBefore does what a step does before the request is applied. It returns the answer that the step gives instead of applying,
// or true if the request ends without an answer.
func (rq *request) stepBefore(st *step) (forced *answer, dropped bool) {
	s := rq.s
	switch st.name {
	case "Hold":
		if st.args[1].s == "before" {
			return nil, !s.Gate(st.args[0].s).wait(rq.entry, s.ctx.Done())
		}
	case "Delay":
		return nil, s.opts.Sleep(s.ctx, st.args[0].d) != nil
	case "Rival", "RivalManifest", "RivalDelete", "RivalSwap":
		rq.rival(st)
	case "Call":
		s.call(rq, st.args[0].s)
	case "Kill", "Stop":
		if st.args[0].s == "before" {
			s.signal(rq, st.name == "Kill")
			return nil, st.name == "Kill"
		}
	case "Corrupt":
		if rq.op == OpPut {
			rq.flip = st
		}
	case "Drop":
		return nil, true
	case "Late":
		rq.putOff(st.args[0])
		return nil, true
	case "Respond":
		return rq.forced(st.args[0].n, st.code()), false
	}
	return nil, false
}

// stepAfter does what a step does to the answer; true ends the request without one.
func (rq *request) stepAfter(st *step, ans *answer, breaks *[]breakAt) (dropped bool) {
	s := rq.s
	switch st.name {
	case "Hold":
		g := s.Gate(st.args[0].s)
		switch st.args[1].s {
		case "after":
			return !g.wait(rq.entry, s.ctx.Done())
		case "body":
			*breaks = append(*breaks, breakAt{at: bodyPoint(st.args[2], len(ans.body)), gate: g})
		}
	case "ApplyThen":
		*ans = *rq.forced(st.args[0].n, st.code())
	case "ApplyThenDrop":
		return true
	case "Kill", "Stop":
		if st.args[0].s == "after" {
			s.signal(rq, st.name == "Kill")
			return st.name == "Kill"
		}
	case "Corrupt":
		if rq.op != OpPut {
			ans.body = flip(ans.body, st)
		}
	case "Shorten":
		if k := bodyPoint(st.args[0], len(ans.body)); k < len(ans.body) {
			ans.body = ans.body[:k]
		}
	case "Truncate":
		*breaks = append(*breaks, breakAt{at: bodyPoint(st.args[0], len(ans.body))})
	}
	return false
}

func (s *step) code() string {
	if len(s.args) > 1 {
		return s.args[1].s
	}
	return ""
}

// bodyPoint turns k bytes or k% into an offset that leaves the body incomplete: at most one byte short of its end.
func bodyPoint(v value, length int) int {
	k := v.n
	if v.kind == kindPercent {
		k = length * v.n / 100
	}
	return max(0, min(k, length-1))
}

// flip returns a copy of body with bytes inverted.
func flip(body []byte, st *step) []byte {
	if len(body) == 0 {
		return body
	}
	at, count := len(body)/2, 1
	if len(st.args) > 0 {
		at = st.args[0].n
	}
	if len(st.args) > 1 {
		count = st.args[1].n
	}
	if at < 0 {
		at += len(body)
	}
	at = max(0, min(at, len(body)-1))
	out := slices.Clone(body)
	for i := at; i < len(out) && i-at < count; i++ {
		out[i] ^= 0xff
	}
	return out
}

// putOff arranges that the request is applied later.
func (rq *request) putOff(when value) {
	if when.kind == kindString {
		g := rq.s.Gate(when.s)
		g.onRelease(rq.applyLate)
		return
	}
	rq.s.later.add(when.n, rq.s.events.Add(1), rq.applyLate)
}

// applyLate applies a request whose connection is long closed, under the modes and the clock of that moment, and gives that its
// own journal entry.
func (rq *request) applyLate() {
	l := *rq
	l.now = rq.s.opts.Now()
	l.loadModes()
	l.arrival = arrival{}
	e := rq.s.journal.copyOf(rq.entry)
	ans := l.apply()
	rq.s.journal.begin(Entry{
		Arrived: l.applied, Applied: l.applied, Answered: rq.s.events.Add(1), Late: true,
		Principal: e.Principal, AccessKey: e.AccessKey, Region: e.Region, Host: e.Host, Op: e.Op, Bucket: e.Bucket, Key: e.Key,
		IfMatch: e.IfMatch, IfNoneMatch: e.IfNoneMatch, Status: ans.status, Code: ans.code, Dropped: true,
		BytesIn: e.BytesIn, ETagBefore: l.before, ETagAfter: l.after, VirtualTime: l.now,
	})
}

// later holds what happens after so many further requests.
type later struct {
	pending atomic.Int32
	mu      sync.Mutex
	list    []*laterItem
}

type laterItem struct {
	left  int
	since uint64 // only requests that arrived after this event count
	run   func()
}

// add runs fn once n requests that arrive after the event since have been answered.
func (l *later) add(n int, since uint64, fn func()) {
	if n <= 0 {
		fn()
		return
	}
	l.mu.Lock()
	l.list = append(l.list, &laterItem{left: n, since: since, run: fn})
	l.mu.Unlock()
	l.pending.Add(1)
}

// tick counts one answered request, and runs what has become due before it returns.
func (l *later) tick(arrived uint64) {
	if l.pending.Load() == 0 {
		return
	}
	var due []func()
	l.mu.Lock()
	l.list = slices.DeleteFunc(l.list, func(it *laterItem) bool {
		if arrived > it.since {
			it.left--
		}
		if it.left > 0 {
			return false
		}
		due = append(due, it.run)
		return true
	})
	l.mu.Unlock()
	l.pending.Add(int32(-len(due)))
	for _, fn := range due {
		fn()
	}
}
