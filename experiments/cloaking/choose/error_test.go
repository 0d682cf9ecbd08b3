package choose

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Errors without noise and sensitivities on the formula census; numpy with a
// dense solve per fold and the formulas of the sensitivity written out.
func TestSelectionWithoutNoise(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, c := range []struct {
		lengthscale, noise, kernel      float64
		normalisation                   cloak.Normalisation
		split                           Split
		rmse, published, exact, holdout float64
	}{
		{5, 1, 25, cloak.Public, FirstHalf, 3.173818557572217, 9.304580888250207, 2.2033547529348576, 4.689131236534178},
		{5, 1, 25, cloak.AsPublished, FirstHalf, 3.0494196286811084, 9.304580888250207, 2.204786493786436,
			4.331029970019475},
		{25, 25, 1, cloak.Public, FirstHalf, 22.47415306917059, 9.011306603283083, 1.313425239141627, 19.932876497148794},
		{25, 25, 1, cloak.AsPublished, FirstHalf, 22.02590342006191, 9.011306603283083, 1.3263906456471102,
			19.54742860787478},
		{125, 1, 5, cloak.Public, FirstHalf, 18.56580556925386, 9.036515910226965, 1.997887324372876, 16.8506202892161},
		{125, 25, 125, cloak.AsPublished, FirstHalf, 18.970694322893223, 9.036515910226965, 2.0051916780091243,
			17.165160451975193},
		{5, 0.2, 5, cloak.Public, EveryOther, 4.171891145282112, 9.307297092738287, 2.2730304335793337, 3.7001897118205704},
		{5, 1, 25, cloak.Public, SecondHalf, 4.408663895700664, 9.302378845991218, 2.206593190161392, 3.8001090808801528},
	} {
		t.Run(fmt.Sprintf("%s, %s, %s", configuration{c.lengthscale, c.noise, c.kernel}.name(),
			experiment.NameOf(c.normalisation), experiment.NameOf(c.split)), func(t *testing.T) {
			settings := all(oneOf(c.lengthscale, c.noise, c.kernel), noiseless, func(s *selectionSettings) {
				s.Normalisation, s.Split = c.normalisation, c.split
			})
			r := compute(t, census, settings)
			m := r.Metrics
			trialtest.Near(t, "exact sensitivity", m.Sensitivity, c.exact, 1e-9)
			trialtest.Near(t, "best error", m.BestRMSE, c.rmse, 1e-8)
			trialtest.Near(t, "mean error", m.MeanRMSE, c.rmse, 1e-8)
			trialtest.Near(t, "expected error", m.ExpectedRMSE, c.rmse, 1e-8)
			trialtest.Near(t, "expected error on the rows held out", *m.ExpectedHoldoutRMSE, c.holdout, 1e-8)
			if m.TotalEpsilon != nil || m.Gap != nil || r.Series["configurations"]["noise_over_d2"][0] != 0 {
				t.Error("a trial without noise reports noise, or what it spends")
			}
			m = compute(t, census, settings, asPublished).Metrics
			trialtest.Near(t, "published sensitivity", m.Sensitivity, c.published, 1e-9)
		})
	}
}

// Half the epsilon is four times the noise, and nothing else.
func TestSelectionCountsTheNoise(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	column := func(epsilon float64, name string) float64 {
		out := compute(t, census, oneOf(5, 1, 1), func(s *selectionSettings) { s.Epsilon = epsilon })
		return out.Series["configurations"][name][0]
	}
	inf := math.Inf(1)
	noise := column(1, "noise_over_d2")
	trialtest.Near(t, "noise at half the epsilon", column(0.5, "noise_over_d2"), 4*noise, 1e-9*noise)
	trialtest.Near(t, "errors", column(1, "sse_over_d2"), column(inf, "sse_over_d2")+noise, 1e-7)
	square := func(epsilon float64) float64 { v := column(epsilon, "holdout_rmse_cm"); return v * v }
	added := square(1) - square(inf)
	if trialtest.Near(t, "noise on the rows held out", square(0.5)-square(inf), 4*added, 1e-6*added); added <= 0 {
		t.Errorf("noise adds %g cm² to the errors on the rows held out", added)
	}
	trialtest.Near(t, "sensitivity", column(1, "sensitivity_over_d2"), column(inf, "sensitivity_over_d2"), 1e-7)
}

// evaluated cross-validates the first model of a grid.
func evaluated(s *selector) (e evaluation, err error) {
	s.grid.distinct = s.grid.distinct[:1]
	sets := s.rowSets()
	err = s.predict(context.Background(), sets, func(_ int, p *noisyPredictions) (err error) {
		e, err = s.evaluate(sets, p)
		return err
	})
	return e, err
}

// As published, no error counts for more than 4d, which Eq. (9) needs.
func TestSelectionCutsErrorsOff(t *testing.T) {
	folder := cloaktest.Census(t)
	for _, c := range []struct {
		bound       Bound
		least, most float64
	}{{Published, 16, 16.5}, {Exact, 399.5, 400.5}} {
		t.Run(experiment.NameOf(c.bound), func(t *testing.T) {
			s := openSelector(t, folder, oneOf(1e-3, 1e6, 1), noiseless, func(s *selectionSettings) {
				s.Bound, s.Normalisation = c.bound, cloak.Public
			})
			for i := range s.data.Output { // the prior mean, which is then predicted
				s.data.Output[i] = s.data.Prior
			}
			s.data.Output[5] += 20 * s.d
			e, err := evaluated(s)
			if err != nil {
				t.Fatal(err)
			}
			if e.squares < c.least || e.squares > c.most {
				t.Errorf("an error of 20 d counts %g d²", e.squares)
			}
		})
	}
}

// The change of a sum of squared errors that one height makes, through all of a
// trial's steps, stays within the exact sensitivity, and nearly reaches it where
// the heights are the worst ones.
func TestExactSensitivityOfTheCensus(t *testing.T) {
	folder := cloaktest.Census(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, normalisation := range []cloak.Normalisation{cloak.Public, cloak.AsPublished} {
		t.Run(experiment.NameOf(normalisation), func(t *testing.T) {
			s := openSelector(t, folder, oneOf(5, 0.2, 25), noiseless, func(s *selectionSettings) {
				s.Normalisation = normalisation
			})
			low, high := s.data.Low, s.data.High
			squares := func() float64 {
				if normalisation == cloak.AsPublished {
					s.data.Prior = floats.Sum(s.data.Output) / float64(len(s.data.Output))
				}
				e, err := evaluated(s)
				if err != nil {
					t.Fatal(err)
				}
				return e.squares
			}
			e, err := evaluated(s)
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.release(context.Background(), s.grid.distinct[:1], 0, s.rowSets())
			if err != nil {
				t.Fatal(err)
			}
			corner, j, from, to := worstCase(s.residuals(all[0].matrices))
			if len(corner) < 144 {
				t.Fatalf("%d outputs", len(corner))
			}
			for i := range s.data.Output {
				if i < len(corner) { // the first half: rows and columns of A agree
					s.data.Output[i] = (low+high)/2 + corner[i]*(high-low)
				}
			}
			at := func(z float64) float64 {
				s.data.Output[j] = (low+high)/2 + z*(high-low)
				return squares()
			}
			trialtest.Near(t, "change in the worst case", math.Abs(at(to)-at(from)), e.sensitivity, 1e-9*e.sensitivity)
			for range 20 {
				for i := range s.data.Output {
					s.data.Output[i] = low + (high-low)*rng.Float64()
				}
				j = rng.IntN(len(s.data.Output))
				if change := math.Abs(at(rng.Float64()-0.5) - at(rng.Float64()-0.5)); change > e.sensitivity {
					t.Errorf("height %d changes the errors by %g d², more than %g", j, change, e.sensitivity)
				}
			}
		})
	}
}
