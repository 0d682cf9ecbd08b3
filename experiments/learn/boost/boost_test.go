package boost

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// friedman are n rows of five inputs and the outputs of Friedman's first function, with noise of variance 1.
func friedman(n int, seed uint64) (*mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, 5, nil), make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.Float64()
		}
		y[i] = 10*math.Sin(math.Pi*row[0]*row[1]) + 20*(row[2]-.5)*(row[2]-.5) + 10*row[3] + 5*row[4] + rng.NormFloat64()
	}
	return x, y
}

func rmse(got, want []float64) float64 {
	sum := 0.0
	for i, v := range want {
		sum += (v - got[i]) * (v - got[i])
	}
	return math.Sqrt(sum / float64(len(want)))
}

// The error comes near that of the noise, 1, and falls with the rounds.
func TestRegression(t *testing.T) {
	x, y := friedman(2000, 1)
	test, want := friedman(1000, 2)
	m, err := Regression(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var errors []float64
	m.Stages(test, func(_ int, scores [][]float64) { errors = append(errors, rmse(scores[0], want)) })
	if len(errors) != 101 || errors[0] < 4.5 || errors[20] > 2 || errors[100] > 1.45 {
		t.Errorf("of %d stages, the errors are %g, %g after 20 rounds and %g after all", len(errors), errors[0], errors[20],
			errors[len(errors)-1])
	}
}

// On a table that two leaves describe, trees are those leaves: each round takes a tenth of what is left.
func TestStep(t *testing.T) {
	x, y := mat.NewDense(8, 2, nil), make([]float64, 8)
	for i := range 8 {
		x.SetRow(i, []float64{float64(i), 7})
		if i >= 3 {
			y[i] = 8
		}
	}
	m, err := Regression(x, y, Options{Rounds: 3, Least: 1})
	if err != nil {
		t.Fatal(err)
	}
	scores := m.Scores(mat.NewDense(4, 2, []float64{-9, 0, 2.4, 0, 2.6, 0, 99, 0}))[0]
	const left = .9 * .9 * .9
	for i, want := range []float64{5 * left, 5 * left, 8 - 3*left, 8 - 3*left} {
		if math.Abs(scores[i]-want) > 1e-12 {
			t.Errorf("the score of row %d is %g, want %g", i, scores[i], want)
		}
	}
}

func TestClassification(t *testing.T) {
	for _, classes := range []int{2, 3} {
		x, y := friedman(1500, 3)
		test, other := friedman(500, 4)
		labels := func(y []float64) []int {
			out := make([]int, len(y))
			for i, v := range y {
				switch {
				case v > 17 && classes > 2:
					out[i] = 2
				case v > 13:
					out[i] = 1
				}
			}
			return out
		}
		want := labels(other)
		m, err := Classification(x, labels(y), classes, Options{})
		if err != nil {
			t.Fatal(err)
		}
		scores, right := m.Scores(test), 0.0
		for i, l := range want {
			best := 0
			for c := range scores {
				if scores[c][i] > scores[best][i] {
					best = c
				}
			}
			if best == l {
				right += 1 / float64(len(want))
			}
		}
		if len(scores) != classes || right < []float64{.86, .78}[classes-2] {
			t.Errorf("%d scores, accuracy %g", len(scores), right)
		}
	}
}

// Ends lie between neighbouring values, and none on the upper one.
func TestEnds(t *testing.T) {
	up := math.Nextafter(1, 2)
	if got := endsOf([]float64{3, 1, up, 3, 1}, mostBins); len(got) != 2 || got[0] != 1 || got[1] != up/2+1.5 {
		t.Errorf("the ends are %v", got)
	}
	var column []float64
	for i := range 1000 {
		column = append(column, math.Floor(float64(i)/2))
	}
	ends := endsOf(column, mostBins)
	if len(ends) != mostBins-1 || ends[0] < 0 || ends[len(ends)-1] >= 499 {
		t.Errorf("%d ends from %g to %g", len(ends), ends[0], ends[len(ends)-1])
	}
	if got := endsOf([]float64{5, 5, 5}, mostBins); got != nil {
		t.Errorf("equal values have the ends %v", got)
	}
}

func TestRefused(t *testing.T) {
	x, y := friedman(30, 1)
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 1, math.NaN())
	for name, fit := range map[string]func() error{
		"NaN":       func() error { _, err := Regression(bad, y, Options{}); return err },
		"length":    func() error { _, err := Regression(x, y[1:], Options{}); return err },
		"one leaf":  func() error { _, err := Regression(x, y, Options{Leaves: 1}); return err },
		"one class": func() error { _, err := Classification(x, make([]int, 30), 1, Options{}); return err },
		"a label":   func() error { _, err := Classification(x, append(make([]int, 29), 2), 2, Options{}); return err },
	} {
		if fit() == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func BenchmarkRegression(b *testing.B) {
	x, y := friedman(20000, 1)
	for b.Loop() {
		if _, err := Regression(x, y, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
