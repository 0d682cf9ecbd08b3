package sparse

import (
	"fmt"
	"math"
)

// Largest is an upper bound on max_x ‖k_x‖², never below it, rounding included.
type Largest struct {
	NormSquared float64 // in the unit of σ_f⁴
	// Complete reports whether the bound is the maximum up to a relative 1e-6, in one dimension and
	// on lattices 1e-12 (on dense grids 1e-6). Otherwise the search reached its limit of work, and
	// this is the best proved bound; it depends on public inputs alone.
	Complete bool
}

// DimensionsError reports that there is no exact bound for inducing inputs that are no lattice in
// so many dimensions.
type DimensionsError struct{ Dimensions int }

func (e *DimensionsError) Error() string {
	return fmt.Sprintf("bound = %v: the search over inputs of %d dimensions is too long; at most %d are possible where "+
		"the inducing inputs are no grid: use %v, or a grid", Exact, e.Dimensions, maxSearched, Eq8)
}

// LargestNorm is the bound [Exact]. In one dimension it is found by bisection; on a lattice it is
// the product over the dimensions, since the kernel is; for any other inducing inputs, in up to six
// dimensions, by branch and bound. It returns a *[DimensionsError] for others.
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
	if dims > maxSearched {
		return Largest{}, &DimensionsError{dims}
	}
	sum, complete := m.search()
	if !complete {
		// Eqs. (4) and (8) hold as well; search does not exceed the former.
		_, _, least := Nearest(m.Inducing.Z)
		sum = min(sum, m.spaced(Eq8, least)*outward)
	}
	return Largest{sum * variance, complete}, nil
}
