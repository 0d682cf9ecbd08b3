package matrix

// In a narrow product, B and C have at most narrowBytes per row. Columns are computed in
// multiples of narrowAlign elements.
const (
	narrowBytes = 64
	narrowRows  = 8
	narrowChunk = 480 // rows of a result whose sums stay in the first-level cache
)

// narrowKernels update a result of few columns without packing the large operand A, because
// packing takes longer than the arithmetic. B is packed, with rows of narrowBytes.
type narrowKernels[T Float] struct {
	// rows computes c = fma(alpha, A B, c) for narrowRows rows of A, each contiguous, and a packed
	// C. k > 0.
	rows func(k int, a *T, lda int, b, c *T, alpha T)
	// columns accumulates s = fma(aᵢₚ, bₚⱼ, s) over increasing p, for the k contiguous columns of
	// A of m elements, m a multiple of 2·narrowBytes. Column j of the n columns of S begins lds
	// elements after the one before it.
	columns func(m, k, n int, a *T, lda int, b, s *T, lds int)
	// add computes c = fma(alpha, s, c) for n elements, a multiple of narrowBytes.
	add func(n int, s, c *T, alpha T)
}

// narrow is update for C with at most narrowBytes per row or column. It returns false, without a
// result, if there is no kernel or packing is faster.
func (ks *kernels[T]) narrow(m, n, k int, alpha T, a, b view[T], add bool, c view[T]) bool {
	const short = 8
	if m < n {
		m, n, a, b, c = n, m, b.t(), a.t(), c.t()
	}
	width := narrowBytes / size[T]()
	// For a single column, the product without packing is as fast.
	small := m*k < 32*32 || n == 1 && (a.cs == 1 || m*k < 64*64)
	if ks.narrows.rows == nil || small || n > width || k < short || m < 2*width || a.cs != 1 && a.rs != 1 {
		return false
	}
	checkRange(a, m, k)
	w := ks.get()
	w.b = grown(w.b, k*width)
	clear(w.b)
	ks.move(view[T]{w.b, 0, width, 1}, b, k, n)
	var done int
	if a.cs == 1 {
		done = ks.narrowByRows(w, m, n, k, alpha, a, add, c)
	} else {
		done = ks.narrowByColumns(w, m, n, k, alpha, a, add, c)
	}
	if done < m {
		ks.smallProduct(m-done, n, k, alpha, a.from(done, 0), b, add, c.from(done, 0))
	}
	ks.pool.Put(w)
	return true
}

// narrowByRows is narrow for A with contiguous rows, which are read one after the other. It
// returns the number of rows of C that it has computed.
func (ks *kernels[T]) narrowByRows(w *work[T], m, n, k int, alpha T, a view[T], add bool, c view[T]) (done int) {
	width := narrowBytes / size[T]()
	w.a = grown(w.a, narrowRows*width)
	tile := view[T]{w.a, 0, width, 1}
	for ; done+narrowRows <= m; done += narrowRows {
		clear(w.a)
		if add {
			ks.move(tile, c.from(done, 0), narrowRows, n)
		}
		for p := 0; p < k; p += blockK {
			ks.narrows.rows(min(blockK, k-p), &a.d[a.off+done*a.rs+p], a.rs, &w.b[p*width], &w.a[0], alpha)
		}
		ks.move(c.from(done, 0), tile, narrowRows, n)
	}
	return done
}

// narrowByColumns is narrow for A with contiguous columns. It returns the number of rows of C
// that it has computed.
func (ks *kernels[T]) narrowByColumns(w *work[T], m, n, k int, alpha T, a view[T], add bool, c view[T]) (done int) {
	width := narrowBytes / size[T]()
	// Columns an odd number of cache lines apart fall into different sets of the cache.
	ld := narrowChunk + width
	w.a = grown(w.a, 2*n*ld)
	sums, out := w.a[:n*ld], w.a[n*ld:]
	whole := m / (2 * width) * (2 * width)
	for done < whole {
		rows := min(narrowChunk, whole-done)
		tile := view[T]{out, 0, 1, ld}
		clear(out)
		if add {
			ks.move(tile, c.from(done, 0), rows, n)
		}
		for p := 0; p < k; p += blockK {
			clear(sums)
			ks.narrows.columns(rows, min(blockK, k-p), n, &a.d[a.off+done+p*a.cs], a.cs, &w.b[p*width], &sums[0], ld)
			ks.narrows.add(n*ld, &sums[0], &out[0], alpha)
		}
		ks.move(c.from(done, 0), tile, rows, n)
		done += rows
	}
	return done
}
