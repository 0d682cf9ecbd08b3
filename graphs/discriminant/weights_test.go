package discriminant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

var formulaKernels = []kernel.Kernel{kernel.Linear(1), kernel.RBF(.01), kernel.Laplacian(.1, 1)}

func formulaSet(t *testing.T, e *engine.Engine) (s *Set, factors []*mat.Dense) {
	t.Helper()
	_, utility, privacy := formula(60)
	for _, k := range formulaKernels {
		factors = append(factors, fitFormula(t, e, k).Features)
	}
	s, err := NewSet(context.Background(), e, factors, utility, privacy)
	if err != nil {
		t.Fatal(err)
	}
	return s, factors
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s of kernel %d: %.16g, want %.16g", what, i, got[i], want[i])
		}
	}
}

// Values of an independent implementation, which solves the dense eigenproblem.
func TestCheckValues(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		s, _ := formulaSet(t, graphtest.Engine(t, "float64", 2))
		near(t, "trace", []float64{s.Trace(0), s.Trace(1), s.Trace(2)},
			[]float64{1.3906233362826794, .30811808831023524, .43451501864450826}, 1e-10)
		snr, err := s.SNR(0)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "SNR(0)", snr, []float64{1.499813205910814, .7589358491974014, 1.239168694513089}, 1e-10)
		if snr, err = s.SNR(.1); err != nil {
			t.Fatal(err)
		}
		weights, err := UnitNorm(snr)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "weight by SNR(0.1)", weights, []float64{.7201255468, .3615510010, .5921993502}, 1e-10)
		near(t, "Frobenius norm", []float64{s.Frobenius(weights)}, []float64{1.1454538471276101}, 1e-10)
		if rank, err := s.Rank(weights); rank != 6 || err != nil {
			t.Errorf("rank %d (%v), want 6", rank, err)
		}
	})
}

// pinv returns the pseudo-inverse by singular values.
func pinv(t *testing.T, a *mat.Dense) *mat.Dense {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		t.Fatal("no singular values")
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	values := svd.Values(nil)
	v.Apply(func(_, j int, x float64) float64 {
		if values[j] < 1e-11*values[0] {
			return 0
		}
		return x / values[j]
	}, &v)
	var p mat.Dense
	p.Mul(&v, u.T())
	return &p
}

// The scores from thin factors are those of the N×N matrices in Eqs. (20) and
// (23).
func TestScoresAreTheirFormulas(t *testing.T) {
	s, factors := formulaSet(t, graphtest.Engine(t, "float64", 1))
	_, utility, privacy := formula(60)
	nuclear := func(a *mat.Dense) float64 {
		var svd mat.SVD
		if !svd.Factorize(a, mat.SVDNone) {
			t.Fatal("no singular values")
		}
		return floats.Sum(svd.Values(nil))
	}
	// K̂_B with the labels' K_B = K̄UUᵀK̄: K̂UUᵀK̂.
	between := func(k *mat.Dense, labels []int) *mat.Dense {
		c, err := newClasses(labels)
		if err != nil {
			t.Fatal(err)
		}
		u := c.basis()
		var b mat.Dense
		b.Product(k, u, u.T(), k)
		return &b
	}
	for _, ridge := range []float64{0, .1} {
		snr, err := s.SNR(ridge)
		if err != nil {
			t.Fatal(err)
		}
		upr, err := s.UtilityToPrivacy(ridge)
		if err != nil {
			t.Fatal(err)
		}
		wantSNR, wantUPR := make([]float64, len(factors)), make([]float64, len(factors))
		for l, z := range factors {
			k := product(z)
			k.Scale(1/mat.Trace(k), k)
			var noise, m, scaled mat.Dense
			scaled.Scale(ridge, k)
			noise.Mul(k, k)
			noise.Add(&noise, &scaled)
			m.Mul(pinv(t, &noise), between(k, utility))
			wantSNR[l] = nuclear(&m)
			private := between(k, privacy)
			private.Add(private, &scaled)
			m.Mul(pinv(t, private), between(k, utility))
			wantUPR[l] = nuclear(&m)
		}
		near(t, "SNR", snr, wantSNR, 1e-8)
		for l := range upr {
			if math.Abs(upr[l]-wantUPR[l]) > 1e-6*wantUPR[l] {
				t.Errorf("utility-to-privacy ratio of kernel %d, ρ = %g: %.12g, want %.12g", l, ridge, upr[l], wantUPR[l])
			}
		}
	}
}

// K_B by classes (Eq. 10) is K̄UUᵀK̄, and U is orthonormal and centred.
func TestBasis(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, utility, _ := formula(61)
	c, err := newClasses(utility)
	if err != nil {
		t.Fatal(err)
	}
	u := c.basis()
	var gram mat.Dense
	gram.Mul(u.T(), u)
	if d := largestDifference(&gram, mat.NewDiagDense(2, []float64{1, 1})); d > 1e-14 {
		t.Errorf("U is %g off orthonormal", d)
	}
	for j := range 2 {
		if sum := mat.Sum(u.ColView(j)); math.Abs(sum) > 1e-13 {
			t.Errorf("column %d of U sums to %g", j, sum)
		}
	}
	k, err := kernel.RBF(.1).Matrix(e, x, x)
	if err != nil {
		t.Fatal(err)
	}
	var got mat.Dense
	m := centring(61)
	got.Product(m, k, m, u, u.T(), m, k, m)
	if d := largestDifference(&got, betweenScatter(k, utility)); d > 1e-12 {
		t.Errorf("K_B is %g off its definition", d)
	}
}

// alignment returns ⟨K, YYᵀ⟩/‖K‖ of the combined kernel, from N×N matrices.
func alignment(factors []*mat.Dense, weights []float64, labels []int) float64 {
	n, _ := factors[0].Dims()
	k := mat.NewDense(n, n, nil)
	for l, z := range factors {
		p := product(z)
		p.Scale(weights[l]/mat.Trace(p), p)
		k.Add(k, p)
	}
	sum := 0.0
	for i := range n {
		for j := range n {
			if labels[i] == labels[j] {
				sum += k.At(i, j)
			}
		}
	}
	return sum / mat.Norm(k, 2)
}

// No weights on a grid align better.
func TestAlignmentIsMaximal(t *testing.T) {
	s, factors := formulaSet(t, graphtest.Engine(t, "float64", 1))
	_, utility, privacy := formula(60)
	best, err := s.Alignment()
	if err != nil {
		t.Fatal(err)
	}
	ratio, err := s.UtilityPrivacyAlignment()
	if err != nil {
		t.Fatal(err)
	}
	reached := alignment(factors, best, utility)
	value := func(w []float64) float64 {
		return alignment(factors, w, utility) / alignment(factors, w, privacy)
	}
	reachedRatio := value(ratio)
	const steps = 8
	for i := range steps + 1 {
		for j := range steps + 1 - i {
			w := []float64{float64(i) / steps, float64(j) / steps, float64(steps-i-j) / steps}
			if a := alignment(factors, w, utility); a > reached*(1+1e-12) {
				t.Errorf("weights %v align to %g, more than the %g of %v", w, a, reached, best)
			}
			if a := value(w); a > reachedRatio*(1+1e-12) {
				t.Errorf("weights %v have the ratio %g, more than the %g of %v", w, a, reachedRatio, ratio)
			}
		}
	}
	if math.Abs(floats.Norm(best, 2)-1) > 1e-14 {
		t.Errorf("the norm of %v is not one", best)
	}
	ones := 0
	for _, w := range ratio {
		if w == 1 {
			ones++
		}
	}
	if ones != 1 || floats.Sum(ratio) != 1 {
		t.Errorf("Eq. (26) selects %v, not a single kernel", ratio)
	}
}

// Quadratic programs with known solutions.
func TestNonNegative(t *testing.T) {
	sym := func(n int, data ...float64) *mat.SymDense { return mat.NewSymDense(n, data) }
	tests := []struct {
		name string
		m    *mat.SymDense
		a    []float64
		want []float64
	}{
		{"inside", sym(2, 2, 0, 0, 4), []float64{2, 4}, []float64{1, 1}},
		{"one at the bound", sym(2, 1, .9, .9, 1), []float64{1, .5}, []float64{1, 0}},
		{"all at the bound", sym(2, 1, 0, 0, 1), []float64{-1, -2}, []float64{0, 0}},
		{"equal kernels", sym(2, 1, 1, 1, 1), []float64{1, 1}, []float64{1, 0}},
		{"a leaving one", sym(3, 1, .7, 0, .7, 1, .7, 0, .7, 1), []float64{1, 1.1, 1}, []float64{1, 0, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := nonNegative(test.m, test.a, 30)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "solution", got, test.want, 1e-12)
		})
	}
	// Random ones meet the Karush-Kuhn-Tucker conditions.
	rng := graphtest.Rand(9)
	for range 50 {
		const n = 6
		b := graphtest.Normal(rng, 4, n) // of rank 4: singular
		m := mat.NewSymDense(n, nil)
		m.SymOuterK(1, b.T())
		var target mat.VecDense
		target.MulVec(b.T(), graphtest.Normal(rng, 4, 1).ColView(0))
		a := target.RawVector().Data
		v, err := nonNegative(m, a, 70)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			slope := a[i]
			for j := range n {
				slope -= m.At(i, j) * v[j]
			}
			if v[i] < 0 || slope > 1e-9 || v[i] > 0 && math.Abs(slope) > 1e-9 {
				t.Fatalf("element %d is %g with slope %g", i, v[i], slope)
			}
		}
	}
}

// Weights that are not yet those of the minimum are an error with the steepest slope
// that was left: here both kernels enter, the second with a slope of 2 in the first
// step.
func TestNonNegativeShortOfTheMinimum(t *testing.T) {
	m, a := mat.NewSymDense(2, []float64{2, 0, 0, 4}), []float64{2, 4}
	for _, c := range []struct {
		most int
		want string // of the error; "" for none
	}{
		{1, "stopped after 1 steps, the most that are allowed, with a slope of 4, and at most 4e-13 is wanted"},
		{2, "stopped after 2 steps, the most that are allowed, with a slope of 2, and at most 4e-13 is wanted"},
		{3, ""},
	} {
		t.Run(fmt.Sprint(c.most), func(t *testing.T) {
			v, err := nonNegative(m, a, c.most)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, %v; want %q", v, err, c.want)
			}
		})
	}
}

// The combined features give the combined kernel, for training and for further
// samples, and leave out kernels of weight zero.
func TestCombine(t *testing.T) {
	s, factors := formulaSet(t, graphtest.Engine(t, "float64", 1))
	z, err := s.Combine(factors, []float64{.5, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, c := z.Dims(); c != 4 {
		t.Errorf("%d columns, want 4", c)
	}
	want := mat.NewDense(60, 60, nil)
	for l, w := range []float64{.5, 0, 2} {
		k := product(factors[l])
		k.Scale(w/mat.Trace(k), k)
		want.Add(want, k)
	}
	if d := largestDifference(product(z), want); d > 1e-12 {
		t.Errorf("the kernel is off by %g", d)
	}
	if f := s.Frobenius([]float64{.5, 0, 2}); math.Abs(f-mat.Norm(want, 2)) > 1e-12 {
		t.Errorf("Frobenius norm %g, want %g", f, mat.Norm(want, 2))
	}
	test := make([]*mat.Dense, len(factors))
	for l, f := range factors {
		test[l] = mat.DenseCopyOf(f.Slice(3, 8, 0, 2))
	}
	some, err := s.Combine(test, []float64{.5, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(some, z.Slice(3, 8, 0, 4)) {
		t.Error("further samples are scaled differently")
	}
	for name, w := range map[string][]float64{"all weights are zero": {0, 0, 0}, "weight 1": {1, -1, 0},
		"2 weights": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Combine(factors, w); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("weights %v: error %v, want one with %q", w, err, name)
			}
		})
	}
}

func TestUniform(t *testing.T) {
	s, _ := formulaSet(t, graphtest.Engine(t, "float64", 1))
	if w := s.Uniform(); !slices.Equal(w, []float64{1. / 3, 1. / 3, 1. / 3}) {
		t.Errorf("uniform weights %v", w)
	}
}

func TestSetRefuses(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	z := graphtest.Normal(graphtest.Rand(3), 4, 2)
	labels := []int{0, 1, 0, 1}
	tests := []struct {
		name             string
		factors          []*mat.Dense
		utility, privacy []int
		want             string
	}{
		{"none", nil, labels, labels, "there is none"},
		{"labels", []*mat.Dense{z}, labels[:3], labels, "4 samples, for 3 utility"},
		{"privacy", []*mat.Dense{z}, labels, labels[:3], "3 privacy labels"},
		{"zero", []*mat.Dense{z, mat.NewDense(4, 2, nil)}, labels, labels, "kernel 1 (counted from 0) has the trace 0"},
		{"empty", []*mat.Dense{nil}, labels, labels, "is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewSet(context.Background(), e, test.factors, test.utility, test.privacy)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
