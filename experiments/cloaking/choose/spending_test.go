package choose

import (
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
)

// A choice spends its own budget, not that of the regression after it, from the account of all
// heights, for any rows that it is made on.
func TestSpending(t *testing.T) {
	folder := cloaktest.Census(t)
	rows := cloaktest.CensusRows(t, folder)
	for _, c := range []struct {
		name    string
		change  change
		inputs  int
		epsilon float64
	}{
		{"defaults", unchanged, 1, 1},
		{"another range", func(s *selectionSettings) { s.PublicLow, s.Sensitivity = 100, 30 }, 1, 1},
		{"other rows", func(s *selectionSettings) { s.Split = SecondHalf }, 1, 1},
		{"another budget", func(s *selectionSettings) { s.SelectionEpsilon, s.Epsilon, s.Delta = 0.25, 0.5, 1e-3 }, 1,
			0.25},
		{"two inputs", func(s *selectionSettings) { s.Inputs = cloak.AgeAndWeight }, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := cloaktest.PlanOf(t, trialtest.Options{Folder: folder}, Plan, Selection(), lengthscales(5, 25),
				func(s *selectionSettings) { s.Folds.Folds = 3 }, c.change)
			cloaktest.Spending{Epsilon: c.epsilon}.Check(t, p, rows, c.inputs)
		})
	}
}
