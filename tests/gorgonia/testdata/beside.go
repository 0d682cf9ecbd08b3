package gorgonia

// The edited RunAll calls Beside before a machine runs a graph, and the function that it returns after.
var Beside func(g *ExprGraph, eval bool) (after func(error))

func beside(m *tapeMachine) func(error) {
	if Beside == nil || m.pc > 0 {
		return func(error) {}
	}
	return Beside(m.p.g, m.evalMode)
}
