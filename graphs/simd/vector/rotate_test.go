package vector

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"
)

// Rotations and sums of rows have the bits of their definitions at all levels, for every length
// and alignment, and write nothing outside of their slices.
func TestRotateAndAxpy(t *testing.T) {
	h := fnv.New64a()
	for _, n := range append(lengths(40), 64, 100) {
		for from := range 3 {
			a, b := numbers[float64](uint64(n), n+5, 9, false), numbers[float64](uint64(n)+1000, n+5, 9, false)
			const c, s = .8, -.6
			rotated := slices.Concat(a, b)
			added := slices.Concat(a, b)
			for i := from; i < from+n; i++ {
				x, y := a[i], b[i]
				rotated[i] = math.FMA(c, x, Product(-s, y))
				rotated[len(a)+i] = math.FMA(s, x, Product(c, y))
				added[len(a)+i] = math.FMA(s, x, y)
			}
			got := alike(t, fmt.Sprint("Rotate of ", n), func() []float64 {
				x, y := slices.Clone(a), slices.Clone(b)
				Rotate(x[from:from+n], y[from:], c, s)
				return append(x, y...)
			})
			if !slices.Equal(bits(got), bits(rotated)) {
				t.Fatalf("a rotation of %d elements from %d on is %v, want %v", n, from, got, rotated)
			}
			got = alike(t, fmt.Sprint("Axpy of ", n), func() []float64 {
				y := slices.Clone(b)
				Axpy(s, a[from:from+n], y[from:])
				return append(slices.Clone(a), y...)
			})
			if !slices.Equal(bits(got), bits(added)) {
				t.Fatalf("a sum of %d elements from %d on is %v, want %v", n, from, got, added)
			}
			for _, v := range bits(append(rotated, added...)) {
				fmt.Fprintln(h, v)
			}
		}
	}
	if want := uint64(0xd760269669234d68); h.Sum64() != want {
		t.Errorf("the bits have the sum %#x, want %#x", h.Sum64(), want)
	}
}
