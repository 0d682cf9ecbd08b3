package op

import (
	"math"
	"math/rand/v2"
	"testing"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
	"privkern/graphs/simd"
)

func TestHullInPanels(t *testing.T) {
	_, restore := cpublas.Force("privkern")
	t.Cleanup(restore)
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer simd.Use(l)()
			t.Run("float64", testHullInPanels[float64])
			t.Run("float32", testHullInPanels[float32])
		})
	}
}

// Many queries, which are computed in panels, have the bits of few: also those far away, without an
// image, and those that are not finite.
func testHullInPanels[T cpublas.Float](t *testing.T) {
	const q, n, d, cols = 2*hullTile + 13, 77, 3, 6
	rng := rand.New(rand.NewPCG(8, 9))
	normal := func(rows, cols int) matrix[T] {
		m := matrix[T]{rows, cols, make([]T, rows*cols)}
		for i := range m.data {
			m.data[i] = T(rng.NormFloat64())
		}
		return m
	}
	z := normal(q, cols)
	c := call[T]{pool: parallel.NewPool(2), in: []matrix[T]{z, normal(n, d), normal(1, d), normal(n, cols+1)}}
	for j, v := range []float64{1e4, 1e30, math.Inf(1), math.Inf(-1), math.NaN()} {
		z.row(100 + 40*j)[j%d] = T(v)
	}
	compute := func(lo, hi int) matrix[T] {
		part := c
		part.in = append([]matrix[T]{{hi - lo, cols, z.data[lo*cols : hi*cols]}}, c.in[1:]...)
		part.out = matrix[T]{hi - lo, cols, make([]T, (hi-lo)*cols)}
		if panels := newHull(part).panels() != nil; panels != (hi-lo == q) {
			t.Fatalf("%d queries are computed the other way", hi-lo)
		}
		if err := affineHull(part); err != nil {
			t.Fatal(err)
		}
		return part.out
	}
	whole, without := compute(0, q), 0
	for lo := 0; lo < q; lo += hullTile {
		part := compute(lo, min(lo+hullTile, q))
		for i := range part.rows {
			for j, want := range part.row(i) {
				got := whole.row(lo + i)[j]
				if math.IsNaN(float64(want)) {
					without++
				}
				if got != want && !(math.IsNaN(float64(got)) && math.IsNaN(float64(want))) {
					t.Fatalf("query %d, column %d: %v, not %v", lo+i, j, got, want)
				}
			}
		}
	}
	if without == 0 || without == q*cols {
		t.Errorf("%d of %d numbers are NaN: some queries should have no image", without, q*cols)
	}
}
