//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/cuda/kernels"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// A batch is queued by one call of an operation's launch, on a task whose operands are
// those of the first member. Kernels have blocks for every member, cuBLAS its calls for
// batches. What it takes is by how many elements the memory of a member is behind that of
// the one before: the task knows it by the address of the first one's.

// memberBatch is what the tasks of a batch share.
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

// noBatch fails in a batch for what computes none.
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

// addresses are those of all members' views in the device's memory, for each of some
// blocks, which are apart by a number of elements.
func (t *task) addresses(v view, apart, blocks int) func(block int) uintptr {
	at := t.scratch(8 * t.members * blocks)
	if t.err == nil {
		alone := *t // the addresses are in one piece
		alone.members = 0
		alone.Launch(kernels.MemberAddresses{First: int(v.at), Step: v.member * t.elem(), Count: t.members,
			Apart: apart * t.elem(), Blocks: blocks, Out: kernels.Integers(at)})
		t.err = alone.err
	}
	return func(block int) uintptr { return uintptr(at) + uintptr(8*t.members*block) }
}

// Orders of the diagonal blocks of a batch's solutions and factors: below them the
// libraries' functions for batches are good, above products are.
const (
	solveBlock  = op.MemberSolveBlock
	factorBlock = op.MemberFactorBlock
)

// solveMembers is Trsm for a batch: the diagonal blocks by cuBLAS, the rest by products.
// Each block takes what the blocks before have added up; see op.MemberSolveBlock.
func (t *task) solveMembers(side blas.Side, tr blas.Transpose, l, b kernels.Matrix) {
	n := l.Rows
	blocks := (n + solveBlock - 1) / solveBlock
	right := side == blas.Right
	apart := solveBlock * b.Cols // from one block of B to the next
	if right {
		apart = solveBlock
	}
	diagonal := t.addresses(t.view(l, 0, 0), solveBlock*(l.Cols+1), blocks)
	sides := t.addresses(t.view(b, 0, 0), apart, blocks)
	backward := (tr == blas.Trans) != right // from the last block to the first
	for step := range blocks {
		block := step
		if backward {
			block = blocks - 1 - step
		}
		i := block * solveBlock
		k := min(solveBlock, n-i)
		from, known := 0, i // what is solved already: the blocks before, or behind
		if backward {
			from, known = i+k, n-i-k
		}
		if known > 0 {
			t.eliminate(right, tr, l, b, i, k, from, known)
		}
		rows, cols := k, b.Cols
		if right {
			rows, cols = b.Rows, k
		}
		t.solveBlock(side, tr, diagonal(block), l.Cols, sides(block), b.Cols, rows, cols)
	}
}

// eliminate takes the known part of a solution off its k rows, or columns, from i on.
func (t *task) eliminate(right bool, tr blas.Transpose, l, b kernels.Matrix, i, k, from, known int) {
	between := t.view(l, i, from) // the block of L beside the known part
	if (tr == blas.Trans) != right {
		between = t.view(l, from, i)
	}
	if right {
		t.multiply(blas.NoTrans, tr, b.Rows, k, known, -1, t.view(b, 0, from), between, 1, t.view(b, 0, i))
		return
	}
	t.multiply(tr, blas.NoTrans, k, b.Cols, known, -1, between, t.view(b, from, 0), 1, t.view(b, i, 0))
}

// solveBlock solves op(L) X = B, or X op(L) = B, in place of the rows×cols B for matrices at
// arrays of addresses.
func (t *task) solveBlock(side blas.Side, tr blas.Transpose, l uintptr, ldl int, b uintptr, ldb, rows, cols int) {
	if !t.fits(rows, cols, ldl, ldb) {
		return
	}
	x, flippedSide := t.number(1), uintptr(1)
	if side == blas.Right {
		flippedSide = 0
	}
	t.blasCall("trsmBatched", flippedSide, flipped(blas.Lower), operation(tr), 0, uintptr(cols), uintptr(rows),
		uintptr(unsafe.Pointer(x)), l, uintptr(ldl), b, uintptr(ldb), uintptr(t.members))
}

// factorMembers is Potrf for a batch: each block of columns takes off what the columns to
// its left contribute, cuSOLVER factors its diagonal block, and cuBLAS solves for what is
// below. What products write above the diagonal is cleared at the end.
func (t *task) factorMembers(l kernels.Matrix, failed kernels.Flag) {
	n := l.Rows
	if !t.fits(n) {
		return
	}
	name := "cusolverDnDpotrfBatched"
	if t.Single() {
		name = "cusolverDnSpotrfBatched"
	}
	blocks := (n + factorBlock - 1) / factorBlock
	diagonal := t.addresses(t.view(l, 0, 0), factorBlock*(n+1), blocks)
	below := t.addresses(t.view(l, factorBlock, 0), factorBlock*(n+1), blocks)
	info := kernels.Flag(t.scratch(4 * t.members))
	t.strides[uintptr(info)] = 1
	for block := range blocks {
		j := block * factorBlock
		k := min(factorBlock, n-j)
		if j > 0 {
			t.multiply(blas.NoTrans, blas.Trans, n-j, k, j, -1, t.view(l, j, 0), t.view(l, j, 0), 1, t.view(l, j, j))
		}
		const upper = 1 // which cuSOLVER takes the row-major lower triangle for
		t.solverCall(name, upper, uintptr(k), diagonal(block), uintptr(n), uintptr(info), uintptr(t.members))
		t.Launch(kernels.KeepFailure{Other: info, Failed: failed})
		if rest := n - j - k; rest > 0 {
			t.solveBlock(blas.Right, blas.Trans, diagonal(block), n, below(block), n, rest, k)
		}
	}
	t.Launch(kernels.ClearUpper{A: l, N: n, Order: factorBlock})
}
