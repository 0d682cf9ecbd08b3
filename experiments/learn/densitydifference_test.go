package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"
)

func normal(seed uint64, n int, mean, sd float64) []float64 {
	rng, x := stream(seed), make([]float64, n)
	for i := range x {
		x[i] = mean + sd*rng.NormFloat64()
	}
	return x
}

// normalDistance is ∫(p−q)² for the densities of two normal laws: the integral
// of a product of normal densities is a normal density of variance s₁² + s₂²
// at the difference of the means.
func normalDistance(mean1, sd1, mean2, sd2 float64) float64 {
	v := sd1*sd1 + sd2*sd2
	d := mean1 - mean2
	return 1/(2*math.SqrtPi*sd1) + 1/(2*math.SqrtPi*sd2) - 2*math.Exp(-d*d/(2*v))/math.Sqrt(2*math.Pi*v)
}

func TestKernelSums(t *testing.T) {
	points := append(normal(1, 3000, 5, 1), -40, 5, 5, 200)
	slices.Sort(points)
	centres := []float64{-1000, -40, -39.3, 3, 5, 5.5, 9, 77, 200, 201}
	for _, sigma := range []float64{0.003, 0.1, 1, 30, 1e4} {
		for j, got := range kernelSums(points, centres, sigma) {
			want := 0.0
			for _, x := range points {
				z := (x - centres[j]) / sigma
				want += math.Exp(-z * z / 2)
			}
			if math.Abs(got-want) > 1e-13*float64(len(points)) {
				t.Errorf("sigma %g, centre %g: %.15g, want %.15g", sigma, centres[j], got, want)
			}
		}
	}
}

func TestDensityDifferenceOfNormalLaws(t *testing.T) {
	for _, c := range []struct {
		name                   string
		n1, n2                 int
		mean1, sd1, mean2, sd2 float64
		within                 float64 // relative
	}{
		{"shifted", 20000, 5000, 0, 1, 0.5, 1, 0.1},
		{"of different spread", 20000, 5000, 0, 1, 0, 1.5, 0.15},
		{"well separated", 5000, 5000, 0, 1, 1000, 1, 0.05},
		{"separated, of very different spread", 5000, 5000, 0, 1, 50, 0.05, 0.1},
		{"as the distances of images", 60000, 10000, 5, 0.8, 5.4, 0.7, 0.05},
	} {
		t.Run(c.name, func(t *testing.T) {
			tier.Third(t)
			a, b := normal(1, c.n1, c.mean1, c.sd1), normal(2, c.n2, c.mean2, c.sd2)
			got, err := DensityDifference(a, b, DensityGrid{}, stream(3))
			if err != nil {
				t.Fatal(err)
			}
			want := normalDistance(c.mean1, c.sd1, c.mean2, c.sd2)
			if math.Abs(got.L2/want-1) > c.within {
				t.Errorf("%g, want %g", got.L2, want)
			}
		})
	}
}

// For two samples of one distribution the difference is noise, which falls with their size.
func TestDensityDifferenceOfOneLaw(t *testing.T) {
	for _, c := range []struct {
		n1, n2 int
		bound  float64
	}{{60000, 10000, 5e-4}, {100, 100, 5e-2}} {
		t.Run(fmt.Sprintf("%d and %d numbers", c.n1, c.n2), func(t *testing.T) {
			got, err := DensityDifference(normal(4, c.n1, 0, 1), normal(5, c.n2, 0, 1), DensityGrid{}, stream(6))
			if err != nil || !(got.L2 >= 0 && got.L2 < c.bound) {
				t.Errorf("%d and %d numbers: %+v, %v; want at most %g", c.n1, c.n2, got, err, c.bound)
			}
		})
	}
	same := normal(4, 100, 0, 1)
	if got, err := DensityDifference(same, same, DensityGrid{}, stream(6)); err != nil || got.L2 > 1e-12 {
		t.Errorf("a sample and itself: %+v, %v", got, err)
	}
}

// The unit of the result is the inverse of the samples', and a shift changes
// nothing.
func TestDensityDifferenceUnits(t *testing.T) {
	a, b := normal(1, 80, 0, 1), normal(2, 50, 0.7, 1.2)
	base, err := DensityDifference(a, b, DensityGrid{}, stream(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ factor, shift float64 }{{0.01, 0}, {1000, 0}, {1, 7}, {3, -100}} {
		t.Run(fmt.Sprintf("%g x + %g", c.factor, c.shift), func(t *testing.T) {
			change := func(x []float64) []float64 {
				out := make([]float64, len(x))
				for i, v := range x {
					out[i] = c.factor*v + c.shift
				}
				return out
			}
			got, err := DensityDifference(change(a), change(b), DensityGrid{}, stream(3))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range [][2]float64{{got.L2, base.L2 / c.factor}, {got.Sigma, base.Sigma * c.factor},
				{got.Lambda, base.Lambda * c.factor}} {
				if math.Abs(v[0]/v[1]-1) > 1e-9 {
					t.Errorf("x ↦ %gx + %g: %+v from %+v", c.factor, c.shift, got, base)
				}
			}
		})
	}
}

func TestDensityDifferenceIsDeterministic(t *testing.T) {
	a, b := normal(1, 100, 0, 1), normal(2, 40, 1, 1)
	x, _ := DensityDifference(a, b, DensityGrid{}, stream(3))
	y, _ := DensityDifference(a, b, DensityGrid{}, stream(3))
	if *x != *y {
		t.Errorf("two runs with equal streams differ: %+v and %+v", x, y)
	}
}

func TestDensityDifferenceOfFewNumbers(t *testing.T) {
	for _, c := range [][2][]float64{
		{{0, 1}, {0, 1}}, {{0, 1}, {2, 3, 5}}, {{0, 1}, normal(1, 50, 0, 1)},
		{append(make([]float64, 100), 1), {0, 1, 2}}, // the interquartile range is 0
		{{1, 1, 1, 2}, {-1e6, 1e6}},
	} {
		t.Run(fmt.Sprintf("%d and %d numbers", len(c[0]), len(c[1])), func(t *testing.T) {
			got, err := DensityDifference(c[0], c[1], DensityGrid{}, stream(1))
			if err != nil || !(got.L2 >= 0) || math.IsInf(got.L2, 0) {
				t.Errorf("%v and %v: %+v, %v", c[0], c[1], got, err)
			}
		})
	}
}

func TestDensityDifferenceRefusals(t *testing.T) {
	good := []float64{1, 2, 3}
	for _, c := range []struct {
		a, b []float64
		want string
	}{
		{nil, good, "the first sample has 0 numbers"},
		{good, good[:1], "the second sample has 1 numbers"},
		{good, []float64{1, math.NaN()}, "number 1 of the second sample is NaN"},
		{[]float64{math.Inf(1), 1}, good, "number 0 of the first sample is +Inf"},
		{good, []float64{4, 4, 4}, "all 3 numbers of the second sample are 4"},
		{[]float64{-1.7e308, 1.7e308}, good, "rescale the samples"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := DensityDifference(c.a, c.b, DensityGrid{}, stream(1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func BenchmarkDensityDifference(b *testing.B) {
	x, y := normal(1, 60000, 5, 0.8), normal(2, 10000, 5.4, 0.7)
	for b.Loop() {
		if _, err := DensityDifference(x, y, DensityGrid{}, stream(3)); err != nil {
			b.Fatal(err)
		}
	}
}

// The estimate in eigenvectors is that of the formula: 2ĥᵀθ − θᵀHθ with θ from
// (H + λI)θ = ĥ, every mean and product written out.
func TestDensityDifferenceSolvesItsEquation(t *testing.T) {
	a, b := normal(1, 30, 0, 1), normal(2, 20, 1, 1)
	for name, grid := range map[string]DensityGrid{
		"scaled": {}, "published": PublishedGrid(), "given": {Widths: []float64{.3}, Ridges: []float64{.02}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DensityDifference(a, b, grid, stream(3))
			if err != nil {
				t.Fatal(err)
			}
			if grid.Widths != nil && !(slices.Contains(grid.Widths, got.Sigma) && slices.Contains(grid.Ridges, got.Lambda)) {
				t.Errorf("%+v is not of the grid %v", got, grid)
			}
			if want := directDifference(t, a, b, got); math.Abs(got.L2/want-1) > 1e-10 {
				t.Errorf("%.15g, want %.15g", got.L2, want)
			}
		})
	}
}

// directDifference is 2ĥᵀθ − θᵀHθ at the width and ridge of a result, with all numbers as
// centres.
func directDifference(t *testing.T, a, b []float64, at *DensityDifferenceResult) float64 {
	centres := append(slices.Clone(a), b...)
	n, s := len(centres), at.Sigma
	h, ridged, mean := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, c := range centres {
		for _, x := range a {
			mean.SetVec(i, mean.AtVec(i)+math.Exp(-(x-c)*(x-c)/(2*s*s))/float64(len(a)))
		}
		for _, x := range b {
			mean.SetVec(i, mean.AtVec(i)-math.Exp(-(x-c)*(x-c)/(2*s*s))/float64(len(b)))
		}
		for j, o := range centres {
			h.SetSym(i, j, math.Sqrt(math.Pi)*s*math.Exp(-(c-o)*(c-o)/(4*s*s)))
			ridged.SetSym(i, j, h.At(i, j))
		}
		ridged.SetSym(i, i, h.At(i, i)+at.Lambda)
	}
	var theta mat.VecDense
	if err := theta.SolveVec(ridged, mean); err != nil {
		t.Fatal(err)
	}
	return 2*mat.Dot(mean, &theta) - mat.Inner(&theta, h, &theta)
}

// The published grid ends at a quarter of a unit: it does not resolve densities that are
// narrower by far, where the grid that scales does.
func TestPublishedGridDoesNotScale(t *testing.T) {
	a, b := normal(1, 5000, 0, .01), normal(2, 5000, .02, .01)
	want := normalDistance(0, .01, .02, .01)
	for _, c := range []struct {
		grid      DensityGrid
		low, high float64 // of the true distance
	}{{DensityGrid{}, .95, 1.05}, {PublishedGrid(), 0, .1}} {
		got, err := DensityDifference(a, b, c.grid, stream(3))
		if err != nil || got.L2 < c.low*want || got.L2 > c.high*want {
			t.Errorf("%+v of %g, %v", got, want, err)
		}
	}
}
