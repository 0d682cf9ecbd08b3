package sparse

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
)

// Model holds the numbers that are fixed before any private data are seen: all are public. The
// kernel is EQ, σ_f² exp(−‖x−x'‖²/(2l²)), with one lengthscale for all dimensions.
type Model struct {
	Inducing    sparsegp.InducingInputs
	Lengthscale float64
	Variance    float64 // σ_f²
	// Noise is σ², the variance of the observations. It is 1 where the sums carry
	// weights 1/σ_i² (Appendix D).
	Noise float64
}

// NewModel returns the model with the EQ kernel, inducing inputs z (M×D), and jitter on
// the diagonal of their covariance.
func NewModel(z *mat.Dense, lengthscale, variance, noise, jitter float64) *Model {
	return &Model{
		Lengthscale: lengthscale, Variance: variance, Noise: noise,
		Inducing: sparsegp.InducingInputs{Kernel: kernel.EQ(lengthscale, variance), Z: z, Jitter: jitter},
	}
}

// Column returns inputs of one dimension as a matrix (n×1).
func Column(x []float64) *mat.Dense { return mat.NewDense(len(x), 1, slices.Clone(x)) }

// Vector returns a row's kernel vector (M), in float64 on the CPU for every engine, because a
// release sums these vectors: they must not depend on the engine.
func (m *Model) Vector(x []float64) []float64 {
	number, _ := m.Inducing.Z.Dims()
	k := make([]float64, number)
	for j := range k {
		square := 0.0
		for d, z := range m.Inducing.Z.RawRowView(j) {
			square += (x[d] - z) * (x[d] - z)
		}
		k[j] = m.Variance * math.Exp(-square/(2*m.Lengthscale*m.Lengthscale))
	}
	return k
}

// Sums are A and B over the data (Eq. 3), without noise. Outputs beyond ±r are clipped;
// how many were is a fact of the private data. Where no noise will cover their
// rounding, the sums are computed in float64.
//
// x is N×D; A has length M, B is M×M and symmetric. The bound on a row's part in them is
// that of Eq. (6) only because |y| ≤ r. Float32 rounds relative to the largest
// eigenvalue of B, which may make K_ZZ + σ⁻²B indefinite: privacy noise covers that, its
// absence does not.
func (m *Model) Sums(
	ctx context.Context, e *engine.Engine, x *mat.Dense, y []float64, r float64, covered bool,
) (s sparsegp.Sums, clipped int, err error) {
	y = slices.Clone(y)
	for i, v := range y {
		if y[i] = max(-r, min(r, v)); y[i] != v {
			clipped++
		}
	}
	if !covered && e.DType() == "float32" {
		e.Warn("without privacy noise the sums over the data were computed in float64: the rounding of float32 " +
			"may make the update indefinite")
		s, err = sparsegp.SumDouble(ctx, e, m.Inducing, x, y, nil)
		return s, clipped, err
	}
	s, err = sparsegp.Sum(ctx, e, m.Inducing, x, y, nil)
	return s, clipped, err
}
