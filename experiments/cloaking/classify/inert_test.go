package classify

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// otherClassifiers returns other values of the settings that all classifiers have.
func otherClassifiers(m *processMethod, s *ClassifierSettings) []inert.Setting {
	number := experiment.NumberOr[cloak.Weights, float64]
	return []inert.Setting{
		inert.Values(&m.Method, cloak.Sparse, cloak.Standard), inert.Values(&s.Epsilon, 0.5, math.Inf(1)),
		inert.Values(&s.Delta, 0.001), inert.Values(&s.Calibration, mechanism.Analytic, mechanism.Hall),
		inert.Values(&s.Iterations, steps(3)), inert.Values(&s.Composition, cloak.Gaussian, cloak.Basic),
		inert.Values(&s.Draws, 2, 1, 6),
		inert.Values(&s.Lengthscale, method.LengthscalesOf(20), method.LengthscalesOf(3)),
		inert.Values(&s.KernelVariance, 1.5), inert.Values(&s.Inducing, 4), inert.Values(&s.Approximation, SoR),
		inert.Values(&s.Probability, Averaged, AtMean), inert.Values(&s.Algorithm, cloak.Gradient, cloak.Certified),
		inert.Values(&s.Rank, rank(2), rank(1)), inert.Values(&s.Steps, 1, 50), inert.Values(&s.LearningRate, 0.01, 1),
		inert.Values(&s.Start, number(0.3), number(0.01), number(3)), inert.Values(&s.StartBelow, 0.3),
		inert.Values(&s.Starts, 3, 12), inert.Values(&s.Columns, cloak.Separate), inert.Values(&s.Scaling, cloak.Squared),
		inert.Values(&s.Inverse, cloak.Pseudo),
	}
}

// basesOf makes changes of an experiment's settings, at which others are changed, of
// those of the classifier.
func basesOf[S any](parts func(*S) (*processMethod, *ClassifierSettings)) map[string]func(*S) {
	out := map[string]func(*S){}
	for name, change := range map[string]func(*processMethod, *ClassifierSettings){
		"defaults":  func(*processMethod, *ClassifierSettings) {},
		"no noise":  func(_ *processMethod, s *ClassifierSettings) { noiseless(s) },
		"two steps": func(_ *processMethod, s *ClassifierSettings) { s.Iterations = steps(2) },
		// With full rank every solver ends where it starts: each direction has its input.
		"gradient": func(_ *processMethod, s *ClassifierSettings) {
			s.Algorithm, s.Steps, s.Rank = cloak.Gradient, 20, rank(3)
		},
		"gradient, random": func(_ *processMethod, s *ClassifierSettings) {
			s.Algorithm, s.Steps, s.Rank = cloak.Gradient, 20, rank(3)
			s.Start = trialtest.WordOr[float64](cloak.RandomStart)
		},
		"sparse": func(m *processMethod, _ *ClassifierSettings) { m.Method = cloak.Sparse },
		"sparse, averaged": func(m *processMethod, s *ClassifierSettings) {
			m.Method, s.Probability = cloak.Sparse, Averaged
		},
	} {
		out[name] = func(s *S) { change(parts(s)) }
	}
	return out
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	s := trialtest.Options{Folder: t.TempDir(), File: cloaktest.Classes(t), Workers: 2}
	cloaktest.Loans(t, s.Folder)
	cloaktest.Digits(t, s.Folder)
	t.Run("classification", func(t *testing.T) { classificationConditions(t, s) })
	t.Run("hmeq", func(t *testing.T) {
		inert.Conditions[hmeqSettings, hmeqMetrics]{
			Of: HMEQ(), Run: trialtest.Runs(t, s, HMEQ()),
			Bases: basesOf(func(s *hmeqSettings) (*processMethod, *ClassifierSettings) {
				return &s.processMethod, &s.ClassifierSettings
			}),
			Common: func(s *hmeqSettings) { s.Rows, s.Draws = 30, 3 },
			Others: func(s *hmeqSettings) []inert.Setting {
				return append(otherClassifiers(&s.processMethod, &s.ClassifierSettings), inert.Values(&s.Rows, 36))
			},
		}.Check(t)
	})
	t.Run("digits", func(t *testing.T) {
		inert.Conditions[digitsSettings, digitsMetrics]{
			Of: Digits(), Run: trialtest.Runs(t, s, Digits()),
			Bases: basesOf(func(s *digitsSettings) (*processMethod, *ClassifierSettings) {
				return &s.processMethod, &s.ClassifierSettings
			}),
			Common: func(s *digitsSettings) { s.Train, s.Test, s.Draws, s.Method = 60, 40, 3, cloak.Standard },
			Others: func(s *digitsSettings) []inert.Setting {
				return append(otherClassifiers(&s.processMethod, &s.ClassifierSettings),
					inert.Values(&s.Train, 80), inert.Values(&s.Test, 30))
			},
		}.Check(t)
	})
	t.Run("stripes", func(t *testing.T) {
		inert.Conditions[stripesSettings, stripesMetrics]{
			Of: Stripes(), Run: trialtest.Runs(t, s, Stripes()),
			Bases: basesOf(func(s *stripesSettings) (*processMethod, *ClassifierSettings) {
				return &s.processMethod, &s.ClassifierSettings
			}),
			Common: func(s *stripesSettings) { s.Points, s.Draws = 24, 3 },
			Others: func(s *stripesSettings) []inert.Setting {
				return append(otherClassifiers(&s.processMethod, &s.ClassifierSettings),
					inert.Values(&s.Points, 20), inert.Values(&s.Width, 4), inert.Values(&s.Jitter, 0.1),
					inert.Values(&s.Gradient, 0.2))
			},
		}.Check(t)
	})
	t.Run("reference", func(t *testing.T) {
		inert.Conditions[referenceSettings, referenceMetrics]{
			Of: Reference(), Run: trialtest.Runs(t, s, Reference()),
			Bases: map[string]func(*referenceSettings){
				"defaults": func(*referenceSettings) {}, "sparse": func(s *referenceSettings) { s.Method = cloak.Sparse },
			},
			Others: func(s *referenceSettings) []inert.Setting {
				return []inert.Setting{
					inert.Values(&s.Method, cloak.Sparse, cloak.Standard), inert.Values(&s.Lengthscale, method.LengthscalesOf(20)),
					inert.Values(&s.KernelVariance, 1.5), inert.Values(&s.At, 2),
				}
			},
		}.Check(t)
	})
}

// classificationConditions are tried on HMEQ, which has no settings of a file, and on a
// file, which has.
func classificationConditions(t *testing.T, s trialtest.Options) {
	none := experiment.NumberOr[method.None, float64]
	bases := map[string]func(*classificationSettings){
		"hmeq": func(s *classificationSettings) { s.Rows = experiment.NumberOr[All](60) },
	}
	bases["persons"] = func(s *classificationSettings) {
		ownClasses(s)
		s.Person = method.Person{Person: "who", RowsPerPerson: 3}
	}
	for name, change := range basesOf(func(s *classificationSettings) (*processMethod, *ClassifierSettings) {
		return &s.processMethod, &s.ClassifierSettings
	}) {
		bases[name] = func(s *classificationSettings) {
			ownClasses(s)
			change(s)
		}
	}
	inert.Conditions[classificationSettings, classificationMetrics]{
		Of: Classification(), Run: trialtest.Runs(t, s, Classification()), Bases: bases,
		Common: func(s *classificationSettings) { s.Folds.Folds, s.Draws = 4, 3 },
		Others: func(s *classificationSettings) []inert.Setting {
			return append(otherClassifiers(&s.processMethod, &s.ClassifierSettings),
				inert.Held(&s.Dataset, "a base has it"), inert.Held(&s.Predict, "it is for a release"),
				inert.Values(&s.Inputs, "a", "CLAGE"), inert.Values(&s.Output, "z"), inert.Values(&s.Low, none(0)),
				inert.Values(&s.High, none(0), none(170)), inert.Values(&s.Rows, experiment.NumberOr[All](50)),
				inert.Values(&s.Person.Person, "who", method.NoColumn), inert.Values(&s.RowsPerPerson, 2),
				inert.Values(&s.Invalid.Invalid, method.Clamp), inert.Values(&s.Folds.Folds, 3, 5),
				inert.Values(&s.FoldScheme, cloak.Interleaved, cloak.Contiguous))
		},
	}.Check(t)
}
