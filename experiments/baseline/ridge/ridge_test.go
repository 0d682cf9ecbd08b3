package ridge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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
				m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
					own(data, c.epsilon, kind, s)).Metrics
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

// Noise of a range that is far too wide drowns the outputs, and yet its middle is worse.
func TestWideRange(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	for high, want := range map[float64]int{100: 0, 1e6: 1} {
		out := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(data, 1, features.Linear, Posterior),
			func(s *Settings) { s.High.Number = high })
		if all := strings.Join(out.Warnings, "\n"); strings.Count(all, ", and the mean of the outputs has 1") != want ||
			strings.Contains(all, "the middle") {
			t.Errorf("high = %g: RMSE %g, %s", high, out.Metrics.RMSE, all)
		}
	}
}

func TestReleased(t *testing.T) {
	for name, kind := range kinds {
		p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Regression(t, 1000), 10, kind, Posterior),
			mat.NewDense(3, 2, []float64{-.8, 2, 0, 5, .8, 8}))
		for i, want := range []float64{28, 50, 72} {
			if got := p.Rows[i][0]; got < want-6 || got > want+6 {
				t.Errorf("%s: %v, want %g", name, p.Rows[i], want)
			}
		}
	}
}

// The fit without noise has no noise level: it is the same at any budget.
func TestWithoutNoise(t *testing.T) {
	data := baselinetest.Regression(t, 200)
	for _, shrinkage := range []Shrinkage{Posterior, AdaSSP} {
		var errors []float64
		for _, epsilon := range []float64{.5, math.Inf(1)} {
			m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, epsilon, features.Linear,
				shrinkage)).Metrics
			errors = append(errors, m.RMSEWithoutNoise)
		}
		if errors[0] != errors[1] {
			t.Errorf("shrinkage %d: RMSE without noise %g at epsilon = .5, %g without privacy", shrinkage, errors[0], errors[1])
		}
	}
}

// Places of a release without a row, of persons with few and of rows without a value, do not make it surer: the outputs
// have noise of the standard deviation 10 about a plane.
func TestEmptyPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	var rows [][]string
	for i := range 4000 {
		a, b, y := 2*rng.Float64()-1, 10*rng.Float64(), ""
		if i%4 == 0 {
			y = fmt.Sprint(50 + 20*a + 2*(b-5) + 10*rng.NormFloat64())
		}
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(b), y, fmt.Sprint(i)})
	}
	data := baselinetest.Table(t, "a,b,y,who", rows)
	for name, kind := range kinds {
		for what, more := range map[string]func(*Settings){
			"clamp":  func(s *Settings) { s.Invalid.Invalid = method.Clamp },
			"person": func(s *Settings) { s.Person = method.Person{Person: "who", RowsPerPerson: 10} },
		} {
			set := func(s *Settings) {
				own(data, 100, kind, Posterior)(s)
				more(s)
			}
			p := baselinetest.Released(t, Definition, PredictFormat, set, mat.NewDense(1, 2, []float64{.2, 4}))
			if sd := p.Rows[0][2]; sd < 8 || sd > 13 {
				t.Errorf("%s, %s: an output has the standard deviation %g, want 10", name, what, sd)
			}
		}
	}
}

// The sensitivity is nearly reached, by outputs at opposite ends and features at an angle of 60 or 120 degrees.
func TestNeighbours(t *testing.T) {
	data := baselinetest.Regression(t, 40)
	for name, kind := range kinds {
		most := baselinetest.Neighbours(t, Definition, own(data, 1, kind, Posterior), func(row []float64, rng *rand.Rand) {
			row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
			row[2] = float64(rng.IntN(2)) * 200
		})
		if most[0] < .8 {
			t.Errorf("%s: the query moves by %g of its sensitivity at most: is it too large?", name, most[0])
		}
	}
}
