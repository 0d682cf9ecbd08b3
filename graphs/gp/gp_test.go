package gp

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// observations are n points of two inputs of different scales, and outputs with noise.
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

// direct is log p(y|X) by gonum, pair by pair.
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

// Value and gradient are those of the formula, pair by pair, and of its differences.
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
			t.Logf("%+v %v", f, e.Warnings())
			if math.Abs(f.LogLikelihood-c.likelihood) > 1e-5 {
				t.Errorf("the largest log-likelihood is %.10g, want %.10g", f.LogLikelihood, c.likelihood)
			}
			want := append(append([]float64(nil), c.lengths...), c.variance, c.noise)
			for i, v := range append(append([]float64(nil), f.Lengthscales...), f.Variance, f.Noise) {
				if math.Abs(v-want[i]) > 2e-3*want[i]+1e-5 {
					t.Errorf("hyper-parameter %d is %g, want %g", i, v, want[i])
				}
			}
			if !f.Converged || f.Mean != 0 || f.Agreeing < 1 {
				t.Errorf("converged %v, mean %g, %d starts agree", f.Converged, f.Mean, f.Agreeing)
			}
			warned := strings.Contains(strings.Join(e.Warnings(), "\n"), "the variance of the noise is at a bound")
			if warned != (c.noise == 0) {
				t.Errorf("warnings: %q", e.Warnings())
			}
		})
	}
}
