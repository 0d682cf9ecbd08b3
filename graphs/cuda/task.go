//go:build gpu && linux

package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/cu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// task is one operation that is being queued. After an error its methods do
// nothing.
type task struct {
	d        *device
	gpu      *gpu
	op       gorgonia.Op
	dtype    tensor.Dtype
	module   *module
	in       []matrix
	out      matrix
	operands []engine.DTensor // in, with their buffers
	borrowed []cu.DevicePtr
	err      error
}

// matrix is a row-major matrix on the device. A scalar is 1×1, a vector one row.
type matrix struct {
	at         cu.DevicePtr
	rows, cols int
}

func (m matrix) size() int { return m.rows * m.cols }

func matrixOf(t engine.DTensor) matrix {
	m := matrix{at: t.Buf.(*buffer).block, rows: 1, cols: 1}
	switch len(t.Shape) {
	case 0:
	case 1:
		m.cols = t.Shape[0]
	default:
		m.rows, m.cols = t.Shape[0], t.Shape.TotalSize()/t.Shape[0]
	}
	return m
}

// elem is the size of an element.
func (t *task) elem() int { return int(t.dtype.Size()) }

func (t *task) single() bool { return t.dtype == tensor.Float32 }

// scratch returns memory that is free again after the operation.
func (t *task) scratch(bytes int) cu.DevicePtr {
	if t.err != nil {
		return 0
	}
	block, err := t.gpu.alloc(max(bytes, 1))
	if err != nil {
		t.err = err
		return 0
	}
	t.borrowed = append(t.borrowed, block)
	return block
}

// matrix returns scratch memory for a matrix of the element type.
func (t *task) matrix(rows, cols int) matrix {
	return matrix{t.scratch(rows * cols * t.elem()), rows, cols}
}

// doubles returns scratch memory for n numbers in double.
func (t *task) doubles(n int) cu.DevicePtr { return t.scratch(8 * n) }

// giveBack gives scratch memory back.
func (t *task) giveBack() {
	for _, block := range t.borrowed {
		if err := t.gpu.pool.release(block); err != nil && t.err == nil {
			t.err = err
		}
	}
	t.borrowed = nil
}

// info returns the place where the operation tells that it failed. Its inputs
// are held until the end of the run, so that the error can say why.
func (t *task) info() cu.DevicePtr {
	if t.err != nil {
		return 0
	}
	r := &t.d.run
	if len(r.fallible) == maxInfos {
		if t.err = t.d.settle(); t.err != nil {
			return 0
		}
	}
	if r.infos == 0 {
		block, err := t.gpu.alloc(4 * maxInfos)
		if err == nil {
			r.infos = block
			err = t.gpu.failed("clearing memory", cu.MemsetD8Async(block, 0, 4*maxInfos, t.gpu.stream))
		}
		if err != nil {
			t.err = err
			return 0
		}
	}
	r.fallible = append(r.fallible, fallible{t.op, t.operands})
	for _, x := range t.operands {
		if b := x.Buf.(*buffer); !b.held {
			b.held = true
			r.held = append(r.held, b)
		}
	}
	return r.infos + cu.DevicePtr(4*(len(r.fallible)-1))
}

// grid is the number and the shape of a launch's blocks.
type grid struct{ blocks, x, y int }

const (
	block = 256 // BLOCK of the kernels
	// Kernels stride over what is beyond maxBlocks.
	maxBlocks = 8192
)

// each is a grid of one thread for each of n elements.
func each(n int) grid { return grid{min((n+block-1)/block, maxBlocks), block, 1} }

// rows is a grid of one block for each row.
func rows(n int) grid { return grid{min(n, maxBlocks), block, 1} }

// one is a single block.
var one = grid{1, block, 1}

// columns is a grid for kernels that do 32 columns with 32×8 threads.
func columns(n int) grid { return grid{(n + 31) / 32, 32, 8} }

// tiles is a grid of side×side tiles.
func tiles(rows, cols, side, x, y int) grid {
	return grid{((rows + side - 1) / side) * ((cols + side - 1) / side), x, y}
}

// launch queues a kernel. Arguments are device addresses, int, bool and float64:
// all are passed in 64 bits.
func (t *task) launch(name string, g grid, args ...any) {
	if t.err != nil || g.blocks == 0 {
		return
	}
	f, err := t.module.function(name)
	if err != nil {
		t.err = err
		return
	}
	words := make([]uint64, len(args))
	params := make([]unsafe.Pointer, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case matrix:
			words[i] = uint64(a.at)
		case cu.DevicePtr:
			words[i] = uint64(a)
		case int:
			words[i] = uint64(a)
		case bool:
			if a {
				words[i] = 1
			}
		case float64:
			words[i] = math.Float64bits(a)
		default:
			t.err = fmt.Errorf("kernel %s: argument %d is a %T", name, i, a)
			return
		}
		params[i] = unsafe.Pointer(&words[i])
	}
	t.err = t.gpu.failed("kernel "+name, f.Launch(g.blocks, 1, 1, g.x, g.y, 1, 0, t.gpu.stream, params))
}

// copy queues a copy of a whole matrix.
func (t *task) copy(to, from matrix) {
	if t.err == nil {
		t.err = t.gpu.failed("copying on the device", cu.MemcpyDtoDAsync(to.at, from.at, int64(from.size()*t.elem()), t.gpu.stream))
	}
}

// The functions below have row-major arguments, like package cpublas. cuBLAS and
// cuSOLVER are column-major: they see every matrix transposed, so that operands
// change places and triangles flip.

// blasCall calls a cuBLAS function of the element type. Scalars are passed by
// address, in the element type.
//
//go:uintptrescapes
func (t *task) blasCall(name string, args ...uintptr) {
	if t.err != nil {
		return
	}
	prefix := "cublasD"
	if t.single() {
		prefix = "cublasS"
	}
	const full = 3 // CUBLAS_STATUS_ALLOC_FAILED
	status := t.withRoom(full, func() int {
		return t.gpu.libs.cublas.call(prefix+name+"_v2", append([]uintptr{t.gpu.blas}, args...)...)
	})
	switch status {
	case 0:
	case full:
		t.err = fmt.Errorf("cuBLAS, %s: %w for its own use", name, engine.ErrOutOfDeviceMemory)
	default:
		t.err = fmt.Errorf("cuBLAS, %s: %s", name, blasStatus(status))
	}
}

// withRoom calls a library's function, and once more where the library finds no
// memory for its own use while the pool keeps some that nobody uses.
func (t *task) withRoom(full int, call func() int) int {
	status := call()
	if status != full || t.gpu.pool.kept == 0 {
		return status
	}
	if t.gpu.stream.Synchronize() != nil || t.gpu.pool.trim() != nil {
		return status // which is what went wrong first
	}
	return call()
}

func blasStatus(status int) string {
	if text, ok := map[int]string{1: "not initialised", 7: "invalid value",
		8: "the device's architecture is not supported", 13: "it failed on the device", 14: "internal error", 15: "not supported"}[status]; ok {
		return text
	}
	return fmt.Sprintf("status %d", status)
}

// number keeps a scalar of the element type where C finds it.
type number [8]byte

func (t *task) number(v float64) *number {
	n := new(number)
	if t.single() {
		*(*float32)(unsafe.Pointer(n)) = float32(v)
	} else {
		*(*float64)(unsafe.Pointer(n)) = v
	}
	return n
}

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
func (t *task) workspace(n int, length int32, elem int) cu.DevicePtr {
	if t.err == nil && length < 0 {
		t.err = fmt.Errorf("cuSOLVER: the workspace for a matrix of order %d is longer than the %d elements that it can take", n, math.MaxInt32)
	}
	return t.scratch(int(length) * elem)
}

// gemm is C = alpha op(A) op(B), m×n, with k products each. The leading
// dimensions are the numbers of columns.
func (t *task) gemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c matrix) {
	if !t.fits(m, n, k, a.cols, b.cols, c.cols) {
		return
	}
	x, y := t.number(alpha), t.number(0)
	t.blasCall("gemm", operation(tB), operation(tA), uintptr(n), uintptr(m), uintptr(k), uintptr(unsafe.Pointer(x)), uintptr(b.at), uintptr(b.cols),
		uintptr(a.at), uintptr(a.cols), uintptr(unsafe.Pointer(y)), uintptr(c.at), uintptr(c.cols))
}

// syrk is C = alpha A Aᵀ, or alpha AᵀA if transposed, in one triangle of the n×n
// C.
func (t *task) syrk(uplo blas.Uplo, tr blas.Transpose, n, k int, alpha float64, a, c matrix) {
	if !t.fits(n, k, a.cols, c.cols) {
		return
	}
	x, y := t.number(alpha), t.number(0)
	t.blasCall("syrk", flipped(uplo), 1-operation(tr), uintptr(n), uintptr(k), uintptr(unsafe.Pointer(x)), uintptr(a.at), uintptr(a.cols),
		uintptr(unsafe.Pointer(y)), uintptr(c.at), uintptr(c.cols))
}

// trsm solves op(L) X = B, or X op(L) = B on the right side, in place of the m×n
// B, for a lower triangular L.
func (t *task) trsm(side blas.Side, tr blas.Transpose, m, n int, l, b matrix) {
	if !t.fits(m, n, l.cols, b.cols) {
		return
	}
	x, flippedSide := t.number(1), uintptr(1)
	if side == blas.Right {
		flippedSide = 0
	}
	t.blasCall("trsm", flippedSide, flipped(blas.Lower), operation(tr), 0, uintptr(n), uintptr(m), uintptr(unsafe.Pointer(x)), uintptr(l.at), uintptr(l.cols),
		uintptr(b.at), uintptr(b.cols))
}

// substitute solves L Lᵀ X = B in place of B.
func (t *task) substitute(l, b matrix) {
	if b.cols == 1 {
		t.substituteVector(l, b)
		return
	}
	t.trsm(blas.Left, blas.NoTrans, b.rows, b.cols, l, b)
	t.trsm(blas.Left, blas.Trans, b.rows, b.cols, l, b)
}

// substituteVector is substitute for a single right side.
func (t *task) substituteVector(l, x matrix) {
	if !t.fits(l.rows) {
		return
	}
	n := uintptr(l.rows)
	// cuBLAS sees the upper triangular Lᵀ.
	t.blasCall("trsv", 1, 1, 0, n, uintptr(l.at), n, uintptr(x.at), 1)
	t.blasCall("trsv", 1, 0, 0, n, uintptr(l.at), n, uintptr(x.at), 1)
}

// solverCall calls a cuSOLVER function.
//
//go:uintptrescapes
func (t *task) solverCall(name string, args ...uintptr) {
	if t.err != nil {
		return
	}
	const full = 2 // CUSOLVER_STATUS_ALLOC_FAILED
	status := t.withRoom(full, func() int {
		return t.gpu.libs.cusolver.call(name, append([]uintptr{t.gpu.solver}, args...)...)
	})
	switch status {
	case 0:
	case full:
		t.err = fmt.Errorf("cuSOLVER, %s: %w for its own use", name, engine.ErrOutOfDeviceMemory)
	default:
		t.err = fmt.Errorf("cuSOLVER, %s: status %d", name, status)
	}
}

// factor writes the Cholesky factor of a + *shift·I to l, with zeros above the
// diagonal; a shift of 0 stands for none. A failure is told at the end of the
// run.
func (t *task) factor(a matrix, shift cu.DevicePtr, l matrix) {
	n := a.rows
	if !t.fits(n) {
		return
	}
	t.launch("lower_shifted", each(n*n), a, shift, n, l)
	info := t.info()
	prefix := "cusolverDnDpotrf"
	if t.single() {
		prefix = "cusolverDnSpotrf"
	}
	var work int32
	const upper = 1 // which cuSOLVER takes the row-major lower triangle for
	t.solverCall(prefix+"_bufferSize", upper, uintptr(n), uintptr(l.at), uintptr(n), uintptr(unsafe.Pointer(&work)))
	buffer := t.workspace(n, work, t.elem())
	t.solverCall(prefix, upper, uintptr(n), uintptr(l.at), uintptr(n), uintptr(buffer), uintptr(work), uintptr(info))
	t.launch("check_factor", one, l, n, info)
}

// eigen returns the eigenvalues of a symmetric matrix in ascending order and
// its eigenvectors as rows, both in double.
func (t *task) eigen(a matrix) (w, v cu.DevicePtr) {
	n := a.rows
	if !t.fits(n) {
		return 0, 0
	}
	w, v = t.doubles(n), t.doubles(n*n)
	info := t.info()
	t.launch("widen_finite", each(n*n), a, v, n*n, info)
	var work int32
	const vectors, lower = 1, 0
	t.solverCall("cusolverDnDsyevd_bufferSize", vectors, lower, uintptr(n), uintptr(v), uintptr(n), uintptr(w), uintptr(unsafe.Pointer(&work)))
	buffer := t.workspace(n, work, 8)
	converged := t.scratch(4)
	t.solverCall("cusolverDnDsyevd", vectors, lower, uintptr(n), uintptr(v), uintptr(n), uintptr(w), uintptr(buffer), uintptr(work), uintptr(converged))
	t.launch("keep_failure", one, converged, info)
	return w, v
}

// total adds parts to a scalar.
func (t *task) total(parts cu.DevicePtr, n int, out matrix) {
	t.launch("sum_parts", one, parts, n, out)
}
