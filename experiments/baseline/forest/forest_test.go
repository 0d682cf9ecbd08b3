package forest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/dataset/table"
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
		s.Trees = experiment.Or[Auto, int]{Number: 16}
	}
}

func TestJudged(t *testing.T) {
	data := baselinetest.Classes(t, 1000)
	for _, c := range []struct{ epsilon, least float64 }{{math.Inf(1), .93}, {100, .9}, {1, .85}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(), own(data, c.epsilon)).Metrics
		if m.Accuracy < c.least || m.AccuracyLargest > .7 {
			t.Errorf("epsilon = %g: accuracy %g, of the largest class %g", c.epsilon, m.Accuracy, m.AccuracyLargest)
		}
	}
}

// Two classes of unequal size, which the trees alone would confuse with the larger one.
func TestJudgedSmallClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var rows [][]string
	for range 1500 {
		a, b := 2*rng.Float64()-1, 10*rng.Float64()
		class := "u"
		if a > .2 && b > 5 {
			class = "v"
		}
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(b), class})
	}
	m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
		own(baselinetest.Table(t, "a,b,k", rows), 3),
		func(s *Settings) { s.Output = "k[u|v]" }).Metrics
	if m.Accuracy < .88 || m.AccuracyLargest < .75 || *m.LogLoss > .3 {
		t.Errorf("accuracy %g, of the largest class %g, log loss %g", m.Accuracy, m.AccuracyLargest, *m.LogLoss)
	}
}

// The levels are those of the public number of rows, and of the root of its places for each person.
func TestDepth(t *testing.T) {
	var rows [][]string
	for i := range 400 {
		rows = append(rows, []string{"0", "1", "u", fmt.Sprint(i)})
	}
	data := baselinetest.Table(t, "a,b,k,who", rows)
	for _, c := range []struct{ most, want int }{{0, 4}, {25, 3}} {
		plan := baselinetest.Plan(t, Definition, func(s *Settings) {
			own(data, 2)(s)
			if s.Trees.Number = 4; c.most > 0 {
				s.Person = method.Person{Person: "who", RowsPerPerson: c.most}
			}
		})
		leaves := 1 << c.want
		if got, want := plan.Spending.Size.Numbers, 4*(2*(leaves-1)+3*leaves)+3+4; got != want {
			t.Errorf("at most %d rows of a person: %d numbers, want the %d of %d levels", c.most, got, want, c.want)
		}
	}
	for _, c := range []struct{ units, places, want int }{{1000, 1000, 6}, {100, 10_000, 6}, {1000, 100_000, 9}} {
		if got := depthFor(c.units, c.places, 1); got != c.want {
			t.Errorf("%+v: %d levels", c, got)
		}
	}
}

// Shares and line of the fit without noise have no noise level: trees of a depth are the same at any budget.
func TestWithoutNoise(t *testing.T) {
	data := baselinetest.Classes(t, 300)
	var accuracies []float64
	for _, epsilon := range []float64{.3, math.Inf(1)} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Definition.Experiment(),
			own(data, epsilon), func(s *Settings) {
				s.Depth = experiment.Or[Auto, int]{Number: 5}
			}).Metrics
		accuracies = append(accuracies, m.AccuracyWithoutNoise)
	}
	if accuracies[0] != accuracies[1] {
		t.Errorf("accuracy without noise %g at epsilon = .3, %g without privacy", accuracies[0], accuracies[1])
	}
}

func TestReleased(t *testing.T) {
	p := baselinetest.Released(t, Definition, PredictFormat, own(baselinetest.Classes(t, 1000), 10),
		mat.NewDense(3, 2, []float64{-.8, 1, .8, 5, -.8, 9}))
	for i, want := range []string{"u", "v", "w"} {
		if p.Labels[i] != want {
			t.Errorf("%v: class %s, want %s", p.Rows[i], p.Labels[i], want)
		}
	}
}

// The sensitivities are reached, by rows in other leaves of all trees with another class.
func TestNeighbours(t *testing.T) {
	data := baselinetest.Classes(t, 60)
	most := baselinetest.Neighbours(t, Definition, func(s *Settings) {
		own(data, 1)(s)
		s.Trees.Number = 4
	}, func(row []float64, rng *rand.Rand) {
		row[0], row[1], row[2] = float64(rng.IntN(9)-4)/2, float64(rng.IntN(13)-1), float64(rng.IntN(3))
	})
	if len(most) != 2 || most[0] < .99 || most[1] < .99 {
		t.Errorf("queries move by %g of their sensitivities at most: are these too large?", most)
	}
}

func TestStructure(t *testing.T) {
	inputs := []table.Input{{Name: "a"}, {Name: "b", Levels: 3}, {Name: "c"}}
	s := newStructure(rand.New(rand.NewPCG(1, 1)), inputs, 50, 4)
	seen, rng := map[int]bool{}, rand.New(rand.NewPCG(2, 2))
	for tree, columns := range s.Columns {
		for k, column := range columns {
			seen[column] = true
			low, high := remains(columns, s.Cuts[tree], k)
			if cut := s.Cuts[tree][k]; column < 1 || column > 3 {
				if !(cut >= low && cut <= high) {
					t.Errorf("tree %d, node %d: the cut %g is not in [%g, %g]", tree, k, cut, low, high)
				}
			} else if cut != 0 {
				t.Errorf("tree %d, node %d: a category is cut at %g", tree, k, cut)
			}
		}
		u := []float64{2*rng.Float64() - 1, -1, 1, -1, 2*rng.Float64() - 1}
		if leaf := s.leaf(tree, u); leaf < 0 || leaf >= 16 {
			t.Errorf("leaf %d of 16", leaf)
		}
	}
	if len(seen) != 5 {
		t.Errorf("columns %v are cut, want all of 5", seen)
	}
}

// A row's own part is left out exactly: its shares are those of a forest without it.
func TestSharesWithoutRow(t *testing.T) {
	s := newStructure(rand.New(rand.NewPCG(1, 1)), []table.Input{{Name: "a"}, {Name: "b"}}, 5, 3)
	forestOf := func(rows [][]float64, labels []int) *forest {
		b := &Body{Structure: s, Variance: .1}
		for tree := range s.Columns {
			counts := make([]float64, 2*8)
			for i, u := range rows {
				counts[2*s.leaf(tree, u)+labels[i]]++
			}
			b.Counts = append(b.Counts, counts)
		}
		return newForest(b)
	}
	rows, labels := [][]float64{{.1, .2}, {-.5, .9}, {.7, -.3}, {.1, .3}}, []int{1, 0, 1, 0}
	with, without := forestOf(rows, labels), forestOf(rows[1:], labels[1:])
	a, b := with.room(), without.room()
	with.shares(rows[0], labels[0], a)
	without.shares(rows[0], -1, b)
	if math.Abs(a.of[1]-b.of[1]) > 1e-12 || a.of[1] == .5 {
		t.Errorf("shares %v, of a forest without the row %v", a.of, b.of)
	}
}

func TestRefused(t *testing.T) {
	data := baselinetest.Classes(t, 30)
	_, err := trialtest.Try(t, trialtest.Options{Workers: 1}, Definition.Experiment(), own(data, 1), func(s *Settings) {
		s.Trees.Number, s.Depth = 4000, experiment.Or[Auto, int]{Number: 12}
	})
	trialtest.Refuses(t, err, "has more than 4194304 numbers")
}
