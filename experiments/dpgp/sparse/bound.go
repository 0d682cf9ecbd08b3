package sparse

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// Bound is a bound on ‖k_x‖², the squared norm of the kernel vector of any input. The
// noise in B is proportional to it, so that a factor in the bound is one in the noise.
// None of them looks at the private data: they hold for every x.
type Bound int

// The bounds.
const (
	Eq4        Bound = iota // |Z| σ_f⁴
	Eq7Printed              // Eq. (7); valid, with terms to spare
	Eq7                     // Eq. (7) as its derivation gives it
	Eq8                     // Eq. (8)
	Exact                   // the maximum over all inputs
)

// Choices are the names of the bounds.
func (Bound) Choices() []string { return []string{"eq4", "eq7-printed", "eq7", "eq8", "exact"} }

func (b Bound) String() string { return experiment.NameOf(b) }

// OneDimension reports whether the bound is for inputs of one dimension only. Eq. (7) counts
// inducing inputs on both sides of x, in order.
func (b Bound) OneDimension() bool { return b == Eq7 || b == Eq7Printed }

// NormSquared returns R_k², a bound on ‖k_x‖² over all inputs x. Eqs. (7) and (8) assume that
// inducing inputs are at least spacing apart; 0 stands for the least distance that they have, and
// more than that is refused.
//
// The result has the unit of σ_f⁴, [Model.Variance] squared. For inducing inputs z_j ‖k_x‖² = σ_f⁴
// Σ_j k_r(|x − z_j|)²; Eq. (4) bounds every term by one. Exact is the smallest valid one; on nine
// inputs at spacing 0.75 with lengthscale 1 it is 2.36; Eq. (7) gives 3.36, Eq. (8) 7.95 and Eq.
// (4) 9. See [Model.LargestNorm] for more dimensions.
func (m *Model) NormSquared(bound Bound, spacing float64) (float64, error) {
	kk, err := m.Bounded(bound, spacing)
	return kk.NormSquared, err
}

// Bounded is [Model.NormSquared], and reports for Exact whether the search completed. The features of a whitened model
// have norms up to σ_f for every bound ([Whitening]).
func (m *Model) Bounded(bound Bound, spacing float64) (Largest, error) {
	if m.Whitened != nil {
		return Largest{m.Variance, true}, nil
	}
	number, dims := m.Inducing.Z.Dims()
	if dims > 1 && bound.OneDimension() {
		return Largest{}, fmt.Errorf("bound = %v is for inputs of one dimension, and these have %d; use %v or %v",
			bound, dims, Eq8, Eq4)
	}
	var sum float64
	switch bound {
	case Eq4:
		sum = float64(number)
	case Exact:
		return m.LargestNorm()
	default:
		spacing, err := m.spacingFor(bound, spacing)
		if err != nil {
			return Largest{}, err
		}
		sum = m.spaced(bound, spacing)
	}
	return Largest{sum * m.Variance * m.Variance, true}, nil
}

// spacingFor returns the spacing that a bound rests on.
// A spacing above the least distance would make the noise too small for the guarantee;
// one below it is safe.
func (m *Model) spacingFor(bound Bound, spacing float64) (float64, error) {
	i, j, least := Nearest(m.Inducing.Z)
	switch {
	case spacing == 0:
		return least, nil
	case spacing > least*(1+1e-12): // rounding of the grid aside
		return 0, fmt.Errorf("spacing = %g: the inducing inputs %d and %d (counted from 0) are only %g apart, and "+
			"the bound %v would be too small; use spacing=auto, or spread them", spacing, i, j, least, bound)
	}
	return min(spacing, least), nil
}

// spaced is σ_f⁻⁴R_k² by Eq. (7) or (8), for inducing inputs at least spacing apart.
//
// Eq. (7): the nearest inducing input on either side of x may be at x, and the j-th
// further one is at least j·d_z away, which gives Σ_j 2k_r(j d_z)² over j < ⌊|Z|/2⌋, and
// one term more for an odd number. As printed, the sum runs one term further. Eq. (8):
// in any number of dimensions at most one inducing input is nearer to x than d_z/2.
func (m *Model) spaced(bound Bound, spacing float64) float64 {
	number, _ := m.Inducing.Z.Dims()
	half := number / 2
	odd := float64(number - 2*half)
	// k is k_r(r)², at a multiple of the spacing.
	k := func(multiple float64) float64 {
		if multiple == 0 {
			return 1
		}
		return m.decay(multiple * spacing)
	}
	sum := 0.0
	switch bound {
	case Eq7Printed:
		for j := range half + 1 {
			sum += 2 * k(float64(j))
		}
		sum += odd * k(float64(number-half))
	case Eq7:
		for j := range half {
			sum += 2 * k(float64(j))
		}
		sum += odd * k(float64(half))
	default: // Eq. (8)
		sum = 1
		if number > 1 {
			sum += float64(number-1) * k(0.5)
		}
	}
	return sum
}

// decay is k_r(r)² for the EQ kernel.
// k_r(r) = exp(−r²/(2l²)), squared.
func (m *Model) decay(r float64) float64 { return math.Exp(-r * r / (m.Lengthscale * m.Lengthscale)) }

// Nearest returns the two inducing inputs that are nearest to each other, and
// their distance; it is infinite for a single one.
// It takes O(M²D) operations for M inputs of D dimensions.
func Nearest(z *mat.Dense) (first, second int, distance float64) {
	n, _ := z.Dims()
	distance = math.Inf(1)
	for i := range n {
		for j := range i {
			var diff mat.VecDense
			diff.SubVec(z.RowView(i), z.RowView(j))
			if d := mat.Norm(&diff, 2); d < distance {
				first, second, distance = j, i, d
			}
		}
	}
	return first, second, distance
}

// AddedSensitivity is by how much a row that is added or removed moves (A, ratio·B̂), |y| ≤ r and ‖k_x‖² ≤ kk: the norm
// of its contribution, whose square is y²‖k‖² + ratio²‖k‖⁴.
func AddedSensitivity(ratio, r, kk float64) float64 { return math.Hypot(r*math.Sqrt(kk), ratio*kk) }

// JointSensitivity is Eq. (6), by how much a substituted row moves the rescaled
// sums (A, ratio·B̂), where ratio = σ_a/σ_b, |y| ≤ r and ‖k_x‖² ≤ kk.
//
// B̂ holds the elements of B on the diagonal and √2 times those above it, whose
// Euclidean norm is ‖B‖_F. With rows (x, y) and (x', y') the change is (y k − y'k',
// ratio(kkᵀ − k'k'ᵀ)), and (6) bounds its norm: as a parabola in the inner product of k
// and k' it has its maximum at −yy'/(2c), c = ratio² (Eqs. 25 to 29).
func JointSensitivity(ratio, r, kk float64) float64 {
	c := ratio * ratio
	return math.Sqrt(math.Pow(r, 4)/(2*c) + 2*r*r*kk + 2*c*kk*kk)
}
