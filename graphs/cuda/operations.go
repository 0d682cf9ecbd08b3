//go:build gpu && linux

package cuda

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/cu"

	"privkern/graphs/op"
)

// operations queue the operations of package op, by name.
var operations = map[string]func(*task){
	"RowMeans":            rowMeans,
	"CentreSymmetric":     centreSymmetric,
	"Trace":               trace,
	"CholeskyShifted":     choleskyShifted,
	"Cholesky":            cholesky,
	"CholeskyGradient":    choleskyGradient,
	"CholeskySolve":       choleskySolve,
	"TriangularSolve":     triangularSolve,
	"CholeskyLogDet":      choleskyLogDet,
	"ReciprocalCondition": reciprocalCondition,
	"Kernel":              kernelMatrix,
	"KernelSymmetric":     kernelSymmetric,
	"KernelSlope":         kernelSlope,
	"MetricGradient":      metricGradient,
	"Gibbs":               gibbs,
	"GibbsGradient":       gibbsGradient,
	"Eigen":               eigen,
	"Eigenvalues":         eigenvalues,
	"LargestEigen":        largestEigen,
	"PSDPart":             psdPart,
	"PSDPartGradient":     psdGradient,
	"WeightedGram":        weightedGram,
	"QuadraticForms":      quadraticForms,
	"ScaledProduct":       scaledProduct,
	"IdentityPlusGram":    identityPlusGram,
	"Scatter":             scatter,
	"AffineHull":          affineHull,
	"RowDistance":         rowDistance,
	"LogisticScale":       logisticScale,
	"NewtonTarget":        newtonTarget,
	"ScaleRows":           scaleRows,
	"IdentityPlusScaled":  identityPlusScaled,
	"Solve":               solve,
	"LogDet":              logDet,
	"Inverse":             inverse,
	"RidgeSolve":          ridgeSolve,
	"RidgeNorm":           ridgeNorm,
	"RidgeGramNorm":       ridgeGramNorm,
}

// params returns the operation's parameters.
func params[T any](t *task) T { return t.op.(op.Op).Params().(T) }

// cuOffset is the address of an element.
func cuOffset(index, elem int) cu.DevicePtr { return cu.DevicePtr(index * elem) }

// --- rows, diagonals -------------------------------------------------------------

func rowMeans(t *task) {
	a := t.in[0]
	t.launch("sum_rows", rows(a.rows), a, a.rows, a.cols, 1/float64(a.cols), t.out)
}

func centreSymmetric(t *task) {
	n := t.in[0].rows
	t.launch("centre_symmetric", rows(n), t.in[0], t.in[1], n, t.out)
}

func trace(t *task) { t.launch("sum_diagonal", one, t.in[0], t.in[0].rows, false, t.out) }

func rowDistance(t *task) {
	a := t.in[0]
	t.launch("row_distance", rows(a.rows), a, t.in[1], a.rows, a.cols, params[int](t), t.out)
}

func scaleRows(t *task) {
	t.launch("scale", each(t.out.size()), t.in[1], t.in[0], t.out, t.out.rows, t.out.cols, false)
}

// --- factors and what is solved with them ------------------------------------------

func cholesky(t *task)        { t.factor(t.in[0], 0, t.out) }
func choleskyShifted(t *task) { t.factor(t.in[0], t.in[1].at, t.out) }

func choleskySolve(t *task) {
	t.copy(t.out, t.in[1])
	t.substitute(t.in[0], t.out)
}

func triangularSolve(t *task) {
	t.copy(t.out, t.in[1])
	t.trsm(blas.Left, blas.NoTrans, t.out.rows, t.out.cols, t.in[0], t.out)
}

func choleskyLogDet(t *task) { t.launch("sum_diagonal", one, t.in[0], t.in[0].rows, true, t.out) }

// reciprocalCondition makes all steps that the search could need; those after
// its end do nothing. So the host need not ask.
func reciprocalCondition(t *task) {
	a, l := t.in[0], t.in[1]
	n := a.rows
	x, signs, state := t.matrix(n, 1), t.matrix(n, 1), t.doubles(4)
	g := rows(min(n, 256))
	parts := t.doubles(g.blocks)
	t.launch("row_norm_parts", g, a, n, parts)
	t.launch("condition_begin", one, x, signs, state, n)
	const searches = 4 // LAPACK's limit
	for range searches {
		t.substituteVector(l, x)
		t.launch("condition_signs", one, x, signs, state, n)
		t.substituteVector(l, x)
		t.launch("condition_unit", one, x, state, n)
	}
	t.substituteVector(l, x)
	t.launch("condition_signs", one, x, signs, state, n)
	t.launch("condition_alternate", one, x, n)
	t.substituteVector(l, x)
	t.launch("condition_end", one, x, state, parts, g.blocks, n, t.out)
}

func choleskyGradient(t *task) {
	l, n := t.in[0], t.in[0].rows
	lower := t.matrix(n, n)
	t.launch("lower_shifted", each(n*n), t.in[1], 0, n, lower)
	t.gemm(blas.Trans, blas.NoTrans, n, n, n, 1, l, lower, t.out)
	t.launch("halve_diagonal", each(n*n), t.out, n)
	t.trsm(blas.Left, blas.Trans, n, n, l, t.out)
	t.trsm(blas.Right, blas.NoTrans, n, n, l, t.out)
	t.launch("symmetrise", each(n*n), t.out, n)
}

func solve(t *task) {
	n := t.in[0].rows
	l := t.matrix(n, n)
	t.factor(t.in[0], 0, l)
	t.copy(t.out, t.in[1])
	t.substitute(l, t.out)
}

func logDet(t *task) {
	n := t.in[0].rows
	l := t.matrix(n, n)
	t.factor(t.in[0], 0, l)
	t.launch("sum_diagonal", one, l, n, true, t.out)
}

func inverse(t *task) {
	n := t.in[0].rows
	l, inv := t.matrix(n, n), t.matrix(n, n)
	t.factor(t.in[0], 0, l)
	t.launch("identity", each(n*n), n, inv)
	t.trsm(blas.Left, blas.NoTrans, n, n, l, inv)
	t.syrk(blas.Upper, blas.Trans, n, n, 1, inv, t.out)
	t.mirror(t.out)
}

func ridgeSolve(t *task) {
	n := t.in[0].rows
	l := t.matrix(n, n)
	t.factor(t.in[0], t.in[1].at, l)
	t.copy(t.out, t.in[2])
	t.substitute(l, t.out)
}

func ridgeNorm(t *task) {
	b := t.in[0]
	g := each(b.size())
	parts := t.doubles(g.blocks)
	t.launch("sum_ridge", g, b, t.in[1], b.rows, b.cols, parts)
	t.total(parts, g.blocks, t.out)
}

// ridgeGramNorm is ⟨L⁻¹GL⁻ᵀ, L⁻¹L⁻ᵀ⟩, as on the host.
func ridgeGramNorm(t *task) {
	n := t.in[0].rows
	l, g, inv, p := t.matrix(n, n), t.matrix(n, n), t.matrix(n, n), t.matrix(n, n)
	t.factor(t.in[0], t.in[1].at, l)
	t.copy(g, t.in[2])
	t.trsm(blas.Left, blas.NoTrans, n, n, l, g)
	t.trsm(blas.Right, blas.Trans, n, n, l, g)
	t.launch("identity", each(n*n), n, inv)
	t.trsm(blas.Left, blas.NoTrans, n, n, l, inv)
	t.syrk(blas.Lower, blas.NoTrans, n, n, 1, inv, p)
	blocks := rows(min(n, 1024))
	parts := t.doubles(blocks.blocks)
	t.launch("sum_lower_products", blocks, g, p, n, parts)
	t.total(parts, blocks.blocks, t.out)
}

// --- spectra -----------------------------------------------------------------------

func eigen(t *task) {
	n := t.in[0].rows
	w, v := t.eigen(t.in[0])
	t.launch("pack_eigen", each(t.out.size()), w, v, n, t.out)
}

func eigenvalues(t *task) {
	first := t.in[0]
	first.rows = 1
	t.copy(t.out, first)
}

func largestEigen(t *task) {
	w, v := t.eigen(t.in[0])
	t.launch("pack_largest", each(t.out.size()), w, v, t.in[0].rows, t.out.rows, t.out)
}

func psdPart(t *task) {
	n := t.in[0].rows
	root := t.matrix(n, n)
	t.launch("positive_part", each(n*n), t.in[1], n, root)
	t.syrk(blas.Upper, blas.NoTrans, n, n, 1, root, t.out)
	t.mirror(t.out)
}

func psdGradient(t *task) {
	n := t.in[1].rows
	v := matrix{t.in[0].at + cuOffset(n, t.elem()), n, n}
	a, s := t.matrix(n, n), t.matrix(n, n)
	t.gemm(blas.Trans, blas.NoTrans, n, n, n, 1, v, t.in[1], a)
	t.gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, v, s)
	t.launch("divided_differences", each(n*n), t.in[0], n, s)
	t.gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, v, s, a)
	t.gemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, v, t.out)
}

// --- Gram matrices -----------------------------------------------------------------

// mirror copies the upper triangle of a square matrix into the lower one.
func (t *task) mirror(a matrix) {
	t.launch("mirror_upper", tiles(a.rows, a.rows, 32, 32, 8), a, a.rows)
}

func weightedGram(t *task) {
	c := t.in[0]
	scaled := t.matrix(c.rows, c.cols)
	t.launch("scale_root", each(c.size()), c, t.in[1], scaled, c.rows, c.cols, t.info())
	t.syrk(blas.Upper, blas.NoTrans, c.rows, c.cols, 1, scaled, t.out)
	t.mirror(t.out)
}

func quadraticForms(t *task) {
	c, g := t.in[0], t.in[1]
	gc := t.matrix(c.rows, c.cols)
	t.gemm(blas.NoTrans, blas.NoTrans, c.rows, c.cols, c.rows, 1, g, c, gc)
	t.launch("dot_columns", columns(c.cols), c, gc, c.rows, c.cols, t.out)
}

func scaledProduct(t *task) {
	g, c := t.in[0], t.in[1]
	gc := t.matrix(c.rows, c.cols)
	t.gemm(blas.NoTrans, blas.NoTrans, c.rows, c.cols, c.rows, 1, g, c, gc)
	t.launch("scale", each(c.size()), gc, t.in[2], t.out, c.rows, c.cols, true)
}

func identityPlusGram(t *task) {
	x := t.in[0]
	t.syrk(blas.Upper, blas.Trans, x.cols, x.rows, 1, x, t.out)
	t.launch("add_identity", each(x.cols), t.out, x.cols)
	t.mirror(t.out)
}

func scatter(t *task) {
	p, a := params[op.ScatterParams](t), t.in[0]
	if p.Rows {
		t.syrk(blas.Upper, blas.NoTrans, a.rows, a.cols, p.Scale, a, t.out)
	} else {
		t.syrk(blas.Upper, blas.Trans, a.cols, a.rows, p.Scale, a, t.out)
	}
	t.mirror(t.out)
}

// --- Laplace approximation -----------------------------------------------------------

func logisticScale(t *task) {
	n := t.in[0].rows
	t.launch("logistic_scale", each(n), t.in[0], t.in[1], n, t.out, t.info())
}

func newtonTarget(t *task) {
	y := t.in[2]
	t.launch("newton_target", each(y.size()), t.in[0], t.in[1], y, y.rows, y.cols, t.out)
}

func identityPlusScaled(t *task) {
	n := t.in[0].rows
	t.launch("identity_plus_scaled", each(n*n), t.in[0], t.in[1], n, t.out)
}

// --- pairs ---------------------------------------------------------------------------

func kernelMatrix(t *task)    { t.pairs(t.in[0], t.in[1], false, params[op.Profile](t), false, t.out) }
func kernelSymmetric(t *task) { t.pairs(t.in[0], t.in[0], true, params[op.Profile](t), false, t.out) }

func kernelSlope(t *task) {
	t.pairs(t.in[0], t.in[1], false, params[op.Profile](t), true, t.out)
	t.launch("multiply", each(t.out.size()), t.out, 1, t.in[2], 1, t.out, t.out.size())
}

// directDims is the number of dimensions up to which squared distances are
// computed term by term, as on the host.
const directDims = 8

// Where less than this share of the squared norms is left, a distance is
// computed term by term, as on the host.
const (
	near64 = 1e-4
	near32 = 2e-2
)

// pairs computes a profile, or its slope, over all pairs of rows.
func (t *task) pairs(x, y matrix, symmetric bool, p op.Profile, slope bool, out matrix) {
	n, m, d := x.rows, y.rows, x.cols
	profile := []any{int(p.Form), slope, p.Scale, p.Rate, p.Offset, p.Degree}
	with := func(args ...any) []any { return append(args, profile...) }
	direct := ""
	switch {
	case p.Metric == op.Manhattan:
		direct = "direct_manhattan"
	case p.Metric == op.SquaredEuclidean && d <= directDims:
		direct = "direct_squared"
	}
	if direct != "" {
		t.launch(direct, tiles(n, m, 64, 16, 16), with(x, y, n, m, d, symmetric, out)...)
		return
	}
	alpha, xx, yy := 1.0, matrix{}, matrix{}
	if p.Metric == op.SquaredEuclidean {
		// The centre of X moves to the origin: distances stay, and fewer pairs
		// lose their digits in the product formula.
		alpha = -2
		centre := t.doubles(d)
		t.launch("column_means", columns(d), x, n, d, centre)
		x, xx = t.shifted(x, centre)
		if symmetric {
			y, yy = x, xx
		} else {
			y, yy = t.shifted(y, centre)
		}
	}
	if symmetric {
		t.syrk(blas.Upper, blas.NoTrans, n, d, alpha, x, out)
	} else {
		t.gemm(blas.NoTrans, blas.Trans, n, m, d, alpha, x, y, out)
	}
	if p.Metric == op.SquaredEuclidean {
		near := near64
		if t.single() {
			near = near32
		}
		t.launch("finish_squared", each(n*m), with(x, y, xx, yy, n, m, d, near, symmetric, out)...)
	} else {
		t.launch("finish_product", each(n*m), with(n, m, symmetric, out)...)
	}
	if symmetric {
		t.mirror(out)
	}
}

func (t *task) shifted(a matrix, centre cu.DevicePtr) (shifted, norms matrix) {
	shifted, norms = t.matrix(a.rows, a.cols), t.matrix(a.rows, 1)
	t.launch("shift_rows", rows(a.rows), a, centre, a.rows, a.cols, shifted, norms)
	return shifted, norms
}

// lanes is how many dimensions a block of a gradient works on at a time.
func lanes(d int) int {
	w := 1
	for w < d && w < 32 {
		w *= 2
	}
	return w
}

func metricGradient(t *task) {
	x, y, w, m := t.in[0], t.in[1], t.in[2], params[op.Metric](t)
	if m == op.InnerProduct {
		t.gemm(blas.NoTrans, blas.NoTrans, x.rows, x.cols, y.rows, 1, w, y, t.out)
		return
	}
	t.launch("metric_gradient", rows(x.rows), x, y, w, x.rows, y.rows, x.cols, lanes(x.cols), m == op.Manhattan, t.out)
}

func gibbs(t *task) {
	x, y := t.in[0], t.in[1]
	t.launch("gibbs", tiles(x.rows, y.rows, 16, 16, 16), x, y, t.in[2], t.in[3], x.rows, y.rows, x.cols, params[op.GibbsParams](t).Variance, t.out)
}

func gibbsGradient(t *task) {
	x, y := t.in[0], t.in[1]
	t.launch("gibbs_gradient", rows(x.rows), x, y, t.in[2], t.in[3], t.in[4], x.rows, y.rows, x.cols, lanes(x.cols),
		params[op.GibbsParams](t).ByLengthscale, t.out)
}

// --- affine hulls --------------------------------------------------------------------

const (
	// hullBytes bounds the kernel values that are held at a time. It must not
	// depend on the memory that is free: cuBLAS may sum in another order for
	// another number of queries.
	hullBytes = 32 << 20
	// Shares of a bound below which a sum of memberships may be rounding, as on
	// the host.
	hullSafety64 = 1e-10
	hullSafety32 = 1e-4
)

// affineHull works on a part of the queries at a time: two products with
// everything between them in place.
func affineHull(t *task) {
	z, x, w, b := t.in[0], t.in[1], t.in[2], t.in[3]
	n, d := x.rows, x.cols
	share := hullSafety64
	if t.single() {
		share = hullSafety32
	}
	safety, half := t.doubles(1), t.matrix(n, 1)
	t.launch("hull_safety", one, b, n, b.cols, share, safety)
	t.launch("half_squares", rows(n), x, n, d, half)
	tile := min(z.rows, max(1, hullBytes/(n*t.elem())))
	u, k, a := t.matrix(tile, d), t.matrix(tile, n), t.matrix(tile, b.cols)
	for lo := 0; lo < z.rows && t.err == nil; lo += tile {
		q := min(tile, z.rows-lo)
		queries := z
		queries.at += cuOffset(lo*z.cols, t.elem())
		out := t.out.at + cuOffset(lo*t.out.cols, t.elem())
		t.launch("hull_queries", each(q*d), queries, w, q, z.cols, d, u)
		t.gemm(blas.NoTrans, blas.Trans, q, n, d, 1, u, x, k)
		t.launch("hull_exponentials", rows(q), k, half, q, n)
		t.gemm(blas.NoTrans, blas.NoTrans, q, b.cols, n, 1, k, b, a)
		t.launch("hull_normalise", each(q*z.cols), a, safety, q, z.cols, out)
	}
}
