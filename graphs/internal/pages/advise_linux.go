package pages

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of huge pages on amd64, and on arm64 with pages of 4 KiB.
const hugePage = 2 << 20

// advise requests huge pages for those that lie inside b. Kernels without huge pages ignore it.
func advise(b []byte) {
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1))
	if whole := (len(b) - skip) &^ (hugePage - 1); whole > 0 {
		_ = syscall.Madvise(b[skip:skip+whole], syscall.MADV_HUGEPAGE)
	}
}
