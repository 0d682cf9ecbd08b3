package matrix

import "math"

// cholesky factors part p of A; see [Cholesky].
func (ks *kernels[T]) cholesky(p part, n int, a []T, lda int) (order int) {
	if n == 0 {
		return 0
	}
	v := view[T]{a, 0, lda, 1}
	if p == upper { // U is the transpose of L
		v = v.t()
	}
	if n <= tinyCholesky {
		return tinyFactor(n, v)
	}
	w := ks.get()
	defer ks.pool.Put(w)
	return ks.factor(w, p, n, v)
}

// factor computes the Cholesky factor of the lower triangle of v (n×n) by halving (Gustavson,
// "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997). p
// is the stored triangle.
func (ks *kernels[T]) factor(w *work[T], p part, n int, v view[T]) (order int) {
	if n <= blockTri {
		return ks.factorBlock(w, n, v)
	}
	n1 := half(n)
	n2 := n - n1
	if k := ks.factor(w, p, n1, v); k != 0 {
		return k
	}
	below, rest := v.from(n1, 0), v.from(n1, n1)
	ks.solveHalves(w, triangle[T]{v, true, false}, n1, n2, below.t())
	stored := rest
	if p == upper {
		stored = rest.t()
	}
	ks.update(p, n2, n2, n1, -1, below, below.t(), true, stored)
	if k := ks.factor(w, p, n2, rest); k != 0 {
		return n1 + k
	}
	return 0
}

// isPivot reports whether a number is positive and finite, and not NaN.
func isPivot[T Float](d T) bool { return d > 0 && !math.IsInf(float64(d), 1) }

// factorBlock factors one block by columns, on a copy whose row k is column k of L.
func (ks *kernels[T]) factorBlock(w *work[T], n int, v view[T]) (order int) {
	x := w.triangle
	clear(x[:n*blockTri])
	ks.move(view[T]{x, 0, blockTri, 1}, v.t(), n, n)
	for k := range n {
		pivot := &x[k*blockTri+k]
		d := *pivot
		if !isPivot(d) {
			return k + 1
		}
		// The float64 root of a float32, rounded to float32, is the correctly rounded root.
		d = T(math.Sqrt(float64(d)))
		ks.eliminate(n, k, &x[0], 1/d)
		*pivot = d
	}
	for i := range n {
		for j, at := 0, v.off+i*v.rs; j <= i; j++ {
			v.d[at] = x[j*blockTri+i]
			at += v.cs
		}
	}
	return 0
}
