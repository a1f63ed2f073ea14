package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	landers     = 16
	runsOfEach  = 2
	rowsPerRun  = 5
	readersBusy = 2
)

// process runs this binary as the command, in a project.
func process(t *testing.T, dir, stdin string, args ...string) ([]byte, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"contextful"}, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "CONTEXTFUL_STATE_DIR="+filepath.Join(dir, "..", "state"), "CONTEXTFUL_NODE_ID=desk")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.Bytes(), nil
}

// Sixteen processes land into one table while a fold goes round and readers ask. No row is lost or doubled at any moment, commit numbers
// only rise, and no reader waits for a lock: it is given a millisecond to.
func TestSixteenLandWhileAFoldGoesRoundAndReadersAsk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	declaration := "[project]\nname = \"research\"\n[[pipeline.tables]]\nname = \"log\"\npartition_by = [\"by\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "contextful.toml"), []byte(declaration), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := process(t, dir, "", "init", "research"); err != nil {
		t.Fatal(err)
	}
	if _, err := process(t, dir, `{"id":-1,"by":0}`, "context", "land", "log", "--rows", "-", "--run-id", "first", "--site-id", "desk"); err != nil {
		t.Fatal(err)
	}
	var landing, others sync.WaitGroup
	var done atomic.Bool
	for n := range landers {
		landing.Go(func() {
			for r := range runsOfEach {
				var rows strings.Builder
				for i := range rowsPerRun {
					fmt.Fprintf(&rows, "{\"id\":%d,\"by\":%d,\"of_%d\":1}\n", (n*runsOfEach+r)*rowsPerRun+i, n%3, n)
				}
				if _, err := process(t, dir, rows.String(), "context", "land", "log", "--rows", "-", "--run-id", fmt.Sprintf("r-%d-%d", n, r), "--site-id", "desk"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	folds := 0
	others.Go(func() {
		for !done.Load() {
			if _, err := process(t, dir, "", "context", "compact", "log"); err != nil {
				t.Error(err)
				return
			}
			folds++
		}
	})
	for range readersBusy {
		others.Go(func() {
			for before := 0; !done.Load(); {
				rows, distinct, err := counted(t, dir)
				if err != nil || rows != distinct || rows < before {
					t.Errorf("a reader saw %d rows, %d of them distinct, after %d: %v", rows, distinct, before, err)
					return
				}
				before = rows
			}
		})
	}
	landing.Wait()
	done.Store(true)
	others.Wait()
	const all = landers*runsOfEach*rowsPerRun + 1
	if rows, distinct, err := counted(t, dir); err != nil || rows != all || distinct != all {
		t.Errorf("%d rows, %d distinct, of %d landed: %v", rows, distinct, all, err)
	}
	inOrder(t, dir)
	if _, err := process(t, dir, "", "context", "check"); err != nil {
		t.Error(err)
	}
	t.Logf("%d folds", folds)
}

func counted(t *testing.T, dir string) (rows, distinct int, err error) {
	out, err := process(t, dir, "", "query", "SELECT count(*), count(DISTINCT id) FROM log", "--json", "--lock-timeout", "1ms")
	if err != nil {
		return 0, 0, err
	}
	var answer struct{ Rows [][]int }
	if err := json.Unmarshal(out, &answer); err != nil {
		return 0, 0, err
	}
	if len(answer.Rows) != 1 || len(answer.Rows[0]) != 2 {
		return 0, 0, errors.New(string(out))
	}
	return answer.Rows[0][0], answer.Rows[0][1], nil
}

// inOrder looks at the list of runs: commit numbers rise strictly, instants never fall.
func inOrder(t *testing.T, dir string) {
	t.Helper()
	out, err := process(t, dir, "", "context", "runs", "log", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Runs []struct {
			Run string `json:"run_id"`
			At  string `json:"committed_at"`
			Seq int64  `json:"commit_seq"`
		}
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Runs) != landers*runsOfEach+1 {
		t.Fatalf("%d runs, %v", len(list.Runs), err)
	}
	for i := 1; i < len(list.Runs); i++ {
		if a, b := list.Runs[i-1], list.Runs[i]; b.Seq <= a.Seq || b.At < a.At {
			t.Errorf("%+v comes before %+v", a, b)
		}
	}
}
