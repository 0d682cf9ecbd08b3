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

// fit is the state of one machine while it is computed: N samples of p columns, their mean μ, and
// dim principal directions.
type fit struct {
	e          *engine.Engine
	index      int        // among the samples of the call
	samples    *mat.Dense // Y, N×p; nil once it has been read
	centred    *mat.Dense // Y−1μ, N×p; nil once it has been read
	n, p, dim  int
	mean       []float64  // μ, p
	directions *mat.Dense // V, dim×p, orthonormal rows
	variances  []float64  // θ, dim, descending
	scores     *mat.Dense // (Y−1μ)Vᵀ, N×dim
	square     float64    // ‖Y‖²_F
	found      []*fixedPoint
	// The result: a machine or a model, or the reason why there is none.
	machine *Machine
	model   *SmoothModel
	err     error
}

// newFit returns the fit of y (N×p) outside of a call.
func newFit(e *engine.Engine, y *mat.Dense) *fit {
	f := &fit{e: e, samples: y}
	f.n, f.p = y.Dims()
	return f
}

// PrincipalScores returns the scores of the rows of y (N×p) on their dim leading principal
// directions, N×dim; with fewer columns, but at least one, where the covariance has a smaller
// rank. They are the coordinates in which a machine sees its samples. The errors are those of Fit
// for a machine of one layer.
func PrincipalScores(ctx context.Context, e *engine.Engine, y *mat.Dense, dim int) (*mat.Dense, error) {
	err := check(y, Options{Dim: dim, Layers: 1})
	if err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	f := newFit(e, y)
	if err = principal(ctx, e, [][]*fit{{f}}, dim); err == nil {
		err = f.err
	}
	if err != nil {
		return nil, fmt.Errorf("principal scores: %w", err)
	}
	f.encode(dim)
	return f.scores, nil
}

// principal finds the mean and at most dim principal directions of fits in batches. The samples of
// a batch are of one size class, and all batches have equal numbers of directions to look for.
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
	return directions(ctx, e, all, rank(one.n, one.p, dim))
}

// rank is the number of principal directions to look for.
func rank(n, p, dim int) int { return min(dim, n-1, p) }

// centredBatch returns the centred samples of fits, m×n×p, of which f.centred are views. They are
// float64 for every element type of the engine, because a principal direction that float32 rounds
// away would be lost, while the layers need no more than float32 scores.
func centredBatch(ctx context.Context, e *engine.Engine, fits []*fit, n int) (*tensor.Dense, error) {
	p := fits[0].p
	data := make([]float64, len(fits)*n*p)
	err := e.ParallelFor(ctx, len(fits), 1, func(i, _ int) error {
		f := fits[i]
		f.mean = columnMeans(f.samples)
		f.centred = mat.NewDense(f.n, p, data[i*n*p:(i*n+f.n)*p])
		for r := range f.n {
			to := f.centred.RawRowView(r)
			for j, v := range f.samples.RawRowView(r) {
				to[j] = v - f.mean[j]
				f.square += v * v
			}
		}
		return nil
	})
	return engine.TensorOf(data, len(fits), n, p), err
}

// columnMeans returns the mean of the rows of y, of length p, summed in the order of rows.
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

// encode computes the scores of the centred samples, and warns where there are fewer than dim
// directions.
//
// Without any direction (equal samples), the kernel is constant and the image is the sample. λ* is
// positive all the same, because ‖Y‖ is that of the samples before centring.
func (f *fit) encode(dim int) {
	if len(f.variances) < dim {
		// The same text for all machines, because there may be thousands.
		f.e.Warn("the covariance of some samples is singular, because they are few or lie in a plane: their machines have "+
			"fewer than %d principal directions", dim)
	}
	if f.directions == nil {
		f.dim, f.variances = 1, []float64{0}
		f.directions = mat.NewDense(1, f.p, nil)
		f.directions.Set(0, 0, 1)
		f.scores = mat.NewDense(f.n, 1, nil)
		f.centred.Zero()
		return
	}
	f.dim = len(f.variances)
	f.scores = mat.NewDense(f.n, f.dim, nil)
	f.scores.Mul(f.centred, f.directions.T())
}

// addLayers turns the solutions of layers into layers of the group's machines.
func addLayers(g *group, layers []*solved) error {
	for _, one := range layers {
		err := g.each(func(i int, f *fit) {
			if f.machine == nil {
				f.machine = &Machine{samples: f.n, columns: f.p, mean: f.mean, directions: f.directions, variances: f.variances}
			}
			fixed := one.fixed[i]
			solutions, scores := f.withScores(one.solutions[i])
			one.solutions[i] = nil
			f.machine.layers = append(f.machine.layers, layer{
				points: g.e.Tensor(one.points[i]), weights: g.e.Tensor(one.weights[i]), solutions: solutions,
				scores: scores, lambda: fixed.lambda(), iterations: fixed.evaluations,
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withScores returns the solutions [B', b] of a layer with their principal scores:
// [B'Vᵀ, B', b], N×(dim+p+1), and [B'Vᵀ, b], N×(dim+1).
//
// The next layer reads the image through V alone, and V(A(y)−μ) = (B'Vᵀ)ᵀk / bᵀk. With the scores
// of the solutions, a layer passes dim numbers on per query instead of p.
func (f *fit) withScores(solutions any) (full, scores *tensor.Dense) {
	if data, ok := solutions.([]float64); ok {
		return withScores(f, data)
	}
	return withScores(f, solutions.([]float32))
}

// The product takes 2·N·p·dim operations.
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

// convert returns a in another precision, and a itself where it has that precision.
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
