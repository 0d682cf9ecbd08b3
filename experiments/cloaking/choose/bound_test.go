package choose

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
)

// Table 2 has errors of 14.52 to 14.72 cm at lengthscale 625 and a ratio of variances of 25. The noise of Hall et al.
// (2013) has no expectation as low with any design, so that none of these is the mean of many draws: the ledger has
// one.
func TestNoDesignExpectsTheLowestErrorsOfTable2(t *testing.T) {
	s := openSelector(t, cloaktest.RealCensus(t), oneOf(625, 1, 25), asPublished)
	sets, least := s.rowSets(), 0.0
	err := s.predict(t.Context(), sets, func(_ int, p *noisyPredictions) error {
		out, err := s.evaluate(sets, p)
		least = out.squares
		for i := range s.folds {
			least += s.scale * s.scale * leastTrace(t, p.matrices[i])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.d * math.Sqrt(least/float64(len(s.rows))); math.Abs(got-15.82) > 0.005 {
		t.Errorf("the least expectation is %v cm, want 15.82", got)
	}
}

// leastTrace returns a lower bound on tr M of all M with cⱼᵀM⁻¹cⱼ ≤ 1, for the columns cⱼ of c (P×N): by duality,
// tr M ≥ (tr S^½)² with S = Σ wⱼcⱼcⱼᵀ and any weights w that sum to one, which multiplicative steps find here.
// Directions of singular values below a millionth of the largest are left out, which lowers it.
func leastTrace(t *testing.T, c *mat.Dense) float64 {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > 1e-6*values[0] {
		rank++
	}
	_, n := c.Dims()
	var v, columns mat.Dense // columns in the basis of the range, which keeps all norms
	svd.VTo(&v)
	columns.Mul(mat.NewDiagDense(rank, values[:rank]), v.Slice(0, n, 0, rank).T())
	weights := make([]float64, n)
	floats.AddConst(1/float64(n), weights)
	trace := 0.0 // of S^½
	for range 200 {
		s := mat.NewSymDense(rank, nil)
		for j, w := range weights {
			s.SymRankOne(s, w, columns.ColView(j))
		}
		var e mat.EigenSym
		if !e.Factorize(s, true) {
			t.Fatal("no eigenvalues")
		}
		var q, turned mat.Dense
		e.VectorsTo(&q)
		turned.Mul(q.T(), &columns)
		roots := e.Values(nil)
		for i, x := range roots {
			roots[i] = math.Sqrt(max(x, 1e-300))
		}
		trace = floats.Sum(roots)
		for j := range weights {
			gradient := 0.0
			for i, root := range roots {
				gradient += turned.At(i, j) * turned.At(i, j) / root
			}
			weights[j] *= gradient / trace
		}
		floats.Scale(1/floats.Sum(weights), weights)
	}
	return trace * trace
}
