package matrix

import "gonum.org/v1/gonum/blas"

// triangle is a triangular operand, with a stored diagonal or one of ones.
type triangle[T Float] struct {
	view[T]
	lower, unit bool
}

// from returns the triangle that begins at (i, i).
func (t triangle[T]) from(i int) triangle[T] {
	t.view = t.view.from(i, i)
	return t
}

// triangular is Trsm if solve is set, and Trmm otherwise.
func (ks *kernels[T]) triangular(solve bool, side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int,
	alpha T, a []T, lda int, b []T, ldb int) {
	if m == 0 || n == 0 {
		return
	}
	scale(full, m, n, alpha, b, ldb)
	if alpha == 0 {
		return
	}
	av := triangle[T]{operand(a, lda, t), (uplo == blas.Lower) == (t == blas.NoTrans), diag == blas.Unit}
	x := view[T]{b, 0, ldb, 1}
	if side == blas.Right { // X A = B is Aᵀ Xᵀ = Bᵀ
		m, n, av.view, av.lower, x = n, m, av.t(), !av.lower, x.t()
	}
	if m*m*n <= tinySolve {
		av.tiny(solve, m, n, x)
		return
	}
	w := ks.get()
	if solve {
		ks.solveHalves(w, av, m, n, x)
	} else {
		ks.multiplyHalves(w, av, m, n, x)
	}
	ks.pool.Put(w)
}

// half returns the order of the first half of a triangle.
func half(n int) int { return roundUp(n/2, blockTri) }

// solveHalves solves A X = B for A of order n, in place of B (n×m).
func (ks *kernels[T]) solveHalves(w *work[T], a triangle[T], n, m int, x view[T]) {
	if n <= blockTri {
		ks.inBlock(w, ks.solve, a, true, n, m, x)
		return
	}
	n1 := half(n)
	n2, x2 := n-n1, x.from(n1, 0)
	if a.lower {
		ks.solveHalves(w, a, n1, m, x)
		ks.update(full, n2, m, n1, -1, a.view.from(n1, 0), x, true, x2)
		ks.solveHalves(w, a.from(n1), n2, m, x2)
		return
	}
	ks.solveHalves(w, a.from(n1), n2, m, x2)
	ks.update(full, n1, m, n2, -1, a.view.from(0, n1), x2, true, x)
	ks.solveHalves(w, a, n1, m, x)
}

// multiplyHalves computes A X for A of order n, in place of X (n×m).
func (ks *kernels[T]) multiplyHalves(w *work[T], a triangle[T], n, m int, x view[T]) {
	if n <= blockTri {
		ks.inBlock(w, ks.multiply, a, false, n, m, x)
		return
	}
	n1 := half(n)
	n2, x2 := n-n1, x.from(n1, 0)
	if a.lower {
		ks.multiplyHalves(w, a.from(n1), n2, m, x2)
		ks.update(full, n2, m, n1, 1, a.view.from(n1, 0), x, true, x2)
		ks.multiplyHalves(w, a, n1, m, x)
		return
	}
	ks.multiplyHalves(w, a, n1, m, x)
	ks.update(full, n1, m, n2, 1, a.view.from(0, n1), x2, true, x)
	ks.multiplyHalves(w, a.from(n1), n2, m, x2)
}

// inBlock calls a kernel for one triangle and panels of columns of X. An upper triangle is a
// lower one with its rows and columns in reverse order.
func (ks *kernels[T]) inBlock(w *work[T], kernel func(n int, t, x *T), a triangle[T], reciprocal bool, n, m int,
	x view[T]) {
	v := a.view
	if !a.lower {
		v = v.reversed(n).t().reversed(n).t()
	}
	ks.copyTriangle(w.triangle, v, n)
	for i := range n {
		d := &w.triangle[i*blockTri+i]
		switch {
		case a.unit:
			*d = 1
		case reciprocal:
			*d = 1 / *d
		}
	}
	panel := view[T]{w.x, 0, ks.width, 1}
	if !a.lower {
		panel = panel.reversed(n)
	}
	for j := 0; j < m; j += ks.width {
		cols, at := min(ks.width, m-j), x.from(0, j)
		if cols < ks.width {
			clear(w.x[:n*ks.width])
		}
		ks.move(panel, at, n, cols)
		kernel(n, &w.triangle[0], &w.x[0])
		ks.move(at, panel, n, cols)
	}
}

// copyTriangle copies the lower triangle of v to rows of blockTri elements.
func (ks *kernels[T]) copyTriangle(dst []T, v view[T], n int) {
	if v.rs == 1 || v.cs == 1 {
		ks.move(view[T]{dst, 0, blockTri, 1}, v, n, n)
		return
	}
	for i := range n {
		for j := range i + 1 {
			dst[i*blockTri+j] = v.d[v.off+i*v.rs+j*v.cs]
		}
	}
}
