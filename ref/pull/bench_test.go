package pull_test

import (
	"fmt"
	"testing"

	"contextful/ref/nodetest"
)

// BenchmarkColdPull pulls 1,000 runs of two small parts and a manifest each: 3,000 objects.
func BenchmarkColdPull(b *testing.B) {
	w := nodetest.New(b)
	a := w.Alpha()
	for i := range 1000 {
		a.Land("events", fmt.Sprintf("r%04d", i))
	}
	a.MustPush()
	b.ResetTimer()
	for i := range b.N {
		w.Node(fmt.Sprintf("n%d", i)).MustPull()
	}
}
