package classmodel

import (
	"math"
	"math/rand/v2"

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

// leastCertain is the least probability that the softmax can have of a certain class where it is taken.
const leastCertain = 0.9

// Inverted reports whether probabilities are averages of shares. The softmax of the functions (Milios et al. 2018,
// Section 4) is taken where a class that is certain has a large part of it. With α = 0.01 it has nearly all, with
// α = 0.5 no more than 0.8 of two classes, and 0.36 of eight. For small α, on the other hand, shares hang on the least
// error of functions near y₁.
func (l Labels) Inverted(classes int) bool {
	e := math.Exp(l.Y[1] - l.Y[0])
	return e/(e+float64(classes-1)) < leastCertain
}

// inverted returns the probabilities of the classes at a row (C) by means and variances of their functions on the
// inducing inputs ([sparsegp.Projection.Inside]): averages of the shares that a function stands for.
//
// All classes have the mean of their variances, so that the order of the probabilities is that of the means. A variance
// s counts as s + s²: where noise is most of the sums, errors are larger than the posterior has them.
func (l Labels) inverted(mean, variance []float64) []float64 {
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

// The numbers of draws that a softmax is a mean of, half of them mirrored: the standard error is below 0.01 and, where
// the probabilities of many rows are judged, below 0.03, and falls out of their mean. They are the same at every row
// and each time.
const (
	draws       = 4096
	judgedDraws = 512
)

// of returns the function that has the probabilities of the classes at a row by means and variances (C each) of
// their functions, on the inducing inputs alone where they are inverted ([Labels.Inverted]).
func (l Labels) of(classes, draws int, inverted bool) func(mean, variance []float64) []float64 {
	if inverted {
		return l.inverted
	}
	normals := standard(classes, draws)
	return func(mean, variance []float64) []float64 { return softmax(mean, variance, normals) }
}

// Probabilities returns those of classes at rows (C×P each) by means and variances of their functions,
// as [Model.Predict] does, with fewer draws.
func (l Labels) Probabilities(means, variances [][]float64, inverted bool) [][]float64 {
	of := l.of(len(means), judgedDraws, inverted)
	out := make([][]float64, len(means))
	mean, variance := make([]float64, len(means)), make([]float64, len(means))
	for i := range means[0] {
		for c := range means {
			mean[c], variance[c] = means[c][i], variances[c][i]
		}
		for c, p := range of(mean, variance) {
			out[c] = append(out[c], p)
		}
	}
	return out
}

// standard draws standard normal numbers, one for each class, from a fixed stream.
func standard(classes, draws int) [][]float64 {
	rng := rand.New(rand.NewPCG(20210329, 0))
	out := make([][]float64, 0, draws)
	for range draws / 2 {
		z, mirrored := make([]float64, classes), make([]float64, classes)
		for c := range z {
			z[c] = rng.NormFloat64()
			mirrored[c] = -z[c]
		}
		out = append(out, z, mirrored)
	}
	return out
}

// softmax returns E softmax(f)_c for independent f_c ~ N(mean_c, variance_c): the centre is the same for all classes
// and falls out.
func softmax(mean, variance []float64, normals [][]float64) []float64 {
	out, f, sd := make([]float64, len(mean)), make([]float64, len(mean)), make([]float64, len(mean))
	for c, v := range variance {
		sd[c] = math.Sqrt(v)
	}
	for _, z := range normals {
		most, sum := math.Inf(-1), 0.0
		for c := range f {
			f[c] = mean[c] + sd[c]*z[c]
			most = max(most, f[c])
		}
		for c := range f {
			f[c] = math.Exp(f[c] - most)
			sum += f[c]
		}
		for c := range f {
			out[c] += f[c] / sum / float64(len(normals))
		}
	}
	return out
}
