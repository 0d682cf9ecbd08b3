package descent

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// stepsPerRun is the number of steps of a run. With about fifteen nodes per step, building the graph
// takes a millisecond or two, and a run has about a hundred launches and one wait.
const stepsPerRun = 10

// The programs below compute a batch of m problems of the size class p×n. "c" (m×p×n) is padded
// by zeros, and "count" (m) is the number of rows without padding. Rows of the padding are an
// identity in M, and a column of it has cᵀM⁻¹c = 0 and the weight zero, which a step does not
// change.

// point holds the quantities that the programs evaluate at the weights λ of each member.
type point struct {
	factor *gorgonia.Node // L of M = LLᵀ, m×p×p
	norms  *gorgonia.Node // c_jᵀM⁻¹c_j, m×n×1
	sum    *gorgonia.Node // Σλ, m
	worst  *gorgonia.Node // max_j c_jᵀM⁻¹c_j, m
}

// evaluate adds M = C diag(λ) Cᵀ, its factor, and the squared Mahalanobis norms
// c_jᵀM⁻¹c_j = ‖L⁻¹c_j‖² of all columns. Each of the two products takes p²n operations, the
// factor p³/3.
func evaluate(b *engine.Builder, c, count, lambda *gorgonia.Node, m, n int) point {
	var at point
	at.factor = b.Cholesky(b.Leading(1, b.WeightedGram(c, lambda), count))
	at.norms = b.ColumnNorms(b.TriangularSolve(at.factor, c))
	at.sum = b.Sum(b.Reshape(lambda, m, n), 1)
	at.worst = b.Max(b.Reshape(at.norms, m, n), 1)
	return at
}

// stepProgram computes a number of steps for each of m problems, from the weights "lambda"
// (m×n×1) to the output of that name. One step is
//
//	λ ← max(0, λ − η(1 − q)),  q_j = c_jᵀM⁻¹c_j.
//
// "rate" (m) is η. A member with Σλ·max q ≤ "bound" (m) has ended: its further steps are zero,
// and leave every bit of λ as it is. For a tolerance t of the gap p·log(Σλ·max q / p), the bound
// is p·exp(t/p). "zero" is a constant (m×n×1). The output "steps" (m) counts the steps of each
// member before its end.
func stepProgram(m, p, n, steps int) engine.Program {
	return engine.Program{
		Name: "steps of the cloaking descent",
		Key:  fmt.Sprintf("cloaking descent %d %d %d %d", m, p, n, steps),
		Build: func(b *engine.Builder) {
			c, count := b.Tensor("c", m, p, n), b.Tensor("count", m)
			lambda, zero := b.Tensor("lambda", m, n, 1), b.Tensor("zero", m, n, 1)
			rate, bound := b.Tensor("rate", m), b.Tensor("bound", m)
			one := b.Constant(1)
			var taken *gorgonia.Node // steps so far, of each member
			for i := range steps {
				at := evaluate(b, c, count, lambda, m, n)
				goesOn := b.Greater(b.Hadamard(at.sum, at.worst), bound) // the gap is above the tolerance: 1
				// Eq. (2): ∂f/∂λ_j = 1 − c_jᵀM⁻¹c_j.
				step := b.ScaledBy(b.Sub(one, at.norms), b.Hadamard(rate, goesOn))
				lambda = b.Larger(b.Sub(lambda, step), zero) // projected to λ ≥ 0
				if i == 0 {
					taken = goesOn
				} else {
					taken = b.Add(taken, goesOn)
				}
			}
			b.Output("lambda", lambda)
			b.Output("steps", taken)
		},
	}
}

// evaluationProgram computes, for each of m problems at "lambda" (m×n×1), "logdet", log|M|,
// "sum", Σλ, and "worst", the largest c_jᵀM⁻¹c_j (m each).
func evaluationProgram(m, p, n int) engine.Program {
	return engine.Program{
		Name: "objective of the cloaking descent",
		Key:  fmt.Sprintf("cloaking objective %d %d %d", m, p, n),
		Build: func(b *engine.Builder) {
			at := evaluate(b, b.Tensor("c", m, p, n), b.Tensor("count", m), b.Tensor("lambda", m, n, 1), m, n)
			b.Output("logdet", b.CholeskyLogDet(at.factor))
			b.Output("sum", at.sum)
			b.Output("worst", at.worst)
		},
	}
}
