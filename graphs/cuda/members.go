//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// A batch is queued by one call of an operation's launch, on a task whose operands are those of the
// first member. Kernels have blocks for every member, cuBLAS its calls for batches. They need the
// distance between the memories of consecutive members, in elements: the task finds it by the
// address of the first member.

// memberBatch is the state that the tasks of a batch share.
type memberBatch struct {
	whole *task // of the operation, whose operands hold all members
	all   int   // members
	// Places for the failures of all members, in the order in which the launch asks for
	// them. Members beyond maxMembers ask again.
	flags []kernels.Flag
}

// maxMembers is how many members one launch computes: CUDA's limit for blocks in y.
const maxMembers = 1<<16 - 1

// Batch implements [op.Stream].
func (t *task) Batch(b op.Batch) {
	shared := &memberBatch{whole: t, all: b.Members}
	for first := 0; first < b.Members && t.err == nil; first += maxMembers {
		s := &task{d: t.d, gpu: t.gpu, lane: t.lane, op: t.op, dtype: t.dtype, batch: shared, first: first,
			members: min(maxMembers, b.Members-first), strides: map[uintptr]int{0: 0}}
		for i, shape := range b.In {
			size := shape.TotalSize()
			if b.Shared[i] {
				size = 0
			}
			s.in = append(s.in, s.member(t.in[i], shape, size))
		}
		s.out = s.member(t.out, b.Out, b.Out.TotalSize())
		b.Launch(s)
		for _, failed := range shared.flags {
			s.Launch(kernels.Invalidate{Failed: s.flag(failed), N: s.Out().Size(), Out: s.Out()})
		}
		s.giveBack()
		t.err = s.err
	}
}

// member is a tensor of the batch as that of the first member, for a distance of size
// elements to the next.
func (t *task) member(of engine.DTensor, shape []int, size int) engine.DTensor {
	at := of.Buf.(*buffer).block + driver.Pointer(t.first*size*t.elem())
	t.strides[uintptr(at)] = size
	return engine.DTensor{Buf: &buffer{block: at}, Shape: shape, DType: of.DType}
}

// flag is the place for the failure of the first member among those of all.
func (t *task) flag(all kernels.Flag) kernels.Flag {
	at := all + kernels.Flag(4*t.first)
	t.strides[uintptr(at)] = 1
	return at
}

// memberFailure is Failure in a batch.
func (t *task) memberFailure() kernels.Flag {
	if t.asked == len(t.batch.flags) {
		flags := t.batch.whole.failures(t.batch.all, true)
		if t.err = t.batch.whole.err; t.err != nil {
			return 0
		}
		t.batch.flags = append(t.batch.flags, flags)
	}
	t.asked++
	return t.flag(t.batch.flags[t.asked-1])
}

// stride is by how many elements the next member's memory is behind that at an address.
func (t *task) stride(at uintptr) int {
	if t.members == 0 {
		return 0
	}
	n, ok := t.strides[at]
	if !ok {
		t.Fail(fmt.Errorf("the batch has no memory at %#x", at))
	}
	return n
}

// noBatch fails in a batch, for operations without batches.
func (t *task) noBatch(what string) bool {
	if t.members > 0 {
		t.Fail(fmt.Errorf("there is no %s for a batch", what))
	}
	return t.err == nil
}

// view is a part of the matrices of all members: where it begins in the first one's, and
// by how many elements rows and members are apart.
type view struct {
	at          uintptr
	row, member int
}

// view is the part of a matrix from an element on.
func (t *task) view(a kernels.Matrix, i, j int) view {
	return view{a.At + uintptr((i*a.Cols+j)*t.elem()), a.Cols, t.stride(a.At)}
}

// multiply is C = alpha op(A) op(B) + beta C for each member, m×n with k products each.
func (t *task) multiply(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b view, beta float64, c view) {
	if !t.fits(m, n, k, a.row, b.row, c.row) {
		return
	}
	x, y := t.number(alpha), t.number(beta)
	t.blasCall("gemmStridedBatched", operation(tB), operation(tA), uintptr(n), uintptr(m), uintptr(k),
		uintptr(unsafe.Pointer(x)), b.at, uintptr(b.row), uintptr(b.member), a.at, uintptr(a.row), uintptr(a.member),
		uintptr(unsafe.Pointer(y)), c.at, uintptr(c.row), uintptr(c.member), uintptr(t.members))
}

// inverses are the inverses of the diagonal blocks of a triangular matrix of each member.
type inverses struct {
	blocks kernels.Matrix // squares that follow one another
	size   int
}

// block is the square that begins in a row of the matrix, for the element size of a task.
func (x inverses) block(t *task, row int) view { return t.view(x.blocks, row, 0) }

// inversesOf makes the inverses of the diagonal blocks of l once, for all solutions with it.
func (t *task) inversesOf(l kernels.Matrix) inverses {
	if known, ok := t.inverted[l.At]; ok {
		return known
	}
	size := op.MemberSolveBlock(l.Rows)
	rows := (l.Rows + kernels.FactorOrder - 1) / kernels.FactorOrder * kernels.FactorOrder
	x := inverses{t.Scratch((rows+size-1)/size*size, size), size}
	t.Launch(kernels.InvertBlocks{L: l, N: l.Rows, Size: size, Out: x.blocks})
	for half := kernels.FactorOrder; half < size; half *= 2 {
		t.Launch(kernels.JoinBlocks{L: l, N: l.Rows, Size: size, Half: half, Out: x.blocks})
	}
	if t.inverted == nil {
		t.inverted = map[uintptr]inverses{}
	}
	t.inverted[l.At] = x
	return x
}

// solveMembers is Trsm for a batch: block by block, each of which subtracts the contribution of the
// blocks before and multiplies by the inverse of its diagonal block; see [op.MemberSolveBlock].
func (t *task) solveMembers(side blas.Side, tr blas.Transpose, l, b kernels.Matrix) {
	n, right := l.Rows, side == blas.Right
	x := t.inversesOf(l)
	solved := t.Scratch(b.Rows, b.Cols)
	blocks := (n + x.size - 1) / x.size
	backward := (tr == blas.Trans) != right // from the last block to the first
	for step := range blocks {
		i := step * x.size
		if backward {
			i = (blocks - 1 - step) * x.size
		}
		k := min(x.size, n-i)
		from, known := 0, i // the solved part: the blocks before, or behind
		if backward {
			from, known = i+k, n-i-k
		}
		if known > 0 {
			t.eliminate(right, tr, l, solved, b, i, k, from, known)
		}
		if right {
			t.multiply(blas.NoTrans, tr, b.Rows, k, k, 1, t.view(b, 0, i), x.block(t, i), 0, t.view(solved, 0, i))
		} else {
			t.multiply(tr, blas.NoTrans, k, b.Cols, k, 1, x.block(t, i), t.view(b, i, 0), 0, t.view(solved, i, 0))
		}
	}
	t.Copy(b, solved)
}

// eliminate takes the known part of a solution off the k rows of b, or columns, from i on.
func (t *task) eliminate(right bool, tr blas.Transpose, l, solved, b kernels.Matrix, i, k, from, known int) {
	between := t.view(l, i, from) // the block of L next to the known part
	if (tr == blas.Trans) != right {
		between = t.view(l, from, i)
	}
	if right {
		t.multiply(blas.NoTrans, tr, b.Rows, k, known, -1, t.view(solved, 0, from), between, 1, t.view(b, 0, i))
		return
	}
	t.multiply(tr, blas.NoTrans, k, b.Cols, known, -1, between, t.view(solved, from, 0), 1, t.view(b, i, 0))
}

// factorMembers is Potrf for a batch: each block of columns subtracts the contribution of the
// columns to its left, one kernel factors its diagonal block, and another its rows below. Diagonal
// blocks, in float64 with their inverses, get to their places at the end, and so do zeros above the
// diagonal.
func (t *task) factorMembers(l kernels.Matrix, failed kernels.Flag) {
	n := l.Rows
	delete(t.inverted, l.At)
	diagonal := t.Doubles(n * kernels.FactorOrder)
	for j := 0; j < n; j += kernels.FactorOrder {
		if j > 0 {
			k := min(kernels.FactorOrder, n-j)
			t.multiply(blas.NoTrans, blas.Trans, n-j, k, j, -1, t.view(l, j, 0), t.view(l, j, 0), 1, t.view(l, j, j))
		}
		t.Launch(kernels.FactorBlock{L: l, N: n, From: j, Diagonal: diagonal, Failed: failed})
		t.Launch(kernels.FactorRows{L: l, N: n, From: j, Diagonal: diagonal})
	}
	t.Launch(kernels.PlaceDiagonal{Diagonal: diagonal, N: n, L: l})
}
