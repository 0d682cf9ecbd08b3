// Package pages allocates the elements of large matrices.
package pages

import (
	"runtime"
	"unsafe"
)

// largeBytes is the size from which huge pages are requested.
const largeBytes = 4 << 20

// collectBytes is the size from which garbage is collected first. Left to itself, the collector lets as much garbage
// stand as there is memory in use, so that each large matrix would lie in fresh pages next to the one before it.
const collectBytes = 64 << 20

// Make returns n zeros. For large n it requests huge pages, as NumPy does, because by default
// Linux gives them only on request, and the first access to a page of 4 KiB costs as much as the
// exponentials of the numbers in it.
func Make[T float32 | float64](n int) []T {
	size := n * int(unsafe.Sizeof(T(0)))
	if size >= collectBytes {
		runtime.GC()
	}
	s := make([]T, n)
	if size >= largeBytes {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size))
	}
	return s
}
