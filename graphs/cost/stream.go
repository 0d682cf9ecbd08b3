package cost

import (
	"math"
	"reflect"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// Work is the work of operations on a device.
type Work struct {
	Launches   int     // of kernels, copies on the device and calls of libraries
	Operations float64 // in floating point
	Traffic    float64 // bytes that are read and written in the device's memory
	// Copies between host and device, and their bytes. Of counts the copies that operations
	// make themselves.
	Copies   int
	Up, Down int64
	Seconds  Seconds // predicted, without the copies
	// inGraph are the times of the same launches as parts of a CUDA graph.
	inGraph Seconds
	// Alone is work that no CUDA graph has: a library waits for the device in it.
	Alone bool
}

// Replayed returns the work of the same launches as one launch of a CUDA graph, with copies on the
// device of its operands and results: each launch takes the time of a node.
func (w Work) Replayed(copies int) Work {
	w.Launches = 1 + copies
	launches := each(func(d Device) float64 { return float64(w.Launches) * d.Launch })
	for i := range w.Seconds {
		w.Seconds[i] = w.inGraph[i] + launches[i]
	}
	w.inGraph = w.Seconds
	return w
}

// Add adds other work.
func (w *Work) Add(other Work) {
	w.Launches += other.Launches
	w.Operations += other.Operations
	w.Traffic += other.Traffic
	w.Copies += other.Copies
	w.Up += other.Up
	w.Down += other.Down
	w.Seconds.Add(other.Seconds)
	w.inGraph.Add(other.inGraph)
	w.Alone = w.Alone || other.Alone
}

// Operand is the shape and the element type of an operand or a result.
type Operand struct {
	Shape tensor.Shape
	DType tensor.Dtype
}

// Of counts an operation. It returns false for one that has no kernel, which falls back to
// the host.
func Of(o gorgonia.Op, out Operand, in []Operand) (Work, bool) {
	types := make([]tensor.Dtype, 0, len(in)+1)
	for _, x := range in {
		types = append(types, x.DType)
	}
	types = append(types, out.DType)
	launch := op.Launch(o, types...)
	if launch == nil {
		return Work{}, false
	}
	s := &stream{in: in, out: out, element: op.ElementType(types...)}
	launch(s)
	return s.work, true
}

// OfChain counts a chain of functions of n elements each, which one kernel computes: its
// traffic is that of its operands and results.
func OfChain(functions, n int, dtype tensor.Dtype, operands ...Operand) Work {
	traffic := 0.0
	for _, x := range operands {
		traffic += float64(x.Shape.TotalSize()) * float64(x.DType.Size())
	}
	s := &stream{element: dtype}
	s.add(step{launches: 1, operations: float64(functions) * float64(n), traffic: traffic,
		blocks: max(1, math.Ceil(float64(n)/threads))})
	return s.work
}

// stream is an [op.Stream] without a device: it counts the queued work. Addresses stand for
// nothing; no kernel reads them.
type stream struct {
	in      []Operand
	out     Operand
	element tensor.Dtype
	work    Work
	members int // that each step computes in a batch; 0 outside of one
	// fails: the operation has a flag for its failure.
	fails bool
	// inverted: the inverses for solutions in a batch are counted.
	inverted bool
}

var _ op.Stream = (*stream)(nil)

// somewhere is the address of everything: zero stands for no matrix.
const somewhere = 1

func (s *stream) Operands() int            { return len(s.in) }
func (s *stream) In(i int) kernels.Matrix  { return kernels.MatrixOf(somewhere, s.in[i].Shape...) }
func (s *stream) Shape(i int) tensor.Shape { return s.in[i].Shape }
func (s *stream) Out() kernels.Matrix      { return kernels.MatrixOf(somewhere, s.out.Shape...) }
func (s *stream) OutShape() tensor.Shape   { return s.out.Shape }
func (s *stream) Single() bool             { return s.element == tensor.Float32 }
func (s *stream) Fail(error)               {}

// Failure implements [op.Stream].
func (s *stream) Failure() kernels.Flag {
	s.fails = true
	return somewhere
}

func (s *stream) Scratch(rows, cols int) kernels.Matrix {
	return kernels.Matrix{At: somewhere, Rows: rows, Cols: cols}
}

func (s *stream) Doubles(int) kernels.Doubles { return somewhere }

func (s *stream) Numbers(v []float64) kernels.Doubles {
	s.work.Copies++
	s.work.Up += int64(8 * len(v))
	return somewhere
}

func (s *stream) Truths(n int, _ func() ([]bool, error)) kernels.Truth {
	s.work.Copies++
	s.work.Up += int64(n)
	return somewhere
}

func (s *stream) Send(to kernels.Matrix, _ func() (gorgonia.Value, error)) {
	s.work.Copies++
	s.work.Up += int64(to.Size()) * int64(s.out.DType.Size())
}

func (s *stream) Deliver(_ kernels.Doubles, n int, _ func([]float64)) {
	s.work.Copies++
	s.work.Down += int64(8 * n)
}

func (s *stream) Part(_ kernels.Matrix, _, rows, cols int) kernels.Matrix {
	return s.Scratch(rows, cols)
}

// add adds a step, which in a batch does the same for every member.
func (s *stream) add(x step) {
	if n := float64(s.members); n > 1 {
		x.operations, x.traffic, x.blocks = n*x.operations, n*x.traffic, n*x.blocks
	}
	single := s.Single() && !x.double
	s.work.Add(Work{Launches: x.launches, Operations: x.operations, Traffic: x.traffic,
		Seconds: each(func(d Device) float64 { return x.seconds(d, single, d.Launch) }),
		inGraph: each(func(d Device) float64 { return x.seconds(d, single, d.Node) })})
}

// elem is the size of an element, in bytes.
func (s *stream) elem() float64 { return float64(s.element.Size()) }

// threads is the number of threads that keep a multiprocessor busy.
const threads = 1024

// Launch implements [op.Stream]. The traffic is that of the kernel's matrices, or a byte for
// each thread of one that has truth values alone.
func (s *stream) Launch(k kernels.Kernel) {
	g := k.Grid()
	if g.Blocks == 0 {
		return
	}
	numbers := touched(k, 8/s.elem())
	// Several blocks share a multiprocessor, which one small block does not fill.
	blocks := max(1, math.Ceil(float64(g.Blocks*g.X*g.Y)/threads))
	traffic := s.elem() * numbers
	if numbers == 0 {
		traffic = float64(g.Blocks * g.X * g.Y)
	}
	s.add(step{launches: 1, stages: waits(k), operations: arithmetic(k, numbers), double: inDouble(k), traffic: traffic,
		blocks: blocks})
}

// inDouble reports whether a kernel computes in float64 for either element type, as sums and factors in shared
// memory are.
func inDouble(k kernels.Kernel) bool {
	switch k.(type) {
	case kernels.ShiftedInverse, kernels.FactorBlock, kernels.FactorRows, kernels.InvertBlocks, kernels.JoinBlocks,
		kernels.LeftSingular, kernels.RitzPairs, kernels.LogisticScale, kernels.NewtonTarget, kernels.GibbsGradient,
		kernels.ManhattanGradient, kernels.SquaredGradient, kernels.ShiftRows, kernels.HalfSquares, kernels.HullSafety,
		kernels.Softmax, kernels.SoftmaxGradient, kernels.Sparsemax, kernels.SparsemaxGradient, kernels.SumLines,
		kernels.SumChunks, kernels.Standardise, kernels.StandardiseGradient, kernels.SumAll, kernels.SumLowerProducts,
		kernels.SumRidge, kernels.SumParts, kernels.SumDiagonal, kernels.SumRows, kernels.SumColumns, kernels.AddParts,
		kernels.RowDistance, kernels.CentreSymmetric, kernels.RowNormParts, kernels.PickGradient, kernels.ColumnsImage,
		kernels.MaxPoolGradient, kernels.AveragePool, kernels.AveragePoolGradient:
		return true
	}
	return false
}

// touched is the number of elements that a kernel reads and writes, each number in float64 as doubles
// elements.
func touched(k kernels.Kernel, doubles float64) float64 {
	switch k := k.(type) { // of these matrices the diagonal alone
	case kernels.CheckFactor:
		return float64(k.N)
	case kernels.SumDiagonal:
		return float64(k.N)
	case kernels.FactorBlock: // read, and written in float64
		return (1 + doubles) * kernels.FactorOrder * kernels.FactorOrder
	case kernels.FactorRows: // each block reads the inverse
		return 2*kernels.FactorOrder*float64(k.N-k.From-kernels.FactorOrder) +
			doubles*kernels.FactorOrder*kernels.FactorOrder*float64(k.Grid().Blocks)
	case kernels.PlaceDiagonal:
		return (1 + doubles) * kernels.FactorOrder * float64(k.N)
	case kernels.InvertBlocks: // the blocks, and all squares
		return float64(k.N) * float64(kernels.FactorOrder+k.Size)
	case kernels.JoinBlocks: // three halves read and one written, in each pair
		return 2 * float64(k.N) * float64(k.Half)
	case kernels.AddIdentity:
		return 2 * float64(k.N)
	case kernels.SumColumns:
		return float64(k.A.Size()+k.B.Size()) + doubles*float64(k.Chunks()*k.Cols)
	case kernels.AddParts:
		return doubles * float64(k.Rows*k.Cols)
	}
	return elements(reflect.ValueOf(k))
}

// elements is the number of elements of all matrices of a kernel.
func elements(v reflect.Value) float64 {
	n := 0.0
	for i := range v.NumField() {
		if v.Field(i).Kind() != reflect.Struct {
			continue
		}
		if m, ok := v.Field(i).Interface().(kernels.Matrix); ok {
			if m.At != 0 {
				n += float64(m.Size())
			}
		} else {
			n += elements(v.Field(i))
		}
	}
	return n
}

// conditionSweeps are the triangular solutions of a condition estimate that ends after its second
// step, as most do.
const conditionSweeps = 10

// exponential is the number of operations of an exponential, about those of its polynomial.
const exponential = 20

// arithmetic is the number of operations of a kernel: one for each of the numbers that it
// reads and writes where nothing else is known.
func arithmetic(k kernels.Kernel, numbers float64) float64 {
	pairs := func(n, m, d int, each float64, symmetric bool) float64 {
		all := float64(n) * float64(m) * (each*float64(d) + exponential)
		if symmetric {
			return all / 2
		}
		return all
	}
	switch k := k.(type) {
	case kernels.Fill, kernels.Repeat, kernels.Identity, kernels.CopyBlock, kernels.Transpose, kernels.Gather,
		kernels.Scatter, kernels.MirrorUpper, kernels.Leading, kernels.Memberships:
		return 0
	case kernels.Elementwise:
		return places(k)
	case kernels.DirectSquared:
		return pairs(k.N, k.M, k.D, 3, k.Symmetric)
	case kernels.DirectManhattan:
		return pairs(k.N, k.M, k.D, 3, k.Symmetric)
	case kernels.FinishSquared:
		return pairs(k.N, k.M, 0, 0, k.Symmetric)
	case kernels.FinishProduct:
		return pairs(k.N, k.M, 0, 0, k.Symmetric)
	case kernels.ManhattanGradient:
		return pairs(k.N, k.M, k.D, 4, false)
	case kernels.Gibbs:
		return pairs(k.N, k.M, k.D, 2*exponential, false)
	case kernels.GibbsGradient:
		return pairs(k.N, k.M, k.D, 2*exponential, false)
	case kernels.HullExponentials:
		return exponential * float64(k.Rows) * float64(k.N)
	case kernels.SumRidge:
		return 4 * float64(k.Rows) * float64(k.Cols)
	case kernels.SumLowerProducts:
		return 2 * float64(k.N) * float64(k.N)
	case kernels.SumColumns: // and products where there are two matrices
		return float64(k.A.Size() + k.B.Size())
	case kernels.FactorBlock: // the factor and its inverse
		return 2. / 3 * kernels.FactorOrder * kernels.FactorOrder * kernels.FactorOrder
	case kernels.FactorRows:
		return kernels.FactorOrder * kernels.FactorOrder * float64(k.N-k.From-kernels.FactorOrder)
	case kernels.InvertBlocks:
		return kernels.FactorOrder * kernels.FactorOrder * float64(k.N) / 3
	case kernels.JoinBlocks:
		return 3. / 2 * float64(k.N) * float64(k.Half) * float64(k.Half)
	case kernels.EstimateCondition:
		return conditionSweeps * float64(k.N) * float64(k.N)
	case kernels.ShiftedInverse:
		return 2 * float64(k.N) * float64(k.N) * float64(k.N) / 3
	case kernels.RowDistance:
		return 3 * float64(k.Rows) * float64(k.Cols)
	case kernels.BatchedProduct:
		return 2 * float64(k.Batch) * float64(k.M) * float64(k.N) * float64(k.K)
	case kernels.HalfDistances:
		return 3 * float64(k.N) * float64(k.M) * float64(k.D)
	case kernels.NearestCentres:
		return 2 * float64(k.P.Size())
	case kernels.RefillClusters:
		return float64(k.N) * float64(k.Starts) * float64(k.K)
	case kernels.Softmax:
		return exponential * float64(k.In.Size())
	}
	return numbers
}

// places is the number of elements that a function of single elements computes.
func places(k kernels.Elementwise) float64 { return float64(reflect.ValueOf(k).FieldByName("N").Int()) }

// Copy implements [op.Stream].
func (s *stream) Copy(_, from kernels.Matrix) {
	n := 2 * float64(from.Size())
	s.add(step{launches: 1, traffic: s.elem() * n, blocks: max(1, n/threads)})
}

// tile is the side of the tile that one block of a product computes.
const tile = 128

// products adds a step of a batch of products with m×n results of k terms each. part is the
// share of the results that is computed. Where there are few tiles, libraries divide the terms
// among blocks.
func (s *stream) products(batch, part float64, m, n, k int) {
	results := float64(m) * float64(n)
	tiles := math.Ceil(float64(m)/tile) * math.Ceil(float64(n)/tile) * part * batch
	s.add(step{launches: 1, product: true, operations: 2 * batch * part * results * float64(k),
		traffic: s.elem() * batch * (float64(m)*float64(k) + float64(k)*float64(n) + part*results),
		blocks:  max(1, tiles*max(1, float64(k)/512))})
}

// Gemm implements [op.Stream].
func (s *stream) Gemm(_, _ blas.Transpose, m, n, k int, _ float64, _, _, _ kernels.Matrix) {
	s.products(1, 1, m, n, k)
}

// AddGemm implements [op.Stream].
func (s *stream) AddGemm(_, _ blas.Transpose, m, n, k int, _ float64, _, _, _ kernels.Matrix) {
	s.products(1, 1, m, n, k)
}

// Product implements [op.Stream].
func (s *stream) Product(_, _ bool, batch, m, n, k int, _, _, _ kernels.Matrix) {
	s.products(float64(batch), 1, m, n, k)
}

// Syrk implements [op.Stream].
func (s *stream) Syrk(_ blas.Uplo, _ blas.Transpose, n, k int, _ float64, _, _ kernels.Matrix) {
	if s.members > 0 { // for batches there is the whole product alone
		s.products(1, 1, n, n, k)
		return
	}
	s.products(1, 0.5, n, n, k)
}

// The stages of library calls that wait for one another. cuBLAS solves block by block of
// about 128 rows, a vector by 32; cuSOLVER factors panels of about 32 columns in three
// kernels each; the reduction to tridiagonal form, most of an eigen-decomposition, takes a
// column at a time, about a dozen kernels with the update: [Times.Column].
const (
	solveBlock, solveStages   = 128.0, 2.0
	vectorBlock, vectorStages = 32.0, 0.5
	panel, panelStages        = 32.0, 3.0
)

// Trsm implements [op.Stream].
func (s *stream) Trsm(_ blas.Side, _ blas.Transpose, l, b kernels.Matrix) {
	if s.members > 0 {
		s.solveMembers(l, b.Size()/l.Rows)
		return
	}
	n := float64(l.Rows)
	s.add(step{launches: 1, product: true, stages: solveStages * math.Ceil(n/solveBlock),
		operations: n * float64(b.Size()), traffic: s.elem() * (n*n/2 + 2*float64(b.Size())),
		blocks: max(1, (n*n/2+float64(b.Size()))/(tile*tile))})
}

// Trsv implements [op.Stream].
func (s *stream) Trsv(_ blas.Transpose, l, _ kernels.Matrix) {
	if s.members > 0 {
		s.solveMembers(l, 1)
		return
	}
	n := float64(l.Rows)
	s.add(step{launches: 1, stages: vectorStages * math.Ceil(n/vectorBlock), operations: n * n,
		traffic: s.elem() * n * n / 2, blocks: max(1, n*n/threads)})
}

// FactorStages is the number of stages of the library's Cholesky factor of a matrix of some order.
func FactorStages(order int) float64 { return panelStages * math.Ceil(float64(order)/panel) }

// Potrf implements [op.Stream].
func (s *stream) Potrf(l kernels.Matrix, _ kernels.Flag) {
	if s.members > 0 {
		s.factorMembers(l)
		return
	}
	n := float64(l.Rows)
	s.add(step{launches: 1, product: true, stages: FactorStages(l.Rows), operations: n * n * n / 3,
		traffic: s.elem() * n * n, blocks: max(1, n*n/(2*tile*tile))})
}

// Syevd implements [op.Stream]. It is in float64 for either element type.
func (s *stream) Syevd(order int, _, _ kernels.Doubles) kernels.Flag {
	n := float64(order)
	if s.members > 0 {
		s.memberEigen(n)
		return somewhere
	}
	s.syevd(n)
	return somewhere
}

// syevd counts the library's decomposition of one matrix.
func (s *stream) syevd(n float64) {
	s.add(step{launches: 1, product: true, double: true, columns: n, operations: 9 * n * n * n,
		traffic: 8 * n * n * n / 3, blocks: max(1, n*n/(2*tile*tile))})
	s.work.Alone = true
}
