package own

import (
	"math"
	"testing"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// The number of directions grows with that of the columns and with epsilon.
func TestDirections(t *testing.T) {
	for _, c := range []struct {
		columns    int
		epsilon, d float64
		want       int
	}{
		{1, math.Inf(1), 1, 1}, {4, math.Inf(1), 1, 2}, {13, math.Inf(1), 1, 7}, {784, math.Inf(1), 1, 20},
		{13, 30, 1, 4}, {13, 3, 1, 2}, {13, 1e-3, 1, 1}, {784, 16, 1, 8}, {13, 3, .1, 4},
	} {
		if got := Directions(c.columns, c.epsilon, c.d); got != c.want {
			t.Errorf("%d columns, epsilon %g, d %g: %d directions, want %d", c.columns, c.epsilon, c.d, got, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	for name, c := range map[string]struct {
		inputs    string
		given     []string
		data      wide.Data
		n, layers int
	}{
		"named inputs":    {"a+b+c+d+e+f+g[x|y]", nil, wide.Original, 4, 4},
		"an epsilon":      {"a+b+c+d+e+f+g[x|y]", []string{"epsilon"}, wide.Fabricated, 1, 1},
		"noiseless data":  {"a+b+c+d+e+f+g[x|y]", []string{"epsilon", "data"}, wide.Original, 4, 4},
		"more layers":     {"a+b+c+d+e+f+g[x|y]", []string{"epsilon", "layers"}, wide.Fabricated, 5, 5},
		"directions":      {"a+b+c+d+e+f+g[x|y]", []string{"n"}, wide.Original, 20, 5},
		"all the columns": {"*", []string{"epsilon"}, wide.Fabricated, 20, 5},
	} {
		t.Run(name, func(t *testing.T) {
			table, data := Table{Inputs: c.inputs}, wide.Original
			p := wide.Pipeline{Budget: wide.Budget{Epsilon: math.Inf(1), D: 1},
				Machine: wide.Machine{N: 20, Layers: 5, Branches: experiment.NumberOr[wide.Rounding](1)}}
			named := map[string]bool{}
			for _, g := range c.given {
				named[g] = true
			}
			if named["epsilon"] {
				p.Epsilon = 3
			}
			table.Complete("csv:rows.csv", &data, &p, func(field any) bool {
				switch field {
				case &p.Epsilon:
					return named["epsilon"]
				case &data:
					return named["data"]
				case &p.N:
					return named["n"]
				case &p.Layers:
					return named["layers"]
				}
				return false
			})
			if data != c.data || p.N != c.n || p.Layers != c.layers {
				t.Errorf("data %v, n %d, layers %d", data, p.N, p.Layers)
			}
		})
	}
}
