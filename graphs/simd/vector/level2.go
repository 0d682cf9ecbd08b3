package vector

// Matrices are row-major slices, lda the distance of rows. Vectors with an increment of one
// are used where they are, others by a copy. A negative increment begins at the end, as in
// BLAS. alpha and beta are as in BLAS: with beta = 0, y may hold anything before. Arguments
// are not checked beyond what slices check.

// Gemv computes y = alpha·A·x + beta·y, or with the transpose of A. A is m×n. An element of
// A·x is a [Dot]; the transpose adds rows to y one after another by [Axpy].
func Gemv[T Float](transpose bool, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
	lx, ly := n, m
	if transpose {
		lx, ly = m, n
	}
	x, y, finish := operands(x, lx, incX, y, ly, incY)
	defer finish()
	if !transpose {
		for i := range m {
			update(&y[i], alpha, Dot(a[i*lda:i*lda+n], x), beta)
		}
		return
	}
	times(y, beta)
	for i := range m {
		Axpy(Product(alpha, x[i]), a[i*lda:i*lda+n], y)
	}
}

// Ger computes A += alpha·x·yᵀ. A is m×n.
func Ger[T Float](m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	from, back := contiguous(y, n, incY)
	defer back()
	for i := range m {
		Axpy(Product(alpha, x[at(i, m, incX)]), from, a[i*lda:i*lda+n])
	}
}

// Symv computes y = alpha·A·x + beta·y for a symmetric n×n A, of which one triangle is read.
func Symv[T Float](upper bool, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
	x, y, finish := operands(x, n, incX, y, n, incY)
	defer finish()
	times(y, beta)
	for i := range n {
		// The row's part of the triangle without its diagonal gives a product for y_i, and what
		// x_i adds to the other elements.
		lo, hi := 0, i
		if upper {
			lo, hi = i+1, n
		}
		row := a[i*lda+lo : i*lda+hi]
		update(&y[i], alpha, Dot(row, x[lo:hi])+Product(a[i*lda+i], x[i]), 1)
		Axpy(Product(alpha, x[i]), row, y[lo:hi])
	}
}

// Trmv computes x = A·x for a triangular n×n A, or with its transpose. With unit set, its
// diagonal is one and not read.
func Trmv[T Float](upper, transpose, unit bool, n int, a []T, lda int, x []T, incX int) {
	v, back := contiguous(x, n, incX)
	defer back()
	for step := range n {
		// Rows of which others still need the old element come last.
		i := step
		if upper == transpose {
			i = n - 1 - step
		}
		lo, hi := 0, i
		if upper {
			lo, hi = i+1, n
		}
		row, old := a[i*lda+lo:i*lda+hi], v[i]
		d := old
		if !unit {
			d = Product(a[i*lda+i], old)
		}
		if transpose {
			Axpy(old, row, v[lo:hi])
			v[i] = d
		} else {
			v[i] = d + Dot(row, v[lo:hi])
		}
	}
}

// Trsv solves A·x = b for a triangular n×n A, or with its transpose; x overwrites b. A
// singular A gives infinities.
func Trsv[T Float](upper, transpose, unit bool, n int, a []T, lda int, x []T, incX int) {
	v, back := contiguous(x, n, incX)
	defer back()
	for step := range n {
		i := step
		if upper != transpose {
			i = n - 1 - step
		}
		lo, hi := 0, i
		if upper {
			lo, hi = i+1, n
		}
		row := a[i*lda+lo : i*lda+hi]
		if !transpose {
			v[i] -= Dot(row, v[lo:hi])
		}
		if !unit {
			v[i] /= a[i*lda+i]
		}
		if transpose {
			Axpy(-v[i], row, v[lo:hi])
		}
	}
}

// DotInc, AxpyInc, ScalInc, NormInc and AbsSumInc are the functions of n elements with
// increments. The results have the bits of those on copies.

// DotInc is [Dot] of n elements at increments.
func DotInc[T Float](n int, x []T, incX int, y []T, incY int) T {
	v, back := contiguous(x, n, incX)
	defer back()
	w, backW := contiguous(y, n, incY)
	defer backW()
	return Dot(v, w)
}

// AxpyInc is [Axpy] of n elements at increments.
func AxpyInc[T Float](n int, alpha T, x []T, incX int, y []T, incY int) {
	x, y, finish := operands(x, n, incX, y, n, incY)
	defer finish()
	Axpy(alpha, x, y)
}

// ScalInc is [Scal] in place of n elements at an increment.
func ScalInc[T Float](n int, alpha T, x []T, incX int) {
	if incX == 1 {
		Scal(x[:n], alpha, x[:n])
		return
	}
	for i := range n {
		x[at(i, n, incX)] *= alpha
	}
}

// NormInc is [Norm] of n elements at an increment.
func NormInc[T Float](n int, x []T, incX int) T {
	v, back := contiguous(x, n, incX)
	defer back()
	return Norm(v)
}

// AbsSumInc is [AbsSum] of n elements at an increment.
func AbsSumInc[T Float](n int, x []T, incX int) T {
	v, back := contiguous(x, n, incX)
	defer back()
	return AbsSum(v)
}

// update is y = alpha·s + beta·y, where beta = 0 overwrites. Products are rounded.
func update[T Float](y *T, alpha, s, beta T) {
	if beta == 0 {
		*y = alpha * s
		return
	}
	*y = Product(alpha, s) + Product(beta, *y)
}

// times is y = beta·y, where beta = 0 overwrites.
func times[T Float](y []T, beta T) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		Scal(y, beta, y)
	}
}

// at is where element i of n stands.
func at(i, n, inc int) int {
	if inc < 0 {
		return (i - n + 1) * inc
	}
	return i * inc
}

// contiguous is a vector of n elements side by side, and what stores it back and must be
// called in the end.
func contiguous[T Float](x []T, n, inc int) (v []T, back func()) {
	if inc == 1 {
		return x[:n], func() {}
	}
	scratch := borrow[T](n)
	for i := range n {
		(*scratch)[i] = x[at(i, n, inc)]
	}
	return *scratch, func() {
		for i, w := range *scratch {
			x[at(i, n, inc)] = w
		}
		release(scratch)
	}
}

// operands are x and y side by side; finish stores y back, and x as it was.
func operands[T Float](x []T, lx, incX int, y []T, ly, incY int) (v, w []T, finish func()) {
	v, backX := contiguous(x, lx, incX)
	w, backY := contiguous(y, ly, incY)
	return v, w, func() { backX(); backY() }
}
