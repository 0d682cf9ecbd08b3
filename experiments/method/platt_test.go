package method

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/learn"
)

// The sigmoid of ten decisions has the least of Platt's loss, as SciPy 1.16 finds it (Nelder-Mead, 1e-12); that of
// decisions without order has the share of the class, and separate ones are not certain.
func TestFitSigmoid(t *testing.T) {
	decisions := []float64{-2, -1.5, -1, -.5, .25, .5, 1, 1.5, 2, 3}
	s := FitSigmoid(decisions, []bool{false, false, false, true, false, true, false, true, true, true})
	trialtest.Near(t, "A", s.A, -.71361957, 1e-6)
	trialtest.Near(t, "B", s.B, .22331613, 1e-6)
	flat := FitSigmoid([]float64{0, 0, 0, 0}, []bool{true, false, false, false})
	trialtest.Near(t, "share", flat.At(0), (2./3+3*.2)/4, 1e-6)
	apart := FitSigmoid([]float64{-1, -1, 1, 1}, []bool{false, false, true, true})
	trialtest.Near(t, "apart", apart.At(1), .75, 1e-5)
	if s := (Sigmoid{A: -1}); s.At(1e9) != 1 || s.At(-1e9) != 0 {
		t.Errorf("%g and %g far away", s.At(1e9), s.At(-1e9))
	}
}

// Pairs that agree have the probabilities behind them.
func TestCoupled(t *testing.T) {
	for _, want := range [][]float64{{.5, .5}, {.9, .1}, {.00001, .99999}, {.2, .3, .5}, {.7, .1, .1, .05, .05},
		{.9998, .0001, .0001}} {
		r := mat.NewDense(len(want), len(want), nil)
		for a, p := range want {
			for b, q := range want {
				r.Set(a, b, p/(p+q))
			}
		}
		got := coupled(r)
		for k, p := range want {
			trialtest.Near(t, "probability", got[k]/p, 1, 1e-6)
		}
	}
}

// Rows of three classes on a line have probabilities that add up to one and order them; classes that are not there have
// none.
func TestCouple(t *testing.T) {
	const rows = 60
	x, labels := mat.NewDense(rows, 1, nil), make([]int, rows)
	for i := range rows {
		labels[i] = i % 3 * 2 // 0, 2, 4
		x.Set(i, 0, float64(i%3)+math.Sin(float64(i)))
	}
	folds, err := learn.InterleavedFolds(rows, 4)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Couple(x, labels, folds, learn.SVMOptions{C: 1})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := learn.TrainSVM(x, labels, learn.SVMOptions{C: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := c.Probabilities(machine.Decisions(mat.NewDense(3, 1, []float64{-2, 1, 4})), 6)
	for i, best := range []int{0, 2, 4} {
		sum := 0.0
		for k := range p {
			if sum += p[k][i]; k != best && p[k][i] >= p[best][i] || k%2 == 1 && p[k][i] != 0 {
				t.Errorf("row %d: the class %d has %g, %d has %g", i, k, p[k][i], best, p[best][i])
			}
		}
		trialtest.Near(t, "sum", sum, 1, 1e-12)
	}
	for want, f := range map[string]learn.Fold{
		"part 1 of 1 has rows of 2 of 3 classes": {Train: []int{0, 3, 1, 4}, Test: []int{2, 5}},
		"part 1 of 1: support vector machine":    {Train: []int{0, 3, 1}, Test: []int{2, 5}},
	} {
		if _, err := Couple(x, labels, slices.Clone([]learn.Fold{f}), learn.SVMOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
