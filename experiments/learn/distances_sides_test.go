package learn

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Distances that are summed side by side are those of one centre at a time, in every bit.
func TestSquaredDistancesSideBySide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	row := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = rng.NormFloat64()
		}
		return out
	}
	for _, size := range [][2]int{{1, 1}, {3, 7}, {4, 225}, {9, 10}, {16, 3}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			x, centres := row(size[1]), make([][]float64, size[0])
			for c := range centres {
				centres[c] = row(size[1])
			}
			got := make([]float64, len(centres))
			squaredDistances(x, centres, got)
			for c, centre := range centres {
				if want := squaredDistance(x, centre); got[c] != want {
					t.Errorf("centre %d is %.17g away, alone %.17g", c, got[c], want)
				}
			}
		})
	}
}
