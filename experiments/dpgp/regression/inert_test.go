package regression

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	text := "x,y,z,id\n0,0.1,1,a\n1,0.9,0,b\n2,0.2,2,c\n3,-0.7,1,a\n4,0.4,0,b\n5,0.1,3,c\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := conditions()
	c.Run = func(s *Settings) (*experiment.Outcome[Metrics], error) {
		o := trialtest.Options{File: path}
		return c.Of.Compute(t.Context(), trialtest.New(t, o), s)
	}
	c.Check(t)
}

func conditions() inert.Conditions[Settings, Metrics] {
	simulated := func(s *Settings) {
		s.Low, s.High, s.InputLow, s.InputHigh, s.Inducing, s.Repeats = given(-1), given(1), givenAll(-3), givenAll(3), "3", 1
	}
	users := func(s *Settings) {
		s.Dataset, s.Delta, s.Low, s.High, s.Inducing = "csv:rows.csv", 0.01, given(-1), given(1), "3"
		s.InputLow, s.InputHigh, s.Repeats, s.Epsilon = givenAll(0), givenAll(5), 3, 20
	}
	return inert.Conditions[Settings, Metrics]{
		Of: Experiment(),
		Bases: map[string]func(*Settings){
			"simulated": simulated, "own": users,
			"simulated, no noise":     func(s *Settings) { simulated(s); s.Epsilon = math.Inf(1) },
			"own, persons":            func(s *Settings) { users(s); s.Person.Person = "id" },
			"own, features":           func(s *Settings) { users(s); whitened(s) },
			"own, inducing in a file": func(s *Settings) { users(s); s.Inducing = "csv:rows.csv" },
		},
		Others: func(s *Settings) []inert.Setting {
			return []inert.Setting{
				inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.003), inert.Values(&s.Ratio, 2),
				inert.Values(&s.Regularisation, sparse.RegularisationPrinted), inert.Values(&s.Rho, 0.2),
				inert.Held(&s.Dataset, "the bases vary it"), inert.Values(&s.Inputs, "z"),
				inert.Values(&s.Output, "z"), inert.Values(&s.Low, given(-2.5), given(-0.5)), inert.Values(&s.High, given(2.5)),
				inert.Values(&s.Inducing, "4"), inert.Values(&s.InputLow, givenAll(-2)), inert.Values(&s.InputHigh, givenAll(2)),
				inert.Values(&s.Lengthscale, method.LengthscalesOf(1.3)),
				inert.Values(&s.KernelVariance, 1.2), inert.Values(&s.Sigma, 0.3),
				inert.Values(&s.Neighbours.Neighbours, method.AddRemove),
				inert.Values(&s.Features, sparse.KernelFeatures, sparse.WhitenedFeatures),
				inert.Values(&s.Bound, givenBound(sparse.Eq4), givenBound(sparse.Eq7)),
				inert.Values(&s.Covariance, sparse.CovariancePrinted), inert.Values(&s.Jitter, 0.01),
				inert.Values(&s.Holdout, 0.4), inert.Values(&s.Repeats, 2), inert.Values(&s.SplitSource, method.CommonSplits),
				inert.Held(&s.Membership, "it records what an attack reads, and changes no metric"),
				inert.Held(&s.Canaries, "TestCanaries of package method has it"),
				inert.Values(&s.Person.Person, "id", method.NoColumn), inert.Values(&s.RowsPerPerson, 2),
				inert.Values(&s.Invalid.Invalid, method.Clamp),
			}
		},
	}
}
