package fold

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTiersSpanPowersOfFour(t *testing.T) {
	for rows, want := range map[int64]int{0: 0, 1: 0, 3: 0, 4: 1, 15: 1, 16: 2, 63: 2, 64: 3, 1 << 40: 20, 1<<40 - 1: 19, math.MaxInt64: 31} {
		if got := tier(rows); got != want {
			t.Errorf("tier(%d) = %d, want %d", rows, got, want)
		}
	}
}

func TestTheOldestOfAFullTierAreMerged(t *testing.T) {
	for _, c := range []struct {
		rows []int64
		want string
	}{
		{nil, "[]"},
		{[]int64{5, 5, 5}, "[[0] [1] [2]]"},
		{[]int64{5, 5, 5, 5}, "[[0 1 2 3]]"},
		{[]int64{5, 5, 100, 5, 5, 5}, "[[2] [5] [0 1 3 4]]"},
		{[]int64{16, 16, 16, 4, 4, 4, 4}, "[[0 1 2 3 4 5 6]]"},
		{[]int64{3, 4, 15, 16}, "[[0] [1] [2] [3]]"},
		{[]int64{1, 1, 1, 1, 1, 1, 1, 1}, "[[0 1 2 3] [4 5 6 7]]"},
	} {
		if got := fmt.Sprint(tiers(c.rows)); got != c.want {
			t.Errorf("%v: %s, want %s", c.rows, got, c.want)
		}
	}
}

func TestNoTierStaysFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Int64Range(0, 5000), 0, 200).Draw(t, "rows")
		seen := make([]int, len(rows))
		count := map[int]int{}
		for _, g := range tiers(rows) {
			sum := int64(0)
			for _, i := range g {
				seen[i]++
				sum += rows[i]
			}
			count[tier(sum)]++
			if len(g) > 1 && len(g) < Width {
				t.Fatalf("a merge of %d parts", len(g))
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Fatalf("part %d is in %d groups", i, n)
			}
		}
		for tier, n := range count {
			if n >= Width {
				t.Fatalf("%d parts in tier %d", n, tier)
			}
		}
	})
}

// TestEachRowIsWrittenAFewTimes: over n equal appends a row is written once as it is folded and once for each tier it climbs.
func TestEachRowIsWrittenAFewTimes(t *testing.T) {
	for _, n := range []int{1, 4, 16, 64, 256, 1000, 4096, 10_000} {
		const each = 100
		var parts []int64
		written := int64(0)
		for range n {
			parts = append(parts, each)
			var next []int64
			for _, g := range tiers(parts) {
				sum := int64(0)
				for _, i := range g {
					sum += parts[i]
				}
				if len(g) > 1 || slices.Contains(g, len(parts)-1) {
					written += sum
				}
				next = append(next, sum)
			}
			parts = next
		}
		per := float64(written) / float64(n*each)
		if limit := math.Log(float64(n))/math.Log(4) + 1; per > limit {
			t.Errorf("%d appends: %.2f rows written per row landed, more than %.2f", n, per, limit)
		}
	}
}
