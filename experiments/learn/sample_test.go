package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Drawn in order from weights 1, 2, 3: the pair (i, j) has probability
// w_i/6 · w_j/(6 − w_i).
func TestWeightedSample(t *testing.T) {
	weights := []float64{1, 2, 3}
	rng := rand.New(rand.NewPCG(1, 2))
	const draws = 60000
	count := map[[2]int]float64{}
	for range draws {
		s := WeightedSample(weights, 2, rng)
		count[[2]int(s)]++
	}
	for i, a := range weights {
		for j, b := range weights {
			p := a / 6 * b / (6 - a)
			if i == j {
				p = 0
			}
			// Four standard deviations.
			if got := count[[2]int{i, j}] / draws; math.Abs(got-p) > 4*math.Sqrt(p/draws) {
				t.Errorf("the pair %d, %d is drawn with frequency %.4f, want %.4f", i, j, got, p)
			}
		}
	}
	all := WeightedSample(weights, 3, rng)
	slices.Sort(all)
	if !slices.Equal(all, []int{0, 1, 2}) {
		t.Errorf("all of them: %v", all)
	}
}
