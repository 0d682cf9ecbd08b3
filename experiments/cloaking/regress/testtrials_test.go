package regress

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// validated cross-validates with changes of the defaults.
func validated(
	t *testing.T, s trialtest.Options, changes ...func(*regressionSettings),
) *experiment.Outcome[regressionMetrics] {
	t.Helper()
	return trialtest.Compute(t, s, Regression(), changes...)
}

// noiseless takes the noise off.
func noiseless(s *regressionSettings) { s.Epsilon = math.Inf(1) }

// draws changes the number of draws.
func draws(n int) func(*regressionSettings) { return func(s *regressionSettings) { s.Draws = n } }

// by changes inputs and method.
func by(inputs cloak.Inputs, m cloak.Method) func(*regressionSettings) {
	return func(s *regressionSettings) { s.Inputs, s.Method = experiment.NameOf(inputs), m }
}

// gradientDescent changes the solver.
func gradientDescent(steps int) func(*prediction) {
	return func(s *prediction) { s.Algorithm, s.Steps = cloak.Gradient, steps }
}

// shared turns a change of the settings that all predictions have into one of a cross-validation's.
func shared(change func(*prediction)) func(*regressionSettings) {
	return func(s *regressionSettings) { change(&s.prediction) }
}

// given are inducing inputs that are not placed.
func given(values ...float64) experiment.Points { return experiment.Points{Values: values} }

// placed is a number of inducing inputs.
func placed(n int) experiment.Points { return experiment.Points{Count: n} }

// rank is a number of directions.
func rank(n int) experiment.Or[cloak.Full, int] { return experiment.NumberOr[cloak.Full](n) }

// outcome is the common part of the trials on the census.
type outcome struct {
	clipped  float64
	rank     *float64
	series   map[string]experiment.Series
	privacy  *experiment.Privacy
	warnings []string
}

// censusExperiment is one of the three that predict heights.
type censusExperiment struct {
	name    string
	series  string // with the predictions
	compute func(t *testing.T, s trialtest.Options, change func(*prediction)) outcome
}

var censusExperiments = []censusExperiment{
	{"regression", "predictions", func(t *testing.T, s trialtest.Options, change func(*prediction)) outcome {
		r := trialtest.Compute(t, s, Regression(), shared(change))
		return outcome{*r.Metrics.ClippedHeights.ClippedHeights, r.Metrics.Rank, r.Series, r.Privacy, r.Warnings}
	}},
	{"curve", "curve", func(t *testing.T, s trialtest.Options, change func(*prediction)) outcome {
		r := trialtest.Compute(t, s, Curve(), func(c *curveSettings) { change(&c.prediction) })
		return outcome{*r.Metrics.ClippedHeights.ClippedHeights, r.Metrics.Rank, r.Series, r.Privacy, r.Warnings}
	}},
	{"surface", "surface", func(t *testing.T, s trialtest.Options, change func(*prediction)) outcome {
		r := trialtest.Compute(t, s, Surface(), func(c *surfaceSettings) { change(&c.prediction) })
		return outcome{*r.Metrics.ClippedHeights.ClippedHeights, r.Metrics.Rank, r.Series, r.Privacy, r.Warnings}
	}},
}

// unchanged leaves the defaults.
func unchanged(*prediction) {}

// refusals are settings as a user writes them, which an experiment refuses.
type refusals []struct {
	given map[string]any
	want  string
}

func (r refusals) check(t *testing.T, e *experiment.Experiment) {
	t.Helper()
	for _, c := range r {
		t.Run(c.want, func(t *testing.T) {
			_, err := e.Resolve(c.given)
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// says reports whether one of the texts contains another.
func says(texts []string, what string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, what) })
}

// ownCensus are the settings that make the file of [cloaktest.OwnCensus] the problem of
// the census with public normalisation.
func ownCensus(s *regressionSettings) {
	ownFile("temp+load", "power", 60, 160)(s)
	s.Delta = 0.01
}

// smallOwn are those for the file of [cloaktest.SmallOwn].
func smallOwn(s *regressionSettings) {
	ownFile("x", "y", 0, 50)(s)
	s.Delta, s.Lengthscale = 0.01, method.LengthscalesOf(2)
}

// ownFile makes the data those of a file.
func ownFile(inputs, output string, low, high float64) func(*regressionSettings) {
	return func(s *regressionSettings) {
		s.Dataset, s.Inputs, s.Output = "csv:my.csv", inputs, output
		s.Low, s.High = experiment.NumberOr[method.None](low), experiment.NumberOr[method.None](high)
	}
}
