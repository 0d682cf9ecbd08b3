package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// The slope of rows that are drawn from a softmax is found, and their probabilities.
func TestFitSoftmax(t *testing.T) {
	const rows, slope = 4000, 2.0
	rng := rand.New(rand.NewPCG(1, 2))
	shares := []float64{.6, .3, .1}
	labels, trained := make([]int, rows), make([]int, 3)
	scores := [][]float64{make([]float64, rows), make([]float64, rows), make([]float64, rows)}
	truth := &Softmax{Slope: slope, Shares: shares}
	for i := range rows {
		for c := range scores {
			scores[c][i] = 3 + rng.Float64()
		}
	}
	p := truth.Probabilities(scores)
	for i := range rows {
		for u := rng.Float64(); labels[i] < 2 && u >= p[labels[i]][i]; labels[i]++ {
			u -= p[labels[i]][i]
		}
		trained[labels[i]]++
	}
	got := FitSoftmax(scores, labels, []int{5999, 2999, 999})
	trialtest.Near(t, "slope", got.Slope, slope, .2)
	trialtest.Near(t, "doubt", got.Doubt, 1./(rows+2), 0)
	for c, want := range shares {
		trialtest.Near(t, "share", got.Shares[c], want, 1e-15)
	}
	for _, other := range []float64{.9, 1.1} {
		at := *got
		if at.Slope *= other; at.loss(scores, labels) < got.loss(scores, labels) {
			t.Errorf("the slope %g is better than %g", at.Slope, got.Slope)
		}
	}
}

// Probabilities add up to one for any scores; a row has more of a class that it is nearer to.
func TestSoftmax(t *testing.T) {
	inf := math.Inf(-1)
	s := &Softmax{Slope: 1, Shares: []float64{.5, .25, .25}, Doubt: .1}
	for _, c := range []struct{ scores, want []float64 }{
		{[]float64{0, 0, 0}, []float64{.5, .25, .25}},
		{[]float64{inf, inf, inf}, []float64{.5, .25, .25}},
		{[]float64{inf, 7, inf}, []float64{.05, .925, .025}},
		{[]float64{-1e4, -1e4 + math.Log(2), -2e4}, []float64{.5, .475, .025}},
	} {
		got := s.Probabilities([][]float64{c.scores[:1], c.scores[1:2], c.scores[2:]})
		for k, want := range c.want {
			trialtest.Near(t, "probability", got[k][0], want, 1e-9)
		}
	}
}

// Scores that tell nothing, or the wrong class, leave the shares; those that tell all leave a doubt.
func TestFitSoftmaxAtItsEnds(t *testing.T) {
	labels := []int{0, 0, 0, 1}
	for _, c := range []struct {
		name  string
		first []float64 // of the first class; the second has its negative
		loss  float64   // of the same rows
	}{
		{"equal", []float64{0, 0, 0, 0}, (3*-math.Log(4./6) - math.Log(2./6)) / 4},
		{"wrong", []float64{-1, -1, -1, 1}, (3*-math.Log(4./6) - math.Log(2./6)) / 4},
		{"right", []float64{1, 1, 1, -1}, (3*-math.Log(5./6+4./36) - math.Log(5./6+2./36)) / 4},
	} {
		second := slices.Clone(c.first)
		for i := range second {
			second[i] *= -1
		}
		scores := [][]float64{c.first, second}
		trialtest.Near(t, c.name, FitSoftmax(scores, labels, []int{3, 1}).loss(scores, labels), c.loss, 1e-6)
	}
}
