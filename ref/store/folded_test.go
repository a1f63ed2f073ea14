package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"contextful/ref/clock"
	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"
	"contextful/ref/vfs"

	"pgregory.net/rapid"
)

// handle opens the store at another instant or as another node.
func handle(t fatal, m *vfs.Mem, node string, now int64) *Table {
	t.Helper()
	s, err := Open(bg, Options{Root: root, Node: node, FS: m, Clock: clock.Fixed{Instant: at(now).Time}})
	must(t, err)
	return table(t, s)
}

// walkOf reads a chain as a reader without an index does.
func walkOf(t fatal, tab *Table) (folds map[string]string, ids []string) {
	t.Helper()
	folds = map[string]string{}
	p, _, err := tab.Pointer()
	must(t, err)
	for id := p.SnapshotID; id != nil; {
		m, err := tab.ReadSnapshot(*id)
		must(t, err)
		for _, k := range m.IncludesRuns {
			folds[k] = m.SnapshotID
		}
		ids, id = append(ids, m.SnapshotID), m.Parent
	}
	return folds, ids
}

func foldedOf(f *Folded) map[string]string {
	all := map[string]string{}
	for k := range f.Keys() {
		all[k], _ = f.In(k)
	}
	return all
}

// The index answers as the walk, whatever was folded with or without one and whatever damage it takes; and where manifests
// are missing it answers as the walk would have, or refuses.
func TestIndexAnswersAsTheWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, now := vfs.NewMem(), int64(1000)
		for i := range rapid.IntRange(1, 16).Draw(t, "folds") {
			now += 10
			tab := handle(t, m, rapid.SampledFrom([]string{"alpha", "beta"}).Draw(t, "node"), now)
			for j := range rapid.IntRange(1, 5).Draw(t, "runs") {
				_, err := land(tab, fmt.Sprintf("r%d-%d", i, j), landing{})
				must(t, err)
			}
			_, err := foldAs(tab, folding{index: rapid.IntRange(0, 3).Draw(t, "index") > 0, carry: rapid.Bool().Draw(t, "carry")})
			must(t, err)
		}
		tab := handle(t, m, "alpha", now)
		want, ids := walkOf(t, tab)
		p, _, err := tab.Pointer()
		must(t, err)
		for range rapid.IntRange(0, 4).Draw(t, "damages") {
			damageIndex(t, m, tab, rapid.SampledFrom(ids).Draw(t, "of"))
		}
		f, err := tab.Folded(bg, p.SnapshotID)
		must(t, err)
		if have := foldedOf(f); !maps.Equal(have, want) {
			t.Fatalf("folded %v, the walk says %v", have, want)
		}
		// A chain whose end is gone.
		gone := rapid.IntRange(0, len(ids)-1).Draw(t, "manifests that are gone")
		for _, id := range ids[len(ids)-gone:] {
			must(t, m.Remove(root+"/"+key.SnapshotManifest("events", id)))
		}
		f, err = tab.Folded(bg, p.SnapshotID)
		if err != nil {
			wantCode(t, err, fault.StoreChainBroken, key.SnapshotManifest("events", ids[len(ids)-gone]))
			return
		}
		if have := foldedOf(f); !maps.Equal(have, want) {
			t.Fatalf("with %d manifests gone: folded %v, the walk said %v", gone, have, want)
		}
	})
}

// damageIndex does to a snapshot's index what a disk or a wrong writer does.
func damageIndex(t *rapid.T, m *vfs.Mem, tab *Table, id string) {
	rel := key.SnapshotManifest("events", id)
	s, err := tab.ReadSnapshot(id)
	must(t, err)
	if s.FoldedRuns == nil {
		return
	}
	files := slices.Sorted(maps.Keys(s.FoldedRuns.Files("events")))
	edit := func(change func(doc map[string]any)) {
		data, err := vfs.ReadFile(m, root+"/"+rel, 1<<20)
		must(t, err)
		doc := map[string]any{}
		must(t, json.Unmarshal(data, &doc))
		change(doc)
		data, err = json.Marshal(doc)
		must(t, err)
		put(t, m, rel, string(data))
	}
	index := func(doc map[string]any) map[string]any { f, _ := doc["folded_runs"].(map[string]any); return f }
	bytesOf := func(rel string) []byte {
		data, err := vfs.ReadFile(m, root+"/"+rel, 1<<20)
		if err != nil {
			return []byte("gone")
		}
		if len(data) == 0 {
			return []byte("cut") // an earlier damage left nothing
		}
		return data
	}
	if len(files) == 0 {
		return
	}
	file := rapid.SampledFrom(files).Draw(t, "segment")
	switch rapid.IntRange(0, 7).Draw(t, "damage") {
	case 0:
		_ = m.Remove(root + "/" + file) // an earlier damage may have removed it
	case 1:
		data := bytesOf(file)
		put(t, m, file, string(data[:rapid.IntRange(0, len(data)-1).Draw(t, "length")]))
	case 2:
		data := slices.Clone(bytesOf(file))
		data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= 0x40
		put(t, m, file, string(data))
	case 3:
		edit(func(doc map[string]any) { index(doc)["through"] = key.SnapshotID(7) })
	case 4:
		edit(func(doc map[string]any) { doc["folded_runs"] = "nothing" })
	case 5:
		edit(func(doc map[string]any) { index(doc)["segments"].([]any)[0].(map[string]any)["rows"] = 99 })
	case 6:
		edit(func(doc map[string]any) {
			index(doc)["segments"].([]any)[0].(map[string]any)["name"] = "../" + id + "/folded-00000.parquet"
		})
	case 7: // every segment is named twice under another name
		edit(func(doc map[string]any) {
			segments := index(doc)["segments"].([]any)
			first := maps.Clone(segments[0].(map[string]any))
			from := key.SnapshotDir("events", first["snapshot_id"].(string)) + "/" + first["name"].(string)
			first["name"], first["snapshot_id"] = "folded-again.parquet", id
			put(t, m, key.SnapshotDir("events", id)+"/folded-again.parquet", string(bytesOf(from)))
			index(doc)["segments"] = append(segments, first)
		})
	}
}

// An index that is whole and about this snapshot, and yet lacks a run the snapshot folds, is not trusted.
func TestIndexLacksARun(t *testing.T) {
	m, tab := newT(t)
	for _, run := range []string{"r1", "r2"} {
		_, err := land(tab, run, landing{})
		must(t, err)
	}
	id, err := foldNow(tab)
	must(t, err)
	data, err := encodeSegment([]FoldedRun{{RunKey: "r1/alpha", SnapshotID: id}})
	must(t, err)
	sum := digest(data)
	rel := key.SnapshotDir("events", id) + "/folded-00000.parquet"
	put(t, m, rel, string(data))
	text, err := vfs.ReadFile(m, root+"/"+key.SnapshotManifest("events", id), 1<<20)
	must(t, err)
	s, err := tab.ReadSnapshot(id)
	must(t, err)
	before, index, _ := strings.Cut(string(text), `"folded_runs"`)
	index = strings.Replace(strings.Replace(index, s.FoldedRuns.Segments[0].SHA256, sum, 1), `"rows": 2`, `"rows": 1`, 1)
	put(t, m, key.SnapshotManifest("events", id), before+`"folded_runs"`+index)
	if rows, err := tab.readSegment(bg, rel, manifest.Segment{SHA256: sum, Rows: 1}); err != nil || len(rows) != 1 {
		t.Fatal("the segment is whole", err)
	}
	f, err := tab.Folded(bg, &id)
	must(t, err)
	if f.Index != nil || f.Len() != 2 {
		t.Fatal("an index that lacks a run was trusted")
	}
}

// Tiers: after any number of folds every size tier holds fewer than 4 segments, all carried ones lie where they were written,
// and equal passes write equal bytes.
func TestIndexTiers(t *testing.T) {
	m := vfs.NewMem()
	for i := range 70 {
		tab := handle(t, m, "alpha", int64(1000+i))
		_, err := land(tab, fmt.Sprintf("r%d", i), landing{})
		must(t, err)
		id, err := foldNow(tab)
		must(t, err)
		f, err := tab.Folded(bg, &id)
		must(t, err)
		if f.Index == nil || f.Len() != i+1 || len(f.Chain) != 1 {
			t.Fatalf("pass %d: %d runs, %d manifests read", i, f.Len(), len(f.Chain))
		}
		tiers := map[int]int{}
		for _, s := range f.segments {
			if tiers[tier(len(s.rows))]++; tiers[tier(len(s.rows))] == tierSegments {
				t.Fatalf("pass %d: 4 segments of one tier: %+v", i, f.Index.Segments)
			}
			if !slices.IsSortedFunc(s.rows, func(a, b FoldedRun) int { return strings.Compare(a.RunKey, b.RunKey) }) {
				t.Fatal("a segment is not in the order of its keys")
			}
		}
		row := f.Row(fmt.Sprintf("r%d/alpha", i))
		if row.SnapshotID != id || *row.Rows != 1 || *row.CommitSeq != int64(i+1) || row.CommittedAt != at(int64(1000+i)) {
			t.Fatalf("%+v", row)
		}
	}
	for _, c := range []struct{ rows, tier int }{{1, 0}, {3, 0}, {4, 1}, {15, 1}, {16, 2}, {63, 2}, {64, 3}} {
		if tier(c.rows) != c.tier {
			t.Errorf("%d rows are of tier %d", c.rows, tier(c.rows))
		}
	}
}

func TestSegmentRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Ptr(rapid.Int64Range(0, 1<<62), true)
		var rows []FoldedRun
		for i := range rapid.IntRange(0, 40).Draw(t, "rows") {
			r := FoldedRun{RunKey: fmt.Sprintf("r%03d/alpha", i), SnapshotID: key.SnapshotID(rapid.Int64Range(0, 9).Draw(t, "snapshot")),
				CommitSeq: number.Draw(t, "seq"), Rows: number.Draw(t, "rows"), BatchDigest: rapid.SampledFrom([]string{"", "ab"}).Draw(t, "digest")}
			if rapid.Bool().Draw(t, "instant") {
				r.CommittedAt = manifest.At(time.Unix(0, rapid.Int64().Draw(t, "nanos")))
			}
			rows = append(rows, r)
		}
		data, err := encodeSegment(reversed(rows))
		must(t, err)
		again, err := encodeSegment(rows)
		must(t, err)
		if !bytes.Equal(data, again) {
			t.Fatal("equal rows print as other bytes")
		}
		back, err := decodeSegment(bg, "s", data, int64(len(rows)))
		must(t, err)
		if fmt.Sprint(printed(back)) != fmt.Sprint(printed(rows)) {
			t.Fatalf("%v\n%v", printed(back), printed(rows))
		}
		if _, err := decodeSegment(bg, "s", data, int64(len(rows))+1); err == nil {
			t.Fatal("another number of rows was accepted")
		}
	})
}

func printed(rows []FoldedRun) (out []string) {
	for _, r := range rows {
		data, _ := json.Marshal(r)
		out = append(out, string(data))
	}
	return out
}

// FuzzSegment: no bytes make the reader of segments panic, and whatever it accepts is what its rows may be.
func FuzzSegment(f *testing.F) {
	seq := int64(3)
	data, err := encodeSegment([]FoldedRun{{RunKey: "r/alpha", SnapshotID: key.SnapshotID(1), CommitSeq: &seq, BatchDigest: "ab", CommittedAt: at(9)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, int64(1))
	f.Add([]byte("PAR1"), int64(0))
	f.Fuzz(func(t *testing.T, data []byte, rows int64) {
		out, err := decodeSegment(context.Background(), "s", data, rows)
		if err != nil {
			return
		}
		if int64(len(out)) != rows {
			t.Fatal(len(out), rows)
		}
		for _, r := range out {
			if _, _, ok := manifest.SplitRunKey(r.RunKey); !ok || key.ValidSnapshot(r.SnapshotID) != nil {
				t.Fatal(r)
			}
		}
	})
}

// A reader without a bound opens no manifest below the first valid index, and a bounded one none below the first snapshot
// that is not younger than its bound.
func TestIndexWalkReadsNoMore(t *testing.T) {
	m := vfs.NewMem()
	var ids []string
	for i := range 6 {
		tab := handle(t, m, "alpha", int64(1000+100*i))
		_, err := land(tab, fmt.Sprintf("r%d", i), landing{})
		must(t, err)
		id, err := foldNow(tab)
		must(t, err)
		ids = append(ids, id)
	}
	tab := handle(t, m, "alpha", 9000)
	opened := func(b Bounds) (n int) {
		t.Helper()
		from := len(m.Journal())
		_, err := tab.Resolve(bg, b)
		must(t, err)
		for _, op := range m.Journal()[from:] {
			if op.Kind == vfs.OpOpen && path.Base(op.Name) == key.ManifestName && strings.Contains(op.Name, "/snapshots/") {
				n++
			}
		}
		return n
	}
	if n := opened(Bounds{}); n != 1 {
		t.Errorf("an unbounded read opens %d manifests", n)
	}
	for i := range ids {
		b := at(int64(1000 + 100*i))
		if n := opened(Bounds{AsOf: &b}); n != len(ids)-i {
			t.Errorf("a read as of snapshot %d of %d opens %d manifests", i, len(ids), n)
		}
	}
}

func reversed(rows []FoldedRun) []FoldedRun {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
