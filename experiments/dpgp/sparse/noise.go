package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/graphs/sparsegp"
)

// Noise is the noise that Algorithm 1 adds to the sums (Eq. 5). The zero value adds none. Its
// fields are public: they follow from settings alone.
type Noise struct {
	NormSquared    float64 // R_k²
	Sensitivity    float64 // Δ of Eq. (6)
	SigmaA, SigmaB float64 // standard deviations; off the diagonal of B, σ_b/√2
	// Limited reports that R_k² is the best proved bound: the search for the largest one reached its
	// limit of work, or there are too many dimensions for one.
	Limited bool
}

// Calibration holds the parameters of a calibration.
type Calibration struct {
	Epsilon, Delta float64 // ε = inf: no noise
	OutputBound    float64 // R_y
	Ratio          float64 // σ_a/σ_b
	Bound          Bound
	Spacing        float64 // of the inducing inputs; 0 for the one they have
	// Unit is the most rows of the protected unit: m for a person, 1 for a row.
	Unit int
	// Added calibrates to a unit that is there or not, in the place of one that is substituted.
	Added bool
}

// LimitedNote remarks on a bound that no search confirmed.
const LimitedNote = "the search for the largest norm of a row's kernel vector came to its limit of work, or there " +
	"are more than six inputs, for which there is none: the noise is calibrated to the smallest bound that was proved, " +
	"which is valid but not the smallest one; inducing inputs on a grid need no search"

// Calibrate returns the noise with which the sums together are (ε, δ)-private where one
// unit of at most that many rows is substituted (Algorithm 1), or added or removed, for sums without weights.
//
// The sensitivity of a unit of m rows is m times that of a row. A unit contributes the sum of m
// vectors of the set C of contributions (A, ratio·B̂) of a row, of which some may be 0, for rows that
// it does not have. By the triangle inequality two such sums are at most m times as far apart as two
// vectors of C ∪ {0}, and some are, where all rows are equal. Eq. (6) bounds the distance of two
// vectors of C, and that of one to 0 as well: its square is at least 2(R_y²R_k² + c R_k⁴), twice the
// largest squared norm.
//
// A unit that is added or removed moves the sums by its own contribution, at most m times the largest norm of a vector
// of C ([AddedSensitivity]).
//
// σ_a = f·Δ with f of the analytic Gaussian mechanism (Balle and Wang 2018) for
// sensitivity one, and σ_b = σ_a/ratio, so that (A, ratio·B̂) carries noise of one
// standard deviation. It returns an error where the sensitivity leaves the range of
// float64.
func (m *Model) Calibrate(c Calibration) (Noise, error) {
	largest, err := m.Bounded(c.Bound, c.Spacing)
	if err != nil {
		return Noise{}, err
	}
	kk, sensitivity := largest.NormSquared, JointSensitivity
	if c.Added {
		sensitivity = AddedSensitivity
	}
	out := Noise{NormSquared: kk, Limited: !largest.Complete,
		Sensitivity: float64(c.Unit) * sensitivity(c.Ratio, c.OutputBound, kk)}
	if s := out.Sensitivity; !(s > 0) || math.IsInf(s, 1) || math.IsInf(s/c.Ratio, 1) || s/c.Ratio == 0 {
		return Noise{}, fmt.Errorf("outputs up to %g, ratio = %g and kernel_variance = %g give a sensitivity of %g: bring "+
			"them nearer to one", c.OutputBound, c.Ratio, m.Variance, s)
	}
	if math.IsInf(c.Epsilon, 1) {
		return out, nil
	}
	factor, err := mechanism.AnalyticGaussian(c.Epsilon, c.Delta)
	if err != nil {
		return Noise{}, err
	}
	out.SigmaA = factor * out.Sensitivity
	out.SigmaB = out.SigmaA / c.Ratio
	return out, nil
}

// Perturb adds the noise to the sums, in place: one draw for the two off-diagonal places of B.
//
// B̂ has √2 times the off-diagonal elements and noise σ_b, which in B is σ_b/√2. One draw for (i,
// j) and (j, i) keeps B symmetric; two would release it twice. The order of draws, row by row of
// the lower triangle, fixes the result of a seed.
func (n Noise) Perturb(s sparsegp.Sums, rng *rand.Rand) {
	for i := range s.A {
		s.A[i] += n.SigmaA * rng.NormFloat64()
	}
	for i := range s.A {
		s.B.Set(i, i, s.B.At(i, i)+n.SigmaB*rng.NormFloat64())
		for j := range i {
			v := s.B.At(i, j) + n.SigmaB/math.Sqrt2*rng.NormFloat64()
			s.B.Set(i, j, v)
			s.B.Set(j, i, v)
		}
	}
}

// NoisyCopy returns the sums with noise from rng.
func (n Noise) NoisyCopy(s sparsegp.Sums, rng *rand.Rand) sparsegp.Sums {
	out := sparsegp.Sums{A: slices.Clone(s.A), B: mat.DenseCopyOf(s.B)}
	if n.SigmaB > 0 {
		n.Perturb(out, rng)
	}
	return out
}

// Regularisation is the form of λ.
type Regularisation int

// The forms.
const (
	RegularisationPrinted   Regularisation = iota // Eq. (10)
	RegularisationCorrected                       // with the square root of its last factor
)

// Choices are the names of the forms.
func (Regularisation) Choices() []string { return []string{"as-published", "corrected"} }

// Ridge is λ of Eq. (10). The bound on ‖E_b‖ is for noise of one variance; the root of the share
// (d+1)/(2d) is the right factor for the smaller variance off the diagonal, the print has the share
// itself.
//
// ‖E_b‖ ≤ σ_b √(M log(2M²/ρ)) with probability 1 − ρ (Wang 2018, Lemma 6), for a symmetric matrix
// of variance σ_b² throughout. Of its M² elements M have that variance and M(M−1) half of it,
// (M+1)/(2M) in the mean. With λ at least σ⁻²‖E_b‖ the update K_ZZ + σ⁻²(B + E_b) + λI is positive
// definite.
func (n Noise) Ridge(m *Model, rho float64, form Regularisation) float64 {
	d, _ := m.Inducing.Z.Dims()
	size := float64(d)
	factor := (size + 1) / (2 * size)
	if form == RegularisationCorrected {
		factor = math.Sqrt(factor)
	}
	return n.SigmaB / m.Noise * math.Sqrt(size*math.Log(2*size*size/rho)) * factor
}
