package sparse

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Largest is an upper bound on max_x ‖k_x‖², never below it, rounding included.
type Largest struct {
	NormSquared float64 // in the unit of σ_f⁴
	// Complete reports whether the bound is the maximum up to a relative 1e-6, in one dimension and
	// on lattices 1e-12 (on dense grids 1e-6). Otherwise the search reached its limit of work, or there
	// are too many dimensions for one, and this is the best proved bound; it depends on public inputs
	// alone.
	Complete bool
}

// LargestNorm is the bound [Exact]. In one dimension it is found by bisection; on a lattice it is
// the product over the dimensions, since the kernel is; for any other inducing inputs, in up to six
// dimensions, by branch and bound, and in more dimensions it is bounded by [Model.spectral].
//
// On 7×7 inputs at spacing 1 with lengthscale 1 it is 3.14, against 38.4 by Eq. (8), which would
// have 10.7 times the noise; on 4×4×4×4 at spacing 2 it is 1.15 against 94.8: 57.6 times.
func (m *Model) LargestNorm() (Largest, error) {
	number, dims := m.Inducing.Z.Dims()
	// The search divides by the square of the lengthscale.
	if l2 := m.Lengthscale * m.Lengthscale; math.IsInf(l2, 1) || math.IsInf(2*float64(number)/l2, 1) {
		return Largest{}, fmt.Errorf("lengthscale = %g: its square is beyond double precision; bring the inputs to a "+
			"scale nearer one", m.Lengthscale)
	}
	variance := m.Variance * m.Variance
	if dims == 1 {
		return Largest{m.largest() * variance, true}, nil
	}
	if axes := axesOf(m.Inducing.Z); axes != nil {
		return Largest{m.productOver(axes) * variance, true}, nil
	}
	var sum float64
	var complete bool
	if dims > maxSearched {
		sum = m.spectral()
	} else {
		sum, complete = m.search()
	}
	if !complete {
		// Eqs. (4) and (8) hold as well; none exceeds the former.
		_, _, least := Nearest(m.Inducing.Z)
		sum = min(sum, m.spaced(Eq8, least)*outward)
	}
	return Largest{sum * variance, complete}, nil
}

// spectral returns an upper bound on max_x ‖k_x‖², in units of σ_f⁴, in any number of dimensions: for
// k_x = Φᵀφ(x), where the columns of Φ are the features of the inducing inputs and ‖φ(x)‖² = 1,
//
//	‖k_x‖² = φ(x)ᵀΦΦᵀφ(x) ≤ λ_max(ΦΦᵀ) = λ_max(K),  K = ΦᵀΦ, M×M,
//
// and λ_max(K) ≤ ‖K^p‖_F^(1/p) for every p, which at p = 16 exceeds it by at most a factor of M^(1/32),
// 1.22 for 500. It is at most M, since λ_max(K) ≤ tr K.
//
// Elements are positive, and so errors are relative: of sums of M products at most M·2^−53 in each of
// four squares, of which the root leaves less than one. An element exp(−t) inherits that of t, a sum of d
// squares: t(d+5)·2^−53. Up to t = 20 that is 20(d+5)·2^−53, and the M elements of a row beyond add less
// than M·20e^−20(d+5)·2^−53, with λ_max ≥ 1. Twice their sum is at most outward up to 750 columns.
func (m *Model) spectral() float64 {
	n, d := m.Inducing.Z.Dims()
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			r := m.scaledDistance(i, j)
			k.Set(i, j, math.Exp(-r*r/2))
		}
	}
	power := 1.0
	for range 4 {
		var square mat.Dense
		square.Mul(k, k)
		k, power = &square, 2*power
	}
	rounding := max(outward, 1+float64(n+20*(d+5))*0x1p-52)
	return min(float64(n), math.Pow(mat.Norm(k, 2), 1/power)*rounding)
}
