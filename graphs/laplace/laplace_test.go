package laplace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

var ctx = context.Background()

// line returns the inputs 0, 1, …, n−1.
func line(n int) *mat.Dense {
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, float64(i))
	}
	return x
}

func covariance(t testing.TB, e *engine.Engine, x, y *mat.Dense, lengthscale float64) *mat.Dense {
	t.Helper()
	k, err := kernel.EQ(lengthscale, 1).Matrix(e, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func full(t testing.TB, e *engine.Engine, k *mat.Dense) *Model {
	t.Helper()
	m, err := Full(e, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func lowRank(t testing.TB, e *engine.Engine, v *mat.Dense) *Model {
	t.Helper()
	m, err := LowRank(e, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func step(t testing.TB, m *Model, f []float64, labels *mat.Dense) *Step {
	t.Helper()
	s, err := m.Step(ctx, f, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// matrix returns C from its spectrum.
func matrix(t testing.TB, m *Model, f []float64) *mat.Dense {
	t.Helper()
	values, vectors, err := m.Spectrum(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	var scaled, c mat.Dense
	scaled.Mul(mat.NewDiagDense(len(values), values), vectors)
	c.Mul(vectors.T(), &scaled)
	return &c
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-13*math.Abs(want)) {
		t.Errorf("%s is %.16g, want %.16g", what, got, want)
	}
}

// Values of an independent implementation in NumPy: x = 0, …, 9, lengthscale 2,
// variance 1, f = 0.
func TestCheckValues(t *testing.T) {
	labels := mat.NewDense(10, 1, []float64{1, 1, -1, 1, 1, -1, -1, 1, -1, -1})
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 1)
		m := full(t, e, covariance(t, e, line(10), line(10), 2))
		f := make([]float64, 10)
		near(t, "‖C‖_F", mat.Norm(matrix(t, m, f), 2), 1.5038532786218575)

		s := step(t, m, f, labels)
		near(t, "f(0) after one step", s.Latent.At(0, 0), 0.5127790997769912)
		cross := covariance(t, e, line(10), mat.NewDense(1, 1, []float64{3.2}), 2)
		near(t, "the mean at 3.2", mat.Dot(cross.ColView(0), s.Dual.ColView(0)), 0.2603572842241785)

		for range 20 {
			s = step(t, m, mat.Col(nil, 0, s.Latent), labels)
		}
		near(t, "f(0) at the mode", s.Latent.At(0, 0), 0.5165556061294527)
	})
}

// problem is a model with latent values and labels of two draws, one of them
// with noise.
type problem struct {
	k, v   *mat.Dense
	f      []float64
	labels *mat.Dense
}

func newProblem(seed uint64) problem {
	rng := graphtest.Rand(seed)
	const n, m = 12, 4
	p := problem{k: graphtest.Definite(rng, n), v: graphtest.Normal(rng, n, m), f: make([]float64, n),
		labels: graphtest.Normal(rng, n, 2)}
	for i := range n {
		p.f[i] = rng.NormFloat64()
		p.labels.Set(i, 0, math.Copysign(1, rng.NormFloat64()))
	}
	return p
}

// dense computes the step, C and the posterior covariance (K⁻¹ + W)⁻¹ by
// explicit inverses.
func (p problem) dense(t *testing.T, k *mat.Dense) (latent, c *mat.Dense) {
	t.Helper()
	n := len(p.f)
	// (K⁻¹ + W)⁻¹ = K (I + WK)⁻¹, also where K is singular.
	a, b := mat.NewDense(n, n, nil), mat.NewDense(n, 2, nil)
	for i, f := range p.f {
		pi := 1 / (1 + math.Exp(-f))
		w := pi * (1 - pi)
		for j := range n {
			a.Set(i, j, w*k.At(i, j))
		}
		a.Set(i, i, a.At(i, i)+1)
		for j := range 2 {
			b.Set(i, j, w*f+(p.labels.At(i, j)+1)/2-pi)
		}
	}
	var inverse, s, l mat.Dense
	if err := inverse.Inverse(a); err != nil {
		t.Fatal(err)
	}
	s.Mul(k, &inverse)
	l.Mul(&s, b)
	s.Scale(.5, &s)
	return &l, &s
}

func TestAgainstInverses(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, c := range []struct {
			dtype     string
			tolerance float64
		}{{"float64", 1e-12}, {"float32", 1e-4}} {
			t.Run(c.dtype, func(t *testing.T) {
				e := graphtest.Engine(t, c.dtype, 1)
				p := newProblem(3)
				var vv mat.Dense
				vv.Mul(p.v, p.v.T())
				for name, m := range map[string]struct {
					model *Model
					k     *mat.Dense
				}{"full": {full(t, e, p.k), p.k}, "low rank": {lowRank(t, e, p.v), &vv}} {
					wantLatent, wantC := p.dense(t, m.k)
					s := step(t, m.model, p.f, p.labels)
					if !mat.EqualApprox(s.Latent, wantLatent, c.tolerance*100) {
						t.Errorf("%s, %s: wrong step", c.dtype, name)
					}
					if got := matrix(t, m.model, p.f); !mat.EqualApprox(got, wantC, c.tolerance*100) {
						t.Errorf("%s, %s: wrong C", c.dtype, name)
					}
				}
			})
		}
	})
}

// Eigenvalues descend, and eigenvectors are orthonormal rows.
func TestSpectrum(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(9)
	for rows, m := range map[int]*Model{12: full(t, e, p.k), 4: lowRank(t, e, p.v)} {
		t.Run(fmt.Sprint(rows, " eigenvalues"), func(t *testing.T) {
			values, vectors, err := m.Spectrum(ctx, p.f)
			if err != nil {
				t.Fatal(err)
			}
			var gram mat.Dense
			gram.Mul(vectors, vectors.T())
			identity := mat.NewDiagDense(rows, nil)
			for i := range rows {
				identity.SetDiag(i, 1)
				if i > 0 && values[i] > values[i-1] {
					t.Errorf("eigenvalues %v do not descend", values)
				}
			}
			if !mat.EqualApprox(&gram, identity, 1e-12) {
				t.Errorf("the %d eigenvectors are not orthonormal", rows)
			}
		})
	}
}

// Labels at equal inputs can be summed: f and C between the inputs are the same.
func TestCounts(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	of := []int{0, 1, 0, 2, 2, 2} // which input a label belongs to
	labels, f := []float64{1, -1, 1, -1, 1, 1}, []float64{.3, -.2, 1}
	counts, sums := make([]float64, 3), mat.NewDense(3, 1, nil)
	x, fs, y := mat.NewDense(6, 1, nil), make([]float64, 6), mat.NewDense(6, 1, labels)
	for i, u := range of {
		x.Set(i, 0, float64(u))
		fs[i] = f[u]
		counts[u]++
		sums.Set(u, 0, sums.At(u, 0)+labels[i])
	}
	each := full(t, e, covariance(t, e, x, x, 2))
	k := covariance(t, e, line(3), line(3), 2)
	together, err := Full(e, k, counts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := step(t, each, fs, y), step(t, together, f, sums)
	ca, cb := matrix(t, each, fs), matrix(t, together, f)
	va, err := each.Variance(ctx, fs, covariance(t, e, x, line(5), 2))
	if err != nil {
		t.Fatal(err)
	}
	vb, err := together.Variance(ctx, f, covariance(t, e, line(3), line(5), 2))
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range of {
		if math.Abs(a.Latent.At(i, 0)-b.Latent.At(u, 0)) > 1e-13 || math.Abs(va[u]-vb[u]) > 1e-13 {
			t.Errorf("label %d: f is %g and %g, variances %g and %g", i, a.Latent.At(i, 0), b.Latent.At(u, 0), va[u], vb[u])
		}
		for j, v := range of {
			if math.Abs(ca.At(i, j)-cb.At(u, v)) > 1e-13 {
				t.Errorf("C(%d, %d) is %g and %g", i, j, ca.At(i, j), cb.At(u, v))
			}
		}
	}
}

// The dual coefficients predict the training inputs themselves.
func TestDualPredictsTrainingInputs(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(4)
	for name, m := range map[string]*Model{"full": full(t, e, p.k), "low rank": lowRank(t, e, p.v)} {
		t.Run(name, func(t *testing.T) {
			s := step(t, m, p.f, p.labels)
			var mean mat.Dense
			if name == "full" {
				mean.Mul(p.k, s.Dual)
			} else {
				mean.Mul(p.v, s.Dual)
			}
			if !mat.EqualApprox(&mean, s.Latent, 1e-12) {
				t.Errorf("%s: wrong predictions at the training inputs", name)
			}
		})
	}
}

// A change of one label changes the step by its column of C, the property that cloaking uses.
func TestMatrixIsTheSensitivityOfTheStep(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(5)
	m := full(t, e, p.k)
	c, before := matrix(t, m, p.f), step(t, m, p.f, p.labels)
	for j := range p.f {
		changed := mat.DenseCopyOf(p.labels)
		changed.Set(j, 0, -p.labels.At(j, 0)) // by 2 or −2
		after := step(t, m, p.f, changed)
		for i := range p.f {
			want := c.At(i, j) * -2 * p.labels.At(j, 0)
			if got := after.Latent.At(i, 0) - before.Latent.At(i, 0); math.Abs(got-want) > 1e-12 {
				t.Errorf("label %d moves f(%d) by %g, want %g", j, i, got, want)
			}
		}
	}
}

// At the mode the log posterior's gradient, (y + 1)/2 − π − K⁻¹f, is zero.
func TestModeIsStationary(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(6)
	m := full(t, e, p.k)
	labels := mat.DenseCopyOf(p.labels.Slice(0, len(p.f), 0, 1))
	s := step(t, m, p.f, labels)
	for range 20 {
		s = step(t, m, mat.Col(nil, 0, s.Latent), labels)
	}
	for i := range p.f {
		pi := 1 / (1 + math.Exp(-s.Latent.At(i, 0)))
		if g := (labels.At(i, 0)+1)/2 - pi - s.Dual.At(i, 0); math.Abs(g) > 1e-12 {
			t.Errorf("gradient %g at training input %d", g, i)
		}
	}
}

// With V a Cholesky factor of K, both forms are one model.
func TestLowRankOfFullRankIsFull(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(7)
	phi, err := Features(ctx, e, p.k, p.k) // L⁻¹K = Lᵀ
	if err != nil {
		t.Fatal(err)
	}
	a, b := full(t, e, p.k), lowRank(t, e, mat.DenseCopyOf(phi.T()))
	if !mat.EqualApprox(matrix(t, a, p.f), matrix(t, b, p.f), 1e-11) {
		t.Error("the cloaking matrices differ")
	}
	reduction, err := a.Variance(ctx, p.f, p.k)
	if err != nil {
		t.Fatal(err)
	}
	variance, err := b.Variance(ctx, p.f, phi)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reduction {
		// Both are the posterior variance at a training input, 2·C_ii.
		if want := 2 * matrix(t, a, p.f).At(i, i); math.Abs(p.k.At(i, i)-reduction[i]-want) > 1e-11 ||
			math.Abs(variance[i]-want) > 1e-11 {
			t.Errorf("variance at training input %d is %g and %g, want %g", i, p.k.At(i, i)-reduction[i], variance[i], want)
		}
	}
}

// Variances at several latent functions in one run are those of each alone: bit for bit on the
// CPU, and up to rounding on a device, whose kernels differ for one matrix and a batch. The
// number in one run depends on the size of the problem.
func TestVariancesInABatch(t *testing.T) {
	for dtype, unit := range map[string]float64{"float64": 1e-14, "float32": 1e-6} {
		e := graphtest.Engine(t, dtype, 2)
		if e.Backend() == "cpu" {
			unit = 0
		}
		p := newProblem(4)
		fs := [][]float64{p.f, mat.Col(nil, 1, p.labels), make([]float64, len(p.f))}
		for name, c := range map[string]struct {
			model *Model
			cross *mat.Dense
		}{"full": {full(t, e, p.k), p.k}, "low rank": {lowRank(t, e, p.v), mat.DenseCopyOf(p.v.T())}} {
			_, points := c.cross.Dims()
			kept, err := e.Keep(e.Matrix(c.cross))
			if err != nil {
				t.Fatal(err)
			}
			got := make([][]float64, len(fs))
			if err := c.model.variances(ctx, fs, kept, points, got); err != nil {
				t.Fatal(err)
			}
			kept.Close()
			for i, f := range fs {
				if want, err := c.model.Variance(ctx, f, c.cross); err != nil ||
					!floats.EqualFunc(got[i], want, func(a, b float64) bool { return math.Abs(a-b) <= unit*math.Abs(b) }) {
					t.Errorf("%s, %s: function %d has %v, alone %v; %v", dtype, name, i, got[i], want, err)
				}
			}
		}
	}
}

// K = 9/4, f = 0 (W = 1/4): the posterior variance is (4/9 + 1/4)⁻¹ = 36/25.
func TestVarianceOfOnePoint(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	m := full(t, e, mat.NewDense(1, 1, []float64{2.25}))
	reduction, err := m.Variance(ctx, []float64{0}, mat.NewDense(1, 1, []float64{2.25}))
	if err != nil || math.Abs(2.25-reduction[0]-1.44) > 1e-15 {
		t.Errorf("variance 2.25 − %v, want 1.44; %v", reduction, err)
	}
}

func TestBadInput(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	p := newProblem(8)
	m := full(t, e, p.k)
	nan := mat.DenseCopyOf(p.k)
	nan.Set(2, 1, math.NaN())
	for want, call := range map[string]func() error{
		"the covariance is empty":                   func() error { _, err := Full(e, new(mat.Dense), nil); return err },
		"the covariance is 12×4, not square":        func() error { _, err := Full(e, p.v, nil); return err },
		"the covariance has NaN in row 2, column 1": func() error { _, err := Full(e, nan, nil); return err },
		"has 3 values for 12 training inputs":       func() error { _, _, err := m.Spectrum(ctx, p.f[:3]); return err },
		"the latent function is +Inf at training input 0": func() error {
			_, _, err := m.Spectrum(ctx, []float64{math.Inf(1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
			return err
		},
		"labels are 4×12 for 12 training inputs": func() error {
			_, err := m.Step(ctx, p.f, mat.DenseCopyOf(p.v.T()))
			return err
		},
		"no labels": func() error { _, err := m.Step(ctx, p.f, nil); return err },
		"test inputs is 4×12; 12 rows are expected": func() error {
			_, err := m.Variance(ctx, p.f, mat.DenseCopyOf(p.v.T()))
			return err
		},
		"inducing inputs is 12×12, theirs with others 4×12": func() error {
			_, err := Features(ctx, e, p.k, mat.DenseCopyOf(p.v.T()))
			return err
		},
		"2 counts for 12 training inputs": func() error {
			_, err := Full(e, p.k, []float64{1, 2})
			return err
		},
		"training input 1 (counted from 0) has 0 labels": func() error {
			_, err := LowRank(e, line(2), []float64{1, 0})
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	singular := mat.NewDense(2, 2, []float64{1, 1, 1, 1})
	var notPD *op.NotPositiveDefiniteError
	if _, err := Features(ctx, e, singular, singular); !errors.As(err, &notPD) {
		t.Errorf("equal inducing inputs: %v", err)
	}
}

// Inducing inputs close to one another give a result and a warning.
func TestConditionWarning(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	k := covariance(t, e, line(8), line(8), 7)
	if _, err := Features(ctx, e, k, k); err != nil {
		t.Fatal(err)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "computed but suspect") {
		t.Errorf("warnings %q", w)
	}
}

// The cloaking matrix's spectrum and a step for 25 draws, full and with 30 features.
func BenchmarkLaplace(b *testing.B) {
	e := graphtest.Engine(b, "float64", 1)
	k := covariance(b, e, line(256), line(256), 9)
	z := mat.NewDense(30, 1, nil)
	for i := range 30 {
		z.Set(i, 0, 8.5*float64(i))
	}
	phi, err := Features(ctx, e, covariance(b, e, z, z, 9), covariance(b, e, z, line(256), 9))
	if err != nil {
		b.Fatal(err)
	}
	labels, f := graphtest.Normal(graphtest.Rand(1), 256, 25), make([]float64, 256)
	for name, m := range map[string]*Model{"full": full(b, e, k), "low rank": lowRank(b, e, mat.DenseCopyOf(phi.T()))} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := m.Spectrum(ctx, f); err != nil {
					b.Fatal(err)
				}
				step(b, m, f, labels)
			}
		})
	}
}
