package dpgp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
)

// NoisySums is what Algorithm 1 releases, with one row of the data free and the
// others left out, which move nothing: for audits of its noise.
type NoisySums struct {
	model *model
	noise mechanismNoise
}

// NewNoisySums calibrates the release to (ε, δ) for inducing inputs of one
// dimension, the EQ kernel of variance one with that lengthscale, and outputs of
// size r, with the exact bound on a kernel vector and equal noise in A and B.
func NewNoisySums(epsilon, delta float64, inducing []float64, lengthscale, r float64) (*NoisySums, error) {
	m := &model{lengthscale: lengthscale, variance: 1, noise: 1}
	m.inducing = sparsegp.Inducing{Kernel: kernel.EQ(lengthscale, 1), Z: mat.NewDense(len(inducing), 1, inducing)}
	noise, err := m.calibrate(epsilon, delta, r, 1, boundExact, 0)
	if err != nil {
		return nil, err
	}
	return &NoisySums{m, noise}, nil
}

// Exact returns a row's part y·k of A and k·kᵀ of B.
func (s *NoisySums) Exact(x, y float64) (a []float64, b *mat.Dense) {
	n, _ := s.model.inducing.Z.Dims()
	a, b = make([]float64, n), mat.NewDense(n, n, nil)
	for i := range n {
		a[i] = math.Sqrt(s.model.decay(x - s.model.inducing.Z.At(i, 0)))
	}
	for i := range n {
		for j := range n {
			b.Set(i, j, a[i]*a[j])
		}
	}
	for i := range a {
		a[i] *= y
	}
	return a, b
}

// Draw returns the row's parts with the noise of a release.
func (s *NoisySums) Draw(x, y float64, rng *rand.Rand) (a []float64, b *mat.Dense) {
	a, b = s.Exact(x, y)
	s.noise.perturb(sparsegp.Sums{A: a, B: b}, rng)
	return a, b
}

// Deviations are the standard deviations of the noise in each element of A, and
// on the diagonal of B; beside it they are that over √2.
func (s *NoisySums) Deviations() (a, b float64) { return s.noise.sigmaA, s.noise.sigmaB }
