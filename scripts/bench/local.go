package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// land: ref/land's benchmarks, one after the other in each round: all of a landing, the first pass alone (parse, settle types, digest, spool) so
// that the ratio can be read, and arrow-go alone on the columns already parsed, with its defaults and with the encodings that our parts have.
func land(ctx context.Context, b *bench) error {
	t, err := b.compile(ctx, "./ref/land")
	if err != nil {
		return err
	}
	var whole, parse, plain, tuned []time.Duration
	for range b.rounds {
		for _, m := range []struct {
			name string
			to   *[]time.Duration
		}{{"Land1M", &whole}, {"RawWrite1M", &plain}, {"RawWriteTuned1M", &tuned}, {"Parse1M", &parse}} {
			lines, err := t.bench(ctx, m.name, "1x")
			if err != nil {
				return err
			}
			*m.to = append(*m.to, lines[0].took)
		}
	}
	share := float64(median(parse)) / float64(median(whole))
	b.pair("land 1 M rows, JSON Lines", whole, "arrow-go write, its defaults", plain, 0, "")
	b.pair("land 1 M rows, JSON Lines", whole, "arrow-go write, tuned as our parts", tuned, 0,
		fmt.Sprintf("%.0f %% of ours is reading the text (parse, types, digest, spool: %s), which the peers are spared; the rest against the tuned one is %.2f. "+
			"Ours encodes on every CPU, the peers on one; ours also writes five more columns, counts the rows of the finished part and syncs file and directories.",
			100*share, show(median(parse)), (1-share)*float64(median(whole))/float64(median(tuned))))
	return nil
}

// memory: one process that lands a file of 5 M rows.
func memory(ctx context.Context, b *bench) error {
	const n = 5_000_000
	rows, size, err := b.rowsFile("5m.jsonl", 0, n)
	if err != nil {
		return err
	}
	defer os.Remove(rows)
	p, err := b.project(ctx, "memory", true, "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	f, err := p.land(ctx, rows, "r1")
	if err != nil {
		return err
	}
	b.add(result{what: "resident memory, 5 M rows", ours: fmt.Sprintf("%d MiB", f.resident>>20), peer: "1 GiB", theirs: "1024 MiB", ratio: float64(f.resident) / (1 << 30), most: 1,
		note: fmt.Sprintf("the process's peak (ru_maxrss) over a file of %d MiB, landed in %s", size>>20, show(f.took))})
	return nil
}

// query and fold: the benchmarks of ref/fold measure both sides in turn inside one process and report the ratio.
func query(ctx context.Context, b *bench) error {
	return b.inside(ctx, "Query", "10x", map[string]row{
		"u1M":  {"query snapshot of 1 M + 50 runs, unkeyed", 0}, // 40 ms: some 7 of our own are too many of it
		"t1M":  {"query snapshot of 700 k + 50 runs, keyed", 1.1},
		"u10M": {"query snapshot of 10 M + 50 runs, unkeyed", 1.1},
		"t10M": {"query snapshot of 7 M + 50 runs, keyed", 1.1},
	}, "DuckDB, same files, same dedup", "ours includes resolving the store, locking the engine down and printing; both open and close the engine")
}

func fold(ctx context.Context, b *bench) error {
	return b.inside(ctx, "Fold", "3x", map[string]row{
		"coarse": {"fold 1,000 runs, 1 M rows, keyed", 1.1},
		"fine":   {"the same, digits below the microsecond", 1.35},
	}, "DuckDB dedup + ORDER BY + COPY", "ours looks at every digest and count of rows, writes nanoseconds and the manifest, and syncs; the peer does not see digits below the microsecond")
}

// types: passes over what the engine's writer has no form for, or takes long over.
func types(ctx context.Context, b *bench) error {
	return b.inside(ctx, "FoldTypes", "3x", map[string]row{
		"float32": {"fold 20 runs of vectors, float32[384]", 0},
		"float16": {"fold 20 runs of vectors, float16[384]", 0},
		"digest":  {"fold 20 runs with binary(32)", 0},
		"nested":  {"fold 20 runs of structs, lists and maps", 0},
	}, "DuckDB ORDER BY + COPY", "20,000 rows, unkeyed; the peer changes the types it has no form for")
}

// vintage: what a landing into a vintage table reads of what is stored.
func vintage(ctx context.Context, b *bench) error {
	t, err := b.compile(ctx, "./ref/land")
	if err != nil {
		return err
	}
	size := "1M"
	if b.large {
		size = "10M"
	}
	lines, err := t.bench(ctx, "Vintage$/^"+size, "3x")
	if err != nil {
		return err
	}
	said := map[string]string{"release": "a new day's release", "delivered": "a day delivered again", "random": "new keys of no order", "random-bloom": "new keys of no order, bloom filter"}
	for _, l := range lines {
		_, kind, _ := strings.Cut(l.sub, "/")
		groups, read := l.metrics["groups/op"], l.metrics["read/op"]
		r := result{what: fmt.Sprintf("vintage landing, %s rows: %s", size, said[kind]), ours: show(l.took), peer: "row groups read of", theirs: fmt.Sprintf("%.0f of %.0f", read, groups),
			note: fmt.Sprintf("%.1f MB read", l.metrics["MBread/op"])}
		if groups > 0 {
			r.ratio = read / groups
		}
		b.add(r)
	}
	return nil
}

func delta(ctx context.Context, b *bench) error {
	return b.inside(ctx, "Delta", "3x", map[string]row{"": {"fold 10 runs beside 700 k rows, keyed", 0}}, "DuckDB dedup + ORDER BY + COPY of all",
		"ours writes the new rows and names the part that was there")
}

// appends: what the passes of a table write over its life, where it is folded after each of its landings. The growth is the table.
func appends(ctx context.Context, b *bench) error {
	t, err := b.compile(ctx, "./ref/fold")
	if err != nil {
		return err
	}
	lines, err := t.bench(ctx, "Appends", "1x")
	if err != nil {
		return err
	}
	for _, l := range lines {
		rows, limit := l.metrics["rows-written/landed"], l.metrics["limit"]
		b.add(result{what: l.sub + " appends, folded after each: rows written per row landed", ours: fmt.Sprintf("%.2f", rows), peer: "log4(n) + 1", theirs: fmt.Sprintf("%.2f", limit),
			ratio: rows / limit, most: 1, note: fmt.Sprintf("runs of 500 rows; %.2f bytes of parts per byte landed", l.metrics["bytes-written/landed"])})
	}
	return nil
}

// A row is the title of a benchmark's case and the bound of its ratio, 0 for none.
type row struct {
	title string
	most  float64
}

// inside runs a benchmark of ref/fold that measures both sides; rows are its cases.
func (b *bench) inside(ctx context.Context, name, times string, rows map[string]row, peer, note string) error {
	t, err := b.compile(ctx, "./ref/fold")
	if err != nil {
		return err
	}
	type sides struct {
		ours, theirs []time.Duration
		cpu          []float64
	}
	found := map[string]*sides{}
	var order []string
	for range b.rounds {
		lines, err := t.bench(ctx, name, times)
		if err != nil {
			return err
		}
		for _, l := range lines {
			s := found[l.sub]
			if s == nil {
				s = &sides{}
				found[l.sub] = s
				order = append(order, l.sub)
			}
			theirs := time.Duration(l.metrics["duckdb-ms/op"] * float64(time.Millisecond))
			s.theirs = append(s.theirs, theirs)
			s.ours = append(s.ours, time.Duration(l.metrics["ratio"]*float64(theirs)))
			s.cpu = append(s.cpu, l.metrics["cpu-ratio"])
		}
	}
	for _, sub := range order {
		b.pair(rows[sub].title, found[sub].ours, peer, found[sub].theirs, median(found[sub].cpu), note)
		b.results[len(b.results)-1].most = rows[sub].most
	}
	return nil
}
