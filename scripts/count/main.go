// Command count runs the steps of `make test` and counts what they did. It counts results, never lines of text that
// somebody printed: the events of `go test -json`, the scenarios of the kit's report.json, the mutants of mutants.json,
// and for other steps their exit status.
//
//	count step  --dir build/test --name vet -- go vet ./...
//	count tests --dir build/test --name unit -- go test -json ./...
//	count step  --dir build/test --name conform --report build/conform/report.json -- contextful-conform run …
//	count step  --dir build/test --name mutants --mutants build/mutants.json -- contextful-conform mutants …
//	count sum   --dir build/test
//
// A step writes DIR/NN-NAME.json with its own counts, and exits as its command did (127 when it could not be started).
// sum adds the steps up; its last line is "N passed, N failed" (", N skipped" when some were) alone on a line, and its
// exit status is 1 when anything failed or nothing passed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"time"
)

// Counts of one step, as written to its file.
type Counts struct {
	Name    string `json:"name"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Exit    int    `json:"exit"`    // of the command
	Seconds int    `json:"seconds"` // wall clock
	// Notes say what a number does not: which tests failed, why something was skipped.
	Notes []string `json:"notes,omitempty"`
}

func (c *Counts) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

func main() {
	code, err := run(os.Args[1:], os.Stdout, os.Stderr, time.Now)
	if err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
	}
	os.Exit(code)
}

// run executes one command line. now is the wall clock: it only times steps.
func run(args []string, stdout, stderr io.Writer, now func() time.Time) (int, error) {
	if len(args) == 0 {
		return 2, errors.New("want step, tests or sum (see the comment of scripts/count)")
	}
	flags := flag.NewFlagSet("count "+args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "build/test", "where the counts are kept")
	name := flags.String("name", "", "the step's name")
	report := flags.String("report", "", "count the scenarios of this report.json")
	mutants := flags.String("mutants", "", "count the mutants of this mutants.json")
	if err := flags.Parse(args[1:]); err != nil {
		return 2, err
	}
	if args[0] == "sum" {
		return sum(*dir, stdout)
	}
	argv := flags.Args()
	if *name == "" || len(argv) == 0 {
		return 2, errors.New("want --name and a command after --")
	}
	var counter func(*Counts) error
	var read func(io.Reader, *Counts) error
	switch {
	case args[0] == "tests":
		read = func(r io.Reader, c *Counts) error { return goTests(r, stdout, c) }
	case args[0] != "step":
		return 2, fmt.Errorf("unknown command %q; want step, tests or sum", args[0])
	case *report != "":
		counter = func(c *Counts) error { return scenarios(*report, os.Getenv("CI") == "true", c) }
	case *mutants != "":
		counter = func(c *Counts) error { return hunt(*mutants, c) }
	}
	// What an earlier run left must not be counted as this one's.
	for _, old := range []string{*report, *mutants} {
		if old == "" {
			continue
		}
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 2, err
		}
	}
	begin := now()
	fmt.Fprintf(stdout, "==> %s %s\n", begin.UTC().Format("15:04:05"), *name)
	c := Counts{Name: *name}
	c.Exit = execute(argv, stdout, stderr, read, &c)
	if counter != nil {
		if err := counter(&c); err != nil {
			c.Failed++
			c.note("its results cannot be counted: %v", err)
		}
	}
	settle(&c, counter == nil && read == nil)
	c.Seconds = int(now().Sub(begin).Round(time.Second).Seconds())
	fmt.Fprintf(stdout, "<== %s: %s (exit %d, %d s)\n", *name, tally(c), c.Exit, c.Seconds)
	return c.Exit, keep(*dir, c)
}

// settle makes the counts agree with the exit status: a step that failed has at least one failure.
func settle(c *Counts, plain bool) {
	if plain && c.Exit == 0 {
		c.Passed = 1
	}
	if c.Exit != 0 && c.Failed == 0 {
		c.Failed = 1
		c.note("the command exited %d", c.Exit)
	}
	if c.Exit == 0 && c.Failed > 0 && len(c.Notes) == 0 {
		c.note("the command exited 0 all the same")
	}
}

// execute runs the command, its output ours; with read its standard output is parsed instead of shown.
func execute(argv []string, stdout, stderr io.Writer, read func(io.Reader, *Counts) error, c *Counts) int {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	var pipe io.ReadCloser
	if read != nil {
		cmd.Stdout = nil
		var err error
		if pipe, err = cmd.StdoutPipe(); err != nil {
			c.note("%v", err)
			return 127
		}
	}
	if err := cmd.Start(); err != nil {
		c.note("%v", err)
		return 127
	}
	var bad error
	if read != nil {
		bad = read(pipe, c)
	}
	err := cmd.Wait()
	if bad != nil {
		c.Failed++
		c.note("its output cannot be read: %v", bad)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	default: // ended by a signal, or its output broke off
		c.note("%v", err)
		return 126
	}
}

// keep writes the step's counts under the next number, so that sum prints them in the order they ran.
func keep(dir string, c Counts) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d-%s.json", len(old)+1, c.Name)), append(text, '\n'), 0o644)
}

func tally(c Counts) string {
	text := fmt.Sprintf("%d passed, %d failed", c.Passed, c.Failed)
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// sum prints what every step counted and the total.
func sum(dir string, stdout io.Writer) (int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return 2, err
	}
	sort.Strings(files)
	var total Counts
	fmt.Fprintln(stdout)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 2, err
		}
		var c Counts
		if err := json.Unmarshal(text, &c); err != nil {
			return 2, fmt.Errorf("%s: %w", file, err)
		}
		fmt.Fprintf(stdout, "%-9s %5d s  %s\n", c.Name, c.Seconds, tally(c))
		for _, note := range c.Notes {
			fmt.Fprintf(stdout, "%18s %s\n", "", note)
		}
		total.Passed += c.Passed
		total.Failed += c.Failed
		total.Skipped += c.Skipped
		total.Seconds += c.Seconds
	}
	fmt.Fprintf(stdout, "%d steps, %d s\n\n%s\n", len(files), total.Seconds, tally(total))
	if total.Failed > 0 || total.Passed == 0 {
		return 1, nil
	}
	return 0, nil
}
