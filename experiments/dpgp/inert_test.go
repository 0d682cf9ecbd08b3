package dpgp

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Other values of the settings that experiments share.
func otherBudgets(s *sparse.Budget) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.003)}
}

func (s *inducingInputs) others() []inert.Setting {
	return []inert.Setting{
		inert.Values(&s.Inducing, experiment.Points{Count: 4}, experiment.Points{Values: []float64{-2, 0.5, 2}}),
		inert.Values(&s.Low, -2.5, -0.5), inert.Values(&s.High, 2.5),
	}
}

func (s *severalKernel) others() []inert.Setting {
	return []inert.Setting{inert.Values(&s.Lengthscale, experiment.Several{1.3}), inert.Values(&s.KernelVariance, 1.2)}
}

// others are for [ownFile].
func (o *ownColumns) others() []inert.Setting {
	return []inert.Setting{
		inert.Held(&o.Dataset, "the bases vary it"), inert.Values(&o.Inputs, "z"), inert.Values(&o.Output, "v"),
		inert.Values(&o.InputLow, experiment.SeveralOf[method.None](-2)),
		inert.Values(&o.InputHigh, experiment.SeveralOf[method.None](7)),
		inert.Values(&o.InducingFile, "csv:rows.csv", withoutFile), inert.Values(&o.Holdout, 0.4),
	}
}

// ownFile is a user's file with two inputs, x and z, labels or numbers y and v, and texts.
func ownFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,z,y,v,kind\n")
	for i := range 40 {
		x, z := 0.13*float64(i), float64(7*i%11)/2
		fmt.Fprintf(&b, "%g,%g,%d,%d,%s\n", x, z, (i/5+i*i%3)%2, i/10%2, []string{"low", "middle", "high"}[i/14])
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s *eqKernel) others() []inert.Setting {
	return []inert.Setting{inert.Values(&s.Lengthscale, 1.3), inert.Values(&s.KernelVariance, 1.2)}
}

func otherRatios(s *sparse.NoiseRatio) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Ratio, 2)}
}

func (s *outputBound) others() []inert.Setting {
	return []inert.Setting{inert.Values(&s.OutputBound, 0.8)}
}

func (s *spacing) others() []inert.Setting {
	return []inert.Setting{inert.Values(&s.Spacing, experiment.NumberOr[auto](0.5))}
}

func (s *rowBound) others() []inert.Setting {
	return append(s.spacing.others(), inert.Values(&s.Bound, sparse.Eq4, sparse.Eq7))
}

func otherLambdas(s *sparse.Lambda) []inert.Setting {
	return []inert.Setting{
		inert.Values(&s.Regularisation, sparse.RegularisationCorrected, sparse.RegularisationPrinted),
		inert.Values(&s.Rho, 0.2),
	}
}

func (s *updateSettings) others() []inert.Setting {
	return append(otherLambdas(&s.Lambda), inert.Values(&s.Jitter, 0.01, 0.5),
		inert.Values(&s.Covariance, sparse.CovariancePrinted, sparse.CovarianceCorrected))
}

func (f fit) others() []inert.Setting {
	out := append(otherBudgets(f.Budget), f.inducingInputs.others()...)
	out = append(append(out, f.eqKernel.others()...), f.outputBound.others()...)
	out = append(append(out, otherRatios(&f.NoiseRatio)...), f.rowBound.others()...)
	return append(append(out, f.updateSettings.others()...), inert.Values(&f.Sigma, 0.2), inert.Values(&f.Strict, true))
}

// seven are inducing inputs that are not on a grid by count.
func seven() experiment.Points { return experiment.Points{Values: []float64{-3, -2, -1, 0, 1, 2, 3}} }

// checkConditions holds the conditions of an experiment against its trials.
func checkConditions[S, M any](t *testing.T, c inert.Conditions[S, M], file ...string) {
	t.Helper()
	o := trialtest.Options{}
	if len(file) > 0 {
		o.File = file[0]
	}
	c.Run = func(s *S) (*experiment.Outcome[M], error) {
		return c.Of.Compute(t.Context(), trialtest.New(t, o), s)
	}
	t.Run(c.Of.Name, c.Check)
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	inf := math.Inf(1)
	checkConditions(t, inert.Conditions[mechanismSettings, mechanismMetrics]{
		Of: gaussianMechanism(), Bases: map[string]func(*mechanismSettings){"defaults": func(*mechanismSettings) {}},
		Others: func(s *mechanismSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.Epsilon, 2), inert.Values(&s.Delta, 0.003)}
		},
	})
	checkConditions(t, inert.Conditions[sensitivitySettings, sensitivityMetrics]{
		Of: sensitivities(),
		Bases: map[string]func(*sensitivitySettings){
			"a grid": func(*sensitivitySettings) {}, "a list": func(s *sensitivitySettings) { s.Inducing = seven() },
		},
		Others: func(s *sensitivitySettings) []inert.Setting {
			out := append(s.inducingInputs.others(), s.eqKernel.others()...)
			return append(append(append(out, s.outputBound.others()...), otherRatios(&s.NoiseRatio)...), s.spacing.others()...)
		},
	})
	// Outputs beyond r_y are there, so that strict does something.
	checkConditions(t, inert.Conditions[inferenceSettings, inferenceMetrics]{
		Of:     inference(),
		Common: func(s *inferenceSettings) { s.N, s.Inducing.Count, s.OutputBound = 40, 3, 0.7 },
		Bases: map[string]func(*inferenceSettings){
			"noise": func(*inferenceSettings) {}, "no noise": func(s *inferenceSettings) { s.Epsilon = inf },
			"Eq. (4)": func(s *inferenceSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *inferenceSettings) { s.Inducing = seven() },
		},
		Others: func(s *inferenceSettings) []inert.Setting {
			return append(s.fit().others(), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2))
		},
	})
	checkConditions(t, inert.Conditions[calibrationSettings, calibrationMetrics]{
		Of: calibration(),
		Common: func(s *calibrationSettings) {
			s.N, s.Inducing.Count, s.OutputBound, s.Repeats, s.Jitter, s.Epsilon = 300, 5, 0.7, 8, 1e-6, 5
		},
		Bases: map[string]func(*calibrationSettings){
			"noise": func(*calibrationSettings) {}, "no noise": func(s *calibrationSettings) { s.Epsilon = inf },
			"Eq. (4)": func(s *calibrationSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *calibrationSettings) { s.Inducing = seven() },
		},
		Others: func(s *calibrationSettings) []inert.Setting {
			return append(s.fit().others(), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2),
				inert.Values(&s.Cover, coverFunction))
		},
	})
	checkConditions(t, heteroscedasticConditions())
	checkConditions(t, regularisationConditions())
	checkConditions(t, classificationConditions(), ownFile(t))
	checkConditions(t, hyperparameterConditions(), ownFile(t))
}

func heteroscedasticConditions() inert.Conditions[heteroscedasticSettings, heteroscedasticMetrics] {
	return inert.Conditions[heteroscedasticSettings, heteroscedasticMetrics]{
		Of:     heteroscedastic(),
		Common: func(s *heteroscedasticSettings) { s.VarianceHigh = 0.5 },
		Bases: map[string]func(*heteroscedasticSettings){
			"a grid": func(*heteroscedasticSettings) {}, "Eq. (4)": func(s *heteroscedasticSettings) { s.Bound = sparse.Eq4 },
			"a list": func(s *heteroscedasticSettings) { s.Inducing = seven() },
		},
		Others: func(s *heteroscedasticSettings) []inert.Setting {
			out := append(s.inducingInputs.others(), s.eqKernel.others()...)
			out = append(append(out, s.outputBound.others()...), otherRatios(&s.NoiseRatio)...)
			return append(append(out, s.rowBound.others()...), inert.Values(&s.VarianceLow, 0.2),
				inert.Values(&s.VarianceHigh, 0.7))
		},
	}
}

func regularisationConditions() inert.Conditions[regularisationSettings, regularisationMetrics] {
	return inert.Conditions[regularisationSettings, regularisationMetrics]{
		Of: regularisation(),
		Common: func(s *regularisationSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Epsilon, s.Sigma = 20, 5, 60, 30, 0.5
		},
		Bases: map[string]func(*regularisationSettings){
			"a grid": func(*regularisationSettings) {}, "Eq. (4)": func(s *regularisationSettings) { s.Bound = sparse.Eq4 },
			"a list": func(s *regularisationSettings) { s.Inducing = seven() },
		},
		Others: func(s *regularisationSettings) []inert.Setting {
			out := append(s.inducingInputs.others(), s.eqKernel.others()...)
			out = append(append(out, s.outputBound.others()...), otherRatios(&s.NoiseRatio)...)
			return append(append(out, s.rowBound.others()...), inert.Values(&s.Epsilon, 2), inert.Values(&s.Delta, 0.003),
				inert.Values(&s.N, 50), inert.Values(&s.Sigma, 5), inert.Values(&s.Rho, 0.2), inert.Values(&s.Jitter, 5),
				inert.Values(&s.Repeats, 20))
		},
	}
}

// ownClasses are the settings of a trial on [ownFile].
func ownClasses(s *ClassificationSettings) {
	s.Dataset, s.Delta, s.Epsilon, s.Repeats, s.Jitter = "csv:rows.csv", 0.01, 4, 30, 1e-4
	s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](5)
	s.Regularisation = sparse.RegularisationCorrected
}

func classificationConditions() inert.Conditions[ClassificationSettings, classificationMetrics] {
	return inert.Conditions[ClassificationSettings, classificationMetrics]{
		Of: classification(),
		Common: func(s *ClassificationSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Epsilon = 60, 4, 1, 5
		},
		Bases: map[string]func(*ClassificationSettings){
			"noise": func(*ClassificationSettings) {}, "no noise": func(s *ClassificationSettings) { s.Epsilon = math.Inf(1) },
			"Eq. (4)": func(s *ClassificationSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *ClassificationSettings) { s.Inducing = seven() },
			"own":     ownClasses,
			"own, inducing inputs in a file": func(s *ClassificationSettings) {
				ownClasses(s)
				s.InducingFile = "csv:rows.csv"
			},
		},
		Others: func(s *ClassificationSettings) []inert.Setting {
			out := append(otherBudgets(&s.Budget), s.inducingInputs.others()...)
			out = append(append(out, s.severalKernel.others()...), otherRatios(&s.NoiseRatio)...)
			out = append(append(out, s.rowBound.others()...), s.updateSettings.others()...)
			out = append(out, s.ownColumns.others()...)
			return append(out, inert.Values(&s.Composition, equalShares), inert.Values(&s.Centre, leastCentre),
				inert.Values(&s.Alpha, 0.1), inert.Values(&s.Classes, 4), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2))
		},
	}
}

// ownChoices are the settings of a choice from [ownFile].
func ownChoices(s *searchSettings) {
	end := endAt
	s.Dataset, s.Output, s.Epsilon, s.Repeats, s.Inducing.Count = "csv:rows.csv", "y", 5, 6, 3
	s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](5)
	s.OutputLow, s.OutputHigh, s.Blocks, s.Jitter = end(0), end(1), 4, 1e-4
}

func hyperparameterConditions() inert.Conditions[searchSettings, hyperparameterMetrics] {
	return inert.Conditions[searchSettings, hyperparameterMetrics]{
		Of: hyperparameters(),
		Common: func(s *searchSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Gamma, s.Epsilon, s.Delta = 200, 7, 3, 0.2, 5000, 0.01
			s.Sigmas, s.Lengthscales = []float64{0.1, 0.3}, []float64{1, 2}
		},
		Bases: map[string]func(*searchSettings){
			"noise": func(*searchSettings) {}, "no noise": func(s *searchSettings) { s.Epsilon = math.Inf(1) },
			"Eq. (4)": func(s *searchSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *searchSettings) { s.Inducing = seven() },
			"own":     ownChoices,
			"own, inducing inputs in a file": func(s *searchSettings) {
				ownChoices(s)
				s.InducingFile = "csv:rows.csv"
			},
		},
		Others: func(s *searchSettings) []inert.Setting {
			out := append(otherBudgets(&s.Budget), s.inducingInputs.others()...)
			out = append(append(out, s.outputBound.others()...), otherRatios(&s.NoiseRatio)...)
			out = append(append(out, s.rowBound.others()...), s.updateSettings.others()...)
			out = append(out, s.ownColumns.others()...)
			end := endAt
			out = append(out, inert.Values(&s.OutputLow, end(-0.5)), inert.Values(&s.OutputHigh, end(2)),
				inert.Values(&s.Blocks, 3), inert.Values(&s.ScoreRange, 0.01, 0.1, 30))
			return append(out, inert.Values(&s.Gamma, 0.3), inert.Values(&s.KernelVariance, 1.2),
				inert.Values(&s.Rule, mechanism.SelectionAsPublished),
				inert.Values(&s.CoinPress, mechanism.IntervalsPublished), inert.Values(&s.Sigmas, []float64{0.1, 0.4}),
				inert.Values(&s.Lengthscales, []float64{0.5, 2}), inert.Values(&s.N, 50), inert.Values(&s.Sigma, 0.2),
				inert.Values(&s.Repeats, 2))
		},
	}
}
