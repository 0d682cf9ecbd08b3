package cloak

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// many are inputs of two dimensions above the limit of one matrix: n different ones and some repetitions.
func many(n, repeated int) *mat.Dense {
	rng := rand.New(rand.NewPCG(21, 22))
	x := mat.NewDense(n+repeated, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
	}
	for i := range repeated {
		x.SetRow(n+i, x.RawRowView(rng.IntN(n)))
	}
	return x
}

func model(m Method, lengthscale float64) *Model {
	return &Model{Method: m, Hyperparameters: Hyperparameters{
		Kernel:        Kernel{Lengthscale: method.LengthscalesOf(lengthscale), KernelVariance: 1.5},
		NoiseVariance: .1},
		Inducing: mat.NewDense(4, 2, []float64{.1, .2, .8, .3, .4, .9, .6, .6})}
}

// Above the limit of one matrix, predictions and variances by factors are those by the matrix, and so is the noise
// that is designed for them, with repeated inputs among the training ones. A kernel matrix without a low rank has no
// factors, and neither have few inputs.
func TestLinear(t *testing.T) {
	e := cloaktest.Engine(t)
	train, test := many(design.FewColumns+100, 50), mat.NewDense(3, 2, []float64{.5, .5, .01, .99, 3, 3})
	n, _ := train.Dims()
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(float64(7 * i))
	}
	for _, c := range []struct {
		name    string
		m       *Model
		train   *mat.Dense
		factors bool
	}{
		{"sparse", model(Sparse, .4), train, true},
		{"standard", model(Standard, .5), train, true},
		{"high rank", model(Standard, .005), train, false},
		{"few", model(Sparse, .4), train.Slice(0, design.FewColumns, 0, 2).(*mat.Dense), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, variance, err := c.m.Linear(e, c.train, test, c.factors)
			if err != nil || (l.Factors != nil) != c.factors || (l.Matrix == nil) != c.factors {
				t.Fatal(l.Factors != nil, err)
			}
			if !c.factors {
				return
			}
			want, variances, err := c.m.Posterior(e, c.train, test)
			if err != nil {
				t.Fatal(err)
			}
			exact := product(want, y)
			for i, v := range l.Times(y) {
				if math.Abs(v-exact[i]) > 1e-10 || math.Abs(variance[i]-variances[i]) > 1e-9 {
					t.Errorf("prediction %d is %g with variance %g, want %g, %g", i, v, variance[i], exact[i], variances[i])
				}
			}
			w := &Work{Engine: e, Solver: &Solver{Rank: experiment.Or[Full, int]{Word: FullRank, IsWord: true}}, MaxSteps: 100}
			_, byMatrix, err := SolveLinear(t.Context(), w, []Linear{{Matrix: want}})
			if err != nil {
				t.Fatal(err)
			}
			_, designs, err := SolveLinear(t.Context(), w, []Linear{l, {Matrix: want}})
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range designs {
				if math.Abs(d.Trace/byMatrix[0].Trace-1) > 1e-6 {
					t.Errorf("trace %d is %.12g, want %.12g", i, d.Trace, byMatrix[0].Trace)
				}
			}
		})
	}
}

// Inducing inputs are placed by a sample of many rows, one of every stretch, and by all of few and of few different
// ones.
func TestSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	few := mat.NewDense(clusteredRows, 1, nil)
	if sample(few, 1, rng) != few {
		t.Error("few rows are sampled")
	}
	x := mat.NewDense(3*clusteredRows+1, 1, nil)
	for i := range 3*clusteredRows + 1 {
		x.Set(i, 0, float64(i))
	}
	got := mat.Col(nil, 0, sample(x, 5, rng))
	if len(got) != clusteredRows || !slices.IsSorted(got) {
		t.Fatal(len(got))
	}
	for i, v := range got {
		if v < float64(3*i) || v > float64(3*i+4) {
			t.Fatalf("row %d is %g", i, v)
		}
	}
	x.Zero() // but for few rows
	for i := range 6 {
		x.Set(4000*i, 0, float64(i))
	}
	if rows, _ := sample(x, 6, rng).Dims(); rows != 6 {
		t.Errorf("%d rows of 6 different ones", rows)
	}
}

// An error in a part of the sets has its number among all; one of all sets has none.
func TestInPart(t *testing.T) {
	bad := errors.New("bad")
	for _, c := range []struct {
		err              error
		first, sets, all int
		want             string
	}{
		{&SetError{1, 2, bad}, 3, 2, 9, "set of predictions 5 of 9: bad"},
		{bad, 3, 1, 9, "set of predictions 4 of 9: bad"},
		{bad, 0, 1, 1, "bad"},
		{bad, 0, 9, 9, "bad"},
	} {
		if got := InPart(c.err, c.first, c.sets, c.all); got.Error() != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
	if err := InPart(nil, 0, 1, 2); err != nil {
		t.Error(err)
	}
}
