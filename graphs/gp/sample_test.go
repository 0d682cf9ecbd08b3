package gp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// wave returns n observations of a function of the first of d inputs.
func wave(n, d int) (x *mat.Dense, y []float64) {
	r := graphtest.Rand(3)
	x, y = mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for k := range d {
			x.Set(i, k, r.Float64())
		}
		y[i] = math.Sin(8*x.At(i, 0)) + 0.2*r.NormFloat64()
	}
	return x, y
}

// The maximum that is found from a sample of the rows is that of all starts on all rows, with few evaluations on them.
func TestSample(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	for _, d := range []int{1, 3} { // two of the three inputs have no effect
		x, y := wave(240, d)
		find := func(above int) (*Fit, *problem, []int) {
			var done []int
			p, err := newProblem(e, x, y, Options{Kernel: kernel.EQ(1, 1), Mean: true,
				Progress: func(i, expected int) { done = append(done, expected-i) }})
			if err != nil {
				t.Fatal(err)
			}
			p.above = above
			f, err := p.maximise(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return f, p, done
		}
		all, whole, _ := find(240)
		f, p, done := find(239)
		if !f.Converged || f.LogLikelihood < all.LogLikelihood-1e-5 {
			t.Errorf("%d inputs: log-likelihood %.9g, from all rows %.9g", d, f.LogLikelihood, all.LogLikelihood)
		}
		if whole.sampling != 0 || p.sampling == 0 || 2*p.evaluations > whole.evaluations {
			t.Errorf("%d inputs: %d evaluations and %d on the sample, of all rows %d and %d", d, p.evaluations, p.sampling,
				whole.evaluations, whole.sampling)
		}
		if len(done) != p.evaluations || floats.Min(asFloats(done)) < 1 {
			t.Errorf("%d inputs: %d evaluations are told of %d, left are %v", d, len(done), p.evaluations, done)
		}
	}
}

func asFloats(values []int) (out []float64) {
	for _, v := range values {
		out = append(out, float64(v))
	}
	return out
}

// A sample has rows of all parts of the data, each once.
func TestRowsOfSample(t *testing.T) {
	for _, n := range []int{2, 3, 801, 1000, 4181} {
		rows := sampleOf(n)
		for i, row := range rows {
			before := -1
			if i > 0 {
				before = rows[i-1]
			}
			if gap := row - before; gap < 1 || gap > 2*n/len(rows)+1 {
				t.Errorf("of %d rows number %d follows %d", n, row, before)
			}
		}
		if last := rows[len(rows)-1]; len(rows) != min(n/2, sampleMost) || last >= n || last < n-1-2*n/len(rows) {
			t.Errorf("%d of %d rows up to number %d", len(rows), n, last)
		}
	}
}
