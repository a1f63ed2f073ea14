// Package catalogtest is the contract of the catalog ports as suites that every implementation passes.
package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"contextful/ref/catalog"
)

var bg = context.Background()

func instant(n int64) time.Time { return time.Unix(n, 123456789).UTC() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, have, want any) {
	t.Helper()
	if !reflect.DeepEqual(have, want) {
		t.Fatalf("have %+v\nwant %+v", have, want)
	}
}

// Machine asks everything catalog.Machine promises; open gives an empty one.
func Machine(t *testing.T, open func(*testing.T) catalog.Machine) {
	t.Run("the journal counts without gaps", func(t *testing.T) {
		m := open(t)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 5 {
					if _, err := m.Append(bg, catalog.Entry{At: instant(int64(i)), Kind: "land", Subject: fmt.Sprint(w), Body: []byte(`{"n":9007199254740993}`)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		next := int64(1)
		must(t, m.Journal(bg, 0, func(e catalog.Entry) error {
			if e.Seq != next || e.Kind != "land" || string(e.Body) != `{"n":9007199254740993}` || e.At.Nanosecond() != 123456789 {
				return fmt.Errorf("entry %d: %+v", next, e)
			}
			next++
			return nil
		}))
		same(t, next, int64(21))
		stop := errors.New("stop")
		if err := m.Journal(bg, 19, func(e catalog.Entry) error { same(t, e.Seq, int64(20)); return stop }); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	})
	t.Run("run rows", func(t *testing.T) {
		m := open(t)
		first := catalog.Run{Pipeline: "p", RunID: "r1", Table: "a", Status: "running", StartedAt: instant(5)}
		second := catalog.Run{Pipeline: "p", RunID: "r2", Table: "a", Status: "running", StartedAt: instant(9)}
		must(t, m.PutRun(bg, first))
		must(t, m.PutRun(bg, second))
		must(t, m.PutRun(bg, catalog.Run{Pipeline: "q", RunID: "r1", Table: "a"}))
		first.Status, first.EndedAt = "done", instant(7)
		must(t, m.PutRun(bg, first))
		list, err := m.Runs(bg, "p")
		must(t, err)
		same(t, list, []catalog.Run{second, first})
		list, err = m.Runs(bg, "")
		must(t, err)
		same(t, len(list), 3)
		elsewhere := first
		elsewhere.Node, elsewhere.StartedAt = "beta", instant(99)
		filled, err := m.FillRuns(bg, []catalog.Run{elsewhere})
		must(t, err)
		same(t, filled, false)
		list, err = m.Runs(bg, "p")
		must(t, err)
		same(t, list, []catalog.Run{second, first})
		must(t, m.PutRun(bg, elsewhere))
		list, err = m.Runs(bg, "p")
		must(t, err)
		same(t, list, []catalog.Run{elsewhere, second, first})
	})
	t.Run("run rows are filled in only where there are none", func(t *testing.T) {
		m := open(t)
		rows := []catalog.Run{{Pipeline: "p", Node: "beta", RunID: "r", Table: "a", Status: "done", StartedAt: instant(2)},
			{Pipeline: "p", Node: "gamma", RunID: "r", Table: "a", Status: "running", StartedAt: instant(1)}}
		for _, want := range []bool{false, true, false} {
			filled, err := m.FillRuns(bg, rows[:map[bool]int{false: 0, true: 2}[want]])
			must(t, err)
			same(t, filled, want)
		}
		list, err := m.Runs(bg, "")
		must(t, err)
		same(t, list, rows)
		_, ok, err := m.Cursor(bg, "p", "a")
		must(t, err)
		same(t, ok, false)
	})
	t.Run("cursors swap", func(t *testing.T) {
		m := open(t)
		_, ok, err := m.Cursor(bg, "p", "a")
		must(t, err)
		same(t, ok, false)
		c := catalog.Cursor{Pipeline: "p", Table: "a", Position: []byte(`"x"`), RunID: "r1", CommittedAt: instant(1)}
		must(t, m.SwapCursor(bg, c, ""))
		if err := m.SwapCursor(bg, c, ""); !errors.Is(err, catalog.ErrMoved) {
			t.Fatal(err)
		}
		var won sync.Map
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				next := c
				next.RunID = fmt.Sprintf("n%d", i)
				if err := m.SwapCursor(bg, next, "r1"); err == nil {
					won.Store(next.RunID, true)
				} else if !errors.Is(err, catalog.ErrMoved) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		have, ok, err := m.Cursor(bg, "p", "a")
		must(t, err)
		winners := 0
		won.Range(func(k, _ any) bool { winners++; same(t, k, have.RunID); return true })
		if winners != 1 || !ok || string(have.Position) != `"x"` || !have.CommittedAt.Equal(instant(1)) {
			t.Fatalf("%d winners, %+v", winners, have)
		}
	})
	t.Run("a lease's fence only rises", func(t *testing.T) {
		m := open(t)
		l := catalog.Lease{Key: "k", Holder: "n", Fence: 1 << 60, ExpiresAt: instant(3)}
		must(t, m.PutLease(bg, l))
		must(t, m.PutLease(bg, catalog.Lease{Key: "k", Holder: "old", Fence: 1}))
		have, ok, err := m.Lease(bg, "k")
		must(t, err)
		same(t, ok, true)
		same(t, have, l)
		l.Holder, l.ExpiresAt = "", time.Time{}
		must(t, m.PutLease(bg, l))
		have, _, err = m.Lease(bg, "k")
		must(t, err)
		same(t, have, l)
		_, ok, err = m.Lease(bg, "other")
		must(t, err)
		same(t, ok, false)
	})
}

// Derived asks everything catalog.Derived promises; open gives an empty one.
func Derived(t *testing.T, open func(*testing.T) catalog.Derived) {
	t.Run("replace and wipe", func(t *testing.T) {
		d := open(t)
		fence := int64(7)
		rows := catalog.TableRows{Table: "b/c", Snapshot: "s2", Fence: &fence, Schema: []byte(`{"fields":[]}`),
			Snapshots: []catalog.SnapshotRow{{SnapshotID: "s2", Parent: "s1", CreatedAt: instant(2), Rows: 9007199254740993, Parts: 2}, {SnapshotID: "s1", CreatedAt: instant(1), Rows: -1}},
			Runs:      []catalog.RunRow{{RunID: "r", NodeID: "n", CommittedAt: instant(1), CommitSeq: -1, Rows: 3, FoldedIn: "s1"}}}
		must(t, d.Replace(bg, rows))
		must(t, d.Replace(bg, catalog.TableRows{Table: "a"}))
		names, err := d.Tables(bg)
		must(t, err)
		same(t, names, []string{"a", "b/c"})
		have, ok, err := d.Table(bg, "b/c")
		must(t, err)
		same(t, ok, true)
		same(t, have, rows)
		rows.Snapshots, rows.Fence, rows.Snapshot = rows.Snapshots[1:], nil, "s1"
		must(t, d.Replace(bg, rows))
		have, _, err = d.Table(bg, "b/c")
		must(t, err)
		same(t, have, rows)
		must(t, d.Wipe(bg))
		_, ok, err = d.Table(bg, "b/c")
		must(t, err)
		same(t, ok, false)
		names, err = d.Tables(bg)
		must(t, err)
		same(t, len(names), 0)
	})
}
