package sdp

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// problem is a grid X = i/(points+1) with K(x,y) = exp(−θ(x−y)²) and V = v·I, as
// in the paper's examples.
type problem struct {
	points   int
	theta, v float64
	s, xi    []float64 // one ξ may serve for all s
}

// matrices returns M = K_XX + V, A = K_XS and q = K(s,s) − ξ.
func (p problem) matrices() (m *mat.SymDense, a *mat.Dense, q []float64) {
	k := func(x, y float64) float64 { return math.Exp(-p.theta * (x - y) * (x - y)) }
	x := func(i int) float64 { return float64(i+1) / float64(p.points+1) }
	m = mat.NewSymDense(p.points, nil)
	a = mat.NewDense(p.points, len(p.s), nil)
	q = make([]float64, len(p.s))
	for i := range p.points {
		for j := i; j < p.points; j++ {
			m.SetSym(i, j, k(x(i), x(j)))
		}
		m.SetSym(i, i, 1+p.v)
		for j, s := range p.s {
			a.Set(i, j, k(x(i), s))
		}
	}
	for j := range q {
		q[j] = 1 - p.xi[j%len(p.xi)]
	}
	return m, a, q
}

// linspace returns n points from low to high.
func linspace(low, high float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	return out
}
