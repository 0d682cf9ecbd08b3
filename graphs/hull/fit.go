package hull

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
)

// fit is what all layers of a machine share while they are computed: N samples of p
// columns, their mean μ, and dim principal directions. It belongs to one call.
type fit struct {
	e          *engine.Engine
	n, p, dim  int
	mean       []float64
	directions *mat.Dense // dim×p
	variances  []float64
	scores     *mat.Dense    // N×dim, of the samples
	targets    *targets      // Y
	sketch     *targets      // a few random combinations of the columns of Y; nil unless p is large
	gram       *tensor.Dense // YYᵀ, N×N; nil unless p is much larger than N
	square     float64       // ‖Y‖²_F
	iteration  Iteration
	tolerance  float64
}

// gramFactor: with more columns than this many times the number of samples, the
// residual of the fixed point is computed from YYᵀ, in O(N³) instead of O(N²p)
// operations.
// The factor is where the two cost the same: a solve with p right sides takes 2N²p
// operations, [op.RidgeGramNorm] about 4N³.
const gramFactor = 2

// newFit centres the samples and finds their principal directions, in float64
// whatever the engine's element type.
// A principal direction that float32 rounds away would be lost for good, while the
// layers need no more than their scores.
func newFit(ctx context.Context, e *engine.Engine, y *mat.Dense, opts Options) (*fit, error) {
	f := &fit{e: e, mean: columnMeans(y), iteration: opts.Iteration, tolerance: opts.Tolerance}
	f.n, f.p = y.Dims()
	for i := range f.n {
		for _, v := range y.RawRowView(i) {
			f.square += v * v
		}
	}
	centred := f.centre(y)
	if err := f.principal(ctx, centred, opts.Dim); err != nil {
		return nil, err
	}
	f.targets = newTargets(e, centred, mat.NewDense(1, f.p, f.mean))
	if f.p >= sketchFrom && opts.Iteration == Secant {
		f.sketch = f.sketched(centred)
	}
	if f.p > gramFactor*f.n {
		out, err := e.Run(ctx, gramProgram(f.n, f.p), engine.Values{"y": e.Matrix(y)})
		if err != nil {
			return nil, err
		}
		f.gram = out["gram"].(*tensor.Dense)
	}
	return f, nil
}

// principal finds the directions of the machine and the scores of its samples.
// With no direction at all (equal samples) it sets up constant.
func (f *fit) principal(ctx context.Context, centred *mat.Dense, dim int) error {
	if err := f.findPrincipal(ctx, centred, dim); err != nil {
		return err
	}
	if len(f.variances) < dim {
		// One text for all machines: there may be thousands.
		f.e.Warn("the covariance of some samples is singular, because they are few or lie in a plane: their machines have "+
			"fewer than %d principal directions", dim)
	}
	if f.directions == nil {
		f.constant(centred)
		return nil
	}
	f.dim = len(f.variances)
	f.scores = mat.NewDense(f.n, f.dim, nil)
	f.scores.Mul(centred, f.directions.T())
	return nil
}

// PrincipalScores returns the scores of the rows of y (N×p) on their at most dim
// leading principal directions (N×dim, or fewer columns where the covariance has
// a smaller rank, but at least one).
// They are what k-means works on where it is to see the data as the machine does. The
// errors are those of Fit for a machine of one layer.
func PrincipalScores(ctx context.Context, e *engine.Engine, y *mat.Dense, dim int) (*mat.Dense, error) {
	if err := check(y, Options{Dim: dim, Layers: 1}); err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	f := &fit{e: e, mean: columnMeans(y)}
	f.n, f.p = y.Dims()
	if err := f.principal(ctx, f.centre(y), dim); err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	return f.scores, nil
}

// centre returns y − 1μ.
func (f *fit) centre(y *mat.Dense) *mat.Dense {
	centred := mat.NewDense(f.n, f.p, nil)
	for i := range f.n {
		to := centred.RawRowView(i)
		for j, v := range y.RawRowView(i) {
			to[j] = v - f.mean[j]
		}
	}
	return centred
}

// constant sets up a machine whose samples are all equal: its kernel does not
// depend on the query, and its image is the sample.
// λ* comes from ‖Y‖, which is that of the samples before centring, so that the fixed
// point exists.
func (f *fit) constant(centred *mat.Dense) {
	f.dim, f.variances = 1, []float64{0}
	f.directions = mat.NewDense(1, f.p, nil)
	f.directions.Set(0, 0, 1)
	f.scores = mat.NewDense(f.n, 1, nil)
	centred.Zero()
}

// withScores puts the principal scores of the solutions before them:
// [B'Vᵀ, B', b], N×(dim+p+1), and [B'Vᵀ, b], N×(dim+1).
//
// The next layer reads the image through V alone, and V(A(y)−μ) = (B'Vᵀ)ᵀk / bᵀk: with
// the scores of the solutions kept, a layer hands on dim numbers a query and not p.
func (f *fit) withScores(solutions *tensor.Dense) (full, scores *tensor.Dense) {
	if data, ok := engine.Data(solutions).([]float64); ok {
		return withScores(f, data)
	}
	return withScores(f, engine.Data(solutions).([]float32))
}

// The scores take 2·N·p·dim operations once a layer.
func withScores[T cpublas.Float](f *fit, solutions []T) (full, scores *tensor.Dense) {
	cols := f.dim + f.p + 1
	out, few := make([]T, f.n*cols), make([]T, f.n*(f.dim+1))
	for i := range f.n {
		copy(out[i*cols+f.dim:(i+1)*cols], solutions[i*(f.p+1):(i+1)*(f.p+1)])
	}
	v := convert[T](f.directions.RawMatrix().Data)
	cpublas.Gemm(blas.NoTrans, blas.Trans, f.n, f.dim, f.p, 1, solutions, f.p+1, v, f.p, 0, out, cols)
	for i := range f.n {
		row := few[i*(f.dim+1) : (i+1)*(f.dim+1)]
		copy(row, out[i*cols:i*cols+f.dim])
		row[f.dim] = out[(i+1)*cols-1]
	}
	return engine.TensorOf(out, f.n, cols), engine.TensorOf(few, f.n, f.dim+1)
}

// convert returns the elements in the wanted precision, without a copy where
// they have it.
func convert[T, S cpublas.Float](a []S) []T {
	if same, ok := any(a).([]T); ok {
		return same
	}
	b := make([]T, len(a))
	for i, v := range a {
		b[i] = T(v)
	}
	return b
}

// columnMeans is the mean of the rows of y, of length p, summed in the order of rows.
func columnMeans(y *mat.Dense) []float64 {
	n, p := y.Dims()
	mean := make([]float64, p)
	for i := range n {
		for j, v := range y.RawRowView(i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	return mean
}
