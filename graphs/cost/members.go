package cost

import (
	"math"

	"privkern/graphs/cuda/kernels"
	"privkern/graphs/op"
)

// Batch implements [op.Stream]: each launch is one for all members, with the work of all.
// What all members share is counted for each.
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

// The kernels of cuBLAS and cuSOLVER for batches of small matrices are one for some columns
// each, on all of which they wait.
const memberStages = 1.0

// solveMembers counts a triangular solution of order n with m right-hand sides for each
// member, as package cuda computes it: by blocks, of which each takes off what is known by a
// product, after the addresses of the blocks were made.
func (s *stream) solveMembers(n, m int) {
	s.addresses(2)
	for i := 0; i < n; i += op.MemberSolveBlock {
		if i > 0 {
			s.products(1, 1, min(op.MemberSolveBlock, n-i), m, i)
		}
		s.solveMemberBlock(min(op.MemberSolveBlock, n-i), m)
	}
}

// solveMemberBlock counts a solution within one block, by cuBLAS.
func (s *stream) solveMemberBlock(n, m int) {
	order, size := float64(n), float64(n)*float64(m)
	s.add(step{launches: 1, product: true, stages: memberStages * math.Ceil(order/panel), operations: order * size,
		traffic: s.elem() * (order*order/2 + 2*size), blocks: max(1, size/(tile*tile))})
}

// factorMembers counts a Cholesky factor for each member, as package cuda computes it.
func (s *stream) factorMembers(l kernels.Matrix) {
	n := l.Rows
	s.addresses(2)
	for j := 0; j < n; j += op.MemberFactorBlock {
		k := min(op.MemberFactorBlock, n-j)
		if j > 0 {
			s.products(1, 1, n-j, k, j)
		}
		order := float64(k)
		s.add(step{launches: 1, product: true, stages: memberStages * math.Ceil(order/panel),
			operations: order * order * order / 3, traffic: s.elem() * order * order, blocks: 1})
		s.Launch(kernels.KeepFailure{Other: somewhere, Failed: somewhere})
		if rest := n - j - k; rest > 0 {
			s.solveMemberBlock(k, rest)
		}
	}
	s.Launch(kernels.ClearUpper{A: l, N: n, Order: op.MemberFactorBlock})
}

// addresses counts the kernels that write the addresses of members.
func (s *stream) addresses(launches int) {
	s.add(step{launches: launches, blocks: 1})
}

// The kernel of ours for eigenproblems has a block for each member. A reflection waits for a
// few sums over the block, and a rotation, of which there are about .85 n², for the one
// before: as shares of a stage.
const (
	reflectionStages = 0.4
	rotationStages   = 0.03
	rotationsOfOrder = 0.85
)

// memberEigen counts an eigen-decomposition of order n for each member, as package cuda
// computes it: by one kernel, whose rotations take most of the operations and the traffic,
// or above its largest order by one call of the library after the other.
func (s *stream) memberEigen(n float64) {
	if n > kernels.EigenOrder {
		one := &stream{element: s.element}
		one.syevd(n)
		for range s.members {
			s.work.Add(one.work)
		}
		return
	}
	s.add(step{launches: 1, double: true, stages: reflectionStages*n + rotationStages*rotationsOfOrder*n*n,
		operations: (8./3 + 6*rotationsOfOrder) * n * n * n, traffic: (16./3 + 4 + 16*rotationsOfOrder) * n * n * n,
		blocks: 1})
}

// waits are the stages of a kernel of ours whose steps wait for one another.
func waits(k kernels.Kernel) float64 {
	if k, ok := k.(kernels.ShiftedInverse); ok {
		return float64(k.N) / 12 // a column of some tenths of a microsecond
	}
	return 0
}
