package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A testBinary is a compiled package of Go benchmarks. They know the packages from inside, which this program may not import.
type testBinary struct{ path, dir string }

// compile builds a package's test binary once.
func (b *bench) compile(ctx context.Context, pkg string) (testBinary, error) {
	dir, err := filepath.Abs(pkg)
	if err != nil {
		return testBinary{}, err
	}
	t := testBinary{path: filepath.Join(b.dir, filepath.Base(pkg)+".test"), dir: dir}
	_, err = do(ctx, ".", nil, "go", "test", "-c", "-o", t.path, pkg)
	return t, err
}

// A line of `go test -bench`: BenchmarkQuery/u-2  3  1234 ns/op  0.9 ratio.
type benchLine struct {
	sub     string // "u"
	took    time.Duration
	metrics map[string]float64
}

// bench runs one benchmark of the binary, or with a pattern behind "$/" those cases of it, and gives at least one line.
func (t testBinary) bench(ctx context.Context, name, times string) ([]benchLine, error) {
	name, cases, some := strings.Cut(name, "$/")
	pattern := "^Benchmark" + name + "$"
	if some {
		pattern += "/" + cases
	}
	f, err := do(ctx, t.dir, nil, t.path, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", times, "-test.timeout", "30m")
	if err != nil {
		return nil, err
	}
	return parseBench(name, f.stdout)
}

func parseBench(name, text string) ([]benchLine, error) {
	var out []benchLine
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark"+name) {
			continue
		}
		full := fields[0]
		if i := strings.LastIndexByte(full, '-'); i > 0 {
			full = full[:i] // the number of CPUs
		}
		_, sub, _ := strings.Cut(full, "/")
		l := benchLine{sub: sub, metrics: map[string]float64{}}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			l.metrics[fields[i+1]] = v
		}
		l.took = time.Duration(l.metrics["ns/op"])
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the benchmark %s printed nothing:\n%s", name, tail(text))
	}
	return out, nil
}
