package fit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

func boundsOf(t *testing.T, change func(*BoundsSettings)) *BoundsMetrics {
	t.Helper()
	out, err := Bounds().Compute(t.Context(), trialtest.New(t, trialtest.Options{}), Bounds().With(change))
	if err != nil {
		t.Fatal(err)
	}
	return &out.Metrics
}

// Where sums of memberships are positive the theorems hold.
func TestBoundsHoldForTheFormula(t *testing.T) {
	m := boundsOf(t, func(s *BoundsSettings) { s.Queries = 200 })
	if m.WithoutImage != 0 {
		t.Errorf("%g of the queries have no image", m.WithoutImage)
	}
	// λ* of the machine is the fixed point in the eigenvectors of the kernel matrix, too.
	trialtest.Near(t, "R at the fixed point", m.Residual+2*m.ResidualBound, m.Lambda, 1e-11)
	for what, v := range map[string][2]float64{
		"R":                       {m.Residual, m.ResidualBound},
		"slope":                   {m.SlopeShare, 1},
		"slope, contraction":      {m.Contraction, .25}, // a quarter of the paper's bound
		"norm":                    {m.NormMax, m.NormBound},
		"norm, bounds":            {m.NormBound, m.NormBoundSimple},
		"ratio":                   {m.RatioMax, m.RatioBound},
		"ratio, bounds":           {m.RatioBound, m.RatioBoundSimple},
		"ratio of a deep machine": {m.RatioDeepMax, m.RatioMax},
		"ratio of a wide machine": {m.RatioWideMax, m.RatioWideBound},
		"error after smoothing":   {m.SmoothedError, .1},
	} {
		if !(v[0] > 0 && v[0] < v[1]) {
			t.Errorf("%s: %g, bound %g", what, v[0], v[1])
		}
	}
	if m.FixedPoints != 1 {
		t.Errorf("%g fixed points", m.FixedPoints)
	}
}

// Theorems 2 and 3 fail where the sum of memberships comes near zero, and beyond it there is
// no image.
func TestCounterexample(t *testing.T) {
	m := boundsOf(t, func(s *BoundsSettings) { s.Samples, s.Queries = Counterexample, 200 })
	if !(m.NormMax > m.NormBoundSimple && m.NormBoundSimple > m.NormBound) {
		t.Errorf("norm %g, bounds %g and %g", m.NormMax, m.NormBound, m.NormBoundSimple)
	}
	if !(m.RatioMax > m.RatioBoundSimple && m.RatioBoundSimple > m.RatioBound) {
		t.Errorf("ratio %g, bounds %g and %g", m.RatioMax, m.RatioBound, m.RatioBoundSimple)
	}
	if !(m.WithoutImage > .2 && m.WithoutImage < .5) {
		t.Errorf("%g of the queries have no image", m.WithoutImage)
	}
}

func TestSpectralNorm(t *testing.T) {
	a := mat.NewDense(3, 2, []float64{3, 0, 0, -4, 0, 0})
	if got := spectral(a); math.Abs(got-4) > 1e-14 {
		t.Errorf("%g, want 4", got)
	}
	if got := norm(differences(a, []float64{3, -4}).RawRowView(2)); got != 5 {
		t.Errorf("%g, want 5", got)
	}
}

// A setting has no effect exactly where its declaration states it.
func TestWhereSettingsOfBoundsApply(t *testing.T) {
	inert.Conditions[BoundsSettings, BoundsMetrics]{
		Of:     Bounds(),
		Common: func(s *BoundsSettings) { s.Queries, s.Smoothing = 40, 2 },
		Bases: map[string]func(*BoundsSettings){
			"formula":        func(*BoundsSettings) {},
			"counterexample": func(s *BoundsSettings) { s.Samples = Counterexample },
		},
		Others: func(s *BoundsSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.Samples, Formula, Counterexample), inert.Values(&s.Rows, 50),
				inert.Values(&s.Dim, 10), inert.Values(&s.N, 4), inert.Values(&s.Layers, 2), inert.Values(&s.Branches, 2),
				inert.Values(&s.Queries, 30), inert.Values(&s.Smoothing, 3)}
		},
		Run: func(s *BoundsSettings) (*experiment.Outcome[BoundsMetrics], error) {
			return runBounds(t.Context(), trialtest.New(t, trialtest.Options{Workers: 2}), s)
		},
	}.Check(t)
}
