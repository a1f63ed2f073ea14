package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"contextful/ref/catalog"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/vfs"
)

func TestRecord(t *testing.T) {
	fs, tab := newT(t)
	s, m := tab.s, catalog.NewMemory()
	at := func(n int64) time.Time { return time.Unix(1700000000+n, 5).UTC() }
	run := catalog.Run{Pipeline: "p", RunID: "r2", Table: "events", Status: "running", StartedAt: at(10)}
	must(t, s.Record(bg, m, run, nil))
	run.Status, run.EndedAt = "done", at(12)
	must(t, s.Record(bg, m, run, &catalog.Cursor{Pipeline: "p", Table: "events", Position: []byte(`"two"`), RunID: "r2", CommittedAt: at(11)}))
	// A run that ends late takes nothing back.
	must(t, s.Record(bg, m, catalog.Run{Pipeline: "p", RunID: "r1", Table: "events", Status: "done", StartedAt: at(1), EndedAt: at(20)},
		&catalog.Cursor{Pipeline: "p", Table: "events", Position: []byte(`"one"`), RunID: "r1", CommittedAt: at(3)}))
	fs.Crash(vfs.CrashLoses)
	state, err := s.RunState("alpha")
	must(t, err)
	if r := state.Runs["p"]; r.RunID != "r2" || r.Status != "done" || !r.EndedAt.Equal(at(12)) || len(state.Cursors) != 1 || string(state.Cursors[0].Position) != `"two"` {
		t.Fatalf("%+v", state)
	}
	if c, _, _ := m.Cursor(bg, "p", "events"); c.RunID != "r2" {
		t.Fatalf("%+v", c)
	}
	rows, err := m.Runs(bg, "")
	must(t, err)
	if len(rows) != 2 || rows[0].Node != "alpha" {
		t.Fatalf("%+v", rows)
	}
}

func TestRecordOverDamage(t *testing.T) {
	_, tab := newT(t)
	s := tab.s
	run := catalog.Run{Pipeline: "p", RunID: "r", Table: "events", Status: "done", StartedAt: time.Unix(1700000000, 0)}
	must(t, s.FS().MkdirAll(s.Path("nodes/alpha")))
	must(t, vfs.WriteAtomic(s.FS(), s.Path(key.RunState("alpha")), []byte(`{"format":2,"node_id":"alpha"}`)))
	if err := s.Record(bg, nil, run, nil); !errors.Is(err, fault.StoreManifestFormatNewer) {
		t.Fatal("a newer build's run state was written over:", err)
	}
	must(t, vfs.WriteAtomic(s.FS(), s.Path(key.RunState("alpha")), []byte(`{"format":1,`)))
	must(t, s.Record(bg, nil, run, nil))
	if state, err := s.RunState("alpha"); err != nil || state.Runs["p"].RunID != "r" {
		t.Fatal(state, err)
	}
}

func TestRefillRuns(t *testing.T) {
	_, tab := newT(t)
	s, m := tab.s, catalog.NewMemory()
	must(t, m.SwapCursor(bg, catalog.Cursor{Pipeline: "p", Table: "events", RunID: "kept"}, ""))
	for node, text := range map[string]string{
		"beta":  `{"format":1,"node_id":"beta","runs":{"p":{"run_id":"r","table":"events","status":"done","started_at":"2026-01-01T00:00:00Z"}},"cursors":[{"pipeline_id":"q","table":"events","position":1,"run_id":"r","committed_at":"2026-01-01T00:00:00Z"}]}`,
		"gamma": `{"format":1,"node_id":"gamma","runs":{"p":{"run_id":"r","table":"events","status":"done","started_at":"2026-01-01T00:00:00Z"}}}`,
		"delta": `{"format":1,"node_id":"gamma"}`,
	} {
		must(t, s.FS().MkdirAll(s.Path("nodes/"+node)))
		must(t, vfs.WriteAtomic(s.FS(), s.Path(key.RunState(node)), []byte(text)))
	}
	for _, want := range []int{2, 0} {
		if n, err := s.RefillRuns(bg, m); n != want || err != nil {
			t.Fatal(n, err)
		}
	}
	rows, err := m.Runs(bg, "p")
	must(t, err)
	if len(rows) != 2 || !strings.Contains(rows[0].Node+rows[1].Node, "gamma") {
		t.Fatalf("%+v", rows)
	}
	if _, ok, _ := m.Cursor(bg, "q", "events"); ok {
		t.Fatal("a rebuild made up a cursor")
	}
	if c, _, _ := m.Cursor(bg, "p", "events"); c.RunID != "kept" {
		t.Fatalf("%+v", c)
	}
}
