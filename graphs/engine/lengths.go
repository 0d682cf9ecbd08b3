package engine

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// The length of an axis is known from the shape of an operand, which need not be computed for
// it: the derivative of a sum asks for the lengths of what it adds up, and for nothing else.

// isLength says whether a node is the length of an axis, as a scalar of the element type.
func isLength(n *gorgonia.Node) bool {
	return n.Op() != nil && op.IsLength(n.Op()) && (n.Dtype() == tensor.Float64 || n.Dtype() == tensor.Float32)
}

// constant is the value of a node that is the same in all runs.
func constant(n *gorgonia.Node, operands []*gorgonia.Node) (gorgonia.Value, error) {
	if !isLength(n) {
		return n.Op().Do()
	}
	length, err := op.Length(n.Op(), operands[0].Shape())
	if err != nil {
		return nil, err
	}
	return NewScalar(n.Dtype(), float64(length)), nil
}

// computed are the inputs, and the nodes whose elements some output depends on.
func (g *Graph) computed() map[*gorgonia.Node]bool {
	computed := map[*gorgonia.Node]bool{}
	for _, n := range g.needed.AllNodes() {
		if n.Op() == nil {
			computed[n] = true
		}
	}
	var add func(n *gorgonia.Node)
	add = func(n *gorgonia.Node) {
		if computed[n] {
			return
		}
		computed[n] = true
		if isLength(n) {
			return
		}
		for _, c := range children(g.needed, n) {
			add(c)
		}
	}
	for _, n := range g.Outputs {
		add(n)
	}
	return computed
}
