package classify

import (
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// twoClasses are the settings for [cloaktest.TwoClasses], with the calibration and the
// composition that a user's file has where none is given.
func twoClasses(s *classificationSettings) {
	ownFile("x", "y", 3, 7)(s)
	s.Delta, s.Lengthscale, s.Calibration = 1e-3, method.LengthscalesOf(2), mechanism.Analytic
	s.Composition = cloak.Gaussian
}

// A release spends its guarantee from the account of all rows of the file: two releases of the same
// labels share it for any derived inputs.
func TestSpending(t *testing.T) {
	rows := cloaktest.TwoClasses()
	defaults := cloaktest.Spending{Calibration: mechanism.Analytic, Steps: 1, Epsilon: 1, Delta: 1e-3}
	atPoints := defaults
	atPoints.Points = "csv:my.csv"
	for _, c := range []struct {
		name   string
		change func(*classificationSettings)
		inputs int
		want   cloaktest.Spending
	}{
		{"one step", func(*classificationSettings) {}, 1, defaults},
		{"two steps", func(s *classificationSettings) { s.Iterations = steps(2) }, 1,
			cloaktest.Spending{Calibration: mechanism.Analytic, Steps: 2, Epsilon: 1, Delta: 1e-3}},
		{"five steps", func(s *classificationSettings) { s.Iterations, s.Epsilon, s.Delta = steps(5), 3, 1e-5 }, 1,
			cloaktest.Spending{Calibration: mechanism.Analytic, Steps: 5, Epsilon: 3, Delta: 1e-5}},
		{"another calibration", func(s *classificationSettings) { s.Calibration = mechanism.Hall }, 1,
			cloaktest.Spending{Calibration: mechanism.Hall, Steps: 1, Epsilon: 1, Delta: 1e-3}},
		{"drawn rows", func(s *classificationSettings) { s.Rows = experiment.NumberOr[All](10) }, 1, defaults},
		{"other query points", func(s *classificationSettings) { s.Predict = "csv:my.csv" }, 1, atPoints},
		{"sparse", func(s *classificationSettings) { s.Inputs, s.Method, s.Inducing = "x+z", cloak.Sparse, 3 }, 2,
			defaults},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := trialtest.Options{File: rows.File(t)}
			c.want.Check(t, cloaktest.PlanOf(t, s, Plan, Classification(), twoClasses, c.change), rows, c.inputs)
		})
	}
}

// The order of a file has no part in a release: it may follow the labels.
func TestOrderShowsNothing(t *testing.T) {
	for name, change := range map[string]func(*classificationSettings){
		"standard":   func(s *classificationSettings) { s.Inputs = "x+z" },
		"drawn rows": func(s *classificationSettings) { s.Rows = experiment.NumberOr[All](10) },
		"sparse": func(s *classificationSettings) {
			s.Method, s.Inducing, s.Iterations = cloak.Sparse, 3, steps(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloaktest.WantNoOrder(t, cloaktest.TwoClasses(), func(t *testing.T, file string) *release.Plan {
				return cloaktest.PlanOf(t, trialtest.Options{File: file}, Plan, Classification(), twoClasses, change)
			})
		})
	}
}
