package cloak

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Linear is the map from the outputs at N training inputs to the predictions at P test inputs: the cloaking matrix
// (P×N) or, where many inputs allow one of low rank, its factors.
type Linear struct {
	Matrix  *mat.Dense
	Factors *design.Factors
}

// Times returns the predictions (P) from outputs less their prior mean (N).
func (l *Linear) Times(y []float64) []float64 {
	if l.Factors != nil {
		return l.Factors.Times(y)
	}
	return product(l.Matrix, y)
}

// matrixRows is the most training inputs, repeated ones included, that a matrix is formed for by the sparse method, of
// [MaxPoints] predictions.
const matrixRows = 10_000

// Linear returns the map and, for judged, the variances of [Model.Posterior] (P). Above [design.FewColumns] different
// training inputs it has factors, those of the sparse method, which takes O((U + P)M²) operations then, or those of
// [Model.lowRank]; so has the sparse method of fewer where the matrix would be large.
func (m *Model) Linear(e *engine.Engine, train, test *mat.Dense, judged bool) (l Linear, variance []float64,
	err error) {
	g := Group(train)
	var explained []float64
	p, _ := test.Dims()
	large := m.Method == Sparse && (len(g.Of) > matrixRows || p > MaxPoints)
	switch {
	case len(g.Count) <= design.FewColumns && !large:
	case m.Method == Sparse:
		l.Factors, explained, err = m.sparseFactors(e, g, test, judged)
	case m.Method == Standard && !SinglePrecision(e): // whose rounding has a high rank
		l.Factors, explained, err = m.lowRank(e, g, test)
	}
	switch {
	case err != nil:
		return l, nil, m.failed(err)
	case l.Factors != nil && judged:
		variance, err = m.variance(e, explained, test)
	case l.Factors != nil:
	case judged:
		l.Matrix, variance, err = m.Posterior(e, train, test)
	default:
		l.Matrix, err = m.Matrix(e, train, test)
	}
	return l, variance, err
}

// sparseFactors are those of Eq. (4): (Q⁻¹K_m*)ᵀ and K_mn(Λ + σ²I)⁻¹.
func (m *Model) sparseFactors(e *engine.Engine, g Groups, test *mat.Dense, judged bool) (f *design.Factors,
	explained []float64, err error) {
	s, err := m.system(e, g)
	if err != nil {
		return nil, nil, err
	}
	p, d := test.Dims()
	inducing, _ := s.q.Dims()
	f = &design.Factors{Left: mat.NewDense(p, inducing, nil), Right: s.scaled, Of: g.Of}
	for at := 0; at < p; at += systemBlock {
		part := test.Slice(at, min(at+systemBlock, p), 0, d).(*mat.Dense)
		ksm, x, err := m.posteriorWeights(e, s, part)
		if err != nil {
			return nil, nil, err
		}
		f.Left.Slice(at, min(at+systemBlock, p), 0, inducing).(*mat.Dense).Copy(x.T())
		if judged {
			more, err := m.sparseExplained(e, s, ksm, x)
			if err != nil {
				return nil, nil, err
			}
			explained = append(explained, more...)
		}
	}
	return f, explained, nil
}

// lowRankError bounds the error of a prediction of [Model.lowRank], over √(Σy²) of the outputs y less their prior mean.
const lowRankError = 1e-9

// mostColumns is the most columns of factors of a kernel matrix: more take as long as solving with the matrix.
const mostColumns = 1000

// lowRank factors the cloaking matrix of the standard method where its kernel matrix has a low rank: the kernel
// matrix of training (U) and test inputs (P) together is GGᵀ + E, G (k columns) by Cholesky's method with pivots, E
// positive semidefinite. With G_u and G_* the rows of the two, and counts D,
//
//	C = K_*u(DK_uu + σ²I)⁻¹ = G_*(σ²I + G_uᵀDG_u)⁻¹G_uᵀ
//
// for each training row. With t the trace of E, its training part weighted by D, E moves a prediction by at most
// t/σ²·(1 + √v/σ)·√(Σy²), v the kernel's variance, as no eigenvalue of either system is below σ². The pivots end where
// E is rounding, or there are [mostColumns] or a quarter as many as training inputs; where [lowRankError] is not
// reached then, the factors are nil.
//
// It takes 2(U+P)k² operations, and 8(U+P)k bytes.
func (m *Model) lowRank(e *engine.Engine, g Groups, test *mat.Dense) (f *design.Factors, explained []float64,
	err error) {
	u := len(g.Count)
	p, d := test.Dims()
	both := mat.NewDense(u+p, d, nil)
	both.Stack(g.Rows, test)
	root, err := m.pivoted(e, both, g.Count, min(u/4, mostColumns))
	if root == nil || err != nil {
		return nil, nil, err
	}
	k, _ := root.Dims()
	train, tests := mat.DenseCopyOf(root.Slice(0, k, 0, u)), mat.DenseCopyOf(root.Slice(0, k, u, u+p))
	var system mat.Dense
	weighted := mat.DenseCopyOf(train)
	for i := range k {
		row := weighted.RawRowView(i)
		for j, count := range g.Count {
			row[j] *= count
		}
	}
	system.Mul(train, weighted.T())
	for i := range k {
		system.Set(i, i, system.At(i, i)+m.NoiseVariance)
	}
	x, _, err := linalg.SolveSPD(e, &system, tests)
	if err != nil {
		return nil, nil, err
	}
	// k_** − σ²g_*ᵀ(σ²I + G_uᵀDG_u)⁻¹g_*
	explained = linalg.ColumnProducts(tests, tests)
	for i, v := range linalg.ColumnProducts(tests, x) {
		explained[i] -= m.NoiseVariance * v
	}
	return &design.Factors{Left: mat.DenseCopyOf(x.T()), Right: train, Of: g.Of}, explained, nil
}

// pivoted returns Gᵀ (k×n) of the kernel matrix GGᵀ + E of the rows of x (n×d), of which the first have counts. It is
// nil where more than the given number of columns, or rounding, leave more of the trace than [lowRankError] allows.
func (m *Model) pivoted(e *engine.Engine, x *mat.Dense, count []float64, most int) (*mat.Dense, error) {
	n, d := x.Dims()
	left, err := m.prior(e, x)
	if err != nil {
		return nil, err
	}
	var rows []float64 // of Gᵀ
	for k := 0; ; k++ {
		pivot := floats.MaxIdx(left)
		if rounding := left[pivot] <= 0x1p-48*m.KernelVariance; rounding || k == most {
			trace := 0.0
			for i, v := range left {
				if v = max(0, v); i < len(count) {
					v *= count[i]
				}
				trace += v
			}
			if trace > lowRankError*m.NoiseVariance/(1+math.Sqrt(m.KernelVariance/m.NoiseVariance)) {
				return nil, nil
			}
			return mat.NewDense(k, n, rows), nil
		}
		column, err := m.kernel(e, x.Slice(pivot, pivot+1, 0, d).(*mat.Dense), x)
		if err != nil {
			return nil, err
		}
		next := column.RawRowView(0)
		if k > 0 {
			g := blas64.General{Rows: k, Cols: n, Stride: n, Data: rows}
			at := blas64.Vector{N: k, Inc: n, Data: rows[pivot:]}
			blas64.Gemv(blas.Trans, -1, g, at, 1, blas64.Vector{N: n, Inc: 1, Data: next})
		}
		floats.Scale(1/math.Sqrt(left[pivot]), next)
		for i, v := range next {
			left[i] -= v * v
		}
		left[pivot] = 0
		rows = append(rows, next...)
	}
}

// SolveLinear is [SolveDesigns] for maps from outputs. Their factors, which are large, are spent.
func SolveLinear(ctx context.Context, w *Work, all []Linear) ([]*design.Range, []*design.Design, error) {
	matrices, ranges := make([]*mat.Dense, 0, len(all)), make([]*design.Range, len(all))
	for i, l := range all {
		if l.Factors == nil {
			matrices = append(matrices, l.Matrix)
			continue
		}
		var err error
		l.Factors.Spent = true
		ranges[i], err = design.WhitenFactors(ctx, w.Engine, l.Factors, w.Directions(), RankTolerance(w.Engine))
		if err != nil {
			return nil, nil, InBatch(err, i, len(all))
		}
		*l.Factors = design.Factors{}
	}
	if len(matrices) == len(all) {
		return SolveDesigns(ctx, w, matrices)
	}
	for i, l := range all { // whose training sets are large
		if l.Factors == nil {
			found, err := design.Whiten(ctx, w.Engine, []*mat.Dense{l.Matrix}, w.Directions(), RankTolerance(w.Engine))
			if err != nil {
				return nil, nil, InBatch(err, i, len(all))
			}
			ranges[i] = found[0]
		}
	}
	designs, err := SolveRanges(ctx, w, ranges)
	return ranges, designs, err
}
