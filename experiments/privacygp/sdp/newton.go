package sdp

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// barrier is a function F(·; μ) whose minimiser traces the central path of a
// program as μ falls to 0. F/μ is self-concordant. It holds a current point, to
// which steps are relative, so that it may choose its own coordinates.
type barrier interface {
	// begin sets μ and returns F at the current point.
	begin(mu float64) float64
	// try returns F at the current point plus t·step; ok is false outside the
	// domain.
	try(step []float64, t float64) (f float64, ok bool)
	// accept makes the point of the last try the current one.
	accept()
	// derivatives returns the gradient and the Hessian at the current point.
	// They are overwritten by the next call.
	derivatives() (gradient []float64, hessian *mat.SymDense)
}

// errStalled reports that rounding stopped Newton's method before it converged. Its last point may
// still be certified.
var errStalled = errors.New("sdp: Newton's method makes no more progress")

const (
	// maxCentring bounds the Newton steps for one μ; 5 to 10 are usual.
	maxCentring = 60
	// fullStep is the Newton decrement below which the full step is certain to
	// stay in the domain and to converge quadratically (self-concordance), and
	// in which differences of F drown in rounding as μ falls.
	fullStep = 0.25
	// armijo is the fraction of the predicted decrease that a step must reach.
	armijo = 1e-4
)

// centre minimises F(·; mu) until the Newton decrement is at most tolerance.
// It returns the number of Newton steps.
//
// The decrement is √(gᵀH⁻¹g/μ), the length of the step in the norm of the Hessian of
// F/μ: self-concordance bounds by it how far the minimum is (Nesterov and Nemirovskii
// 1994). A decrement below fullStep takes the full step without a line search, because
// differences of F there are smaller than its rounding. It returns errStalled where no
// step helps.
func centre(ctx context.Context, b barrier, mu, tolerance float64) (int, error) {
	f := b.begin(mu)
	previous := math.Inf(1)
	for k := range maxCentring {
		if err := ctx.Err(); err != nil {
			return k, err
		}
		gradient, hessian := b.derivatives()
		step, ok := newtonStep(gradient, hessian)
		if !ok {
			return k, errStalled
		}
		slope := floats.Dot(gradient, step)
		decrement := math.Sqrt(math.Max(0, -slope) / mu)
		switch {
		case decrement <= tolerance:
			return k, nil
		case decrement < fullStep && decrement > 0.5*previous:
			// Quadratic convergence has ended: the rest is rounding.
			return k, errStalled
		case decrement < fullStep:
			previous = decrement
		}
		t := 1.0
		for {
			ft, ok := b.try(step, t)
			if ok && (decrement < fullStep || ft <= f+armijo*t*slope) {
				f = ft
				break
			}
			if t /= 2; t < 1e-10 {
				return k, errStalled
			}
		}
		b.accept()
	}
	return maxCentring, errStalled
}

// newtonStep solves H·step = −g. The Hessian is scaled to a unit diagonal first: its
// entries span many orders of magnitude near the end of the path. H is positive definite
// in exact arithmetic, as F is convex.
func newtonStep(g []float64, h *mat.SymDense) ([]float64, bool) {
	n := len(g)
	scale := make([]float64, n)
	for i := range scale {
		d := h.At(i, i)
		if !(d > 0) || math.IsInf(d, 0) {
			return nil, false
		}
		scale[i] = 1 / math.Sqrt(d)
	}
	scaled := mat.NewSymDense(n, nil)
	rhs := mat.NewVecDense(n, nil)
	for i := range n {
		rhs.SetVec(i, -g[i]*scale[i])
		for j := i; j < n; j++ {
			scaled.SetSym(i, j, h.At(i, j)*scale[i]*scale[j])
		}
	}
	// A ridge shortens the step in directions that rounding has made
	// indefinite; it cannot change where the gradient vanishes.
	var chol cholesky
	for ridge := 0.0; !chol.factorize(scaled); ridge = math.Max(1e-14, 100*ridge) {
		if ridge > 1e-4 {
			return nil, false
		}
		for i := range n {
			scaled.SetSym(i, i, 1+ridge)
		}
	}
	var s mat.VecDense
	// A poor direction costs iterations, and the certificate judges the result.
	if !chol.solve(&s, rhs) {
		return nil, false
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = s.AtVec(i) * scale[i]
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, false
		}
	}
	return out, true
}
