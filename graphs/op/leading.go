package op

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// LeadingEigen is the operation A → E for symmetric positive semidefinite n×n A: row i of
// the k×(n+2) E holds an approximation θ of the i-th largest eigenvalue, in descending
// order, then a bound of its error, then an approximate eigenvector v of unit length, of
// arbitrary sign. It has no derivative. It fails with a *NoConvergenceError where A is not
// finite, or where its squares overflow.
//
// It is the Rayleigh-Ritz method in the block Krylov space of steps products of A with a
// block of k+[LeadingExtra] vectors (Golub and Van Loan, "Matrix Computations", Section
// 10.3.6), from a start that depends on n alone. The blocks are orthonormalised against all
// before them. A space of (k+LeadingExtra)·steps = m directions takes about 2n²m + 5nm²
// operations and the decomposition of a matrix of order m, against the 9n³ of
// [LargestEigen]. m is at most n: steps beyond it are left out, and with one whole block
// (k = n) all pairs are exact.
//
// The bound is ‖Av − θv‖ + θ₁‖VVᵀ − I‖ᵢ, the residual and the defect of orthonormality in the
// row of v: within it of θ there is an eigenvalue of A. That it is the i-th is not
// proven; the start would have to be orthogonal to an eigenvector, or the steps too few to
// separate it from those after it. The bound is large where fewer steps than asked for
// exhaust the space: an eigenvalue that is zero to rounding may have a vector of no length.
func LeadingEigen(k, steps int) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("LeadingEigen(k=%d, steps=%d)", k, steps), in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := square(in); err != nil {
				return nil, err
			}
			if k < 1 || k > in[0][0] || steps < 1 {
				return nil, fmt.Errorf("%d eigenvalues in %d steps of a matrix %v", k, steps, in[0])
			}
			return tensor.Shape{k, in[0][0] + 2}, nil
		},
		run64:  func(c call[float64]) error { return leadingEigen(c, k, steps) },
		run32:  func(c call[float32]) error { return leadingEigen(c, k, steps) },
		launch: func(t Stream) { leadingEigenOn(t, k, steps) },
		// Squares, for the signs, without the bounds, which are rounding.
		cases: func(s *sampler) []Case {
			graph := func(steps int) func(gorgonia.Nodes) *gorgonia.Node {
				return func(in gorgonia.Nodes) *gorgonia.Node {
					e := gorgonia.Must(LeadingEigen(3, steps).Apply(in[0]))
					last := e.Dims() - 1
					slices := make([]tensor.Slice, last+1)
					slices[last] = gorgonia.S(2, e.Shape()[last])
					return gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Slice(e, slices...))))
				}
			}
			return []Case{
				{Name: "LeadingEigen", In: []Operand{s.definite(small)}, Condition: 1000, Graph: graph(5)},
				{Name: "LeadingEigen, one step", In: []Operand{s.definite(6)}, Condition: 1000, Graph: graph(1)},
			}
		},
	}}
}

// LeadingExtra is the number of columns of a block of [LeadingEigen] beyond k. Convergence
// depends on the gap between the k-th eigenvalue and the first one beyond the block.
const LeadingExtra = 4

// leadingSpace returns the rows of a block and the number of blocks: as many steps as fit in
// n dimensions.
func leadingSpace(n, k, steps int) (block, blocks int) {
	block = min(k+LeadingExtra, n)
	return block, min(steps, n/block)
}

// The Gram matrix of a block is shifted before it is factored, so that it has a factor
// for every rank (Fukaya et al., "Shifted Cholesky QR", SIAM J. Sci. Comput. 42, 2020):
// by this many units of roundoff of its trace, in the first pass and in the second, which
// starts from rows that are nearly orthonormal; and by the least number, for rows of zeros.
const (
	firstShift, secondShift = 1000, 10
	leastShift64            = 1e-290
	leastShift32            = 1e-30
)

// passes is the number of projections along all blocks. One is enough for rows that are
// independent. Where few directions are left, rows are rounding that is scaled up, by up to
// 1e7 in each orthonormalisation, and so are their components along the blocks before: a
// second one removes these. The device always makes it. The CPU makes it where l_min² is at
// most independence·shift·‖AQ‖², for the least diagonal element l_min of the factor before it
// and the largest ‖AQ‖² of a block; in float32 that is always.
const (
	passes       = 2
	independence = 1e7
)

// shifts returns the first, the second and the least shift of an element type.
func shifts(single bool) (first, second, least float64) {
	if single {
		return firstShift * 0x1p-24, secondShift * 0x1p-24, leastShift32
	}
	return firstShift * 0x1p-53, secondShift * 0x1p-53, leastShift64
}

// startBlock returns numbers in [−1, 1) from the SplitMix64 generator (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014): integers, so that every
// platform has the same.
func startBlock[T cpublas.Float](elements int) []T {
	x := make([]T, elements)
	state := uint64(0)
	for i := range x {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		x[i] = T(float64(int64(z)>>11) * 0x1p-52)
	}
	return x
}

// krylov is the Krylov space while it grows: basis vectors Q and their products AQ as
// rows, and the upper triangle of the blocks of QAQᵀ.
type krylov[T cpublas.Float] struct {
	n, block, m          int
	q, aq, t             []T // m×n, m×n, m×m
	gram, c              []T
	first, second, least T
	size                 float64 // the largest ‖AQ‖² of a block
	failed               bool
}

// leadingEigen is the CPU kernel of LeadingEigen.
func leadingEigen[T cpublas.Float](c call[T], k, steps int) error {
	a, n := c.in[0], c.in[0].rows
	for _, v := range a.data {
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return &NoConvergenceError{Order: n}
		}
	}
	block, blocks := leadingSpace(n, k, steps)
	m := block * blocks
	memory := borrow[T](2*m*n + m*m + block*block + m*block)
	defer release(memory)
	rest := *memory
	take := func(size int) (part []T) {
		part, rest = rest[:size], rest[size:]
		return part
	}
	s := &krylov[T]{n: n, block: block, m: m, q: take(m * n), aq: take(m * n), t: take(m * m),
		gram: take(block * block), c: take(m * block)}
	first, second, least := shifts(isSingle[T]())
	s.first, s.second, s.least = T(first), T(second), T(least)
	copy(s.q, startBlock[T](block*n))
	s.orthonormalise(s.rows(0), s.first)
	s.orthonormalise(s.rows(0), s.second)
	for j := range blocks {
		s.expand(a, j)
		if j+1 < blocks {
			s.next(j)
		}
	}
	return s.ritz(c.out, k)
}

// rows returns the rows of block j of the basis.
func (s *krylov[T]) rows(j int) []T { return s.q[j*s.block*s.n : (j+1)*s.block*s.n] }

// expand multiplies block j by A, 2n²·block operations, and adds its column to QAQᵀ.
func (s *krylov[T]) expand(a matrix[T], j int) {
	from, n := j*s.block, s.n
	product := s.aq[from*n:]
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, s.block, n, n, 1, s.rows(j), n, a.data, n, 0, product, n)
	cpublas.Gemm(blas.NoTrans, blas.Trans, from+s.block, s.block, n, 1, s.q, n, product, n, 0, s.t[from:], s.m)
}

// next makes block j+1 of the basis from the products of block j. In exact arithmetic they
// have components along the last two blocks only; further passes remove the components along
// the others that rounding brings back (Parlett, "The Symmetric Eigenvalue Problem", Section 6.9).
func (s *krylov[T]) next(j int) {
	from, to := max(0, j-1)*s.block, (j+1)*s.block
	r := s.rows(j + 1)
	copy(r, s.aq[j*s.block*s.n:to*s.n])
	size := 0.0
	for _, v := range r {
		size += float64(v) * float64(v)
	}
	s.size = max(s.size, size)
	cpublas.Gemm(blas.Trans, blas.NoTrans, s.block, s.n, to-from, -1, s.t[from*s.m+j*s.block:], s.m, s.q[from*s.n:], s.n,
		1, r, s.n)
	least := s.orthonormalise(r, s.first)
	for i := range passes {
		if i > 0 && float64(least)*float64(least) > independence*float64(s.first)*s.size {
			break
		}
		cpublas.Gemm(blas.NoTrans, blas.Trans, to, s.block, s.n, 1, s.q, s.n, r, s.n, 0, s.c, s.block)
		cpublas.Gemm(blas.Trans, blas.NoTrans, s.block, s.n, to, -1, s.c, s.block, s.q, s.n, 1, r, s.n)
		s.orthonormalise(r, s.second)
	}
}

// orthonormalise replaces rows R by L⁻¹R, LLᵀ = RRᵀ + shift.
// It returns the least element of the diagonal of L. Only a Gram matrix that is not finite
// has no factor, or one that is not finite, which the Ritz values show.
func (s *krylov[T]) orthonormalise(r []T, relative T) (least T) {
	b, g := s.block, s.gram
	cpublas.Syrk(blas.Lower, blas.NoTrans, b, s.n, 1, r, s.n, 0, g, b)
	trace := T(0)
	for i := range b {
		trace += g[i*b+i]
	}
	shift := relative*trace + s.least
	for i := range b {
		g[i*b+i] += shift
	}
	s.failed = s.failed || cpublas.Cholesky(b, g, b) != 0
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, b, s.n, 1, g, b, r, s.n)
	least = g[0]
	for i := range b {
		least = min(least, g[i*b+i])
	}
	return least
}

// ritz writes the pairs of the space and their bounds.
func (s *krylov[T]) ritz(out matrix[T], k int) error {
	m, n := s.m, s.n
	for i := range m {
		for j := range i {
			s.t[i*m+j] = s.t[j*m+i]
		}
	}
	w, z, err := largestPairs[float64](matrix[T]{m, m, s.t}, m, k)
	if err != nil || s.failed {
		return &NoConvergenceError{Order: n}
	}
	weights := make([]T, k*m)
	for i, x := range z {
		weights[i] = T(x)
	}
	cols := n + 2
	products, gram := make([]T, k*n), make([]T, k*k)
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, m, s.q, n, 0, out.data[2:], cols)
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, m, s.aq, n, 0, products, n)
	cpublas.Gemm(blas.NoTrans, blas.Trans, k, k, n, 1, out.data[2:], cols, out.data[2:], cols, 0, gram, k)
	for i := range k {
		row, theta := out.row(i), w[i]
		residual, defect := 0.0, 0.0
		for j, v := range row[2:] {
			d := float64(products[i*n+j]) - theta*float64(v)
			residual += d * d
		}
		for j, v := range gram[i*k : (i+1)*k] {
			d := float64(v)
			if i == j {
				d--
			}
			defect += d * d
		}
		row[0], row[1] = T(theta), T(math.Sqrt(residual)+math.Abs(w[0])*math.Sqrt(defect))
	}
	return nil
}
