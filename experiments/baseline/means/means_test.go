package means

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// own are settings of a table of three classes.
func own(dataset string, epsilon float64) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = dataset, "a+b", "k[u|v|w]", epsilon, 1e-6
		s.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Classes(t, 1000)
	for _, c := range []struct{ epsilon, least float64 }{{100, .85}, {1, .8}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, c.epsilon)).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > .7 {
			t.Errorf("epsilon = %g: accuracy %g, of the largest class %g", c.epsilon, m.Accuracy, m.AccuracyLargest)
		}
	}
}

// The variance follows the noise: without noise, classes that are near each other in a wide public range are told
// apart, also next to a noisy fit, and with much noise, wrong classes are not certain.
func TestVariance(t *testing.T) {
	data := baselinetest.Classes(t, 300)
	wide := func(s *Settings) {
		s.InputLow = method.Ends{Numbers: experiment.Several{-300, -3000}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{300, 3000}}
	}
	for _, epsilon := range []float64{.5, math.Inf(1)} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, epsilon), wide).Metrics
		if m.AccuracyWithoutNoise < .8 || m.AccuracyLargest > .7 {
			t.Errorf("epsilon = %g: accuracy without noise %g, of the largest class %g", epsilon, m.AccuracyWithoutNoise,
				m.AccuracyLargest)
		}
	}
	m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, .5), func(s *Settings) {
		s.Repeats = 5
	}).Metrics
	if *m.LogLoss > 1.1 {
		t.Errorf("log loss %g, of shares without inputs %g", *m.LogLoss, *m.LogLossTrivial)
	}
}

func TestReleased(t *testing.T) {
	p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Classes(t, 500), 10),
		mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9}))
	for i, want := range []string{"u", "v", "w"} {
		if p.Labels[i] != want {
			t.Errorf("%v: class %s, want %s", p.Rows[i], p.Labels[i], want)
		}
	}
}

// The sensitivity is reached, by rows in opposite corners with different classes.
func TestNeighbours(t *testing.T) {
	data := baselinetest.Classes(t, 40)
	most := baselinetest.Neighbours(t, Definition, own(data, 1), func(row []float64, rng *rand.Rand) {
		row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
		row[2] = float64(rng.IntN(3))
	})
	if most[0] < .8 {
		t.Errorf("the query moves by %g of its sensitivity at most: is it too large?", most[0])
	}
}
