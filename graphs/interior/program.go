package interior

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// stepsPerRun is how many steps a run takes. Five to seven decades of the gap take fifteen to
// twenty.
const stepsPerRun = 5

// longest is how far a step goes towards the nearest boundary.
const longest = 0.995

// A builder of one step for m problems: all that is m×n×1 or m, by names of the text.
type stepBuilder struct {
	*engine.Builder
	m, n                   int
	b, count, bound        *gorgonia.Node // m×k×n, m, m
	ones, unit, nearly, of *gorgonia.Node // ones m×n×1 and m, longest m, 1/n m
}

// stepProgram takes some steps of the method for each of m problems of the size class k×n,
// from "lambda" and "slack" (m×n×1) to the outputs of these names. "b" has zeros beyond the
// matrix of a member, whose rows "count" (m) counts; a column of zeros is a column of the
// problem that gets no weight. A member whose Σλ·max g is not above "bound" (m) has ended, and
// its steps are zero. "taken" (m) counts the others.
func stepProgram(m, k, n, steps int) engine.Program {
	return engine.Program{
		Name: "steps of the interior-point method",
		Key:  fmt.Sprintf("interior point %d %d %d %d", m, k, n, steps),
		Build: func(b *engine.Builder) {
			s := stepBuilder{Builder: b, m: m, n: n, b: b.Tensor("b", m, k, n), count: b.Tensor("count", m),
				bound: b.Tensor("bound", m), ones: b.Tensor("ones", m, n, 1), unit: b.Tensor("unit", m),
				nearly: b.Tensor("nearly", m), of: b.Tensor("of", m)}
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

// step is a predictor and a corrector (Mehrotra). The linear system
//
//	(H + diag(s/λ)) Δλ = r,  H = (WᵀW)∘²,  W = L⁻¹B,
//
// is solved as Δλ = t∘(I + diag(t)·H·diag(t))⁻¹(t∘r) with t = √(λ/s), which is definite
// whatever the sizes of λ and s.
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
	// Centring by the cube of what the predictor leaves, and the second-order term.
	ratio := s.Divide(after, mu)
	centre := s.Hadamard(s.Hadamard(s.Hadamard(ratio, s.Hadamard(ratio, ratio)), mu), s.of)
	dl, ds = direction(s.Sub(s.ScaledBy(s.ones, centre), s.Hadamard(dl, ds)))
	a = s.Divide(s.nearly, s.Larger(s.nearest(lambda, dl, slack, ds), s.nearly))
	a = s.Hadamard(a, goesOn)
	return s.Add(lambda, s.ScaledBy(dl, a)), s.Add(slack, s.ScaledBy(ds, a)), goesOn
}

// nearest is the inverse of the largest step to which all elements stay positive (m), not above
// zero where there is no bound.
func (s *stepBuilder) nearest(lambda, dl, slack, ds *gorgonia.Node) *gorgonia.Node {
	return s.Larger(s.largest(s.Neg(s.Divide(dl, lambda))), s.largest(s.Neg(s.Divide(ds, slack))))
}

// sum and largest are over the columns of a member.
func (s *stepBuilder) sum(v *gorgonia.Node) *gorgonia.Node { return s.Sum(s.Reshape(v, s.m, s.n), 1) }

func (s *stepBuilder) largest(v *gorgonia.Node) *gorgonia.Node {
	return s.Max(s.Reshape(v, s.m, s.n), 1)
}
