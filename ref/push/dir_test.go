package push_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"contextful/ref/bucket"
	"contextful/ref/bucket/dirbucket"
	"contextful/ref/nodetest"

	"github.com/stretchr/testify/require"
)

// TestOnADirectory: the filesystem bucket serves the same pushes and pulls, several at once, and is a plain tree of files.
func TestOnADirectory(t *testing.T) {
	w := nodetest.New(t)
	dir := t.TempDir()
	on := func(n *nodetest.Node) *nodetest.Node {
		b, err := dirbucket.Open(dir)
		require.NoError(t, err)
		n.Bucket = bucket.Under(b, "team")
		return n
	}
	a := on(w.Alpha())
	a.Land("events", "seed")
	id := a.Fold("events")
	a.MustPush()
	if _, err := os.Stat(dir + "/team/p/tables/events/data/snapshots/" + id + "/part-00000.parquet"); err != nil {
		t.Fatal(err)
	}
	nodes := []*nodetest.Node{a}
	for i := range 3 {
		n := on(w.Node(fmt.Sprintf("n%d", i)))
		n.MustPull()
		n.Land("events", fmt.Sprintf("r%d", i), fmt.Sprintf("c%d", i))
		nodes = append(nodes, n)
	}
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() {
			if _, err := n.Push(); err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
		})
	}
	wg.Wait()
	c := on(w.Node("reader"))
	c.MustPull()
	runs := 0
	list, err := os.ReadDir(c.Root + "/tables/events/data/runs")
	require.NoError(t, err)
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			runs++
		}
	}
	if runs != 4 {
		t.Fatalf("%d runs, want 4", runs)
	}
}
