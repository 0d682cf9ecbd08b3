package op_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// bare is the profile whose kernel is the metric itself.
func bare(m op.Metric) op.Profile {
	return op.Profile{Metric: m, Form: op.Power, Scale: 1, Rate: 1, Degree: 1}
}

// direct are the cases that are one operation, of all operations.
func direct() (cases []op.Case) {
	for _, o := range op.All() {
		for _, c := range o.Cases() {
			if c.Graph == nil {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

func values(dtype tensor.Dtype, in []op.Operand) []gorgonia.Value {
	v := make([]gorgonia.Value, len(in))
	for i, a := range in {
		switch {
		case !a.Scalar:
			v[i] = engine.NewMatrix(dtype, a.Dense)
		case dtype == tensor.Float32:
			v[i] = gorgonia.NewF32(float32(a.At(0, 0)))
		default:
			v[i] = gorgonia.NewF64(a.At(0, 0))
		}
	}
	return v
}

// matrices are operands in float64, of which one of 1×1 is a scalar.
func matrices(in ...*mat.Dense) []gorgonia.Value {
	operands := make([]op.Operand, len(in))
	for i, a := range in {
		r, c := a.Dims()
		operands[i] = op.Operand{Dense: a, Scalar: r == 1 && c == 1}
	}
	return values(tensor.Float64, operands)
}

func compute(t *testing.T, c op.Case, dtype tensor.Dtype) gorgonia.Value {
	t.Helper()
	v, err := c.Op.Do(values(dtype, c.In)...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// float32 agrees with float64 to its roundoff times the condition numbers of the cases.
func TestSinglePrecisionAgreesWithDouble(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, c := range direct() {
			if c.Double {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				want, got := compute(t, c, tensor.Float64), compute(t, c, tensor.Float32)
				if got.Dtype() != tensor.Float32 {
					t.Errorf("the result is %v", got.Dtype())
				}
				graphtest.Close(t, c.Name, got, want, 5e-6*max(1, c.Condition))
			})
		}
	})
}

// The number of workers changes no bit, and no input is written to.
func TestWorkersChangeNoBit(t *testing.T) {
	for _, c := range direct() {
		t.Run(c.Name, func(t *testing.T) {
			before := make([]*mat.Dense, len(c.In))
			for i, a := range c.In {
				before[i] = mat.DenseCopyOf(a)
			}
			want := compute(t, c, tensor.Float64)
			got, err := c.Op.Compute(parallel.NewPool(5), nil, values(tensor.Float64, c.In)...)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			for i := range before {
				if !mat.Equal(before[i], c.In[i]) {
					t.Errorf("input %d was changed", i)
				}
			}
		})
	}
}

// same compares two values bit for bit.
func same(t *testing.T, got, want gorgonia.Value) {
	t.Helper()
	g, err := engine.Floats(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := engine.Floats(want)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(g, w, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Error("the bits differ")
	}
}

// The former contents of an output, NaN included, leave no trace.
func TestOutputIsOverwritten(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, c := range direct() {
			want := compute(t, c, tensor.Float64)
			if want.Shape().IsScalar() {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				dirty := make([]float64, want.Shape().TotalSize())
				for i := range dirty {
					dirty[i] = math.NaN()
				}
				out := tensor.New(tensor.WithShape(want.Shape()...), tensor.WithBacking(dirty))
				got, err := c.Op.UsePreallocDo(out, values(tensor.Float64, c.In)...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, want)
			})
		}
	})
}

// A transposed input may arrive as a view of the original's memory.
func TestTransposedViewAsInput(t *testing.T) {
	x := tensor.New(tensor.WithShape(3, 2), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	view := x.ShallowClone()
	if err := view.T(); err != nil {
		t.Fatal(err)
	}
	got, err := op.KernelSymmetric(bare(op.InnerProduct)).Do(view)
	if err != nil {
		t.Fatal(err)
	}
	want := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{35, 44, 44, 56}))
	graphtest.Close(t, "inner products of the transpose", got, want, 1e-15)
}

// gorgonia merges operations of one hash: every parameter must be part of it.
func TestParametersAreHashed(t *testing.T) {
	base := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1, Offset: 1, Degree: 1}
	ops := append([]op.Op{op.Kernel(base)}, op.All()...)
	ops = append(ops, op.KernelSymmetric(base), op.Gibbs(math.Nextafter(1, 2)), op.LargestEigen(2),
		op.LeadingEigen(2, 2), op.LeadingEigen(1, 3), op.RowDistance(1),
		op.Scatter(1, true), op.Scatter(math.Nextafter(1, 2), false))
	for _, change := range []func(*op.Profile){
		func(p *op.Profile) { p.Metric = op.Manhattan },
		func(p *op.Profile) { p.Form = op.Matern12 },
		func(p *op.Profile) { p.Scale = math.Nextafter(1, 2) },
		func(p *op.Profile) { p.Rate = math.Nextafter(1, 2) },
		func(p *op.Profile) { p.Offset = math.Nextafter(1, 2) },
		func(p *op.Profile) { p.Degree = 2 },
	} {
		p := base
		change(&p)
		ops = append(ops, op.Kernel(p))
	}
	seen := map[uint32]string{}
	for _, o := range ops {
		if other, ok := seen[o.Hashcode()]; ok {
			t.Errorf("%v and %s have the same hash", o, other)
		}
		seen[o.Hashcode()] = o.String()
	}
	if again := op.Kernel(base); again.Hashcode() != ops[0].Hashcode() {
		t.Error("the same operation has two hashes")
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		// Order 50 goes to the library where there is one, order 3 does not.
		for _, n := range []int{3, 50} {
			indefinite := identity(n)
			indefinite.Set(2, 2, -3)
			singular := identity(n)
			singular.Set(0, 2, 1)
			singular.Set(2, 0, 1)
			for _, c := range []struct {
				name     string
				a        *mat.Dense
				pivot    float64
				singular bool
			}{{"indefinite", indefinite, -3, false}, {"singular", singular, 0, true}} {
				t.Run(c.name, func(t *testing.T) {
					_, err := op.Cholesky().Do(engine.NewMatrix(tensor.Float64, c.a))
					var notPD *op.NotPositiveDefiniteError
					if !errors.As(err, &notPD) {
						t.Fatalf("the factor of an %s matrix: %v", c.name, err)
					}
					if notPD.Order != n || notPD.Row != 2 || notPD.Pivot != c.pivot || notPD.Singular() != c.singular {
						t.Errorf("the factor of an %s matrix: %+v", c.name, *notPD)
					}
					if !strings.Contains(err.Error(), "row 2") || !strings.Contains(err.Error(), c.name) {
						t.Errorf("the message %q does not say where and why", err)
					}
				})
			}
			nan := identity(n)
			nan.Set(n-1, n-1, math.NaN())
			if _, err := op.Cholesky().Do(engine.NewMatrix(tensor.Float64, nan)); err == nil {
				t.Errorf("n=%d: a NaN passed", n)
			}
		}
	})
}

// The kernel matrix of close points is singular but for rounding, in a row that
// depends on how a factorisation is blocked. The message must not call it
// indefinite, which amplified rounding would suggest.
func TestNearlySingular(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		const n = 61
		a := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				d := float64(i-j) / (n + 1)
				a.Set(i, j, math.Exp(-10*d*d))
			}
		}
		_, err := op.Cholesky().Do(engine.NewMatrix(tensor.Float64, a))
		var notPD *op.NotPositiveDefiniteError
		if !errors.As(err, &notPD) || !notPD.Singular() || notPD.Row < 6 || notPD.Row > 14 {
			t.Errorf("%v", err)
		}
	})
}

func identity(n int) *mat.Dense {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		a.Set(i, i, 1)
	}
	return a
}

func TestEigenRefusesInfiniteMatrices(t *testing.T) {
	a := identity(3)
	a.Set(1, 1, math.Inf(1))
	var noConvergence *op.NoConvergenceError
	if _, err := op.Eigen().Do(engine.NewMatrix(tensor.Float64, a)); !errors.As(err, &noConvergence) {
		t.Errorf("got %v", err)
	}
}

// Wrong inputs are errors, at building time and at run time.
func TestWrongInputs(t *testing.T) {
	m := func(r, c int) gorgonia.Value { return engine.NewMatrix(tensor.Float64, mat.NewDense(r, c, nil)) }
	for name, c := range map[string]struct {
		op   op.Op
		in   []gorgonia.Value
		want string
	}{
		"dimensions of points": {op.Kernel(bare(op.SquaredEuclidean)), []gorgonia.Value{m(2, 3), m(2, 4)},
			"3 and of 4 dimensions"},
		"not square":   {op.Cholesky(), []gorgonia.Value{m(2, 3)}, "square"},
		"rows":         {op.Solve(), []gorgonia.Value{m(2, 2), m(2, 2), m(3, 1)}, "numbers of rows differ"},
		"factor":       {op.Inverse(), []gorgonia.Value{m(2, 2), m(3, 3)}, "its factor (3, 3)"},
		"arity":        {op.Solve(), []gorgonia.Value{m(2, 2)}, "1 inputs, want 3"},
		"lengthscales": {op.Gibbs(1), []gorgonia.Value{m(2, 2), m(2, 2), m(2, 1), m(2, 2)}, "one lengthscale"},
		"weights":      {op.WeightedGram(), []gorgonia.Value{m(2, 3), m(2, 1)}, "want 3×1"},
		"types": {op.Kernel(bare(op.SquaredEuclidean)),
			[]gorgonia.Value{m(2, 2), engine.NewMatrix(tensor.Float32, mat.NewDense(2, 2, nil))},
			"input 1 is float32"},
		"integers": {op.Cholesky(), []gorgonia.Value{tensor.New(tensor.WithShape(1, 1), tensor.WithBacking([]int{1}))},
			"float64 or float32"},
		"a vector": {op.Cholesky(), []gorgonia.Value{tensor.New(tensor.WithShape(4), tensor.Of(tensor.Float64))},
			"want 2 dimensions"},
		"nil input": {op.Cholesky(), []gorgonia.Value{nil}, "panic"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.op.Do(c.in...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	g := gorgonia.NewGraph()
	a := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 3), gorgonia.WithName("a"))
	if _, err := op.Cholesky().Apply(a); err == nil {
		t.Error("a graph with the Cholesky factor of a 2×3 matrix was built")
	}
}

func TestNoDerivative(t *testing.T) {
	if _, err := op.Eigen().SymDiff(nil, nil, nil); !errors.Is(err, op.ErrNotDifferentiable) {
		t.Errorf("got %v", err)
	}
}

// Points far from the origin, and points close to each other, are where the
// product formula for squared distances loses its digits.
func TestDistancesDoNotCancel(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		const n, d, offset = 60, 48, 1e6
		rng := graphtest.Rand(3)
		x := graphtest.Normal(rng, n, d)
		for i := range n {
			for j := range d {
				v := offset + x.At(i, j)
				if i%2 == 1 {
					v = x.At(i-1, j) + 0x1p-20*float64(j+1) // a close neighbour
				}
				x.Set(i, j, v)
			}
		}
		got, err := op.Kernel(bare(op.SquaredEuclidean)).Do(engine.NewMatrix(tensor.Float64, x),
			engine.NewMatrix(tensor.Float64, moved(x)))
		if err != nil {
			t.Fatal(err)
		}
		floats, _ := engine.Floats(got)
		y := moved(x)
		for i := range n {
			for j := range n {
				want := 0.0
				for k := range d {
					diff := x.At(i, k) - y.At(j, k)
					want += diff * diff
				}
				if g := floats[i*n+j]; math.Abs(g-want) > 1e-11*want {
					t.Fatalf("distance %d %d: %.17g, want %.17g", i, j, g, want)
				}
			}
		}
	})
}

// moved returns the points moved in the first coordinate by little compared with their
// norms.
func moved(x *mat.Dense) *mat.Dense {
	y := mat.DenseCopyOf(x)
	n, _ := y.Dims()
	for i := range n {
		y.Set(i, 0, y.At(i, 0)+0x1p-22)
	}
	return y
}

func TestPSDPartOfEigen(t *testing.T) {
	a := engine.NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{1, 2, 2, 1})) // eigenvalues −1 and 3
	e, err := op.Eigen().Do(a)
	if err != nil {
		t.Fatal(err)
	}
	part, err := op.PSDPart().Do(a, e)
	if err != nil {
		t.Fatal(err)
	}
	graphtest.Close(t, "part", part, tensor.New(tensor.WithShape(2, 2),
		tensor.WithBacking([]float64{1.5, 1.5, 1.5, 1.5})), 1e-15)
	w, err := op.Eigenvalues().Do(e)
	if err != nil {
		t.Fatal(err)
	}
	graphtest.Close(t, "eigenvalues", w, tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float64{-1, 3})), 1e-14)
}
