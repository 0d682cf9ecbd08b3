package laplace

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// key returns the key of a program for the model's shape.
func (m *Model) key(what string, columns int) string {
	return fmt.Sprintf("laplace %s %d %d %d", what, m.n, m.rank, columns)
}

// factorisation holds the inputs of all programs and the Cholesky factor.
type factorisation struct {
	*engine.Builder
	factors  *gorgonia.Node // K or V
	f, count *gorgonia.Node // the latent function and the numbers of labels, n×1
	s        *gorgonia.Node // √W
	l        *gorgonia.Node // Cholesky factor of B or of I + VᵀWV
}

// factor adds LLᵀ = B = I + W^½KW^½ (n×n) or, for a covariance of low rank, I + VᵀWV (rank×rank),
// at each of one or several latent functions.
func (m *Model) factor(b *engine.Builder, functions int) factorisation {
	cols := m.n
	if m.rank > 0 {
		cols = m.rank
	}
	n := factorisation{Builder: b, factors: b.Input("factors", m.n, cols), count: b.Input("count", m.n, 1)}
	if functions == 1 {
		n.f = b.Input("f", m.n, 1)
	} else {
		n.f = b.Tensor("f", functions, m.n, 1)
	}
	n.s = b.LogisticScale(n.f, n.count) // W^½ as a column
	if m.rank == 0 {
		n.l = b.Cholesky(b.IdentityPlusScaled(n.factors, n.s))
	} else {
		n.l = b.Cholesky(b.IdentityPlusGram(b.ScaleRows(n.s, n.factors))) // (W^½V)ᵀW^½V = VᵀWV
	}
	return n
}

// stepProgram computes "f", the latent function after a Newton step (n×draws), and its
// coefficients "dual" (n×draws, or rank×draws), for the labels "y" (n×draws).
func (m *Model) stepProgram(draws int) engine.Program {
	return engine.Program{Name: "Newton step of the Laplace approximation", Key: m.key("step", draws),
		Build: func(b *engine.Builder) {
			n := m.factor(b, 1)
			// b = Wf + (y + n)/2 − nπ (Algorithm 3.1, line 5), n×draws.
			target := b.NewtonTarget(n.f, n.count, b.Input("y", m.n, draws))
			var dual *gorgonia.Node
			if m.rank == 0 {
				dual = n.dual(target)
			} else {
				dual = n.coefficients(target)
			}
			b.Output("f", b.MatrixProduct(n.factors, dual)) // f = Ka, or Vα
			b.Output("dual", dual)
		}}
}

// dual returns a = b − W^½B⁻¹W^½Kb (Algorithm 3.1, line 6), n×draws.
func (n factorisation) dual(target *gorgonia.Node) *gorgonia.Node {
	kb := n.MatrixProduct(n.factors, target)
	x := n.CholeskySolve(n.l, n.ScaleRows(n.s, kb)) // B⁻¹W^½Kb
	return n.Sub(target, n.ScaleRows(n.s, x))
}

// coefficients returns α = (I + VᵀWV)⁻¹Vᵀb, rank×draws.
func (n factorisation) coefficients(target *gorgonia.Node) *gorgonia.Node {
	vb := n.MatrixProduct(n.Transpose(n.factors), target)
	return n.CholeskySolve(n.l, vb)
}

// spectrumProgram decomposes C = ½(K − TᵀT) with T = L⁻¹W^½K (n×n) or, for a covariance of low
// rank, with C = ½TᵀT and T = L⁻¹Vᵀ, the smaller ½TTᵀ (rank×rank).
func (m *Model) spectrumProgram() engine.Program {
	return engine.Program{Name: "spectrum of the Laplace approximation's cloaking matrix", Key: m.key("spectrum", 0),
		Build: func(b *engine.Builder) {
			n := m.factor(b, 1)
			if m.rank == 0 {
				b.Output("spectrum", b.LargestEigen(m.n, n.cloakingMatrix()))
			} else {
				b.Output("spectrum", b.LargestEigen(m.rank, n.smallGram()))
			}
		}}
}

// cloakingMatrix returns C = ½K − ½TᵀT with T = L⁻¹W^½K, n×n.
func (n factorisation) cloakingMatrix() *gorgonia.Node {
	t := n.TriangularSolve(n.l, n.ScaleRows(n.s, n.factors))
	gram := n.ColumnGram(0.5, t)
	half := n.Mul(n.Constant(0.5), n.factors)
	return n.Sub(half, gram)
}

// smallGram returns ½TTᵀ (rank×rank), and outputs T = L⁻¹Vᵀ (rank×n), which maps its eigenvectors
// to those of C.
func (n factorisation) smallGram() *gorgonia.Node {
	t := n.TriangularSolve(n.l, n.Transpose(n.factors))
	n.Output("t", t)
	return n.RowGram(0.5, t)
}

// varianceProgram computes the "variance" (functions×points) of [Model.Variances]: the squared
// norms of the columns of L⁻¹W^½K_* for a full covariance (Algorithm 3.2, lines 5 and 6), of
// L⁻¹Φ_* for one of low rank.
func (m *Model) varianceProgram(functions, points int) engine.Program {
	return engine.Program{Name: "posterior variance of the Laplace approximation",
		Key: m.key(fmt.Sprint("variance ", functions), points),
		Build: func(b *engine.Builder) {
			n := m.factor(b, functions)
			var cross *gorgonia.Node
			if m.rank == 0 {
				cross = b.ScaleRows(n.s, b.Input("cross", m.n, points))
			} else {
				cross = b.Input("cross", m.rank, points)
			}
			b.Output("variance", b.ColumnNorms(b.TriangularSolve(n.l, cross)))
		}}
}
