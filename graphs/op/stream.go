package op

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// Operands are those of an operation that is being queued or planned, and its result.
type Operands interface {
	// Operands is the number of operands. In returns one, counted from 0, and
	// Shape its shape.
	Operands() int
	In(i int) kernels.Matrix
	Shape(i int) tensor.Shape
	// Out is where the result goes, and OutShape its shape. The elements of truth
	// values are bytes.
	Out() kernels.Matrix
	OutShape() tensor.Shape
	// Fail records an error.
	Fail(err error)
}

// Stream is a CUDA device on which one operation is being queued: its operands, memory,
// kernels, cuBLAS and cuSOLVER. Arguments are row-major, as those of package cpublas.
// After an error, which the device keeps, its methods do nothing.
//
// Nothing waits: queued work runs later, in order, and no method returns a number
// that the device computes. Operations with data-dependent control flow therefore make
// all steps that could be needed (see ReciprocalCondition), or leave a flag.
type Stream interface {
	Operands
	// Single reports whether the element type is float32.
	Single() bool

	// Scratch returns memory for a matrix of the element type, Doubles for n
	// numbers in float64. Both are free again after the operation.
	Scratch(rows, cols int) kernels.Matrix
	Doubles(n int) kernels.Doubles
	// Numbers copies numbers of the host to the device, and Truths the n truth values that a
	// function returns. Send copies the elements of a value of any type that a function
	// returns. Random numbers are drawn in these functions, which a stream that only counts
	// does not call. Deliver calls a function with n numbers of the device at the end of the
	// run, for the state that an operation keeps between runs; a run that fails before does
	// not call it.
	Numbers(v []float64) kernels.Doubles
	Truths(n int, of func() ([]bool, error)) kernels.Truth
	Send(to kernels.Matrix, of func() (gorgonia.Value, error))
	Deliver(d kernels.Doubles, n int, to func([]float64))
	// Failure returns the address to which the operation writes a number other than
	// zero when it fails; the host's error for the same operands follows at the
	// end of the run.
	Failure() kernels.Flag
	// Part returns the rows×cols elements of a matrix from one of them on.
	Part(a kernels.Matrix, from, rows, cols int) kernels.Matrix

	// Launch queues a kernel.
	Launch(k kernels.Kernel)
	// Copy copies a whole matrix.
	Copy(to, from kernels.Matrix)
	// Gemm is C = alpha op(A) op(B), m×n, with k products each.
	Gemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c kernels.Matrix)
	// AddGemm is C += alpha op(A) op(B).
	AddGemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a, b, c kernels.Matrix)
	// Product is C = op(A) op(B) for each of a batch of matrices that follow one another,
	// m×n with k products each.
	Product(tA, tB bool, batch, m, n, k int, a, b, c kernels.Matrix)
	// Syrk is C = alpha A Aᵀ, or alpha AᵀA if transposed, in one triangle of the
	// n×n C, with k products each.
	Syrk(uplo blas.Uplo, tr blas.Transpose, n, k int, alpha float64, a, c kernels.Matrix)
	// Trsm solves op(L) X = B, or X op(L) = B on the right side, in place of B, for
	// a lower triangular L.
	Trsm(side blas.Side, tr blas.Transpose, l, b kernels.Matrix)
	// Trsv solves op(L) x = b in place of the column b.
	Trsv(tr blas.Transpose, l, b kernels.Matrix)
	// Potrf factors the lower triangle of L in place.
	Potrf(l kernels.Matrix, failed kernels.Flag)
	// Syevd overwrites the n×n v by its eigenvectors, as rows, and w by the
	// eigenvalues in ascending order. The flag that it returns reports whether it
	// converged. In a batch one kernel decomposes all members up to [kernels.EigenOrder],
	// and above it a call of the library, or where that has none for batches one each.
	Syevd(n int, v, w kernels.Doubles) kernels.Flag

	// Batch queues an operation for all members of a batch.
	Batch(b Batch)
}

// Batch is an operation on every member of a batch that is being queued. Its Launch gets a
// stream whose operands, result and scratch memory are those of the first member, and whose
// methods do the same for all others: every method is called once.
//
// The streams of a batch have no Numbers, Truths, Send, Deliver and Product, and no kernels
// of single elements.
type Batch struct {
	Members int
	In      []tensor.Shape // of a member's operands
	Shared  []bool         // operands that are the same one for all members
	Out     tensor.Shape   // of a member's result
	Launch  func(Stream)
}

// Launch returns the function that queues an operation on a CUDA device: one of this package,
// or one of gorgonia's in [Builtins]. It returns nil for an operation without a kernel for the
// types of the operands and of the result, which comes last.
func Launch(o gorgonia.Op, types ...tensor.Dtype) func(Stream) {
	if ours, ok := o.(Op); ok {
		return ours.launch
	}
	return launchBuiltin(o, types)
}

// launch queues the operation.
func (o Op) launch(t Stream) {
	if o.lead == 0 {
		o.def.launch(t)
		return
	}
	in := make([]tensor.Shape, t.Operands())
	for i := range in {
		in[i] = t.Shape(i)
	}
	lead, member, err := o.members(in)
	if err != nil {
		t.Fail(err)
		return
	}
	out, err := o.def.shape(member)
	if err != nil {
		t.Fail(err)
		return
	}
	shared := make([]bool, len(in))
	for i := range shared {
		shared[i] = o.shares(i)
	}
	t.Batch(Batch{Members: lead.TotalSize(), In: member, Shared: shared, Out: out, Launch: o.def.launch})
}

// ElementType returns the floating-point type among those of an operation, float64 where there
// is none: other operands or the result may be integers or truth values.
func ElementType(types ...tensor.Dtype) tensor.Dtype {
	if i := slices.IndexFunc(types, floating); i >= 0 {
		return types[i]
	}
	return tensor.Float64
}

// HasElementType reports whether a floating-point type is among those of an operation.
func HasElementType(types ...tensor.Dtype) bool { return slices.ContainsFunc(types, floating) }

func floating(t tensor.Dtype) bool { return t == tensor.Float64 || t == tensor.Float32 }

// Elementwise returns the function of an operation on single elements, for operands and a
// result, which comes last, of some types and shapes. ok is false for every other operation,
// and for one whose launch would fail. The numbers of operands, from 1, stand for their
// addresses.
func Elementwise(o gorgonia.Op, types []tensor.Dtype, shapes []tensor.Shape) (e kernels.Element, ok bool) {
	p := parametersOf(o)
	for _, b := range byKind[p.kind] {
		if b.element == nil || !b.takes(types) {
			continue
		}
		kernel := b.element(p)
		if p.err != nil {
			return e, false
		}
		if kernel == nil {
			continue
		}
		t := &absent{shapes: shapes}
		if k := kernel(t); t.err == nil {
			return kernels.ElementOf(k), true
		}
		return e, false
	}
	return e, false
}

// absent are operands without memory.
type absent struct {
	shapes []tensor.Shape // the last is the result's
	err    error
}

func (a *absent) Operands() int            { return len(a.shapes) - 1 }
func (a *absent) Shape(i int) tensor.Shape { return a.shapes[i] }
func (a *absent) OutShape() tensor.Shape   { return a.shapes[a.Operands()] }
func (a *absent) Out() kernels.Matrix      { return a.matrix(a.Operands()) }
func (a *absent) In(i int) kernels.Matrix  { return a.matrix(i) }
func (a *absent) Fail(err error)           { a.err = err }

func (a *absent) matrix(i int) kernels.Matrix {
	return kernels.Matrix{At: uintptr(i + 1), Rows: 1, Cols: a.shapes[i].TotalSize()}
}

// mirrorOn copies the upper triangle of a square matrix into the lower one.
func mirrorOn(t Stream, a kernels.Matrix) { t.Launch(kernels.MirrorUpper{A: a, N: a.Rows}) }

// totalOn adds the parts that the blocks of a grid left to a scalar.
func totalOn(t Stream, parts kernels.Doubles, g kernels.Grid) {
	t.Launch(kernels.SumParts{Parts: parts, N: g.Blocks, Out: t.Out()})
}

// sumColumnsOn queues the sums down the columns of k.A, or of its products with k.B, over k.Divisor: to k.Parts in
// float64, or else to k.Out. Chunks of rows are summed apart, and then one after the other.
func sumColumnsOn(t Stream, k kernels.SumColumns) {
	k.Rows, k.Cols, k.Chunk = k.A.Rows, k.A.Cols, kernels.RowChunk(k.A.Rows)
	n := k.Chunks()
	if n == 1 {
		t.Launch(k)
		return
	}
	sum := kernels.AddParts{A: t.Doubles(n * k.Cols), Rows: n, Cols: k.Cols, Divisor: k.Divisor, Parts: k.Parts,
		Out: k.Out}
	k.Divisor, k.Parts, k.Out = 1, sum.A, kernels.Matrix{}
	t.Launch(k)
	t.Launch(sum)
}

// substituteOn solves L Lᵀ X = B in place of B.
func substituteOn(t Stream, l, b kernels.Matrix) {
	if b.Cols == 1 {
		t.Trsv(blas.NoTrans, l, b)
		t.Trsv(blas.Trans, l, b)
		return
	}
	t.Trsm(blas.Left, blas.NoTrans, l, b)
	t.Trsm(blas.Left, blas.Trans, l, b)
}
