package push_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"contextful/ref/bucket"
	"contextful/ref/bucket/dirbucket"
)

// TestOnADirectory: the filesystem bucket serves the same pushes and pulls, several at once, and is a plain tree of files.
func TestOnADirectory(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	on := func(n *node) *node {
		b, err := dirbucket.Open(dir)
		must(t, err)
		n.b = bucket.Under(b, "team")
		return n
	}
	a := on(w.alpha())
	a.land("events", "seed")
	id := a.fold("events", nil)
	a.mustPush()
	if _, err := os.Stat(dir + "/team/p/tables/events/data/snapshots/" + id + "/part-00000.parquet"); err != nil {
		t.Fatal(err)
	}
	nodes := []*node{a}
	for i := range 3 {
		n := on(w.node(fmt.Sprintf("n%d", i)))
		n.mustPull()
		n.land("events", fmt.Sprintf("r%d", i), fmt.Sprintf("c%d", i))
		nodes = append(nodes, n)
	}
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() {
			if _, err := n.push(); err != nil {
				t.Errorf("%s: %v", n.name, err)
			}
		})
	}
	wg.Wait()
	c := on(w.node("reader"))
	c.mustPull()
	runs := 0
	list, err := os.ReadDir(c.root + "/tables/events/data/runs")
	must(t, err)
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			runs++
		}
	}
	if runs != 4 {
		t.Fatalf("%d runs, want 4", runs)
	}
}
