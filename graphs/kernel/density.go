package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
	"privkern/graphs/op"
)

// densityValues bounds the kernel values of a run, 32 MiB.
const densityValues = 1 << 22

// MarginalDensity returns the Gaussian kernel estimate (q×d) of the density of each column of the
// samples (n×d), per unit of that column, at the elements of the same column of at (q×d):
//
//	p_j(x) = 1/n Σ_k φ((x − s_kj)/h)/h
//
// with the standard normal density φ and the bandwidth h, in the unit of the samples. All columns
// form one batch. It takes ndq exponentials, in float64 on every engine, and holds 4 million of
// them. On the CPU, the bits of an estimate depend only on its x and its column.
func MarginalDensity(ctx context.Context, e *engine.Engine, samples, at *mat.Dense,
	bandwidth float64) (*mat.Dense, error) {
	rate, scale := 1/(2*bandwidth*bandwidth), 1/(math.Sqrt(2*math.Pi)*bandwidth)
	if !(rate > 0) || math.IsInf(rate, 0) || bandwidth < 0 {
		return nil, fmt.Errorf("density: the bandwidth is %g; it must be positive, and its square a number of double "+
			"precision", bandwidth)
	}
	if err := finite.Matrix("density: the matrix of samples", samples); err != nil {
		return nil, err
	}
	if err := finite.Matrix("density: the matrix of points", at); err != nil {
		return nil, err
	}
	n, d := samples.Dims()
	q, columns := at.Dims()
	if columns != d {
		return nil, fmt.Errorf("density: the points have %d columns, the samples %d; they must be as many", columns, d)
	}
	rows := min(q, max(1, densityValues/(n*d)))
	normal := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: scale, Rate: rate}
	s, err := e.SessionAs(tensor.Float64, densityProgram(d, rows, n, normal))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Pin("samples", engine.TensorOf(transposed(samples, 0, n), d, n, 1)); err != nil {
		return nil, err
	}
	out := mat.NewDense(q, d, nil)
	for first := 0; first < q; first += rows {
		values, err := s.Run(ctx, engine.Values{"at": engine.TensorOf(transposed(at, first, rows), d, rows, 1)})
		if err != nil {
			return nil, err
		}
		p, err := engine.Floats(values["density"])
		if err != nil {
			return nil, err
		}
		for i := range min(rows, q-first) {
			for j := range d {
				out.Set(first+i, j, p[j*rows+i])
			}
		}
	}
	return out, nil
}

// transposed returns rows of a as columns (d×rows), zero after the last row of a.
func transposed(a *mat.Dense, first, rows int) []float64 {
	n, d := a.Dims()
	out := make([]float64, d*rows)
	for i := range min(rows, n-first) {
		for j, v := range a.RawRowView(first + i) {
			out[j*rows+i] = v
		}
	}
	return out
}

// densityProgram computes "density" (d×q×1), the means of the kernel's values between "at"
// (d×q×1) and "samples" (d×n×1).
func densityProgram(d, q, n int, kernel op.Profile) engine.Program {
	return engine.Program{Name: "kernel density", Key: fmt.Sprintf("density %d %d %d %v", d, q, n, kernel),
		Build: func(b *engine.Builder) {
			values := b.Apply(op.Kernel(kernel), b.Tensor("at", d, q, 1), b.Tensor("samples", d, n, 1))
			b.Output("density", b.RowMeans(values))
		}}
}
