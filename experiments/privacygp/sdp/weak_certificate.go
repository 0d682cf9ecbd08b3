package sdp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// certify measures the current point: Σ = (L Y⁻¹ Lᵀ − M)⁺ and its violation
// give the upper bound, the multipliers lambda of r_iᵀ Y r_i ≤ q_i the lower.
//
// Σ + violation·I satisfies every constraint, at a cost of n·violation in the trace:
// where dense sensitive inputs make the constraints ill-conditioned that can be the
// larger part of the gap.
func (w *weakBarrier) certify(ctx context.Context, lambda []float64) (*Solution, error) {
	sigma := mat.NewSymDense(w.n, nil)
	var trace float64
	for j, b := range w.point.b {
		if b > 0 {
			sigma.SymRankOne(sigma, b, w.point.v.ColView(j))
			trace += b
		}
	}
	short, err := violation(ctx, sigma, w.m, w.a, w.q)
	if err != nil {
		return nil, err
	}
	lower, err := w.dualValue(lambda)
	if err != nil {
		return nil, err
	}
	schur := mat.NewSymDense(w.g, nil)
	schur.SymOuterK(1, w.point.r.T())
	return &Solution{
		Sigma: sigma, Trace: trace, Violation: short,
		Upper: trace + float64(w.n)*short, Lower: lower, Schur: schur, Unit: unitOf(w.m),
	}, nil
}

// dualValue is Σ_i (c_iᵀa_i)²/q_i − Tr(CᵀMC) for c_i = √λ_i (Σ+M)⁻¹ a_i, that is
// C = U L (G + μI)⁻¹ R Λ^½ with G = LᵀUL. On the central path RΛRᵀ = G + μI, so
// that CCᵀ ⪯ U ⪯ I; elsewhere C is clipped. It is 0, the value of C = 0, where
// that is better or G + μI is singular.
func (w *weakBarrier) dualValue(lambda []float64) (float64, error) {
	_, uvl, lul := w.weighted()
	g := mat.NewSymDense(w.rank, nil)
	for i := range w.rank {
		for j := i; j < w.rank; j++ {
			g.SetSym(i, j, (lul.At(i, j)+lul.At(j, i))/2)
		}
		g.SetSym(i, i, g.At(i, i)+w.mu)
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return 0, nil
	}
	var scaled, x, vc, c mat.Dense
	scaled.Apply(func(_, j int, v float64) float64 { return v * math.Sqrt(math.Max(0, lambda[j])) }, w.point.r)
	if err := chol.SolveTo(&x, &scaled); err != nil && !isCondition(err) {
		return 0, nil
	}
	vc.Mul(uvl, &x)
	c.Mul(w.point.v, &vc) // n×γ
	if !finite(&c) {
		return 0, nil
	}
	if err := clipNorm(&c); err != nil {
		return 0, err
	}
	var mc mat.Dense
	mc.Mul(w.m, &c)
	var value float64
	for i, qi := range w.q {
		ca := mat.Dot(c.ColView(i), w.a.ColView(i))
		value += ca*ca/qi - mat.Dot(c.ColView(i), mc.ColView(i))
	}
	return math.Max(0, value), nil // the better of C and 0
}

// clipNorm replaces C by the nearest matrix with ‖C‖₂ ≤ 1: C·V·diag(min(1, 1/σ))·Vᵀ
// for the singular values σ and right singular vectors V, with an allowance for
// rounding. The dual value is no longer stationary in a clipped C, but valid.
func clipNorm(c *mat.Dense) error {
	_, cols := c.Dims()
	for range 2 { // the second pass measures, and clips rounding errors
		gram := mat.NewSymDense(cols, nil)
		gram.SymOuterK(1, c.T())
		squares, v, err := eigen(gram)
		if err != nil {
			return err
		}
		if squares[cols-1] <= 1 {
			return nil
		}
		var cv, clipped mat.Dense
		cv.Mul(c, v)
		cv.Apply(func(_, j int, x float64) float64 {
			if squares[j] > 1 {
				return x * (1 - 1e-15) / math.Sqrt(squares[j])
			}
			return x
		}, &cv)
		clipped.Mul(&cv, v.T())
		c.Copy(&clipped)
	}
	gram := mat.NewSymDense(cols, nil)
	gram.SymOuterK(1, c.T())
	squares, err := eigenvalues(gram)
	if err != nil {
		return err
	}
	c.Scale(1/math.Sqrt(math.Max(1, squares[cols-1]*(1+1e-14))), c)
	return nil
}

// faceStep is the Newton step at μ = 0 on the face on which the constraints in
// active hold with equality, and the multipliers there (0 for the others):
//
//	[H Eᵀ; E 0] [step; λ] = [−∇; slack],  E_i: H ↦ r_iᵀ H r_i
//
// with the derivatives of Tr(L Y⁻¹ Lᵀ − M)⁺. The system is symmetric and indefinite,
// and solved by LU: its order is P + γ at most.
func (w *weakBarrier) faceStep(active []int) (step, lambda []float64, ok bool) {
	gradient, hessian := w.derivatives()
	p, k := len(gradient), len(active)
	kkt := mat.NewDense(p+k, p+k, nil)
	rhs := mat.NewVecDense(p+k, nil)
	for i, v := range gradient {
		rhs.SetVec(i, -v)
		for j := range p {
			kkt.Set(i, j, hessian.At(i, j))
		}
	}
	for row, c := range active {
		rhs.SetVec(p+row, w.point.slack[c])
		col := 0
		for i := range w.rank {
			for j := i; j < w.rank; j++ {
				e := w.point.r.At(i, c) * w.point.r.At(j, c)
				if i != j {
					e *= 2
				}
				kkt.Set(p+row, col, e)
				kkt.Set(col, p+row, e)
				col++
			}
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(kkt, rhs); err != nil && !isCondition(err) {
		return nil, nil, false
	}
	if !finite(&x) {
		return nil, nil, false
	}
	step = x.RawVector().Data[:p]
	lambda = make([]float64, w.g)
	for row, c := range active {
		lambda[c] = x.AtVec(p + row)
	}
	return step, lambda, true
}
