package classify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/fault"
	"privkern/graphs/engine"
	"privkern/graphs/laplace"
)

// maxHalvings bounds how often a Newton step is halved: then it is rounding that
// keeps the posterior from rising.
const maxHalvings = 30

// mode is where Newton's method without noise has come to.
type mode struct {
	f      []float64 // latent function at the training inputs
	dual   []float64 // coefficients of predictions, see [laplace.Step]
	steps  int
	change float64 // by how much the last full step moved f, see largestChange
	wanted float64 // the change at which the steps have converged
}

// converged says that the last step moved f by rounding errors only.
func (m *mode) converged() bool { return m.change <= m.wanted }

// short is the error of a mode that had to converge and has not.
func (m *mode) short() error {
	return fmt.Errorf("the Laplace approximation stopped after %d Newton steps, the most that are allowed, of which the "+
		"last one moved the latent function by %.1e of its size or of 1, and at most %.0e is wanted; use a smaller "+
		"kernel_variance or another lengthscale", m.steps, m.change, m.wanted)
}

// findMode takes Newton steps from f = 0 until they converge, steps at most. Sums and
// counts are the sum and number of the labels (±1) at each training input. Reached, if
// not nil, is called after each step.
//
// A step that lowers the posterior is halved until it does not: with a large kernel
// variance the plain iteration of the paper alternates between two points. The steps
// have converged where a whole one moves f by rounding errors only; a step that is
// small because it was halved proves nothing.
func findMode(ctx context.Context, e *engine.Engine, m *laplace.Model, sums, counts []float64, steps int,
	reached func(*mode)) (*mode, error) {
	steps = fault.Capped(ctx, steps)
	at := &mode{f: make([]float64, len(sums)), change: math.Inf(1), wanted: rounding(e)}
	labels := mat.NewDense(len(sums), 1, slices.Clone(sums))
	height := logLikelihood(at.f, sums, counts)
	for at.steps < steps && !at.converged() {
		s, err := m.Step(ctx, at.f, labels)
		if err != nil {
			return nil, err
		}
		f, dual := mat.Col(nil, 0, s.Latent), mat.Col(nil, 0, s.Dual)
		if at.dual == nil {
			at.dual = make([]float64, len(dual))
		}
		at.change = largestChange(at.f, f)
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
	if cloak.SinglePrecision(e) {
		return 1e-5
	}
	return 1e-10
}

// largestChange is the largest change of a latent value in a step, relative to the
// value or to 1 where that is larger; NaN where one is not finite.
func largestChange(before, after []float64) float64 {
	largest := 0.0
	for i, v := range after {
		largest = max(largest, math.Abs(v-before[i])/max(1, math.Abs(v)))
	}
	return largest
}
