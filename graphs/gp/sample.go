package gp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// sampleAbove is the number of rows above which the race is run on half of them, at most sampleMost.
	sampleAbove = 800
	sampleMost  = 1000
	// sampleIterations bounds the steps on the sample.
	sampleIterations = 60
	// apart is the difference of log-likelihoods of the sample from which on two ends are two maxima.
	apart = 0.01
)

// lastRound is the race, on all rows, of the maxima of a sample.
var lastRound = []round{{5, 1}}

// sampled returns paths from the maxima that a sample of the rows has, the two best where there are several; nil if
// there are few rows, or the sample has no likelihood. A likelihood takes n³ operations: those of a race on the
// sample are few, and its maxima are within the error of an estimate of those of all rows.
func (p *problem) sampled(ctx context.Context) ([]*path, error) {
	if p.n <= p.above {
		return nil, nil
	}
	sub := p.sample()
	sub.options.Iterations = min(sampleIterations, p.options.Iterations)
	results, _ := sub.finish(ctx, fromStarts(sub), rounds[:1]) // none where no start has a likelihood, or for sub.err
	if results == nil {
		return nil, sub.err
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.F, b.F) })
	var paths []*path
	before := math.Inf(-1)
	for _, r := range results {
		if r.F <= before+apart {
			continue
		}
		before = r.F
		found := &path{start: r.X}
		if s := sub.curvature(ctx, r, p.n); s != nil {
			found = &path{start: make([]float64, len(r.X)), origin: r.X, scale: s}
		}
		paths = append(paths, found)
	}
	p.sampling = sub.evaluations
	return paths, sub.err
}

// curvature returns S with SSᵀ = H⁻¹ for the Hessian H that n rows have at the end of a search if it is that of the
// sample, in proportion to the rows: in the variables v of u = u₀ + Sv the likelihood is a round bowl of curvature one,
// and a step along its gradient is Newton's. H is taken of differences of gradients; a curvature below least
// of the largest, of a hyper-parameter without effect, counts as that. It is nil where
// no direction is curved.
func (p *problem) curvature(ctx context.Context, r result, n int) *mat.Dense {
	const difference, least = 1e-4, 1e-4
	d := len(r.X)
	h := mat.NewSymDense(d, nil)
	_, at := p.compute(ctx, r.X)
	for i := range d {
		u := slices.Clone(r.X)
		u[i] += difference
		_, moved := p.compute(ctx, u)
		for j := range d {
			share := 0.5 // of both triangles
			if i == j {
				share = 1
			}
			h.SetSym(i, j, h.At(i, j)+share*(moved[j]-at[j])/difference*float64(n)/float64(p.n))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		return nil
	}
	values := e.Values(nil)
	if !(values[d-1] > 0) {
		return nil
	}
	var s mat.Dense
	e.VectorsTo(&s)
	s.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(max(values[j], least*values[d-1])) }, &s)
	return &s
}

// point returns u = u₀ + Sv.
func (w *path) point(v []float64) []float64 {
	if w.origin == nil {
		return v
	}
	u := mat.NewVecDense(len(v), slices.Clone(w.origin))
	u.AddVec(u, w.times(w.scale, v))
	return u.RawVector().Data
}

// slope returns the derivative by v for the derivative g by u.
func (w *path) slope(g []float64) []float64 {
	if w.origin == nil {
		return g
	}
	return w.times(w.scale.T(), g).RawVector().Data
}

func (w *path) times(s mat.Matrix, v []float64) *mat.VecDense {
	var out mat.VecDense
	out.MulVec(s, mat.NewVecDense(len(v), v))
	return &out
}

// sampleOf returns the rows of a sample of n, ascending: one of each of m parts, at a place in it that multiples of the
// golden section give, so that the sample has no period that the rows may have.
func sampleOf(n int) []int {
	rows := make([]int, min(n/2, sampleMost))
	for i := range rows {
		_, within := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
		rows[i] = int((float64(i) + within) * float64(n) / float64(len(rows)))
	}
	return rows
}

// sample returns the problem of a sample of the rows, in the same units.
func (p *problem) sample() *problem {
	rows := sampleOf(p.n)
	m := len(rows)
	_, d := p.x.Dims()
	x, y := mat.NewDense(m, d, nil), make([]float64, m)
	for i, row := range rows {
		x.SetRow(i, p.x.RawRowView(row))
		y[i] = p.y[row]
	}
	sub := *p
	sub.options.Progress = nil
	sub.likelihood, sub.n, sub.evaluations = newLikelihood(p.e, x, y, p.options), m, 0
	return &sub
}
