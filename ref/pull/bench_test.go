package pull_test

import (
	"fmt"
	"testing"

	"contextful/fakes/s3cas"
)

// BenchmarkColdPull pulls 1,000 runs of two small parts and a manifest each: 3,000 objects.
func BenchmarkColdPull(b *testing.B) {
	s, err := s3cas.New(s3cas.Options{Buckets: []string{"bkt"}}).Start()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	w := &world{t: b, s3: s}
	a := w.alpha()
	for i := range 1000 {
		a.land("events", fmt.Sprintf("r%04d", i))
	}
	a.mustPush()
	b.ResetTimer()
	for i := range b.N {
		w.node(fmt.Sprintf("n%d", i)).mustPull()
	}
}
