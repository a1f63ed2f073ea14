package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// grown makes a table of n runs. One is landed and the others are that one's directory under other names, its part by a hard link: what
// a landing or a reader looks at is what n landings would have left. settings are lines for the table's declaration.
func (b *bench) grown(ctx context.Context, node, settings, rows string, n int) (*project, error) {
	p, err := b.project(ctx, node, true, "")
	if err != nil {
		return nil, err
	}
	if err := p.declare(settings); err != nil {
		return nil, err
	}
	run := func(i int) string { return fmt.Sprintf("r%06d", i) }
	if _, err := p.land(ctx, rows, run(0)); err != nil {
		return nil, err
	}
	runs := filepath.Join(p.table(), "data", "runs")
	data, err := os.ReadFile(filepath.Join(runs, run(0), p.node, "_manifest.json"))
	if err != nil {
		return nil, err
	}
	var manifest map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&manifest); err != nil {
		return nil, err
	}
	parts, err := filepath.Glob(filepath.Join(runs, run(0), p.node, "*.parquet"))
	if err != nil {
		return nil, err
	}
	for i := 1; i < n; i++ {
		dir := filepath.Join(runs, run(i), p.node)
		manifest["run_id"], manifest["commit_seq"] = run(i), i+1
		data, err := json.MarshalIndent(manifest, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		for _, part := range parts {
			if err := os.Link(part, filepath.Join(dir, filepath.Base(part))); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "_manifest.json"), data, 0o644); err != nil {
			return nil, err
		}
	}
	// Caches of the one landing: the next makes them anew.
	for _, name := range []string{"_commit_seq", ".last_commit"} {
		if err := os.Remove(filepath.Join(p.table(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	_, err = p.land(ctx, rows, "warm")
	syscall.Sync() // what is landed next has no younger neighbours to sync along
	return p, err
}

// inTurn runs the same in two projects, one after the other, each first every second time.
func inTurn(few, many *project, times int, work func(p *project, i int) (finished, error)) (early, late, earlyCPU, lateCPU []time.Duration, err error) {
	for i := range times {
		pair := []struct {
			p       *project
			to, cpu *[]time.Duration
		}{{many, &late, &lateCPU}, {few, &early, &earlyCPU}}
		if i%2 == 1 {
			pair[0], pair[1] = pair[1], pair[0]
		}
		for _, m := range pair {
			f, err := work(m.p, i)
			if err != nil {
				return nil, nil, nil, nil, err
			}
			*m.to, *m.cpu = append(*m.to, f.took), append(*m.cpu, f.cpu)
		}
	}
	return early, late, earlyCPU, lateCPU, nil
}

const (
	manyRuns = 10_000
	pullRuns = 1_000
	fewRuns  = 10
	around   = 20 // landings measured around the 10th and the 10,000th, in each round
)

// runs: the same landing, as a process, in turn into a table around its 10th run and into one around its 10,000th.
func runs(ctx context.Context, b *bench) error {
	rows, _, err := b.rowsFile("small.jsonl", 0, 100)
	if err != nil {
		return err
	}
	many, err := b.grown(ctx, "alpha", "", rows, manyRuns-around*b.rounds/2)
	if err != nil {
		return err
	}
	// A small table would be no small one for long: each round has its own. The wall clock of a landing is mostly syncs, which the
	// neighbours stretch by as much as the landing takes: few of them would say nothing.
	var early, late, earlyCPU, lateCPU []time.Duration
	for round := range b.rounds {
		few, err := b.grown(ctx, "alpha", "", rows, max(1, fewRuns-around/2))
		if err != nil {
			return err
		}
		e, l, eCPU, lCPU, err := inTurn(few, many, around, func(p *project, i int) (finished, error) {
			return p.land(ctx, rows, fmt.Sprintf("x%d-%06d", round, i))
		})
		if err != nil {
			return err
		}
		early, late, earlyCPU, lateCPU = append(early, e...), append(late, l...), append(earlyCPU, eCPU...), append(lateCPU, lCPU...)
	}
	b.add(result{what: "land a run at the 10,000th run", ours: show(median(late)), peer: "the same at the 10th run", theirs: show(median(early)),
		ratio: ratio(late, early), cpu: ratio(lateCPU, earlyCPU), least: 0.8, most: 1.2,
		note: fmt.Sprintf("whole processes, 100 rows each, medians of %d landings around each", len(late))})
	return nil
}

// folded: the growth of a folded table. What 10, 1,000 and 10,000 folded runs cost a query and a landing, as processes, whose run
// directories retention has removed, and while they are still there.
func folded(ctx context.Context, b *bench) error {
	rows, _, err := b.rowsFile("one.jsonl", 0, 1)
	if err != nil {
		return err
	}
	make := func(settings string, n int) (*project, error) {
		p, err := b.grown(ctx, "alpha", settings, rows, n-1)
		if err != nil {
			return nil, err
		}
		_, err = p.do(ctx, "context", "compact", tableName)
		if err == nil {
			_, err = p.land(ctx, rows, "warmer") // what is cached after a pass is cached
		}
		return p, err
	}
	for _, c := range []struct{ settings, said string }{{"retain_runs = \"0s\"\n", ""}, {"", ", runs retained"}} {
		few, err := make(c.settings, fewRuns)
		if err != nil {
			return err
		}
		for _, n := range []int{1000, manyRuns} {
			many, err := make(c.settings, n)
			if err != nil {
				return err
			}
			for _, work := range []struct {
				what string
				do   func(p *project, i int) (finished, error)
			}{
				{"query a row", func(p *project, _ int) (finished, error) {
					return p.do(ctx, "query", "SELECT max(id) FROM "+tableName, "--json")
				}},
				{"land a row", func(p *project, i int) (finished, error) { return p.land(ctx, rows, fmt.Sprintf("x%d-%06d", n, i)) }},
			} {
				early, late, earlyCPU, lateCPU, err := inTurn(few, many, 5*b.rounds, work.do)
				if err != nil {
					return err
				}
				b.add(result{what: fmt.Sprintf("%s, %d runs folded%s", work.what, n, c.said), ours: show(median(late)), peer: fmt.Sprintf("the same, %d runs folded", fewRuns), theirs: show(median(early)),
					ratio: ratio(late, early), cpu: ratio(lateCPU, earlyCPU), note: fmt.Sprintf("whole processes, medians of %d", len(late))})
			}
			if err := os.RemoveAll(many.dir); err != nil {
				return err
			}
		}
	}
	return nil
}
