package laplace

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// maxHalvings limits the halvings of a Newton step; beyond it, rounding keeps the posterior from
// rising.
const maxHalvings = 30

// newton builds a Newton step for m classifiers of the size class n×cols.
type newton struct {
	*engine.Builder
	m, n, cols  int
	full        bool
	factors     *gorgonia.Node // K (cols = n) or V, m×n×cols
	count, sums *gorgonia.Node // m×n×1
	ones, unit  *gorgonia.Node // m×n×1, m
	whole, rest *gorgonia.Node // t and 1 − t for each fraction t of a step, parts×1
	parts       int
	wanted      *gorgonia.Node // m
}

// newtonProgram computes one Newton step for each of m classifiers of a size class, from the
// latent functions "f" (m×n×1) and their coefficients "dual" (m×cols×1) to the outputs of these
// names. "factors" (m×n×cols), the "sums" of labels (m×n×1) and "count" (m×n×1) are padded by
// zeros. A zero count makes W zero, so that f stays zero in the padding, and I + W^½KW^½ and
// I + VᵀWV have an identity there.
//
// A member with "change" (m), the size of its last step, at or below "wanted" (m) has ended, and
// keeps every bit. "posterior" (m) is the log posterior at f. With one part, a step that would lower
// it is not made, and the member keeps every bit as well. With several parts, f moves to
// (1 − t)f + tf' for the first t = 1, ½, ¼, … that does not lower it, or for the last t ("whole"
// is t, "rest" is 1 − t, parts×1). "ones" (m×n×1) and "unit" (m) are constants 1. The output
// "taken" (m) is 1 for a member that has moved.
//
// A run is one step, because with two or three the predicted cost of unneeded steps on an H100
// exceeds that of the waits between runs.
func newtonProgram(m, n, cols int, full bool, parts int) engine.Program {
	return engine.Program{
		Name: "Newton's method of the Laplace approximation",
		Key:  fmt.Sprintf("laplace modes %d %d %d %v %d", m, n, cols, full, parts),
		Build: func(b *engine.Builder) {
			p := newton{Builder: b, m: m, n: n, cols: cols, full: full, parts: parts,
				factors: b.Tensor("factors", m, n, cols), count: b.Tensor("count", m, n, 1),
				sums: b.Tensor("sums", m, n, 1), ones: b.Tensor("ones", m, n, 1), unit: b.Tensor("unit", m),
				wanted: b.Tensor("wanted", m)}
			if parts > 1 {
				p.whole, p.rest = b.Input("whole", parts, 1), b.Input("rest", parts, 1)
			}
			at, taken := p.step(ascent{f: b.Tensor("f", m, n, 1), dual: b.Tensor("dual", m, cols, 1),
				change: b.Tensor("change", m), posterior: b.Tensor("posterior", m)})
			b.Output("f", at.f)
			b.Output("dual", at.dual)
			b.Output("change", at.change)
			b.Output("posterior", at.posterior)
			b.Output("taken", taken)
		},
	}
}

// ascent is an iterate of Newton's method.
type ascent struct{ f, dual, change, posterior *gorgonia.Node }

// step adds one step, and returns 1 for each member that has moved (m).
func (p *newton) step(at ascent) (next ascent, taken *gorgonia.Node) {
	f, dual := p.newtonStep(at.f)
	moved := p.Divide(p.abs(p.Sub(f, at.f)), p.Larger(p.abs(f), p.ones))
	change := p.Max(p.Reshape(moved, p.m, p.n), 1)
	goesOn := p.Greater(at.change, p.wanted)
	// A decrease of the log posterior within rounding errors is ignored.
	bound := p.Sub(at.posterior, p.Hadamard(p.Constant(tolerance(p.DType())), p.abs(at.posterior)))

	var part, posterior *gorgonia.Node
	if p.parts == 1 {
		posterior = p.objective(p.row(f, p.n), p.row(dual, p.cols), p.row(p.count, p.n), p.row(p.sums, p.n))
		part = p.Hadamard(p.Greater(posterior, bound), goesOn)
		taken = part
	} else {
		part, taken = p.Hadamard(p.halved(at, f, dual, bound), goesOn), goesOn
	}
	stays, left := p.Sub(p.unit, part), p.Sub(p.unit, taken)
	next.f = p.Add(p.ScaledBy(at.f, stays), p.ScaledBy(f, part))
	next.dual = p.Add(p.ScaledBy(at.dual, stays), p.ScaledBy(dual, part))
	if posterior == nil {
		posterior = p.objective(p.row(next.f, p.n), p.row(next.dual, p.cols), p.row(p.count, p.n), p.row(p.sums, p.n))
	}
	next.change = p.Add(p.Hadamard(at.change, left), p.Hadamard(change, taken))
	next.posterior = p.Add(p.Hadamard(at.posterior, left), p.Hadamard(posterior, taken))
	return next, taken
}

// newtonStep returns f after a whole step (m×n×1), and its coefficients (m×cols×1).
func (p *newton) newtonStep(f *gorgonia.Node) (next, dual *gorgonia.Node) {
	s := p.LogisticScale(f, p.count)
	target := p.NewtonTarget(f, p.count, p.sums)
	if p.full {
		n := factorisation{Builder: p.Builder, factors: p.factors, s: s,
			l: p.Cholesky(p.IdentityPlusScaled(p.factors, s))}
		dual = n.dual(target)
	} else {
		l := p.Cholesky(p.IdentityPlusGram(p.ScaleRows(s, p.factors)))
		// bᵀV is (Vᵀb)ᵀ without a transpose of V.
		vb := p.MatrixProduct(p.Reshape(target, p.m, 1, p.n), p.factors)
		dual = p.CholeskySolve(l, p.Reshape(vb, p.m, p.cols, 1))
	}
	return p.MatrixProduct(p.factors, dual), dual
}

// halved returns, for each member (m), the first fraction of its step with a log posterior above the
// bound, or else the last fraction.
func (p *newton) halved(at ascent, f, dual, bound *gorgonia.Node) *gorgonia.Node {
	between := func(from, to *gorgonia.Node, length int) *gorgonia.Node {
		return p.Add(p.spread(p.rest, from, length), p.spread(p.whole, to, length))
	}
	equal := p.Add(p.whole, p.rest) // ones
	posteriors := p.objective(between(at.f, f, p.n), between(at.dual, dual, p.cols), p.spread(equal, p.count, p.n),
		p.spread(equal, p.sums, p.n))
	flat := func(x *gorgonia.Node) *gorgonia.Node { return p.Reshape(x, p.m*p.parts) }
	high := p.Greater(posteriors, flat(p.spread(equal, bound, 1)))
	parts := p.Hadamard(high, flat(p.spread(p.whole, p.unit, 1)))
	last := p.Hadamard(p.Constant(math.Pow(0.5, maxHalvings)), p.unit)
	return p.Larger(p.Max(p.Reshape(parts, p.m, p.parts), 1), last)
}

// spread returns each member's vector of a length times each of the scales (parts×1) as rows,
// (m·parts)×length.
func (p *newton) spread(scales, x *gorgonia.Node, length int) *gorgonia.Node {
	return p.Reshape(p.MatrixProduct(scales, p.Reshape(x, p.m, 1, length)), p.m*p.parts, length)
}

// row returns the vectors of the members as rows, m×length.
func (p *newton) row(x *gorgonia.Node, length int) *gorgonia.Node { return p.Reshape(x, p.m, length) }

// objective returns log p(y|f) − ½fᵀK⁻¹f (q) for latent functions in rows (q×n), with their
// coefficients, numbers and sums of labels.
//
// For n labels of sum s, −log p(y|f) is n·log(1 + e^{−|f|}) + (n|f| − sf)/2. The second term is
// exactly zero if all labels have the sign of f.
func (p *newton) objective(f, dual, count, sums *gorgonia.Node) *gorgonia.Node {
	size, half := p.abs(f), p.Constant(0.5)
	tails := p.Hadamard(count, p.Log1p(p.Exp(p.Neg(size))))
	wrong := p.Sub(p.Hadamard(count, size), p.Hadamard(sums, f))
	loss := p.Sum(p.Add(tails, p.Hadamard(half, wrong)), 1)
	if !p.full {
		f = dual // f = Vα, so that fᵀK⁻¹f is αᵀα
	}
	return p.Neg(p.Add(loss, p.Hadamard(half, p.Sum(p.Hadamard(f, dual), 1))))
}

// abs returns |x| = max(x, −x), element by element.
func (p *newton) abs(x *gorgonia.Node) *gorgonia.Node { return p.Larger(x, p.Neg(x)) }

// tolerance returns the relative size of rounding errors.
func tolerance(dtype tensor.Dtype) float64 {
	if dtype == tensor.Float32 {
		return 1e-5
	}
	return 1e-10
}
