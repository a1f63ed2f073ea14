package store

import (
	"fmt"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/manifest"
	"contextful/ref/vfs"
)

// agedBench is a table whose chain has folded n runs, in segments as many passes leave them.
func agedBench(b *testing.B, n int) *Table {
	s, err := Open(bg, Options{Root: b.TempDir(), Node: "alpha", FS: vfs.OS{}, Clock: clock.Fixed{Instant: at(9000).Time}, LockTimeout: time.Minute})
	must(b, err)
	tab := table(b, s)
	p, err := tab.BeginPass(bg, at(5000), nil)
	must(b, err)
	var segments []segmentRows
	for i := 0; i < n; {
		size := min(max((n-i)/4, 1), n-i)
		var rows []FoldedRun
		for range size {
			seq, count := int64(i), int64(100)
			rows = append(rows, FoldedRun{RunKey: fmt.Sprintf("01J%023d/alpha", i*7919), SnapshotID: p.id, CommittedAt: at(int64(i)), CommitSeq: &seq,
				BatchDigest: digest([]byte(fmt.Sprint(i))), Rows: &count})
			i++
		}
		segments = append(segments, segmentRows{rows: rows})
	}
	m := &manifest.Snapshot{CreatedAt: at(5000), FoldedRuns: &manifest.FoldedRuns{Through: p.id}}
	for i, s := range mergeTiers(segments) {
		seg, err := p.writeSegment(i, s.rows)
		must(b, err)
		m.FoldedRuns.Segments = append(m.FoldedRuns.Segments, seg)
	}
	must(b, p.Seal(bg, m))
	id := p.ID()
	must(b, tab.SwapPointer(bg, "", manifest.Pointer{SnapshotID: &id}))
	p.Close()
	return tab
}

// BenchmarkFolded10k is what a read pays to know what 10,000 runs folded into.
func BenchmarkFolded10k(b *testing.B) {
	tab := agedBench(b, 10000)
	p, _, err := tab.Pointer()
	must(b, err)
	for b.Loop() {
		f, err := tab.Folded(bg, p.SnapshotID)
		if err != nil || f.Index == nil || f.Len() != 10000 {
			b.Fatal(err, f.Len())
		}
	}
}

// BenchmarkFreshKey10k is what a landing under a new key pays for the question whether it was folded.
func BenchmarkFreshKey10k(b *testing.B) {
	tab := agedBench(b, 10000)
	l, err := tab.Lock(bg)
	must(b, err)
	defer func() { must(b, l.Release()) }()
	if row, err := l.FoldedAs(bg, "01J00000000000000000000000/alpha"); err != nil || row == nil {
		b.Fatal(row, err)
	}
	i := 0
	for b.Loop() {
		if row, err := l.FoldedAs(bg, fmt.Sprintf("fresh-%d/alpha", i)); err != nil || row != nil {
			b.Fatal(row, err)
		}
		i++
	}
}
