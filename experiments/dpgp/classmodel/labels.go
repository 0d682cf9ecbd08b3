package classmodel

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Labels are the regressions' outputs for "is of the class" (index 1) and "is not" (0), Eq. (21) with a centre taken
// off, and their weights 1/σ̃².
type Labels struct{ Y, W [2]float64 }

// NewLabels returns the labels of alpha_epsilon.
func NewLabels(alpha, centre float64) Labels {
	var l Labels
	for i := range l.Y {
		a := float64(i) + alpha
		variance := math.Log1p(1 / a)
		l.Y[i], l.W[i] = math.Log(a)-variance/2-centre, 1/variance
	}
	return l
}

// share returns the share p of rows of a class where its weighted regression is f:
//
//	f = (p w₁y₁ + (1−p) w₀y₀)/(p w₁ + (1−p) w₀),
//
// which rises from y₀ to y₁; beyond these ends p is 0 or 1.
func (l Labels) share(f float64) float64 {
	f = max(l.Y[0], min(l.Y[1], f))
	is, not := l.W[0]*(f-l.Y[0]), l.W[1]*(l.Y[1]-f)
	return is / (is + not)
}

// leastShare bounds shares: a posterior knows nothing of functions that its inducing inputs cannot have.
const leastShare = 1e-3

// quantiles are those of the standard normal distribution at the middles of 32 equal parts.
var quantiles = func() (z [32]float64) {
	for i := range z {
		z[i] = math.Sqrt2 * math.Erfinv((2*float64(i)+1)/float64(len(z))-1)
	}
	return z
}()

// Probabilities returns those of the classes at a row (C) by means and variances of their functions on the inducing
// inputs ([sparsegp.Projection.Inside]).
//
// The softmax of the functions (Milios et al. 2018, Section 4) cannot be certain: with α = 0.5 it is 0.8 of two classes
// at most, and 0.36 of eight. Shares are averaged over f in its place. All classes have the mean of their variances, so
// that the order of the probabilities is that of the means. A variance s counts as s + s²: where noise is most of the
// sums, errors are larger than the posterior has them.
func (l Labels) Probabilities(mean, variance []float64) []float64 {
	s := floats.Sum(variance) / float64(len(variance))
	sd, out := math.Sqrt(s+s*s), make([]float64, len(mean))
	for c, m := range mean {
		for _, z := range quantiles {
			out[c] += l.share(m+sd*z) / float64(len(quantiles))
		}
		out[c] = max(leastShare, min(1-leastShare, out[c]))
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}
