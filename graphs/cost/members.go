package cost

import (
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// Batch implements [op.Stream]: each launch is one for all members, with the work of all.
// Operands that all members share are counted for each.
func (s *stream) Batch(b op.Batch) {
	m := &stream{element: s.element, out: Operand{b.Out, s.out.DType}, members: b.Members}
	for i, shape := range b.In {
		m.in = append(m.in, Operand{shape, s.in[i].DType})
	}
	b.Launch(m)
	if m.fails {
		m.Launch(kernels.Invalidate{Failed: somewhere, N: m.Out().Size(), Out: m.Out()})
	}
	s.work.Add(m.work)
}

// solveMembers counts a triangular solution of order n with m right-hand sides for each
// member, as package cuda computes it, by blocks of rows: X_i = L_ii⁻¹(B_i − L_i X_<i), two
// products. The inverses are made once for a matrix, and counted in the first solution of an
// operation.
func (s *stream) solveMembers(l kernels.Matrix, m int) {
	n, size := l.Rows, op.MemberSolveBlock(l.Rows)
	if !s.inverted {
		s.inverted = true
		s.Launch(kernels.InvertBlocks{L: l, N: n, Size: size, Out: l})
		for half := kernels.FactorOrder; half < size; half *= 2 {
			s.Launch(kernels.JoinBlocks{L: l, N: n, Size: size, Half: half, Out: l})
		}
	}
	for i := 0; i < n; i += size {
		k := min(size, n-i)
		if i > 0 {
			s.products(1, 1, k, m, i)
		}
		s.products(1, 1, k, m, k)
	}
	s.Copy(kernels.Matrix{}, kernels.Matrix{At: somewhere, Rows: n, Cols: m})
}

// factorMembers counts a Cholesky factor for each member, as package cuda computes it.
func (s *stream) factorMembers(l kernels.Matrix) {
	n := l.Rows
	for j := 0; j < n; j += kernels.FactorOrder {
		if j > 0 {
			s.products(1, 1, n-j, min(kernels.FactorOrder, n-j), j)
		}
		s.Launch(kernels.FactorBlock{L: l, N: n, From: j})
		s.Launch(kernels.FactorRows{L: l, N: n, From: j})
	}
	s.Launch(kernels.PlaceDiagonal{N: n, L: l})
}

// The kernel of package kernels for eigenproblems has a block for each member. A reflection
// waits for a few sums over the block, and each of about .85 n² rotations for the one before:
// as shares of a stage.
const (
	reflectionStages = 0.4
	rotationStages   = 0.03
	rotationsOfOrder = 0.85
)

// memberEigen counts an eigen-decomposition of order n for each member, as package cuda
// computes it: by one kernel, whose rotations take most of the operations and the traffic,
// or above its largest order by one call of the library, whose stages all members share.
func (s *stream) memberEigen(n float64) {
	if n > kernels.EigenOrder {
		s.syevd(n)
		return
	}
	s.add(step{launches: 1, double: true, stages: reflectionStages*n + rotationStages*rotationsOfOrder*n*n,
		operations: (8./3 + 6*rotationsOfOrder) * n * n * n, traffic: (16./3 + 4 + 16*rotationsOfOrder) * n * n * n,
		blocks: 1})
}

// waits returns the stages of a kernel of package kernels whose steps wait for one another:
// columns of a factor or an inverse, of some tenths of a microsecond each.
func waits(k kernels.Kernel) float64 {
	const columns = 12
	switch k := k.(type) {
	case kernels.ShiftedInverse:
		return float64(k.N) / columns
	case kernels.FactorBlock:
		return float64(min(kernels.FactorOrder, k.N-k.From)) / columns
	case kernels.InvertBlocks:
		return float64(min(kernels.FactorOrder, k.N)) / columns
	case kernels.JoinBlocks: // two products in shared memory
		return float64(k.Half) / columns
	case kernels.EstimateCondition: // an element takes a few shuffles and products of one warp
		return conditionSweeps * float64(k.N) / (10 * columns)
	}
	return 0
}
