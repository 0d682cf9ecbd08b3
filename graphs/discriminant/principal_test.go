package discriminant

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// spreadKernels holds the kernels of the tests; the sigmoid is indefinite.
var spreadKernels = []kernel.Kernel{kernel.Linear(1), kernel.RBF(.05), kernel.Laplacian(.1, 1), kernel.Sigmoid(.01, 1)}

// centredMatrix returns K̄ of the samples.
func centredMatrix(k, c *mat.Dense) *mat.Dense {
	var m mat.Dense
	m.Product(c, k, c)
	return &m
}

// The features of principal components agree with the eigenpairs of K̄, also for further samples.
func TestPrincipalComponents(t *testing.T) {
	x, _, _ := formula(60)
	e := graphtest.Engine(t, "float64", 2)
	for _, k := range spreadKernels {
		t.Run(k.String(), func(t *testing.T) {
			p, err := FitPrincipal(t.Context(), e, k, x, Options{Components: 3})
			if err != nil {
				t.Fatal(err)
			}
			matrix, err := k.Matrix(e, x, x)
			if err != nil {
				t.Fatal(err)
			}
			centred := centredMatrix(matrix, centring(60))
			var image mat.Dense
			image.Mul(centred, p.Features) // K̄Z = Z diag(μ)
			for c, mu := range p.Power {
				scaled := mat.NewVecDense(60, nil)
				scaled.ScaleVec(mu, p.Features.ColView(c))
				if d := largestDifference(image.ColView(c), scaled); d > 1e-8*mu {
					t.Errorf("component %d is no eigenvector: %g", c, d)
				}
				norm := mat.Norm(p.Features.ColView(c), 2)
				if math.Abs(norm*norm-mu) > 1e-9*mu {
					t.Errorf("‖z‖² = %g, want %g", norm*norm, mu)
				}
			}
			if projected, err := p.Project(t.Context(), e, x); err != nil || largestDifference(projected, p.Features) > 1e-7 {
				t.Errorf("the samples themselves are projected elsewhere: %v", err)
			}
		})
	}
}

// The desensitised components solve K̄²a = λ(K_B + ρK̄)a with K_B of Eq. (10), satisfy its
// constraint, and have the largest λ.
func TestDesensitisedComponents(t *testing.T) {
	x, _, privacy := formula(60)
	e := graphtest.Engine(t, "float64", 2)
	for _, k := range spreadKernels {
		for _, rho := range []float64{.1, 10} {
			t.Run(k.String(), func(t *testing.T) {
				p, err := FitDesensitised(t.Context(), e, k, x, privacy, Options{Ridge: rho, Components: 3})
				if err != nil {
					t.Fatal(err)
				}
				matrix, err := k.Matrix(e, x, x)
				if err != nil {
					t.Fatal(err)
				}
				centred := centredMatrix(matrix, centring(60))
				var left, right, noise, scaled mat.Dense
				left.Product(centred, centred, p.a)
				noise.Scale(rho, centred)
				noise.Add(&noise, betweenScatter(matrix, privacy))
				right.Mul(&noise, p.a)
				for c, power := range p.Power {
					want := mat.NewVecDense(60, nil)
					want.ScaleVec(power, right.ColView(c))
					if d, size := largestDifference(left.ColView(c), want), mat.Norm(want, math.Inf(1)); d > 1e-7*size {
						t.Errorf("component %d does not solve the problem: %g of %g", c, d, size)
					}
				}
				scaled.Product(p.a.T(), &noise, p.a)
				if d := largestDifference(&scaled, UnitVectors(3)); d > 1e-8 {
					t.Errorf("aᵀ(K_B + ρK̄)a differs from I by %g", d)
				}
				if d := largestDifference(product(p.Features), product(times(centred, p.a))); d > 1e-8*mat.Norm(p.Features, 2) {
					t.Errorf("Z differs from K̄a by %g", d)
				}
			})
		}
	}
}

func times(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}

// The compression removes a direction in which the classes differ: its features separate them
// less than principal components.
func TestDesensitisedComponentsHide(t *testing.T) {
	x, _, privacy := formula(60)
	e := graphtest.Engine(t, "float64", 2)
	o := Options{Ridge: 1e-3, Components: 2}
	p, err := FitDesensitised(t.Context(), e, kernel.Linear(1), x, privacy, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := FitPrincipal(t.Context(), e, kernel.Linear(1), x, o)
	if err != nil {
		t.Fatal(err)
	}
	share := func(z *mat.Dense) float64 { // of the spread that is between classes
		classes, err := newClasses(privacy)
		if err != nil {
			t.Fatal(err)
		}
		between := times(classes.basis().T(), z)
		return math.Pow(mat.Norm(between, 2)/mat.Norm(z, 2), 2)
	}
	if a, b := share(p.Features), share(q.Features); a > .05*b {
		t.Errorf("%.3g of the spread is between classes, of principal components %.3g", a, b)
	}
}

func TestSpreadRefuses(t *testing.T) {
	x, _, privacy := formula(12)
	e := graphtest.Engine(t, "float64", 2)
	flat := mat.NewDense(12, 2, nil)
	for i := range 12 {
		flat.Set(i, 0, float64(i))
	}
	for _, c := range []struct {
		name    string
		x       *mat.Dense
		labels  []int
		options Options
		want    string
	}{
		{"no component", x, privacy, Options{Ridge: 1}, "0 components of 12 samples"},
		{"too many", x, privacy, Options{Ridge: 1, Components: 12}, "12 components of 12 samples: there are 1 to 11"},
		{"a line", flat, privacy, Options{Ridge: 1, Components: 2}, "differ in 1 directions only"},
		{"no ridge", x, privacy, Options{Components: 2}, "ρ = 0"},
		{"one class", x, make([]int, 12), Options{Ridge: 1, Components: 2}, "one class"},
		{"labels of others", x, privacy[1:], Options{Ridge: 1, Components: 2}, "11 labels for 12 samples"},
		{"no samples", nil, nil, Options{Ridge: 1, Components: 2}, "no labels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FitDesensitised(t.Context(), e, kernel.Linear(1), c.x, c.labels, c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := FitPrincipal(t.Context(), e, kernel.Linear(1), flat, Options{Components: 2}); err == nil {
		t.Error("two principal components of a line")
	}
}

// A map has the features of its projection, and that of the linear kernel holds no sample.
func TestMap(t *testing.T) {
	x, _, _ := formula(60)
	further, _, _ := formula(75)
	e := graphtest.Engine(t, "float64", 2)
	for _, k := range spreadKernels[:3] {
		t.Run(k.String(), func(t *testing.T) {
			p := fitFormula(t, e, k)
			m := p.Map()
			want, err := p.Project(t.Context(), e, further)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Apply(t.Context(), e, further)
			if err != nil || largestDifference(got, want) > 1e-12 {
				t.Errorf("differs: %v", err)
			}
			if rows, _ := m.Points.Dims(); (rows == 7) != (k.String() == kernel.Linear(1).String()) || rows == 60 &&
				!mat.Equal(m.Points, x) {
				t.Errorf("%d points", rows)
			}
		})
	}
}

// With all samples for landmarks the features have the kernel for their inner products, and
// a compression of them is that of the kernel, of further samples too.
func TestLandmarks(t *testing.T) {
	x, utility, _ := formula(60)
	further, _, _ := formula(75)
	e := graphtest.Engine(t, "float64", 2)
	k := kernel.Laplacian(.1, 1) // whose matrix is far from singular
	m, err := NewLandmarks(t.Context(), e, k, x)
	if err != nil {
		t.Fatal(err)
	}
	features, err := m.Apply(t.Context(), e, x)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := k.Matrix(e, x, x)
	if err != nil {
		t.Fatal(err)
	}
	if d := largestDifference(product(features), matrix); d > 1e-9 {
		t.Errorf("the kernel differs by %g", d)
	}
	p, err := Fit(t.Context(), e, kernel.Linear(1), features, utility, formulaOptions)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.After(p.Map()).Apply(t.Context(), e, further)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitFormula(t, e, k).Project(t.Context(), e, further)
	if err != nil {
		t.Fatal(err)
	}
	if d := largestDifference(product(got), product(want)); d > 1e-9 {
		t.Errorf("the compression differs by %g", d)
	}
	if _, err := NewLandmarks(t.Context(), e, kernel.Sigmoid(2, -1), x); err == nil ||
		!strings.Contains(err.Error(), "not positive semidefinite") {
		t.Errorf("an indefinite kernel: %v", err)
	}
	few, err := NewLandmarks(t.Context(), e, kernel.Linear(1), x)
	if err != nil {
		t.Fatal(err)
	}
	if _, r := few.Coefficients.Dims(); r != 7 {
		t.Errorf("60 landmarks of 7 columns give %d features of the linear kernel", r)
	}
}
