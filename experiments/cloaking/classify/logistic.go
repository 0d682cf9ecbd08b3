package classify

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// logistic is 1/(1 + e^{−f}), the probability of the positive class.
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// wideVariance is where the normal distribution is wide enough to be smooth on
// the scale of the logistic function.
const wideVariance = 4

// averagedLogistic is the mean of the logistic function under N(mean, variance),
// to 1e-8. For small variances it is a Gauss–Hermite sum. For large ones, the
// logistic function is a step and a rest that falls like e^{−|f|},
//
//	E σ = Φ(mean/s) + ∫₀^∞ σ(−f) (N(−f) − N(f)) df,
//
// which is a Gauss–Legendre sum over [0, 40].
func averagedLogistic(mean, variance float64) float64 {
	s := math.Sqrt(variance)
	average := 0.0
	switch {
	case s == 0:
		return logistic(mean)
	case variance < wideVariance:
		for i, x := range hermite.nodes {
			average += hermite.weights[i] * logistic(mean+math.Sqrt2*s*x)
		}
		return average / math.Sqrt(math.Pi)
	}
	normal := distuv.Normal{Mu: mean, Sigma: s}
	average = distuv.UnitNormal.CDF(mean / s)
	for i, f := range legendre.nodes {
		average += legendre.weights[i] * logistic(-f) * (normal.Prob(-f) - normal.Prob(f))
	}
	return average
}

// rule is a quadrature rule.
type rule struct{ nodes, weights []float64 }

var (
	hermite  = newRule(quad.Hermite{}, 64, math.Inf(-1), math.Inf(1))
	legendre = newRule(quad.Legendre{}, 64, 0, 40)
)

func newRule(q quad.FixedLocationer, n int, low, high float64) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	q.FixedLocations(r.nodes, r.weights, low, high)
	return r
}
