package release

import (
	"fmt"
	"math"

	"privkern/runner/experiment"
)

// Query describes numbers to which noise is added, in coordinates in which it is
// independent and has one scale.
type Query struct {
	What        string // for those who get the release, such as "whitened predictions"
	Coordinates int
	// Change bounds how far one protected unit moves the query, were it computed
	// in real numbers: the Euclidean norm for Gaussian noise, the sum of
	// magnitudes for Laplace noise.
	Change float64
	// Error bounds how far the computed query may be from the real one, in the
	// same norm.
	Error float64
	// Size bounds the magnitude of every coordinate.
	Size float64
	// Fine is the number of binary digits, from 0 to 20, by which the grid is finer than a thousandth of the scale.
	Fine int
}

// Noise is noise calibrated to a query, on its grid.
type Noise struct {
	query       Query
	sensitivity float64
	grid        grid
	law         string
}

// The laws of noise.
const (
	lawGaussian    = "gaussian"
	lawLaplace     = "laplace"
	lawExponential = "exponential mechanism"
)

// Gaussian calibrates Gaussian noise: factor is σ/Δ, not below the ratio that the guarantee
// needs, as mechanism.SafeFactor gives it.
func Gaussian(q Query, factor float64) (*Noise, error) {
	return calibrate(q, lawGaussian, factor, math.Sqrt(float64(q.Coordinates)))
}

// Laplace calibrates Laplace noise of scale Δ/ε, which is (ε, 0)-differentially
// private.
func Laplace(q Query, epsilon float64) (*Noise, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return nil, fmt.Errorf("epsilon = %g: a positive, finite number is required", epsilon)
	}
	return calibrate(q, lawLaplace, Up(1/epsilon), float64(q.Coordinates))
}

// calibrate finds scale and grid. All is the norm of the vector of ones.
func calibrate(q Query, law string, factor, all float64) (*Noise, error) {
	if !(q.Change > 0) || math.IsInf(q.Change, 1) || !(q.Error >= 0) || math.IsInf(q.Error, 1) {
		return nil, fmt.Errorf("%s: a sensitivity of %g with a rounding error of %g is no positive, finite number: "+
			"bring the data to a scale near one", q.What, q.Change, q.Error)
	}
	if !(factor > 0) || math.IsInf(factor, 1) {
		return nil, fmt.Errorf("%s: noise of %g times the sensitivity cannot be drawn", q.What, factor)
	}
	if q.Fine < 0 || q.Fine > mostFine {
		return nil, fmt.Errorf("a defect: %s: a grid that is finer by %d binary digits", q.What, q.Fine)
	}
	// The sensitivity includes the rounding to the grid, which depends on the
	// sensitivity. The first grid is at most as coarse as the last.
	first, err := newGrid(factor*q.Change, q.Fine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.What, err)
	}
	n := &Noise{query: q, law: law}
	for {
		n.sensitivity = Up(q.Change + 2*(q.Error+all*first.queryError()))
		if n.grid, err = newGrid(Up(factor*n.sensitivity), q.Fine); err != nil {
			return nil, fmt.Errorf("%s: %w", q.What, err)
		}
		if n.grid.exponent <= first.exponent {
			break
		}
		first = n.grid
	}
	if !n.grid.fits(q.Size) {
		return nil, fmt.Errorf("%s: numbers up to %g with noise of scale %g are more than 2^60 steps of the grid: use a "+
			"smaller epsilon, or bring the data to a scale near one", q.What, q.Size, n.Scale())
	}
	return n, nil
}

// Up returns a number that is above the exact value of a sum or product of a few
// nonnegative numbers which was computed as v.
func Up(v float64) float64 { return v * (1 + 0x1p-48) }

// Scale is the standard deviation of Gaussian noise, or the scale of Laplace
// noise, in every coordinate.
func (n *Noise) Scale() float64 { return n.grid.scale() }

// Grid is the spacing to which sums are rounded.
func (n *Noise) Grid() float64 { return n.grid.unit() }

// Sensitivity bounds how far one protected unit moves the query as it is
// computed.
func (n *Noise) Sensitivity() float64 { return n.sensitivity }

// Describe returns the description of the noise in a release.
func (n *Noise) Describe() experiment.Noise {
	return experiment.Noise{
		Law: n.law, Query: n.query.What, Coordinates: n.query.Coordinates,
		Sensitivity: n.sensitivity, Scale: n.Scale(), Grid: n.Grid(),
	}
}

// ExactNoise is the note on noise in releases with noise of this package.
const ExactNoise = "the noise is drawn exactly, as a real number, and its sum with the query is rounded to the " +
	"grid that is stated: the guarantee for real numbers holds for the digits of this release"
