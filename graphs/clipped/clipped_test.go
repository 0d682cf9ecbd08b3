package clipped

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
)

// problem are examples of a network.
type problem struct {
	name    string
	network Network
	loss    Loss
	length  int // of a row
	last    bool
}

// problems have rows whose last number is one where that is last.
var problems = []problem{
	{"linear regression", Dense{Length: 4, Targets: 1}, Squared, 4, true},
	{"regression with hidden units", Dense{Length: 4, Hidden: 5, Targets: 1}, Squared, 4, true},
	{"one hidden unit", Dense{Length: 4, Hidden: 1, Targets: 1}, Squared, 4, true},
	{"linear classification", Dense{Length: 4, Targets: 3}, CrossEntropy, 4, true},
	{"classification with hidden units", Dense{Length: 4, Hidden: 5, Targets: 3}, CrossEntropy, 4, true},
	{"convolution", Convolution{Width: 14, Height: 15, Targets: 3}, CrossEntropy, 14 * 15, false},
}

// draw returns rows, targets and weights.
func (p problem) draw(rows int) (x, targets *mat.Dense, weights []float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, targets = mat.NewDense(rows, p.length, nil), mat.NewDense(rows, p.network.Outputs(), nil)
	x.Apply(func(_, j int, _ float64) float64 {
		if p.last && j == p.length-1 {
			return 1
		}
		return rng.NormFloat64()
	}, x)
	for i := range rows {
		if p.loss == Squared {
			targets.Set(i, 0, rng.NormFloat64())
		} else {
			targets.Set(i, rng.IntN(p.network.Outputs()), 1)
		}
	}
	weights = make([]float64, p.network.Len())
	for i := range weights {
		weights[i] = rng.NormFloat64()
	}
	if c, ok := p.network.(Convolution); ok { // units that are not saturated
		c.Start(weights, rng)
	}
	return x, targets, weights
}

// at is the loss at one row.
func (p problem) at(t *testing.T, e *engine.Engine, x, targets *mat.Dense, weights []float64) float64 {
	t.Helper()
	outputs, err := Evaluate(t.Context(), e, p.network, weights, x)
	if err != nil {
		t.Fatal(err)
	}
	o, y := outputs.RawRowView(0), targets.RawRowView(0)
	if p.loss == Squared {
		return (o[0] - y[0]) * (o[0] - y[0]) / 2
	}
	return floats.LogSumExp(o) - floats.Dot(o, y)
}

// sum is that over all rows.
func (p problem) sum(t *testing.T, e *engine.Engine, x, targets *mat.Dense, weights []float64, clip float64) []float64 {
	t.Helper()
	s, err := Over(e, p.network, p.loss, x, targets, clip)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.All(t.Context(), weights)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// row is one row of a matrix.
func row(a *mat.Dense, i int) *mat.Dense { return mat.NewDense(1, a.RawMatrix().Cols, a.RawRowView(i)) }

// The gradient at a row has the central differences of the loss.
func TestGradient(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			x, targets, weights := p.draw(1)
			got := p.sum(t, e, x, targets, weights, 1e9)
			const step = 1e-6
			for i := 0; i < len(weights); i += 1 + len(weights)/60 {
				at := weights[i]
				weights[i] = at + step
				up := p.at(t, e, x, targets, weights)
				weights[i] = at - step
				want := (up - p.at(t, e, x, targets, weights)) / (2 * step)
				weights[i] = at
				if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
					t.Errorf("weight %d: derivative %g, and by differences %g", i, got[i], want)
				}
			}
		})
	}
}

// The sum over seven rows is that of the sums over one, each of the norm of the clip or less, whether the rows are all
// or gathered among others.
func TestRowsApart(t *testing.T) {
	e := graphtest.Engine(t, "float64", 2)
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			const clip = 1.5
			x, targets, weights := p.draw(12)
			seven := []int{0, 2, 3, 5, 8, 9, 11}
			want, clipped := make([]float64, len(weights)), 0
			few, of := mat.NewDense(7, p.length, nil), mat.NewDense(7, p.network.Outputs(), nil)
			for k, i := range seven {
				few.SetRow(k, x.RawRowView(i))
				of.SetRow(k, targets.RawRowView(i))
				one := p.sum(t, e, row(x, i), row(targets, i), weights, clip)
				norm := floats.Norm(one, 2)
				if norm > clip*(1+1e-12) {
					t.Errorf("row %d has a gradient of the norm %g, clipped to %g", i, norm, clip)
				}
				if norm > clip*(1-1e-12) {
					clipped++
				}
				floats.Add(want, one)
			}
			if clipped == 0 {
				t.Error("no row is clipped")
			}
			near := func(what string, got []float64) {
				if far := floats.Distance(got, want, 2); far > 1e-12*floats.Norm(want, 2) {
					t.Errorf("%s: the sum is off by %g", what, far)
				}
			}
			near("all", p.sum(t, e, few, of, weights, clip))
			s, err := Among(e, p.network, p.loss, x, targets, clip)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, err := s.Of(t.Context(), weights, seven)
			if err != nil {
				t.Fatal(err)
			}
			near("gathered", got)
		})
	}
}

// Parts of many rows add up, with the same bits for any number of workers.
func TestManyRows(t *testing.T) {
	for _, p := range problems[2:5] {
		t.Run(p.name, func(t *testing.T) {
			x, targets, weights := p.draw(2*successiveRows + 5)
			var first []float64
			for _, workers := range []int{1, 3} {
				e := graphtest.Engine(t, "float64", workers)
				got := p.sum(t, e, x, targets, weights, 1)
				if first == nil {
					first = got
				} else if !floats.Equal(got, first) {
					t.Error("more workers have other bits")
				}
				s, err := Among(e, p.network, p.loss, x, targets, 1)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				all := make([]int, x.RawMatrix().Rows)
				for i := range all {
					all[i] = i
				}
				gathered, err := s.Of(t.Context(), weights, all)
				if err != nil {
					t.Fatal(err)
				}
				if far := floats.Distance(gathered, got, 2); far > 1e-11*floats.Norm(got, 2) {
					t.Errorf("the sum of gathered rows is off by %g", far)
				}
			}
		})
	}
}
