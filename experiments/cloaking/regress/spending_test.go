package regress

import (
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// values are the settings for [cloaktest.Values], with the calibration that a user's
// file has where none is given.
func values(s *regressionSettings) {
	ownFile("x", "y", 0, 50)(s)
	s.Delta, s.Lengthscale, s.Calibration = 1e-3, method.LengthscalesOf(2), mechanism.Analytic
}

// A release spends its guarantee from the account of all rows of the file: two releases of the same
// outputs share it for any derived inputs.
func TestSpending(t *testing.T) {
	folder := cloaktest.Census(t)
	census, rows, clipped := cloaktest.CensusRows(t, folder), cloaktest.Values(), cloaktest.Values()
	beyond := slices.IndexFunc(clipped, func(r [3]float64) bool { return r[2] > 50 })
	clipped[beyond][2] *= 2 // clipped to the same output
	if rows.Account(1) == clipped.Account(1) {
		t.Error("another output has the same account")
	}
	defaults := cloaktest.Spending{Calibration: mechanism.Analytic, Steps: 1, Epsilon: 1, Delta: 1e-3}
	atPoints := defaults
	atPoints.Points = "csv:my.csv"
	onCensus := cloaktest.Spending{Calibration: mechanism.Hall, Steps: 1, Epsilon: 1, Delta: 0.01}
	same := func(*regressionSettings) {}
	for _, c := range []struct {
		name   string
		rows   cloaktest.Rows
		base   func(*regressionSettings)
		change func(*regressionSettings)
		inputs int
		want   cloaktest.Spending
	}{
		{"defaults", rows, values, same, 1, defaults},
		{"another range", rows, values, ownFile("x", "y", 20, 21), 1, defaults},
		{"another clipped output", clipped, values, same, 1, defaults},
		{"other points", rows, values, predicting("csv:my.csv"), 1, atPoints},
		{"another kernel", rows, values, func(s *regressionSettings) {
			s.Lengthscale, s.Rank = method.LengthscalesOf(1), rank(3)
		}, 1, defaults},
		{"another method", rows, values, func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, placed(3) }, 1,
			defaults},
		{"two inputs", rows, values, func(s *regressionSettings) { s.Inputs = "x+z" }, 2, defaults},
		{"another budget", rows, values, func(s *regressionSettings) { s.Epsilon, s.Delta = 0.5, 1e-7 }, 1,
			cloaktest.Spending{Calibration: mechanism.Analytic, Steps: 1, Epsilon: 0.5, Delta: 1e-7}},
		{"another calibration", rows, values, func(s *regressionSettings) { s.Calibration = mechanism.Hall }, 1,
			cloaktest.Spending{Calibration: mechanism.Hall, Steps: 1, Epsilon: 1, Delta: 1e-3}},
		{"census", census, public, same, 1, onCensus},
		{"census, another range", census, public, func(s *regressionSettings) { s.PublicLow, s.Sensitivity = 100, 30 }, 1,
			onCensus},
		{"census, two inputs", census, public, func(s *regressionSettings) {
			by(cloak.AgeAndWeight, cloak.Standard)(s)
			s.Lengthscale, s.Rank = method.LengthscalesOf(60), rank(9)
		}, 2, onCensus},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := trialtest.Options{Folder: folder, File: c.rows.File(t)}
			c.want.Check(t, cloaktest.PlanOf(t, s, Plan, Regression(), c.base, c.change), c.rows, c.inputs)
		})
	}
}

// A release discloses the inputs: as they are where it predicts at them, and elsewhere by its deviations.
func TestPublishedInputs(t *testing.T) {
	file, other := cloaktest.Values().File(t), cloaktest.Values().File(t)
	paths := map[string]string{"csv:my.csv": file, "csv:other.csv": other}
	for _, predict := range []string{cloak.AtTraining, "csv:my.csv", "csv:other.csv"} {
		o := trialtest.Options{Dataset: func(name string) string { return paths[name] }}
		p := cloaktest.PlanOf(t, o, Plan, Regression(), values, predicting(predict))
		if !slices.Equal(p.Spending.Publishes, []string{experiment.UnitInputs}) {
			t.Errorf("predict=%s publishes %q", predict, p.Spending.Publishes)
		}
	}
}

// The order of a file has no part in a release: it may follow the outputs.
func TestOrderShowsNothing(t *testing.T) {
	for name, change := range map[string]func(*regressionSettings){
		"standard":      func(s *regressionSettings) { s.Inputs = "x+z" },
		"sparse":        func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, placed(3) },
		"nonstationary": func(s *regressionSettings) { s.Method = cloak.Nonstationary },
		"weighted sum":  func(s *regressionSettings) { s.Method = cloak.WeightedSum },
	} {
		t.Run(name, func(t *testing.T) {
			cloaktest.WantNoOrder(t, cloaktest.Values(), func(t *testing.T, file string) *release.Plan {
				return cloaktest.PlanOf(t, trialtest.Options{File: file}, Plan, Regression(), values, change)
			})
		})
	}
}
