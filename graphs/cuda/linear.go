//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// The functions below have row-major arguments, like package cpublas. cuBLAS and
// cuSOLVER are column-major: they see every matrix transposed, so that operands
// change places and triangles flip.

// blasCall calls a cuBLAS function of the element type by its name without prefix. Scalars
// are passed by address, in the element type.
//
//go:uintptrescapes
func (t *task) blasCall(name string, args ...uintptr) {
	if t.err != nil {
		return
	}
	if t.gpu.libs.blas == nil {
		t.err = fmt.Errorf("%w: %w", engine.ErrNoKernel, t.gpu.libs.missing[products.name])
		return
	}
	handle, err := t.lane.blasHandle()
	if err != nil {
		t.err = err
		return
	}
	prefix := "cublasD"
	if t.Single() {
		prefix = "cublasS"
	}
	const full = 3 // CUBLAS_STATUS_ALLOC_FAILED
	status := t.withRoom(full, func() int {
		return t.gpu.libs.blas.Call(prefix+name, append([]uintptr{handle}, args...)...)
	})
	switch status {
	case 0:
	case full:
		t.err = fmt.Errorf("cuBLAS, %s%s: %w for its own use", prefix, name, engine.ErrOutOfDeviceMemory)
	default:
		t.err = fmt.Errorf("cuBLAS, %s%s: %s", prefix, name, blasStatus(status))
	}
}

// withRoom calls a library's function, and once more where the library finds no
// memory for its own use while the pool keeps some that nobody uses.
func (t *task) withRoom(full int, call func() int) int {
	status := call()
	if status != full || !t.gpu.makeRoom(t.lane) {
		return status // the first failure
	}
	return call()
}

// blasStatus is a status of cuBLAS in words.
func blasStatus(status int) string {
	if text, ok := map[int]string{1: "not initialised", 7: "invalid value",
		8: "the device's architecture is not supported", 13: "it failed on the device", 14: "internal error",
		15: "not supported"}[status]; ok {
		return text
	}
	return fmt.Sprintf("status %d", status)
}

// number keeps a scalar of the element type where C finds it.
type number [8]byte

// cuBLAS reads it during the call: it need not live longer.
func (t *task) number(v float64) *number {
	n := new(number)
	if t.Single() {
		*(*float32)(unsafe.Pointer(n)) = float32(v)
	} else {
		*(*float64)(unsafe.Pointer(n)) = v
	}
	return n
}

// operation is a transposition as cuBLAS numbers it.
func operation(tr blas.Transpose) uintptr {
	if tr == blas.NoTrans {
		return 0
	}
	return 1
}

// flipped is the other triangle, as cuBLAS numbers them.
func flipped(uplo blas.Uplo) uintptr {
	if uplo == blas.Lower {
		return 1 // upper
	}
	return 0
}

// fits refuses lengths that cuBLAS and cuSOLVER, which take them in 32 bits, would
// see as others.
func (t *task) fits(lengths ...int) bool {
	for _, n := range lengths {
		if t.err == nil && (n < 0 || n > math.MaxInt32) {
			t.err = fmt.Errorf("a matrix with %d rows or columns: cuBLAS and cuSOLVER take at most %d", n, math.MaxInt32)
		}
	}
	return t.err == nil
}

// workspace returns scratch memory of the length that cuSOLVER asks for.
func (t *task) workspace(n int, length int32, elem int) driver.Pointer {
	if t.err == nil && length < 0 {
		t.err = fmt.Errorf("cuSOLVER: the workspace for a matrix of order %d is longer than the %d elements that it can "+
			"take", n, math.MaxInt32)
	}
	return t.scratch(int(length) * elem)
}

// Gemm implements [op.Stream]. The leading dimensions are the numbers of columns.
// With column-major eyes it is Cᵀ = op(B)ᵀ op(A)ᵀ: operands and sizes change places, and
// the transpositions stay.
func (t *task) Gemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c kernels.Matrix) {
	t.product(tA, tB, m, n, k, alpha, a, b, 0, c)
}

// AddGemm implements [op.Stream].
func (t *task) AddGemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c kernels.Matrix) {
	t.product(tA, tB, m, n, k, alpha, a, b, 1, c)
}

// product is C = alpha op(A) op(B) + beta C.
func (t *task) product(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b kernels.Matrix, beta float64,
	c kernels.Matrix) {
	if t.members > 0 {
		t.multiply(tA, tB, m, n, k, alpha, t.view(a, 0, 0), t.view(b, 0, 0), beta, t.view(c, 0, 0))
		return
	}
	if !t.fits(m, n, k, a.Cols, b.Cols, c.Cols) {
		return
	}
	x, y := t.number(alpha), t.number(beta)
	t.blasCall("gemm_v2", operation(tB), operation(tA), uintptr(n), uintptr(m), uintptr(k), uintptr(unsafe.Pointer(x)),
		b.At, uintptr(b.Cols), a.At, uintptr(a.Cols), uintptr(unsafe.Pointer(y)), c.At, uintptr(c.Cols))
}

// Product implements [op.Stream]. cuBLAS computes every product if it is there, also many small
// ones in one call: its kernels suit the device and the sizes, and use tensor cores. Our kernel
// serves machines with a driver alone, where the host would compute otherwise. The two agree up to
// the order of sums.
func (t *task) Product(tA, tB bool, batch, m, n, k int, a, b, c kernels.Matrix) {
	switch {
	case !t.noBatch("batch of products"):
	case t.gpu.libs.blas == nil:
		t.Launch(kernels.BatchedProduct{A: a, B: b, Batch: batch, M: m, N: n, K: k, TransA: tA, TransB: tB, C: c})
	default:
		t.gemms(tA, tB, batch, m, n, k, a, b, c)
	}
}

// gemms calls cuBLAS for a batch of products, as Gemm does for one.
func (t *task) gemms(tA, tB bool, batch, m, n, k int, a, b, c kernels.Matrix) {
	if !t.fits(batch, m, n, k) {
		return
	}
	opA, lda, opB, ldb := uintptr(0), k, uintptr(0), n
	if tA {
		opA, lda = 1, m
	}
	if tB {
		opB, ldb = 1, k
	}
	x, y := t.number(1), t.number(0)
	if batch == 1 {
		t.blasCall("gemm_v2", opB, opA, uintptr(n), uintptr(m), uintptr(k), uintptr(unsafe.Pointer(x)), b.At, uintptr(ldb),
			a.At, uintptr(lda), uintptr(unsafe.Pointer(y)), c.At, uintptr(n))
		return
	}
	t.blasCall("gemmStridedBatched", opB, opA, uintptr(n), uintptr(m), uintptr(k), uintptr(unsafe.Pointer(x)),
		b.At, uintptr(ldb), uintptr(k*n), a.At, uintptr(lda), uintptr(m*k), uintptr(unsafe.Pointer(y)),
		c.At, uintptr(n), uintptr(m*n), uintptr(batch))
}

// Syrk implements [op.Stream]. Seen transposed, A Aᵀ is AᵀA of the stored matrix, and the triangle
// the other one. For batches cuBLAS has the whole product alone.
func (t *task) Syrk(uplo blas.Uplo, tr blas.Transpose, n, k int, alpha float64, a, c kernels.Matrix) {
	if t.members > 0 {
		other := blas.Trans
		if tr == blas.Trans {
			other = blas.NoTrans
		}
		t.multiply(tr, other, n, n, k, alpha, t.view(a, 0, 0), t.view(a, 0, 0), 0, t.view(c, 0, 0))
		return
	}
	if !t.fits(n, k, a.Cols, c.Cols) {
		return
	}
	x, y := t.number(alpha), t.number(0)
	t.blasCall("syrk_v2", flipped(uplo), 1-operation(tr), uintptr(n), uintptr(k), uintptr(unsafe.Pointer(x)),
		a.At, uintptr(a.Cols), uintptr(unsafe.Pointer(y)), c.At, uintptr(c.Cols))
}

// Trsm implements [op.Stream]. Seen transposed, L X = B is Xᵀ Lᵀ = Bᵀ: the side and
// the triangle change, op does not.
func (t *task) Trsm(side blas.Side, tr blas.Transpose, l, b kernels.Matrix) {
	if t.members > 0 {
		t.solveMembers(side, tr, l, b)
		return
	}
	if !t.fits(b.Rows, b.Cols, l.Cols) {
		return
	}
	x, flippedSide := t.number(1), uintptr(1)
	if side == blas.Right {
		flippedSide = 0
	}
	t.blasCall("trsm_v2", flippedSide, flipped(blas.Lower), operation(tr), 0, uintptr(b.Cols), uintptr(b.Rows),
		uintptr(unsafe.Pointer(x)), l.At, uintptr(l.Cols), b.At, uintptr(b.Cols))
}

// Trsv implements [op.Stream]. cuBLAS sees the upper triangular Lᵀ.
func (t *task) Trsv(tr blas.Transpose, l, b kernels.Matrix) {
	if t.members > 0 {
		t.solveMembers(blas.Left, tr, l, b)
		return
	}
	if !t.fits(l.Rows) {
		return
	}
	n := uintptr(l.Rows)
	t.blasCall("trsv_v2", 1, 1-operation(tr), 0, n, l.At, n, b.At, 1)
}

// solverCall calls a cuSOLVER function.
//
//go:uintptrescapes
func (t *task) solverCall(name string, args ...uintptr) {
	if t.err != nil {
		return
	}
	if t.gpu.libs.solver == nil {
		t.err = fmt.Errorf("%w: %w", engine.ErrNoKernel, t.gpu.libs.missing[solvers.name])
		return
	}
	handle, err := t.lane.solverHandle()
	if err != nil {
		t.err = err
		return
	}
	const full = 2 // CUSOLVER_STATUS_ALLOC_FAILED
	status := t.withRoom(full, func() int {
		return t.gpu.libs.solver.Call(name, append([]uintptr{handle}, args...)...)
	})
	switch status {
	case 0:
	case full:
		t.err = fmt.Errorf("cuSOLVER, %s: %w for its own use", name, engine.ErrOutOfDeviceMemory)
	default:
		t.err = fmt.Errorf("cuSOLVER, %s: status %d", name, status)
	}
}

// Potrf implements [op.Stream]. It leaves cuSOLVER's devInfo at the flag: the order of
// the first leading block that is not positive definite.
func (t *task) Potrf(l kernels.Matrix, failed kernels.Flag) {
	if t.members > 0 {
		t.factorMembers(l, failed)
		return
	}
	n := l.Rows
	if !t.fits(n) {
		return
	}
	prefix := "cusolverDnDpotrf"
	if t.Single() {
		prefix = "cusolverDnSpotrf"
	}
	var work int32
	const upper = 1 // which cuSOLVER takes the row-major lower triangle for
	t.solverCall(prefix+"_bufferSize", upper, uintptr(n), l.At, uintptr(n), uintptr(unsafe.Pointer(&work)))
	buffer := t.workspace(n, work, t.elem())
	t.solverCall(prefix, upper, uintptr(n), l.At, uintptr(n), uintptr(buffer), uintptr(work), uintptr(failed))
}

// Syevd implements [op.Stream]. Divide and conquer, in float64 for both element types. cuSOLVER's
// eigenvectors are columns of a column-major matrix, rows of ours.
func (t *task) Syevd(n int, v, w kernels.Doubles) (converged kernels.Flag) {
	if !t.fits(n) {
		return 0
	}
	if t.members > 0 && n <= kernels.EigenOrder {
		converged = kernels.Flag(t.scratchEach(1, 4))
		t.Launch(kernels.SymmetricEigen{V: v, W: w, Work: t.Doubles(n * n), N: n, Failed: converged})
		return converged
	}
	if t.err == nil { // it waits for the device
		t.err = t.d.refused("an eigen-decomposition by cuSOLVER")
	}
	if t.members > 0 && t.gpu.libs.eigenBatch {
		converged = kernels.Flag(t.scratchEach(1, 4))
		t.syevMembers(n, v, w, converged)
		return converged
	}
	const name, vectors, lower = "cusolverDnDsyevd", 1, 0
	var work int32
	t.solverCall(name+"_bufferSize", vectors, lower, uintptr(n), uintptr(v), uintptr(n), uintptr(w),
		uintptr(unsafe.Pointer(&work)))
	buffer := t.workspace(n, work, 8)
	converged = kernels.Flag(t.scratchEach(1, 4))
	for i := range max(1, t.members) { // one after the other in the queue, in the same workspace
		t.solverCall(name, vectors, lower, uintptr(n), uintptr(v)+uintptr(8*i*t.stride(uintptr(v))), uintptr(n),
			uintptr(w)+uintptr(8*i*t.stride(uintptr(w))), uintptr(buffer), uintptr(work), uintptr(converged)+uintptr(4*i))
	}
	return converged
}
