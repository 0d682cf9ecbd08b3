package hull

import (
	"fmt"
	"math"
)

// fixedPoint iterates to the fixed point e of R(·, τ) (Eq. 41), with λ* = e + τ (Eq. 40). With the
// eigenvalues κ_i of K, and c_i the squared norm of the component of Y along the i-th eigenvector
// (Σ c_i = ‖Y‖²_F), Eq. (42) is
//
//	R(e, τ) = Σ_i (λ/(κ_i+λ))² c_i / (pN),  λ = e + τ.
//
// It increases in e. Because λκ ≤ (κ+λ)²/4, its slope is at most ‖Y‖²_F/(2pNλ), a quarter of the
// bound (23), and at most 1/4 because λ ≥ τ = 2‖Y‖²_F/(pN). Hence the fixed point is unique
// (Theorem 1), and the error of the iteration e ← R(e) falls by at least a factor of four per
// step.
type fixedPoint struct {
	tau         float64
	e           float64
	slope       float64 // the latest estimate of dR/de
	evaluations int
	single      bool // R is computed in float32
	iteration   Iteration
	tolerance   float64 // of the secant method, relative to λ; 0 for its own
	absolute    float64 // change of λ before which Picard stops; 0 for its own relative one
	given       float64 // a known λ, in the place of λ*; 0 for none
	at          float64 // the λ of the last evaluation and of the solutions

	lastE, lastR float64 // of the evaluation before
}

// lambda returns λ*; the solutions are those at λ = at.
func (x *fixedPoint) lambda() float64 {
	if x.given > 0 {
		return x.given // exactly
	}
	return x.e + x.tau
}

const (
	// picardTolerance is the relative change of e at which Picard stops.
	picardTolerance = 1e-12
	// secantTolerance bounds the relative distance of the last evaluated λ from the fixed point,
	// unless [Options] have a larger tolerance. The resulting estimate has the square of this error.
	secantTolerance = 1e-10
	// singleTolerance replaces both in float32.
	singleTolerance = 1e-5
	// maxEvaluations limits the evaluations of R; Picard takes about ten.
	maxEvaluations = 1000
)

// startShare is the start of the secant method, as a share of τ. Theorem 1 allows any start. Fixed
// points are between .003τ and .1τ for handwritten digits, and .2τ with much noise; e₀ (44) is τ/4.
const startShare = 1. / 32

// begin sets the start of the iteration: e₀ (44) for Picard, and an extrapolation of the fixed points
// of the layers before (the nearest last) for the secant method. Slopes of neighbouring layers are
// close, and their fixed points lie near a line.
func (x *fixedPoint) begin(before []*fixedPoint) {
	if x.given > 0 {
		x.e = x.given - x.tau
		return
	}
	if x.iteration == Picard {
		x.e = x.tau / 4
		return
	}
	x.e = x.tau * startShare
	if len(before) == 0 {
		return
	}
	last := before[len(before)-1]
	x.e, x.slope = last.e, last.slope
	if len(before) > 1 {
		// A line may cross zero.
		x.e = max(2*last.e-before[len(before)-2].e, last.e/2)
	}
}

// restart continues from the current e with another tolerance, and counts evaluations from zero.
func (x *fixedPoint) restart(tolerance float64) { x.tolerance, x.evaluations = tolerance, 0 }

// next returns the λ = e+τ at which R is to be evaluated.
func (x *fixedPoint) next() float64 {
	x.at = x.lambda()
	return x.at
}

// take makes a step from R at the last λ of next, and reports whether that λ is within the tolerance
// of the fixed point. After maxEvaluations it returns an error with the tolerance that was reached.
//
// Picard is e ← R(e) (Eq. 43), which converges linearly. Secant solves e − R(e) = 0 by steps
// (R−e)/(1−s), with the slope s of R from the last two evaluations, and converges with order 1.6. A
// slope outside of (0, 1) is rounding, not a property of R, and is ignored; with s = 0 the step is
// Picard's.
func (x *fixedPoint) take(r float64) (done bool, err error) {
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return false, fmt.Errorf("the residual at λ = %g is %g", x.at, r)
	}
	x.evaluations++
	if x.given > 0 {
		return true, nil
	}
	change, wanted := x.picard, picardTolerance
	if x.iteration == Secant {
		change, wanted = x.secant, secantTolerance
	}
	if x.single {
		wanted = singleTolerance
	}
	if x.iteration == Secant {
		wanted = max(wanted, x.tolerance)
	}
	if x.absolute > 0 && math.Abs(r-x.e) <= x.absolute {
		return true, nil
	}
	by := change(r)
	switch {
	case x.absolute == 0 && by <= wanted:
		return true, nil
	case x.evaluations == maxEvaluations:
		return false, fmt.Errorf("the fixed point of the regularisation parameter was not found in %d evaluations, the most "+
			"that are allowed: the last one changed it by %.1e of itself, and at most %.0e is wanted; use another n, "+
			"or more samples", maxEvaluations, by, wanted)
	}
	return false, nil
}

// picard takes the step of Eq. (43) and returns its relative change of e.
func (x *fixedPoint) picard(r float64) (change float64) {
	change = math.Abs(r-x.e) / r
	if r == x.e { // perhaps both zero
		change = 0
	}
	x.e = r
	return change
}

// secant takes a step of the secant method and returns its change of λ, relative to λ.
func (x *fixedPoint) secant(r float64) (change float64) {
	if x.evaluations > 1 && x.e != x.lastE {
		// The slope of R is between 0 and 1/4; other values are rounding at the fixed point.
		if s := (r - x.lastR) / (x.e - x.lastE); s > 0 && s < 1 {
			x.slope = s
		}
	}
	step := (r - x.e) / (1 - x.slope)
	x.lastE, x.lastR = x.e, r
	x.e += step
	return math.Abs(step) / (x.e + x.tau)
}
