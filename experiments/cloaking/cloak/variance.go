package cloak

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Variance returns the posterior variance of the latent function at the rows of test (P×d),
// in the unit of the kernel's: Eq. (3) without its σ², which is the variance of a new
// observation, or for the other methods k_** − k_*ᵀ(K + σ²I)⁻¹k_*. It depends on the inputs
// alone, which are public, and takes no noise (Section 2.2).
func (m *Model) Variance(e *engine.Engine, train, test *mat.Dense) ([]float64, error) {
	g := Group(train)
	var explained []float64
	var err error
	if m.Method == Sparse {
		var f *sparseSystem
		if f, err = m.system(e, g); err == nil {
			var ksm, x *mat.Dense
			if ksm, x, err = m.posteriorWeights(e, f, test); err == nil {
				explained, err = m.sparseExplained(e, f, ksm, x)
			}
		}
	} else {
		var x, cross *mat.Dense
		if x, cross, err = m.solveExact(e, g, test); err == nil {
			explained = columnProducts(cross, x)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the posterior variance of the %s method: %w", m.Method, err)
	}
	return m.variance(e, explained, test)
}

// variance returns the prior variance less the part that the training inputs explain (P).
func (m *Model) variance(e *engine.Engine, explained []float64, test *mat.Dense) ([]float64, error) {
	out, err := m.prior(e, test)
	if err != nil {
		return nil, err
	}
	for i, v := range explained {
		out[i] = max(0, out[i]-v)
	}
	return out, nil
}

// sparseExplained is k_*ᵀ(K_mm⁻¹ − Q⁻¹)k_* for each test input, from those of [Model.posteriorWeights].
func (m *Model) sparseExplained(e *engine.Engine, f *sparseSystem, ksm, x *mat.Dense) ([]float64, error) {
	prior, _, err := linalg.SolveSPD(e, f.kmm, ksm)
	if err != nil {
		return nil, err
	}
	out := columnProducts(ksm, prior)
	for i, v := range columnProducts(ksm, x) {
		out[i] -= v
	}
	return out, nil
}

// columnProducts are the inner products of the columns of a and of b.
func columnProducts(a, b *mat.Dense) []float64 {
	rows, n := a.Dims()
	out := make([]float64, n)
	for i := range rows {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for j := range n {
			out[j] += x[j] * y[j]
		}
	}
	return out
}
