package histogram

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// own are settings of a table with two inputs.
func own(dataset string, epsilon, delta float64) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = dataset, "a+b", "y", epsilon, delta
		s.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
		s.Low, s.High = method.End{Number: 0}, method.End{Number: 100}
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	for _, c := range []struct{ epsilon, most float64 }{{math.Inf(1), 5}, {100, 5}, {1, 9}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Experiment(), own(data, c.epsilon, 1e-6)).Metrics
		if m.RMSE > c.most || m.RMSECentre < 10 {
			t.Errorf("epsilon = %g: RMSE %g, of the middle %g", c.epsilon, m.RMSE, m.RMSECentre)
		}
	}
}

func TestReleased(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{-.9, 1, 0, 5, .9, 20})
	for _, epsilon := range []float64{1, 20} {
		p := baselinetest.Released(t, definition, PredictFormat, own(baselinetest.Regression(t, 2000), epsilon, 1e-6), at)
		for i, want := range []float64{50 - 18 - 8, 50, 50 + 18 + 10} {
			if got := p.Rows[i][0]; math.Abs(got-want) > 12 {
				t.Errorf("epsilon = %g: %g, want about %g", epsilon, got, want)
			}
		}
	}
}

// The sensitivity is reached: with Laplace noise, of a small epsilon, by rows in different cells, and with Gaussian
// noise by those of opposite outputs in one cell, too.
func TestNeighbours(t *testing.T) {
	for _, c := range []struct{ epsilon, delta float64 }{{1, 1e-6}, {10, .1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			most := baselinetest.Neighbours(t, definition, own(baselinetest.Regression(t, 60), c.epsilon, c.delta),
				func(row []float64, rng *rand.Rand) {
					row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
					row[2] = float64(300*rng.IntN(2) - 100)
				})
			if most[0] < .8 {
				t.Errorf("the query moves by %g of its sensitivity at most: is it too large?", most[0])
			}
		})
	}
}

func TestPartition(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       partition
		u       []float64
		size    int
		cell    int
		correct bool
	}{
		{"none", partition{Bins: 4}, []float64{.3}, 1, 0, true},
		{"ends", partition{[]int{0, 1}, []int{0, 0}, 3}, []float64{-1, 1}, 9, 2, true},
		{"category", partition{[]int{0, 1, 4}, []int{0, 3, 0}, 2}, []float64{.1, -1, -1, 1, -.2}, 12, 10, true},
		{"columns", partition{[]int{4}, []int{2}, 2}, nil, 2, 0, false},
		{"large", partition{[]int{0, 1, 2}, []int{0, 0, 0}, 1000}, nil, mostCells + 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.size(); got != c.size {
				t.Errorf("%d cells, want %d", got, c.size)
			}
			if c.u != nil && c.p.cell(c.u) != c.cell {
				t.Errorf("cell %d, want %d", c.p.cell(c.u), c.cell)
			}
		})
	}
}

func TestCellsByPublicNumbers(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	for _, c := range []struct {
		set  func(*Settings)
		want string
	}{
		{func(s *Settings) { s.Cells.IsWord, s.Cells.Number = false, 1000 }, "more than 16384 cells"},
		{func(s *Settings) { s.Cut.IsWord, s.Cut.Number = false, 3 }, "there are 2 inputs"},
	} {
		_, err := trialtest.Try(t, trialtest.Options{Workers: 1}, Experiment(), func(s *Settings) {
			own(data, 1, 1e-6)(s)
			s.Cut.IsWord, s.Cut.Number = false, 2
			c.set(s)
		})
		trialtest.Refuses(t, err, c.want)
	}
}
