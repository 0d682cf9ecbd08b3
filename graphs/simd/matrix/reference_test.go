package matrix

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/internal/fma"
)

// The definition of results, element by element, by loops without tiles, panels or levels.

// at returns element (i, j) of op(A).
func at[T Float](a []T, ld int, t blas.Transpose, i, j int) T {
	if t != blas.NoTrans {
		i, j = j, i
	}
	return a[i*ld+j]
}

// combine returns an element of alpha Σₖ x(k) y(k) + beta c.
func combine[T Float](k int, alpha T, x, y func(k int) T, beta, c T) T {
	switch beta {
	case 0:
		c = 0
	case 1:
	default:
		c *= beta
	}
	if alpha == 0 {
		return c
	}
	for l := 0; l < k; l += blockK {
		var s T
		for p := l; p < min(l+blockK, k); p++ {
			s = fma.FMA(x(p), y(p), s)
		}
		c = fma.FMA(alpha, s, c)
	}
	return c
}

func referenceGemm[T Float](ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	for i := range m {
		for j := range n {
			c[i*ldc+j] = combine(k, alpha, func(p int) T { return at(a, lda, ta, i, p) },
				func(p int) T { return at(b, ldb, tb, p, j) }, beta, c[i*ldc+j])
		}
	}
}

func within(uplo blas.Uplo, i, j int) bool { return i == j || (i > j) == (uplo == blas.Lower) }

func referenceSyr2k[T Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int,
	beta T, c []T, ldc int) {
	for i := range n {
		for j := range n {
			if !within(uplo, i, j) {
				continue
			}
			e := &c[i*ldc+j]
			*e = combine(k, alpha, func(p int) T { return at(a, lda, t, i, p) },
				func(p int) T { return at(b, ldb, t, j, p) }, beta, *e)
			if &a[0] != &b[0] { // otherwise Syrk
				*e = combine(k, alpha, func(p int) T { return at(b, ldb, t, i, p) },
					func(p int) T { return at(a, lda, t, j, p) }, 1, *e)
			}
		}
	}
}

func referenceSymm[T Float](side blas.Side, uplo blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T,
	c []T, ldc int) {
	sym := func(i, j int) T {
		if !within(uplo, i, j) {
			i, j = j, i
		}
		return a[i*lda+j]
	}
	for i := range m {
		for j := range n {
			e := &c[i*ldc+j]
			if side == blas.Left {
				*e = combine(m, alpha, func(p int) T { return sym(i, p) }, func(p int) T { return b[p*ldb+j] }, beta, *e)
			} else {
				*e = combine(n, alpha, func(p int) T { return b[i*ldb+p] }, func(p int) T { return sym(p, j) }, beta, *e)
			}
		}
	}
}

// column is a column of X in A X, with A lower triangular after a change of indices; at is where
// a triangle of an order is divided.
type column[T Float] struct {
	a    func(i, j int) T
	x    func(i int) *T
	unit bool
	// reversed is set for indices in reverse order; products are summed in the order of the matrix.
	reversed bool
}

func (c column[T]) from(n int) column[T] {
	return column[T]{func(i, j int) T { return c.a(n+i, n+j) }, func(i int) *T { return c.x(n + i) }, c.unit, c.reversed}
}

func (c column[T]) diagonal(i int) T {
	if c.unit {
		return 1
	}
	return c.a(i, i)
}

// product adds alpha times the square below the first triangle, of order n1.
func (c column[T]) product(n, n1 int, alpha T) {
	for i := n1; i < n; i++ {
		k := func(p int) int {
			if c.reversed {
				return n1 - 1 - p
			}
			return p
		}
		*c.x(i) = combine(n1, alpha, func(p int) T { return c.a(i, k(p)) }, func(p int) T { return *c.x(k(p)) }, 1,
			*c.x(i))
	}
}

func (c column[T]) solve(n int, at func(n int) int) {
	if n > 32 {
		n1 := at(n)
		c.solve(n1, at)
		c.product(n, n1, -1)
		c.from(n1).solve(n-n1, at)
		return
	}
	for i := range n {
		for k := range i {
			*c.x(i) = fma.FMA(-c.a(i, k), *c.x(k), *c.x(i))
		}
		*c.x(i) *= 1 / c.diagonal(i)
	}
}

func (c column[T]) multiply(n int, at func(n int) int) {
	if n > 32 {
		n1 := at(n)
		c.from(n1).multiply(n-n1, at)
		c.product(n, n1, 1)
		c.multiply(n1, at)
		return
	}
	for i := n - 1; i >= 0; i-- {
		var s T
		for k := range i {
			s = fma.FMA(c.a(i, k), *c.x(k), s)
		}
		*c.x(i) = fma.FMA(c.diagonal(i), *c.x(i), s)
	}
}

// referenceTriangular is Trsm if solve is set, and Trmm otherwise.
func referenceTriangular[T Float](solve bool, side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag,
	m, n int, alpha T, a []T, lda int, b []T, ldb int) {
	for i := range m {
		for j := range n {
			b[i*ldb+j] = combine(0, 0, nil, nil, alpha, b[i*ldb+j])
		}
	}
	if alpha == 0 {
		return
	}
	order, columns := m, n
	isLower := (uplo == blas.Lower) == (t == blas.NoTrans)
	if side == blas.Right {
		order, columns, isLower = n, m, !isLower
	}
	for j := range columns {
		c := column[T]{unit: diag == blas.Unit}
		c.x = func(i int) *T {
			if side == blas.Right {
				return &b[j*ldb+i]
			}
			return &b[i*ldb+j]
		}
		c.a = func(i, k int) T {
			if side == blas.Right {
				i, k = k, i
			}
			return at(a, lda, t, i, k)
		}
		lowerTriangle(c, isLower, solve, order)
	}
}

// lowerTriangle solves or multiplies; an upper triangle has its indices reversed.
func lowerTriangle[T Float](c column[T], isLower, solve bool, n int) {
	at := func(n int) int { return (n/2 + 31) / 32 * 32 }
	if !isLower {
		a, x := c.a, c.x
		c.reversed = true
		c.a = func(i, k int) T { return a(n-1-i, n-1-k) }
		c.x = func(i int) *T { return x(n - 1 - i) }
		at = func(n int) int { return n - (n/2+31)/32*32 }
	}
	if solve {
		c.solve(n, at)
	} else {
		c.multiply(n, at)
	}
}

// referenceCholesky factors the lower triangle whose element (i, j) is at(i, j).
func referenceCholesky[T Float](n int, l func(i, j int) *T) (order int) {
	if n > 32 {
		n1 := (n/2 + 31) / 32 * 32
		if k := referenceCholesky(n1, l); k != 0 {
			return k
		}
		for i := n1; i < n; i++ {
			c := column[T]{func(i, j int) T { return *l(i, j) }, func(j int) *T { return l(i, j) }, false, false}
			lowerTriangle(c, true, true, n1)
		}
		for i := n1; i < n; i++ {
			for j := n1; j <= i; j++ {
				*l(i, j) = combine(n1, -1, func(p int) T { return *l(i, p) }, func(p int) T { return *l(j, p) }, 1, *l(i, j))
			}
		}
		if k := referenceCholesky(n-n1, func(i, j int) *T { return l(n1+i, n1+j) }); k != 0 {
			return n1 + k
		}
		return 0
	}
	for j := range n {
		for i := j; i < n; i++ {
			for k := range j {
				*l(i, j) = fma.FMA(-*l(i, k), *l(j, k), *l(i, j))
			}
		}
		d := *l(j, j)
		if valid := d > 0 && d < T(math.Inf(1)); !valid {
			return j + 1
		}
		d = T(math.Sqrt(float64(d)))
		*l(j, j) = d
		for i := j + 1; i < n; i++ {
			*l(i, j) *= 1 / d
		}
	}
	return 0
}
