package op_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/simd/vector"
)

// The engine computes gorgonia's functions that have a kernel with it: the bits are those of
// package vector for any number of workers, also where the last part is incomplete.
func TestHostKernelsOfElements(t *testing.T) {
	t.Run("float64", func(t *testing.T) { hostKernels[float64](t, tensor.Float64, 1e-14) })
	t.Run("float32", func(t *testing.T) { hostKernels[float32](t, tensor.Float32, 1e-6) })
}

func hostKernels[T vector.Float](t *testing.T, dtype tensor.Dtype, tolerance float64) {
	const rows, cols = 3, 9001
	x := make([]T, rows*cols)
	for i := range x {
		x[i] = T(20 * math.Sin(float64(i)))
	}
	for _, c := range []struct {
		name  string
		graph func(*gorgonia.Node) (*gorgonia.Node, error)
		run   func(dst, src []T)
		value func(float64) float64
	}{
		{"exponential", gorgonia.Exp, vector.Exp[T], math.Exp},
		{"hyperbolic tangent", gorgonia.Tanh, vector.Tanh[T], math.Tanh},
	} {
		want := make([]T, len(x))
		c.run(want, x)
		for _, workers := range []int{1, 3} {
			e, err := engine.Open("cpu", dtype.String(), workers)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Close() }()
			in := tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(slices.Clone(x)))
			p := engine.Program{Name: c.name, Key: c.name, Build: func(b *engine.Builder) {
				b.Output("y", gorgonia.Must(c.graph(b.Input("x", rows, cols))))
			}}
			for range 2 { // the second run may use memory of the first
				out, err := e.Run(context.Background(), p, engine.Values{"x": in})
				if err != nil {
					t.Fatal(err)
				}
				got, ok := out["y"].Data().([]T)
				if !ok || !slices.Equal(got, want) || !slices.Equal(in.Data().([]T), x) {
					t.Fatalf("%s with %d workers: %T, other bits", c.name, workers, out["y"].Data())
				}
			}
		}
		for i, v := range x {
			if w := c.value(float64(v)); math.Abs(float64(want[i])-w) > tolerance*math.Abs(w) {
				t.Fatalf("%s of %v is %v, want %v", c.name, v, want[i], w)
			}
		}
	}
}

// Scalars, other operations, and tensors whose memory is not their elements in order are
// gorgonia's.
func TestNoHostKernel(t *testing.T) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(4, 3))
	y := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(3, 4))
	exp, product := gorgonia.Must(gorgonia.Exp(x)).Op(), gorgonia.Must(gorgonia.Mul(x, y)).Op()
	whole := func() *tensor.Dense { return tensor.New(tensor.WithShape(4, 3), tensor.Of(tensor.Float64)) }
	if op.OnHost(exp, whole()) == nil {
		t.Fatal("the exponential of a matrix has no kernel")
	}
	columns, err := whole().Slice(nil, tensor.S(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	transposed := whole()
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	fortran := tensor.New(tensor.WithShape(4, 3), tensor.Of(tensor.Float64), tensor.AsFortran(nil))
	for name, c := range map[string]struct {
		op gorgonia.Op
		in []gorgonia.Value
	}{
		"a scalar":           {exp, []gorgonia.Value{gorgonia.NewF64(1)}},
		"some columns":       {exp, []gorgonia.Value{columns.(*tensor.Dense)}},
		"a transposed one":   {exp, []gorgonia.Value{transposed}},
		"a column-major one": {exp, []gorgonia.Value{fortran}},
		"integers":           {exp, []gorgonia.Value{tensor.New(tensor.WithShape(2), tensor.Of(tensor.Int))}},
		"another function":   {gorgonia.Must(gorgonia.Sin(x)).Op(), []gorgonia.Value{whole()}},
		"a small product": {product, []gorgonia.Value{whole(),
			tensor.New(tensor.WithShape(3, 4), tensor.Of(tensor.Float64))}},
		"an operation of package op": {op.Trace(), []gorgonia.Value{whole()}},
	} {
		if op.OnHost(c.op, c.in...) != nil {
			t.Errorf("%s has a kernel", name)
		}
	}
}
