package learn

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// WeightedSample draws k different indices, one after the other, each with probability proportional
// to its weight among those that are left (Efraimidis and Spirakis 2006). Weights are positive and
// finite, and there are at least k of them. The indices come in the order in which they are drawn.
// It takes O(n log n) operations for n weights, and n draws for every k.
func WeightedSample(weights []float64, k int, rng *rand.Rand) []int {
	// The smallest of independent exponential variables with these rates is
	// each one with probability proportional to its rate, and so on.
	times, order := make([]float64, len(weights)), make([]int, len(weights))
	for i, w := range weights {
		times[i], order[i] = rng.ExpFloat64()/w, i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(times[a], times[b]), a-b) })
	return order[:k]
}
