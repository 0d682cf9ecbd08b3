package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// observations returns n points of two inputs of different scales, and outputs with noise.
func observations(n int) (*mat.Dense, []float64) {
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	part := func(i int, rate float64) float64 { _, f := math.Modf(float64(i+1) * rate); return f }
	for i := range n {
		a, b := 3*part(i, 0.6180339887), 50*part(i, 0.4142135624)
		x.SetRow(i, []float64{a, b})
		y[i] = 10*math.Sin(2*a) + 0.1*b + 12*(part(i, 0.2360679775*7)-0.5)
	}
	return x, y
}

// kernels are those of the fits, by name, and their k of a distance.
var kernels = []struct {
	name   string
	kernel kernel.Kernel
	of     func(r float64) float64
}{
	{"EQ", kernel.EQ(1, 1), func(r float64) float64 { return math.Exp(-r * r / 2) }},
	{"Matérn 1/2", kernel.Matern(0.5, 1, 1), func(r float64) float64 { return math.Exp(-r) }},
	{"Matérn 3/2", kernel.Matern(1.5, 1, 1), func(r float64) float64 {
		return (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	}},
	{"Matérn 5/2", kernel.Matern(2.5, 1, 1), func(r float64) float64 {
		return (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
	}},
}

// direct returns log p(y|X) by gonum, with the covariance pair by pair.
func direct(t *testing.T, x *mat.Dense, y []float64, of func(float64) float64, h Hyperparameters) float64 {
	t.Helper()
	n, d := x.Dims()
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s := 0.0
			for k := range d {
				v := (x.At(i, k) - x.At(j, k)) / h.Lengthscales[k%len(h.Lengthscales)]
				s += v * v
			}
			cov.SetSym(i, j, h.Variance*of(math.Sqrt(s)))
		}
		cov.SetSym(i, i, cov.At(i, i)+h.Noise)
	}
	r := mat.NewVecDense(n, nil)
	for i, v := range y {
		r.SetVec(i, v-h.Mean)
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("the covariance is not positive definite")
	}
	var solved mat.VecDense
	if err := c.SolveVecTo(&solved, r); err != nil {
		t.Fatal(err)
	}
	return -mat.Dot(r, &solved)/2 - c.LogDet()/2 - float64(n)/2*math.Log(2*math.Pi)
}

// Value and gradient agree with the formula, pair by pair, and with its differences.
func TestEvaluate(t *testing.T) {
	x, y := observations(30)
	e := graphtest.Engine(t, "float64", 1)
	for _, k := range kernels {
		for _, lengths := range [][]float64{{0.8, 15}, {2.5}} {
			t.Run(fmt.Sprint(k.name, " ", len(lengths)), func(t *testing.T) {
				h := Hyperparameters{Lengthscales: lengths, Variance: 40, Noise: 1.3, Mean: 2}
				got, gradient, err := Evaluate(context.Background(), e, x, y, k.kernel, h)
				if err != nil {
					t.Fatal(err)
				}
				if want := direct(t, x, y, k.of, h); math.Abs(got-want) > 1e-10*math.Abs(want) {
					t.Errorf("log-likelihood %.15g, directly %.15g", got, want)
				}
				for i, g := range gradient {
					const step = 1e-5
					difference := (direct(t, x, y, k.of, moved(h, i, step)) - direct(t, x, y, k.of, moved(h, i, -step))) / (2 * step)
					if math.Abs(g-difference) > 1e-6*(1+math.Abs(difference)) {
						t.Errorf("derivative %d is %.10g, by differences %.10g", i, g, difference)
					}
				}
			})
		}
	}
}

// moved changes the logarithm of a hyper-parameter, or the mean, by a step.
func moved(h Hyperparameters, i int, step float64) Hyperparameters {
	h.Lengthscales = append([]float64(nil), h.Lengthscales...)
	switch i - len(h.Lengthscales) {
	case 0:
		h.Variance *= math.Exp(step)
	case 1:
		h.Noise *= math.Exp(step)
	case 2:
		h.Mean += step
	default:
		h.Lengthscales[i] *= math.Exp(step)
	}
	return h
}

// Maxima are those of GaussianProcessRegressor of scikit-learn 1.9.1 with ConstantKernel ·
// RBF or Matern + WhiteKernel, alpha=0, n_restarts_optimizer=20 and random_state=0. Where
// there is one lengthscale, the second input is a tenth. The noise of the last one goes to
// zero.
func TestMaximiseLikeScikitLearn(t *testing.T) {
	for _, c := range []struct {
		kernel          int // of kernels
		lengths         []float64
		variance, noise float64
		likelihood      float64
	}{
		{0, []float64{0.47719477, 15.03314292}, 46.53438110415064, 6.269811968199782, -167.30008688351518},
		{1, []float64{1.08050753, 37.68051291}, 57.4773550612594, 0.7898771338015312, -168.77208339960777},
		{2, []float64{0.70836908, 26.04534452}, 53.66527105800671, 5.470235318893718, -167.31949609445735},
		{3, []float64{0.60897106, 21.59245074}, 51.038747714738754, 5.931147163161985, -167.15138944542164},
		{0, []float64{0.5904021505740245}, 52.094016280935755, 5.128183926590794, -174.09473456367286},
		{2, []float64{0.790294965208897}, 58.41902315634834, 2.2967590585031923, -173.18654934106533},
		{3, []float64{0.7199374268110155}, 55.993643900282315, 3.694634067825195, -173.34838310553877},
		{1, []float64{1.5306644231026125}, 63.612715648473994, 0, -175.08769982361378},
	} {
		t.Run(fmt.Sprint(kernels[c.kernel].name, " ", len(c.lengths)), func(t *testing.T) {
			x, y := observations(60)
			o := Options{Kernel: kernels[c.kernel].kernel, Isotropic: len(c.lengths) == 1}
			if o.Isotropic {
				x.Apply(func(_, k int, v float64) float64 { return v / []float64{1, 10}[k] }, x)
			}
			e := graphtest.Engine(t, "float64", 1)
			f, err := Maximise(context.Background(), e, x, y, o)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(f.LogLikelihood-c.likelihood) > 1e-5 {
				t.Errorf("the largest log-likelihood is %.10g, want %.10g", f.LogLikelihood, c.likelihood)
			}
			want := append(append([]float64(nil), c.lengths...), c.variance, c.noise)
			for i, v := range append(append([]float64(nil), f.Lengthscales...), f.Variance, f.Noise) {
				if math.Abs(v-want[i]) > 2e-3*want[i]+1e-5 {
					t.Errorf("hyper-parameter %d is %g, want %g", i, v, want[i])
				}
			}
			if !f.Converged || f.Mean != 0 {
				t.Errorf("converged %v, mean %g", f.Converged, f.Mean)
			}
			warned := strings.Contains(strings.Join(e.Warnings(), "\n"), "the variance of the noise is at a bound")
			if warned != (c.noise == 0) {
				t.Errorf("warnings: %q", e.Warnings())
			}
		})
	}
}

// The result does not depend on the units of inputs and outputs, nor on a constant in the mean.
func TestUnitsAndMean(t *testing.T) {
	x, y := observations(40)
	e := graphtest.Engine(t, "float64", 1)
	o := Options{Kernel: kernel.Matern(2.5, 1, 1), Mean: true}
	want, err := Maximise(context.Background(), e, x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		x.SetRow(i, []float64{1e6 + 1e-3*x.At(i, 0), -5e3 + 100*x.At(i, 1)})
		y[i] = 1e4 + 1e3*y[i]
	}
	got, err := Maximise(context.Background(), e, x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"lengthscale 1", got.Lengthscales[0], 1e-3 * want.Lengthscales[0]},
		{"lengthscale 2", got.Lengthscales[1], 100 * want.Lengthscales[1]},
		{"variance", got.Variance, 1e6 * want.Variance},
		{"noise", got.Noise, 1e6 * want.Noise},
		{"mean", got.Mean, 1e4 + 1e3*want.Mean},
		{"log-likelihood", got.LogLikelihood, want.LogLikelihood - 40*math.Log(1e3)},
	} {
		if math.Abs(c.got-c.want) > 1e-3*math.Abs(c.want) {
			t.Errorf("the %s is %g, want %g", c.name, c.got, c.want)
		}
	}
	// At the maximum the mean is optimal: no other one does better.
	for _, mean := range []float64{got.Mean - 1, got.Mean + 1} {
		h := got.Hyperparameters
		h.Mean = mean
		if other := direct(t, x, y, kernels[3].of, h); other > got.LogLikelihood {
			t.Errorf("the mean %g has the log-likelihood %.12g, the estimate %g has %.12g", mean, other, got.Mean,
				got.LogLikelihood)
		}
	}
}

// A search that stops early returns the best point and a warning.
func TestSearchThatStopsShort(t *testing.T) {
	x, y := observations(40)
	e := graphtest.Engine(t, "float64", 1)
	f, err := Maximise(context.Background(), e, x, y, Options{Kernel: kernel.EQ(1, 1), Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f.Converged || !strings.Contains(strings.Join(e.Warnings(), "\n"), "the search ended (IterationLimit)") {
		t.Errorf("converged %v, warnings %q", f.Converged, e.Warnings())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Maximise(ctx, e, x, y, Options{Kernel: kernel.EQ(1, 1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is cancelled: %v", err)
	}
}

// A search that goes on after a round of the race reads its evaluations: a longer search takes those of a
// shorter one and no more than its own.
func TestRace(t *testing.T) {
	x, y := observations(40)
	p, err := newProblem(graphtest.Engine(t, "float64", 1), x, y, Options{Kernel: kernel.EQ(1, 1), Mean: true})
	if err != nil {
		t.Fatal(err)
	}
	along, alone := &path{start: p.start(1, 0.1)}, &path{start: p.start(1, 0.1)}
	ctx := context.Background()
	if _, err := p.search(ctx, alone, 12); err != nil {
		t.Fatal(err)
	}
	needed := p.evaluations
	for _, iterations := range []int{4, 12} {
		if _, err := p.search(ctx, along, iterations); err != nil {
			t.Fatal(err)
		}
	}
	if p.evaluations != 2*needed || !slices.Equal(along.steps[needed-1].u, alone.steps[needed-1].u) {
		t.Errorf("%d evaluations after %d, of two searches to one end", p.evaluations-needed, needed)
	}
}

// Data without a maximum give an error with the reason.
func TestErrors(t *testing.T) {
	x, y := observations(10)
	constant := mat.DenseCopyOf(x)
	for i := range 10 {
		constant.Set(i, 1, 4)
	}
	eq := Options{Kernel: kernel.EQ(1, 1)}
	for _, c := range []struct {
		name string
		x    *mat.Dense
		y    []float64
		o    Options
		want string
	}{
		{"no inputs", nil, y, eq, "there are no inputs"},
		{"too few outputs", x, y[:9], eq, "9 outputs for 10 inputs"},
		{"NaN", x, append([]float64{math.NaN()}, y[1:]...), eq, "the vector of outputs"},
		{"no kernel", x, y, Options{}, "a kernel without a family"},
		{"a kernel of inner products", x, y, Options{Kernel: kernel.Linear(1)}, "does not depend on a distance"},
		{"negative iterations", x, y, Options{Kernel: kernel.EQ(1, 1), Iterations: -1}, "-1 iterations"},
		{"a constant input", constant, y, eq, "input 2 is the same in all rows"},
		{"constant inputs", mat.NewDense(10, 2, nil), y, Options{Kernel: kernel.EQ(1, 1), Isotropic: true},
			"all 10 inputs are equal"},
		{"zero outputs", x, make([]float64, 10), eq, "the outputs are constant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := graphtest.Engine(t, "float64", 1)
			if _, err := Maximise(context.Background(), e, c.x, c.y, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
	e := graphtest.Engine(t, "float64", 1)
	for want, h := range map[string]Hyperparameters{
		"3 lengthscales for 2 inputs": {Lengthscales: []float64{1, 1, 1}, Variance: 1, Noise: 1},
		"a hyper-parameter is -1":     {Lengthscales: []float64{1}, Variance: 1, Noise: -1},
	} {
		if _, _, err := Evaluate(context.Background(), e, x, y, kernel.EQ(1, 1), h); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}

// Exact data of a smooth function drive the noise to its bound, which is suspect.
func TestDataWithoutNoise(t *testing.T) {
	const n = 150
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, float64(i)/n)
		y[i] = math.Sin(5 * x.At(i, 0))
	}
	e := graphtest.Engine(t, "float64", 1)
	f, err := Maximise(context.Background(), e, x, y, Options{Kernel: kernel.EQ(1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if f.Noise > 1e-7 || f.LogLikelihood < 5*n || len(e.Warnings()) == 0 {
		t.Errorf("noise %g, log-likelihood %g, warnings %q", f.Noise, f.LogLikelihood, e.Warnings())
	}
}

// A search steps back from a covariance that is not positive definite in floating point; any
// other error ends it.
func TestCovarianceThatIsNotDefinite(t *testing.T) {
	x, y := observations(60)
	o := Options{Kernel: kernel.EQ(1, 1e6), Isotropic: true}
	p, err := newProblem(graphtest.Engine(t, "float64", 1), x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	value, gradient := p.compute(context.Background(), []float64{1, 40, -40}) // the largest variance, the smallest noise
	if !math.IsInf(value, 1) || len(gradient) != 3 || p.err != nil {
		t.Errorf("value %g, gradient %g, error %v", value, gradient, p.err)
	}
	if value, _ = p.compute(context.Background(), []float64{0, 0, 0}); math.IsInf(value, 1) || p.err != nil {
		t.Errorf("value %g, error %v", value, p.err)
	}
}
