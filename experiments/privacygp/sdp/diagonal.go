package sdp

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SolveDiagonal solves the problem of one sensitive input with independent
// noise, problem (7) of the paper with Σ = diag(d) (its Example 1):
//
//	min Σ_i d_i  subject to  d ≥ 0,  diag(d) + M − a aᵀ/q ⪰ 0
//
// M: n×n, K_XX + V, positive semi-definite. a: n numbers K_{X,s}. q: K(s,s) − ξ.
//
// The lower bound: for every n×k matrix Z whose rows have norm at most 1,
// |aᵀZ|²/q − Tr(ZᵀMZ) is a dual value (multiplier Z Zᵀ). One column suffices at
// the optimum, with z_i = ±1 where d_i > 0.
//
// Errors and progress are as for [SolveWeak].
func SolveDiagonal(ctx context.Context, m *mat.SymDense, a []float64, q float64, progress Progress) (*Solution, error) {
	n := m.SymmetricDim()
	column := mat.NewDense(len(a), 1, append([]float64(nil), a...))
	if err := checkProblem(m, column, []float64{q}); err != nil {
		return nil, err
	}
	b := &diagonalBarrier{n: n, m: m, a: column, q: q}
	b.rest.SymRankOne(m, -1/q, column.ColView(0))
	values, err := eigenvalues(&b.rest)
	if err != nil {
		return nil, err
	}
	// A feasible start well inside: every noise variance lifts the smallest
	// eigenvalue above zero by the scale of the problem.
	d := make([]float64, n)
	floats.AddConst(math.Max(0, -values[0])+math.Max(math.Abs(values[0]), values[n-1]), d)
	if !b.factorise(d) {
		return nil, errors.New("sdp: the start is not positive definite; the kernel matrix is too large in scale")
	}
	b.accept()
	nu := 2 * float64(n)
	target := targetGap * math.Max(1, floats.Sum(d))
	mu := floats.Sum(d) / nu

	var best *Solution
	iterations := 0
	path := newPath(progress, nu*mu, 1e-3*target)
	for {
		path.step()
		k, err := centre(ctx, b, mu, pathTolerance)
		iterations += k
		stalled := errors.Is(err, errStalled)
		if err != nil && !stalled {
			return nil, err
		}
		if stalled || nu*mu <= 1e4*target {
			for _, s := range b.candidates() {
				if err := b.bound(ctx, s); err != nil {
					return nil, err
				}
				if s.better(best) {
					s.tighten(best)
					best = s
				} else {
					best.tighten(s)
				}
			}
			if stalled || best.Gap() <= 1e-3*target || nu*mu <= target*1e-3 {
				break
			}
		}
		mu *= reduction
	}
	best.Iterations = iterations
	path.end()
	return best, nil
}

// diagonalBarrier is Σ d − μ log|diag(d) + N| − μ Σ log d, N = M − a aᵀ/q.
type diagonalBarrier struct {
	n    int
	m    *mat.SymDense
	a    *mat.Dense // n×1
	q    float64
	rest mat.SymDense // n×n, N

	mu             float64
	point, pending diagonalPoint
}

type diagonalPoint struct {
	d     []float64
	slack *mat.Cholesky // of diag(d) + N
}

func (b *diagonalBarrier) begin(mu float64) float64 {
	b.mu = mu
	return b.value(b.point)
}

func (b *diagonalBarrier) try(step []float64, t float64) (float64, bool) {
	d := make([]float64, b.n)
	floats.AddScaledTo(d, b.point.d, t, step)
	if !b.factorise(d) {
		return 0, false
	}
	return b.value(b.pending), true
}

func (b *diagonalBarrier) accept() { b.point = b.pending }

// factorise makes d the pending point; it returns false outside the domain.
func (b *diagonalBarrier) factorise(d []float64) bool {
	s := mat.NewSymDense(b.n, nil)
	s.CopySym(&b.rest)
	for i, v := range d {
		if !(v > 0) {
			return false
		}
		s.SetSym(i, i, s.At(i, i)+v)
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		return false
	}
	b.pending = diagonalPoint{d, &chol}
	return true
}

func (b *diagonalBarrier) value(p diagonalPoint) float64 {
	f := -b.mu * p.slack.LogDet()
	for _, v := range p.d {
		f += v - b.mu*math.Log(v)
	}
	return f
}

func (b *diagonalBarrier) derivatives() ([]float64, *mat.SymDense) {
	var z mat.SymDense // the multiplier over μ
	_ = b.point.slack.InverseTo(&z)
	g := make([]float64, b.n)
	h := mat.NewSymDense(b.n, nil)
	for i, d := range b.point.d {
		g[i] = 1 - b.mu*z.At(i, i) - b.mu/d
		for j := i; j < b.n; j++ {
			h.SetSym(i, j, b.mu*z.At(i, j)*z.At(i, j))
		}
		h.SetSym(i, i, h.At(i, i)+b.mu/(d*d))
	}
	return g, h
}

// candidates returns the current point, certified by the barrier's multiplier,
// and, where it can be computed, the exact solution on the face to which the
// current point leads.
func (b *diagonalBarrier) candidates() []*Solution {
	// Z Zᵀ = μ (diag(d) + N)⁻¹ for Z = √μ L⁻ᵀ with the Cholesky factor L.
	var l mat.TriDense
	b.point.slack.LTo(&l)
	var z mat.Dense
	eye := mat.NewDiagDense(b.n, nil)
	for i := range b.n {
		eye.SetDiag(i, math.Sqrt(b.mu))
	}
	if err := z.Solve(l.T(), eye); err != nil && !isCondition(err) {
		z = *mat.NewDense(b.n, 1, nil)
	}
	out := []*Solution{b.solution(b.point.d, &z)}
	if d, z, ok := b.face(b.signs(&z)); ok {
		out = append(out, b.solution(d, mat.NewDense(b.n, 1, z)))
	}
	return out
}

// signs returns the signs of the leading eigenvector of Z Zᵀ, which has rank
// one in the limit.
func (b *diagonalBarrier) signs(z *mat.Dense) []float64 {
	gram := mat.NewSymDense(b.n, nil)
	gram.SymOuterK(1, z)
	signs := make([]float64, b.n)
	_, v, err := eigen(gram)
	for i := range signs {
		signs[i] = 1
		if err == nil {
			signs[i] = math.Copysign(1, v.At(i, b.n-1))
		}
	}
	return signs
}

// face solves the optimality conditions for a guess F of the positive
// variances: (diag(d) + M) z = t a, aᵀz = t q, z_i = ±1 in F, d_i = 0 outside.
// For given F and signs they are linear in (z outside F, t, d in F).
func (b *diagonalBarrier) face(signs []float64) (d, z []float64, ok bool) {
	var in, out []int
	for i, v := range b.point.d {
		// On the central path d_i·(1 − z_i²) = μ: the larger factor decides.
		if v > math.Sqrt(b.mu) {
			in = append(in, i)
		} else {
			out = append(out, i)
		}
	}
	z = make([]float64, b.n)
	for _, i := range in {
		z[i] = signs[i]
	}
	// Unknowns: z outside F, then t.
	k := len(out)
	lhs := mat.NewDense(k+1, k+1, nil)
	rhs := mat.NewVecDense(k+1, nil)
	for r, i := range out {
		for c, j := range out {
			lhs.Set(r, c, b.m.At(i, j))
		}
		lhs.Set(r, k, -b.a.At(i, 0))
		lhs.Set(k, r, b.a.At(i, 0))
		for _, j := range in {
			rhs.SetVec(r, rhs.AtVec(r)-b.m.At(i, j)*z[j])
		}
	}
	lhs.Set(k, k, -b.q)
	for _, j := range in {
		rhs.SetVec(k, rhs.AtVec(k)-b.a.At(j, 0)*z[j])
	}
	var x mat.VecDense
	if err := x.SolveVec(lhs, rhs); err != nil {
		return nil, nil, false
	}
	for r, i := range out {
		z[i] = x.AtVec(r)
	}
	t := x.AtVec(k)
	d = make([]float64, b.n)
	for _, i := range in {
		var mz float64
		for j := range b.n {
			mz += b.m.At(i, j) * z[j]
		}
		if d[i] = (t*b.a.At(i, 0) - mz) / z[i]; d[i] < 0 {
			return nil, nil, false
		}
	}
	return d, z, true
}

// solution is Σ = diag(d) with the dual value of Z, whose rows are shortened to
// norm 1 where they exceed it.
func (b *diagonalBarrier) solution(d []float64, z *mat.Dense) *Solution {
	s := &Solution{Sigma: mat.NewSymDense(b.n, nil), Trace: floats.Sum(d)}
	for i, v := range d {
		s.Sigma.SetSym(i, i, v)
	}
	for i := range b.n {
		row := z.RawRowView(i)
		if norm := floats.Norm(row, 2); norm > 1 {
			floats.Scale(1/norm, row)
		}
	}
	if !finite(z) {
		return s // the dual value of Z = 0
	}
	var az, mz mat.Dense
	az.Mul(b.a.T(), z)
	mz.Mul(b.m, z)
	mz.MulElem(&mz, z)
	s.Lower = math.Max(0, floats.Dot(az.RawRowView(0), az.RawRowView(0))/b.q-mat.Sum(&mz))
	return s
}

// bound measures the violation of a solution and sets its upper bound.
func (b *diagonalBarrier) bound(ctx context.Context, s *Solution) error {
	short, err := violation(ctx, s.Sigma, b.m, b.a, []float64{b.q})
	if err != nil {
		return err
	}
	s.Violation = short
	s.Upper = s.Trace + float64(b.n)*short
	return nil
}
