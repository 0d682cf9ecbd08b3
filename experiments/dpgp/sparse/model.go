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
	// Whitened are the features whose sums are taken; nil for sums of kernel vectors.
	Whitened *Whitening
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

// features are the vector of a row whose products are summed: k, or L⁻¹k of a whitened model.
func (m *Model) features(x []float64) []float64 {
	if m.Whitened != nil {
		return m.Whitened.Vector(m.Vector(x))
	}
	return m.Vector(x)
}

// reach bounds the elements of a row's features.
func (m *Model) reach() float64 {
	if m.Whitened != nil {
		return m.Whitened.norm + m.Whitened.error
	}
	return m.Variance
}

// rounding bounds the rounding errors of a row's contribution with that share, as their norm in A (M numbers) plus that
// in ratio·B (M²); more are the units in the last place that a product with the share adds.
//
// A kernel vector has relative rounding errors of a few units in the last place from exp, and of (D+4) from its
// argument u, of which exp(−u) takes up u·exp(−u) ≤ 1/e at most.
func (m *Model) rounding(of Share, ratio, more float64) float64 {
	number, dims := m.Inducing.Z.Dims()
	size, d, v := float64(number), float64(dims), m.Variance
	if w := m.Whitened; w != nil {
		return of.Product*(w.error+w.norm*(1+more)*0x1p-52) +
			ratio*of.Weight*(2*w.norm*w.error+w.error*w.error+w.norm*w.norm*(2+more)*0x1p-52)
	}
	return math.Sqrt(size)*v*of.Product*(d+10+more)*0x1p-52 + ratio*size*v*v*of.Weight*(2*d+24+more)*0x1p-52
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

// Scaling brings inputs to units of a lengthscale each: nil leaves them as they are, for a kernel
// with one lengthscale for all; otherwise the kernel of the scaled inputs has lengthscale 1.
//
// A release computes from scaled inputs. The rounding of the division needs no term of its own in
// the sensitivity of [ExactSums]: the scaled inputs of a row are float64 numbers that depend on
// this row and on public lengthscales alone, so that the sums are those of other rows, one for one;
// the bound on a row's kernel vector is the maximum over all inputs, and with it the sensitivity for
// all inputs; and the inducing inputs, whose scaled values are public, are the points that the
// bound and every kernel vector are computed from. The same holds for any function of a row in
// place of the division. Readers of a model divide in the same way, so that an input at an inducing
// input stays there.
type Scaling []float64

// Apply returns the scaled rows of x (n×D, D numbers in s), or x where there is nothing to
// scale. A quotient beyond float64 is an infinity, whose kernel values are 0.
func (s Scaling) Apply(x *mat.Dense) *mat.Dense {
	if s == nil {
		return x
	}
	out := mat.DenseCopyOf(x)
	n, _ := x.Dims()
	for i := range n {
		for j, l := range s {
			out.Set(i, j, x.At(i, j)/l)
		}
	}
	return out
}
