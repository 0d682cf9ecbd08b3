// Package spectral decomposes symmetric matrices, A = V diag(w) Vᵀ, for all eigenpairs or the
// largest.
//
// A matrix is reduced to tridiagonal form by blocked Householder reflections (Golub and Van Loan,
// "Matrix Computations", Section 8.3; Dongarra, Sorensen and Hammarling, "Block reduction of
// matrices to condensed forms", 1989). The tridiagonal problem is solved by divide and conquer
// (Cuppen, 1981; Gu and Eisenstat, "A divide-and-conquer algorithm for the symmetric tridiagonal
// eigenproblem", 1995), and the reflections are applied to its eigenvectors in blocks of compact
// WY form. All operations except the symmetric matrix-vector products are matrix products, by the
// implementation that is registered with gonum's blas64 and blas32.
//
// Errors are normwise: with the unit roundoff u of the element type, the residual ‖AV − V
// diag(w)‖ is a small multiple of n·u·‖A‖, and ‖VᵀV − I‖ of n·u. Eigenvalues below n·u·‖A‖ are
// noise.
//
// Computation is on the calling goroutine. Bits depend only on those of the registered products:
// the order of all other operations is fixed, and no product is fused with a sum, except products
// with a power of two, on any processor.
package spectral

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Float is a precision in which matrices are decomposed.
type Float interface{ float32 | float64 }

// ErrNotFinite is the error of a matrix with infinite elements or NaN.
var ErrNotFinite = errors.New("spectral: a matrix that is not finite has no eigenvalues")

// ErrOverflow is the error of a finite matrix with an eigenvalue beyond the range of its type.
var ErrOverflow = errors.New("spectral: an eigenvalue is beyond the range of numbers; divide the matrix by its size")

// ErrNoConvergence is the error of an iteration that reached its limit of steps.
var ErrNoConvergence = errors.New("spectral: the eigenvalues did not converge")

// Eigen computes all eigenvalues of the symmetric n×n matrix A, whose lower triangle it reads,
// rows at distance lda. w[:n] receives them in ascending order, and a the orthonormal
// eigenvectors as columns, of arbitrary sign. It takes 3n² numbers of memory and up to 4⅔n³
// multiplications and additions.
//
// It returns ErrNotFinite and does not change a, or ErrOverflow or ErrNoConvergence, after which
// a is undefined. It panics if a slice is too short.
func Eigen[T Float](n int, a []T, lda int, w []T) error {
	if n == 0 {
		return nil
	}
	z, err := decompose(n, n, a, lda, w)
	if err != nil {
		return err
	}
	transpose(n, z, a, lda)
	return nil
}

// Largest computes the k largest eigenvalues of the symmetric n×n matrix A, whose lower triangle
// it reads and overwrites, rows at distance lda. w[:k] receives them in descending order, and row
// i of V (k×n), rows at distance ldv, the eigenvector of w[i], unlike the columns of [Eigen]. For
// k ≤ n/12 it takes about 4/3 n³ multiplications and additions, otherwise 3n² numbers of memory
// and divide and conquer without the last product.
//
// Errors are those of [Eigen].
func Largest[T Float](n, k int, a []T, lda int, w, v []T, ldv int) error {
	if k == 0 {
		return nil
	}
	z, err := decompose(n, k, a, lda, w)
	if err != nil {
		return err
	}
	for i := range k {
		copy(v[i*ldv:i*ldv+n], z[(k-1-i)*n:(k-i)*n])
	}
	for i := range k / 2 {
		w[i], w[k-1-i] = w[k-1-i], w[i]
	}
	return nil
}

// Eigenvalues computes all eigenvalues of the symmetric n×n matrix A, whose lower triangle it
// reads and overwrites, rows at distance lda. w[:n] receives them in ascending order.
//
// Errors are those of [Eigen].
func Eigenvalues[T Float](n int, a []T, lda int, w []T) error {
	if n == 0 {
		return nil
	}
	scale, err := balance(n, a, lda)
	if err != nil {
		return err
	}
	d, e := make([]float64, n), make([]float64, n)
	tridiagonalise(n, a, lda, d, e, make([]T, n))
	if !implicitQL[T](d, e, nil, 0) {
		return ErrNoConvergence
	}
	slices.Sort(d)
	return scaled(w, d, scale)
}

// scaled stores values times 2^scale in w.
func scaled[T Float](w []T, values []float64, scale int) error {
	for i, x := range values {
		w[i] = T(math.Ldexp(x, scale))
		if math.IsInf(float64(w[i]), 0) {
			return ErrOverflow
		}
	}
	return nil
}

// decompose computes the k largest eigenvalues, in ascending order in w, and eigenvectors as rows
// of z (k×n).
func decompose[T Float](n, k int, a []T, lda int, w []T) (z []T, err error) {
	scale, err := balance(n, a, lda)
	if err != nil {
		return nil, err
	}
	d, e, tau := make([]float64, n), make([]float64, n), make([]T, n)
	tridiagonalise(n, a, lda, d, e, tau)
	values, z, ok := largestOf[T](d, e, k)
	if !ok {
		return nil, ErrNoConvergence
	}
	if err := scaled(w, values, scale); err != nil {
		return nil, err
	}
	reflect(n, k, a, lda, tau, z)
	return z, nil
}

// largestOf computes the k largest pairs of a tridiagonal matrix, which it overwrites.
func largestOf[T Float](d, e []float64, k int) (values []float64, z []T, ok bool) {
	n := len(d)
	if k*fewPairs <= n {
		if w, v, ok := few(d, e, k, unit[T]()); ok {
			z = make([]T, k*n)
			for i, x := range v {
				z[i] = T(x)
			}
			return w, z, true
		}
	}
	c := newConquest[T](d, e)
	if !c.solve(0, n, k) {
		return nil, nil, false
	}
	values, z = make([]float64, k), c.g[:k*n]
	for i, row := range c.order[n-k:] {
		copy(z[i*n:(i+1)*n], c.q[row*n:(row+1)*n])
		values[i] = c.d[row]
	}
	return values, z, true
}

// The range of the largest element of a matrix that is not scaled, in which squares neither
// overflow nor lose digits.
const (
	smallest = -20
	largest  = 20
)

// balance scales the lower triangle by 2^-exponent, such that its largest element is about one,
// unless it is within the range above.
func balance[T Float](n int, a []T, lda int) (exponent int, err error) {
	size := T(0)
	for i := range n {
		size = max(size, largestAbsolute(a[i*lda:i*lda+i+1])) // max keeps NaN
	}
	if math.IsInf(float64(size), 1) || math.IsNaN(float64(size)) {
		return 0, ErrNotFinite
	}
	_, exponent = math.Frexp(float64(size))
	if size == 0 || exponent > smallest && exponent < largest {
		return 0, nil
	}
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		for j, x := range row {
			row[j] = T(math.Ldexp(float64(x), -exponent))
		}
	}
	return exponent, nil
}

// largestAbsolute returns the largest absolute value, or NaN if there is one. It compares bits as
// integers, without branches: without their sign, bits have the order of the numbers, with
// infinity above them and NaN above infinity.
func largestAbsolute[T Float](x []T) T {
	switch x := any(x).(type) {
	case []float32:
		const sign = 1 << 31
		var m0, m1 uint32
		for ; len(x) >= 2; x = x[2:] {
			m0, m1 = max(m0, math.Float32bits(x[0])&^sign), max(m1, math.Float32bits(x[1])&^sign)
		}
		for _, v := range x {
			m0 = max(m0, math.Float32bits(v)&^sign)
		}
		return T(math.Float32frombits(max(m0, m1)))
	case []float64:
		const sign = 1 << 63
		var m0, m1 uint64
		for ; len(x) >= 2; x = x[2:] {
			m0, m1 = max(m0, math.Float64bits(x[0])&^sign), max(m1, math.Float64bits(x[1])&^sign)
		}
		for _, v := range x {
			m0 = max(m0, math.Float64bits(v)&^sign)
		}
		return T(math.Float64frombits(max(m0, m1)))
	}
	return 0
}

// transpose writes the transpose of the contiguous n×n matrix from, in blocks that fit the cache.
func transpose[T Float](n int, from, to []T, ld int) {
	const block = 16
	for i0 := 0; i0 < n; i0 += block {
		for j0 := 0; j0 < n; j0 += block {
			for i := i0; i < min(i0+block, n); i++ {
				row := to[i*ld : i*ld+n]
				for j := j0; j < min(j0+block, n); j++ {
					row[j] = from[j*n+i]
				}
			}
		}
	}
}

// unit returns the unit roundoff of an element type.
func unit[T Float]() float64 {
	var x T
	if _, single := any(x).(float32); single {
		return 0x1p-24
	}
	return 0x1p-53
}

// gemm computes C = alpha op(A) op(B) + beta C with the registered implementation.
func gemm[T Float](ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	switch a := any(a).(type) {
	case []float64:
		blas64.Implementation().Dgemm(ta, tb, m, n, k, float64(alpha), a, lda, any(b).([]float64), ldb, float64(beta),
			any(c).([]float64), ldc)
	case []float32:
		blas32.Implementation().Sgemm(ta, tb, m, n, k, float32(alpha), a, lda, any(b).([]float32), ldb, float32(beta),
			any(c).([]float32), ldc)
	}
}
