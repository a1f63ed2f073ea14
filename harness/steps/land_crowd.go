package steps

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"contextful/harness/inspect"
	"contextful/harness/sut"
	"contextful/harness/verify"
	"contextful/harness/world"
)

const seqColumn = "_commit_seq"

// Many landings into one table, with folds and reads of it all the while.
func registerCrowd(s *Suite) {
	s.Step(`^(\w+) lands (\d+) runs into "([^"]*)" while folds and reads of it go on$`, landsInACrowd)
}

// landsInACrowd starts all landings at once, and folds and reads in turn until the last of them has ended.
func landsInACrowd(ctx context.Context, node string, runs int, table string) error {
	w := world.From(ctx)
	n := w.Node(node)
	crowd := &crowdReader{what: fmt.Sprintf("%s's read of %q among its writers", node, table), landed: map[string]bool{}}
	crowd.know(w.Expected(table).Column("id"))
	var left []*writer
	for i := range runs {
		x, err := startWriter(ctx, node, fmt.Sprintf("crowd%02d", i+1), table, 501+100*i)
		if err != nil {
			return err
		}
		for _, r := range x.rows {
			crowd.know([]any{r["id"]})
		}
		left = append(left, x)
	}
	w.Values[writersKey] = slices.Clone(left)
	for len(left) > 0 {
		var still []*writer
		for _, x := range left {
			select {
			case <-x.task.Done():
				if err := x.finish(ctx); err != nil {
					return err
				}
			default:
				still = append(still, x)
			}
		}
		left = still
		if _, err := w.Do(ctx, n, sut.Compact, sut.A("table", table)); err != nil { // what it says is not asked: it is one of many
			return err
		}
		must := w.Expected(table).Column("id")
		got, err := w.ReadAll(ctx, n, table)
		if err != nil {
			return err
		}
		if err := crowd.saw(got, must); err != nil {
			return err
		}
	}
	return nil
}

// A crowdReader remembers what one reader was given so far.
type crowdReader struct {
	what    string
	landed  map[string]bool // ids of all rows there can be
	last    map[string]bool // ids of the read before
	highest int64           // _commit_seq of the read before
}

func (c *crowdReader) know(ids []any) {
	for _, id := range ids {
		c.landed[fmt.Sprint(id)] = true
	}
}

// saw judges one read: no row twice, none that nobody landed, none missing whose landing had ended when it began, and what is new in
// it lies above all that the one before it gave.
func (c *crowdReader) saw(got inspect.Grid, must []any) error {
	seqs := got.Column(seqColumn)
	seen, highest := map[string]bool{}, c.highest
	for i, v := range got.Column("id") {
		id := fmt.Sprint(v)
		if seen[id] || !c.landed[id] {
			return verify.Fail(c.what, "each row once, and only rows that were landed", "the row "+id)
		}
		seen[id] = true
		seq, err := strconv.ParseInt(fmt.Sprint(seqs[i]), 10, 64)
		if err != nil {
			return verify.Fail(c.what, "an integer as "+seqColumn+" of the row "+id, seqs[i])
		}
		if c.last != nil && !c.last[id] && seq <= c.highest {
			return verify.Fail(c.what, fmt.Sprintf("more than %d as %s of the row %s, which is new", c.highest, seqColumn, id), seq)
		}
		highest = max(highest, seq)
	}
	for _, id := range must {
		if !seen[fmt.Sprint(id)] {
			return verify.Fail(c.what, "every row whose landing had ended when it began", fmt.Sprintf("%d rows, without %v", len(seen), id))
		}
	}
	c.last, c.highest = seen, highest
	return nil
}
