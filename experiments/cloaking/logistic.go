package cloaking

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// logistic is 1/(1 + e^{−f}), the probability of the positive class.
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// averagedLogistic is the mean of the logistic function under N(mean, variance),
// by Gauss–Hermite quadrature, to 1e-6 for variances up to 10.
func averagedLogistic(mean, variance float64) float64 {
	scale := math.Sqrt(2 * variance)
	if scale == 0 {
		return logistic(mean)
	}
	average := 0.0
	for i, x := range hermiteNodes {
		average += hermiteWeights[i] * logistic(mean+scale*x)
	}
	return average / math.Sqrt(math.Pi)
}

var hermiteNodes, hermiteWeights = func() (x, w []float64) {
	const nodes = 64
	x, w = make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	return x, w
}()
