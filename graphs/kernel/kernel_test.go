package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// subject is a kernel for the properties below: its matrix, its program, and its value for two
// points by the definition.
type subject struct {
	name    string
	matrix  func(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error)
	op      op.Op // the weighted sum has none: it is a program of several
	point   func(x, y []float64) float64
	psd     bool // positive semidefinite
	bounded bool // entries are at most k(x, x), which is diagonal
	// The diagonal of a kernel of distances.
	diagonal float64
}

// of returns the subject of a Kernel.
func of(k Kernel, psd bool, diagonal float64, point func(x, y []float64) float64) subject {
	return subject{name: k.String(), matrix: k.Matrix, point: point, psd: psd, bounded: diagonal > 0, diagonal: diagonal,
		op: op.Kernel(k.profile)}
}

func sqDist(x, y []float64) (s float64) {
	for i := range x {
		s += (x[i] - y[i]) * (x[i] - y[i])
	}
	return s
}

func dist(x, y []float64) float64 { return math.Sqrt(sqDist(x, y)) }

func l1(x, y []float64) (s float64) {
	for i := range x {
		s += math.Abs(x[i] - y[i])
	}
	return s
}

func dot(x, y []float64) (s float64) {
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

var subjects = []subject{
	of(EQ(1.5, 2), true, 2, func(x, y []float64) float64 { return 2 * math.Exp(-sqDist(x, y)/(2*1.5*1.5)) }),
	of(RBF(0.2), true, 1, func(x, y []float64) float64 { return math.Exp(-0.2 * sqDist(x, y)) }),
	of(Laplacian(0.3, 2), true, 2, func(x, y []float64) float64 { return 2 * math.Exp(-0.3*l1(x, y)) }),
	of(Matern(0.5, 2, 3), true, 3, func(x, y []float64) float64 { return 3 * math.Exp(-dist(x, y)/2) }),
	of(Matern(1.5, 2, 3), true, 3, func(x, y []float64) float64 {
		u := math.Sqrt(3) * dist(x, y) / 2
		return 3 * (1 + u) * math.Exp(-u)
	}),
	of(Matern(2.5, 2, 3), true, 3, func(x, y []float64) float64 {
		r := dist(x, y) / 2
		return 3 * (1 + math.Sqrt(5)*r + 5*r*r/3) * math.Exp(-math.Sqrt(5)*r)
	}),
	of(Polynomial(0.5, 3, 1), true, 0, func(x, y []float64) float64 { return math.Pow(0.5*dot(x, y)+1, 3) }),
	of(Sigmoid(0.1, -0.5), false, 0, func(x, y []float64) float64 { return math.Tanh(0.1*dot(x, y) - 0.5) }),
	of(Linear(2), true, 0, func(x, y []float64) float64 { return 2 * dot(x, y) }),
	gibbs(2), weightedSum(2),
}

// lengthscale gives every point of the Gibbs subject its own, by dimension.
func lengthscale(x float64) float64 { return 1 + 0.5*math.Sin(x) }

func lengthscales(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	l := mat.NewDense(n, d, nil)
	l.Apply(func(_, _ int, v float64) float64 { return lengthscale(v) }, x)
	return l
}

func gibbs(variance float64) subject {
	return subject{name: "Gibbs", psd: true, bounded: true, diagonal: variance,
		matrix: func(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
			return GibbsMatrix(e, x, y, lengthscales(x), lengthscales(y), variance)
		},
		op: op.Gibbs(variance),
		point: func(x, y []float64) float64 {
			k := variance
			for i := range x {
				a, b := lengthscale(x[i]), lengthscale(y[i])
				k *= math.Sqrt(2*a*b/(a*a+b*b)) * math.Exp(-(x[i]-y[i])*(x[i]-y[i])/(a*a+b*b))
			}
			return k
		}}
}

// weight gives every point of the weighted sum its own, by its first coordinate.
func weight(x []float64) float64 { return 1 / (1 + math.Exp(-3*x[0])) }

func weights(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	w := make([]float64, n)
	for i := range w {
		w[i] = weight(x.RawRowView(i))
	}
	return w
}

func weightedSum(variance float64) subject {
	f, g := EQ(0.8, variance), EQ(5, variance)
	return subject{name: "weighted sum", psd: true,
		matrix: func(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
			return WeightedSumMatrix(e, f, g, x, y, weights(x), weights(y))
		},
		point: func(x, y []float64) float64 {
			short, long := variance*math.Exp(-sqDist(x, y)/(2*0.8*0.8)), variance*math.Exp(-sqDist(x, y)/50)
			return weight(x)*short*weight(y) + (1-weight(x))*long*(1-weight(y))
		}}
}

// points returns n points of d dimensions; the last repeats the first.
func points(seed uint64, n, d int) *mat.Dense {
	x := graphtest.Normal(graphtest.Rand(seed), n, d)
	x.SetRow(n-1, mat.Row(nil, 0, x))
	return x
}

// The kernels that have a property.
func every(subject) bool         { return true }
func ofDistances(s subject) bool { return s.bounded }
func definite(s subject) bool    { return s.psd }
func operations(s subject) bool  { return s.name != "weighted sum" }
func stationary(s subject) bool  { return s.bounded && s.name != "Gibbs" }

var properties = []struct {
	name  string
	of    func(subject) bool
	check func(t *testing.T, s subject)
}{
	{"known values", every, func(t *testing.T, s subject) {
		// Few dimensions go term by term, many through a matrix product; more
		// than one tile of each.
		for _, d := range []int{2, 12} {
			x, y := points(1, 70, d), points(2, 260, d)
			k := matrix(t, s, "float64", x, y)
			for i := range 70 {
				for j := range 260 {
					want := s.point(x.RawRowView(i), y.RawRowView(j))
					if got := k.At(i, j); !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
						t.Fatalf("%d dimensions: k(x%d, y%d) = %.17g, want %.17g", d, i, j, got, want)
					}
				}
			}
		}
	}},
	{"exactly symmetric", every, func(t *testing.T, s subject) {
		for _, d := range []int{2, 12} {
			x := points(3, 150, d)
			for _, y := range []*mat.Dense{x, mat.DenseCopyOf(x)} {
				for _, dtype := range []string{"float64", "float32"} {
					k := matrix(t, s, dtype, x, y)
					if !mat.Equal(k, k.T()) {
						t.Fatalf("%s, %d dimensions: not symmetric", dtype, d)
					}
				}
			}
		}
	}},
	{"symmetric and general agree", every, func(t *testing.T, s subject) {
		// y is x and one point more, so that nothing is seen to be symmetric.
		x := points(4, 150, 12)
		y := mat.NewDense(151, 12, nil)
		y.Stack(x, mat.NewDense(1, 12, nil))
		symmetric, general := matrix(t, s, "float64", x, x), matrix(t, s, "float64", x, y)
		if !mat.EqualApprox(symmetric, general.Slice(0, 150, 0, 150), 1e-12) {
			t.Error("they differ")
		}
	}},
	{"exact diagonal", ofDistances, func(t *testing.T, s subject) {
		for _, d := range []int{2, 12} {
			x := points(5, 150, d)
			k := matrix(t, s, "float64", x, x)
			for i := range 150 {
				if k.At(i, i) != s.diagonal {
					t.Fatalf("%d dimensions: k(x%d, x%d) = %.17g, want %g", d, i, i, k.At(i, i), s.diagonal)
				}
				for j := range 150 {
					if !(math.Abs(k.At(i, j)) <= s.diagonal) {
						t.Fatalf("%d dimensions: |k(x%d, x%d)| = %.17g exceeds %g", d, i, j, k.At(i, j), s.diagonal)
					}
				}
			}
			// The last point repeats the first.
			if got := k.At(0, 149); math.Abs(got-s.diagonal) > 1e-15 {
				t.Errorf("%d dimensions: a repeated point gives %.17g, want %g", d, got, s.diagonal)
			}
		}
	}},
	{"positive semidefinite", definite, func(t *testing.T, s subject) {
		k := matrix(t, s, "float64", points(6, 60, 3), points(6, 60, 3))
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(60, k.RawMatrix().Data), false) {
			t.Fatal("no eigenvalues")
		}
		w := e.Values(nil)
		if w[0] < -1e-13*w[59] {
			t.Errorf("smallest eigenvalue %g, largest %g", w[0], w[59])
		}
	}},
	{"a common offset changes nothing", stationary, func(t *testing.T, s subject) {
		for _, d := range []int{2, 12} {
			x, y := points(7, 40, d), points(8, 30, d)
			k := matrix(t, s, "float64", x, y)
			// A power of two, so that moving the points rounds only where the
			// coordinates lose digits that differences then lack.
			const offset = 0x1p10
			shift := func(_, _ int, v float64) float64 { return v + offset }
			x.Apply(shift, x)
			y.Apply(shift, y)
			if moved := matrix(t, s, "float64", x, y); !mat.EqualApprox(k, moved, 1e-11) {
				t.Errorf("%d dimensions: it does", d)
			}
		}
	}},
	{"float32 agrees with float64", every, func(t *testing.T, s subject) {
		for _, d := range []int{2, 12} {
			x, y := points(9, 70, d), points(10, 80, d)
			double, single := matrix(t, s, "float64", x, y), matrix(t, s, "float32", x, y)
			largest := mat.Max(double)
			if s.bounded {
				largest = s.diagonal
			}
			for i, want := range double.RawMatrix().Data {
				if got := single.RawMatrix().Data[i]; !(math.Abs(got-want) <= 5e-6*max(1, largest)) {
					t.Fatalf("%d dimensions: element %d is %.9g, in float64 %.9g", d, i, got, want)
				}
			}
		}
	}},
	{"float32 holds for close points far from the origin", ofDistances, func(t *testing.T, s subject) {
		// Multiples of 1/64 are exact in float32.
		const n, d = 60, 12
		x, y := points(21, n, d), mat.NewDense(n, d, nil)
		x.Apply(func(_, _ int, v float64) float64 { return math.Round(64*20*v) / 64 }, x)
		y.Apply(func(i, j int, v float64) float64 { return v + float64((i+j)%3)/64 }, x)
		double, single := matrix(t, s, "float64", x, y), matrix(t, s, "float32", x, y)
		for i, want := range double.RawMatrix().Data {
			if got := single.RawMatrix().Data[i]; !(math.Abs(got-want) <= 5e-6*s.diagonal) {
				t.Fatalf("element %d is %.9g, in float64 %.9g", i, got, want)
			}
		}
	}},
	{"workers change no bit", every, func(t *testing.T, s subject) {
		x, y := points(11, 200, 12), points(12, 300, 12)
		one, err := s.matrix(graphtest.Engine(t, "float64", 1), x, y)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 5} {
			many, err := s.matrix(graphtest.Engine(t, "float64", workers), x, y)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(one, many) {
				t.Errorf("%d workers do", workers)
			}
		}
	}},
	{"gradient, and TapeMachine", operations, func(t *testing.T, s subject) {
		names := []string{"x", "y"}
		in := graphtest.Inputs{"x": graphtest.Normal(graphtest.Rand(13), 5, 2),
			"y": graphtest.Normal(graphtest.Rand(14), 4, 2)}
		if s.name == "Gibbs" {
			names = append(names, "lx", "ly")
			in["lx"], in["ly"] = lengthscales(in["x"]), lengthscales(in["y"])
		}
		graphtest.Gradient(t, names, in, func(b *engine.Builder, nodes gorgonia.Nodes) *gorgonia.Node {
			return graphtest.Weigh(b, b.Apply(s.op, nodes...))
		})
	}},
}

func matrix(t *testing.T, s subject, dtype string, x, y *mat.Dense) *mat.Dense {
	t.Helper()
	k, err := s.matrix(graphtest.Engine(t, dtype, 2), x, y)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every kernel has every property, with every BLAS.
func TestKernels(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, s := range subjects {
			for _, p := range properties {
				if p.of(s) {
					t.Run(s.name+"/"+p.name, func(t *testing.T) { p.check(t, s) })
				}
			}
		}
	})
}

// The symmetric operation has a derivative of its own.
func TestGradientOfSymmetricKernels(t *testing.T) {
	for _, k := range []Kernel{EQ(1.5, 2), Laplacian(0.3, 2), Matern(1.5, 2, 3), Polynomial(0.5, 3, 1)} {
		t.Run(k.String(), func(t *testing.T) {
			in := graphtest.Inputs{"x": graphtest.Normal(graphtest.Rand(15), 5, 2)}
			graphtest.Gradient(t, []string{"x"}, in, func(b *engine.Builder, nodes gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, k.Symmetric(b, nodes[0]))
			})
		})
	}
}

// With equal lengthscales the Gibbs kernel is the EQ kernel.
func TestGibbsWithEqualLengthscalesIsEQ(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, y := points(16, 20, 2), points(17, 30, 2)
	constant := func(n int) *mat.Dense {
		l := mat.NewDense(n, 2, nil)
		l.Apply(func(int, int, float64) float64 { return 1.5 }, l)
		return l
	}
	got, err := GibbsMatrix(e, x, y, constant(20), constant(30), 2)
	if err != nil {
		t.Fatal(err)
	}
	want, err := EQ(1.5, 2).Matrix(e, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got, want, 1e-15) {
		t.Error("they differ")
	}
}

// With weights of one the weighted sum is its first function, with weights of zero the other.
func TestWeightedSumOfOneFunction(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x, y := points(16, 20, 2), points(17, 30, 2)
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	f, g := EQ(1.5, 2), EQ(9, 2)
	for _, c := range []struct {
		wx, wy []float64
		want   Kernel
	}{{ones(20), ones(30), f}, {make([]float64, 20), make([]float64, 30), g}} {
		got, err := WeightedSumMatrix(e, f, g, x, y, c.wx, c.wy)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.want.Matrix(e, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(got, want) {
			t.Errorf("it is not %v", c.want)
		}
	}
	// Points of different regimes have no covariance at all.
	got, err := WeightedSumMatrix(e, f, g, x, x, ones(20), make([]float64, 20))
	if err != nil {
		t.Fatal(err)
	}
	if mat.Norm(got, 1) != 0 {
		t.Error("different regimes have a covariance")
	}
}

func TestInvalidWeightedSums(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	half, k := []float64{0.5, 0.5}, EQ(1, 1)
	for _, c := range []struct {
		f, g   Kernel
		y      *mat.Dense
		wx, wy []float64
		want   string
	}{
		{EQ(0, 1), k, x, half, half, "lengthscale is 0"},
		{k, EQ(1, -1), x, half, half, "variance is -1"},
		{k, k, mat.NewDense(2, 3, nil), half, half, "x have 2 dimensions, those of y 3"},
		{k, k, x, half[:1], half, "wx has 1 weights for 2 points"},
		{k, k, x, half, []float64{0, 1.5}, "wy is 1.5 in row 1"},
		{k, k, x, []float64{math.NaN(), 0}, half, "wx is NaN in row 0"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := WeightedSumMatrix(e, c.f, c.g, x, c.y, c.wx, c.wy)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// scikit-learn 1: sklearn.gaussian_process.kernels.Matern and
// sklearn.metrics.pairwise between (1, 2) and (0.5, -1).
func TestAgainstScikitLearn(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x := mat.NewDense(1, 2, []float64{1, 2})
	y := mat.NewDense(1, 2, []float64{0.5, -1})
	for _, c := range []struct {
		k    Kernel
		want float64
	}{
		{EQ(1.7, 1), 0.20182666969298421},
		{RBF(0.3), 0.06234947668967343},
		{Laplacian(0.3, 1), 0.34993774911115533},
		{Matern(0.5, 1.7, 1), 0.16711922434856935},
		{Matern(1.5, 1.7, 1), 0.18488032606598365},
		{Matern(2.5, 1.7, 1), 0.18920879772525351},
		{Polynomial(0.3, 3, 0.7), 0.015625},
		{Sigmoid(0.3, 0.7), 0.24491866240370913},
	} {
		t.Run(c.k.String(), func(t *testing.T) {
			k, err := c.k.Matrix(e, x, y)
			if err != nil {
				t.Fatal(err)
			}
			if got := k.At(0, 0); math.Abs(got-c.want) > 1e-14 {
				t.Errorf("%v: %.17g, want %.17g", c.k, got, c.want)
			}
		})
	}
}

func TestInvalidInput(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	nan := mat.NewDense(2, 2, []float64{1, 2, math.NaN(), 4})
	for _, c := range []struct {
		k    Kernel
		x, y *mat.Dense
		want string
	}{
		{EQ(0, 1), x, x, "lengthscale is 0; it must be positive"},
		{EQ(-1, 1), x, x, "lengthscale is -1"},
		{EQ(1e-200, 1), x, x, "too large or too small"},
		{EQ(1, math.NaN()), x, x, "variance is NaN; it must be finite"},
		{RBF(math.Inf(1)), x, x, "gamma is +Inf"},
		{Matern(2, 1, 1), x, x, "nu is 2; it must be 0.5, 1.5 or 2.5"},
		{Polynomial(1, 0, 1), x, x, "degree is 0"},
		{Polynomial(1, 2, -1), x, x, "c0 is -1; it must be zero or positive"},
		{Kernel{}, x, x, "without a family"},
		{EQ(1, 1), nan, x, "x has NaN in row 1, column 0"},
		{EQ(1, 1), x, nan, "y has NaN in row 1, column 0"},
		{EQ(1, 1), nil, x, "x has no points"},
		{EQ(1, 1), x, &mat.Dense{}, "y has no points"},
		{EQ(1, 1), x, mat.NewDense(2, 3, nil), "x have 2 dimensions, those of y 3"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := c.k.Matrix(e, c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: got %v, want %q", c.k, err, c.want)
			}
		})
	}
	ones := mat.NewDense(2, 2, []float64{1, 1, 1, 1})
	for _, c := range []struct {
		lx, ly   *mat.Dense
		variance float64
		want     string
	}{
		{ones, ones, 0, "variance is 0"},
		{mat.NewDense(2, 1, []float64{1, 1}), ones, 1, "lx is 2×1, but x is 2×2"},
		{ones, mat.NewDense(2, 2, []float64{1, 1, 0, 1}), 1, "ly is 0 in row 1, column 0"},
		{nan, ones, 1, "lx has NaN"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := GibbsMatrix(e, x, x, c.lx, c.ly, c.variance); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Gibbs: got %v, want %q", err, c.want)
			}
		})
	}
}

// A matrix that is a window of a larger one has a stride of its own.
func TestWindowOfALargerMatrix(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	big := points(18, 6, 5)
	window := big.Slice(1, 5, 1, 4).(*mat.Dense)
	got, err := EQ(1, 1).Matrix(e, window, window)
	if err != nil {
		t.Fatal(err)
	}
	want, err := EQ(1, 1).Matrix(e, mat.DenseCopyOf(window), mat.DenseCopyOf(window))
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(got, want) {
		t.Error("they differ")
	}
}

func BenchmarkMatrix(b *testing.B) {
	x, y := points(19, 3000, 64), points(20, 3000, 64)
	for _, dtype := range []string{"float64", "float32"} {
		for _, k := range []Kernel{EQ(8, 1), Laplacian(0.01, 1)} {
			b.Run(fmt.Sprintf("%s/3000x3000x64/%s", k.family, dtype), func(b *testing.B) {
				e := graphtest.Engine(b, dtype, 0)
				b.Log(e.BLAS())
				for b.Loop() {
					if _, err := k.Matrix(e, x, y); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
