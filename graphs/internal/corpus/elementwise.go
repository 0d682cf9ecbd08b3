package corpus

import (
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
)

// ranks holds the shapes for element-wise operations.
var ranks = []struct {
	of    string
	shape []int
}{
	{"a scalar", nil},
	{"a vector", []int{7}},
	{"a matrix", []int{5, 7}},
	{"a rank-3 tensor", []int{2, 3, 4}},
}

// unaries returns the functions of single elements.
func unaries() (graphs []Graph) {
	leaky := func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.LeakyRelu(x, 0.1) }
	for _, f := range []struct {
		name string
		f    unary
		draw func(shape ...int) Input
		step bool
	}{
		{"absolute value", gorgonia.Abs, normal, false},
		{"sign", gorgonia.Sign, normal, true},
		{"ceiling", gorgonia.Ceil, normal, true},
		{"floor", gorgonia.Floor, normal, true},
		{"sine", gorgonia.Sin, normal, false},
		{"cosine", gorgonia.Cos, normal, false},
		{"exponential", gorgonia.Exp, normal, false},
		{"logarithm", gorgonia.Log, positive, false},
		{"binary logarithm", gorgonia.Log2, positive, false},
		{"negative", gorgonia.Neg, normal, false},
		{"square", gorgonia.Square, normal, false},
		{"square root", gorgonia.Sqrt, positive, false},
		{"inverse", gorgonia.Inverse, positive, false},
		{"inverse square root", gorgonia.InverseSqrt, positive, false},
		{"cube", gorgonia.Cube, normal, false},
		{"hyperbolic tangent", gorgonia.Tanh, normal, false},
		{"sigmoid", gorgonia.Sigmoid, normal, false},
		{"log1p", gorgonia.Log1p, positive, false},
		{"expm1", gorgonia.Expm1, normal, false},
		{"softplus", gorgonia.Softplus, normal, false},
		{"rectifier", gorgonia.Rectify, normal, false},
		{"leaky rectifier", leaky, normal, false},
		{"mish", gorgonia.Mish, normal, false},
	} {
		for _, rank := range ranks {
			g := one(f.name+" of "+rank.of, f.draw(rank.shape...), f.f)
			g.Constant, g.Condition = f.step, 10
			graphs = append(graphs, g)
		}
	}
	return graphs
}

// pairs holds the shapes of two operands; one may be a scalar.
var pairs = []struct {
	of   string
	a, b []int
}{
	{"scalars", nil, nil},
	{"vectors", []int{7}, []int{7}},
	{"matrices", []int{5, 7}, []int{5, 7}},
	{"rank-3 tensors", []int{2, 3, 4}, []int{2, 3, 4}},
	{"columns", []int{5, 1}, []int{5, 1}},
	{"a vector and a scalar", []int{7}, nil},
	{"a scalar and a vector", nil, []int{7}},
	{"a matrix and a scalar", []int{5, 7}, nil},
	{"a scalar and a matrix", nil, []int{5, 7}},
	{"a rank-3 tensor and a scalar", []int{2, 3, 4}, nil},
	{"a scalar and a rank-3 tensor", nil, []int{2, 3, 4}},
}

// binaries returns the functions of two matching elements.
func binaries() (graphs []Graph) {
	for _, f := range []struct {
		name string
		f    binary
	}{
		{"sum", gorgonia.Add},
		{"difference", gorgonia.Sub},
		{"product", gorgonia.HadamardProd},
		{"quotient", gorgonia.HadamardDiv},
		{"power", gorgonia.Pow},
		{"smaller", gorgonia.MinBetween},
		{"larger", gorgonia.MaxBetween},
	} {
		for i, p := range pairs {
			if i >= 5 && strings.HasSuffix(f.name, "er") {
				break // operands of unlike shapes are listed below
			}
			g := two(f.name+" of "+p.of, positive(p.a...), positive(p.b...), f.f)
			g.Condition = 100
			graphs = append(graphs, g)
		}
	}
	affine := func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Add(gorgonia.Must(gorgonia.Mul(constant(x, 2.5), x)), constant(x, 1))
	}
	reversed := func(x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Sub(constant(x, 1), gorgonia.Must(gorgonia.HadamardDiv(x, constant(x, 3))))
	}
	same := func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.HadamardProd(x, x) }
	powers := func(p float64) unary {
		return func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Pow(x, constant(x, p)) }
	}
	for _, rank := range ranks {
		graphs = append(graphs,
			one("2.5x + 1 of "+rank.of, normal(rank.shape...), affine),
			one("1 − x/3 of "+rank.of, normal(rank.shape...), reversed),
			one(rank.of+" times itself", normal(rank.shape...), same),
			one("third power of "+rank.of, positive(rank.shape...), powers(3)),
			one("cube root of "+rank.of, positive(rank.shape...), powers(1./3)))
	}
	sums := func(in gorgonia.Nodes) gorgonia.Nodes {
		return gorgonia.Nodes{gorgonia.Must(gorgonia.ReduceAdd(in)), gorgonia.Must(gorgonia.ReduceMul(in))}
	}
	return append(graphs,
		two("smaller of a matrix and a scalar", normal(5, 7), normal(), gorgonia.MinBetween),
		two("larger of a scalar and a matrix", normal(), normal(5, 7), gorgonia.MaxBetween),
		Graph{Name: "sum of four vectors", In: []Input{normal(7), normal(7), normal(7), normal(7)},
			Build: func(in gorgonia.Nodes) gorgonia.Nodes {
				return gorgonia.Nodes{gorgonia.Must(gorgonia.ReduceAdd(in))}
			}},
		Graph{Name: "sum and product of three scalars", In: []Input{normal(), normal(), normal()}, Build: sums})
}

// orders holds the comparisons.
var orders = []struct {
	name      string
	f         func(a, b *gorgonia.Node, same bool) (*gorgonia.Node, error)
	broadcast func(a, b *gorgonia.Node, same bool, left, right []byte) (*gorgonia.Node, error)
}{
	{"<", gorgonia.Lt, gorgonia.BroadcastLt},
	{">", gorgonia.Gt, gorgonia.BroadcastGt},
	{"≤", gorgonia.Lte, gorgonia.BroadcastLte},
	{"≥", gorgonia.Gte, gorgonia.BroadcastGte},
	{"=", gorgonia.Eq, gorgonia.BroadcastEq},
	{"≠", gorgonia.Ne, gorgonia.BroadcastNe},
}

// comparisons returns comparisons with results of the operands' type and of bool.
func comparisons() (graphs []Graph) {
	for _, order := range orders {
		for _, same := range []bool{true, false} {
			as := "as numbers"
			if !same {
				as = "as bool"
			}
			f := func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return order.f(a, b, same) }
			for _, p := range pairs {
				g := two(fmt.Sprintf("%s of %s, %s", order.name, p.of, as), digits(p.a...), digits(p.b...), f)
				g.Constant = true
				graphs = append(graphs, g)
			}
		}
	}
	return graphs
}

// patterns holds operands that are repeated along axes.
var patterns = []struct {
	of          string
	a, b        []int
	left, right []byte
}{
	{"a matrix and a vector for each row", []int{5, 7}, []int{7}, nil, []byte{0}},
	{"a matrix and a vector for each column", []int{5, 7}, []int{5}, nil, []byte{1}},
	{"a vector for each row and a matrix", []int{7}, []int{5, 7}, []byte{0}, nil},
	{"a vector for each column and a matrix", []int{5}, []int{5, 7}, []byte{1}, nil},
	{"a square matrix and a vector for each row", []int{4, 4}, []int{4}, nil, []byte{0}},
	{"a square matrix and a vector for each column", []int{4, 4}, []int{4}, nil, []byte{1}},
	{"a matrix and a row", []int{5, 7}, []int{1, 7}, nil, []byte{0}},
	{"a matrix and a column", []int{5, 7}, []int{5, 1}, nil, []byte{1}},
	{"a column and a row", []int{5, 1}, []int{1, 7}, []byte{1}, []byte{0}},
	{"a rank-3 tensor and a slab", []int{2, 3, 4}, []int{1, 3, 4}, nil, []byte{0}},
	{"a rank-3 tensor and a plate", []int{2, 3, 4}, []int{2, 1, 4}, nil, []byte{1}},
	{"a rank-3 tensor and a sheet", []int{2, 3, 4}, []int{2, 3, 1}, nil, []byte{2}},
	{"a rank-3 tensor and a fibre", []int{2, 3, 4}, []int{1, 3, 1}, nil, []byte{0, 2}},
	{"a rank-4 tensor and channels", []int{2, 3, 4, 2}, []int{1, 3, 1, 1}, nil, []byte{0, 2, 3}},
}

// broadcasts returns functions with one operand, or both, repeated along axes.
func broadcasts() (graphs []Graph) {
	for _, f := range []struct {
		name string
		f    func(a, b *gorgonia.Node, left, right []byte) (*gorgonia.Node, error)
	}{
		{"sum", gorgonia.BroadcastAdd},
		{"difference", gorgonia.BroadcastSub},
		{"product", gorgonia.BroadcastHadamardProd},
		{"quotient", gorgonia.BroadcastHadamardDiv},
		{"power", gorgonia.BroadcastPow},
	} {
		for _, p := range patterns {
			g := two("broadcast "+f.name+" of "+p.of, positive(p.a...), positive(p.b...),
				func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return f.f(a, b, p.left, p.right) })
			g.Condition = 1e3
			graphs = append(graphs, g)
			if !strings.HasPrefix(p.of, "a matrix") || f.name == "power" {
				continue
			}
			if len(p.a) == len(p.b) {
				g := two("automatic broadcast "+f.name+" of "+p.of, positive(p.a...), positive(p.b...),
					func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Auto(f.f, a, b) })
				g.Condition = 1e3
				graphs = append(graphs, g)
			}
		}
	}
	graphs = append(graphs, two("broadcast sum of two vectors", normal(5), normal(7),
		func(a, b *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.BroadcastAdd(a, b, []byte{1}, []byte{0})
		}))
	for _, order := range orders {
		for _, same := range []bool{true, false} {
			as := map[bool]string{true: "as numbers", false: "as bool"}[same]
			p := patterns[8]
			g := two(fmt.Sprintf("broadcast %s of %s, %s", order.name, p.of, as), digits(p.a...), digits(p.b...),
				func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return order.broadcast(a, b, same, p.left, p.right) })
			g.Constant = true
			graphs = append(graphs, g)
		}
	}
	return graphs
}
