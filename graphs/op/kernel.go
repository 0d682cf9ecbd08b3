package op

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/simd/vector"
)

// Profile is a kernel of pairs of points, a [Form] over a [Metric]: see [kernels.Profile].
type Profile = kernels.Profile

// Metric is the number that a kernel of a pair of points depends on.
type Metric = kernels.Metric

// Form is the shape of a kernel as a function of its metric.
type Form = kernels.Form

// The metrics and the forms.
const (
	SquaredEuclidean = kernels.SquaredEuclidean
	Manhattan        = kernels.Manhattan
	InnerProduct     = kernels.InnerProduct

	Exponential = kernels.ExponentialForm
	Matern12    = kernels.Matern12Form
	Matern32    = kernels.Matern32Form
	Matern52    = kernels.Matern52Form
	Power       = kernels.PowerForm
	Tanh        = kernels.TanhForm
)

// Kernel is the fused operation (X, Y) → K, K_ij = k(x_i, y_j): X is n×d, Y is
// m×d, K is n×m.
//
// The distances are turned into kernel values tile by tile, where they were computed, so
// that the n×m matrix is written once and no other one exists. The derivative is two
// operations, by the chain rule: W = G ∘ ∂k/∂s (kernelSlope) and Σ_j W_ij ∂s/∂x_i
// (metricGradient).
func Kernel(p Profile) Op {
	return Op{def: &definition{
		name: "Kernel(" + p.String() + ")", in: []int{2, 2}, out: 2, shape: pairs,
		run64:  kernelMatrix[float64](p, false),
		run32:  kernelMatrix[float32](p, false),
		launch: func(t Stream) { pairwiseOn(t, p, t.In(0), t.In(1), false) },
		diff:   []bool{true, true},
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			w := f.apply(kernelSlope(p), in[0], in[1], grad)
			wT := f.transpose(w)
			dx := f.apply(metricGradient(p.Metric), in[0], in[1], w)
			dy := f.apply(metricGradient(p.Metric), in[1], in[0], wT)
			return gorgonia.Nodes{dx, dy}
		},
		cases: func(s *sampler) (cases []Case) {
			eachProfile(s, func(name string, p Profile, x, y Operand) {
				cases = append(cases, applied("Kernel "+name, Kernel(p), 10, x, y),
					derived("Kernel, derivative "+name, Kernel(p), 0, 300, x, y))
			})
			eq := Profile{Metric: SquaredEuclidean, Form: Exponential, Scale: 1, Rate: .1}
			// On the host more than one tile in each direction.
			return append(cases, applied("Kernel, many points", Kernel(eq), 10, s.normal(70, 20), s.normal(300, 20)))
		},
	}}
}

// KernelSymmetric is the fused operation X → K, K_ij = k(x_i, x_j). K is
// exactly symmetric, and its diagonal is exactly k(x, x) where the metric is a
// distance.
// X is n×d, K is n×n; half of the distances and exponentials of Kernel.
func KernelSymmetric(p Profile) Op {
	return Op{def: &definition{
		name: "KernelSymmetric(" + p.String() + ")", in: []int{2}, out: 2,
		shape:  func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][0], in[0][0]}, nil },
		run64:  kernelMatrix[float64](p, true),
		run32:  kernelMatrix[float32](p, true),
		launch: func(t Stream) { pairwiseOn(t, p, t.In(0), t.In(0), true) },
		diff:   []bool{true},
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			twice := p
			twice.Scale *= 2
			w := f.apply(symmetricPart(), f.apply(kernelSlope(twice), in[0], in[0], grad)) // x_i enters row i and column i
			return gorgonia.Nodes{f.apply(metricGradient(p.Metric), in[0], in[0], w)}
		},
		cases: func(s *sampler) (cases []Case) {
			eachProfile(s, func(name string, p Profile, x, y Operand) {
				cases = append(cases, applied("KernelSymmetric "+name, KernelSymmetric(p), 10, y),
					derived("KernelSymmetric, derivative "+name, KernelSymmetric(p), 0, 1000, x))
			})
			return cases
		},
	}}
}

// eachProfile calls f for every form, over every metric that it is used with, on
// points x and y of few and many dimensions.
func eachProfile(s *sampler, f func(name string, p Profile, x, y Operand)) {
	for _, d := range []int{3, 8, 30, 90} {
		x, y := s.normal(small, d), s.normal(71, d)
		for _, p := range []Profile{
			{Metric: SquaredEuclidean, Form: Exponential, Scale: 1.5, Rate: 0.5 / float64(d)},
			{Metric: Manhattan, Form: Exponential, Scale: 1, Rate: 0.3 / float64(d)},
			{Metric: SquaredEuclidean, Form: Matern12, Scale: 1, Rate: 0.4},
			{Metric: SquaredEuclidean, Form: Matern32, Scale: 1.2, Rate: 0.4},
			{Metric: SquaredEuclidean, Form: Matern52, Scale: 1, Rate: 0.4},
			{Metric: InnerProduct, Form: Power, Scale: 1, Rate: 1 / float64(d), Offset: 1, Degree: 3},
			{Metric: InnerProduct, Form: Tanh, Scale: 1, Rate: 1 / float64(d), Offset: 0.1},
		} {
			f(fmt.Sprintf("%v %v %d", p.Metric, p.Form, d), p, x, y)
		}
	}
}

// kernelMatrix returns the CPU kernel of Kernel, or with symmetric set of KernelSymmetric,
// whose only operand is X and Y.
func kernelMatrix[T cpublas.Float](p Profile, symmetric bool) func(call[T]) error {
	return func(c call[T]) error {
		x, y := c.in[0], c.in[len(c.in)-1]
		return pairwise(c.pool, p.Metric, x, y, symmetric, c.out, func(_, _ int, row []T) { applyForm(p, row) })
	}
}

// pairwiseOn computes a profile, or its slope, over all pairs of rows of x and y.
// With symmetric set, y is x.
func pairwiseOn(t Stream, p Profile, x, y kernels.Matrix, symmetric bool) {
	n, m, d, out := x.Rows, y.Rows, x.Cols, t.Out()
	switch {
	case p.Metric == Manhattan:
		t.Launch(kernels.DirectManhattan{X: x, Y: y, N: n, M: m, D: d, Symmetric: symmetric, Out: out, Profile: p})
		return
	case p.Metric == SquaredEuclidean && d <= directDims:
		t.Launch(kernels.DirectSquared{X: x, Y: y, N: n, M: m, D: d, Symmetric: symmetric, Out: out, Profile: p})
		return
	}
	alpha := 1.0
	var xx, yy kernels.Matrix // squared norms
	if p.Metric == SquaredEuclidean {
		// The centre of X moves to the origin: distances stay, and fewer pairs
		// lose their digits in the product formula.
		alpha = -2
		centre := t.Doubles(d)
		sumColumnsOn(t, kernels.SumColumns{A: x, Divisor: float64(n), Parts: centre})
		x, xx = shiftedOn(t, x, centre)
		if symmetric {
			y, yy = x, xx
		} else {
			y, yy = shiftedOn(t, y, centre)
		}
	}
	if symmetric {
		t.Syrk(blas.Upper, blas.NoTrans, n, d, alpha, x, out)
	} else {
		t.Gemm(blas.NoTrans, blas.Trans, n, m, d, alpha, x, y, out)
	}
	if p.Metric == SquaredEuclidean {
		t.Launch(kernels.FinishSquared{X: x, Y: y, XX: xx, YY: yy, N: n, M: m, D: d, Near: near(t.Single()),
			Symmetric: symmetric, Out: out, Profile: p})
	} else {
		t.Launch(kernels.FinishProduct{N: n, M: m, Symmetric: symmetric, Out: out, Profile: p})
	}
	if symmetric {
		mirrorOn(t, out)
	}
}

// shiftedOn is A without the centre, and the squared norms of its rows.
func shiftedOn(t Stream, a kernels.Matrix, centre kernels.Doubles) (shifted, norms kernels.Matrix) {
	shifted, norms = t.Scratch(a.Rows, a.Cols), t.Scratch(a.Rows, 1)
	t.Launch(kernels.ShiftRows{A: a, Mean: centre, Rows: a.Rows, Cols: a.Cols, Out: shifted, Norms: norms})
	return shifted, norms
}

// applyForm overwrites metrics by kernel values, in the element type. Values of the
// exponential forms below the smallest normal number are zero: as denormal numbers they would
// slow down every product with the matrix.
func applyForm[T cpublas.Float](p Profile, row []T) {
	scale, rate := T(p.Scale), T(p.Rate)
	switch p.Form {
	case Exponential:
		vector.ScaledExp(row, row, 0, -rate, scale)
	case Matern12:
		vector.RootExp(row, row, -rate, scale, 0, 0)
	case Matern32: // The polynomials are those of −u.
		vector.RootExp(row, row, -rate, scale, -scale, 0)
	case Matern52:
		vector.RootExp(row, row, -rate, scale, -scale, T(p.Scale/3))
	case Power:
		for i, s := range row {
			row[i] = scale * power(vector.Product(rate, s)+T(p.Offset), p.Degree)
		}
	case Tanh:
		tanhOf(p, row)
		vector.Scal(row, scale, row)
	}
}

// tanhOf overwrites metrics s by tanh(Rate·s + Offset).
func tanhOf[T cpublas.Float](p Profile, row []T) {
	rate, offset := T(p.Rate), T(p.Offset)
	for i, s := range row {
		row[i] = vector.Product(rate, s) + offset
	}
	vector.Tanh(row, row)
}

// power is b^n for n ≥ 0 by repeated squaring.
func power[T cpublas.Float](b T, n int) T {
	r := T(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= b
		}
		b *= b
	}
	return r
}
