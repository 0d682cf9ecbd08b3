package sdp

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SolveGeneral solves the problem of [SolveWeak] as a general solver does, with the n(n+1)/2
// entries of Σ as unknowns. It shows the saving by the reduction of SolveWeak, and checks it
// independently at small n.
//
// It follows the central path of
//
//	Tr Σ − μ log|Σ| − μ Σ_i log|Σ + M − a_i a_iᵀ/q_i|
//
// with Newton's method. The lower bound is the dual value of the multipliers of its last point,
// divided by the norm of their sum where that exceeds 1. Errors and progress are as for SolveWeak.
//
// A Newton step takes γn⁴/2 operations for the Hessian and n⁶/24 for its factor, and holds n⁴/2
// numbers.
func SolveGeneral(
	ctx context.Context, m *mat.SymDense, a *mat.Dense, q []float64, progress Progress,
) (*Solution, error) {
	if err := checkProblem(m, a, q); err != nil {
		return nil, err
	}
	b := newGeneralBarrier(m, a, q)
	nu := float64(b.n * len(b.shifts)) // the barrier's parameter
	target := generalGap * math.Max(b.unit, mat.Trace(b.sigma))
	mu := mat.Trace(b.sigma) / nu
	iterations := 0
	path := newPath(progress, nu*mu, target)
	for {
		path.step()
		last := nu*mu <= generalGap*math.Max(b.unit, mat.Trace(b.sigma))
		tolerance := pathTolerance
		if last {
			tolerance = certifyTolerance
		}
		k, err := centre(ctx, b, mu, tolerance)
		iterations += k
		stalled := errors.Is(err, errStalled)
		if err != nil && !stalled {
			return nil, err
		}
		if last || stalled {
			break
		}
		mu *= generalReduction
	}
	s, err := b.certify(ctx, a, q)
	if err != nil {
		return nil, err
	}
	s.Iterations = iterations
	path.end()
	return s, nil
}

const (
	// generalGap, relative to the trace or the variance of a datum, ends the path.
	generalGap = 1e-7
	// generalReduction of μ between two centrings is one that every problem bears.
	generalReduction = 0.2
)

// generalBarrier is the barrier of the weak problem in the entries of Σ. The constraints
// are Σ + shift ⪰ 0 with the shifts 0 and M − a_i a_iᵀ/q_i.
type generalBarrier struct {
	n      int
	m      *mat.SymDense
	shifts []*mat.SymDense
	unit   float64

	mu             float64
	sigma, pending *mat.SymDense // n×n
}

// newGeneralBarrier starts at a multiple of I, where a half of it is room.
func newGeneralBarrier(m *mat.SymDense, a *mat.Dense, q []float64) *generalBarrier {
	n := m.SymmetricDim()
	b := &generalBarrier{n: n, m: m, unit: unitOf(m), shifts: []*mat.SymDense{mat.NewSymDense(n, nil)},
		sigma: mat.NewSymDense(n, nil)}
	most := b.unit
	for i, v := range q {
		c := mat.NewSymDense(n, nil)
		c.SymRankOne(m, -1/v, a.ColView(i))
		b.shifts = append(b.shifts, c)
		most = math.Max(most, 2*mat.Dot(a.ColView(i), a.ColView(i))/v)
	}
	for i := range n {
		b.sigma.SetSym(i, i, most)
	}
	return b
}

func (b *generalBarrier) begin(mu float64) float64 {
	b.mu = mu
	f, _ := b.value(b.sigma)
	return f
}

// value is the barrier at Σ; false outside of its domain.
func (b *generalBarrier) value(sigma *mat.SymDense) (float64, bool) {
	f := mat.Trace(sigma)
	for _, c := range b.shifts {
		chol, ok := factorOf(sigma, c)
		if !ok {
			return 0, false
		}
		f -= b.mu * chol.LogDet()
	}
	return f, true
}

// factorOf factors Σ + shift.
func factorOf(sigma, shift *mat.SymDense) (*mat.Cholesky, bool) {
	var s mat.SymDense
	s.AddSym(sigma, shift)
	var chol mat.Cholesky
	ok := chol.Factorize(&s)
	return &chol, ok
}

func (b *generalBarrier) try(step []float64, t float64) (float64, bool) {
	b.pending = mat.NewSymDense(b.n, nil)
	p := 0
	for i := range b.n {
		for j := i; j < b.n; j++ {
			b.pending.SetSym(i, j, b.sigma.At(i, j)+t*step[p])
			p++
		}
	}
	return b.value(b.pending)
}

func (b *generalBarrier) accept() { b.sigma = b.pending }

// inverses are W = (Σ + shift)⁻¹ of all constraints; false where rounding has made one
// singular.
func (b *generalBarrier) inverses() ([]*mat.SymDense, bool) {
	out := make([]*mat.SymDense, len(b.shifts))
	for k, c := range b.shifts {
		chol, ok := factorOf(b.sigma, c)
		if !ok {
			return nil, false
		}
		out[k] = &mat.SymDense{}
		if err := chol.InverseTo(out[k]); err != nil && !isCondition(err) {
			return nil, false
		}
	}
	return out, true
}

// derivatives in the entries (i ≤ j) of Σ, of which those off the diagonal count twice:
// the gradient I − μΣW, and tr(W E W E′) for pairs of them, E = e_i e_jᵀ + e_j e_iᵀ.
func (b *generalBarrier) derivatives() ([]float64, *mat.SymDense) {
	unknowns := b.n * (b.n + 1) / 2
	gradient, hessian := make([]float64, unknowns), mat.NewSymDense(unknowns, nil)
	inverses, ok := b.inverses()
	if !ok {
		return gradient, hessian // of which no step can be taken
	}
	rows, columns := make([]int, 0, unknowns), make([]int, 0, unknowns)
	for i := range b.n {
		for j := i; j < b.n; j++ {
			rows, columns = append(rows, i), append(columns, j)
		}
	}
	share := func(p int) float64 { // of E, which is e_i e_iᵀ on the diagonal
		if rows[p] == columns[p] {
			return 0.5
		}
		return 1
	}
	for p := range unknowns {
		i, j := rows[p], columns[p]
		if i == j {
			gradient[p] = 1
		}
	}
	for _, w := range inverses {
		raw := w.RawSymmetric()
		full := mat.NewDense(b.n, b.n, nil)
		full.Copy(w)
		for p := range unknowns {
			i, j := rows[p], columns[p]
			wi, wj := full.RawRowView(i), full.RawRowView(j)
			gradient[p] -= 2 * share(p) * b.mu * raw.Data[i*raw.Stride+j]
			row := hessian.RawSymmetric().Data[p*unknowns:]
			scale := 2 * b.mu * share(p)
			for r := p; r < unknowns; r++ {
				k, l := rows[r], columns[r]
				row[r] += scale * share(r) * (wi[k]*wj[l] + wi[l]*wj[k])
			}
		}
	}
	return gradient, hessian
}

// certify bounds the optimum from both sides.
func (b *generalBarrier) certify(ctx context.Context, a *mat.Dense, q []float64) (*Solution, error) {
	short, err := violation(ctx, b.sigma, b.m, a, q)
	if err != nil {
		return nil, err
	}
	s := &Solution{Sigma: b.sigma, Trace: mat.Trace(b.sigma), Violation: short, Unit: b.unit}
	s.Upper = s.Trace + float64(b.n)*short
	inverses, ok := b.inverses()
	if !ok {
		return s, nil // the lower bound stays that of no multipliers, 0
	}
	sum := mat.NewSymDense(b.n, nil)
	values := make([]float64, len(q))
	for i, v := range q {
		u := inverses[i+1]
		u.ScaleSym(b.mu, u)
		sum.AddSym(sum, u)
		var um mat.Dense
		um.Mul(u, b.m)
		values[i] = mat.Inner(a.ColView(i), u, a.ColView(i))/v - mat.Trace(&um)
	}
	norms, err := eigenvalues(sum)
	if err != nil {
		return nil, err
	}
	s.Lower = math.Max(0, floats.Sum(values)/math.Max(1, norms[b.n-1]))
	return s, nil
}
