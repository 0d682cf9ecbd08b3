package regress

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// otherPredictions returns other values of the settings that all predictions have.
func otherPredictions(s *prediction) []inert.Setting {
	return []inert.Setting{
		inert.Values(&s.Epsilon, 0.5, math.Inf(1)), inert.Values(&s.Delta, 0.001),
		inert.Values(&s.Calibration, mechanism.Analytic, mechanism.Hall), inert.Values(&s.Sensitivity, 90),
		inert.Values(&s.Normalisation, cloak.Public, cloak.AsPublished), inert.Values(&s.PublicLow, 70),
		inert.Values(&s.Inducing, placed(4)), inert.Values(&s.Width, 8), inert.Values(&s.Rows, 100),
		inert.Values(&s.Cap, 50), inert.Values(&s.Window, 4),
	}
}

// otherModels are other values of a model and of its solver.
func otherModels(h *cloak.Hyperparameters, s *cloak.Solver) []inert.Setting {
	return []inert.Setting{
		inert.Values(&h.Lengthscale, method.LengthscalesOf(20), method.LengthscalesOf(3)),
		inert.Values(&h.KernelVariance, 1.5), inert.Values(&h.NoiseVariance, 1),
		inert.Values(&s.Algorithm, cloak.Gradient, cloak.Certified), inert.Values(&s.Rank, rank(2), rank(1)),
		inert.Values(&s.Steps, 3, 50), inert.Values(&s.LearningRate, 0.01, 1),
		inert.Values(&s.Start, experiment.NumberOr[cloak.Weights](0.3), experiment.NumberOr[cloak.Weights](0.01),
			experiment.NumberOr[cloak.Weights](3.0)),
		inert.Values(&s.StartBelow, 0.3), inert.Values(&s.Starts, 3, 12), inert.Values(&s.Columns, cloak.Separate),
		inert.Values(&s.Scaling, cloak.Squared), inert.Values(&s.Inverse, cloak.Pseudo),
	}
}

// predictionBases are the settings at which others are changed.
var predictionBases = map[string]func(*prediction){
	"defaults": unchanged, "no noise": func(s *prediction) { s.Epsilon = math.Inf(1) },
	"gradient": gradientDescent(20), "gradient, random": func(s *prediction) {
		gradientDescent(20)(s)
		s.Start = trialtest.WordOr[float64](cloak.RandomStart)
	}, "public": func(s *prediction) { s.Normalisation = cloak.Public },
}

// basesOf makes changes of an experiment's settings of those that all predictions
// share, and of the methods.
func basesOf[S any](parts func(*S) (*cloak.Method, *prediction)) map[string]func(*S) {
	out := map[string]func(*S){}
	for name, change := range predictionBases {
		out[name] = func(s *S) {
			_, p := parts(s)
			change(p)
		}
	}
	for _, m := range []cloak.Method{cloak.Sparse, cloak.Nonstationary, cloak.WeightedSum} {
		out[m.String()] = func(s *S) {
			method, _ := parts(s)
			*method = m
		}
	}
	return out
}

// waves writes a file with two inputs, x and z, the output y, and ten persons, who, with four rows each; of one row the
// output is missing.
func waves(t *testing.T) (path string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y,z,who\n2,,9,10\n")
	for i := range 40 {
		x := float64(i%9) / 2
		fmt.Fprintf(&b, "%g,%g,%g,%d\n", x, 25+20*math.Sin(x)+float64(i%7), 30-x*float64(i%5), i%10)
	}
	return cloaktest.File(t, b.String())
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t), File: waves(t), Workers: 2}
	none := experiment.NumberOr[method.None, float64]
	t.Run("regression", func(t *testing.T) {
		bases := basesOf(func(s *regressionSettings) (*cloak.Method, *prediction) { return &s.Method, &s.prediction })
		bases["own file"] = smallOwn
		bases["persons"] = func(s *regressionSettings) {
			smallOwn(s)
			s.Person = method.Person{Person: "who", RowsPerPerson: 3}
		}
		inert.Conditions[regressionSettings, regressionMetrics]{
			Of: Regression(), Run: trialtest.Runs(t, census, Regression()), Bases: bases,
			Common: func(s *regressionSettings) { s.Folds.Folds, s.Draws = 4, 3 },
			Others: func(s *regressionSettings) []inert.Setting {
				return append(append(otherPredictions(&s.prediction), otherModels(&s.Hyperparameters, &s.Solver)...),
					inert.Held(&s.Dataset, "a base has it"), inert.Held(&s.Predict, "it is for a release"),
					inert.Values(&s.Inputs, "age+weight", "z"), inert.Values(&s.Output, "z"),
					inert.Values(&s.Low, none(10), none(0)), inert.Values(&s.High, none(170), none(0)),
					inert.Values(&s.Method, cloak.Sparse, cloak.Standard), inert.Values(&s.Folds.Folds, 3, 5),
					inert.Values(&s.Person.Person, "who", method.NoColumn), inert.Values(&s.RowsPerPerson, 2),
					inert.Values(&s.Invalid.Invalid, method.Clamp), inert.Values(&s.Draws, 2, 1, 6),
					inert.Values(&s.FoldScheme, cloak.Interleaved, cloak.Contiguous))
			},
		}.Check(t)
	})
	t.Run("curve", func(t *testing.T) {
		bases := basesOf(func(s *curveSettings) (*cloak.Method, *prediction) { return &s.Method, &s.prediction })
		bases["two inputs"] = func(s *curveSettings) { s.Inputs = cloak.AgeAndWeight }
		inert.Conditions[curveSettings, curveMetrics]{
			Of: Curve(), Run: trialtest.Runs(t, census, Curve()), Bases: bases,
			Common: func(s *curveSettings) { s.Ages = []float64{0, 30, 60} },
			Others: func(s *curveSettings) []inert.Setting {
				return append(append(otherPredictions(&s.prediction), otherModels(&s.Hyperparameters, &s.Solver)...),
					inert.Values(&s.Inputs, cloak.AgeAndWeight, cloak.Age),
					inert.Values(&s.Method, cloak.Sparse, cloak.Standard),
					inert.Values(&s.Ages, []float64{0, 20, 40, 60}), inert.Values(&s.Weight, 40), inert.Values(&s.AtAge, 30, 0))
			},
		}.Check(t)
	})
	t.Run("surface", func(t *testing.T) {
		inert.Conditions[surfaceSettings, surfaceMetrics]{
			Of: Surface(), Run: trialtest.Runs(t, census, Surface()),
			Bases:  basesOf(func(s *surfaceSettings) (*cloak.Method, *prediction) { return &s.Method, &s.prediction }),
			Common: func(s *surfaceSettings) { s.Ages, s.Weights = []float64{0, 40, 60}, []float64{10, 50} },
			Others: func(s *surfaceSettings) []inert.Setting {
				return append(append(otherPredictions(&s.prediction), otherModels(&s.Hyperparameters, &s.Solver)...),
					inert.Held(&s.Inputs, "there is one"), inert.Values(&s.Method, cloak.Sparse, cloak.Standard),
					inert.Values(&s.Weights, []float64{5, 10, 50}), inert.Values(&s.Ages, []float64{0, 20, 40, 60}),
					inert.Values(&s.AtWeight, 10), inert.Values(&s.AtAge, 40))
			},
		}.Check(t)
	})
	t.Run("design", func(t *testing.T) {
		inert.Conditions[designSettings, designMetrics]{
			Of: Design(), Run: trialtest.Runs(t, census, Design()),
			Bases: map[string]func(*designSettings){
				"defaults": func(*designSettings) {}, "sparse": func(s *designSettings) { s.Method = cloak.Sparse },
				"gradient": func(s *designSettings) { s.Algorithm, s.Steps = cloak.Gradient, 20 },
				"gradient, random": func(s *designSettings) {
					s.Algorithm, s.Steps, s.Start = cloak.Gradient, 20, trialtest.WordOr[float64](cloak.RandomStart)
				},
			},
			Common: func(s *designSettings) { s.TestPoints = []float64{0, 30, 60} },
			Others: func(s *designSettings) []inert.Setting {
				return append(otherModels(&s.Hyperparameters, &s.Solver),
					inert.Values(&s.Inputs, cloak.Synthetic), inert.Values(&s.TestPoints, []float64{0, 20, 40, 60}),
					inert.Values(&s.Method, cloak.Sparse, cloak.Standard), inert.Values(&s.Inducing, placed(4)))
			},
		}.Check(t)
	})
}
