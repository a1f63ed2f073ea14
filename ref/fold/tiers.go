package fold

// Width is how many parts of one size tier a pass merges into one: in what it writes fewer stay (store.fold.tiered-merge).
const Width = 4

// tier is floor(log4(rows)): the rows of a part lie between two neighbouring powers of 4. A part without rows is in the lowest.
func tier(rows int64) int {
	n := 0
	for ; rows >= Width; rows /= Width {
		n++
	}
	return n
}

// tiers groups the parts of one partition, given by their rows, oldest first: each group becomes one part, and a group of one stays
// as it is. As long as a tier has Width parts, its oldest become one, the lowest tier first; what they become is the newest part.
// What is merged twice in one pass is written once, so the cost of a pass is what its groups hold.
func tiers(rows []int64) [][]int {
	type part struct {
		of   []int
		rows int64
	}
	parts := make([]part, len(rows))
	for i, n := range rows {
		parts[i] = part{[]int{i}, n}
	}
	for {
		count := map[int]int{}
		full := -1
		for _, p := range parts {
			t := tier(p.rows)
			if count[t]++; count[t] >= Width && (full < 0 || t < full) {
				full = t
			}
		}
		if full < 0 {
			break
		}
		var merged part
		kept := parts[:0]
		taken := 0
		for _, p := range parts {
			if taken < Width && tier(p.rows) == full {
				merged.of, merged.rows = append(merged.of, p.of...), merged.rows+p.rows
				taken++
			} else {
				kept = append(kept, p)
			}
		}
		parts = append(kept, merged)
	}
	groups := make([][]int, len(parts))
	for i, p := range parts {
		groups[i] = p.of
	}
	return groups
}
