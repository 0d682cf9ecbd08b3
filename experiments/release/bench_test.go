package release

import (
	"crypto/rand"
	"testing"
)

// A million exact normal numbers, as a release draws them.
func BenchmarkGaussian(b *testing.B) {
	q := Query{What: "numbers", Coordinates: 1_000_000, Change: 1, Size: 100}
	n, err := Gaussian(q, 1.8779)
	if err != nil {
		b.Fatal(err)
	}
	s := Unbooked(rand.Reader)
	query := make([]float64, q.Coordinates)
	b.ResetTimer()
	for range b.N {
		if _, err := s.Add(n, query); err != nil {
			b.Fatal(err)
		}
	}
}
