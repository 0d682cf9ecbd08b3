package spectral

import (
	"unsafe"

	"privkern/graphs/simd"
)

//go:noescape
func addRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])

//go:noescape
func dotRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])

//go:noescape
func addDotRows64(c *[together]float64, a *float64, lda int, x, y *float64, m int, p *partial[float64])

//go:noescape
func eightRows64(c, a *float64, lda int, x, y *float64, m int, s *[lanes]float64)

//go:noescape
func eightRows32(c, a *float32, lda int, x, y *float32, m int, s *[lanes]float32)

//go:noescape
func addRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])

//go:noescape
func dotRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])

//go:noescape
func addDotRows32(c *[together]float32, a *float32, lda int, x, y *float32, m int, p *partial[float32])

// vectorised reports whether vector kernels run on m rows or columns.
func vectorised(m int) bool { return m > 0 && simd.Active() >= simd.AVX2 }

// The pointers below point to elements of type T, float32 or float64.

func vectorAddRows[T Float](c *[together]T, a []T, lda int, y []T) bool {
	m := len(y)
	if !vectorised(m) {
		return false
	}
	_ = a[3*lda+m-1]
	if unsafe.Sizeof(a[0]) == 8 {
		addRows64((*[together]float64)(unsafe.Pointer(c)), (*float64)(unsafe.Pointer(&a[0])), lda, nil,
			(*float64)(unsafe.Pointer(&y[0])), m, nil)
	} else {
		addRows32((*[together]float32)(unsafe.Pointer(c)), (*float32)(unsafe.Pointer(&a[0])), lda, nil,
			(*float32)(unsafe.Pointer(&y[0])), m, nil)
	}
	return true
}

func vectorDotRows[T Float](a []T, lda int, x []T, p *partial[T]) bool {
	m := len(x)
	if !vectorised(m) {
		return false
	}
	_ = a[3*lda+m-1]
	if unsafe.Sizeof(a[0]) == 8 {
		dotRows64(nil, (*float64)(unsafe.Pointer(&a[0])), lda, (*float64)(unsafe.Pointer(&x[0])), nil, m,
			(*partial[float64])(unsafe.Pointer(p)))
	} else {
		dotRows32(nil, (*float32)(unsafe.Pointer(&a[0])), lda, (*float32)(unsafe.Pointer(&x[0])), nil, m,
			(*partial[float32])(unsafe.Pointer(p)))
	}
	return true
}

func vectorAddDotRows[T Float](c *[together]T, a []T, lda int, x, y []T, p *partial[T]) bool {
	m := len(x)
	if !vectorised(m) {
		return false
	}
	_, _ = a[3*lda+m-1], y[m-1]
	if unsafe.Sizeof(a[0]) == 8 {
		addDotRows64((*[together]float64)(unsafe.Pointer(c)), (*float64)(unsafe.Pointer(&a[0])), lda,
			(*float64)(unsafe.Pointer(&x[0])), (*float64)(unsafe.Pointer(&y[0])), m, (*partial[float64])(unsafe.Pointer(p)))
	} else {
		addDotRows32((*[together]float32)(unsafe.Pointer(c)), (*float32)(unsafe.Pointer(&a[0])), lda,
			(*float32)(unsafe.Pointer(&x[0])), (*float32)(unsafe.Pointer(&y[0])), m, (*partial[float32])(unsafe.Pointer(p)))
	}
	return true
}

// vectorEightRows adds eight rows of a with the coefficients c to y, as two calls of addRows, and
// returns their inner products with x.
func vectorEightRows[T Float](c, a []T, lda int, x, y []T) (s [lanes]T, ok bool) {
	m := len(x)
	if m == 0 || simd.Active() != simd.AVX512 {
		return s, false
	}
	_, _, _ = a[7*lda+m-1], y[m-1], c[lanes-1]
	if unsafe.Sizeof(a[0]) == 8 {
		eightRows64((*float64)(unsafe.Pointer(&c[0])), (*float64)(unsafe.Pointer(&a[0])), lda,
			(*float64)(unsafe.Pointer(&x[0])), (*float64)(unsafe.Pointer(&y[0])), m, (*[lanes]float64)(unsafe.Pointer(&s)))
	} else {
		eightRows32((*float32)(unsafe.Pointer(&c[0])), (*float32)(unsafe.Pointer(&a[0])), lda,
			(*float32)(unsafe.Pointer(&x[0])), (*float32)(unsafe.Pointer(&y[0])), m, (*[lanes]float32)(unsafe.Pointer(&s)))
	}
	return s, true
}
