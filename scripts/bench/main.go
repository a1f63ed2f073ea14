// Command bench prints how this reference compares with other programs on this machine: ratios, each with its peer named, measured in turn
// (ours, theirs, ours, theirs) in one run, since absolute times of one machine say nothing on another.
//
//	make bench                            # everything
//	go run ./scripts/bench -only fold,query -rounds 5
//
// It exits 1 where a bound of the project is broken; the table names them. On a machine with other work `nice -n -20 make bench` (as root)
// measures as if it were alone. A peer that is not installed is said so in the table and fails nothing. docs/performance.md explains the numbers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// bench is one run of everything that was asked for.
type bench struct {
	dir     string // scratch, absolute; removed at the end
	ours    string // build/bin/contextful, absolute
	kit     string // build/bin/contextful-conform, absolute
	rounds  int
	results []result
	large   bool
	minio   *server
}

// a measurement is one row, or a few, of the table.
type measurement struct {
	name, about string
	run         func(context.Context, *bench) error
}

func measurements() []measurement {
	return []measurement{
		{"land", "land 1 M rows of JSON Lines, six columns; peer: arrow-go's own Parquet writer", land},
		{"memory", "peak resident memory while landing 5 M rows from a file; bound 1 GiB", memory},
		{"runs", "land one run at the 10,000th run of a table; peer: at the 10th; bound ± 20 %", runs},
		{"folded", "query, and land into, a table of 1,000 and 10,000 folded runs; peer: of 10", folded},
		{"query", "query a snapshot and 50 runs; peer: DuckDB on the same list of files", query},
		{"fold", "keyed fold of 1,000 runs, 1 M rows; peer: DuckDB, the same deduplication and COPY", fold},
		{"types", "folds of vectors, bytes of one length and nested columns; peer: DuckDB, COPY", types},
		{"delta", "keyed fold of 10 runs beside a snapshot of 700 k rows; peer: DuckDB, rewriting all", delta},
		{"appends", "rows written over a life of n appends, each folded; bound log4(n) + 1 per landed row", appends},
		{"vintage", "row groups that a landing reads of a vintage table of 1 M rows (-large: 10 M)", vintage},
		{"s3cas", "PUT and GET of 1 KiB at s3cas; peer: MinIO, same client", small},
		{"pull", "cold pull of 2,000 objects from MinIO; peer: rclone copy, same transfers", pull},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	b := &bench{}
	dir := flag.String("dir", "build/bench", "scratch directory, on the disk that is meant")
	bin := flag.String("bin", "build/bin", "where contextful and contextful-conform are")
	only := flag.String("only", "", "measurements, joined by commas (default: all)")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each side is measured; medians are printed")
	flag.BoolVar(&b.large, "large", false, "the vintage table has 10 M rows, which takes minutes to make")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: bench [flags]\n\n")
		for _, m := range measurements() {
			fmt.Fprintf(os.Stderr, "  %-8s %s\n", m.name, m.about)
		}
		fmt.Fprintln(os.Stderr)
		flag.PrintDefaults()
	}
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if err := b.prepare(*dir, *bin); err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("%s, %d CPUs, %s; load average %s\n", processor(), runtime.NumCPU(), runtime.Version(), loadAverage())
	var failed []error
	for _, m := range chosen {
		begin := wall()
		fmt.Fprintf(os.Stderr, "%-8s %s …\n", m.name, m.about)
		if err := m.run(ctx, b); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err)) // the others are still worth their numbers
			b.add(result{what: m.name, ours: "FAILED", peer: "–", theirs: "–", note: "NOT MEASURED: " + err.Error()})
		}
		fmt.Fprintf(os.Stderr, "%-8s done in %.0f s, load average %s\n", m.name, wall().Sub(begin).Seconds(), loadAverage())
	}
	b.print(os.Stdout)
	return errors.Join(append(failed, b.broken())...)
}

func choose(only string) ([]measurement, error) {
	all := measurements()
	if only == "" {
		return all, nil
	}
	var out []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only %q names no measurement; see -help", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func (b *bench) prepare(dir, bin string) error {
	if b.rounds < 1 {
		return errors.New("-rounds must be at least 1")
	}
	for _, p := range []struct {
		to   *string
		name string
	}{{&b.ours, "contextful"}, {&b.kit, "contextful-conform"}} {
		path, err := exec.LookPath(filepath.Join(bin, p.name))
		if err != nil {
			return fmt.Errorf("%w (make build compiles it)", err)
		}
		if *p.to, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	b.dir, err = os.MkdirTemp(dir, "run-")
	return err
}

func (b *bench) close() {
	if b.minio != nil {
		b.minio.stop()
	}
	_ = os.RemoveAll(b.dir)
}

// scratch makes a fresh directory.
func (b *bench) scratch(name string) (string, error) { return os.MkdirTemp(b.dir, name+"-") }
