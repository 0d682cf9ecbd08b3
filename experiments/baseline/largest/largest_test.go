package largest

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
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

// The accuracy is that of the largest class, which every record has, and which little privacy changes by chance alone.
func TestJudged(t *testing.T) {
	data := baselinetest.Classes(t, 300)
	for _, epsilon := range []float64{math.Inf(1), 1, 0.001} {
		out := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), func(s *Settings) {
			own(data, epsilon)(s)
			s.Repeats = 100
		})
		m := out.Metrics
		warnings := strings.Join(out.Warnings, "\n")
		if strings.Contains(warnings, "the accuracy of") {
			t.Errorf("epsilon = %g: it is compared with itself: %s", epsilon, warnings)
		}
		if strings.Contains(warnings, "log_loss") != (epsilon < 1) {
			t.Errorf("epsilon = %g: log loss %g, of shares without noise %g: %s", epsilon, *m.LogLoss, *m.LogLossTrivial,
				warnings)
		}
		if math.Abs(m.Accuracy-m.AccuracyLargest) > .04 || m.AccuracyWithoutNoise < m.AccuracyLargest-1e-9 {
			t.Errorf("epsilon = %g: accuracy %g, of the exponential mechanism %g, without noise %g", epsilon, m.Accuracy,
				m.AccuracyLargest, m.AccuracyWithoutNoise)
		}
		if epsilon >= 1 && *m.LogLoss > *m.LogLossTrivial+.05 {
			t.Errorf("epsilon = %g: log loss %g, of shares without noise %g", epsilon, *m.LogLoss, *m.LogLossTrivial)
		}
	}
}

// A person moves a count by all of her rows, in the noisy counts and in the choice that they are compared with.
func TestJudgedPersons(t *testing.T) {
	rows := make([][]string, 300)
	for i := range rows {
		class := "v"
		if i%5 < 2 {
			class = "u"
		}
		rows[i] = []string{"0", "1", class, strconv.Itoa(i / 2)}
	}
	data := baselinetest.Table(t, "a,b,k,id", rows)
	for _, most := range []int{2, 50} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), func(s *Settings) {
			own(data, .1)(s)
			s.Output, s.Repeats = "k[u|v]", 300
			s.Person = method.Person{Person: "id", RowsPerPerson: most}
		}).Metrics
		if math.Abs(m.Accuracy-m.AccuracyLargest) > .04 {
			t.Errorf("%d rows of a person: accuracy %g, of the exponential mechanism %g", most, m.Accuracy, m.AccuracyLargest)
		}
	}
}

func TestReleased(t *testing.T) {
	p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Classes(t, 500), 10),
		mat.NewDense(2, 2, []float64{-.8, 1, .8, 5}))
	for i, row := range p.Rows {
		if p.Labels[i] != "v" || math.Abs(row[1]-.4) > .1 {
			t.Errorf("class %s with shares %v, want v with .4", p.Labels[i], row)
		}
	}
}

// The sensitivity is reached by rows of different classes.
func TestNeighbours(t *testing.T) {
	most := baselinetest.Neighbours(t, Definition, own(baselinetest.Classes(t, 40), 1),
		func(row []float64, rng *rand.Rand) { row[2] = float64(rng.IntN(3)) })
	if most[0] < 1-1e-6 {
		t.Errorf("the query moves by %g of its sensitivity at most: is it too large?", most[0])
	}
}

// The largest noisy count has the largest share, however few rows there are.
func TestShares(t *testing.T) {
	for _, counts := range [][]float64{{-5, -2, -9}, {1, 2, 0}, {40, 60, 3}, {1, 1.5}} {
		shares, sum := body(counts, 2).Shares, 0.0
		for _, s := range shares {
			if s > shares[1] || !(s > 0) {
				t.Errorf("counts %v have the shares %v", counts, shares)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("the shares %v add to %g", shares, sum)
		}
	}
}
