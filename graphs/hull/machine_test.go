package hull_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/graphs/internal/graphtest"
)

func fit(t *testing.T, y *mat.Dense, opts hull.Options) *hull.Machine {
	t.Helper()
	m, err := hull.Fit(context.Background(), graphtest.Engine(t, "float64", 1), y, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// direct returns the images by the definitions: h = (K+λI)⁻¹k by an inverse, and points of the
// affine hull as sums of samples.
func direct(y *mat.Dense, dim, layers int, lambda func(layer int) float64, query []float64) (images [][]float64) {
	n, p := y.Dims()
	mean := make([]float64, p)
	for j := range p {
		mean[j] = mat.Sum(y.ColView(j)) / float64(n)
	}
	var cov mat.SymDense
	centred := mat.NewDense(n, p, nil)
	centred.Apply(func(_, j int, v float64) float64 { return v - mean[j] }, y)
	cov.SymOuterK(1/float64(n-1), centred.T())
	var eigen mat.EigenSym
	eigen.Factorize(&cov, true)
	var v mat.Dense
	eigen.VectorsTo(&v)
	values := eigen.Values(nil)
	x := query
	for l := range layers {
		d := dim - l
		k := func(a, b []float64) float64 {
			s := 0.0
			for r := range d {
				z := 0.0
				for j := range p {
					z += v.At(j, p-1-r) * (a[j] - b[j])
				}
				s += z * z / values[p-1-r]
			}
			return math.Exp(-s / (2 * float64(d)))
		}
		km, kx := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			for j := range n {
				km.Set(i, j, k(y.RawRowView(i), y.RawRowView(j)))
			}
			km.Set(i, i, km.At(i, i)+lambda(l))
			kx.SetVec(i, k(x, y.RawRowView(i)))
		}
		var h mat.VecDense
		if err := h.SolveVec(km, kx); err != nil {
			panic(err)
		}
		image := make([]float64, p)
		for i := range n {
			for j := range p {
				image[j] += h.AtVec(i) / mat.Sum(&h) * y.At(i, j)
			}
		}
		images, x = append(images, image), image
	}
	return images
}

// Fit and Images are Definitions 1 and 3, with more samples than columns and
// with more columns than samples, where the Gram matrix takes over.
func TestMachineIsItsDefinition(t *testing.T) {
	rng := graphtest.Rand(1)
	for _, c := range []struct{ n, p int }{{30, 8}, {9, 8}, {7, 25}} {
		t.Run(fmt.Sprintf("%d×%d", c.n, c.p), func(t *testing.T) {
			y, q := graphtest.Normal(rng, c.n, c.p), graphtest.Normal(rng, 4, c.p)
			m := fit(t, y, hull.Options{Dim: 4, Layers: 3})
			images, distances, err := m.Images(context.Background(), graphtest.Engine(t, "float64", 1), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				for l, want := range direct(y, 4, 3, m.Lambda, q.RawRowView(i)) {
					square := 0.0
					for j, w := range want {
						if d := math.Abs(images[l].At(i, j) - w); d > 1e-9 {
							t.Fatalf("%d×%d, query %d, layer %d, column %d: %g, want %g", c.n, c.p, i, l, j, images[l].At(i, j), w)
						}
						square += (q.At(i, j) - w) * (q.At(i, j) - w)
					}
					if d := math.Abs(distances.At(i, l) - math.Sqrt(square)); d > 1e-9 {
						t.Errorf("%d×%d, query %d, layer %d: distance %g, want %g", c.n, c.p, i, l, distances.At(i, l), math.Sqrt(square))
					}
				}
			}
		})
	}
}

// Both methods find the fixed point λ* (41).
func TestLambdaIsTheFixedPoint(t *testing.T) {
	y := graphtest.Normal(graphtest.Rand(2), 12, 40) // the norm comes from the Gram matrix
	secant, picard := fit(t, y, hull.Options{Dim: 5}), fit(t, y, hull.Options{Dim: 5, Iteration: hull.Picard})
	if d := math.Abs(secant.Lambda(0)/picard.Lambda(0) - 1); d > 1e-11 {
		t.Errorf("λ is %.16g by secants and %.16g by the paper's iteration", secant.Lambda(0), picard.Lambda(0))
	}
	if secant.Iterations(0) >= picard.Iterations(0) {
		t.Errorf("%d evaluations by secants, %d by the paper's iteration", secant.Iterations(0), picard.Iterations(0))
	}
}

// A known λ is taken as it is, by a machine of the same solutions; a layer without one is solved for.
// Picard stops before an absolute change, where the solutions and the λ of the machine are those of
// one evaluation.
func TestLambdaThatIsKnown(t *testing.T) {
	e, y, q := graphtest.Engine(t, "float64", 1), clustered(60, 30), clustered(8, 30)
	distances := func(opts hull.Options) (*hull.Machine, *mat.Dense) {
		m := fit(t, y, opts)
		all, err := m.Distances(context.Background(), e, q)
		if err != nil {
			t.Fatal(err)
		}
		return m, all
	}
	exact, want := distances(hull.Options{Dim: 5, Layers: 2})
	both := []float64{exact.Lambda(0), exact.Lambda(1)}
	for _, known := range [][]float64{both, both[:1]} {
		m, got := distances(hull.Options{Dim: 5, Layers: 2, Lambdas: [][]float64{known}})
		if m.Lambda(0) != both[0] || m.Iterations(0) != 1 || math.Abs(m.Lambda(1)/both[1]-1) > 1e-9 ||
			!mat.EqualApprox(got, want, 1e-8) {
			t.Errorf("of %d known λ: %g and %g, want %g", len(known), m.Lambda(0), m.Lambda(1), both)
		}
	}
	coarse, far := distances(hull.Options{Dim: 5, Layers: 2, Iteration: hull.Picard, Change: .1 * both[0]})
	again, near := distances(hull.Options{Dim: 5, Layers: 2, Lambdas: [][]float64{{coarse.Lambda(0), coarse.Lambda(1)}}})
	off := math.Abs(coarse.Lambda(0)/both[0] - 1)
	if off < 1e-6 || off > .1 || again.Lambda(1) != coarse.Lambda(1) || !mat.EqualApprox(far, near, 1e-10) {
		t.Errorf("λ is off by %g, and the solutions are not those of it", off)
	}
}

// clustered returns samples like pictures of one class: a mean, many columns that depend on few
// directions, and some noise.
func clustered(n, p int) *mat.Dense {
	rng := graphtest.Rand(6)
	scores, directions := graphtest.Normal(rng, n, 40), graphtest.Normal(rng, 40, p)
	scores.Apply(func(_, j int, v float64) float64 { return v / (1 + float64(j)) }, scores)
	var y, noise mat.Dense
	y.Mul(scores, directions)
	noise.Scale(.5, graphtest.Normal(rng, n, p))
	y.Apply(func(i, j int, v float64) float64 { return 2 + v + noise.At(i, j) }, &y)
	return &y
}

// With many columns an estimate gives the first step, and each layer starts on the line of those
// before, so that one or two evaluations of R find the same λ* as ten of Picard.
func TestManyColumnsTakeFewEvaluations(t *testing.T) {
	for n, most := range map[int]int{60: 9, 200: 8} { // of the smaller the norm comes from the Gram matrix
		t.Run(fmt.Sprint(n, " samples"), func(t *testing.T) {
			y := clustered(n, 300)
			picard := fit(t, y, hull.Options{Dim: 8, Layers: 5, Iteration: hull.Picard})
			exact := fit(t, y, hull.Options{Dim: 8, Layers: 5})
			coarse := fit(t, y, hull.Options{Dim: 8, Layers: 5, Tolerance: 1e-3})
			evaluations := 0
			for l := range 5 {
				if d := math.Abs(exact.Lambda(l)/picard.Lambda(l) - 1); d > 1e-11 {
					t.Errorf("layer %d: λ is %.16g, want %.16g", l, exact.Lambda(l), picard.Lambda(l))
				}
				// The estimate that remains has the error of the last λ times the slope of R.
				if d := math.Abs(coarse.Lambda(l)/picard.Lambda(l) - 1); d > 1e-4 || d == 0 {
					t.Errorf("layer %d: λ is %.16g with a tolerance of 1e-3, which is off by %.1e of %.16g", l, coarse.Lambda(l), d,
						picard.Lambda(l))
				}
				evaluations += coarse.Iterations(l)
				if exact.Iterations(l) >= picard.Iterations(l)-2 {
					t.Errorf("layer %d: %d evaluations, %d by the paper's iteration", l, exact.Iterations(l), picard.Iterations(l))
				}
			}
			if evaluations > most {
				t.Errorf("%d evaluations for 5 layers, want at most %d", evaluations, most)
			}
			q := clustered(8, 300)
			d := func(m *hull.Machine) *mat.Dense {
				all, err := m.Distances(context.Background(), graphtest.Engine(t, "float64", 1), q)
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			want, got := d(exact), d(coarse)
			for i := range 8 {
				for l := range 5 {
					if off := math.Abs(got.At(i, l)/want.At(i, l) - 1); off > 1e-3 {
						t.Errorf("query %d, layer %d: a distance of %g, want %g", i, l, got.At(i, l), want.At(i, l))
					}
				}
			}
		})
	}
}

// Model gives the images of the samples themselves, and their smoothed form,
// without a product with the kernel matrix.
func TestModelOfTheSamples(t *testing.T) {
	for _, unit := range []float64{1, 1e-2, 1e4} {
		for dtype, tolerance := range map[string]float64{"float64": 1e-9, "float32": 2e-4} {
			t.Run(dtype, func(t *testing.T) {
				y := graphtest.Normal(graphtest.Rand(3), 25, 6)
				y.Scale(unit, y)
				testModel(t, graphtest.Engine(t, dtype, 1), y, tolerance)
			})
		}
	}
}

func testModel(t *testing.T, e *engine.Engine, y *mat.Dense, tolerance float64) {
	t.Helper()
	got, err := hull.Model(context.Background(), e, y, hull.Options{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	images, distances, err := m.Images(context.Background(), e, y)
	if err != nil {
		t.Fatal(err)
	}
	size := mat.Norm(y, 2)
	var difference mat.Dense
	difference.Sub(got.Images, images[0])
	if d := mat.Norm(&difference, 2); d > tolerance*size || got.Unsafe > 0 {
		t.Errorf("%s, size %g: the images of the samples differ by %g from those of equal queries; %d without", e.DType(),
			size, d, got.Unsafe)
	}
	if want := mat.Sum(distances); math.Abs(got.Error-want) > tolerance*max(want, size) {
		t.Errorf("%s, size %g: the modelling error is %g, want %g", e.DType(), size, got.Error, want)
	}
	// (81): the image times the sum of memberships, which is below √N (Eq. 184).
	for i := range 25 {
		ratio := got.Smoothed.At(i, 0) / got.Images.At(i, 0)
		for j := range 6 {
			if r := got.Smoothed.At(i, j) / got.Images.At(i, j); math.Abs(r-ratio) > 1e-6 || r <= 0 || r >= 5 {
				t.Errorf("sample %d, column %d: the sum of memberships is %g, in column 0 it is %g", i, j, r, ratio)
			}
		}
	}
}

// For a singular covariance the machine has as many directions as the rank, and the engine a
// warning; for equal samples the image is the sample.
func TestSingularCovariance(t *testing.T) {
	rng := graphtest.Rand(4)
	flat := graphtest.Normal(rng, 20, 6)
	for i := range 20 {
		flat.Set(i, 1, 3)
		flat.Set(i, 4, flat.At(i, 0)) // the rank is 4
	}
	one := mat.NewDense(1, 6, []float64{1, 2, 3, 4, 5, 6})
	equal := mat.NewDense(3, 6, nil)
	for i := range 3 {
		equal.SetRow(i, one.RawRowView(0))
	}
	twice := mat.NewDense(8, 6, nil)
	four := graphtest.Normal(rng, 4, 6)
	for i := range 8 {
		twice.SetRow(i, four.RawRowView(i%4)) // the rank is 3
	}
	for _, c := range []struct {
		name string
		y    *mat.Dense
		dim  int
	}{
		{"constant and equal columns", flat, 4},
		{"fewer samples than directions", four, 3},
		{"duplicates", twice, 3},
		{"a single sample", one, 1},
		{"equal samples", equal, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := graphtest.Engine(t, "float64", 1)
			m, err := hull.Fit(context.Background(), e, c.y, hull.Options{Dim: 5, Layers: 5})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			if m.Dim() != c.dim || m.Layers() > m.Dim() {
				t.Errorf("%s: %d directions and %d layers, want %d directions", c.name, m.Dim(), m.Layers(), c.dim)
			}
			if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "singular") {
				t.Errorf("%s: warnings %q", c.name, w)
			}
			d, err := m.Distances(context.Background(), e, graphtest.Normal(rng, 2, 6))
			if err != nil {
				t.Fatal(err)
			}
			if v := d.At(0, 0); math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: a distance is %g", c.name, v)
			}
			if c.dim == 1 { // the image is the sample
				images, _, err := m.Images(context.Background(), e, graphtest.Normal(rng, 1, 6))
				if err != nil || !mat.EqualApprox(images[0], one, 1e-12) {
					t.Errorf("%s: the image is %v, %v", c.name, mat.Formatted(images[0]), err)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	y := graphtest.Normal(graphtest.Rand(5), 10, 4)
	nan := mat.DenseCopyOf(y)
	nan.Set(3, 2, math.NaN())
	for _, c := range []struct {
		y    *mat.Dense
		opts hull.Options
		want string
	}{
		{new(mat.Dense), hull.Options{Dim: 1}, "there are no samples"},
		{nan, hull.Options{Dim: 2}, "row 3, column 2 (counted from 0) of the samples is NaN"},
		{mat.NewDense(3, 4, nil), hull.Options{Dim: 2}, "every sample is zero"},
		{y, hull.Options{Dim: 5}, "5 principal directions of 4 columns"},
		{y, hull.Options{}, "0 principal directions"},
		{y, hull.Options{Dim: 2, Layers: 3}, "3 layers with 2 principal directions"},
		{y, hull.Options{Dim: 2, Tolerance: -1e-3}, "a tolerance of -0.001 of the regularisation parameter"},
		{y, hull.Options{Dim: 2, Change: .01}, "a change of λ of 0.01: use 0 or more, and Picard's iteration"},
		{y, hull.Options{Dim: 2, Tolerance: 1}, "use at least 0, and less than 1"},
		{y, hull.Options{Dim: 2, Tolerance: math.NaN()}, "a tolerance of NaN"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := hull.Fit(context.Background(), graphtest.Engine(t, "float64", 1), c.y, c.opts); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %q", c.opts, err, c.want)
			}
		})
	}
	m := fit(t, y, hull.Options{Dim: 2})
	if _, err := m.Distances(context.Background(), graphtest.Engine(t, "float64", 1),
		mat.NewDense(1, 3, nil)); err == nil || !strings.Contains(err.Error(), "queries of 3 columns") {
		t.Errorf("queries of another width: %v", err)
	}
	s, err := hull.NewEnsemble([]*hull.Machine{m}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Nearest(context.Background(), graphtest.Engine(t, "float64", 1),
		mat.NewDense(1, 4, []float64{0, math.Inf(1), 0, 0}), hull.Search{}); err == nil ||
		!strings.Contains(err.Error(), "query 0, column 1") {
		t.Errorf("a query that is not finite: %v", err)
	}
	if _, err := hull.NewEnsemble(nil, nil); err == nil {
		t.Error("an ensemble of nothing was accepted")
	}
	if _, err := hull.NewEnsemble([]*hull.Machine{m}, []int{-1}); err == nil {
		t.Error("a negative group was accepted")
	}
}
