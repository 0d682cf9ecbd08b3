// Package region decides for which pairs of Gaussian kernels a privacy requirement
// can be met: Example 3 and Propositions 1 and 2.
package region

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// Region is Example 3: K(x,y) = exp(−θ₀|x−y|²), H(x,y) = c·exp(−θ|x−y|²) on R^d.
//
// K − H is positive definite where the Fourier transform of H nowhere exceeds that of K
// (Proposition 1): (2θ)^{-d/2} c exp(−|ω|²/4θ) ≤ (2θ₀)^{-d/2} exp(−|ω|²/4θ₀). As |ω|
// grows it asks for θ ≤ θ₀, and at ω = 0 for c ≤ (θ/θ₀)^{d/2}. A Process that is
// released with the requirement H keeps at least the variance H(s,s) = c at every s.
type Region struct {
	C, Theta, Theta0 float64
	D                int // dimension of the inputs
}

// Low is c^{2/d}θ₀, the least admissible θ.
func (r Region) Low() float64 { return math.Pow(r.C, 2/float64(r.D)) * r.Theta0 }

// onBoundary reports whether θ is on the lower boundary, to rounding.
func (r Region) onBoundary() bool { return math.Abs(r.Theta-r.Low()) <= 1e-12*r.Theta0 }

// Contains reports whether (c, θ) is in the region as published: 0 ≤ c < 1 and
// c^{2/d}θ₀ ≤ θ ≤ θ₀. There K − H is positive definite by Proposition 1.
func (r Region) Contains() bool {
	return r.C < 1 && r.Theta <= r.Theta0 && (r.Theta >= r.Low() || r.onBoundary())
}

// Uniform reports whether Proposition 2's integral is finite. On the lower
// boundary its integrand grows as 1/|ω|² at 0, which is integrable only for
// d ≥ 3.
func (r Region) Uniform() bool {
	return r.Contains() && (r.C == 0 || r.D >= 3 || !r.onBoundary())
}

// Ratio is the infimum over ω of the Fourier transforms' ratio, c⁻¹(θ/θ₀)^{d/2}
// exp((θ₀ − θ)|ω|²/(4θθ₀)); 0 stands for H without one or H = 0. K − H is positive
// definite where it is at least one.
func (r Region) Ratio() float64 {
	if r.C == 0 || r.Theta == 0 || r.Theta > r.Theta0 {
		return 0
	}
	return math.Pow(r.Theta/r.Theta0, float64(r.D)/2) / r.C
}

// Grid is a regular grid of at most gridSize points. Its spacing resolves the
// frequencies at which K has not decayed, half a correlation length of K.
func (r Region) Grid() *mat.Dense {
	side := int(math.Floor(math.Pow(gridSize, 1/float64(r.D)) + 1e-9))
	total := 1
	for range r.D {
		total *= side
	}
	spacing := 0.5 / math.Sqrt(r.Theta0)
	out := mat.NewDense(total, r.D, nil)
	for i := range total {
		for k, rest := 0, i; k < r.D; k++ {
			out.Set(i, k, spacing*float64(rest%side))
			rest /= side
		}
	}
	return out
}

// gridSize is the largest number of points of the grid on which K − H is tried.
const gridSize = 200

// Difference is the matrix K − H of points, n×d. Its least eigenvalue shows
// numerically whether H is admissible on these points.
func (r Region) Difference(e *engine.Engine, points *mat.Dense) (*mat.Dense, error) {
	difference, err := kernel.RBF(r.Theta0).Matrix(e, points, points)
	if err != nil {
		return nil, err
	}
	switch {
	case r.C == 0: // H = 0
	case r.Theta == 0: // H = c
		difference.Apply(func(_, _ int, x float64) float64 { return x - r.C }, difference)
	default:
		h, err := kernel.RBF(r.Theta).Matrix(e, points, points)
		if err != nil {
			return nil, err
		}
		h.Scale(r.C, h)
		difference.Sub(difference, h)
	}
	return difference, nil
}
