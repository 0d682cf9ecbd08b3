// Package pages allocates the elements of large matrices.
package pages

import "unsafe"

// largeBytes is the size from which on memory is advised to have huge pages.
const largeBytes = 4 << 20

// Make returns n zeros. Large memory asks for huge pages, as NumPy's does: Linux gives them to
// those that ask by default, and a page of 4 KiB that is touched for the first time costs as
// much as the exponentials of the numbers in it.
func Make[T float32 | float64](n int) []T {
	s := make([]T, n)
	if size := n * int(unsafe.Sizeof(T(0))); size >= largeBytes {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size))
	}
	return s
}
