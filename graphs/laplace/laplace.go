// Package laplace finds the posterior mode of a binary GP classifier with the logistic likelihood by
// Newton's method, as graph programs: the Laplace approximation of Rasmussen and Williams (2006),
// Section 3.4.
//
// With the prior covariance K of the latent function f at the N training inputs,
// π = 1/(1 + e^−f), and W = diag(π(1 − π)), one step is
//
//	f ← (K⁻¹ + W)⁻¹ b,  b = W f + (y + 1)/2 − π.
//
// It is linear in the labels y: (K⁻¹ + W)⁻¹ y/2 = C y with the cloaking matrix C = ½(K⁻¹ + W)⁻¹
// of Smith, Álvarez and Lawrence (2019), Eq. (6). Hence one run makes a step for many versions of
// the labels, such as draws of a release.
//
// Labels of the same input share a latent value, and N counts different inputs: with n labels at
// an input, its W and π are multiplied by n, and y is the sum of its labels. Each label is an
// output of its own; its column of C is that of its input.
//
// K is never inverted. With a full K, programs factor B = I + W^½KW^½, whose eigenvalues are at least
// one; with a covariance of low rank, K = VVᵀ, they factor I + VᵀWV.
package laplace

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// Model is a GP classifier at fixed training inputs. Its covariance must not change while the
// model is in use. The first method that needs it copies it to the engine's device once; [Modes]
// makes a copy of its own. Methods may be called from several goroutines.
type Model struct {
	e       *engine.Engine
	n       int
	rank    int        // columns of V, 0 for a full covariance
	factors *mat.Dense // K or V
	counts  []float64

	mu   sync.Mutex // guards kept
	kept engine.Values
}

// Close frees the copy on the device, as does closing the engine.
func (m *Model) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.Close()
	m.kept = nil
}

// resident returns K or V and the numbers of labels on the device.
func (m *Model) resident() (engine.Values, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept != nil {
		return m.kept, nil
	}
	kept, err := batch.Keep(m.e, engine.Values{"factors": m.e.Matrix(m.factors), "count": m.e.Column(m.counts)})
	if err != nil {
		return nil, fmt.Errorf("the Laplace approximation: %w", err)
	}
	m.kept = kept
	return kept, nil
}

// Full returns the model with the prior covariance k (N×N, symmetric, positive semidefinite).
// counts (N) holds the number of labels at each input; nil stands for one each.
func Full(e *engine.Engine, k *mat.Dense, counts []float64) (*Model, error) {
	if err := check("the covariance", k); err != nil {
		return nil, err
	}
	n, c := k.Dims()
	if n != c {
		return nil, fmt.Errorf("the Laplace approximation: the covariance is %d×%d, not square", n, c)
	}
	return newModel(e, n, 0, k, counts)
}

// LowRank returns the model with the prior covariance VVᵀ for v (N×M), such as the transposed
// [Features] of the subset of regressors.
func LowRank(e *engine.Engine, v *mat.Dense, counts []float64) (*Model, error) {
	if err := check("the factor of the covariance", v); err != nil {
		return nil, err
	}
	n, m := v.Dims()
	return newModel(e, n, m, v, counts)
}

// newModel checks the counts (n), and returns the model of a factor (n×n, or n×rank).
func newModel(e *engine.Engine, n, rank int, factors *mat.Dense, counts []float64) (*Model, error) {
	if counts == nil {
		counts = slices.Repeat([]float64{1}, n)
	}
	if len(counts) != n {
		return nil, fmt.Errorf("the Laplace approximation: %d counts for %d training inputs", len(counts), n)
	}
	for i, c := range counts {
		if !(c > 0) || math.IsInf(c, 1) {
			return nil, fmt.Errorf("the Laplace approximation: training input %d (counted from 0) has %g labels; a positive "+
				"number is required", i, c)
		}
	}
	return &Model{e: e, n: n, rank: rank, factors: factors, counts: counts}, nil
}

// check returns an error for a matrix that is empty or not finite.
func check(name string, a *mat.Dense) error {
	if err := finite.Matrix(name, a); err != nil {
		return fmt.Errorf("the Laplace approximation: %w", err)
	}
	return nil
}
