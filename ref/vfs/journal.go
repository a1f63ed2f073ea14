package vfs

import (
	"fmt"
	"regexp"
	"slices"
)

// The kinds of operation a Mem journals.
const (
	OpOpen      = "open"
	OpReadDir   = "readdir"
	OpStat      = "stat"
	OpCreate    = "create"
	OpWrite     = "write"
	OpSync      = "sync"
	OpRename    = "rename"
	OpRenameNew = "renamenew"
	OpRemove    = "remove"
	OpRemoveAll = "removeall"
	OpMkdir     = "mkdir"
	OpSyncDir   = "syncdir"
	OpLock      = "lock"
)

// Op is one operation as it was asked for, whether or not it succeeded.
type Op struct {
	Kind  string
	Name  string
	To    string // the new name of a rename
	Bytes int    // of a write
}

// Changes tells whether the operation may alter what is visible or durable; only these count for plans.
func (o Op) Changes() bool {
	return o.Kind != OpOpen && o.Kind != OpReadDir && o.Kind != OpStat
}

var tempName = regexp.MustCompile(`\.tmp-[0-9a-f]+`)

// String prints "rename /a/.tmp-* /a/b" and the like: temporary names are random, so they are not told apart.
func (o Op) String() string {
	s := o.Kind + " " + o.Name
	if o.To != "" {
		s += " " + o.To
	}
	if o.Kind == OpWrite {
		s += fmt.Sprintf(" %d", o.Bytes)
	}
	return tempName.ReplaceAllString(s, ".tmp-*")
}

// FailAt makes the nth changing operation from now (1 is the next) fail once with err, not applied.
func (m *Mem) FailAt(n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes, m.failAt, m.failErr = 0, n, err
}

// CrashAt takes the machine down at the nth changing operation from now: it and everything after answers ErrCrashed, until
// Crash says what is left.
func (m *Mem) CrashAt(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes, m.crashAt = 0, n
}

// Down tells whether a planned crash has happened.
func (m *Mem) Down() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.down
}

// Inject sets a judge of every operation: its error is the operation's, not applied. Nil ends it. The judge must not call
// back into the file system.
func (m *Mem) Inject(judge func(Op) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inject = judge
}

// Journal gives all operations since the last ResetJournal, in order.
func (m *Mem) Journal() []Op {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.journal)
}

// ResetJournal forgets them.
func (m *Mem) ResetJournal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.journal = nil
}

// Count counts the journalled operations of a kind.
func (m *Mem) Count(kind string) int {
	n := 0
	for _, op := range m.Journal() {
		if op.Kind == kind {
			n++
		}
	}
	return n
}

// step journals an operation and gives the error planned for it. The caller holds the mutex.
func (m *Mem) step(op Op) error {
	if m.down {
		return ErrCrashed
	}
	m.journal = append(m.journal, op)
	if m.inject != nil {
		if err := m.inject(op); err != nil {
			return err
		}
	}
	if !op.Changes() {
		return nil
	}
	m.changes++
	if m.crashAt != 0 && m.changes >= m.crashAt {
		m.down = true
		return ErrCrashed
	}
	if m.failAt != 0 && m.changes == m.failAt {
		m.failAt = 0
		return m.failErr
	}
	return nil
}
