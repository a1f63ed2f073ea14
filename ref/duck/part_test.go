package duck

import "testing"

func TestLargeRowsMakeSmallGroups(t *testing.T) {
	for _, c := range []struct{ size, rows, want int64 }{
		{0, 0, GroupRows},
		{1 << 20, 100_000, GroupRows},
		{1 << 30, 1_000_000, 15_635},
		{1 << 60, 10, LeastRows},
		{5, 1 << 40, GroupRows},
	} {
		if got := RowsOfGroup(c.size, c.rows); got != c.want {
			t.Errorf("%d bytes, %d rows: %d", c.size, c.rows, got)
		}
	}
}
