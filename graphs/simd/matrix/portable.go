package matrix

import (
	"unsafe"

	"privkern/graphs/simd/internal/fma"
)

// The portable kernels define the results; those of other levels have the same bits.
var (
	portable64 = portable[float64]()
	portable32 = portable[float32]()
)

// portableTile is the number of rows and of columns of a tile, portableWidth the number of
// columns of a panel.
const (
	portableTile  = 4
	portableWidth = 8
)

// portable returns the portable kernels of the element type.
func portable[T Float]() *kernels[T] {
	return &kernels[T]{mr: portableTile, nr: portableTile, gemm: gemmTile[T], width: portableWidth,
		solve: solvePanel[T], multiply: multiplyPanel[T], eliminate: eliminateRows[T], row: productRow[T]}
}

// gemmTile computes c = fma(alpha, A B, c) for a tile; see kernels.gemm.
func gemmTile[T Float](k int, a, b, c *T, ldc, add int, alpha T) {
	const r = portableTile
	as, bs, cs := unsafe.Slice(a, r*k), unsafe.Slice(b, r*k), unsafe.Slice(c, (r-1)*ldc+r)
	for i := range r {
		var s0, s1, s2, s3 T
		for p := 0; p < len(bs); p += r {
			x, y := as[p+i], bs[p:p+r:p+r]
			s0, s1, s2, s3 = fma.FMA(x, y[0], s0), fma.FMA(x, y[1], s1), fma.FMA(x, y[2], s2), fma.FMA(x, y[3], s3)
		}
		row := cs[i*ldc : i*ldc+r : i*ldc+r]
		if add == 0 {
			clear(row)
		}
		row[0], row[1] = fma.FMA(alpha, s0, row[0]), fma.FMA(alpha, s1, row[1])
		row[2], row[3] = fma.FMA(alpha, s2, row[2]), fma.FMA(alpha, s3, row[3])
	}
}

// solvePanel computes T⁻¹ X in place by forward substitution; see kernels.solve.
func solvePanel[T Float](n int, t, x *T) {
	const w = portableWidth
	ts, xs := unsafe.Slice(t, n*blockTri), unsafe.Slice(x, n*w)
	for i := range n {
		xi, row := xs[i*w:(i+1)*w], ts[i*blockTri:]
		for k := range i {
			f := -row[k]
			for j, v := range xs[k*w : (k+1)*w] {
				xi[j] = fma.FMA(f, v, xi[j])
			}
		}
		for j := range xi {
			xi[j] *= row[i]
		}
	}
}

// multiplyPanel computes T X in place, from the last row upwards; see kernels.multiply.
func multiplyPanel[T Float](n int, t, x *T) {
	const w = portableWidth
	ts, xs := unsafe.Slice(t, n*blockTri), unsafe.Slice(x, n*w)
	for i := n - 1; i >= 0; i-- {
		var s [w]T
		for k, f := range ts[i*blockTri : i*blockTri+i+1] {
			for j, v := range xs[k*w : (k+1)*w] {
				s[j] = fma.FMA(f, v, s[j])
			}
		}
		copy(xs[i*w:], s[:])
	}
}

// eliminateRows makes one step of the Cholesky factorisation of a block; see kernels.eliminate.
func eliminateRows[T Float](n, k int, x *T, inv T) {
	xs := unsafe.Slice(x, n*blockTri)
	top := xs[k*blockTri : k*blockTri+n]
	for j := k + 1; j < n; j++ {
		top[j] *= inv
	}
	for i := k + 1; i < n; i++ {
		f, row := -top[i], xs[i*blockTri:i*blockTri+n]
		for j := i; j < n; j++ {
			row[j] = fma.FMA(f, top[j], row[j])
		}
	}
}

// productRow computes a row of a product without packing; see kernels.row.
func productRow[T Float](n, k int, a *T, as int, b *T, bk, bj int, c *T, cs int, alpha T) {
	at := func(p *T, i int) *T { return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p)))) }
	for j := range n {
		var s T
		for l := range k {
			s = fma.FMA(*at(a, l*as), *at(b, l*bk+j*bj), s)
		}
		to := at(c, j*cs)
		*to = fma.FMA(alpha, s, *to)
	}
}
