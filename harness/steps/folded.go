package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

// Steps that look at the folded-runs index and at what is answered from it. folded_damage.go changes it, retain.go looks at
// what a retention leaves.
func registerFolded(s *Suite) {
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) lists each run its chain folds once, as the run's manifest says$`, indexLists)
	s.Step(`^each snapshot's folded-runs index of "([^"]*)" on (\w+) is through that snapshot$`, indexThrough)
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) names each segment with its origin, digest and rows$`, indexSegments)
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) names its parent's segments where they lie, and one new one of the runs (.+)$`, indexOverParent)
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) names segments of its own alone$`, indexOwn)
	s.Step(`^each snapshot's folded-runs index of "([^"]*)" on (\w+) lists what its chain folds, in fewer than 4 segments of any size tier$`, indexTiers)
	s.Step(`^the folded-runs index of "([^"]*)" on (\w+) has (\d+) segments?, of (\d+) rows in all$`, indexCounts)
	s.Step(`^(\w+)'s fold of "([^"]*)" has written no folded-runs index$`, noIndexWritten)
	s.Step(`^(\w+) has landed (\d+) runs of "([^"]*)" and folded each of them$`, runsAndFolds)
	s.Step(`^the report carries the folded-runs row of run "([^"]*)" of "([^"]*)" on (\w+)$`, reportRow)
	s.Step(`^(\w+) says that (\d+) rows of run "([^"]*)" of "([^"]*)" are committed$`, committedRows)
	s.Step(`^(\w+) does not say how many rows of run "([^"]*)" of "([^"]*)" are committed$`, committedUnknown)
	s.Step(`^(\w+)'s list of runs of "([^"]*)" has (\d+) rows of run "([^"]*)"$`, runsList)
	s.Step(`^nothing of run "([^"]*)" of "([^"]*)" lies on (\w+)$`, nothingOfRun)
}

// indexed reads the index of a table's pointer's snapshot and its rows.
func indexed(ctx context.Context, node, table string) (*inspect.IndexDoc, []inspect.IndexRow, []inspect.SnapshotDoc, error) {
	root := world.From(ctx).Node(node).Root()
	chain, _, err := inspect.ChainHere(root, table)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(chain) == 0 {
		return nil, nil, nil, verify.Fail(node+" has a snapshot of "+table, "one", "none")
	}
	doc, rows, err := indexOf(root, chain[0])
	return doc, rows, chain, err
}

func indexOf(root string, s inspect.SnapshotDoc) (*inspect.IndexDoc, []inspect.IndexRow, error) {
	doc, err := inspect.Index(root, s)
	if err != nil {
		return nil, nil, err
	}
	if doc == nil {
		return nil, nil, verify.Fail("the manifest of "+s.SnapshotID, "folded_runs", "none")
	}
	var rows []inspect.IndexRow
	for _, seg := range doc.Segments {
		more, err := inspect.SegmentRows(seg)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
	}
	return doc, rows, nil
}

func shown[T any](v *T) string {
	if v == nil {
		return "null"
	}
	if at, ok := any(*v).(time.Time); ok {
		return sut.Instant(at)
	}
	return fmt.Sprint(*v)
}

func line(r inspect.IndexRow) string {
	return fmt.Sprintf("%s in %s at %s, sequence %s, digest %s, rows %s", r.RunKey, r.SnapshotID, shown(r.CommittedAt), shown(r.CommitSeq), shown(r.BatchDigest), shown(r.RowCount))
}

func indexLists(ctx context.Context, table, node string) error {
	_, rows, chain, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	runs, err := inspect.Runs(world.From(ctx).Node(node).Root(), table)
	if err != nil {
		return err
	}
	var want, got []string
	for _, s := range chain {
		for _, k := range s.IncludesRuns {
			i := slices.IndexFunc(runs, func(r inspect.RunDoc) bool { return r.Key() == k })
			if i < 0 {
				return fmt.Errorf("the manifest of run %s is not here to compare with", k)
			}
			r := runs[i]
			want = append(want, line(inspect.IndexRow{RunKey: k, SnapshotID: s.SnapshotID, CommittedAt: &r.CommittedAt, CommitSeq: r.CommitSeq, BatchDigest: &r.BatchDigest, RowCount: &r.RowCount}))
		}
	}
	for _, r := range rows {
		got = append(got, line(r))
	}
	return verify.SameSet("the rows of the folded-runs index of "+table, want, got)
}

func indexThrough(ctx context.Context, table, node string) error {
	_, _, chain, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	for _, s := range chain {
		doc, err := inspect.Index(world.From(ctx).Node(node).Root(), s)
		if err != nil {
			return err
		}
		if doc == nil || doc.Through != s.SnapshotID {
			return verify.Fail("the folded_runs of "+s.SnapshotID, "through "+s.SnapshotID, doc)
		}
	}
	return nil
}

// indexSegments reads every segment, which holds it against its name, its digest and its rows.
func indexSegments(ctx context.Context, table, node string) error {
	doc, _, _, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	return verify.That(len(doc.Segments) > 0, "the segments of the folded-runs index of "+table, "one or more", len(doc.Segments))
}

func runKeys(rows []inspect.IndexRow) []string {
	var keys []string
	for _, r := range rows {
		keys = append(keys, r.RunKey)
	}
	sort.Strings(keys)
	return keys
}

func indexOverParent(ctx context.Context, table, node, runs string) error {
	w := world.From(ctx)
	doc, _, chain, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	if len(chain) < 2 {
		return verify.Fail("the chain of "+table, "a snapshot and its parent", len(chain))
	}
	parent, _, err := indexOf(w.Node(node).Root(), chain[1])
	if err != nil {
		return err
	}
	var fresh []inspect.IndexRow
	own := 0
	for _, seg := range doc.Segments {
		if slices.Contains(parent.Segments, seg) {
			continue
		}
		own++
		if seg.SnapshotID != chain[0].SnapshotID {
			return verify.Fail("a new segment of the folded-runs index of "+table, "in the directory of "+chain[0].SnapshotID, seg)
		}
		rows, err := inspect.SegmentRows(seg)
		if err != nil {
			return err
		}
		fresh = append(fresh, rows...)
	}
	if carried := len(doc.Segments) - own; carried != len(parent.Segments) || own != 1 {
		return verify.Fail("the segments of the folded-runs index of "+table, fmt.Sprintf("the %d of its parent and one more", len(parent.Segments)), doc.Segments)
	}
	files, err := filepath.Glob(filepath.Join(chain[0].Dir, "folded-*.parquet"))
	if err != nil {
		return err
	}
	if len(files) != own {
		return verify.Fail("the segments in the directory of "+chain[0].SnapshotID, "the new one alone", files)
	}
	var want []string
	for _, r := range names(runs) {
		want = append(want, r+"/"+w.Node(node).ID)
	}
	return verify.SameSet("the runs of the new segment", want, runKeys(fresh))
}

func indexOwn(ctx context.Context, table, node string) error {
	doc, _, chain, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	for _, seg := range doc.Segments {
		if seg.SnapshotID != chain[0].SnapshotID {
			return verify.Fail("the segments of the folded-runs index of "+table, "in its own directory", seg)
		}
	}
	return nil
}

// segmentTier counts the powers of 4 that rows has reached.
func segmentTier(rows int64) (n int) {
	for ; rows >= 4; rows /= 4 {
		n++
	}
	return n
}

func indexTiers(ctx context.Context, table, node string) error {
	root := world.From(ctx).Node(node).Root()
	_, _, chain, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	var want []string
	for _, s := range slices.Backward(chain) {
		want = append(want, s.IncludesRuns...)
		doc, rows, err := indexOf(root, s)
		if err != nil {
			return err
		}
		tiers := map[int]int{}
		for _, seg := range doc.Segments {
			if tiers[segmentTier(seg.Rows)]++; tiers[segmentTier(seg.Rows)] > 3 {
				return verify.Fail("the segments of the folded-runs index of "+s.SnapshotID, "fewer than 4 of any size tier", doc.Segments)
			}
		}
		if err := verify.SameSet("the runs that the folded-runs index of "+s.SnapshotID+" lists", want, runKeys(rows)); err != nil {
			return err
		}
	}
	return nil
}

func indexCounts(ctx context.Context, table, node string, segments, rows int) error {
	doc, all, _, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	return verify.Equal("the folded-runs index of "+table, fmt.Sprintf("%d segments, %d rows", segments, rows), fmt.Sprintf("%d segments, %d rows", len(doc.Segments), len(all)))
}

// noIndexWritten holds where the fold was refused, and where it published a snapshot without an index.
func noIndexWritten(ctx context.Context, node, table string) error {
	n := world.From(ctx).Node(node)
	tree, err := n.Tree()
	if err != nil {
		return err
	}
	before := n.Before()
	for path := range tree {
		if _, old := before[path]; !old && strings.HasPrefix(path, "tables/"+table+"/data/snapshots/") && strings.Contains(path, "/folded-") {
			return verify.Fail("what the fold of "+table+" has written", "no folded-runs segment", path)
		}
	}
	chain, _, err := inspect.ChainHere(n.Root(), table)
	if err != nil || len(chain) == 0 {
		return err
	}
	if _, old := before["tables/"+table+"/data/snapshots/"+chain[0].SnapshotID+"/_manifest.json"]; old {
		return nil
	}
	doc, err := inspect.Index(n.Root(), chain[0])
	if err != nil {
		return err
	}
	return verify.That(doc == nil, "the manifest that the fold of "+table+" has written", "no folded_runs", doc)
}

func runsAndFolds(ctx context.Context, node string, n int, table string) error {
	for range n {
		if err := hasLandedN(ctx, node, 2, table); err != nil {
			return err
		}
		if err := hasFolded(ctx, node, table); err != nil {
			return err
		}
	}
	return nil
}

func reportRow(ctx context.Context, run, table, node string) error {
	c, err := outcome(ctx, "landing", "")
	if err != nil {
		return err
	}
	_, rows, _, err := indexed(ctx, node, table)
	if err != nil {
		return err
	}
	key := run + "/" + world.From(ctx).Node(node).ID
	i := slices.IndexFunc(rows, func(r inspect.IndexRow) bool { return r.RunKey == key })
	if i < 0 {
		return fmt.Errorf("the folded-runs index has no row of %s", key)
	}
	var report struct {
		Folded *struct {
			RunKey      string     `json:"run_key"`
			SnapshotID  string     `json:"snapshot_id"`
			CommittedAt *time.Time `json:"committed_at"`
			CommitSeq   *int64     `json:"commit_seq"`
			BatchDigest *string    `json:"batch_digest"`
			RowCount    *int64     `json:"row_count"`
		} `json:"folded"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &report); err != nil || report.Folded == nil {
		return verify.Fail("what the landing reports", `{…, "folded": {"run_key": …}}`, c.Stdout)
	}
	return verify.Equal("the folded-runs row that the landing reports", line(rows[i]), line(inspect.IndexRow(*report.Folded)))
}

// committed asks how many rows of a run are committed; nil where the answer is that it cannot be told.
func committed(ctx context.Context, node, run, table string) (*int64, error) {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Committed, sut.A("table", table, "run", run))
	if err != nil {
		return nil, err
	}
	var doc map[string]json.RawMessage
	var rows *int64
	if err := json.Unmarshal([]byte(c.Stdout), &doc); err == nil {
		if raw, ok := doc["committed_rows"]; ok && json.Unmarshal(raw, &rows) == nil {
			return rows, nil
		}
	}
	return nil, verify.Fail("what "+node+" says of run "+run, `{"run_id": …, "committed_rows": a number or null}`, c.Stdout)
}

func committedRows(ctx context.Context, node string, rows int, run, table string) error {
	got, err := committed(ctx, node, run, table)
	if err != nil {
		return err
	}
	return verify.Equal(fmt.Sprintf("the committed rows of run %s of %s", run, table), fmt.Sprint(rows), shown(got))
}

func committedUnknown(ctx context.Context, node, run, table string) error {
	got, err := committed(ctx, node, run, table)
	if err != nil {
		return err
	}
	return verify.Equal(fmt.Sprintf("the committed rows of run %s of %s", run, table), "null", shown(got))
}

func runsList(ctx context.Context, node, table string, rows int, run string) error {
	w := world.From(ctx)
	c, err := w.Answer(ctx, w.Node(node), sut.Runs, sut.A("table", table))
	if err != nil {
		return err
	}
	var doc struct {
		Runs []struct {
			RunID string `json:"run_id"`
			Rows  *int   `json:"rows"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(c.Stdout), &doc); err != nil {
		return verify.Fail("the list of runs of "+table, `{"runs": […]}`, c.Stdout)
	}
	for _, r := range doc.Runs {
		if r.RunID == run {
			return verify.Equal("the rows of run "+run+" in the list", fmt.Sprint(rows), shown(r.Rows))
		}
	}
	return verify.Fail("the list of runs of "+table, "run "+run, c.Stdout)
}

func nothingOfRun(ctx context.Context, run, table, node string) error {
	return each(ctx, node, func(_ *world.World, n *world.Node) error {
		dir := n.TablePath(table, "data/runs/"+run)
		files, err := inspect.Entries(dir)
		if err != nil {
			return err
		}
		return verify.Nothing("what lies in "+dir, slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), ".") }))
	})
}
