//go:build gpu && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// engines opens the host's engine and the device's, or skips the test with the
// reason; with PRIVKERN_TEST_BACKEND=cuda there must be one.
func engines(t *testing.T, dtype string) (host, device *engine.Engine) {
	t.Helper()
	device, err := engine.Open("cuda", dtype, 1)
	if err != nil && os.Getenv("PRIVKERN_TEST_BACKEND") == "cuda" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
		g := shared.gpu
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.pool.inUse != 0 || g.users == 0 && g.pool.kept != 0 {
			t.Errorf("%d bytes of device memory are in use, and %d kept, after the last engine closed", g.pool.inUse, g.pool.kept)
		}
	})
	if host, err = engine.Open("cpu", dtype, 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	return host, device
}

// operand is an input of an operation.
type operand struct {
	m      *mat.Dense
	scalar bool
}

// operationCase is one operation on some operands.
type operationCase struct {
	name  string
	build func(in gorgonia.Nodes) (*gorgonia.Node, error)
	in    []operand
	// Tolerances beside the usual 1e-12 and 5e-6, relative to 1 + |want|, as
	// factors: condition numbers.
	condition float64
}

func apply(o op.Op) func(gorgonia.Nodes) (*gorgonia.Node, error) {
	return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return o.Apply(in...) }
}

func normalMatrix(rng *rand.Rand, rows, cols int) *mat.Dense {
	data := make([]float64, rows*cols)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	return mat.NewDense(rows, cols, data)
}

// derivative is the gradient of Σ o(in)² by one input: it contains the
// operations that only derivatives use.
func derivative(o op.Op, by int) func(gorgonia.Nodes) (*gorgonia.Node, error) {
	return func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		out, err := o.Apply(in...)
		if err == nil {
			out, err = gorgonia.Square(out)
		}
		if err == nil && !out.IsScalar() {
			out, err = gorgonia.Sum(out)
		}
		if err != nil {
			return nil, err
		}
		grads, err := gorgonia.Grad(out, in[by])
		if err != nil {
			return nil, err
		}
		return grads[0], nil
	}
}

func operationCases() []operationCase {
	rng := rand.New(rand.NewPCG(1, 1))
	normal := func(r, c int) operand { return operand{m: normalMatrix(rng, r, c)} }
	definite := func(n int) operand {
		b := normalMatrix(rng, n, n)
		a := mat.NewDense(n, n, nil)
		a.Mul(b, b.T())
		for i := range n {
			for j := range i {
				a.Set(i, j, a.At(j, i))
			}
			a.Set(i, i, a.At(i, i)+1)
		}
		return operand{m: a}
	}
	positive := func(r, c int) operand {
		a := normal(r, c)
		a.m.Apply(func(_, _ int, v float64) float64 { return 0.5 + math.Abs(v) }, a.m)
		return a
	}
	symmetric := func(n int) operand {
		a := normal(n, n)
		for i := range n {
			for j := range i {
				a.m.Set(i, j, a.m.At(j, i))
			}
		}
		return a
	}
	scalar := func(v float64) operand { return operand{m: mat.NewDense(1, 1, []float64{v}), scalar: true} }
	lower := func(n int) operand {
		var c mat.Cholesky
		c.Factorize(mat.NewSymDense(n, definite(n).m.RawMatrix().Data))
		var l mat.TriDense
		c.LTo(&l)
		return operand{m: mat.DenseCopyOf(&l)}
	}
	overflowing := func(n int) operand {
		l := lower(n)
		for i := range n {
			l.m.Set(i, i, 1e-30)
			for j := range i {
				l.m.Set(i, j, 1e8*l.m.At(i, j))
			}
		}
		return l
	}
	spectrum := func(a operand) operand {
		n, _ := a.m.Dims()
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(n, a.m.RawMatrix().Data), true)
		var v mat.Dense
		e.VectorsTo(&v)
		out := mat.NewDense(n+1, n, nil)
		out.SetRow(0, e.Values(nil))
		out.Slice(1, n+1, 0, n).(*mat.Dense).Copy(&v)
		return operand{m: out}
	}
	var cases []operationCase
	add := func(name string, build func(gorgonia.Nodes) (*gorgonia.Node, error), condition float64, in ...operand) {
		cases = append(cases, operationCase{name: name, build: build, in: in, condition: condition})
	}
	// Sizes that leave tiles and blocks incomplete.
	big, small := 150, 37
	a := definite(small)
	add("RowMeans", apply(op.RowMeans()), 1, normal(small, 300))
	add("CentreSymmetric", apply(op.CentreSymmetric()), 1, symmetric(big), normal(big, 1))
	add("Trace", apply(op.Trace()), 10, normal(small, small))
	add("CholeskyShifted", apply(op.CholeskyShifted()), 100, a, scalar(0.5))
	add("Cholesky", apply(op.Cholesky()), 100, definite(big))
	add("CholeskyGradient", derivative(op.Cholesky(), 0), 1000, a)
	add("CholeskySolve", apply(op.CholeskySolve()), 1000, lower(small), normal(small, 5))
	add("CholeskySolve, one column", apply(op.CholeskySolve()), 1000, lower(small), normal(small, 1))
	add("TriangularSolve", apply(op.TriangularSolve()), 1000, lower(small), normal(small, 5))
	add("CholeskyLogDet", apply(op.CholeskyLogDet()), 10, lower(big))
	add("ReciprocalCondition", func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		l, err := op.Cholesky().Apply(in[0])
		if err != nil {
			return nil, err
		}
		return op.ReciprocalCondition().Apply(in[0], l)
	}, 10, a)
	// Solves overflow to NaN, and no element is the largest one.
	add("ReciprocalCondition overflow", apply(op.ReciprocalCondition()), 1, definite(32), overflowing(32))
	for _, d := range []int{3, 8, 30, 90} {
		x, y := normal(small, d), normal(71, d)
		for _, p := range []op.Profile{
			{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1.5, Rate: 0.5 / float64(d)},
			{Metric: op.Manhattan, Form: op.Exponential, Scale: 1, Rate: 0.3 / float64(d)},
			{Metric: op.SquaredEuclidean, Form: op.Matern12, Scale: 1, Rate: 0.4},
			{Metric: op.SquaredEuclidean, Form: op.Matern32, Scale: 1.2, Rate: 0.4},
			{Metric: op.SquaredEuclidean, Form: op.Matern52, Scale: 1, Rate: 0.4},
			{Metric: op.InnerProduct, Form: op.Power, Scale: 1, Rate: 1 / float64(d), Offset: 1, Degree: 3},
			{Metric: op.InnerProduct, Form: op.Tanh, Scale: 1, Rate: 1 / float64(d), Offset: 0.1},
		} {
			name := fmt.Sprintf(" %v %v %d", p.Metric, p.Form, d)
			add("Kernel"+name, apply(op.Kernel(p)), 10, x, y)
			add("KernelSymmetric"+name, apply(op.KernelSymmetric(p)), 10, y)
			add("KernelSlope, MetricGradient"+name, derivative(op.Kernel(p), 0), 300, x, y)
			add("KernelSlope, MetricGradient symmetric"+name, derivative(op.KernelSymmetric(p), 0), 1000, x)
		}
	}
	for _, d := range []int{2, 40} {
		in := []operand{normal(small, d), normal(29, d), positive(small, d), positive(29, d)}
		add(fmt.Sprintf("Gibbs %d", d), apply(op.Gibbs(2)), 1, in...)
		add(fmt.Sprintf("GibbsGradient X %d", d), derivative(op.Gibbs(2), 0), 100, in...)
		add(fmt.Sprintf("GibbsGradient L %d", d), derivative(op.Gibbs(2), 3), 100, in...)
	}
	add("Eigenvalues, Eigen", func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		e, err := op.Eigen().Apply(in[0])
		if err != nil {
			return nil, err
		}
		return op.Eigenvalues().Apply(e)
	}, 100, symmetric(small))
	add("Eigen, PSDPart", func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		e, err := op.Eigen().Apply(in[0])
		if err != nil {
			return nil, err
		}
		return op.PSDPart().Apply(in[0], e)
	}, 100, symmetric(small))
	add("LargestEigen", func(in gorgonia.Nodes) (*gorgonia.Node, error) { // squares, for the signs
		e, err := op.LargestEigen(4).Apply(in[0])
		if err != nil {
			return nil, err
		}
		return gorgonia.Square(e)
	}, 100, a)
	s := symmetric(small)
	add("PSDPart", apply(op.PSDPart()), 100, s, spectrum(s))
	add("PSDPartGradient", derivative(op.PSDPart(), 0), 1000, s, spectrum(s))
	c, w := normal(20, 67), positive(67, 1)
	add("WeightedGram", apply(op.WeightedGram()), 100, c, w)
	add("ScaledProduct", derivative(op.WeightedGram(), 0), 1000, c, w)
	add("QuadraticForms", derivative(op.WeightedGram(), 1), 1000, c, w)
	add("IdentityPlusGram", apply(op.IdentityPlusGram()), 100, normal(small, 20))
	add("Scatter columns", apply(op.Scatter(0.1, false)), 10, normal(small, 45))
	add("Scatter rows", apply(op.Scatter(0.1, true)), 10, normal(small, 45))
	add("AffineHull", apply(op.AffineHull()), 100, normal(big, 5), normal(small, 3), positive(1, 3), positive(small, 6))
	add("AffineHull far away", func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		z, err := gorgonia.HadamardProd(gorgonia.NewConstant(100.0), in[0])
		if in[0].Dtype() == tensor.Float32 {
			z, err = gorgonia.HadamardProd(gorgonia.NewConstant(float32(100)), in[0])
		}
		if err != nil {
			return nil, err
		}
		return op.AffineHull().Apply(z, in[1], in[2], in[3])
	}, 1e4, normal(big, 5), normal(small, 3), positive(1, 3), positive(small, 6))
	add("RowDistance", apply(op.RowDistance(2)), 10, normal(big, 9), normal(big, 9))
	add("LogisticScale", apply(op.LogisticScale()), 1, normal(small, 1), positive(small, 1))
	add("NewtonTarget", apply(op.NewtonTarget()), 10, normal(small, 1), positive(small, 1), normal(small, 3))
	add("ScaleRows", apply(op.ScaleRows()), 1, normal(small, 1), normal(small, 9))
	add("IdentityPlusScaled", apply(op.IdentityPlusScaled()), 10, symmetric(small), normal(small, 1))
	add("Solve", apply(op.Solve()), 1000, a, normal(small, 4))
	add("Solve derivative", derivative(op.Solve(), 0), 1e5, a, normal(small, 4))
	add("LogDet", apply(op.LogDet()), 100, a)
	add("Inverse", apply(op.Inverse()), 1000, a)
	add("Inverse derivative", derivative(op.LogDet(), 0), 1e5, a)
	add("RidgeSolve", apply(op.RidgeSolve()), 1000, a, scalar(0.3), normal(small, 300))
	add("RidgeNorm", apply(op.RidgeNorm()), 100, normal(small, 9), normal(1, 8))
	add("RidgeGramNorm", apply(op.RidgeGramNorm()), 1000, a, scalar(0.3), definite(small))

	binary := func(f func(a, b *gorgonia.Node) (*gorgonia.Node, error)) func(gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0], in[1]) }
	}
	unary := func(f func(a *gorgonia.Node) (*gorgonia.Node, error)) func(gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0]) }
	}
	x, y := normal(70, 41), normal(70, 41)
	add("add", binary(gorgonia.Add), 1, x, y)
	add("subtract", binary(gorgonia.Sub), 1, x, y)
	add("subtract a scalar", binary(gorgonia.Sub), 1, x, scalar(3))
	add("subtract from a scalar", binary(gorgonia.Sub), 1, scalar(3), x)
	add("multiply", binary(gorgonia.HadamardProd), 1, x, y)
	add("multiply by a scalar", binary(gorgonia.HadamardProd), 1, scalar(-2), y)
	add("divide", binary(gorgonia.HadamardDiv), 10, x, positive(70, 41))
	add("product", binary(gorgonia.Mul), 100, x, normal(41, 33))
	add("negate", unary(gorgonia.Neg), 1, x)
	add("square", unary(gorgonia.Square), 1, x)
	add("sine", unary(gorgonia.Sin), 1, x)
	add("cosine", unary(gorgonia.Cos), 1, x)
	add("transpose", unary(func(a *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Transpose(a) }), 1, x)
	add("sum", unary(func(a *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Sum(a) }), 100, x)
	add("sum of columns", unary(func(a *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Sum(a, 0) }), 100, x)
	add("sum of rows", unary(func(a *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Sum(a, 1) }), 100, x)
	add("reshape", unary(func(a *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Reshape(a, tensor.Shape{41, 70}) }), 1, x)
	add("concat columns", binary(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Concat(1, a, b) }), 1, x, normal(70, 3))
	add("concat rows", binary(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Concat(0, a, b) }), 1, x, normal(2, 41))
	add("repeat, size", func(in gorgonia.Nodes) (*gorgonia.Node, error) { // the derivative of a sum repeats it
		sum, err := gorgonia.Sum(in[0])
		if err != nil {
			return nil, err
		}
		if sum, err = gorgonia.Square(sum); err != nil {
			return nil, err
		}
		g, err := gorgonia.Grad(sum, in[0])
		if err != nil {
			return nil, err
		}
		return g[0], nil
	}, 100, x)
	vector := func(in gorgonia.Nodes) (*gorgonia.Node, error) { // a tensor of one dimension
		return gorgonia.Sum(in[0], 1)
	}
	add("sum of a vector", func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		v, err := vector(in)
		if err != nil {
			return nil, err
		}
		return gorgonia.Sum(v)
	}, 100, x)
	for rows, wide := range map[int]operand{70: x, 41: normal(41, 41)} { // also where rows and columns cannot be told apart
		add(fmt.Sprintf("repeat a vector of %d", rows), func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			v, err := vector(in)
			if err != nil {
				return nil, err
			}
			if v, err = gorgonia.Square(v); err != nil {
				return nil, err
			}
			if v, err = gorgonia.Sum(v); err != nil {
				return nil, err
			}
			g, err := gorgonia.Grad(v, in[0])
			if err != nil {
				return nil, err
			}
			return g[0], nil
		}, 100, wide)
	}
	return cases
}

func (c operationCase) program() engine.Program {
	return engine.Program{Name: c.name, Key: "test " + c.name, Build: func(b *engine.Builder) error {
		nodes := make(gorgonia.Nodes, len(c.in))
		for i, o := range c.in {
			if o.scalar {
				nodes[i] = b.Scalar(fmt.Sprint("in", i))
			} else {
				r, cols := o.m.Dims()
				nodes[i] = b.Input(fmt.Sprint("in", i), r, cols)
			}
		}
		out, err := c.build(nodes)
		b.Output("out", out)
		return err
	}}
}

func (c operationCase) inputs(e *engine.Engine) engine.Values {
	v := engine.Values{}
	for i, o := range c.in {
		if o.scalar {
			v[fmt.Sprint("in", i)] = e.Scalar(o.m.At(0, 0))
		} else {
			v[fmt.Sprint("in", i)] = e.Matrix(o.m)
		}
	}
	return v
}

// Every operation that the device has gives the host's numbers.
func TestOperationsLikeTheHost(t *testing.T) {
	for _, precision := range []struct {
		dtype     string
		tolerance float64
	}{{"float64", 1e-12}, {"float32", 5e-6}} {
		t.Run(precision.dtype, func(t *testing.T) {
			host, device := engines(t, precision.dtype)
			for _, c := range operationCases() {
				t.Run(c.name, func(t *testing.T) {
					want, err := host.Run(context.Background(), c.program(), c.inputs(host))
					if err != nil {
						t.Fatal(err)
					}
					got, err := device.Run(context.Background(), c.program(), c.inputs(device))
					if err != nil {
						t.Fatal(err)
					}
					near(t, "out", got["out"], want["out"], precision.tolerance*max(1, c.condition))
					again, err := device.Run(context.Background(), c.program(), c.inputs(device))
					if err != nil {
						t.Fatal(err)
					}
					near(t, "again", again["out"], got["out"], 0)
				})
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// near compares values relative to 1 + |want|, and NaN with NaN.
func near(t *testing.T, what string, got, want gorgonia.Value, tolerance float64) {
	t.Helper()
	if !got.Shape().Eq(want.Shape()) {
		t.Fatalf("%s has shape %v, want %v", what, got.Shape(), want.Shape())
	}
	g, err := engine.Floats(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := engine.Floats(want)
	if err != nil {
		t.Fatal(err)
	}
	worst, at := 0.0, -1
	for i := range w {
		if math.IsNaN(g[i]) != math.IsNaN(w[i]) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, g[i], w[i])
		}
		if d := math.Abs(g[i]-w[i]) / (1 + math.Abs(w[i])); d > worst {
			worst, at = d, i
		}
	}
	if worst > tolerance {
		t.Errorf("%s: element %d is %.17g, want %.17g: off by %.2g, allowed is %.2g", what, at, g[at], w[at], worst, tolerance)
	}
}

// The table of operations has no entry that no test runs.
func TestEveryOperationIsTested(t *testing.T) {
	for name := range operations {
		tested := false
		for _, c := range operationCases() {
			for _, part := range strings.FieldsFunc(c.name, func(r rune) bool { return r == ' ' || r == ',' }) {
				tested = tested || part == name
			}
		}
		if !tested {
			t.Errorf("no case for %s", name)
		}
	}
}
