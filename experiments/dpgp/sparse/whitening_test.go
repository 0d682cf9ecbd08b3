package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
)

// whitenedModel has inducing inputs (M×2) of overlapping kernels.
func whitenedModel(t *testing.T, number int, jitter float64) *Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	z := mat.NewDense(number, 2, nil)
	z.Apply(func(int, int, float64) float64 { return rng.Float64() }, z)
	m := NewModel(z, 0.6, 0.25, 1, jitter)
	var err error
	if m.Whitened, err = NewWhitening(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// The squared norm of a row's features is at most the variance of the kernel, wherever the row is, and nearly that at
// an inducing input.
func TestWhitenedNorm(t *testing.T) {
	for _, number := range []int{1, 3, 12, 40} {
		m := whitenedModel(t, number, 1e-8)
		largest, err := m.Bounded(Exact, 0)
		if err != nil || largest.NormSquared != 0.25 {
			t.Errorf("%d inducing inputs: the bound is %g: %v", number, largest.NormSquared, err)
		}
		rng, most := rand.New(rand.NewPCG(6, 6)), 0.0
		for i := range 2000 {
			x := []float64{3*rng.Float64() - 1, 3*rng.Float64() - 1}
			if i < number {
				x = slices.Clone(m.Inducing.Z.RawRowView(i))
			}
			most = max(most, floats.Norm(m.features(x), 2))
		}
		if most > m.reach() || most < 0.5*(1-1e-6) {
			t.Errorf("%d inducing inputs: the largest norm is %.17g, bounded by %.17g", number, most, m.reach())
		}
	}
}

// The rounding of features is below its bound, by a solution of which the residual is known in twice the precision.
func TestWhitenedRounding(t *testing.T) {
	m := whitenedModel(t, 25, 1e-8)
	l := m.Whitened.factor()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		k := m.Vector([]float64{rng.Float64(), rng.Float64()})
		phi := m.Whitened.Vector(slices.Clone(k))
		residual := mat.NewVecDense(len(k), nil)
		for i := range k {
			sum, rest := -k[i], 0.0
			for j := range i + 1 {
				p := l.At(i, j) * phi[j]
				rest += math.FMA(l.At(i, j), phi[j], -p)
				s := sum + p
				rest += (sum - (s - (s - sum))) + (p - (s - sum))
				sum = s
			}
			residual.SetVec(i, sum+rest)
		}
		var error mat.VecDense
		if err := error.SolveVec(l, residual); err != nil {
			t.Fatal(err)
		}
		if got := mat.Norm(&error, 2); got > m.Whitened.error {
			t.Errorf("the error %g is above its bound %g", got, m.Whitened.error)
		}
	}
}

// A jitter that does not cover the rounding of the factor is refused.
func TestWhitenedJitter(t *testing.T) {
	for _, jitter := range []float64{0, 1e-18} {
		_, err := NewWhitening(NewModel(Column([]float64{0, 1}), 1, 1, 1, jitter))
		trialtest.Refuses(t, err, "features=whitened takes")
	}
}

// Without noise the posterior is that of sums of kernel vectors, and sums of features are those that kernel vectors
// give.
func TestWhitenedPosterior(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	m := whitenedModel(t, 7, 1e-6)
	rng := rand.New(rand.NewPCG(8, 8))
	x, y, w := mat.NewDense(60, 2, nil), make([]float64, 60), make([]float64, 60)
	features := sparsegp.Sums{A: make([]float64, 7), B: mat.NewDense(7, 7, nil)}
	for i := range y {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
		y[i], w[i] = rng.NormFloat64(), 1+rng.Float64()
		phi := m.features(x.RawRowView(i))
		floats.AddScaled(features.A, w[i]*y[i], phi)
		features.B.RankOne(features.B, w[i], mat.NewVecDense(7, phi), mat.NewVecDense(7, phi))
	}
	sums, err := sparsegp.SumDouble(t.Context(), e, m.Inducing, x, y, w)
	if err != nil {
		t.Fatal(err)
	}
	whitened := m.Whitened.Sums(sums)
	if !floats.EqualApprox(whitened.A, features.A, 1e-6) || !mat.EqualApprox(whitened.B, features.B, 1e-6) {
		t.Errorf("sums of features %v, by kernel vectors %v", features, whitened)
	}
	got, err := m.Infer(t.Context(), e, whitened, Noise{}, Update{Rho: .5})
	if err != nil {
		t.Fatal(err)
	}
	plain := *m
	plain.Whitened = nil
	want, err := plain.Infer(t.Context(), e, sums, Noise{}, Update{Rho: .5})
	if err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(got.Mean, want.Mean, 1e-5) || !mat.EqualApprox(got.Cov, want.Cov, 1e-5) {
		t.Errorf("mean %v and covariance %v, of kernel vectors %v and %v", got.Mean, mat.Formatted(got.Cov), want.Mean,
			mat.Formatted(want.Cov))
	}
}

// Eigenvalues of the noisy update below the floor are raised to it, and no other is moved: one direction is determined
// by the rows, and in the other noise has made B negative.
func TestWhitenedFloor(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	m := NewModel(Column([]float64{0, 100}), 1, 1, 1, 1e-8)
	var err error
	if m.Whitened, err = NewWhitening(m); err != nil {
		t.Fatal(err)
	}
	noise := Noise{SigmaA: 1, SigmaB: 2}
	sums := sparsegp.Sums{A: []float64{300, 300}, B: mat.NewDense(2, 2, []float64{99, 0, 0, -50})}
	u := Update{Rho: .5, Regularisation: RegularisationCorrected}
	p, err := m.Infer(t.Context(), e, sums, noise, u)
	if err != nil {
		t.Fatal(err)
	}
	floor := floorShare * noise.Ridge(m, u.Rho, u.Regularisation)
	trialtest.Near(t, "mean of the direction that rows determine", p.Mean[0], 3, 1e-6)
	trialtest.Near(t, "mean of the other one", p.Mean[1], 300/floor, 1e-5)
	trialtest.Near(t, "floor", p.Ridge, floor, 0)
}

// A release sums features: up to its noise they are those of the rows.
func TestWhitenedRelease(t *testing.T) {
	m := whitenedModel(t, 5, 1e-8)
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := mat.NewDense(200, 2, nil), make([]float64, 200)
	want := sparsegp.Sums{A: make([]float64, 5), B: mat.NewDense(5, 5, nil)}
	for i := range y {
		x.SetRow(i, []float64{rng.Float64(), rng.Float64()})
		y[i] = 2*rng.Float64() - 1
		phi := m.features(x.RawRowView(i))
		floats.AddScaled(want.A, y[i], phi)
		want.B.RankOne(want.B, 1, mat.NewVecDense(5, phi), mat.NewVecDense(5, phi))
	}
	s, err := NewExactSums(m, 200, 1, 50, 1e-6, JointSensitivity(1, 1, 0.25), 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Noisy(x, y, 2, release.Unbooked(rand.NewChaCha8([32]byte{1})))
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Scales()
	if !floats.EqualApprox(got.A, want.A, 6*a) || !mat.EqualApprox(got.B, want.B, 6*b) {
		t.Errorf("sums %v and %v, of the rows %v and %v; noise %g and %g", got.A, mat.Formatted(got.B), want.A,
			mat.Formatted(want.B), a, b)
	}
}
