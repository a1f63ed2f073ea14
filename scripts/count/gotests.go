package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// event is what `go test -json` (test2json) prints per line; build events carry ImportPath instead of Package.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// keptLines bounds the output that is held per running test, to be shown if it fails.
const keptLines = 200

// goTests reads the events, shows one line per package and the output of what failed, and counts.
//
// A test counts once: a test with subtests is counted through them, and for itself only when it failed while they all
// passed. A package that fails without a failed test (it did not build, it panicked, it ran out of time) is one
// failure.
func goTests(r io.Reader, show io.Writer, c *Counts) error {
	results := map[string]map[string]string{} // package → test → pass, fail, skip
	output := map[[2]string][]string{}
	var brokenPackages []string
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(show, line) // not an event: the tool itself speaks
			} else {
				handle(e, show, results, output, &brokenPackages)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, pkg := range sortedKeys(results) {
		count(pkg, results[pkg], c)
	}
	for _, pkg := range brokenPackages {
		if !anyFailed(results[pkg]) {
			c.Failed++
			c.note("failed: %s (the package itself)", pkg)
		}
	}
	return nil
}

func handle(e event, show io.Writer, results map[string]map[string]string, output map[[2]string][]string, broken *[]string) {
	pkg := e.Package
	if pkg == "" {
		pkg = e.ImportPath
	}
	at := [2]string{pkg, e.Test}
	switch e.Action {
	case "output", "build-output":
		if kept := output[at]; len(kept) < keptLines {
			output[at] = append(kept, e.Output)
		} else {
			// The end says why it failed: drop from the middle.
			output[at] = append(append(kept[:keptLines/2:keptLines/2], kept[keptLines/2+1:]...), e.Output)
		}
		if strings.Contains(e.Output, "NOT TESTED: ") { // what our tests say when a service is missing
			fmt.Fprint(show, strings.TrimLeft(e.Output, " "))
		}
	case "build-fail":
		fmt.Fprint(show, strings.Join(output[at], ""))
		delete(output, at)
	case "pass", "fail", "skip":
		if e.Test == "" {
			packageDone(e, show, output[at], broken)
		} else {
			if results[pkg] == nil {
				results[pkg] = map[string]string{}
			}
			results[pkg][e.Test] = e.Action
			if e.Action == "fail" {
				fmt.Fprint(show, strings.Join(output[at], ""))
			}
		}
		delete(output, at)
	}
}

func packageDone(e event, show io.Writer, output []string, broken *[]string) {
	switch {
	case e.Action == "fail":
		fmt.Fprint(show, strings.Join(output, ""))
		*broken = append(*broken, e.Package)
	case e.Action == "pass":
		fmt.Fprintf(show, "ok    %s (%.1f s)\n", e.Package, e.Elapsed)
	}
}

// count adds one package's tests to c.
func count(pkg string, tests map[string]string, c *Counts) {
	parent := map[string]bool{}      // has subtests
	failedBelow := map[string]bool{} // has a failed one
	for name, result := range tests {
		for i := strings.LastIndexByte(name, '/'); i >= 0; i = strings.LastIndexByte(name[:i], '/') {
			parent[name[:i]] = true
			if result == "fail" {
				failedBelow[name[:i]] = true
			}
		}
	}
	for _, name := range sortedKeys(tests) {
		result := tests[name]
		if parent[name] && (result != "fail" || failedBelow[name]) {
			continue
		}
		switch result {
		case "pass":
			c.Passed++
		case "skip":
			c.Skipped++
			c.note("skipped: %s %s", pkg, name)
		case "fail":
			c.Failed++
			c.note("failed: %s %s", pkg, name)
		}
	}
}

func anyFailed(tests map[string]string) bool {
	for _, result := range tests {
		if result == "fail" {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
