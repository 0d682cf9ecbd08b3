package ridge

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/baseline/internal/features"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// own are settings of a table with two inputs.
func own(dataset string, epsilon float64, kind features.Kind, s Shrinkage) func(*Settings) {
	return func(t *Settings) {
		t.Dataset, t.Inputs, t.Output, t.Epsilon, t.Delta = dataset, "a+b", "y", epsilon, 1e-6
		t.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		t.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
		t.Low, t.High = method.End{Number: 0}, method.End{Number: 100}
		t.Features, t.Shrinkage, t.Repeats = kind, s, 5
	}
}

var kinds = map[string]features.Kind{"linear": features.Linear, "fourier": features.Fourier}

func TestJudged(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	for name, kind := range kinds {
		for _, s := range []Shrinkage{Posterior, AdaSSP} {
			for _, c := range []struct{ epsilon, most float64 }{{1000, 3.5}, {1, 9}} {
				m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Experiment(), own(data, c.epsilon, kind, s)).Metrics
				if m.RMSE > c.most || m.RMSECentre < 10 || m.RMSEWithoutNoise > c.most {
					t.Errorf("%s, shrinkage %d, epsilon = %g: RMSE %g, without noise %g, of the centre %g", name, s, c.epsilon, m.RMSE,
						m.RMSEWithoutNoise, m.RMSECentre)
				}
				if m.Coverage95 == nil || *m.Coverage95 < .8 {
					t.Errorf("%s, shrinkage %d, epsilon = %g: coverage %g", name, s, c.epsilon, *m.Coverage95)
				}
			}
		}
	}
}

func TestReleased(t *testing.T) {
	for name, kind := range kinds {
		p := baselinetest.Released(t, definition, PredictFormat, own(baselinetest.Regression(t, 1000), 10, kind, Posterior),
			mat.NewDense(3, 2, []float64{-.8, 2, 0, 5, .8, 8}))
		for i, want := range []float64{28, 50, 72} {
			if got := p.Rows[i][0]; got < want-6 || got > want+6 {
				t.Errorf("%s: %v, want %g", name, p.Rows[i], want)
			}
		}
	}
}

// The sensitivity is nearly reached, by outputs at opposite ends and features at an angle of 60 or 120 degrees.
func TestNeighbours(t *testing.T) {
	data := baselinetest.Regression(t, 40)
	for name, kind := range kinds {
		most := baselinetest.Neighbours(t, definition, own(data, 1, kind, Posterior), func(row []float64, rng *rand.Rand) {
			row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
			row[2] = float64(rng.IntN(2)) * 200
		})
		if most[0] < .8 {
			t.Errorf("%s: the query moves by %g of its sensitivity at most: is it too large?", name, most[0])
		}
	}
}
