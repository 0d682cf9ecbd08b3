package histogram

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
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
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, c.epsilon, 1e-6)).Metrics
		if m.RMSE > c.most || m.RMSECentre < 10 {
			t.Errorf("epsilon = %g: RMSE %g, of the middle %g", c.epsilon, m.RMSE, m.RMSECentre)
		}
	}
}

// A range that cuts off outputs is a warning, and a few beyond it are none.
func TestClipped(t *testing.T) {
	for high, want := range map[float64]string{
		77: "", 55: ` values of "y" are outside [0, 55] and were clipped; errors are measured against those that were read`,
	} {
		out := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(baselinetest.Regression(t, 1000), 10, 1e-6), func(s *Settings) { s.High.Number = high })
		all := strings.Join(out.Warnings, "\n")
		if m := out.Metrics.ClippedFraction; !(m > 0) || (want == "") != (m < .01) || !strings.Contains(all, want) ||
			want == "" && strings.Contains(all, "clipped") {
			t.Errorf("high = %g: share %g, %s", high, m, all)
		}
	}
}

func TestReleased(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{-.9, 1, 0, 5, .9, 20}) // with one beyond the range
	for _, epsilon := range []float64{1, 20} {
		p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Regression(t, 2000), epsilon, 1e-6), at)
		if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "1 of 6 numbers are beyond the range of their input") {
			t.Errorf("%q", p.Warnings)
		}
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
			most := baselinetest.Neighbours(t, Definition, own(baselinetest.Regression(t, 60), c.epsilon, c.delta),
				func(row []float64, rng *rand.Rand) {
					row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
					row[2] = 300*rng.Float64() - 100
				})
			if most[0] < .8 {
				t.Errorf("the query moves by %g of its sensitivity at most: is it too large?", most[0])
			}
		})
	}
}

// Norms and distances of the vectors of rows are at most those of the queries, which some reach.
func TestSensitivity(t *testing.T) {
	for _, c := range []struct{ order, weight, norm, diameter float64 }{{2, 1, math.Sqrt2, 2}, {1, .5, 1.5, 3}} {
		var norm, diameter float64
		for i := -50; i <= 50; i++ {
			n, y, q := parts(c.weight, float64(i)/50)
			norm = max(norm, floats.Norm([]float64{n, y, q}, c.order))
			for j := -50; j <= 50; j++ {
				m, z, p := parts(c.weight, float64(j)/50)
				diameter = max(diameter, floats.Norm([]float64{n - m, y - z, q - p}, c.order),
					floats.Norm([]float64{n, m, y, z, q - p}, c.order))
			}
		}
		trialtest.Near(t, fmt.Sprintf("norm of order %g", c.order), norm, c.norm, 1e-15)
		trialtest.Near(t, fmt.Sprintf("diameter of order %g", c.order), diameter, c.diameter, 1e-15)
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
		_, err := trialtest.Try(t, trialtest.Options{Workers: 1}, Definition.Experiment(), func(s *Settings) {
			own(data, 1, 1e-6)(s)
			s.Cut.IsWord, s.Cut.Number = false, 2
			c.set(s)
		})
		trialtest.Refuses(t, err, c.want)
	}
}

// Without noise the means are about those of the rows in each cell, of outputs anywhere in a range of any width, and a
// trial with noise has the same error without it.
func TestWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	var rows [][]string
	for range 2000 {
		a := rng.Float64()
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(3 + 10*a + .3*rng.NormFloat64())})
	}
	data := baselinetest.Table(t, "a,y", rows)
	for _, end := range []float64{15, 100, 10_000} {
		for _, cells := range []int{16, 50, 100} {
			metrics := func(epsilon float64) ground.RegressionMetrics {
				return trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), func(s *Settings) {
					s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = data, "a", "y", epsilon, 1e-6
					s.InputLow, s.InputHigh = method.Ends{Numbers: experiment.Several{0}}, method.Ends{Numbers: experiment.Several{1}}
					s.Low, s.High = method.End{Number: -end}, method.End{Number: end}
					s.Cells, s.Repeats = experiment.Or[Auto, int]{Number: cells}, 2
				}).Metrics
			}
			m := metrics(math.Inf(1))
			// of a mean of n rows, and of a cell of the width 10/cells
			n, width := 1600/float64(cells), 10/float64(cells)
			if want := math.Sqrt((.09 + width*width/12) * (1 + 1/n)); math.Abs(m.RMSE/want-1) > .05 {
				t.Errorf("%d cells, ±%g: RMSE %g, and %g of plain means", cells, end, m.RMSE, want)
			}
			trialtest.Near(t, "RMSE without noise of a trial with it", metrics(1).RMSEWithoutNoise, m.RMSE, 1e-9*m.RMSE)
		}
	}
}

// How many rows a person may have makes cells fewer, and not more, as it only adds to the noise.
func TestCellsOfPersons(t *testing.T) {
	var rows [][]string
	for i := range 400 {
		rows = append(rows, []string{fmt.Sprint(float64(i%20)/10 - 1), "5", "50", fmt.Sprint("p", i/2)})
	}
	data := baselinetest.Table(t, "a,b,y,id", rows)
	last := math.MaxInt
	for _, most := range []int{2, 20} {
		plan := baselinetest.Plan(t, Definition, func(s *Settings) {
			own(data, 3, 1e-6)(s)
			s.Person.Person, s.RowsPerPerson = "id", most
		})
		cells := len(baselinetest.Draws(t, plan)[0].Query)
		if cells >= last {
			t.Errorf("%d numbers for at most %d rows of a person, and %d for fewer", cells, most, last)
		}
		last = cells
	}
}
