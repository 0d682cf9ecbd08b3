package matrix

import "gonum.org/v1/gonum/blas"

// product computes part p of C = alpha A B + beta C.
func (ks *kernels[T]) product(p part, m, n, k int, alpha T, a, b view[T], beta T, c []T, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scale(p, m, n, beta, c, ldc)
		return
	}
	if beta != 0 {
		scale(p, m, n, beta, c, ldc)
	}
	ks.update(p, m, n, k, alpha, a, b, beta != 0, view[T]{c, 0, ldc, 1})
}

// update adds alpha A B to part p of C, or stores it there unless add is set. C may be
// column-major if p is full. Sizes are positive.
func (ks *kernels[T]) update(p part, m, n, k int, alpha T, a, b view[T], add bool, c view[T]) {
	if p == full && ks.narrow(m, n, k, alpha, a, b, add, c) {
		return
	}
	if p == full && ks.row != nil && isSmall(m, n, k) {
		ks.smallProduct(m, n, k, alpha, a, b, add, c)
		return
	}
	if c.cs != 1 {
		m, n, a, b, c = n, m, b.t(), a.t(), c.t()
	}
	w := ks.get()
	ks.blocks(w, p, m, n, k, alpha, a, b, add, c)
	ks.pool.Put(w)
}

// isSmall reports whether packing costs more than it gains, by measurement.
func isSmall(m, n, k int) bool {
	const small, short, few = 8 * 8 * 8, 4, 12
	return min(m, n) <= 2 || m*n <= few || m*n*k <= small || k <= short && m*n*k <= 4*small
}

// smallProduct is update by rows of C, without packing.
func (ks *kernels[T]) smallProduct(m, n, k int, alpha T, a, b view[T], add bool, c view[T]) {
	if n < m && n < 4 { // long rows have more independent sums
		m, n, a, b, c = n, m, b.t(), a.t(), c.t()
	}
	checkRange(a, m, k)
	checkRange(b, k, n)
	checkRange(c, m, n)
	if !add {
		for i := range m {
			for j, at := 0, c.off+i*c.rs; j < n; j++ {
				c.d[at] = 0
				at += c.cs
			}
		}
	}
	for l := 0; l < k; l += blockK {
		kb := min(blockK, k-l)
		at, bt, ct := a.off+l*a.cs, b.off+l*b.rs, c.off
		for range m {
			ks.row(n, kb, &a.d[at], a.cs, &b.d[bt], b.rs, b.cs, &c.d[ct], c.cs, alpha)
			at, ct = at+a.rs, ct+c.rs
		}
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// blocks is update by packed panels.
func (ks *kernels[T]) blocks(w *work[T], p part, m, n, k int, alpha T, a, b view[T], add bool, c view[T]) {
	for jc := 0; jc < n; jc += blockN {
		nb := min(blockN, n-jc)
		for pc := 0; pc < k; pc += blockK {
			kb := min(blockK, k-pc)
			w.b = grown(w.b, roundUp(nb, ks.nr)*kb)
			ks.pack(w.b, b.from(pc, jc).t(), nb, kb, ks.nr)
			for ic := 0; ic < m; ic += blockM {
				mb := min(blockM, m-ic)
				if p == lower && jc > ic+mb-1 || p == upper && ic > jc+nb-1 {
					continue
				}
				w.a = grown(w.a, roundUp(mb, ks.mr)*kb)
				ks.pack(w.a, a.from(ic, pc), mb, kb, ks.mr)
				ks.tiles(w, p, ic, jc, mb, nb, kb, alpha, flag(add || pc > 0), c)
			}
		}
	}
}

// tiles updates the block of C with its corner at (ic, jc) from the packed panels.
func (ks *kernels[T]) tiles(w *work[T], p part, ic, jc, mb, nb, kb int, alpha T, add int, c view[T]) {
	for j := 0; j < nb; j += ks.nr {
		n := min(ks.nr, nb-j)
		b := w.b[j*kb : (j+ks.nr)*kb]
		for i := 0; i < mb; i += ks.mr {
			m := min(ks.mr, mb-i)
			row, col := ic+i, jc+j
			cut := m < ks.mr || n < ks.nr
			switch p {
			case lower:
				if col > row+m-1 {
					continue
				}
				cut = cut || col+n-1 > row
			case upper:
				if row > col+n-1 {
					continue
				}
				cut = cut || row+m-1 > col
			}
			to := c.slice(row, col)
			a := w.a[i*kb : (i+ks.mr)*kb]
			if cut {
				ks.cutTile(w, p, row-col, m, n, kb, a, b, to, c.rs, add, alpha)
				continue
			}
			_ = to[(m-1)*c.rs+n-1]
			ks.gemm(kb, &a[0], &b[0], &to[0], c.rs, add, alpha)
		}
	}
}

// cutTile updates a tile in a buffer, and copies its first m×n elements in part p to C. The
// diagonal of C is at column i+below of row i.
func (ks *kernels[T]) cutTile(w *work[T], p part, below, m, n, kb int, a, b, c []T, ldc, add int, alpha T) {
	span := func(i int) (lo, hi int) {
		switch p {
		case lower:
			return 0, max(0, min(n, i+below+1))
		case upper:
			return min(n, max(0, i+below)), n
		}
		return 0, n
	}
	if add != 0 {
		clear(w.tile)
		for i := range m {
			if lo, hi := span(i); lo < hi {
				copy(w.tile[i*ks.nr+lo:i*ks.nr+hi], c[i*ldc+lo:i*ldc+hi])
			}
		}
	}
	ks.gemm(kb, &a[0], &b[0], &w.tile[0], ks.nr, add, alpha)
	for i := range m {
		if lo, hi := span(i); lo < hi {
			copy(c[i*ldc+lo:i*ldc+hi], w.tile[i*ks.nr+lo:i*ks.nr+hi])
		}
	}
}

// pack copies the m×k matrix v to panels of r rows, each column-major. The last panel is padded
// by zeros.
func (ks *kernels[T]) pack(dst []T, v view[T], m, k, r int) {
	for i := 0; i < m; i += r {
		p, rows := dst[i*k:(i+r)*k], min(r, m-i)
		if rows < r {
			clear(p)
		}
		ks.move(view[T]{p, 0, 1, r}, v.from(i, 0), rows, k)
	}
}

// scale multiplies part p of the m×n matrix C by beta. beta = 0 stores zeros, also for NaN.
func scale[T Float](p part, m, n int, beta T, c []T, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		lo, hi := 0, n
		switch p {
		case lower:
			hi = min(n, i+1)
		case upper:
			lo = min(n, i)
		}
		r := c[i*ldc+lo : i*ldc+hi]
		if beta == 0 {
			clear(r)
			continue
		}
		for j := range r {
			r[j] *= beta
		}
	}
}

// symmetric is Symm, by products of blocks of A. Diagonal blocks are copied with both triangles.
func (ks *kernels[T]) symmetric(side blas.Side, uplo blas.Uplo, m, n int, alpha T, a, b view[T], beta T, c []T,
	ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if beta != 0 || alpha == 0 {
		scale(full, m, n, beta, c, ldc)
	}
	if alpha == 0 {
		return
	}
	to := view[T]{c, 0, ldc, 1}
	if side == blas.Right { // Cᵀ = A Bᵀ
		m, n, b, to = n, m, b.t(), to.t()
	}
	if uplo == blas.Upper {
		a = a.t()
	}
	square := make([]T, min(m, blockK)*min(m, blockK))
	for p := 0; p < m; p += blockK {
		kb, add, rows := min(blockK, m-p), beta != 0 || p > 0, b.from(p, 0)
		if p > 0 {
			ks.update(full, p, n, kb, alpha, a.from(p, 0).t(), rows, add, to)
		}
		for i := range kb {
			for j := range i + 1 {
				x := a.d[a.off+(p+i)*a.rs+(p+j)*a.cs]
				square[i*kb+j], square[j*kb+i] = x, x
			}
		}
		ks.update(full, kb, n, kb, alpha, view[T]{square, 0, kb, 1}, rows, add, to.from(p, 0))
		if rest := m - p - kb; rest > 0 {
			ks.update(full, rest, n, kb, alpha, a.from(p+kb, p), rows, add, to.from(p+kb, 0))
		}
	}
}
