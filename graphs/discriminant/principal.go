package discriminant

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// FitPrincipal compresses a kernel to its Q principal components, without labels. With eigenpairs
// (μ, q) of K̄ (N×N), the features are Z = √μ q and the coefficients q/√μ.
//
// It uses only o.Components, at most N−1, and returns an error if K̄ has fewer positive eigenvalues.
func FitPrincipal(ctx context.Context, e *engine.Engine, k kernel.Kernel, x *mat.Dense, o Options) (*Projection,
	error) {
	p, err := fitSpread(ctx, e, k, x, nil, o)
	if err != nil {
		return nil, fmt.Errorf("principal components of kernel %v: %w", k, err)
	}
	return p, nil
}

// FitDesensitised compresses a kernel to the Q directions with the largest ratio of the scatter
// of all samples to the scatter between the classes of the labels, which are those to be hidden.
// It does not use the labels of the task.
//
// Chanyaswad, Chang and Kung name such a compression (Section V-A, "desensitized RDCA") without a
// definition. Here it is the discriminant component analysis of Eq. (6) with the scatter of all
// samples as the signal and the scatter between the classes, K_B, as the noise:
//
//	K̄² a = λ (K_B + ρK̄) a,  aᵀ(K_B + ρK̄)a = 1.
//
// With K_B = K̄UUᵀK̄ and G = ρI + UᵀK̄U, the eigenpairs (μ, q) of
//
//	D = K̄ − K̄U G⁻¹ UᵀK̄
//
// give λ = μ/ρ, Z = √λ q and a = (q − U G⁻¹ UᵀK̄q)/(ρ√λ). For large ρ, D tends to K̄, and the
// directions to the principal components.
//
// It uses o.Ridge and o.Components, at most N−1.
func FitDesensitised(ctx context.Context, e *engine.Engine, k kernel.Kernel, x *mat.Dense, labels []int,
	o Options) (*Projection, error) {
	fail := func(err error) (*Projection, error) {
		return nil, fmt.Errorf("desensitised components of kernel %v: %w", k, err)
	}
	n := 0
	if x != nil {
		n, _ = x.Dims()
	}
	classes, err := checkDesensitised(n, labels, o)
	if err != nil {
		return fail(err)
	}
	p, err := fitSpread(ctx, e, k, x, classes.basis(), o)
	if err != nil {
		return fail(err)
	}
	return p, nil
}

// checkDesensitised returns the classes of the labels of n samples, or an error for those that cannot be hidden.
func checkDesensitised(n int, labels []int, o Options) (*classes, error) {
	classes, err := newClasses(labels)
	switch {
	case err != nil:
		return nil, err
	case len(labels) != n:
		return nil, fmt.Errorf("%d labels for %d samples", len(labels), n)
	case classes.number() < 2:
		return nil, fmt.Errorf("all %d samples are of one class: there is nothing to hide", n)
	case !(o.Ridge > 0) || math.IsInf(o.Ridge, 1):
		return nil, fmt.Errorf("ρ = %g: it must be positive and finite", o.Ridge)
	}
	return classes, nil
}

// spreadTolerance is the share of the trace of the centred kernel matrix below which its
// eigenvalues are treated as zero.
const spreadTolerance = 1e-10

// fitSpread compresses to the directions of the largest eigenvalues of D; u (N×m) is the basis of
// the contrasts to be hidden, or nil. It computes in float64 on every engine, because
// eigenvectors of small eigenvalues are divided by their roots.
func fitSpread(ctx context.Context, e *engine.Engine, k kernel.Kernel, x, u *mat.Dense, o Options) (*Projection,
	error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := checkSamples(x); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	q := o.Components
	if q < 1 || q > n-1 {
		return nil, fmt.Errorf("%d components of %d samples: there are 1 to %d", q, n, n-1)
	}
	m := 0
	inputs := engine.Values{"x": engine.NewMatrix(tensor.Float64, x)}
	if u != nil {
		_, m = u.Dims()
		inputs["u"], inputs["rho"] = engine.NewMatrix(tensor.Float64, u), engine.NewScalar(tensor.Float64, o.Ridge)
	}
	out, err := e.RunAs(ctx, tensor.Float64, spreadProgram(k, n, d, m, q), inputs)
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	pairs, means, trace := r.Dense("pairs"), r.Floats("means"), r.Scalar("trace")
	var gain *mat.Dense
	if u != nil {
		gain = r.Dense("gain")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var hidden *mat.Dense // U G⁻¹ UᵀK̄q, N×Q
	if u != nil {
		hidden = new(mat.Dense)
		hidden.Product(u, gain, pairs.Slice(0, q, 1, n+1).T())
	}
	return spreadProjection(k, x, pairs, hidden, means, trace, o)
}

// spreadProjection scales the eigenvectors, which are the rows of pairs (Q×(N+1)) after their
// eigenvalues.
func spreadProjection(k kernel.Kernel, x, pairs, hidden *mat.Dense, means []float64, trace float64, o Options,
) (*Projection, error) {
	n, _ := x.Dims()
	q, _ := pairs.Dims()
	p := &Projection{kernel: k, points: x, a: mat.NewDense(n, q, nil), shift: make([]float64, q),
		dtype: tensor.Float64, Power: make([]float64, q), Features: mat.NewDense(n, q, nil)}
	ridge := 1.0
	if hidden != nil {
		ridge = o.Ridge
	}
	for c := range q {
		row := pairs.RawRowView(c)
		mu, vector := row[0], row[1:]
		if !(mu > spreadTolerance*trace) {
			return nil, fmt.Errorf("%d components: the samples differ in %d directions only; take fewer components", q, c)
		}
		sign := signOf(vector)
		power := mu / ridge // λ
		p.Power[c] = power
		a := make([]float64, n)
		mean := 0.0
		for i, v := range vector {
			a[i] = v
			if hidden != nil {
				a[i] -= hidden.At(i, c)
			}
			a[i] *= sign / (ridge * math.Sqrt(power))
			mean += a[i] / float64(n) // zero but for rounding
			p.Features.Set(i, c, sign*math.Sqrt(power)*v)
		}
		for i := range a {
			p.a.Set(i, c, a[i]-mean)
			p.shift[c] += means[i] * (a[i] - mean)
		}
	}
	return p, nil
}

// signOf returns the sign that makes the largest element of an eigenvector positive, because
// solvers differ in it, and features are written to files and compared.
func signOf(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	if largest < 0 {
		return -1
	}
	return 1
}

// spreadProgram computes, from the samples "x" (n×d) and, unless m is 0, the basis "u" (n×m) and
// "rho", the q largest eigenpairs of D ("pairs", q×(n+1), see [FitDesensitised]), the "gain"
// G⁻¹UᵀK̄ (m×n), the "means" of the rows of the kernel matrix (n×1), and the "trace" of the
// centred one. The eigenproblem dominates, with about 4n³/3 operations for the tridiagonal form.
func spreadProgram(k kernel.Kernel, n, d, m, q int) engine.Program {
	return engine.Program{Name: "components of spread of kernel " + k.String(),
		Key: fmt.Sprintf("kernel spread %v %d %d %d %d", k, n, d, m, q),
		Build: func(b *engine.Builder) {
			x := b.Input("x", n, d)
			matrix := k.Symmetric(b, x)
			means := b.RowMeans(matrix)
			centred := b.CentreSymmetric(matrix, means) // K̄
			b.Output("means", means)
			b.Output("trace", b.Trace(centred))
			if m == 0 {
				b.Output("pairs", b.LargestEigen(q, centred))
				return
			}
			u, rho := b.Input("u", n, m), b.Scalar("rho")
			image := b.Mul(centred, u) // K̄U, n×m
			// LLᵀ = G
			l := b.Cholesky(b.AddDiagonal(b.Mul(b.Transpose(u), image), rho))
			half := b.TriangularSolve(l, b.Transpose(image)) // L⁻¹UᵀK̄, m×n
			b.Output("gain", b.CholeskySolve(l, b.Transpose(image)))
			b.Output("pairs", b.LargestEigen(q, b.Sub(centred, b.ColumnGram(1, half))))
		}}
}
