package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/harness/inspect"
	"contextful/harness/verify"
	"contextful/harness/world"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Steps that change a folded-runs index, or what lies below it, as a disk, another build or a wrong writer would.
func registerFoldedDamage(s *Suite) {
	s.Step(`^the folded-runs index of (the pointer's snapshot|the parent|every snapshot) of "([^"]*)" on (\w+) is taken out$`, indexTakenOut)
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) (`+damages()+`)$`, indexDamaged)
	s.Step(`^the manifests below (the pointer's snapshot|the parent) of "([^"]*)" on (\w+) are taken away$`, manifestsAway)
	s.Step(`^the manifests of "([^"]*)" on (\w+) are put back$`, manifestsBack)
	s.Step(`^the manifests below the pointer's snapshot of "([^"]*)" on (\w+) are no manifests$`, manifestsNone)
}

// A damage changes the folded_runs of the pointer's snapshot: doc is that value, parent the parent's.
type indexDamage struct {
	words string
	do    func(d *damagedIndex) error
}

type damagedIndex struct {
	chain  []inspect.SnapshotDoc
	doc    map[string]any
	index  *inspect.IndexDoc
	parent json.RawMessage
}

// indexDamages are in order, so that the step's pattern is the same each time.
func indexDamages() []indexDamage {
	set := func(change func(doc map[string]any)) func(*damagedIndex) error {
		return func(d *damagedIndex) error {
			index, _ := d.doc["folded_runs"].(map[string]any)
			change(index)
			return nil
		}
	}
	first := func(index map[string]any) map[string]any { return index["segments"].([]any)[0].(map[string]any) }
	become := func(v any) func(*damagedIndex) error {
		return func(d *damagedIndex) error { d.doc["folded_runs"] = v; return nil }
	}
	return []indexDamage{
		{"is a text", become("folded")},
		{"is a list", become([]any{})},
		{"is a number", become(7)},
		{"has a number for its segments", set(func(i map[string]any) { i["segments"] = 7 })},
		{"has a segment whose rows are a text", set(func(i map[string]any) { first(i)["rows"] = "2" })},
		{"has a segment without a digest", set(func(i map[string]any) { delete(first(i), "sha256") })},
		{"has a segment named out of the store", set(func(i map[string]any) { first(i)["name"] = "../../../../../folded-00000.parquet" })},
		{"is through another snapshot", func(d *damagedIndex) error {
			d.doc["folded_runs"].(map[string]any)["through"] = d.chain[1].SnapshotID
			return nil
		}},
		{"is through nothing", set(func(i map[string]any) { delete(i, "through") })},
		{"is its parent's", func(d *damagedIndex) error { d.doc["folded_runs"] = d.parent; return nil }},
		{"has a segment that is gone", func(d *damagedIndex) error { return os.Remove(d.index.Segments[0].Path) }},
		{"has a segment cut short", func(d *damagedIndex) error {
			return rewriteFile(d.index.Segments[0].Path, func(b []byte) []byte { return b[:len(b)-1] })
		}},
		{"has a segment with a byte changed", func(d *damagedIndex) error { return rewriteFile(d.index.Segments[0].Path, flipped) }},
		// It reads, and names another run in the place of one: only the digest tells.
		{"has a segment of other runs", func(d *damagedIndex) error {
			return d.rewritten(false, func(rows []inspect.IndexRow) []inspect.IndexRow {
				rows[0].RunKey = "stranger/" + strings.SplitN(rows[0].RunKey, "/", 2)[1]
				return rows
			})
		}},
		// Its digest is right, and it has a row fewer than is recorded.
		{"has a segment that lacks a row", func(d *damagedIndex) error {
			return d.rewritten(true, func(rows []inspect.IndexRow) []inspect.IndexRow { return rows[1:] })
		}},
		{"has no digest of run one", func(d *damagedIndex) error {
			return d.consistent(func(r *inspect.IndexRow) { r.BatchDigest = nil })
		}},
		{"has no row count of run one", func(d *damagedIndex) error {
			return d.consistent(func(r *inspect.IndexRow) { r.RowCount = nil })
		}},
		{"lacks a run that its snapshot folds", func(d *damagedIndex) error {
			own := len(d.index.Segments) - 1
			return d.segment(own, true, true, func(rows []inspect.IndexRow) []inspect.IndexRow { return rows[1:] })
		}},
		{"has a run twice", func(d *damagedIndex) error {
			own := len(d.index.Segments) - 1
			return d.segment(own, true, true, func(rows []inspect.IndexRow) []inspect.IndexRow { return append(rows, rows[0]) })
		}},
	}
}

func damages() string {
	var words []string
	for _, d := range indexDamages() {
		words = append(words, d.words)
	}
	return strings.Join(words, "|")
}

// rewritten changes the first segment; with the digest recorded anew or not. The number of rows stays as recorded.
func (d *damagedIndex) rewritten(digest bool, change func([]inspect.IndexRow) []inspect.IndexRow) error {
	return d.segment(0, digest, false, change)
}

// consistent changes the row of run "one" and records digest and rows anew: a whole index.
func (d *damagedIndex) consistent(change func(*inspect.IndexRow)) error {
	for i, seg := range d.index.Segments {
		rows, err := inspect.SegmentRows(seg)
		if err != nil {
			return err
		}
		for j := range rows {
			if strings.HasPrefix(rows[j].RunKey, "one/") {
				return d.segment(i, true, true, func(rows []inspect.IndexRow) []inspect.IndexRow { change(&rows[j]); return rows })
			}
		}
	}
	return fmt.Errorf("the index has no run \"one\"")
}

func (d *damagedIndex) segment(i int, digest, count bool, change func([]inspect.IndexRow) []inspect.IndexRow) error {
	seg := d.index.Segments[i]
	rows, err := inspect.SegmentRows(seg)
	if err != nil {
		return err
	}
	rows = change(rows)
	if err := writeSegment(seg.Path, rows); err != nil {
		return err
	}
	body, err := os.ReadFile(seg.Path)
	if err != nil {
		return err
	}
	recorded := d.doc["folded_runs"].(map[string]any)["segments"].([]any)[i].(map[string]any)
	if sum := sha256.Sum256(body); digest {
		recorded["sha256"] = hex.EncodeToString(sum[:])
	}
	if count {
		recorded["rows"] = len(rows)
	}
	return nil
}

// writeSegment writes a segment with the kit's own writer.
func writeSegment(path string, rows []inspect.IndexRow) error {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	at := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	sc := arrow.NewSchema([]arrow.Field{{Name: "run_key", Type: text}, {Name: "snapshot_id", Type: text}, {Name: "committed_at", Type: at, Nullable: true},
		{Name: "commit_seq", Type: number, Nullable: true}, {Name: "batch_digest", Type: text, Nullable: true}, {Name: "row_count", Type: number, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for _, r := range rows {
		b.Field(0).(*array.StringBuilder).Append(r.RunKey)
		b.Field(1).(*array.StringBuilder).Append(r.SnapshotID)
		if r.CommittedAt == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(r.CommittedAt.UnixNano()))
		}
		for i, v := range map[int]*int64{3: r.CommitSeq, 5: r.RowCount} {
			if v == nil {
				b.Field(i).AppendNull()
			} else {
				b.Field(i).(*array.Int64Builder).Append(*v)
			}
		}
		if r.BatchDigest == nil {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.StringBuilder).Append(*r.BatchDigest)
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	return writeParquet(path, rec)
}

func indexDamaged(ctx context.Context, table, node, words string) error {
	root := world.From(ctx).Node(node).Root()
	chain, err := inspect.Chain(root, table)
	if err != nil {
		return err
	}
	if len(chain) < 2 {
		return verify.Fail("the chain of "+table, "a snapshot and its parent", len(chain))
	}
	index, _, err := indexOf(root, chain[0])
	if err != nil {
		return err
	}
	var parent struct {
		FoldedRuns json.RawMessage `json:"folded_runs"`
	}
	if err := json.Unmarshal(chain[1].Raw, &parent); err != nil {
		return err
	}
	d := &damagedIndex{chain: chain, doc: map[string]any{}, index: index, parent: parent.FoldedRuns}
	decoder := json.NewDecoder(strings.NewReader(string(chain[0].Raw)))
	decoder.UseNumber() // sequences keep their digits
	if err := decoder.Decode(&d.doc); err != nil {
		return err
	}
	for _, damage := range indexDamages() {
		if damage.words == words {
			if err := damage.do(d); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(d.doc)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(chain[0].Dir, "_manifest.json"), text, 0o644)
}

func indexTakenOut(ctx context.Context, which, table, node string) error {
	chain, _, err := inspect.ChainHere(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return err
	}
	at := map[string][]int{"the pointer's snapshot": {0}, "the parent": {1}}[which]
	for i, s := range chain {
		if which != "every snapshot" && (len(at) == 0 || at[0] != i) {
			continue
		}
		doc := map[string]json.RawMessage{}
		if err := json.Unmarshal(s.Raw, &doc); err != nil {
			return err
		}
		delete(doc, "folded_runs")
		text, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "_manifest.json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const awayKey = "folded.away"

// manifestsAway keeps the manifests it takes, and says which is the first that is missed.
func manifestsAway(ctx context.Context, below, table, node string) error {
	return manifestsBelow(ctx, below, table, node, os.Remove)
}

func manifestsNone(ctx context.Context, table, node string) error {
	return manifestsBelow(ctx, "the pointer's snapshot", table, node, func(path string) error { return os.WriteFile(path, []byte("{"), 0o644) })
}

func manifestsBelow(ctx context.Context, below, table, node string, change func(path string) error) error {
	w := world.From(ctx)
	chain, err := inspect.Chain(w.Node(node).Root(), table)
	if err != nil {
		return err
	}
	from := map[string]int{"the pointer's snapshot": 1, "the parent": 2}[below]
	if from >= len(chain) {
		return verify.Fail("the chain of "+table, fmt.Sprintf("%d snapshots or more", from+1), len(chain))
	}
	w.Values["name:the missing manifest"] = chain[from].SnapshotID + "/_manifest.json"
	away := map[string][]byte{}
	for _, s := range chain[from:] {
		path := filepath.Join(s.Dir, "_manifest.json")
		away[path] = s.Raw
		if err := change(path); err != nil {
			return err
		}
	}
	w.Values[awayKey] = away
	return nil
}

func manifestsBack(ctx context.Context, table, node string) error {
	away, ok := world.From(ctx).Values[awayKey].(map[string][]byte)
	if !ok {
		return fmt.Errorf("no manifests of %q on %s were taken away", table, node)
	}
	for path, text := range away {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
