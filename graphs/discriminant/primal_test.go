package discriminant

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// TestPrimal compares with the matrix of the kernel: of the samples themselves, more than are streamed at a time, with
// an offset, and of features by landmarks.
func TestPrimal(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	x, utility, privacy := formula(primalRows + 300)
	x.Apply(func(_, j int, v float64) float64 { return v + 1000*float64(j) }, x)
	few := mat.DenseCopyOf(x.Slice(0, 300, 0, 7))
	o := formulaOptions
	o.Ridge = 10
	for _, c := range []struct {
		criterion Criterion
		x         *mat.Dense
		labels    []int
		kernel    func() (*Projection, error)
	}{
		{Discriminant, x, utility, func() (*Projection, error) {
			return Fit(t.Context(), e, kernel.Linear(1), x, utility, o)
		}},
		{Principal, few, nil, func() (*Projection, error) {
			return FitPrincipal(t.Context(), e, kernel.Linear(1), few, o)
		}},
		{Desensitised, few, privacy[:300], func() (*Projection, error) {
			return FitDesensitised(t.Context(), e, kernel.Linear(1), few, privacy[:300], o)
		}},
	} {
		want, err := c.kernel()
		if err != nil {
			t.Fatal(err)
		}
		m, got, err := FitPrimal(t.Context(), e, c.criterion, nil, c.x, c.labels, o)
		if err != nil {
			t.Fatal(err)
		}
		scale := mat.Max(want.Features)
		if d := largestDifference(got, want.Features); d > 1e-6*scale {
			t.Errorf("criterion %d: the features differ by %g of %g", c.criterion, d, scale)
		}
		further := mat.DenseCopyOf(c.x.Slice(3, 5, 0, 7))
		projected, err := m.Apply(t.Context(), e, further)
		if err != nil {
			t.Fatal(err)
		}
		if d := largestDifference(projected, mat.DenseCopyOf(got.Slice(3, 5, 0, 2))); d > 1e-9*scale {
			t.Errorf("criterion %d: the map differs from the features by %g", c.criterion, d)
		}
	}
}

// TestPrimalLandmarks: with all samples as landmarks the compression is that of the kernel's matrix.
func TestPrimalLandmarks(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	x, utility, _ := formula(60)
	twice := mat.NewDense(120, 7, nil) // equal landmarks
	twice.Stack(x, x)
	for _, k := range []kernel.Kernel{kernel.RBF(.01), kernel.Laplacian(.1, 1), kernel.Polynomial(1, 2, 1)} {
		want := fitFormula(t, e, k)
		marks, err := NewLandmarks(t.Context(), e, k, twice)
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := FitPrimal(t.Context(), e, Discriminant, marks, x, utility, formulaOptions)
		if err != nil {
			t.Fatal(err)
		}
		if d := largestDifference(got, want.Features); d > 1e-6*mat.Max(want.Features) {
			t.Errorf("%v: the features differ by %g", k, d)
		}
	}
}

func TestPrimalRefusals(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, utility, _ := formula(30)
	constant := mat.NewDense(30, 7, nil)
	for _, c := range []struct {
		name      string
		criterion Criterion
		x         *mat.Dense
		labels    []int
		o         Options
		want      string
	}{
		{"nothing", Discriminant, nil, nil, formulaOptions, "there are no samples"},
		{"one class", Discriminant, x, make([]int, 30), formulaOptions, "one class"},
		{"nothing to hide", Desensitised, x, make([]int, 30), formulaOptions, "nothing to hide"},
		{"few labels", Desensitised, x, utility[:5], formulaOptions, "5 labels for 30 samples"},
		{"equal samples", Discriminant, constant, utility, formulaOptions, "apart in 0 directions"},
		{"equal samples", Principal, constant, nil, formulaOptions, "differ in 0 directions"},
		{"more components than columns", Principal, x, nil, Options{Components: 8}, "differ in 7 directions"},
		{"not finite", Principal, mat.NewDense(2, 1, []float64{1, math.NaN()}), nil, Options{Components: 1}, "NaN"},
	} {
		if _, _, err := FitPrimal(t.Context(), e, c.criterion, nil, c.x, c.labels, c.o); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.name, err, c.want)
		}
	}
}

// TestCheckSeparation: samples are refused just where Fit fails, and Fit succeeds with the ρ' or the components that
// the refusal suggests.
func TestCheckSeparation(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 650
	labels := make([]int, n)
	samples := func(scale, apart float64, columns int) *mat.Dense {
		x := mat.NewDense(n, columns, nil)
		for i := range n {
			labels[i] = i % 4
			for j := range columns {
				x.Set(i, j, scale*(rng.NormFloat64()+apart*math.Sin(float64(labels[i]*(j+2)))))
			}
		}
		return x
	}
	for _, c := range []struct {
		name    string
		kernel  kernel.Kernel
		x       *mat.Dense
		refused bool
	}{
		{"a linear kernel", kernel.Linear(1), samples(1, 1, 5), false},
		{"small data", kernel.RBF(.01), samples(1e-5, 1, 5), true},
		{"small data without classes", kernel.RBF(.01), samples(1e-3, 0, 5), true},
		{"small data, linear", kernel.Linear(1), samples(1e-5, 0, 5), true},
		{"small data, sharp kernel", kernel.Laplacian(10, 1), samples(1e-3, 1, 5), false},
		{"large data, whose kernel underflows", kernel.RBF(1), samples(1e4, 0, 5), false},
		{"fewer columns than classes", kernel.Linear(1), samples(1, 1, 2), true},
	} {
		o := Options{Ridge: 10, SignalRidge: 1e-4, Components: 3}
		err := CheckSeparation(t.Context(), e, c.kernel, c.x, labels, o)
		if _, fitErr := Fit(t.Context(), e, c.kernel, c.x, labels, o); (err != nil) != c.refused ||
			(fitErr != nil) != c.refused {
			t.Errorf("%s: check %v, fit %v; refused must be %v", c.name, err, fitErr, c.refused)
		}
		if !c.refused {
			continue
		}
		var weak *WeakKernelError
		if !errors.As(err, &weak) || weak.Suggested == 0 && weak.Directions == 0 {
			t.Errorf("%s: %v, without a remedy", c.name, err)
			continue
		}
		if weak.Suggested > 0 {
			o.SignalRidge = weak.Suggested
		} else {
			o.Components = weak.Directions
		}
		if _, err := Fit(t.Context(), e, c.kernel, c.x, labels, o); err != nil {
			t.Errorf("%s: with what is suggested, %+v: %v", c.name, o, err)
		}
	}
}

// The ρ' that a refusal suggests is a power of ten to the last bit, and is printed as such.
func TestSuggestedRidge(t *testing.T) {
	o := Options{Ridge: 10, SignalRidge: 1e-4, Components: 1}
	for power := -300; power < -4; power++ {
		spread := 3 * math.Pow10(power)
		err := separated(mat.NewSymDense(1, []float64{spread}), o)
		if want := fmt.Sprintf("take rho_prime=1e-%02d,", 2-power); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("a scatter of %g: %v, want %q", spread, err, want)
		}
	}
}
