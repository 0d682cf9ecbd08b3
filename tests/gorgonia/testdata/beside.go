package gorgonia

// The edited RunAll calls BeforeRun before a machine runs a graph, and the function that it returns after.
var BeforeRun func(g *ExprGraph, eval bool) (after func(error))

func beforeRun(m *tapeMachine) func(error) {
	if BeforeRun == nil || m.pc > 0 {
		return func(error) {}
	}
	return BeforeRun(m.p.g, m.evalMode)
}
