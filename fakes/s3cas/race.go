package s3cas

import (
	"context"
	"time"
)

// How conditional writes race. By default check and write are one step under the key's lock. The modes here let a write be checked
// against something older.

// arrival is what a conditional write saw when its header came in: kept only for the modes that need it.
type arrival struct {
	seen    *object
	has     bool
	passed  bool // toctou_window: the early check passed
	waiting *window
}

// conditionalWrite reports whether the request writes one key under a condition.
func (rq *request) conditionalWrite() bool {
	switch rq.op {
	case OpPut, OpCopy, OpCompleteMultipart:
		return rq.cond.conditional()
	case OpDelete:
		return rq.cond.hasIfMatch
	}
	return false
}

// observe notes the state of the key as the request arrives.
func (rq *request) observe() {
	m := rq.modes
	if rq.b == nil || !rq.conditionalWrite() || !m.on(modeToctou) && !m.on(modeRace500) {
		return
	}
	rq.arrival.seen, rq.arrival.has = rq.b.get(rq.key), true
	mode := m.get(modeToctou)
	if mode == nil || rq.op == OpDelete || checkWrite(rq.arrival.seen, rq.cond, m) != nil {
		return
	}
	rq.arrival.passed = true
	rq.arrival.waiting = mode.enterWindow(rq.s.ctx, rq.bucketName+"/"+rq.key)
}

// waitWindow keeps the window between check and write open until enough racers have checked, or for a moment.
func (rq *request) waitWindow() {
	if w := rq.arrival.waiting; w != nil {
		d := rq.modes.get(modeToctou).d
		if d == 0 {
			d = 5 * time.Millisecond
		}
		_ = rq.s.opts.Sleep(w.full, d) // ending early is what full is for
		w.leave()
	}
}

// window is one meeting of racers at one key.
type window struct {
	full  context.Context // ends once enough racers are in
	end   context.CancelFunc
	n     int
	leave func()
}

// enterWindow joins the open window of a key, or opens one.
func (m *Mode) enterWindow(ctx context.Context, key string) *window {
	st := m.state
	st.mu.Lock()
	defer st.mu.Unlock()
	slot := "window " + key
	w, _ := st.seen[slot].(*window)
	if w == nil {
		w = &window{}
		w.full, w.end = context.WithCancel(ctx)
		w.leave = func() {
			st.mu.Lock()
			if st.seen[slot] == any(w) {
				delete(st.seen, slot)
			}
			st.mu.Unlock()
			w.end()
		}
		st.seen[slot] = w
	}
	w.n++
	if limit := m.count(2); limit > 0 && w.n >= limit {
		delete(st.seen, slot)
		w.end()
	}
	return w
}

// mayOverwrite decides a write that passed its early check: of the writers that saw one version, the first always may, and then as
// many as the window lets win.
func (m *Mode) mayOverwrite(key string, seen, cur *object) bool {
	st := m.state
	st.mu.Lock()
	defer st.mu.Unlock()
	slot := "winners " + key
	won, _ := st.seen[slot].(map[*object]int)
	if won == nil {
		won = map[*object]int{}
		st.seen[slot] = won
	}
	if seen == cur { // for the absent object also: a new life of the key is a new race
		won[seen] = 1
		return true
	}
	if limit := m.count(2); limit > 0 && won[seen] >= limit {
		return false
	}
	won[seen]++
	return true
}

// judge decides the condition of a write, under the key's lock.
func (rq *request) judge(cur *object) *apiError {
	m := rq.modes
	if !rq.cond.conditional() {
		return nil
	}
	slot := rq.bucketName + "/" + rq.key
	if mode := m.get(modeConflictAlways); mode != nil {
		return errConflict
	}
	if mode := m.get(modeConflictOnce); mode != nil && mode.once(slot) {
		return errConflict
	}
	if rq.op == OpCompleteMultipart && m.on(modeConditionsIgnoredOnMultipart) {
		return nil
	}
	if rq.op == OpCopy && m.on(modeCopyConditionsIgnored) {
		return nil
	}
	if mode := m.get(modeConditionSkippedOnError); mode != nil && mode.every(mode.count(2)) {
		return nil
	}
	if mode := m.get(modePerEndpoint); mode != nil {
		cur = mode.endpointView(rq.http.Host+" "+slot, cur)
	}
	if mode := m.get(modeToctou); mode != nil && rq.arrival.passed && mode.mayOverwrite(slot, rq.arrival.seen, cur) {
		return nil
	}
	err := checkWrite(cur, rq.cond, m)
	if err != nil && m.on(modeRace500) && rq.arrival.has && rq.arrival.seen != cur {
		return errInternal
	}
	return err
}

// endpointView returns what an endpoint believes a key holds: what it last saw itself, or the truth where it has not looked.
func (m *Mode) endpointView(slot string, cur *object) *object {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	if v, ok := m.state.seen[slot]; ok {
		return v.(*object)
	}
	return cur
}

// noteView records what this endpoint has just read or written.
func (rq *request) noteView(o *object) {
	if mode := rq.modes.get(modePerEndpoint); mode != nil {
		mode.state.mu.Lock()
		mode.state.seen[rq.http.Host+" "+rq.bucketName+"/"+rq.key] = o
		mode.state.mu.Unlock()
	}
}

// tooSoon reports whether the key was written less than a second of the clock ago, and if not notes this write.
func (m *Mode) tooSoon(slot string, now time.Time) bool {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	if last, ok := m.state.seen[slot].(time.Time); ok && now.Sub(last) < time.Second {
		return true
	}
	m.state.seen[slot] = now
	return false
}
