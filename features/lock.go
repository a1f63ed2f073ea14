package features

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"contextful/spec"
)

const lockFile = "reviewed.lock"

const lockHead = `# Which text of a clause each scenario was last reviewed against: feature, scenario, clause, digest.
# Written by ` + "`contextful-conform lint --reviewed`" + `; lint names a scenario whose clause has changed since.
`

// An Entry says that a scenario was reviewed against a clause whose text then had this digest. One line of the lock:
//
//	store/pull.feature "the pointer waits for the last part" store.pull.pointer-last 3f0c…
type Entry struct {
	Feature  string
	Scenario string
	Clause   string
	Digest   string // spec.Clause.Digest at the time of review
	line     int    // 1-based, of the parsed file
}

// A Lock is the content of reviewed.lock.
type Lock struct {
	entries []Entry
	byKey   map[string]int
}

func (e Entry) key() string { return e.Feature + "\x00" + e.Scenario + "\x00" + e.Clause }

func newLock(entries []Entry) Lock {
	sort.Slice(entries, func(i, j int) bool { return entries[i].key() < entries[j].key() })
	l := Lock{entries: entries, byKey: map[string]int{}}
	for i, e := range entries {
		l.byKey[e.key()] = i
	}
	return l
}

func (l Lock) find(e Entry) (Entry, bool) {
	i, ok := l.byKey[e.key()]
	if !ok {
		return Entry{}, false
	}
	return l.entries[i], true
}

// Entries lists the lock, sorted by feature, scenario and clause.
func (l Lock) Entries() []Entry { return append([]Entry(nil), l.entries...) }

// ParseLock reads the text of a reviewed.lock; an empty text is an empty lock. The error names the line.
func ParseLock(text string) (Lock, error) {
	var entries []Entry
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		feature, rest, _ := strings.Cut(line, " ")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return Lock{}, fmt.Errorf("features/%s:%d: no quoted scenario name in %q", lockFile, i+1, line)
		}
		name, err := strconv.Unquote(quoted)
		tail := strings.Fields(rest[len(quoted):])
		if err != nil || len(tail) != 2 {
			return Lock{}, fmt.Errorf("features/%s:%d: want feature, \"scenario\", clause, digest in %q", lockFile, i+1, line)
		}
		e := Entry{Feature: feature, Scenario: name, Clause: tail[0], Digest: tail[1], line: i + 1}
		if seen[e.key()] {
			return Lock{}, fmt.Errorf("features/%s:%d: %q stands twice", lockFile, i+1, line)
		}
		seen[e.key()] = true
		entries = append(entries, e)
	}
	return newLock(entries), nil
}

// Text is the lock as its file holds it; ParseLock reads it back.
func (l Lock) Text() string {
	var b strings.Builder
	b.WriteString(lockHead)
	for _, e := range l.entries {
		fmt.Fprintf(&b, "%s %s %s %s\n", e.Feature, strconv.Quote(e.Scenario), e.Clause, e.Digest)
	}
	return b.String()
}

// Lock is the recorded review of the set.
func (s *Set) Lock() Lock { return s.lock }

// Reviewed is the lock as it would stand if every scenario were reviewed now. Writing its Text to features/reviewed.lock
// says so; that is a person's word, never a build's.
func (s *Set) Reviewed(index *spec.Index) Lock {
	var entries []Entry
	seen := map[string]bool{}
	for _, sc := range s.scenarios {
		for _, t := range sc.Tags {
			c, ok := index.Lookup(t.Clause)
			if !ok {
				continue
			}
			e := Entry{Feature: sc.Feature, Scenario: sc.Name, Clause: c.ID, Digest: c.Digest}
			if !seen[e.key()] {
				seen[e.key()] = true
				entries = append(entries, e)
			}
		}
	}
	return newLock(entries)
}
