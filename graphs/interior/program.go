package interior

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// stepsPerRun is the number of steps of a run. Five to seven decades of the gap take fifteen to
// twenty.
const stepsPerRun = 5

// boundaryFraction is the length of a step, as a fraction of the distance to the nearest boundary of
// λ, s ≥ 0.
const boundaryFraction = 0.995

// stepBuilder builds steps for m problems. Constants have a value for each problem, because
// operations do not broadcast.
type stepBuilder struct {
	*engine.Builder
	m, n              int
	b, count, bound   *gorgonia.Node // m×k×n, m, m
	ones, unit        *gorgonia.Node // 1: m×n×1, m
	fraction, inverse *gorgonia.Node // boundaryFraction: m, 1/n: m
}

// stepProgram computes a number of steps for each of m problems of the size class k×n, from
// "lambda" and "slack" (m×n×1) to the outputs of these names. "b" (m×k×n) is padded by zeros, and
// "count" (m) is the number of rows without padding; columns of zeros get no weight. A member
// with Σλ·max g ≤ "bound" (m) has ended, and its further steps are zero. "taken" (m) counts the
// steps of each member before its end.
func stepProgram(m, k, n, steps int) engine.Program {
	return engine.Program{
		Name: "steps of the interior-point method",
		Key:  fmt.Sprintf("interior point %d %d %d %d", m, k, n, steps),
		Build: func(b *engine.Builder) {
			s := stepBuilder{Builder: b, m: m, n: n, b: b.Tensor("b", m, k, n), count: b.Tensor("count", m),
				bound: b.Tensor("bound", m), ones: b.Tensor("ones", m, n, 1), unit: b.Tensor("unit", m),
				fraction: b.Tensor("fraction", m), inverse: b.Tensor("inverse", m)}
			lambda, slack := b.Tensor("lambda", m, n, 1), b.Tensor("slack", m, n, 1)
			var taken *gorgonia.Node
			for i := range steps {
				var goesOn *gorgonia.Node
				lambda, slack, goesOn = s.step(lambda, slack)
				if i == 0 {
					taken = goesOn
				} else {
					taken = b.Add(taken, goesOn)
				}
			}
			b.Output("lambda", lambda)
			b.Output("slack", slack)
			b.Output("taken", taken)
		},
	}
}

// step adds a predictor and a corrector step (Mehrotra, "On the implementation of a primal-dual
// interior point method", SIAM Journal on Optimization 2, 1992). The linear system
//
//	(H + diag(s/λ)) Δλ = r,  H = (WᵀW)∘²,  W = L⁻¹B,
//
// is solved as Δλ = t∘(I + diag(t)·H·diag(t))⁻¹(t∘r) with t = √(λ/s), whose matrix is positive
// definite for λ and s of any size.
func (s *stepBuilder) step(lambda, slack *gorgonia.Node) (nextLambda, nextSlack, goesOn *gorgonia.Node) {
	factor := s.Cholesky(s.Leading(1, s.WeightedGram(s.b, lambda), s.count))
	whitened := s.TriangularSolve(factor, s.b)
	g := s.ColumnNorms(whitened)
	goesOn = s.Greater(s.Hadamard(s.sum(lambda), s.largest(g)), s.bound)

	t := s.Sqrt(s.Divide(lambda, slack))
	system := s.Cholesky(s.IdentityPlusScaled(s.Square(s.ColumnGram(1, whitened)), t))
	direction := func(tau *gorgonia.Node) (dl, ds *gorgonia.Node) {
		right := s.Sub(g, s.ones) // g − 1 + τ/λ
		if tau != nil {
			right = s.Add(right, s.Divide(tau, lambda))
		}
		dl = s.Hadamard(t, s.CholeskySolve(system, s.Hadamard(t, right)))
		// λΔs + sΔλ = τ − λs.
		left := s.Neg(s.Hadamard(slack, dl))
		if tau != nil {
			left = s.Add(tau, left)
		}
		return dl, s.Sub(s.Divide(left, lambda), slack)
	}

	dl, ds := direction(nil)
	a := s.Divide(s.unit, s.Larger(s.nearest(lambda, dl, slack, ds), s.unit))
	mu := s.sum(s.Hadamard(lambda, slack))
	after := s.sum(s.Hadamard(s.Add(lambda, s.ScaledBy(dl, a)), s.Add(slack, s.ScaledBy(ds, a))))
	// Centring by the cube of the remaining share of μ, and the second-order term.
	ratio := s.Divide(after, mu)
	centre := s.Hadamard(s.Hadamard(s.Hadamard(ratio, s.Hadamard(ratio, ratio)), mu), s.inverse)
	dl, ds = direction(s.Sub(s.ScaledBy(s.ones, centre), s.Hadamard(dl, ds)))
	a = s.Divide(s.fraction, s.Larger(s.nearest(lambda, dl, slack, ds), s.fraction))
	a = s.Hadamard(a, goesOn)
	return s.Add(lambda, s.ScaledBy(dl, a)), s.Add(slack, s.ScaledBy(ds, a)), goesOn
}

// nearest returns the inverse of the largest step length at which all elements stay positive (m),
// zero or less where there is no bound.
func (s *stepBuilder) nearest(lambda, dl, slack, ds *gorgonia.Node) *gorgonia.Node {
	return s.Larger(s.largest(s.Neg(s.Divide(dl, lambda))), s.largest(s.Neg(s.Divide(ds, slack))))
}

// sum returns the sum over the columns of each member (m).
func (s *stepBuilder) sum(v *gorgonia.Node) *gorgonia.Node { return s.Sum(s.Reshape(v, s.m, s.n), 1) }

// largest returns the maximum over the columns of each member (m).
func (s *stepBuilder) largest(v *gorgonia.Node) *gorgonia.Node {
	return s.Max(s.Reshape(v, s.m, s.n), 1)
}
