package ground

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// A vector that is longer than its query allows is brought to that length, and one that is not finite is none.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		name string
		law  string
		v    []float64
		want []float64
	}{
		{"short", "gaussian", []float64{.6, .8}, []float64{.6, .8}},
		{"long", "gaussian", []float64{1.2, 1.6}, []float64{.6, .8}},
		{"hardly longer", "gaussian", []float64{.9, .8}, []float64{.9 / math.Hypot(.9, .8), .8 / math.Hypot(.9, .8)}},
		{"by magnitudes", "laplace", []float64{.6, -.9}, []float64{.4, -.6}},
		{"infinite", "gaussian", []float64{math.Inf(1), 0}, []float64{0, 0}},
		{"no number", "laplace", []float64{math.NaN(), 1}, []float64{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &Noise{query: Query{Norm: 1}, loss: experiment.Loss{Law: c.law}}
			n.clip(c.v)
			if !floats.EqualApprox(c.v, c.want, 1e-12) {
				t.Errorf("%v, want %v", c.v, c.want)
			}
		})
	}
}

// Sums of vectors with few places are those of the whole vectors, to the last bit, judged and released.
func TestSumAt(t *testing.T) {
	const rows, cells = 2*chunk + 100, 40
	d := &Data{}
	d.Epsilon, d.Delta = 1, 1e-6
	n, err := d.Gaussian(Query{What: "cells", Coordinates: cells, Norm: 1, Largest: 1, Rows: rows}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	part := &method.Part{X: mat.NewDense(rows, 1, nil), Y: make([]float64, rows)}
	for i := range part.Y {
		part.Y[i] = 2*rng.Float64() - 1
	}
	part.Y[7] = math.NaN() // no row
	few := func(row int, places []int, values []float64) {
		places[0], places[1] = 2*(row%(cells/2)), 2*(row%(cells/2))+1
		values[0], values[1] = 0.7, part.Y[row]
	}
	all := func(row int, out []float64) {
		places, values := make([]int, 2), make([]float64, 2)
		few(row, places, values)
		for i, place := range places {
			out[place] = values[i]
		}
	}
	p := &Problem{Data: d, Engine: engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)}
	for name, sums := range map[string]func() *Sums{
		"exact":  func() *Sums { return p.Judging(t.Context(), part, nil) },
		"judged": func() *Sums { return p.Judging(t.Context(), part, rand.New(rand.NewPCG(3, 4))) },
		"released": func() *Sums {
			return &Sums{ctx: t.Context(), engine: p.Engine, rows: part, source: release.Unbooked(rand.NewChaCha8([32]byte{}))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := sums().Sum(n, all)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sums().SumAt(n, 2, few)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("sums %v, %v; want %v", got, err, want)
			}
		})
	}
}
