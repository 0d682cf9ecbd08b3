package corpus

import (
	"testing"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
)

// A graph of gorgonia's has the results of the program with the same graph on the CPU or on the device
// that PRIVKERN_TEST_BACKEND names.
func TestFromGraph(t *testing.T) {
	for _, dtype := range precisions {
		e := graphtest.Engine(t, dtype.String(), 1)
		for _, g := range All() {
			if stage := g.Fault().Stage; stage == Building || stage == Running {
				continue
			}
			t.Run(dtype.String()+"/"+g.Name, func(t *testing.T) {
				in := g.Values(dtype, g.Elements())
				want, err := e.Run(t.Context(), g.Program(), in)
				if err != nil {
					t.Fatal(err)
				}
				graph, err := engine.Build(g.Program(), dtype)
				if err != nil {
					t.Fatal(err)
				}
				for name, n := range graph.Inputs {
					if err := gorgonia.Let(n, in[name]); err != nil {
						t.Fatal(err)
					}
				}
				var outputs gorgonia.Nodes
				for _, n := range graph.Outputs {
					outputs = append(outputs, n)
				}
				vm, err := engine.FromGraph(graph.Expr, e, engine.Watch(outputs...))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = vm.Close() }()
				got, err := vm.Compute(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for name, n := range graph.Outputs {
					if difference := differ(t, got[n], want[name], unequalBits[g.Name]); difference != "" {
						t.Errorf("%s: %s", name, difference)
					}
				}
			})
		}
	}
}
