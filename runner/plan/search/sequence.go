package search

import "math/rand/v2"

// uniform returns a sequence of independent points in the unit cube.
func uniform(seed int64, dimensions int) func() []float64 {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	return func() []float64 {
		point := make([]float64, dimensions)
		for i := range point {
			point[i] = rng.Float64()
		}
		return point
	}
}

// halton returns a Halton sequence, whose digits are permuted at random (Owen, "A randomized Halton algorithm in R",
// arXiv:1706.02808). Its first points fill the unit cube more evenly than independent ones.
func halton(seed int64, dimensions int) func() []float64 {
	bases := primes(dimensions)
	places := make([][][]int, dimensions) // permutations of digits, by dimension and place
	next := 0
	return func() []float64 {
		point := make([]float64, dimensions)
		for i, base := range bases {
			n, unit := next, 1.0
			for k := 0; unit > 1e-16; k++ {
				if k == len(places[i]) {
					rng := rand.New(rand.NewPCG(uint64(seed), uint64(1+i)<<32|uint64(k)))
					places[i] = append(places[i], rng.Perm(base))
				}
				unit /= float64(base)
				point[i] += float64(places[i][k][n%base]) * unit
				n /= base
			}
			point[i] = min(point[i], 1-1e-16)
		}
		next++
		return point
	}
}

// primes returns the first n prime numbers.
func primes(n int) []int {
	var out []int
	for candidate := 2; len(out) < n; candidate++ {
		prime := true
		for _, p := range out {
			prime = prime && candidate%p != 0
		}
		if prime {
			out = append(out, candidate)
		}
	}
	return out
}
