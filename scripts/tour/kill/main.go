// Command kill takes the tour's table and kills its writer at every call by which it makes something durable or visible: one fresh copy of
// the store for each call, killed right after it (strace stops the process at each; SIGKILL). Then it looks:
//
//   - `contextful context check` finds no damage, though nobody has repaired anything;
//   - every node reads a state that was committed as a whole: rows of a run are all there or none is;
//   - the same command again succeeds, and then both nodes read everything, equal to the last byte of every column.
//
// scripts/tour/tour.sh calls it, once with a directory as the bucket, where every object is written by calls too, once with an S3 server.
// It exits 1 where anything above did not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"text/tabwriter"

	"contextful/harness/stopper"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	t := &tour{}
	flag.StringVar(&t.bin, "bin", "build/bin/contextful", "the command to kill")
	flag.StringVar(&t.dir, "dir", "build/tour/kill", "scratch directory")
	flag.StringVar(&t.bucket, "bucket", "file", `"file" for a directory beside each copy, else the address of an S3 server with a bucket named "tour" and keys in TOUR_ACCESS_KEY and TOUR_SECRET_KEY`)
	rows := flag.String("rows", "build/tour/rows", "where scripts/debpackages wrote")
	first := flag.Int("first", 0, "take only so many rows of each file (0: all)")
	word := flag.String("calls", "call", fmt.Sprintf("which calls: one of %v", stopper.Words()))
	only := flag.String("verbs", "", "only these, joined by commas")
	most := flag.Int("most", 0, "at most so many points for each verb, spread evenly (0: every one)")
	flag.Parse()
	if err := stopper.Available(); err != nil {
		return err
	}
	set, err := stopper.Calls(*word)
	if err != nil {
		return err
	}
	if err := t.prepare(ctx, *rows, *first); err != nil {
		return err
	}
	fmt.Printf("%d rows in 5 runs; bucket: %s\n", t.rows, t.where())
	var all []*tally
	for _, v := range verbs() {
		if *only != "" && !strings.Contains(","+*only+",", ","+v.name+",") || v.local && t.bucket != "file" {
			continue
		}
		begin := wall()
		tal, err := t.enumerate(ctx, v, set, *most)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(os.Stderr, "%-12s %d points in %.0f s\n", v.name, tal.killed, wall().Sub(begin).Seconds())
		all = append(all, tal)
	}
	return printAll(all)
}

// A tally is what came of one verb's points.
type tally struct {
	verb           string
	calls          map[string]int // by name, in the run that only counted
	total, killed  int
	before, during int // read right after the kill: the old state, a state in between (of whole runs)
	after          int // the new state
	late           int // ended before its point came
	held           int // the lease was still held: the retry went on with --held
	bad            []string
}

func printAll(all []*tally) error {
	fmt.Println()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KILLED\tCALLS\tPOINTS\tOTHERS THEN READ: OLD\tBETWEEN\tNEW\tCHECK FINDS\tAGAIN, THEN ALL NODES")
	var bad []string
	for _, t := range all {
		var names []string
		for n := range t.calls {
			names = append(names, n)
		}
		sort.Strings(names)
		for i, n := range names {
			names[i] = fmt.Sprintf("%d %s", t.calls[n], n)
		}
		if len(names) == 0 {
			names = []string{"none of its own: all its writes are requests"}
		}
		verdict, check := "all equal", "no damage"
		if len(t.bad) > 0 {
			verdict, check = fmt.Sprintf("%d WRONG", len(t.bad)), "see below"
		}
		if t.held > 0 {
			verdict += fmt.Sprintf(" (%d went on with --held)", t.held)
		}
		points := fmt.Sprintf("%d of %d", t.killed, t.total)
		if t.late > 0 {
			points += fmt.Sprintf(" (%d ended first)", t.late)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", t.verb, strings.Join(names, ", "), points, t.before, t.during, t.after, check, verdict)
		bad = append(bad, t.bad...)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(bad) > 0 {
		fmt.Println()
		return errors.New(strings.Join(bad, "\n"))
	}
	return nil
}

// prepare makes the rows and the three states every copy begins from.
func (t *tour) prepare(ctx context.Context, rows string, first int) (err error) {
	if t.bin, err = filepath.Abs(t.bin); err != nil {
		return err
	}
	if t.dir, err = filepath.Abs(t.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	if t.dir, err = os.MkdirTemp(t.dir, "run-"); err != nil {
		return err
	}
	if t.files, t.rows, err = takeRows(rows, t.dir, first); err != nil {
		return err
	}
	return t.states(ctx)
}
