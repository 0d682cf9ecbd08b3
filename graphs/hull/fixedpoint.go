package hull

import (
	"fmt"
	"math"
)

// fixedPoint is the fixed point e of R(·, τ) (Eq. 41), with λ* = e + τ (Eq. 40). In the
// eigenbasis of K with the eigenvalues κ_i, and c_i the squared norm of the part of Y
// along the i-th eigenvector (Σ c_i = ‖Y‖²_F), Eq. (42) is
//
//	R(e, τ) = Σ_i (λ/(κ_i+λ))² c_i / (pN),  λ = e + τ.
//
// It increases in e, and as λκ ≤ (κ+λ)²/4 its slope is at most ‖Y‖²_F/(2pNλ), a quarter
// of the bound (23) and at most 1/4 because λ ≥ τ = 2‖Y‖²_F/(pN). Hence a single fixed
// point (Theorem 1), to which the iteration e ← R(e) gains at least a factor of four a
// step.
type fixedPoint struct {
	tau         float64
	e           float64
	slope       float64 // dR/de, as far as it is known
	evaluations int
	single      bool // R comes in float32
	iteration   Iteration
	tolerance   float64 // of the secant method, relative to λ; 0 for its own
	at          float64 // the λ of the last evaluation, from which the solutions are

	lastE, lastR float64 // of the evaluation before
}

// lambda is λ*, at which the layer is defined; see at for that of its solutions.
func (x *fixedPoint) lambda() float64 { return x.e + x.tau }

const (
	// picardTolerance is the relative change of e at which the paper's
	// iteration stops.
	picardTolerance = 1e-12
	// secantTolerance bounds, relative to λ, how far the λ at which R was last
	// evaluated is from the fixed point, unless [Options] ask for less. The estimate
	// that results has the square of this error.
	secantTolerance = 1e-10
	// singleTolerance replaces both in float32.
	singleTolerance = 1e-5
	// maxEvaluations caps the evaluations of R; the paper's iteration takes about
	// ten.
	maxEvaluations = 1000
)

// startShare is where the secant method starts, as a share of τ. Theorem 1 allows any
// start. Fixed points are small against τ, between .003 and .1 of it for handwritten
// digits, .2 with much noise; e₀ (44) is a quarter.
const startShare = 1. / 32

// begin sets where the iteration starts: Picard's at e₀ (44), the secant method, with the
// slope of R as far as it is known, from the fixed points of the layers before, the nearest
// last.
//
// The slopes of neighbouring layers are close, and their fixed points follow a line: e
// grows as directions go.
func (x *fixedPoint) begin(before []*fixedPoint) {
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

// next is the λ = e+τ at which R is to be evaluated.
func (x *fixedPoint) next() float64 {
	x.at = x.e + x.tau
	return x.at
}

// take takes R at λ = next, and says whether that was as near to the fixed point as the
// tolerance says. Short of it after maxEvaluations, it returns an error that says what was
// reached.
//
// Picard is e ← R(e) (Eq. 43). Secant solves e − R(e) = 0: the step (R−e)/(1−s) with s
// the slope of R from the last two evaluations, of order 1.6 where Picard's converges
// linearly. A slope outside of (0, 1) is rounding, not a property of R; the one before,
// or zero, stands in then, and the step falls back to Picard's.
func (x *fixedPoint) take(r float64) (done bool, err error) {
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return false, fmt.Errorf("the residual at λ = %g is %g", x.at, r)
	}
	x.evaluations++
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
	by := change(r)
	switch {
	case by <= wanted:
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
	if r == x.e { // zero perhaps
		change = 0
	}
	x.e = r
	return change
}

// secant takes a step of the secant method and returns its change of λ, relative to λ.
func (x *fixedPoint) secant(r float64) (change float64) {
	if x.evaluations > 1 && x.e != x.lastE {
		// R is increasing with a slope well below one; anything else is rounding at the
		// fixed point.
		if s := (r - x.lastR) / (x.e - x.lastE); s > 0 && s < 1 {
			x.slope = s
		}
	}
	step := (r - x.e) / (1 - x.slope)
	x.lastE, x.lastR = x.e, r
	x.e += step
	return math.Abs(step) / (x.e + x.tau)
}
