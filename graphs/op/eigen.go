package op

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
	"privkern/graphs/spectral"
)

// Eigen is the operation A → E for symmetric n×n A: row 0 of the (n+1)×n E
// holds the eigenvalues in ascending order, and column j of the rows below an
// eigenvector of unit length for the j-th of them. It is computed in float64 for either
// element type. It has no derivative, because eigenvectors of
// repeated eigenvalues are arbitrary; PSDPart has.
func Eigen() Op {
	return Op{def: &definition{
		name: "Eigen", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := square(in); err != nil {
				return nil, err
			}
			return tensor.Shape{in[0][0] + 1, in[0][0]}, nil
		},
		run64: eigen[float64], run32: eigen[float32],
		launch: func(t Stream) {
			w, v := eigenOn(t, t.In(0))
			t.Launch(kernels.PackEigen{W: w, V: v, N: t.In(0).Rows, Out: t.Out()})
		},
		// Functions of the vectors that do not depend on their arbitrary signs.
		cases: func(s *sampler) []Case {
			return []Case{{Name: "Eigen", In: []Operand{s.symmetric(small)}, Condition: 100,
				Graph: func(in gorgonia.Nodes) *gorgonia.Node {
					return gorgonia.Must(PSDPart().Apply(in[0], gorgonia.Must(Eigen().Apply(in[0]))))
				}}}
		},
	}}
}

// eigen is the CPU kernel of Eigen.
func eigen[T cpublas.Float](c call[T]) error {
	w, v, err := symmetricEigen(c.in[0])
	if err != nil {
		return err
	}
	for j, x := range w {
		c.out.data[j] = T(x)
	}
	for i, x := range v {
		c.out.data[len(w)+i] = T(x)
	}
	return nil
}

// symmetricEigen returns the eigenvalues of a symmetric matrix in ascending order, and
// the eigenvectors as columns. It is LAPACK's syev, of a loaded library or of package
// spectral: Householder reflections to tridiagonal form, then divide and conquer (Golub
// and Van Loan, "Matrix Computations", Sections 8.3 and 8.4.4), up to 9n³ operations. The
// error of every eigenvalue is relative to the largest one: the small eigenvalues of a
// kernel matrix whose spectrum decays fast are noise, of either sign. A matrix that is not
// finite fails before it reaches LAPACK.
func symmetricEigen[T cpublas.Float](a matrix[T]) (w, v []float64, err error) {
	n := a.rows
	v, w = make([]float64, n*n), make([]float64, n)
	for i, x := range a.data {
		v[i] = float64(x)
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, nil, &NoConvergenceError{Order: n}
		}
	}
	s := blas64.Symmetric{N: n, Stride: n, Data: v, Uplo: blas.Lower}
	work := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, s, w, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Syev(lapack.EVCompute, s, w, work, len(work)) {
		return nil, nil, &NoConvergenceError{Order: n}
	}
	return w, v, nil
}

// eigenOn returns the eigenvalues of a symmetric matrix in ascending order and its
// eigenvectors as rows, both in double.
// A matrix that is not finite, or no convergence, leaves the failure flag set.
func eigenOn(t Stream, a kernels.Matrix) (w, v kernels.Doubles) {
	n := a.Rows
	w, v = t.Doubles(n), t.Doubles(n*n)
	failed := t.Failure()
	t.Launch(kernels.WidenFinite{A: a, Out: v, N: n * n, Failed: failed})
	t.Launch(kernels.KeepFailure{Other: t.Syevd(n, v, w), Failed: failed})
	return w, v
}

// Eigenvalues is the operation E → the 1×n eigenvalues of an Eigen result, in
// ascending order.
func Eigenvalues() Op {
	return Op{def: &definition{
		name: "Eigenvalues", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{1, in[0][1]}, nil },
		run64: firstRow[float64], run32: firstRow[float32],
		launch: func(t Stream) { t.Copy(t.Out(), t.Part(t.In(0), 0, 1, t.In(0).Cols)) },
		cases: func(s *sampler) []Case {
			return []Case{applied("Eigenvalues", Eigenvalues(), 1, s.spectrum(s.symmetric(small)))}
		},
	}}
}

// firstRow is the CPU kernel of Eigenvalues.
func firstRow[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[0].row(0))
	return nil
}

// LargestEigen is the operation A → E for symmetric n×n A: column 0 of the
// k×(n+1) E holds the k largest eigenvalues in descending order, and each row
// after it an eigenvector of unit length. Unlike Eigen it is computed in the
// element type on the CPU: the error of every eigenvalue is relative to the largest
// absolute value of any. It has no derivative. It fails with a *NoConvergenceError.
func LargestEigen(k int) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("LargestEigen(k=%d)", k), in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := square(in); err != nil {
				return nil, err
			}
			if k < 1 || k > in[0][0] {
				return nil, fmt.Errorf("%d eigenvalues of a matrix %v", k, in[0])
			}
			return tensor.Shape{k, in[0][0] + 1}, nil
		},
		run64: func(c call[float64]) error { return largestEigen(c, k) },
		run32: func(c call[float32]) error { return largestEigen(c, k) },
		launch: func(t Stream) {
			w, v := eigenOn(t, t.In(0))
			t.Launch(kernels.PackLargest{W: w, V: v, N: t.In(0).Rows, K: k, Out: t.Out()})
		},
		// Squares, for the signs.
		cases: func(s *sampler) []Case {
			return []Case{{Name: "LargestEigen", In: []Operand{s.definite(small)}, Condition: 100,
				Graph: func(in gorgonia.Nodes) *gorgonia.Node {
					return gorgonia.Must(gorgonia.Square(gorgonia.Must(LargestEigen(4).Apply(in[0]))))
				}}}
		},
	}}
}

// largestEigen is the CPU kernel of LargestEigen.
func largestEigen[T cpublas.Float](c call[T], k int) error {
	a := c.in[0]
	n := max(leadingBlock(a, 0), k)
	w, v, err := largestPairs[T](a, n, k)
	if err == nil && n < a.rows && w[k-1] < 0 {
		n = a.rows // the zeros outside the block are larger
		w, v, err = largestPairs[T](a, n, k)
	}
	if err != nil {
		return err
	}
	for i := range k {
		row := c.out.row(i)
		clear(row)
		row[0] = w[i]
		copy(row[1:], v[i*n:(i+1)*n])
	}
	return nil
}

// largestPairs returns the k largest eigenvalues of the first n rows and columns of a symmetric
// matrix in descending order, and their eigenvectors as rows, computed in the type E.
func largestPairs[E, T cpublas.Float](a matrix[T], n, k int) (w, v []E, err error) {
	block := make([]E, n*n)
	for i := range n {
		for j, x := range a.row(i)[:i+1] {
			block[i*n+j] = E(x)
		}
	}
	w, v = make([]E, k), make([]E, k*n)
	if spectral.Largest(n, k, block, n, w, v, n) != nil {
		return nil, nil, &NoConvergenceError{Order: n}
	}
	return w, v, nil
}

// PSDPart is the operation (A, E) → A⁺ = V max(W, 0) Vᵀ, the nearest positive
// semidefinite matrix, exactly symmetric, for symmetric A and its Eigen E. The
// derivative is taken by A alone: E is how A⁺ is computed, not another input.
// Where an eigenvalue is zero, A⁺ has no derivative, and the one from below is
// taken.
//
// It is nearest in the Frobenius norm (Higham, "Computing a nearest symmetric positive
// semidefinite matrix", 1988, Theorem 2.1). Neither the signs of the eigenvectors nor
// the choice of a basis for a repeated eigenvalue has a part in it, so that it has bits
// that can be compared where Eigen has none.
func PSDPart() Op {
	return Op{def: &definition{
		name: "PSDPart", in: []int{2, 2}, out: 2, shape: square,
		run64: psdPart[float64], run32: psdPart[float32],
		launch: func(t Stream) {
			n := t.In(0).Rows
			root := t.Scratch(n, n) // V √max(W, 0)
			t.Launch(kernels.PositivePart{E: t.In(1), N: n, Out: root})
			t.Syrk(blas.Upper, blas.NoTrans, n, n, 1, root, t.Out())
			mirrorOn(t, t.Out())
		},
		diff: []bool{true, false},
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.apply(psdGradient(), in[1], grad), nil}
		},
		cases: func(s *sampler) []Case {
			a := s.symmetric(small)
			e := s.spectrum(a)
			return []Case{applied("PSDPart", PSDPart(), 100, a, e), derived("PSDPart, derivative", PSDPart(), 0, 1000, a, e)}
		},
	}}
}

// psdPart multiplies V₊ √W₊ by its transpose.
// Only the k eigenvectors of positive eigenvalues enter: n²k operations.
func psdPart[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	w, v := c.in[1].data[:n], c.in[1].data[n:]
	first := 0 // eigenvalues ascend
	for first < n && w[first] <= 0 {
		first++
	}
	k := n - first
	if k == 0 {
		clear(c.out.data)
		return nil
	}
	scaled := make([]T, n*k)
	for i := range n {
		for j := range k {
			scaled[i*k+j] = v[i*n+first+j] * T(math.Sqrt(float64(w[first+j])))
		}
	}
	if err := dense.Syrk(c.pool, blas.Upper, blas.NoTrans, n, k, 1, scaled, k, 0, c.out.data, n); err != nil {
		return err
	}
	return mirror(c.pool, c.out)
}

// psdGradient is the operation (E, G) → V (Γ ∘ VᵀGV) Vᵀ, where Γ_ij is the
// divided difference of max(·, 0) at the eigenvalues i and j (Daleckii and
// Krein).
//
// V and W come from E ((n+1)×n), G and the result are n×n; four products, 8n³
// operations. Source: Bhatia, "Matrix Analysis", Theorem V.3.3. Unlike the derivative of
// an eigenvector it has no 1/(λ_i − λ_j) that could blow up: Γ is between 0 and 1 for
// every pair of eigenvalues.
func psdGradient() Op {
	return Op{def: &definition{
		name: "PSDPartGradient", in: []int{2, 2}, out: 2, shape: sameShape(1),
		run64: psdPullback[float64], run32: psdPullback[float32],
		launch: func(t Stream) {
			n := t.In(1).Rows
			v := t.Part(t.In(0), n, n, n) // below the eigenvalues
			a, d := t.Scratch(n, n), t.Scratch(n, n)
			t.Gemm(blas.Trans, blas.NoTrans, n, n, n, 1, v, t.In(1), a)
			t.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, v, d)
			t.Launch(kernels.DividedDifferences{W: t.In(0), N: n, S: d})
			t.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, v, d, a)
			t.Gemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, v, t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("PSDPartGradient", psdGradient(), 100, s.spectrum(s.symmetric(small)), s.normal(small, small))}
		},
	}}
}

// psdPullback is the CPU kernel of psdGradient.
func psdPullback[T cpublas.Float](c call[T]) error {
	n := c.in[1].rows
	w, v := c.in[0].data[:n], c.in[0].data[n:]
	t, s := make([]T, n*n), make([]T, n*n)
	product := func(ta, tb blas.Transpose, a, b, to []T) error {
		return dense.Gemm(c.pool, ta, tb, n, n, n, 1, a, n, b, n, 0, to, n)
	}
	if err := product(blas.Trans, blas.NoTrans, v, c.in[1].data, t); err != nil {
		return err
	}
	if err := product(blas.NoTrans, blas.NoTrans, t, v, s); err != nil {
		return err
	}
	for i := range n {
		for j := range n {
			s[i*n+j] *= dividedDifference(w[i], w[j])
		}
	}
	if err := product(blas.NoTrans, blas.NoTrans, v, s, t); err != nil {
		return err
	}
	return product(blas.NoTrans, blas.Trans, t, v, c.out.data)
}

// dividedDifference is (max(a,0) − max(b,0)) / (a − b), and its limit for a = b.
// For a > 0 ≥ b it is a/(a − b), where a − b adds two numbers of one sign: nothing
// cancels, however close both are to zero.
func dividedDifference[T cpublas.Float](a, b T) T {
	switch {
	case a > 0 && b > 0:
		return 1
	case a <= 0 && b <= 0:
		return 0
	}
	return (max(a, 0) - max(b, 0)) / (a - b)
}

// NoConvergenceError is returned where an eigen-decomposition did not converge, which happens
// for matrices that are not finite.
type NoConvergenceError struct{ Order int }

// Error implements error.
func (e *NoConvergenceError) Error() string {
	return fmt.Sprintf("the eigen-decomposition of a %d×%d matrix did not converge: is it finite?", e.Order, e.Order)
}
