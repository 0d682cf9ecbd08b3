//go:build (linux || darwin || freebsd) && (amd64 || arm64)

package cpublas

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/internal/dynamic"
)

// openBLASNames and mklNames are the names under which a library is usually installed.
var openBLASNames, mklNames = func() (openBLAS, mkl []string) {
	if runtime.GOOS == "darwin" {
		return []string{
			"libopenblas.0.dylib", "libopenblas.dylib",
			"/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
			"/usr/local/opt/openblas/lib/libopenblas.dylib",
		}, []string{"libmkl_rt.2.dylib", "libmkl_rt.dylib"}
	}
	return []string{"libopenblas.so.0", "libopenblas.so"}, []string{"libmkl_rt.so.2", "libmkl_rt.so"}
}()

// dlopen loads a library.
func dlopen(name string) (uintptr, error) {
	h, err := dynamic.Open(name)
	if err != nil {
		return 0, missingError(name, err)
	}
	return h, nil
}

// dlsym returns the address of a symbol, or 0 if the library lacks it.
func dlsym(h uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(h, symbol)
	if err != nil {
		return 0
	}
	return p
}

// callInt calls a C function of one int.
func callInt(f uintptr, v int) { purego.SyscallN(f, uintptr(v)) }

// callString calls a C function that returns a static string.
func callString(f uintptr) string {
	var get func() string
	purego.RegisterFunc(&get, f)
	return get()
}

// callBuffer calls a C function that fills a buffer with a string.
func callBuffer(f uintptr, size int) string {
	buf := make([]byte, size)
	purego.SyscallN(f, uintptr(unsafe.Pointer(&buf[0])), uintptr(size-1))
	for i, b := range buf {
		if b == 0 {
			return string(buf[:i])
		}
	}
	return string(buf)
}

// charLen is the length of a character argument. A Fortran routine takes the addresses of its
// arguments, then the lengths of character arguments, on which some routines compiled by gfortran
// rely.
const charLen = 1

// call calls a routine; calls take turns where memory is limited.
//
//go:uintptrescapes
func call(f uintptr, args ...uintptr) {
	enter()
	defer leave()
	purego.SyscallN(f, args...)
}

// level3Args are the arguments of a Level 3 routine at fixed addresses during the call.
type level3Args[T Float] struct {
	c1, c2, c3, c4 byte
	m, n, k        int32
	lda, ldb, ldc  int32
	alpha, beta    T
}

// callGemm computes C = alpha op(A) op(B) + beta C on row-major data. In column-major order the
// matrices are transposed, and Cᵀ = alpha op(B)ᵀ op(A)ᵀ + beta Cᵀ, so that the operands are
// swapped.
func callGemm[T Float](f uintptr, ta, tb byte, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	p := &level3Args[T]{c1: tb, c2: ta, m: int32(n), n: int32(m), k: int32(k),
		lda: int32(ldb), ldb: int32(lda), ldc: int32(ldc), alpha: alpha, beta: beta}
	call(f, uintptr(unsafe.Pointer(&p.c1)), uintptr(unsafe.Pointer(&p.c2)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)), uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&p.lda)),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.ldb)),
		uintptr(unsafe.Pointer(&p.beta)), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.ldc)),
		charLen, charLen)
	runtime.KeepAlive(p)
}

// callSyrk computes C = alpha A Aᵀ + beta C, or with Aᵀ A, in one triangle of the row-major C. In
// column-major order A is transposed and the triangle of C is the other one.
func callSyrk[T Float](f uintptr, uplo, t byte, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	p := &level3Args[T]{c1: flipUplo(uplo), c2: flipTrans(t), n: int32(n), k: int32(k),
		lda: int32(lda), ldc: int32(ldc), alpha: alpha, beta: beta}
	call(f, uintptr(unsafe.Pointer(&p.c1)), uintptr(unsafe.Pointer(&p.c2)),
		uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.lda)),
		uintptr(unsafe.Pointer(&p.beta)), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.ldc)),
		charLen, charLen)
	runtime.KeepAlive(p)
}

// callTrsm solves op(A) X = alpha B or X op(A) = alpha B on row-major data. The transposed problem
// of op(A) X = alpha B is Xᵀ op(A)ᵀ = alpha Bᵀ: in column-major order, the memory of A is that of
// Aᵀ, so that side, triangle and the sizes of B are exchanged, and op is the same.
func callTrsm[T Float](f uintptr, side blas.Side, uplo, t, diag byte, m, n int, alpha T, a []T, lda int, b []T,
	ldb int) {
	s := byte('R')
	if side == blas.Right {
		s = 'L'
	}
	p := &level3Args[T]{c1: s, c2: flipUplo(uplo), c3: t, c4: diag, m: int32(n), n: int32(m),
		lda: int32(lda), ldb: int32(ldb), alpha: alpha}
	call(f, uintptr(unsafe.Pointer(&p.c1)), uintptr(unsafe.Pointer(&p.c2)),
		uintptr(unsafe.Pointer(&p.c3)), uintptr(unsafe.Pointer(&p.c4)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.lda)),
		uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&p.ldb)),
		charLen, charLen, charLen, charLen)
	runtime.KeepAlive(p)
}

type lapackArgs struct {
	c1, c2                      byte
	n, lda, lwork, liwork, info int32
}

// callPotrf factors one triangle of a row-major symmetric matrix in place and returns LAPACK's
// info. The other triangle is passed instead of LAPACKE's row-major mode, which copies.
func callPotrf[T Float](f uintptr, uplo byte, n int, a []T, lda int) int {
	p := &lapackArgs{c1: flipUplo(uplo), n: int32(n), lda: int32(lda)}
	call(f, uintptr(unsafe.Pointer(&p.c1)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.lda)), uintptr(unsafe.Pointer(&p.info)), charLen)
	runtime.KeepAlive(p)
	return int(p.info)
}

// callSyevd decomposes a row-major symmetric matrix by divide and conquer and
// returns LAPACK's info. With job 'V', a holds the eigenvectors as rows.
func callSyevd[T Float](f uintptr, job, uplo byte, n int, a []T, lda int, w []T) int {
	p := &lapackArgs{c1: job, c2: flipUplo(uplo), n: int32(n), lda: int32(lda), lwork: -1, liwork: -1}
	work, iwork := make([]T, 1), make([]int32, 1)
	// The first call returns the size of the workspace.
	for range 2 {
		call(f, uintptr(unsafe.Pointer(&p.c1)), uintptr(unsafe.Pointer(&p.c2)),
			uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.lda)),
			uintptr(unsafe.Pointer(&w[0])), uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.lwork)),
			uintptr(unsafe.Pointer(&iwork[0])), uintptr(unsafe.Pointer(&p.liwork)), uintptr(unsafe.Pointer(&p.info)),
			charLen, charLen)
		if p.info != 0 || p.lwork != -1 {
			break
		}
		// A float32 does not hold every size exactly, hence the margin.
		lwork := int(float64(work[0])*1.0001) + 1
		p.lwork, p.liwork = int32(lwork), iwork[0]
		work, iwork = make([]T, lwork), make([]int32, iwork[0])
	}
	runtime.KeepAlive(p)
	return int(p.info)
}

// flipUplo returns the triangle of the transpose, flipTrans the other transposition.
func flipUplo(u byte) byte {
	if u == 'U' {
		return 'L'
	}
	return 'U'
}

func flipTrans(t byte) byte {
	if t == 'N' {
		return 'T'
	}
	return 'N'
}
