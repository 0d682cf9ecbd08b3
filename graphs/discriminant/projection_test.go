package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

// formula returns the samples and labels of multikernel/reference.
func formula(rows int) (x *mat.Dense, utility, privacy []int) {
	const features = 7
	x = mat.NewDense(rows, features, nil)
	for i := range rows {
		for j := range features {
			a, b := float64(i), float64(j)
			x.Set(i, j, math.Sin(.7*a+1.3*b)+.1*math.Cos(a*b)+.6*math.Sin(2*float64(i%3)+b)+.4*math.Cos(3*float64(i%4)+2*b))
		}
		utility, privacy = append(utility, i%3), append(privacy, i%4)
	}
	return x, utility, privacy
}

var formulaOptions = Options{Ridge: 10, SignalRidge: 1e-4, Components: 2}

func fitFormula(t *testing.T, e *engine.Engine, k kernel.Kernel) *Projection {
	t.Helper()
	return fitWith(t, e, k, formulaOptions)
}

func fitWith(t *testing.T, e *engine.Engine, k kernel.Kernel, o Options) *Projection {
	t.Helper()
	x, utility, _ := formula(60)
	p, err := Fit(context.Background(), e, k, x, utility, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// product returns ZZᵀ.
func product(z *mat.Dense) *mat.Dense {
	var k mat.Dense
	k.Mul(z, z.T())
	return &k
}

func largestDifference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, math.Inf(1))
}

// centring returns I − 11ᵀ/n.
func centring(n int) *mat.Dense {
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			c.Set(i, j, -1/float64(n))
		}
		c.Set(i, i, 1-1/float64(n))
	}
	return c
}

// betweenScatter returns K_B by Eq. (10), class by class.
func betweenScatter(k *mat.Dense, labels []int) *mat.Dense {
	n, _ := k.Dims()
	sum := mat.NewDense(n, n, nil)
	mean := func(in func(i int) bool) (*mat.VecDense, float64) {
		v, count := mat.NewVecDense(n, nil), 0.0
		for i := range n {
			if in(i) {
				v.AddVec(v, k.ColView(i))
				count++
			}
		}
		v.ScaleVec(1/count, v)
		return v, count
	}
	all, _ := mean(func(int) bool { return true })
	for _, l := range slices.Compact(slices.Sorted(slices.Values(labels))) {
		m, count := mean(func(i int) bool { return labels[i] == l })
		m.SubVec(m, all)
		sum.RankOne(sum, count, m, m)
	}
	c := centring(n)
	var kb mat.Dense
	kb.Product(c, sum, c)
	return &kb
}

// dense solves the generalised eigenproblem of Eq. (8) on the range of K̄, by
// the eigen-decomposition of K̄, and returns the powers and K̄A.
func dense(t *testing.T, k *mat.Dense, labels []int, o Options) (powers []float64, z *mat.Dense) {
	t.Helper()
	n, _ := k.Dims()
	c := centring(n)
	var centred mat.Dense
	centred.Product(c, k, c)
	symmetric := func(a *mat.Dense) *mat.SymDense {
		r, _ := a.Dims()
		s := mat.NewSymDense(r, nil)
		for i := range r {
			for j := i; j < r; j++ {
				s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
			}
		}
		return s
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric(&centred), true) {
		t.Fatal("no eigen-decomposition")
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	first := 0
	for values[first] < 1e-9*values[n-1] {
		first++
	}
	b := mat.DenseCopyOf(vectors.Slice(0, n, first, n)) // whitens K̄² + ρK̄
	b.Apply(func(_, j int, v float64) float64 {
		s := values[first+j]
		return v / math.Sqrt(s*s+o.Ridge*s)
	}, b)
	var left, small mat.Dense
	left.Scale(o.SignalRidge, &centred)
	left.Add(&left, betweenScatter(k, labels))
	small.Product(b.T(), &left, b)
	var whitened mat.EigenSym
	if !whitened.Factorize(symmetric(&small), true) {
		t.Fatal("no eigen-decomposition")
	}
	r := n - first
	vectors.Reset()
	whitened.VectorsTo(&vectors)
	var a mat.Dense
	a.Mul(b, vectors.Slice(0, r, r-o.Components, r))
	z = new(mat.Dense)
	z.Mul(&centred, &a)
	powers = slices.Clone(whitened.Values(nil)[r-o.Components:])
	slices.Reverse(powers)
	return powers, z
}

// The few solves give the powers and the compressive kernel of the dense
// eigenproblem, for kernels of full and of low rank and for classes of
// different sizes.
func TestFitSolvesTheDenseEigenproblem(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 2)
		x, even, _ := formula(60)
		uneven := make([]int, len(even))
		for i := range uneven {
			uneven[i] = []int{7, 7, 7, -1, 3, 3, 12}[i%7]
		}
		for _, k := range []kernel.Kernel{kernel.Linear(1), kernel.RBF(.01), kernel.RBF(1), kernel.Laplacian(.1, 1),
			kernel.Polynomial(1, 3, 1)} {
			for _, o := range []struct {
				labels  []int
				options Options
			}{
				{even, formulaOptions},
				{even, Options{Ridge: 10, SignalRidge: 0, Components: 1}},
				{even, Options{Ridge: .01, SignalRidge: 1e-3, Components: 2}},
				{uneven, Options{Ridge: 10, SignalRidge: 1e-4, Components: 3}},
			} {
				t.Run(fmt.Sprintf("%v %+v", k, o.options), func(t *testing.T) {
					p, err := Fit(context.Background(), e, k, x, o.labels, o.options)
					if err != nil {
						t.Fatal(err)
					}
					matrix, err := k.Matrix(e, x, x)
					if err != nil {
						t.Fatal(err)
					}
					powers, z := dense(t, matrix, o.labels, o.options)
					// The dense solution resolves no more than the condition of K̄+ρI lets it.
					tolerance := max(1e-10, 1e-14*mat.Norm(matrix, math.Inf(1))/o.options.Ridge)
					for i, want := range powers {
						if math.Abs(p.Power[i]-want) > tolerance {
							t.Errorf("power %d is %.15g, densely %.15g", i, p.Power[i], want)
						}
					}
					if d, size := largestDifference(product(p.Features), product(z)),
						mat.Norm(product(z), math.Inf(1)); d > tolerance*(1+size) {
						t.Errorf("the compressive kernel differs by %g from the dense solution's, of norm %g", d, size)
					}
				})
			}
		}
	})
}

// A is normalised by Eq. (8), and its components are orthogonal in that metric.
func TestProjectionIsCanonicallyOrthonormal(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := fitFormula(t, e, kernel.RBF(.01))
	var left, right mat.Dense
	left.Mul(p.Features.T(), p.Features)
	right.Mul(p.a.T(), p.Features)
	right.Scale(formulaOptions.Ridge, &right)
	left.Add(&left, &right)
	if d := largestDifference(&left, mat.NewDiagDense(2, []float64{1, 1})); d > 1e-12 {
		t.Errorf("Aᵀ(K̄²+ρK̄)A is off the identity by %g", d)
	}
}

// Training samples project to their features, and a test kernel is centred with
// training statistics: the projection of a sample does not depend on the others.
func TestProject(t *testing.T) {
	ctx := context.Background()
	for _, dtype := range []string{"float64", "float32"} {
		e := graphtest.Engine(t, dtype, 2)
		x, _, _ := formula(60)
		tolerance := map[string]float64{"float64": 1e-12, "float32": 2e-5}[dtype]
		for _, k := range []kernel.Kernel{kernel.Linear(1), kernel.RBF(.01), kernel.Laplacian(.1, 1),
			kernel.Polynomial(.1, 3, 1)} {
			t.Run(fmt.Sprint(dtype, " ", k), func(t *testing.T) {
				p := fitFormula(t, e, k)
				z, err := p.Project(ctx, e, x)
				if err != nil {
					t.Fatal(err)
				}
				if d := largestDifference(z, p.Features); d > tolerance*(1+mat.Norm(z, math.Inf(1))) {
					t.Errorf("%s, %v: training samples project %g off their features", dtype, k, d)
				}
				one, err := p.Project(ctx, e, x.Slice(5, 6, 0, 7).(*mat.Dense))
				if err != nil {
					t.Fatal(err)
				}
				if d := largestDifference(one, z.Slice(5, 6, 0, 2)); d > tolerance*(1+mat.Norm(z, math.Inf(1))) {
					t.Errorf("%s, %v: a sample alone projects %g off", dtype, k, d)
				}
			})
		}
	}
}

// More samples than are projected at a time.
func TestProjectManyTiles(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	p := fitFormula(t, e, kernel.RBF(.1))
	y, _, _ := formula(2*projectRows + 5)
	z, err := p.Project(context.Background(), e, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 59} {
		if d := largestDifference(z.Slice(i, i+1, 0, 2), p.Features.Slice(i, i+1, 0, 2)); d > 1e-12 {
			t.Errorf("row %d is %g off", i, d)
		}
	}
	last := 2*projectRows + 4
	one, err := p.Project(context.Background(), e, y.Slice(last, last+1, 0, 7).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	if d := largestDifference(z.Slice(last, last+1, 0, 2), one); d > 1e-12 {
		t.Errorf("the last row is %g off", d)
	}
}

// Results do not depend on the number of workers.
func TestFitDoesNotDependOnWorkers(t *testing.T) {
	one, three := fitFormula(t, graphtest.Engine(t, "float64", 1), kernel.Laplacian(.1, 1)),
		fitFormula(t, graphtest.Engine(t, "float64", 3), kernel.Laplacian(.1, 1))
	if !mat.Equal(one.Features, three.Features) || !slices.Equal(one.Power, three.Power) {
		t.Error("one and three workers differ")
	}
}

// float32 agrees with float64 if the condition permits; otherwise float64 is used.
func TestFitFloat32(t *testing.T) {
	small := Options{Ridge: 1e-5, SignalRidge: 1e-12, Components: 2}
	large := Options{Ridge: 1e6, SignalRidge: 1e-3, Components: 2}
	e64, e32 := graphtest.Engine(t, "float64", 1), graphtest.Engine(t, "float32", 1)
	tests := []struct {
		kernel   kernel.Kernel
		options  Options
		promoted bool
	}{
		{kernel.RBF(.01), formulaOptions, false},
		{kernel.RBF(1e-6), small, true},                    // little is left of it after centring
		{kernel.Polynomial(1, 6, 1), formulaOptions, true}, // large against ρ
		{kernel.RBF(.02), large, true},                     // small against ρ
	}
	for _, test := range tests {
		t.Run(fmt.Sprint("promoted ", test.promoted), func(t *testing.T) {
			want, got := fitWith(t, e64, test.kernel, test.options), fitWith(t, e32, test.kernel, test.options)
			tolerance := 1e-4
			if test.promoted {
				tolerance = 1e-12
			}
			if d, size := largestDifference(product(got.Features), product(want.Features)),
				mat.Norm(product(want.Features), math.Inf(1)); d > tolerance*size {
				t.Errorf("%v: float32 differs by %g of %g", test.kernel, d, size)
			}
			promoted := slices.ContainsFunc(e32.Warnings(),
				func(w string) bool { return strings.Contains(w, test.kernel.String()) })
			if promoted != test.promoted {
				t.Errorf("%v: computed in float64: %v, want %v", test.kernel, promoted, test.promoted)
			}
		})
	}
}

// The sigmoid kernel is indefinite. It is compressed if ρ exceeds its negative eigenvalues, and
// otherwise an error.
func TestIndefiniteKernel(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, utility, _ := formula(60)
	k := kernel.Sigmoid(.1, 1)
	if _, err := Fit(context.Background(), e, k, x, utility, formulaOptions); err != nil {
		t.Errorf("with ρ = 10: %v", err)
	}
	for _, dtype := range []string{"float64", "float32"} {
		_, err := Fit(context.Background(), graphtest.Engine(t, dtype, 1), k, x, utility,
			Options{Ridge: .01, SignalRidge: 1e-7, Components: 2})
		var notPD *op.NotPositiveDefiniteError
		if !errors.As(err, &notPD) || !strings.Contains(err.Error(), "Sigmoid(gamma=0.1, c0=1)") ||
			!strings.Contains(err.Error(), "below −ρ = −0.01") {
			t.Errorf("%s, with ρ = 0.01: %v", dtype, err)
		}
	}
}

// A weak component takes more solves. One no better than noise, or of a kernel that is too small,
// is an error.
func TestWeakComponents(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, utility, _ := formula(60)
	matrix, err := kernel.RBF(.01).Matrix(e, x, x)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Ridge: 10, SignalRidge: .2, Components: 2} // δ is 3 of ρ = 10
	p, err := Fit(context.Background(), e, kernel.RBF(.01), x, utility, o)
	if err != nil {
		t.Fatal(err)
	}
	if powers, _ := dense(t, matrix, utility, o); math.Abs(p.Power[1]-powers[1]) > 1e-10 {
		t.Errorf("power %.15g, densely %.15g", p.Power[1], powers[1])
	}
	o.SignalRidge = 20
	if _, err := Fit(context.Background(), e, kernel.RBF(.01), x, utility, o); err == nil ||
		!strings.Contains(err.Error(), "fewer components") {
		t.Errorf("with a larger ρ': %v", err)
	}
	if _, err := Fit(context.Background(), e, kernel.RBF(1e-9), x, utility, formulaOptions); err == nil ||
		!strings.Contains(err.Error(), "too small against ρ") {
		t.Errorf("with γ = 1e-9: %v", err)
	}
}

// An attempt that goes on from the factor of another one has the bits of one that begins with as many solves.
func TestFurtherSolves(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		e := graphtest.Engine(t, dtype, 1)
		x, utility, _ := formula(60)
		classes, err := newClasses(utility)
		if err != nil {
			t.Fatal(err)
		}
		attempts := func(solves ...int) *Projection {
			f := fit{ctx: context.Background(), e: e, kernel: kernel.RBF(.01), x: x, basis: classes.basis(), powers: mostPowers,
				options: formulaOptions, dtype: e.ElementType()}
			defer f.release()
			for _, n := range solves[:len(solves)-1] {
				if _, err := f.solve(n); err != nil {
					t.Fatal(err)
				}
			}
			p, err := f.try(solves[len(solves)-1])
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p, want := attempts(5, 10, 20), attempts(20)
		if !mat.Equal(p.a, want.a) || !mat.Equal(p.Features, want.Features) || !slices.Equal(p.Power, want.Power) ||
			!slices.Equal(p.shift, want.shift) {
			t.Errorf("%s: powers %v, want %v", dtype, p.Power, want.Power)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, utility, _ := formula(60)
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 2, math.NaN())
	tests := []struct {
		name    string
		x       *mat.Dense
		labels  []int
		kernel  kernel.Kernel
		options Options
		want    string
	}{
		{"no samples", nil, utility, kernel.RBF(1), formulaOptions, "no samples"},
		{"NaN", bad, utility, kernel.RBF(1), formulaOptions, "NaN in row 3, column 2"},
		{"labels", x, utility[:59], kernel.RBF(1), formulaOptions, "59 labels for 60 samples"},
		{"one class", x, make([]int, 60), kernel.RBF(1), formulaOptions, "one class"},
		{"too many components", x, utility, kernel.RBF(1), Options{Ridge: 10, Components: 3}, "1 to 2"},
		{"no component", x, utility, kernel.RBF(1), Options{Ridge: 10}, "0 components"},
		{"ridge", x, utility, kernel.RBF(1), Options{Components: 1}, "ρ = 0"},
		{"signal ridge", x, utility, kernel.RBF(1), Options{Ridge: 1, SignalRidge: -1, Components: 1}, "ρ' = -1"},
		{"kernel", x, utility, kernel.RBF(-1), formulaOptions, "gamma is -1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Fit(context.Background(), e, test.kernel, test.x, test.labels, test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	p := fitFormula(t, e, kernel.RBF(1))
	if _, err := p.Project(context.Background(), e, mat.NewDense(2, 6, nil)); err == nil ||
		!strings.Contains(err.Error(), "6 columns") {
		t.Errorf("projecting samples with a column less: %v", err)
	}
}

func TestProgramsAgreeWithTapeMachine(t *testing.T) {
	rng := graphtest.Rand(8)
	x, z := graphtest.Normal(rng, 20, 3), graphtest.Normal(rng, 20, 4)
	graphtest.TapeMachine(t, projectProgram(kernel.RBF(.1), 5, 20, 3, 4),
		graphtest.Inputs{"y": graphtest.Normal(rng, 5, 3), "x": x, "a": z})
	graphtest.TapeMachine(t, productsProgram(20, 4, 3), graphtest.Inputs{"z": z, "e": graphtest.Normal(rng, 20, 3)})
}

// A component's power that its fixed point has not reached is an error with its last
// change: with F(δ) = 1 + δ and ρ' = ½, δ goes from 0 to ½, ⅓, ⅜, …
func TestPowerShortOfItsFixedPoint(t *testing.T) {
	s := &solutions{small: mat.NewDense(1, 2, []float64{1, 1})}
	for _, c := range []struct {
		steps int
		want  string // of the error
	}{
		{1, "component 1: the fixed point of its discriminant power, about 1, stopped after 1 steps, the most that are " +
			"allowed: the last one changed it by 1.0e+00 of itself, and at most 1e-14 is wanted"},
		{2, "stopped after 2 steps, the most that are allowed: the last one changed it by 5.0e-01 of itself"},
		{mostPowers, "does not stand out"}, // settled, but two terms are too few
	} {
		t.Run(fmt.Sprint(c.steps), func(t *testing.T) {
			f := &fit{basis: mat.NewDense(3, 1, nil), powers: c.steps,
				options: Options{Ridge: 10, SignalRidge: .5, Components: 1}}
			power, _, err := f.fixedPoint(s, 2, 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%g, %v; want %q", power, err, c.want)
			}
			// With F = 1 the series is exact, and δ = ½ is reached in the second step.
			_, _, err = f.fixedPoint(&solutions{small: mat.NewDense(1, 2, []float64{1, 0})}, 2, 0)
			if (err != nil) != (c.steps < 2) {
				t.Errorf("F = 1: %v", err)
			}
		})
	}
}
