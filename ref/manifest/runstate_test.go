package manifest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"contextful/ref/fault"
)

const stateRel = "nodes/n1/run-state.json"

const stateText = `{"format":1,"node_id":"n1","runs":{"p":{"run_id":"r1","table":"a/b","status":"done","started_at":"2026-01-02T03:04:05.123456789Z","ended_at":"2026-01-02T03:04:06Z"},` +
	`"q":{"run_id":"r2","table":"a","status":"running","started_at":"2026-01-02T03:04:05Z"}},` +
	`"cursors":[{"pipeline_id":"p","table":"a/b","position":{"at":9007199254740993},"run_id":"r1","committed_at":"2026-01-02T03:04:05.000000001Z"},` +
	`{"pipeline_id":"p","table":"a","position":"x","run_id":"r1","committed_at":"2026-01-02T03:04:05Z"}],"later":[1]}`

func TestRunState(t *testing.T) {
	s, err := DecodeRunState(stateRel, []byte(stateText))
	if err != nil {
		t.Fatal(err)
	}
	if s.Runs["q"].EndedAt != nil || s.Runs["p"].StartedAt.Nanosecond() != 123456789 || s.Cursors[0].Table != "a" {
		t.Fatalf("%+v", s)
	}
	text, err := EncodeRunState(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeRunState(stateRel, text)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := EncodeRunState(again)
	if !bytes.Equal(text, second) || !bytes.Contains(text, []byte("9007199254740993")) {
		t.Fatalf("%s\n%s", text, second)
	}
}

func TestRunStateRefusals(t *testing.T) {
	swap := func(old, with string) string { return strings.Replace(stateText, old, with, 1) }
	for name, text := range map[string]string{
		"empty": "", "null": "null", "list": "[]", "truncated": stateText[:40], "trailing": stateText + "{}",
		"no format": swap(`"format":1,`, ""), "format 0": swap(`"format":1`, `"format":0`),
		"other node": swap(`"n1"`, `"n2"`), "pipeline escapes": swap(`"p":{`, `"../p":{`), "run escapes": swap(`"r1"`, `"../r1"`),
		"table escapes": swap(`"a/b"`, `"../b"`), "status speaks": swap(`"done"`, `"\u001b[2Jdone"`), "no status": swap(`"done"`, `""`),
		"no start": swap(`"2026-01-02T03:04:05.123456789Z"`, `null`), "far end": swap(`"2026-01-02T03:04:06Z"`, `"9999-01-02T03:04:06Z"`),
		"cursor twice": swap(`"table":"a","position"`, `"table":"a/b","position"`), "no position": swap(`"position":"x",`, ""),
		"cursor's run": swap(`"run_id":"r1","committed_at":"2026-01-02T03:04:05Z"`, `"run_id":"","committed_at":"2026-01-02T03:04:05Z"`),
		"twice":        swap(`"node_id":"n1"`, `"node_id":"n1","node_id":"n1"`),
	} {
		if _, err := DecodeRunState(stateRel, []byte(text)); fault.CodeOf(err) != fault.StoreManifestInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DecodeRunState(stateRel, []byte(swap(`"format":1`, `"format":2`))); fault.CodeOf(err) != fault.StoreManifestFormatNewer {
		t.Error(err)
	}
	if _, err := DecodeRunState("nodes/n1/other.json", []byte(stateText)); err == nil {
		t.Error("taken from a place where no run state lies")
	}
	if _, err := EncodeRunState(&RunState{NodeID: "n1", Cursors: []PipelineCursor{{PipelineID: "p", Table: "t", RunID: "r", CommittedAt: At(time.Unix(1, 0)), Position: json.RawMessage("{")}}}); err == nil {
		t.Error("printed what nobody reads")
	}
}

func FuzzRunState(f *testing.F) {
	f.Add([]byte(stateText))
	f.Add([]byte(`{"format":1,"node_id":"n1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeRunState(stateRel, data)
		if err != nil {
			return
		}
		text, err := EncodeRunState(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRunState(stateRel, text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
