package cloaking

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/laplace"
)

// maxHalvings bounds how often a Newton step is halved: then it is rounding that
// keeps the posterior from rising.
const maxHalvings = 30

// mode is where Newton's method without noise has come to.
type mode struct {
	f         []float64 // latent function at the training inputs
	dual      []float64 // coefficients of predictions, see [laplace.Step]
	steps     int
	converged bool // the last step moved f by rounding errors only
}

// findMode takes Newton steps from f = 0, at most so many, until they converge.
// Sums and counts are the sum and number of the labels (±1) at each training
// input. After each step, reached is told, unless nil.
//
// A step that lowers the posterior is halved until it does not: with a large
// kernel variance the plain iteration of the paper jumps to and fro for ever.
func findMode(ctx context.Context, e *engine.Engine, m *laplace.Model, sums, counts []float64, steps int, reached func(*mode)) (*mode, error) {
	at := &mode{f: make([]float64, len(sums))}
	labels := mat.NewDense(len(sums), 1, slices.Clone(sums))
	height := logLikelihood(at.f, sums, counts)
	for at.steps < steps && !at.converged {
		s, err := m.Step(ctx, at.f, labels)
		if err != nil {
			return nil, err
		}
		f, dual := mat.Col(nil, 0, s.Latent), mat.Col(nil, 0, s.Dual)
		if at.dual == nil {
			at.dual = make([]float64, len(dual))
		}
		posterior := func() float64 { return logLikelihood(f, sums, counts) - m.SquaredNorm(f, dual)/2 }
		next := posterior()
		for range maxHalvings {
			// Written so that a NaN is halved, too.
			if next >= height-rounding(e)*math.Abs(height) {
				break
			}
			halve(f, at.f)
			halve(dual, at.dual)
			next = posterior()
		}
		at.converged = nearlyEqual(e, at.f, f)
		at.f, at.dual, height = f, dual, next
		at.steps++
		if reached != nil {
			reached(at)
		}
	}
	return at, nil
}

// halve moves a to the middle between it and b.
func halve(a, b []float64) {
	for i := range a {
		a[i] = (a[i] + b[i]) / 2
	}
}

// logLikelihood is Σ log p(y|f), with n labels of sum s at a latent value.
func logLikelihood(f, sums, counts []float64) float64 {
	sum := 0.0
	for i, v := range f {
		positive, negative := (counts[i]+sums[i])/2, (counts[i]-sums[i])/2
		sum -= positive*softplus(-v) + negative*softplus(v)
	}
	return sum
}

// softplus is log(1 + eˣ).
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// rounding is the relative size of what counts as none.
func rounding(e *engine.Engine) float64 {
	if singlePrecision(e) {
		return 1e-5
	}
	return 1e-10
}

// nearlyEqual says whether a step moved f by rounding errors only.
func nearlyEqual(e *engine.Engine, before, after []float64) bool {
	for i, v := range after {
		if !(math.Abs(v-before[i]) <= rounding(e)*max(1, math.Abs(v))) {
			return false
		}
	}
	return true
}
