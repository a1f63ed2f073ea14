package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const events = `
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB/one","Output":"why it failed\n"}
{"Action":"fail","Package":"p","Test":"TestB/one"}
{"Action":"pass","Package":"p","Test":"TestB/two"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestC/x/y"}
{"Action":"pass","Package":"p","Test":"TestC/x"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"skip","Package":"p","Test":"TestD"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestA"}
{"Action":"output","Package":"q","Test":"TestS","Output":"    live_test.go:1: NOT TESTED: no docker\n"}
{"Action":"pass","Package":"q","Test":"TestS"}
{"Action":"pass","Package":"q","Elapsed":1.25}
{"Action":"skip","Package":"empty"}
{"ImportPath":"broken","Action":"build-output","Output":"x.go:1: syntax error\n"}
{"ImportPath":"broken","Action":"build-fail"}
{"Action":"fail","Package":"broken","FailedBuild":"broken"}
plain words of the tool
`

func TestGoTests(t *testing.T) {
	var c Counts
	var shown bytes.Buffer
	if err := goTests(strings.NewReader(events), &shown, &c); err != nil {
		t.Fatal(err)
	}
	// passed: A, B/two, C/x/y, q A, q S; failed: B/one, C itself, the package broken; skipped: D
	if c.Passed != 5 || c.Failed != 3 || c.Skipped != 1 {
		t.Errorf("counts %+v", c)
	}
	want := []string{"failed: p TestB/one", "failed: p TestC", "skipped: p TestD", "failed: broken (the package itself)"}
	if !reflect.DeepEqual(c.Notes, want) {
		t.Errorf("notes %q, want %q", c.Notes, want)
	}
	for _, line := range []string{"why it failed", "syntax error", "plain words", "NOT TESTED", "ok    q"} {
		if !strings.Contains(shown.String(), line) {
			t.Errorf("%q was not shown", line)
		}
	}
	if strings.Contains(shown.String(), "quiet") {
		t.Error("the output of a test that passed was shown")
	}
}

func TestLongOutputKeepsItsEnds(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"Action":"output","Package":"p","Test":"T","Output":"first\n"}` + "\n")
	for range 3 * keptLines {
		text.WriteString(`{"Action":"output","Package":"p","Test":"T","Output":"middle\n"}` + "\n")
	}
	text.WriteString(`{"Action":"output","Package":"p","Test":"T","Output":"last\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T"}` + "\n")
	var c Counts
	var shown bytes.Buffer
	if err := goTests(strings.NewReader(text.String()), &shown, &c); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(shown.String()), "\n")
	if len(lines) != keptLines || lines[0] != "first" || lines[len(lines)-1] != "last" {
		t.Errorf("%d lines from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestScenarios(t *testing.T) {
	file := write(t, `{"complete":true,"scenarios":[{"id":"a","verdict":"pass"},{"id":"b","verdict":"fail"},{"id":"c","verdict":"unavailable"},
		{"id":"d","verdict":"unsupported"},{"id":"e","verdict":"error"},{"id":"f","verdict":"xfail"},{"id":"g","verdict":"xpass"},{"id":"h","verdict":"not-run"}]}`)
	cases := map[string]struct {
		exit     int
		required bool
		want     [3]int
	}{
		"as it is":       {1, false, [3]int{1, 4, 3}},
		"required":       {1, true, [3]int{1, 5, 2}},
		"the kit passed": {0, false, [3]int{1, 3, 4}},
	}
	for name, k := range cases {
		c := Counts{Exit: k.exit}
		if err := scenarios(file, k.required, &c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := [3]int{c.Passed, c.Failed, c.Skipped}; got != k.want {
			t.Errorf("%s: %v, want %v", name, got, k.want)
		}
	}
	for name, text := range map[string]string{
		"empty": `{"complete":true,"scenarios":[]}`, "partial": `{"complete":false,"scenarios":[{"id":"a","verdict":"pass"}]}`, "not JSON": `<html>`,
	} {
		var c Counts
		if err := scenarios(write(t, text), false, &c); err == nil {
			t.Errorf("%s: counted as %+v", name, c)
		}
	}
}

func TestHunt(t *testing.T) {
	var c Counts
	err := hunt(write(t, `{"mutants":[{"id":"a","result":"killed"},{"id":"b","result":"survived"},{"id":"c","result":"dead"}]}`), &c)
	if err != nil || c.Passed != 1 || c.Failed != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := hunt(write(t, `{"mutants":[]}`), &c); err == nil {
		t.Error("no mutant at all was counted as fine")
	}
}

// do runs count with a clock that stands still.
func do(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code, err := run(args, &out, &out, func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		out.WriteString(err.Error())
	}
	return code, out.String()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestStepsAndSum(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "test")
	if code, out := do(t, "sum", "--dir", dir); code != 1 || lastLine(out) != "0 passed, 0 failed" {
		t.Errorf("nothing ran: exit %d, %q", code, out)
	}
	if code, out := do(t, "step", "--dir", dir, "--name", "good", "--", "/bin/sh", "-c", "echo said"); code != 0 || !strings.Contains(out, "said") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := do(t, "sum", "--dir", dir); code != 0 || lastLine(out) != "1 passed, 0 failed" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := do(t, "step", "--dir", dir, "--name", "bad", "--", "/bin/sh", "-c", "exit 3"); code != 3 {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := do(t, "step", "--dir", dir, "--name", "absent", "--", "/nonexistent/command"); code != 127 {
		t.Errorf("exit %d: %s", code, out)
	}
	// A report left by an earlier run is not this run's.
	stale := write(t, `{"complete":true,"scenarios":[{"id":"a","verdict":"pass"}]}`)
	if code, out := do(t, "step", "--dir", dir, "--name", "conform", "--report", stale, "--", "/bin/sh", "-c", "exit 0"); code != 0 || !strings.Contains(out, "1 failed") {
		t.Errorf("exit %d: %s", code, out)
	}
	tests := `echo '{"Action":"pass","Package":"p","Test":"T"}'; exit 1`
	if code, out := do(t, "tests", "--dir", dir, "--name", "unit", "--", "/bin/sh", "-c", tests); code != 1 || !strings.Contains(out, "1 passed, 1 failed") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := do(t, "sum", "--dir", dir); code != 1 || lastLine(out) != "2 passed, 4 failed" {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"step"}, {"dance", "--name", "x", "--", "true"}, {"step", "--what"}} {
		if code, out := do(t, args...); code != 2 || out == "" {
			t.Errorf("%q: exit %d, %q", args, code, out)
		}
	}
}
