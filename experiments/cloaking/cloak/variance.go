package cloak

import (
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

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
	out := linalg.ColumnProducts(ksm, prior)
	for i, v := range linalg.ColumnProducts(ksm, x) {
		out[i] -= v
	}
	return out, nil
}
