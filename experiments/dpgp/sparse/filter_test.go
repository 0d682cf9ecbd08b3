package sparse

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
)

// Without noise the posterior is that of Eq. (9).
func TestFilteredWithoutNoise(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	m := whitenedModel(t, 6, 1e-6)
	rng := rand.New(rand.NewPCG(3, 3))
	sums := sparsegp.Sums{A: make([]float64, 6), B: mat.NewDense(6, 6, nil)}
	for range 80 {
		phi := m.features([]float64{rng.Float64(), rng.Float64()})
		floats.AddScaled(sums.A, rng.NormFloat64(), phi)
		sums.B.RankOne(sums.B, 1, mat.NewVecDense(6, phi), mat.NewVecDense(6, phi))
	}
	want, err := m.Infer(t.Context(), e, sums, Noise{}, Update{Rho: .5})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Infer(t.Context(), e, sums, Noise{}, Update{Rho: .5, Filtered: true})
	if err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(got.Mean, want.Mean, 1e-8) || !mat.EqualApprox(got.Cov, want.Cov, 1e-8) {
		t.Errorf("mean %v and covariance %v, without a filter %v and %v", got.Mean, mat.Formatted(got.Cov), want.Mean,
			mat.Formatted(want.Cov))
	}
}

// Over functions of the prior and noise of the mechanism the squared errors of the mean are at most those that the
// covariance states, and not much smaller; they are smaller than without a filter. Many rows determine one direction,
// some another, and none the third.
func TestFilteredErrors(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	const draws = 1500
	m := NewModel(Column([]float64{0, 100, 200}), 1, 1, 0.04, 1e-8) // of features that are kernel values
	var err error
	if m.Whitened, err = NewWhitening(m); err != nil {
		t.Fatal(err)
	}
	noise, rows := Noise{SigmaA: 6, SigmaB: 6}, []float64{300, 15, 0}
	u := Update{Rho: .5, Regularisation: RegularisationCorrected, Filtered: true}
	plain := u
	plain.Filtered = false
	rng := rand.New(rand.NewPCG(4, 4))
	var square, stated, unfiltered [3]float64
	for range draws {
		sums, w := sparsegp.Sums{A: make([]float64, 3), B: mat.NewDense(3, 3, nil)}, make([]float64, 3)
		for i, n := range rows {
			w[i] = rng.NormFloat64()
			sums.A[i] = n*w[i] + math.Sqrt(m.Noise*n)*rng.NormFloat64()
			sums.B.Set(i, i, n)
		}
		noisy := noise.NoisyCopy(sums, rng)
		p, err := m.Infer(t.Context(), e, noisy, noise, u)
		if err != nil {
			t.Fatal(err)
		}
		q, err := m.Infer(t.Context(), e, noisy, noise, plain)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range w {
			square[i] += (v - p.Mean[i]) * (v - p.Mean[i]) / draws
			stated[i] += p.Cov.At(i, i) / draws
			unfiltered[i] += (v - q.Mean[i]) * (v - q.Mean[i]) / draws
		}
	}
	for i, v := range square {
		if r := stated[i] / v; r < 0.8 || r > 3 {
			t.Errorf("direction of %g rows: the squared error is %g, stated %g", rows[i], v, stated[i])
		}
	}
	if floats.Sum(square[1:]) > 0.9*floats.Sum(unfiltered[1:]) || square[0] > 1.1*unfiltered[0] {
		t.Errorf("squared errors %v, without a filter %v", square, unfiltered)
	}
}

// A direction below the floor counts as one at the floor, and the noise in A weighs down what is near it.
func TestFilterGain(t *testing.T) {
	f := filter{noise: Noise{SigmaA: 3}, observed: 0.5, floor: 2}
	for _, c := range []struct{ b, want float64 }{
		{-7, 1 / (2 + 0.5 + 4.5)}, {0, 1 / (2 + 0.5 + 4.5)}, {2, 1 / (2 + 0.5 + 4.5)}, {3, 1 / (3 + 0.5 + 3.0)},
		{900, 1 / (900 + 0.5 + 0.01)},
	} {
		trialtest.Near(t, "gain", f.gain(c.b)/c.want, 1, 1e-12)
	}
	trialtest.Near(t, "gain without noise", filter{observed: 0.5}.gain(-1e-9), 2, 1e-12)
}
