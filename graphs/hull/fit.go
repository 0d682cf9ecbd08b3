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

// fit is one machine while it is computed: N samples of p columns, their mean μ, and dim
// principal directions. It belongs to one call.
type fit struct {
	e          *engine.Engine
	index      int        // among the samples of the call
	samples    *mat.Dense // Y, N×p
	centred    *mat.Dense // Y − 1μ, N×p; nil once nothing reads it any more
	n, p, dim  int
	mean       []float64
	directions *mat.Dense // dim×p
	variances  []float64
	scores     *mat.Dense // N×dim, of the samples
	square     float64    // ‖Y‖²_F
	err        error      // why there is no machine
}

// centredBatch returns the centred samples of fits as members of a batch, m×n×p, of which
// their own are parts. They are float64 whatever the engine's element type: a principal
// direction that float32 rounds away would be lost for good, while the layers need no more
// than their scores.
func centredBatch(ctx context.Context, e *engine.Engine, fits []*fit, n int) (*tensor.Dense, error) {
	p := fits[0].p
	data := make([]float64, len(fits)*n*p)
	err := e.ParallelFor(ctx, len(fits), 1, func(i, _ int) error {
		f := fits[i]
		f.mean = columnMeans(f.samples)
		f.centred = mat.NewDense(f.n, p, data[i*n*p:(i*n+f.n)*p])
		f.centreTo(f.centred, f.samples)
		for r := range f.n {
			for _, v := range f.samples.RawRowView(r) {
				f.square += v * v
			}
		}
		return nil
	})
	return engine.TensorOf(data, len(fits), n, p), err
}

// encode computes the scores of the centred samples, of which dim directions were wanted.
// With no direction at all (equal samples) it sets up constant.
func (f *fit) encode(dim int) {
	if len(f.variances) < dim {
		// One text for all machines: there may be thousands.
		f.e.Warn("the covariance of some samples is singular, because they are few or lie in a plane: their machines have "+
			"fewer than %d principal directions", dim)
	}
	if f.directions == nil {
		f.constant()
		return
	}
	f.dim = len(f.variances)
	f.scores = mat.NewDense(f.n, f.dim, nil)
	f.scores.Mul(f.centred, f.directions.T())
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
	fits := []*fit{newFit(e, y, 0)}
	if err := principal(ctx, e, [][]*fit{fits}, dim); err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	if err := fits[0].err; err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	return fits[0].scores, nil
}

// newFit begins the machine of the rows of y.
func newFit(e *engine.Engine, y *mat.Dense, index int) *fit {
	f := &fit{e: e, index: index, samples: y}
	f.n, f.p = y.Dims()
	return f
}

// principal centres the samples of fits, each batch of which has a size class, finds the at
// most dim principal directions, of which all have as many to look for, and the scores.
func principal(ctx context.Context, e *engine.Engine, batches [][]*fit, dim int) error {
	all := make([]*centredFits, len(batches))
	for i, fits := range batches {
		y, err := centredBatch(ctx, e, fits, sizeClass(e, fits[0].n))
		if err != nil {
			return err
		}
		all[i] = &centredFits{fits, y}
	}
	one := batches[0][0]
	if err := directions(ctx, e, all, rank(one.n, one.p, dim)); err != nil {
		return err
	}
	fits := fitsOf(all)
	return e.ParallelFor(ctx, len(fits), 1, func(i, _ int) error {
		if fits[i].err == nil {
			fits[i].encode(dim)
		}
		return nil
	})
}

// rank is the number of principal directions to look for.
func rank(n, p, dim int) int { return min(dim, n-1, p) }

// centre returns y − 1μ.
func (f *fit) centre(y *mat.Dense) *mat.Dense {
	centred := mat.NewDense(f.n, f.p, nil)
	f.centreTo(centred, y)
	return centred
}

// centreTo writes y − 1μ.
func (f *fit) centreTo(to, y *mat.Dense) {
	for i := range f.n {
		row := to.RawRowView(i)
		for j, v := range y.RawRowView(i) {
			row[j] = v - f.mean[j]
		}
	}
}

// constant sets up a machine whose samples are all equal: its kernel does not
// depend on the query, and its image is the sample.
// λ* comes from ‖Y‖, which is that of the samples before centring, so that the fixed
// point exists.
func (f *fit) constant() {
	f.dim, f.variances = 1, []float64{0}
	f.directions = mat.NewDense(1, f.p, nil)
	f.directions.Set(0, 0, 1)
	f.scores = mat.NewDense(f.n, 1, nil)
	f.centred.Zero()
}

// withScores puts the principal scores of the solutions before them:
// [B'Vᵀ, B', b], N×(dim+p+1), and [B'Vᵀ, b], N×(dim+1).
//
// The next layer reads the image through V alone, and V(A(y)−μ) = (B'Vᵀ)ᵀk / bᵀk: with
// the scores of the solutions kept, a layer hands on dim numbers a query and not p.
func (f *fit) withScores(solutions any) (full, scores *tensor.Dense) {
	if data, ok := solutions.([]float64); ok {
		return withScores(f, data)
	}
	return withScores(f, solutions.([]float32))
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
