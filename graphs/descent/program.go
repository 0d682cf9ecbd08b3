package descent

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// stepsPerRun is how many steps a run takes: with about fifteen nodes each, building their
// graph takes a millisecond or two, and a run is some hundred launches to one wait.
const stepsPerRun = 10

// The programs below compute a batch of m problems at once. p×n is the size class of their
// matrices: "c" (m×p×n) has zeros beyond the matrix of a member, whose rows "count" (m)
// counts. Rows of the padding are an identity in M, and a column of it has cᵀM⁻¹c = 0 and a
// weight of zero, which a step leaves at zero.

// point is what the programs evaluate at the weights λ of each member.
type point struct {
	factor *gorgonia.Node // L of M = LLᵀ, m×p×p
	norms  *gorgonia.Node // c_jᵀM⁻¹c_j, m×n×1
	sum    *gorgonia.Node // Σλ, m
	worst  *gorgonia.Node // max_j c_jᵀM⁻¹c_j, m
}

// evaluate adds M = C diag(λ) Cᵀ, its factor, and the squared Mahalanobis norms
// c_jᵀM⁻¹c_j = ‖L⁻¹c_j‖² of all columns: p²n operations a product, and p³/3.
func evaluate(b *engine.Builder, c, count, lambda *gorgonia.Node, m, n int) point {
	var at point
	at.factor = b.Cholesky(b.Leading(1, b.WeightedGram(c, lambda), count))
	at.norms = b.ColumnNorms(b.TriangularSolve(at.factor, c))
	at.sum = b.Sum(b.Reshape(lambda, m, n), 1)
	at.worst = b.Max(b.Reshape(at.norms, m, n), 1)
	return at
}

// stepProgram takes some steps of the descent for each of m problems, from the weights
// "lambda" (m×n×1) to the output of that name: one step is
//
//	λ ← max(0, λ − η(1 − q)),  q_j = c_jᵀM⁻¹c_j.
//
// "rate" (m) is η, "bound" (m) what Σλ·max q must be above for a step to be taken: p·exp(t/p)
// for a tolerance t of the gap p·log(Σλ·max q / p). Below it the step is zero, which leaves
// every bit of λ as it is: a member that has ended stays where it ended. "zero" (m×n×1) is
// what its name says. The output "steps" (m) counts those that were taken.
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
