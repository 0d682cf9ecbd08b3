//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// edges are numbers at which functions leave the ordinary ones, and some of those.
func edges(dtype tensor.Dtype) []float64 {
	all := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 1e-30,
		-1e-30, 20, -20, 120, -120, 0.1, -0.7, 1.3, 1e15, 7}
	if dtype == tensor.Float32 {
		return append(all, 1e-40, -1e-45, 3e38, -3e38)
	}
	return append(all, 1e-310, -5e-324, 1.7e308, -1.7e308)
}

// randomGraph applies all of gorgonia's functions on single elements, at random, to
// scalars, vectors, matrices, repeated rows and columns, and the results of one another.
// Many of the results are outputs. There are 28 operations, and 280 where many is set.
func randomGraph(rng *rand.Rand, b *engine.Builder, many bool) {
	unaries := []func(*gorgonia.Node) (*gorgonia.Node, error){gorgonia.Abs, gorgonia.Sign, gorgonia.Ceil, gorgonia.Floor,
		gorgonia.Sin, gorgonia.Cos, gorgonia.Exp, gorgonia.Log, gorgonia.Log2, gorgonia.Neg, gorgonia.Square, gorgonia.Sqrt,
		gorgonia.Inverse, gorgonia.InverseSqrt, gorgonia.Cube, gorgonia.Tanh, gorgonia.Sigmoid, gorgonia.Log1p,
		gorgonia.Expm1, gorgonia.Softplus}
	relation := func(f func(a, b *gorgonia.Node, numbers bool) (*gorgonia.Node, error)) func(a, b *gorgonia.Node) (
		*gorgonia.Node, error) {
		return func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return f(a, b, true) }
	}
	binaries := []func(a, b *gorgonia.Node) (*gorgonia.Node, error){gorgonia.Add, gorgonia.Sub, gorgonia.HadamardProd,
		gorgonia.HadamardDiv, gorgonia.Add, gorgonia.Sub, gorgonia.HadamardProd, gorgonia.Pow, gorgonia.MaxBetween,
		gorgonia.MinBetween,
		relation(gorgonia.Lt), relation(gorgonia.Gt), relation(gorgonia.Lte), relation(gorgonia.Gte), relation(gorgonia.Eq),
		relation(gorgonia.Ne)}
	const rows, cols = 9, 13
	all := []gorgonia.Nodes{
		{b.Scalar("s0"), b.Add(b.Scalar("s1"), b.Constant(0.3))},
		{b.Tensor("v0", cols), b.Tensor("v1", cols)},
		{b.Tensor("m0", rows, cols), b.Tensor("m1", rows, cols), b.Tensor("m2", rows, cols)},
	}
	column, row := b.Tensor("column", rows, 1), b.Tensor("row", 1, cols)
	outputs := 0
	operations := 28
	if many {
		operations = 280
	}
	for range operations {
		kind := rng.IntN(len(all))
		pick := func(k int) *gorgonia.Node { return all[k][rng.IntN(len(all[k]))] }
		a, c := pick(kind), pick(kind)
		if kind == 0 || rng.IntN(4) == 0 {
			c = pick(0) // a scalar with every element
		}
		var n *gorgonia.Node
		switch how := rng.IntN(10); {
		case how < 3:
			n = gorgonia.Must(unaries[rng.IntN(len(unaries))](a))
		case how < 6 || kind < 2:
			if rng.IntN(2) == 0 && a.Shape().Eq(c.Shape()) {
				a, c = c, a
			}
			f := binaries[rng.IntN(len(binaries))]
			if !a.Shape().Eq(c.Shape()) { // gorgonia's extremes take no scalar with a tensor
				f = binaries[rng.IntN(4)]
			}
			n = gorgonia.Must(f(a, c))
		case how < 8:
			n = gorgonia.Must(gorgonia.BroadcastAdd(a, row, nil, []byte{0}))
		default:
			n = gorgonia.Must(gorgonia.BroadcastHadamardProd(a, column, nil, []byte{1}))
		}
		all[kind] = append(all[kind], n)
		if rng.IntN(3) == 0 {
			b.Output(fmt.Sprint("out", outputs), n)
			outputs++
		}
	}
	for k, nodes := range all {
		b.Output(fmt.Sprint("last", k), gorgonia.Must(gorgonia.Neg(nodes[len(nodes)-1])))
	}
	x, y := all[2][len(all[2])-1], all[2][len(all[2])-2]
	less, more := gorgonia.Must(gorgonia.Lt(x, y, false)), gorgonia.Must(gorgonia.Gt(x, y, false))
	b.Output("less", less)
	b.Output("unlike", gorgonia.Must(gorgonia.Ne(less, more, false)))
}

// adam is a step of Kingma and Ba (2015), algorithm 1, for one parameter matrix, with the
// corrections of its bias.
func adam(rows, cols int) engine.Program {
	return engine.Program{Name: "Adam", Key: fmt.Sprint("Adam ", rows, cols), Build: func(b *engine.Builder) {
		w, g, m, v := b.Input("w", rows, cols), b.Input("g", rows, cols), b.Input("m", rows, cols), b.Input("v", rows, cols)
		first, second, rate := b.Scalar("first"), b.Scalar("second"), b.Scalar("rate")
		m = b.Add(b.Hadamard(b.Constant(0.9), m), b.Hadamard(b.Constant(0.1), g))
		v = b.Add(b.Hadamard(b.Constant(0.999), v), b.Hadamard(b.Constant(0.001), b.Square(g)))
		one := b.Constant(1)
		root := gorgonia.Must(gorgonia.Sqrt(gorgonia.Must(gorgonia.HadamardDiv(v, b.Sub(one, second)))))
		step := gorgonia.Must(gorgonia.HadamardDiv(gorgonia.Must(gorgonia.HadamardDiv(m, b.Sub(one, first))),
			b.Add(root, b.Constant(1e-8))))
		b.Output("w", b.Sub(w, b.Hadamard(rate, step)))
		b.Output("m", m)
		b.Output("v", v)
	}}
}

func adamInputs(rows, cols int) engine.Values {
	rng := rand.New(rand.NewPCG(1, 7))
	in := engine.Values{"first": engine.NewScalar(tensor.Float64, 0.9), "second": engine.NewScalar(tensor.Float64, 0.999),
		"rate": engine.NewScalar(tensor.Float64, 1e-3)}
	for _, name := range []string{"w", "g", "m", "v"} {
		a := make([]float64, rows*cols)
		for i := range a {
			if a[i] = rng.NormFloat64(); name == "v" {
				a[i] *= a[i]
			}
		}
		in[name] = engine.TensorOf(a, rows, cols)
	}
	return in
}

// A step of Adam operation by operation and fused: time and launches.
func BenchmarkAdam(b *testing.B) {
	for _, size := range []int{30, 1000} {
		for _, mode := range []string{fuseNever, fuseAlways} {
			b.Run(fmt.Sprintf("%d×%d/fusion=%s", size, size, mode), func(b *testing.B) {
				e, err := engine.Open("cuda", "float64", 1)
				if err != nil {
					b.Skip(err)
				}
				defer func() { _ = e.Close() }()
				setFusion(b, mode)
				c := counting(b)
				p, in := adam(size, size), adamInputs(size, size)
				run := func() {
					if _, err := e.Run(context.Background(), p, in); err != nil {
						b.Fatal(err)
					}
				}
				run() // plans and compiles
				c.launches = 0
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(c.launches)/float64(b.N), "launches/op")
			})
		}
	}
}
