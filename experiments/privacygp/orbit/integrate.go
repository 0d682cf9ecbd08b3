package orbit

import (
	"errors"
	"fmt"
	"math"
)

// Tolerance bounds the local error of a step, component by component, by
// Absolute + Relative·|y|.
type Tolerance struct {
	Absolute, Relative float64
}

// maxSteps bounds the work between two stops: more steps mean that the
// tolerance cannot be reached or that the solution runs into a singularity.
const maxSteps = 2_000_000

// Integrate solves y′ = f(t, y), y(times[0]) = y0, and returns y at every time.
// The times must ascend. f writes y′ into its last argument.
//
// The method is Dormand and Prince's pair of orders 5 and 4 (J. Comput. Appl.
// Math. 6, 1980) with local extrapolation. Steps end exactly at the times, so
// that no interpolation adds to the error.
//
// A step takes six evaluations of f, the seventh stage being the first of the next step,
// and is accepted where its estimated error is within tol in every component. An error
// is returned where steps become too small for time to move, or too many.
func Integrate(
	f func(t float64, y, dydt []float64), y0 []float64, times []float64, tol Tolerance,
) ([][]float64, error) {
	if len(times) == 0 {
		return nil, errors.New("orbit: no times to integrate to")
	}
	if !(tol.Absolute > 0) || !(tol.Relative >= 0) {
		return nil, fmt.Errorf("orbit: tolerance %g absolute, %g relative; the absolute one must be positive",
			tol.Absolute, tol.Relative)
	}
	s := newStepper(f, y0, times[0], tol)
	out := [][]float64{append([]float64(nil), y0...)}
	for i := 1; i < len(times); i++ {
		if !(times[i] > times[i-1]) {
			return nil, fmt.Errorf("orbit: time %d is %g, not after %g", i, times[i], times[i-1])
		}
		if err := s.advance(times[i]); err != nil {
			return nil, err
		}
		out = append(out, append([]float64(nil), s.y...))
	}
	return out, nil
}

// The coefficients of Dormand and Prince: nodes, stages (the last row is the
// fifth-order solution, whose derivative is the first stage of the next step),
// and the difference to the fourth-order solution.
var (
	nodes  = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}
	stages = [7][6]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}
	embedded = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
)

// stepper is the state between steps: t, y, the next step h, and in k[0] the derivative
// at t.
type stepper struct {
	f       func(t float64, y, dydt []float64)
	tol     Tolerance
	t, h    float64
	y, next []float64
	k       [7][]float64
}

// newStepper evaluates the first derivative and guesses the first step from it.
func newStepper(f func(t float64, y, dydt []float64), y0 []float64, t0 float64, tol Tolerance) *stepper {
	s := &stepper{f: f, tol: tol, t: t0, y: append([]float64(nil), y0...), next: make([]float64, len(y0))}
	for i := range s.k {
		s.k[i] = make([]float64, len(y0))
	}
	f(t0, s.y, s.k[0])
	// A first step small enough to be accepted; the control then lets it grow.
	var d0, d1 float64
	for i, v := range s.y {
		scale := tol.Absolute + tol.Relative*math.Abs(v)
		d0 = math.Max(d0, math.Abs(v)/scale)
		d1 = math.Max(d1, math.Abs(s.k[0][i])/scale)
	}
	s.h = 1e-6
	if d0 > 0 && d1 > 0 {
		s.h = 1e-3 * d0 / d1
	}
	return s
}

// advance integrates to the time end.
func (s *stepper) advance(end float64) error {
	for range maxSteps {
		h := s.h
		last := s.t+h*(1+1e-10) >= end
		if last {
			h = end - s.t
		}
		if !(h > 1e-15*math.Abs(end)) {
			return fmt.Errorf("orbit: the step fell to %g at t = %g: the solution is singular there, "+
				"or the tolerance %g is below rounding", h, s.t, s.tol.Relative)
		}
		size := s.step(h)
		if size <= 1 { // false for NaN
			s.y, s.next = s.next, s.y
			s.k[0], s.k[6] = s.k[6], s.k[0]
			s.t += h
			if last {
				s.t = end
			}
		}
		// The error of the fourth-order solution goes with h⁵, so that the step that
		// just meets the tolerance is h·size^(−1/5); .9 of it is taken, and the change
		// is kept within bounds.
		factor := 0.1
		if !math.IsNaN(size) {
			factor = math.Min(5, math.Max(0.2, 0.9*math.Pow(math.Max(size, 1e-10), -0.2)))
		}
		if size <= 1 && last {
			// The size of a step that a stop cut short is no guide for the next one.
			s.h = math.Max(s.h, h*factor)
			return nil
		}
		s.h = h * factor
	}
	return fmt.Errorf("orbit: more than %d steps before t = %g", maxSteps, end)
}

// step computes s.next at s.t + h and returns the error relative to the
// tolerance, the largest of all components.
func (s *stepper) step(h float64) float64 {
	for i := 1; i < 7; i++ {
		for j := range s.y {
			sum := 0.0
			for l := range i {
				sum += stages[i][l] * s.k[l][j]
			}
			s.next[j] = s.y[j] + h*sum
		}
		s.f(s.t+nodes[i]*h, s.next, s.k[i])
	}
	worst := 0.0
	for j := range s.y {
		e := 0.0
		for i, c := range embedded {
			e += c * s.k[i][j]
		}
		e = math.Abs(h*e) / (s.tol.Absolute + s.tol.Relative*math.Max(math.Abs(s.y[j]), math.Abs(s.next[j])))
		if math.IsNaN(e) {
			return e
		}
		worst = math.Max(worst, e)
	}
	return worst
}
