package clipped

import (
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// examples are m rows of a batch in a program, members of it after one another.
type examples struct {
	*engine.Builder
	part
	x       *gorgonia.Node // m×p
	squares *gorgonia.Node // |x|², m×1; nil where outputs alone are computed
	weights map[string]*gorgonia.Node
	ones    map[int]*gorgonia.Node // by their number, n×1
}

// layer is a part of the weights, with the derivatives of the losses of a batch.
type layer interface {
	// squares are the squared norms of the gradients, m×1.
	squares(b *examples) *gorgonia.Node
	// sum adds outputs: the sums of the gradients, times the factors m×1.
	sum(b *examples, factors *gorgonia.Node)
}

// newExamples declares the weights.
func newExamples(b *engine.Builder, n Network, p part) *examples {
	e := &examples{Builder: b, part: p, weights: map[string]*gorgonia.Node{}, ones: map[int]*gorgonia.Node{}}
	shapes := n.shapes()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		e.weights[name] = b.Input(name, shapes[name][0], shapes[name][1])
	}
	return e
}

// program computes the sums of the clipped gradients of a part,
//
//	Σ_i g_i l_i / max(c, |g_i|),
//
// for "clip" c and "limit" l, which is c, or 0 for the padding (m×1 each). "x" (m×p), "targets" (m×k) and "squares",
// |x|² (m×1), are the examples; where they are gathered, those of all, of which "at" (m×1) are numbers from 0.
func (s *Sums) program(p part, gathered bool) engine.Program {
	m, all := p.size(), p.size()
	if gathered {
		all = s.count
	}
	return engine.Program{
		Name: "sum of clipped gradients",
		Key: fmt.Sprintf("clipped %s loss=%d %d×%d of %d×%d %t", s.network.key(), s.loss, p.members, p.rows, all, s.length,
			gathered),
		Build: func(b *engine.Builder) {
			e := newExamples(b, s.network, p)
			some := func(a *gorgonia.Node) *gorgonia.Node { return a }
			if gathered {
				at := b.Reshape(b.Input("at", m, 1), m)
				some = func(a *gorgonia.Node) *gorgonia.Node { return b.Members(a, at) }
			}
			e.x = some(b.Input("x", all, s.length))
			targets := some(b.Input("targets", all, s.network.Outputs()))
			if s.network.lengths() {
				e.squares = some(b.Input("squares", all, 1))
			}
			outputs, layers := s.network.forward(e)
			if s.loss == CrossEntropy {
				outputs = b.Softmax(outputs)
			}
			of := layers(b.Sub(outputs, targets)) // ∂loss/∂outputs
			clip, limit := b.Input("clip", m, 1), b.Input("limit", m, 1)
			squares := of[0].squares(e)
			for _, l := range of[1:] {
				squares = b.Add(squares, l.squares(e))
			}
			factors := b.Divide(limit, b.Larger(b.Sqrt(squares), clip))
			for _, l := range of {
				l.sum(e, factors)
			}
		},
	}
}

// outputsProgram computes "outputs" (m×k) at "x" (m×p).
func outputsProgram(n Network, p part, length int) engine.Program {
	return engine.Program{
		Name: "outputs of a network",
		Key:  fmt.Sprintf("outputs %s %d×%d of %d", n.key(), p.members, p.rows, length),
		Build: func(b *engine.Builder) {
			e := newExamples(b, n, p)
			e.x = b.Input("x", p.size(), length)
			outputs, _ := n.forward(e)
			b.Output("outputs", outputs)
		},
	}
}

// dense is the layer of a matrix W (k×p), and a constant with the weights c (k) unless that is in the vectors.
type dense struct {
	name        string         // of the output of the sum
	in          *gorgonia.Node // members×rows×p, the vectors a that W multiplies
	lengths     *gorgonia.Node // |a|², or |a|² + 1 with a constant, m×1
	derivatives *gorgonia.Node // δ by Wa + c, m×k
	constants   string         // the output of the sum for the constants; empty for none
}

// squares are |δ|²|a|².
func (l *dense) squares(b *examples) *gorgonia.Node {
	return b.Hadamard(b.rowSquares(l.derivatives), l.lengths)
}

// sum adds Σ_i f_i δ_i a_iᵀ, k×p, and of a constant Σ_i f_i δ_i, k.
func (l *dense) sum(b *examples, factors *gorgonia.Node) {
	scaled := b.ScaleRows(factors, l.derivatives)
	b.Output(l.name, b.overMembers(b.MatrixProduct(b.transposes(scaled), l.in)))
	if l.constants != "" {
		b.Output(l.constants, b.Sum(scaled, 0))
	}
}

// batched makes the rows of a matrix (m×n) those of the members of a batch, which is a matrix where there is one.
func (b *examples) batched(a *gorgonia.Node) *gorgonia.Node {
	if b.members == 1 {
		return a
	}
	return b.Reshape(a, b.members, b.rows, a.Shape()[1])
}

// flat is the matrix of the rows of all members.
func (b *examples) flat(a *gorgonia.Node) *gorgonia.Node {
	if b.members == 1 {
		return a
	}
	return b.Reshape(a, b.size(), a.Shape()[2])
}

// transposes are those of batched rows. A column has its elements in the order of a row.
func (b *examples) transposes(a *gorgonia.Node) *gorgonia.Node {
	n := a.Shape()[1]
	switch {
	case n == 1 && b.members == 1:
		return b.Reshape(a, 1, b.rows)
	case n == 1:
		return b.Reshape(a, b.members, 1, b.rows)
	case b.members == 1:
		return b.Reshape(b.TransposeMembers(b.Reshape(a, 1, b.rows, n)), n, b.rows)
	}
	return b.TransposeMembers(b.batched(a))
}

// overMembers is the sum of the matrices of a batch.
func (b *examples) overMembers(a *gorgonia.Node) *gorgonia.Node {
	if b.members == 1 {
		return a
	}
	return b.Sum(a, 0)
}

// rowSquares are the squared norms of the rows of a matrix (m×n), m×1.
func (b *examples) rowSquares(a *gorgonia.Node) *gorgonia.Node {
	return b.addColumns(b.Square(a))
}

// addColumns are the sums of the rows of a matrix (m×n), m×1.
func (b *examples) addColumns(a *gorgonia.Node) *gorgonia.Node {
	n := a.Shape()[1]
	if n == 1 {
		return a
	}
	if b.ones[n] == nil {
		b.ones[n] = b.Input(ones(n), n, 1)
	}
	return b.MatrixProduct(a, b.ones[n])
}

// ones is the input of n numbers one (n×1), by which a product adds columns.
func ones(n int) string { return fmt.Sprintf("ones %d", n) }
