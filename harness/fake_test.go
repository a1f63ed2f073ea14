package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// TestMain makes the test binary the implementation under test where the kit starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_SUT") != "" {
		os.Exit(fakeSUT(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeSUT is a store of the smallest kind: rows in JSON Lines, no bucket. FAKE_SUT says how it misbehaves.
func fakeSUT(args []string) int {
	mode, verb := os.Getenv("FAKE_SUT"), strings.Join(args[:min(2, len(args))], " ")
	store := ".contextful/context/research"
	switch {
	case args[0] == "init":
		if mode == "no-init" {
			fmt.Fprintln(os.Stderr, "StoreWriteFailed: the disk is full")
			return 1
		}
		if err := os.MkdirAll(store, 0o755); err != nil || mode == "idle" {
			return ended(err)
		}
		return ended(os.WriteFile(filepath.Join(store, "store-id"), []byte("0a3f7c52-9d1e-4b68-8a70-5c2e91d4f6b3\n"), 0o644))
	case verb == "context land":
		switch mode {
		case "lazy":
			return 0
		case "hang":
			select {}
		case "panic":
			panic("the fake has lost its mind")
		case "refuse":
			fmt.Fprintln(os.Stderr, `StoreRunConflict: the run "run-1" of events is committed with other rows`+"\nhint: take another run id")
			return 1
		case "flaky":
			flag := filepath.Join(os.TempDir(), os.Getenv("FAKE_FLAG"))
			if _, err := os.Stat(flag); err == nil {
				return ended(os.Remove(flag))
			}
			if err := os.WriteFile(flag, nil, 0o644); err != nil {
				return 1
			}
		}
		rows, err := os.ReadFile(args[4])
		if err != nil {
			return ended(err)
		}
		if mode == "double" {
			rows = append(rows, rows...)
		}
		dir := filepath.Join(store, "tables", args[2])
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return ended(err)
		}
		final := filepath.Join(dir, args[6]+".jsonl")
		if mode == "torn" {
			return ended(os.WriteFile(final, rows, 0o644))
		}
		if err := os.WriteFile(final+".tmp", rows, 0o644); err != nil {
			return ended(err)
		}
		return ended(os.Rename(final+".tmp", final))
	case args[0] == "query":
		return ended(fakeQuery(store, strings.Split(args[1], `"`)[1]))
	}
	fmt.Fprintln(os.Stderr, "StoreUnsupported: no such verb")
	return 2
}

func ended(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "StoreWriteFailed:", err)
		return 1
	}
	return 0
}

func fakeQuery(store, table string) error {
	files, err := filepath.Glob(filepath.Join(store, "tables", table, "*.jsonl"))
	if err != nil {
		return err
	}
	var columns []string
	seen := map[string]bool{}
	var rows []map[string]any
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		for sc := bufio.NewScanner(f); sc.Scan(); {
			var r map[string]any
			if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
				return err
			}
			rows = append(rows, r)
			for c := range r {
				if !seen[c] {
					seen[c] = true
					columns = append(columns, c)
				}
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	sort.Strings(columns)
	out := [][]any{}
	for _, r := range rows {
		line := make([]any, len(columns))
		for i, c := range columns {
			line[i] = r[c]
		}
		out = append(out, line)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"columns": columns, "rows": out, "truncated": false})
}
