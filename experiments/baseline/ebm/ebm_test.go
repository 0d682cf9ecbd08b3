package ebm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// inputs are the ranges of the synthetic tables.
func inputs(d *ground.Data, dataset string, epsilon float64) {
	d.Dataset, d.Inputs, d.Epsilon, d.Delta = dataset, "a+b", epsilon, 1e-6
	d.InputLow = method.Ends{Numbers: experiment.Several{-1, 0}}
	d.InputHigh = method.Ends{Numbers: experiment.Several{1, 10}}
	d.Repeats = 3
}

// values are settings of a Regression.
func values(dataset string, epsilon float64, set ...func(*RegressionSettings)) func(*RegressionSettings) {
	return func(s *RegressionSettings) {
		inputs(&s.Data, dataset, epsilon)
		s.Low, s.High = experiment.NumberOr[method.None](0.), experiment.NumberOr[method.None](100.)
		for _, f := range set {
			f(s)
		}
	}
}

// classes are settings of a table with this output.
func classes(dataset, output string, epsilon float64,
	set ...func(*ClassificationSettings)) func(*ClassificationSettings) {
	return func(s *ClassificationSettings) {
		inputs(&s.Data, dataset, epsilon)
		s.Output = output
		for _, f := range set {
			f(s)
		}
	}
}

// two is a table of two classes, n or y, with the inputs a and a category k that both matter.
func two(t *testing.T, n int) string {
	rng := rand.New(rand.NewPCG(3, 4))
	var rows [][]string
	for range n {
		a, k, class := 2*rng.Float64()-1, rng.IntN(3), "n"
		if a+float64(k) > 1 {
			class = "y"
		}
		rows = append(rows, []string{fmt.Sprint(a), string("pqr"[k]), class})
	}
	return baselinetest.Table(t, "a,b,c", rows)
}

// category makes b a category.
func category(s *ClassificationSettings) {
	s.Inputs = "a+b[p|q|r]"
	s.InputLow = method.Ends{Numbers: experiment.Several{-1}}
	s.InputHigh = method.Ends{Numbers: experiment.Several{1}}
}

func TestRegressionJudged(t *testing.T) {
	data := baselinetest.Regression(t, 1000)
	published := func(s *RegressionSettings) {
		s.Rate, s.Clip, s.Prior, s.Counts = experiment.NumberOr[automatic](0.03), 2, 1e9, 0.1
	}
	for _, c := range []struct {
		name          string
		epsilon, most float64
		set           func(*RegressionSettings)
	}{
		{"little noise", 1000, 3, func(*RegressionSettings) {}},
		{"defaults", 1, 8, func(*RegressionSettings) {}},
		{"add-remove", 1, 6, func(s *RegressionSettings) { s.Neighbours = ground.AddRemove }},
		{"much noise", 0.01, 20, func(*RegressionSettings) {}},
		{"as published", 10, 8, published},
	} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Regression.Experiment(),
			values(data, c.epsilon, c.set)).Metrics
		if m.RMSE > c.most || m.RMSECentre < 12 {
			t.Errorf("%s: RMSE %g, of the middle %g", c.name, m.RMSE, m.RMSECentre)
		}
	}
}

func TestClassificationJudged(t *testing.T) {
	three, other := baselinetest.Classes(t, 1000), two(t, 1000)
	for _, c := range []struct {
		name    string
		set     func(*ClassificationSettings)
		least   float64
		largest float64
	}{
		{"three classes", classes(three, "k", 1000), .93, .7},
		{"three classes, noise", classes(three, "k", 2), .8, .7},
		{"a category", classes(other, "c[n|y]", 1000, category), .95, .6},
		{"a category, noise", classes(other, "c[n|y]", 2, category), .85, .6},
	} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(), c.set).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > c.largest {
			t.Errorf("%s: accuracy %g, of the largest class %g", c.name, m.Accuracy, m.AccuracyLargest)
		}
	}
}

func TestReleased(t *testing.T) {
	at := mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9})
	p := baselinetest.Released(t, Regression, RegressionFormat, values(baselinetest.Regression(t, 1000), 1000), at)
	for i, want := range []float64{26, 66, 42} {
		if got := p.Rows[i][0]; math.Abs(got-want) > 4 {
			t.Errorf("%v: mean %g, want %g", at.RawRowView(i), got, want)
		}
	}
	three := classes(baselinetest.Classes(t, 500), "k[u|v|w]", 50)
	p = baselinetest.Released(t, Classification, ClassificationFormat, three, at)
	for i, want := range []string{"u", "v", "w"} {
		if p.Labels[i] != want {
			t.Errorf("%v: class %s, want %s", p.Rows[i], p.Labels[i], want)
		}
	}
}

// A release sums row by row in whole numbers, and judging as the rows come: without much noise they agree.
func TestJudgedAsReleased(t *testing.T) {
	data := two(t, 300)
	at := mat.NewDense(3, 4, []float64{.5, 1, 0, 0, .5, 0, 1, 0, -.5, 0, 0, 1})
	p := baselinetest.Released(t, Classification, ClassificationFormat, classes(data, "c[n|y]", 1e6, category), at)
	for i, want := range []string{"n", "y", "y"} {
		if p.Labels[i] != want {
			t.Errorf("%v: class %s, want %s", at.RawRowView(i), p.Labels[i], want)
		}
	}
}

// Sums move by no more than their sensitivities. Residuals reach it where an output changes in one leaf from one end to
// the other; the counts reach theirs where no bin is shared.
func TestNeighbours(t *testing.T) {
	change := func(outputs int, scale float64) func(row []float64, rng *rand.Rand) {
		return func(row []float64, rng *rand.Rand) {
			if rng.IntN(2) > 0 { // otherwise the row keeps its bins
				row[0], row[1] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1)
			}
			row[2] = scale * float64(rng.IntN(outputs))
		}
	}
	few := func(b *Boosting) { b.Rounds, b.Bins = 2, 4 }
	for _, c := range []struct {
		name        string
		most        []float64
		one, others float64 // the least shares of the first and of some later query
	}{
		{"regression", baselinetest.Neighbours(t, Regression, values(baselinetest.Regression(t, 40), 1,
			func(s *RegressionSettings) { few(&s.Boosting) }), change(2, 100)), .99, .99},
		{"three classes", baselinetest.Neighbours(t, Classification, classes(baselinetest.Classes(t, 40), "k[u|v|w]", 1,
			func(s *ClassificationSettings) { few(&s.Boosting) }), change(3, 1)), .99, .8},
		{"two classes", baselinetest.Neighbours(t, Classification, classes(baselinetest.Table(t, "a,b,k",
			[][]string{{"0", "1", "u"}, {"0", "1", "v"}, {"1", "2", "u"}, {"-1", "9", "v"}, {"-1", "9", "u"}}), "k[u|v]", 1,
			func(s *ClassificationSettings) { few(&s.Boosting) }), change(2, 1)), .99, .8},
	} {
		if len(c.most) != 5 {
			t.Fatalf("%s: there are %d queries, want 5", c.name, len(c.most))
		}
		if c.most[0] < c.one || max(c.most[1], c.most[2], c.most[3], c.most[4]) < c.others {
			t.Errorf("%s: the queries move by %.3g of their sensitivities at most: are these too large?", c.name, c.most)
		}
	}
}

func TestBinOf(t *testing.T) {
	for _, c := range []struct {
		u    float64
		want int
	}{{-1, 0}, {-.51, 0}, {-.49, 1}, {0, 2}, {.99, 3}, {1, 3}, {math.NaN(), 0}} {
		if got := binOf(c.u, 4); got != c.want {
			t.Errorf("%g: bin %d, want %d", c.u, got, c.want)
		}
	}
}

// Cuts leave groups of N/bins rows, and the rest joins the last.
func TestCuts(t *testing.T) {
	a := &algorithm{Problem: &ground.Problem{Slots: 12}, Boosting: Boosting{Bins: 4}}
	for _, c := range []struct {
		name    string
		levels  int
		weights []float64
		want    []int
	}{
		{"equal", 0, []float64{2, 2, 2, 2, 2, 2}, []int{2, 4}},
		{"in front", 0, []float64{10, 1, 1, 0, 0, 0}, nil},
		{"two groups", 0, []float64{9, 1, 1, 1, 0, 0}, []int{1}},
		{"none", 0, []float64{0, 0, 0, 0, 0, 0}, nil},
		{"a category", 3, []float64{0, 0, 0}, []int{1, 2}},
	} {
		if got := a.cutsOf(feature{levels: c.levels}, c.weights); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: cuts before %v, want %v", c.name, got, c.want)
		}
	}
}
