package op_test

import (
	"errors"
	"math"
	"math/rand/v2"
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

// all lists every operation with inputs that suit it, in both precisions.
func all() map[string]struct {
	op op.Op
	in []*mat.Dense
} {
	rng := graphtest.Rand(2)
	x, y := graphtest.Normal(rng, 70, 3), graphtest.Normal(rng, 5, 3)
	wide, wideY := graphtest.Normal(rng, 70, 20), graphtest.Normal(rng, 300, 20)
	lengths := func(n int) *mat.Dense {
		l := graphtest.Normal(rng, n, 3)
		l.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) + .5 }, l)
		return l
	}
	a := graphtest.Definite(rng, 40)
	chol := lower(a)
	weights := mat.NewDense(20, 1, nil)
	for i := range 20 {
		weights.Set(i, 0, float64(i)/10)
	}
	eq := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: .1}
	return map[string]struct {
		op op.Op
		in []*mat.Dense
	}{
		"squares, few dimensions":  {op.Kernel(bare(op.SquaredEuclidean)), []*mat.Dense{x, y}},
		"squares, many dimensions": {op.Kernel(bare(op.SquaredEuclidean)), []*mat.Dense{wide, wideY}},
		"absolute values":          {op.Kernel(bare(op.Manhattan)), []*mat.Dense{wide, wideY}},
		"Kernel":                   {op.Kernel(eq), []*mat.Dense{wide, wideY}},
		"KernelSymmetric":          {op.KernelSymmetric(eq), []*mat.Dense{wideY}},
		"Gibbs":                    {op.Gibbs(2), []*mat.Dense{x, y, lengths(70), lengths(5)}},
		"Cholesky":                 {op.Cholesky(), []*mat.Dense{a}},
		"CholeskySolve":            {op.CholeskySolve(), []*mat.Dense{chol, graphtest.Normal(rng, 40, 2)}},
		"TriangularSolve":          {op.TriangularSolve(), []*mat.Dense{chol, graphtest.Normal(rng, 40, 2)}},
		"CholeskyLogDet":           {op.CholeskyLogDet(), []*mat.Dense{chol}},
		"ReciprocalCondition":      {op.ReciprocalCondition(), []*mat.Dense{a, chol}},
		"Solve":                    {op.Solve(), []*mat.Dense{a, graphtest.Normal(rng, 40, 2)}},
		"LogDet":                   {op.LogDet(), []*mat.Dense{a}},
		"Inverse":                  {op.Inverse(), []*mat.Dense{a}},
		"WeightedGram":             {op.WeightedGram(), []*mat.Dense{wide, weights}},
		"IdentityPlusGram":         {op.IdentityPlusGram(), []*mat.Dense{wide}},
		"IdentityPlusScaled":       {op.IdentityPlusScaled(), []*mat.Dense{graphtest.Definite(rng, 20), weights}},
		"ScaleRows":                {op.ScaleRows(), []*mat.Dense{weights, graphtest.Normal(rng, 20, 5)}},
		"LogisticScale":            {op.LogisticScale(), []*mat.Dense{graphtest.Normal(rng, 20, 1), weights}},
		"NewtonTarget":             {op.NewtonTarget(), []*mat.Dense{graphtest.Normal(rng, 20, 1), weights, graphtest.Normal(rng, 20, 3)}},
		"QuadraticForms":           {op.QuadraticForms(), []*mat.Dense{graphtest.Normal(rng, 40, 7), a}},
		"Scatter":                  {op.Scatter(1, false), []*mat.Dense{wide}},
		"Scatter, rows":            {op.Scatter(.5, true), []*mat.Dense{wide}},
		"RidgeSolve":               {op.RidgeSolve(), []*mat.Dense{a, mat.NewDense(1, 1, []float64{.5}), graphtest.Normal(rng, 40, 3)}},
		"RidgeSolve, many columns": {op.RidgeSolve(), []*mat.Dense{graphtest.Definite(rng, 300), mat.NewDense(1, 1, []float64{9}), graphtest.Normal(rng, 300, 257)}},
		"RidgeNorm":                {op.RidgeNorm(), []*mat.Dense{graphtest.Normal(rng, 40, 4), graphtest.Normal(rng, 1, 3)}},
		"RidgeGramNorm":            {op.RidgeGramNorm(), []*mat.Dense{a, mat.NewDense(1, 1, []float64{.5}), graphtest.Definite(rng, 40)}},
		"RowMeans":                 {op.RowMeans(), []*mat.Dense{wide}},
		"CentreSymmetric":          {op.CentreSymmetric(), []*mat.Dense{a, graphtest.Normal(rng, 40, 1)}},
		"Trace":                    {op.Trace(), []*mat.Dense{a}},
		"CholeskyShifted":          {op.CholeskyShifted(), []*mat.Dense{a, mat.NewDense(1, 1, []float64{.5})}},
		"AffineHull":               {op.AffineHull(), hull(rng)},
		"RowDistance":              {op.RowDistance(1), []*mat.Dense{graphtest.Normal(rng, 300, 7), graphtest.Normal(rng, 300, 7)}},
	}
}

// hull returns 300 queries of 5 columns, and 20 samples of which 2 enter the
// kernel, with memberships that all are positive.
func hull(rng *rand.Rand) []*mat.Dense {
	b := graphtest.Normal(rng, 20, 6)
	for i := range 20 {
		b.Set(i, 5, 1+math.Abs(b.At(i, 5)))
	}
	return []*mat.Dense{graphtest.Normal(rng, 300, 5), graphtest.Normal(rng, 20, 2), mat.NewDense(1, 2, []float64{.5, 2}), b}
}

func lower(a *mat.Dense) *mat.Dense {
	var c mat.Cholesky
	n, _ := a.Dims()
	if !c.Factorize(mat.NewSymDense(n, a.RawMatrix().Data)) {
		panic("not positive definite")
	}
	var t mat.TriDense
	c.LTo(&t)
	return mat.DenseCopyOf(&t)
}

func values(dtype tensor.Dtype, in []*mat.Dense) []gorgonia.Value {
	v := make([]gorgonia.Value, len(in))
	for i, a := range in {
		r, c := a.Dims()
		switch {
		case r > 1 || c > 1:
			v[i] = engine.NewMatrix(dtype, a)
		case dtype == tensor.Float32:
			v[i] = gorgonia.NewF32(float32(a.At(0, 0)))
		default:
			v[i] = gorgonia.NewF64(a.At(0, 0))
		}
	}
	return v
}

// float32 agrees with float64 to what its roundoff and the condition numbers
// of these inputs (below 1e3) allow.
func TestSinglePrecisionAgreesWithDouble(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for name, c := range all() {
			want, err := c.op.Do(values(tensor.Float64, c.in)...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := c.op.Do(values(tensor.Float32, c.in)...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.Dtype() != tensor.Float32 {
				t.Errorf("%s: the result is %v", name, got.Dtype())
			}
			graphtest.Close(t, name, got, want, 1e-3)
		}
	})
}

// The number of workers changes no bit, and no input is written to.
func TestWorkersChangeNoBit(t *testing.T) {
	for name, c := range all() {
		in := values(tensor.Float64, c.in)
		before := make([]*mat.Dense, len(c.in))
		for i, a := range c.in {
			before[i] = mat.DenseCopyOf(a)
		}
		want, err := c.op.Do(in...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := c.op.Compute(parallel.NewPool(5), nil, in...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		graphtest.Close(t, name, got, want, 0)
		for i := range before {
			if !mat.Equal(before[i], c.in[i]) {
				t.Errorf("%s: input %d was changed", name, i)
			}
		}
	}
}

// What an output held before, NaN included, leaves no trace.
func TestOutputIsOverwritten(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for name, c := range all() {
			in := values(tensor.Float64, c.in)
			want, err := c.op.Do(in...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want.Shape().IsScalar() {
				continue
			}
			dirty := make([]float64, want.Shape().TotalSize())
			for i := range dirty {
				dirty[i] = math.NaN()
			}
			out := tensor.New(tensor.WithShape(want.Shape()...), tensor.WithBacking(dirty))
			got, err := c.op.UsePreallocDo(out, in...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			graphtest.Close(t, name, got, want, 0)
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
	ops := []op.Op{op.Kernel(base), op.KernelSymmetric(base), op.Kernel(bare(op.SquaredEuclidean)), op.Kernel(bare(op.Manhattan)), op.Gibbs(1), op.Gibbs(math.Nextafter(1, 2)),
		op.Cholesky(), op.Solve(), op.CholeskySolve(), op.LogDet(), op.CholeskyLogDet(), op.Inverse(), op.Eigen(), op.PSDPart(),
		op.TriangularSolve(), op.IdentityPlusGram(), op.IdentityPlusScaled(), op.ScaleRows(), op.LogisticScale(), op.NewtonTarget()}
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
				for _, o := range []op.Op{op.Cholesky(), op.LogDet(), op.Inverse()} {
					_, err := o.Do(engine.NewMatrix(tensor.Float64, c.a))
					var notPD *op.NotPositiveDefiniteError
					if !errors.As(err, &notPD) {
						t.Fatalf("%v of an %s matrix: %v", o, c.name, err)
					}
					if notPD.Order != n || notPD.Row != 2 || notPD.Pivot != c.pivot || notPD.Singular() != c.singular {
						t.Errorf("%v of an %s matrix: %+v", o, c.name, *notPD)
					}
					if !strings.Contains(err.Error(), "row 2") || !strings.Contains(err.Error(), c.name) {
						t.Errorf("the message %q does not say where and why", err)
					}
				}
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

func TestEigenRefusesWhatIsNotFinite(t *testing.T) {
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
		"dimensions of points": {op.Kernel(bare(op.SquaredEuclidean)), []gorgonia.Value{m(2, 3), m(2, 4)}, "3 and of 4 dimensions"},
		"not square":           {op.Cholesky(), []gorgonia.Value{m(2, 3)}, "square"},
		"rows":                 {op.Solve(), []gorgonia.Value{m(2, 2), m(3, 1)}, "numbers of rows differ"},
		"arity":                {op.Solve(), []gorgonia.Value{m(2, 2)}, "1 inputs, want 2"},
		"lengthscales":         {op.Gibbs(1), []gorgonia.Value{m(2, 2), m(2, 2), m(2, 1), m(2, 2)}, "one lengthscale"},
		"weights":              {op.WeightedGram(), []gorgonia.Value{m(2, 3), m(2, 1)}, "want 3×1"},
		"types": {op.Kernel(bare(op.SquaredEuclidean)), []gorgonia.Value{m(2, 2), engine.NewMatrix(tensor.Float32, mat.NewDense(2, 2, nil))},
			"input 1 is float32"},
		"integers":  {op.Cholesky(), []gorgonia.Value{tensor.New(tensor.WithShape(1, 1), tensor.WithBacking([]int{1}))}, "float64 or float32"},
		"a vector":  {op.Cholesky(), []gorgonia.Value{tensor.New(tensor.WithShape(4), tensor.Of(tensor.Float64))}, "want 2 dimensions"},
		"nil input": {op.Cholesky(), []gorgonia.Value{nil}, "panic"},
	} {
		if _, err := c.op.Do(c.in...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
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
		const n, d, offset = 60, 16, 1e6
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
		got, err := op.Kernel(bare(op.SquaredEuclidean)).Do(engine.NewMatrix(tensor.Float64, x), engine.NewMatrix(tensor.Float64, moved(x)))
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

// moved returns the points moved in the first coordinate by little beside their
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
	graphtest.Close(t, "part", part, tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1.5, 1.5, 1.5, 1.5})), 1e-15)
	w, err := op.Eigenvalues().Do(e)
	if err != nil {
		t.Fatal(err)
	}
	graphtest.Close(t, "eigenvalues", w, tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float64{-1, 3})), 1e-14)
}

// Devices compute from the parameters what the name says.
func TestParamsAreThoseOfTheName(t *testing.T) {
	p := op.Profile{Metric: op.Manhattan, Form: op.Matern32, Scale: 2, Rate: 3, Offset: 4, Degree: 5}
	for _, c := range []struct {
		op   op.Op
		name string
		want any
	}{
		{op.Kernel(p), "Kernel", p},
		{op.KernelSymmetric(p), "KernelSymmetric", p},
		{op.Gibbs(2), "Gibbs", op.GibbsParams{Variance: 2}},
		{op.Scatter(2, true), "Scatter", op.ScatterParams{Scale: 2, Rows: true}},
		{op.LargestEigen(3), "LargestEigen", 3},
		{op.RowDistance(4), "RowDistance", 4},
		{op.Cholesky(), "Cholesky", nil},
	} {
		if c.op.Name() != c.name || c.op.Params() != c.want {
			t.Errorf("%v: name %q, parameters %v; want %q, %v", c.op, c.op.Name(), c.op.Params(), c.name, c.want)
		}
	}
}
