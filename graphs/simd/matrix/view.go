package matrix

import "unsafe"

// view is a strided matrix: element (i, j) is d[off+i*rs+j*cs]. Strides may be negative.
type view[T Float] struct {
	d           []T
	off, rs, cs int
}

// t returns the transpose.
func (v view[T]) t() view[T] { return view[T]{v.d, v.off, v.cs, v.rs} }

// from returns the view that begins at element (i, j).
func (v view[T]) from(i, j int) view[T] {
	v.off += i*v.rs + j*v.cs
	return v
}

// reversed returns the view with its m rows in reverse order.
func (v view[T]) reversed(m int) view[T] { return view[T]{v.d, v.off + (m-1)*v.rs, -v.rs, v.cs} }

// slice returns the data from element (i, j) on.
func (v view[T]) slice(i, j int) []T { return v.d[v.off+i*v.rs+j*v.cs:] }

// move copies src (m×n) to dst. One stride of each is 1.
func (ks *kernels[T]) move(dst, src view[T], m, n int) {
	if m == 0 || n == 0 {
		return
	}
	if src.cs != 1 {
		src, dst, m, n = src.t(), dst.t(), n, m
	}
	if dst.cs == 1 {
		ks.moveRows(dst, src, m, n)
		return
	}
	ks.transpose(dst, src, m, n)
}

// moveRows copies rows that are contiguous on both sides.
func (ks *kernels[T]) moveRows(dst, src view[T], m, n int) {
	const vector = 16 // bytes
	if size := size[T](); ks.copyRows != nil && n*size%vector == 0 {
		checkRange(dst, m, n)
		checkRange(src, m, n)
		ks.copyRows(m, n*size, unsafe.Pointer(&src.d[src.off]), src.rs*size, unsafe.Pointer(&dst.d[dst.off]), dst.rs*size)
		return
	}
	for i := range m {
		copy(dst.slice(i, 0)[:n], src.slice(i, 0)[:n])
	}
}

// transpose copies rows that are contiguous in src to columns that are contiguous in dst.
func (ks *kernels[T]) transpose(dst, src view[T], m, n int) {
	const block = 4 // of the kernel
	m4, n4 := 0, 0
	if ks.transpose4 != nil {
		m4, n4 = m&^(block-1), n&^(block-1)
	}
	if m4 > 0 && n4 > 0 {
		checkRange(dst, m, n)
		checkRange(src, m, n)
		ks.transpose4(m4, n4, &src.d[src.off], src.rs, &dst.d[dst.off], dst.cs)
	} else {
		m4, n4 = 0, 0
	}
	for i := range m {
		j := 0
		if i < m4 {
			j = n4
		}
		s := src.slice(i, 0)
		for to := dst.off + i*dst.rs + j*dst.cs; j < n; j++ {
			dst.d[to] = s[j]
			to += dst.cs
		}
	}
}

// checkRange panics if a corner of the m×n view lies outside its slice, because assembly does not
// check bounds.
func checkRange[T Float](v view[T], m, n int) {
	_, _ = v.d[v.off], v.d[v.off+(m-1)*v.rs]
	_, _ = v.d[v.off+(n-1)*v.cs], v.d[v.off+(m-1)*v.rs+(n-1)*v.cs]
}
