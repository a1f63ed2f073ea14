package fold

import (
	"testing"
	"time"

	"contextful/ref/manifest"
	"contextful/ref/store"
)

func TestDue(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	runs := func(n int, age time.Duration) (list []*manifest.Run) {
		for range n {
			list = append(list, &manifest.Run{CommittedAt: manifest.At(now.Add(-age))})
		}
		return list
	}
	for name, c := range map[string]struct {
		view store.View
		want bool
		n    int
	}{
		"nothing":               {store.View{}, false, 0},
		"fresh":                 {store.View{Runs: runs(49, DueAge-1)}, false, 49},
		"fifty":                 {store.View{Runs: runs(50, 0)}, true, 50},
		"old":                   {store.View{Runs: runs(1, DueAge)}, true, 1},
		"superseded runs count": {store.View{Runs: runs(1, 0), Superseded: runs(49, 0)}, true, 50},
		"a clock behind":        {store.View{Runs: runs(1, -time.Hour)}, false, 1},
	} {
		if due, n := Due(&c.view, now); due != c.want || n != c.n {
			t.Errorf("%s: %v, %d", name, due, n)
		}
	}
}
