package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Descend and Gain are their definitions, to the last bit and at all levels, for every length and
// alignment, with ties, masked elements and curvatures that are not positive.
func TestDescendAndGain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	draw := func(n int, values ...float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = values[r.IntN(len(values))]
		}
		return v
	}
	few := []float64{-2, -1, -.3, 0, .1, 1, 1.7, 2}
	for _, n := range append(lengths(40), 64, 101, 1000) {
		for from := range 3 {
			for _, masked := range []float64{0, math.Inf(1)} {
				f, up, a := draw(n+from, few...), draw(n+from, 0, -masked), draw(n+from, few...)
				b, down, diagonal := draw(n+from, few...), draw(n+from, 0, masked), draw(n+from, 0, 1, 2, 1e-13)
				f, up, a, b, down, diagonal = f[from:], up[from:], a[from:], b[from:], down[from:], diagonal[from:]

				moved, place, largest := slices.Clone(f), -1, math.Inf(-1)
				for i := range moved {
					moved[i] -= Product(.3, a[i]-b[i])
					if up[i] == 0 && moved[i] >= largest {
						place, largest = i, moved[i]
					}
				}
				got := alike(t, fmt.Sprint("Descend of ", n), func() []float64 {
					g := slices.Clone(f)
					k, v := Descend(g, up, a, b, .3)
					return append(g, float64(k), v)
				})
				if want := append(moved, float64(place), largest); !slices.Equal(got, want) {
					t.Fatalf("%d elements descend to %v, want %v", n, got, want)
				}

				const most, own = 1.5, .7
				best, gain, least := -1, 0.0, math.Inf(1)
				for i, v := range f {
					if down[i] != 0 {
						continue
					}
					least = min(least, v)
					curvature := own + diagonal[i] - 2*a[i]
					if curvature <= 0 {
						curvature = Flat
					}
					if d := most - v; d > 0 && d*d >= gain*curvature {
						best, gain = i, d*d/curvature
					}
				}
				got = alike(t, fmt.Sprint("Gain of ", n), func() []float64 {
					k, v := Gain(f, down, diagonal, a, most, own)
					return []float64{float64(k), v}
				})
				if want := []float64{float64(best), least}; !slices.Equal(got, want) {
					t.Fatalf("the gain of %d elements is at %v, want %v", n, got, want)
				}
			}
		}
	}
}
