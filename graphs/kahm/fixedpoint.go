package kahm

import (
	"fmt"
	"math"
)

// fixedPoint is the fixed point e of R(·, τ) (Eq. 41).
type fixedPoint struct {
	tau         float64
	e           float64
	slope       float64 // dR/de, as far as it is known
	evaluations int
	single      bool    // R comes in float32
	at          float64 // the λ of the last evaluation, from which the solutions are
}

func (x *fixedPoint) lambda() float64 { return x.e + x.tau }

const (
	// picardTolerance is the relative change of e at which the paper's
	// iteration stops.
	picardTolerance = 1e-12
	// secantTolerance bounds, relative to λ, how far the λ at which R was last
	// evaluated is from the fixed point. The estimate that results has the
	// square of this error.
	secantTolerance = 1e-10
	// singleTolerance replaces both in float32.
	singleTolerance = 1e-5
	// maxEvaluations caps the evaluations of R; the paper's iteration takes about
	// ten.
	maxEvaluations = 1000
)

// find iterates from e = start, or from what the fixed point of another layer
// suggests. R is evaluated at λ = e+τ, the last time as near to the fixed point
// as the tolerance says. Short of it after maxEvaluations, it returns an error that
// says what was reached.
func (x *fixedPoint) find(iteration Iteration, start float64, previous *fixedPoint, residual func(lambda float64) (float64, error)) error {
	x.e = start
	if iteration == Secant && previous != nil {
		x.e, x.slope = previous.e, previous.slope
	}
	picard, secant := picardTolerance, secantTolerance
	if x.single {
		picard, secant = singleTolerance, singleTolerance
	}
	var lastE, lastR float64
	var change, wanted float64 // of the last evaluation, relative
	for {
		x.at = x.e + x.tau
		r, err := residual(x.at)
		if err != nil {
			return err
		}
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return fmt.Errorf("the residual at λ = %g is %g", x.e+x.tau, r)
		}
		x.evaluations++
		if iteration == Picard {
			change, wanted = math.Abs(r-x.e)/r, picard
			done := math.Abs(r-x.e) <= picard*r
			if x.e = r; done {
				return nil
			}
		} else {
			if x.evaluations > 1 && x.e != lastE {
				// R is increasing with a slope well below one; anything else
				// is rounding at the fixed point.
				if s := (r - lastR) / (x.e - lastE); s > 0 && s < 1 {
					x.slope = s
				}
			}
			step := (r - x.e) / (1 - x.slope)
			lastE, lastR = x.e, r
			x.e += step
			change, wanted = math.Abs(step)/(x.e+x.tau), secant
			if math.Abs(step) <= secant*(x.e+x.tau) {
				return nil
			}
		}
		if x.evaluations == maxEvaluations {
			return fmt.Errorf("the fixed point of the regularisation parameter was not found in %d evaluations, the most "+
				"that are allowed: the last one changed it by %.1e of itself, and at most %.0e is wanted; use another n, "+
				"or more samples", maxEvaluations, change, wanted)
		}
	}
}
