package sdp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// weakBarrier is the barrier of the weak problem with Σ minimised out, a
// function of Y.
//
// With B = L Y⁻¹ Lᵀ − M = V diag(b) Vᵀ the minimising Σ has the eigenvectors of
// B and the eigenvalues (b + 2μ + r)/2, r = √(b² + 4μ²): a smooth (b)⁺. The
// multiplier U of Σ + M ⪰ L Y⁻¹ Lᵀ has the eigenvalues
//
//	u = (1 + b/(r + 2μ))/2, between 0 and 1,
//
// a smooth step; at μ = 0 both are (b)⁺ and its derivative.
//
// Y comes close to singular where the sensitive inputs are many or dense, and
// differences of its entries would lose all accuracy. So Y itself is never
// stored: the point holds L and R in coordinates in which Y = I, a step is
// Y = I + H, and its Cholesky factor then moves into L and R.
type weakBarrier struct {
	m    *mat.SymDense // n×n
	a    *mat.Dense    // n×γ
	q    []float64     // γ
	n, g int           // n and γ
	rank int           // ρ

	mu             float64
	point, pending weakPoint

	gradient []float64 // ρ(ρ+1)/2, the entries (i ≤ j) of H row by row
	hessian  *mat.SymDense
	// Of addDifferences, for all ρ(ρ+1)/2 unknowns.
	products, weightedProducts *mat.Dense // ρ(ρ+1)/2×n
	differences                *mat.Dense // n×n, both halves: a product of full matrices is the faster one
	sums                       *mat.Dense // square, the upper half alone
}

// weakPoint is an iterate in the coordinates in which Y = I.
type weakPoint struct {
	l      *mat.Dense // n×ρ
	r      *mat.Dense // ρ×γ
	logDet float64    // log|Y| in the coordinates of the start
	slack  []float64  // γ, q_i − |r_i|²
	b      []float64  // n, eigenvalues of B = L Lᵀ − M
	v      *mat.Dense // n×n, eigenvectors of B
}

// newWeakBarrier starts at the point that factors gives, where half of a tolerance is
// used.
func newWeakBarrier(m *mat.SymDense, a *mat.Dense, q []float64) (*weakBarrier, error) {
	b := &weakBarrier{m: m, a: a, q: q, n: m.SymmetricDim(), g: len(q)}
	l, r, err := factors(a, q)
	if err != nil {
		return nil, err
	}
	b.rank, _ = r.Dims()
	if !b.propose(l, r, 0) {
		return nil, errors.New("sdp: the eigen-decomposition of A·diag(q)⁻¹·Aᵀ − M did not converge")
	}
	b.accept()
	p := b.rank * (b.rank + 1) / 2
	b.gradient = make([]float64, p)
	b.hessian = mat.NewSymDense(p, nil)
	b.products, b.weightedProducts = mat.NewDense(p, b.n, nil), mat.NewDense(p, b.n, nil)
	b.differences = mat.NewDense(b.n, b.n, nil)
	b.sums = mat.NewDense(p, p, nil)
	return b, nil
}

// begin sets μ; the point stays, which is near the next central one.
func (w *weakBarrier) begin(mu float64) float64 {
	w.mu = mu
	return w.value(&w.point)
}

// accept takes the proposed point.
func (w *weakBarrier) accept() { w.point = w.pending }

// try proposes Y = I + t·H with H from the step. With the factor I + tH = ccᵀ the new
// coordinates are L ← Lc⁻ᵀ and R ← cᵀR, so that L Y⁻¹ Lᵀ and r_iᵀ Y r_i are those of Y =
// I again. log|Y| adds up.
func (w *weakBarrier) try(step []float64, t float64) (float64, bool) {
	y := mat.NewSymDense(w.rank, nil) // I + t·H
	p := 0
	for i := range w.rank {
		for j := i; j < w.rank; j++ {
			y.SetSym(i, j, t*step[p])
			p++
		}
		y.SetSym(i, i, 1+y.At(i, i))
	}
	var chol mat.Cholesky
	if !chol.Factorize(y) {
		return 0, false
	}
	var c mat.TriDense // y = c cᵀ
	chol.LTo(&c)
	var lt, l, r mat.Dense
	if err := lt.Solve(&c, w.point.l.T()); err != nil && !isCondition(err) {
		return 0, false
	}
	l.CloneFrom(lt.T())
	r.Mul(c.T(), w.point.r)
	if !w.propose(&l, &r, w.point.logDet+chol.LogDet()) {
		return 0, false
	}
	return w.value(&w.pending), true
}

// propose makes (l, r) the pending point; it returns false outside the domain.
func (w *weakBarrier) propose(l, r *mat.Dense, logDet float64) bool {
	slack := make([]float64, w.g)
	for i, q := range w.q {
		c := r.ColView(i)
		slack[i] = q - mat.Dot(c, c)
		if w.mu > 0 && !(slack[i] > 0) {
			return false
		}
	}
	bm := mat.NewSymDense(w.n, nil)
	bm.SymOuterK(1, l)
	for i := range w.n {
		for j := i; j < w.n; j++ {
			bm.SetSym(i, j, bm.At(i, j)-w.m.At(i, j))
		}
	}
	b, v, err := eigen(bm)
	if err != nil || floats.HasNaN(b) {
		return false
	}
	w.pending = weakPoint{l: l, r: r, logDet: logDet, slack: slack, b: b, v: v}
	return true
}

// value is F at a point, up to a constant; Tr(B)⁺ for μ = 0.
func (w *weakBarrier) value(p *weakPoint) float64 {
	var f float64
	if w.mu == 0 {
		for _, b := range p.b {
			f += math.Max(b, 0)
		}
		return f
	}
	for _, b := range p.b {
		sigma, u := smooth(b, w.mu)
		// The slack Σ + M − L Y⁻¹ Lᵀ has the eigenvalue μ/u.
		f += sigma - w.mu*math.Log(sigma) - w.mu*math.Log(w.mu/u)
	}
	for _, s := range p.slack {
		f -= w.mu * math.Log(s)
	}
	return f - w.mu*p.logDet
}

// smooth returns the eigenvalues of Σ and U for the eigenvalue b of B, without
// cancellation for negative b, where b + r = 4μ²/(r − b).
func smooth(b, mu float64) (sigma, u float64) {
	if mu == 0 {
		if b > 0 {
			return b, 1
		}
		return 0, 0
	}
	r := math.Hypot(b, 2*mu)
	if b >= 0 {
		return (b + 2*mu + r) / 2, (1 + b/(r+2*mu)) / 2
	}
	sigma = mu + 2*mu*mu/(r-b)
	return sigma, sigma / (r + 2*mu)
}

// multipliers returns λ_i, those of r_iᵀ Y r_i ≤ q_i. They are μ/slack_i, but an
// active constraint's slack is a difference that keeps few digits as μ falls:
// there λ_i is fitted to the stationarity RΛRᵀ = G + μI by least squares, whose
// normal equations have the matrix (r_iᵀr_j)².
func (w *weakBarrier) multipliers() []float64 {
	lambda := make([]float64, w.g)
	var active []int
	for i, s := range w.point.slack {
		lambda[i] = w.mu / s
		if lambda[i] > s { // their product is μ
			active = append(active, i)
		}
	}
	if len(active) == 0 {
		return lambda
	}
	_, _, rest := w.weighted() // G + μI − Σ_inactive λ_i r_i r_iᵀ
	for i := range w.rank {
		rest.Set(i, i, rest.At(i, i)+w.mu)
	}
	columns := mat.NewDense(w.rank, len(active), nil)
	for k, i := range active {
		columns.SetCol(k, mat.Col(nil, i, w.point.r))
	}
	for i, s := range w.point.slack {
		if lambda[i] <= s {
			rest.RankOne(rest, -lambda[i], w.point.r.ColView(i), w.point.r.ColView(i))
		}
	}
	gram := mat.NewSymDense(len(active), nil)
	gram.SymOuterK(1, columns.T())
	rhs := mat.NewVecDense(len(active), nil)
	for k := range active {
		rhs.SetVec(k, mat.Inner(columns.ColView(k), rest, columns.ColView(k)))
		for l := k; l < len(active); l++ {
			gram.SetSym(k, l, gram.At(k, l)*gram.At(k, l))
		}
	}
	var chol mat.Cholesky
	var fitted mat.VecDense
	if !chol.Factorize(gram) || chol.SolveVecTo(&fitted, rhs) != nil {
		return lambda
	}
	for k, i := range active {
		if v := fitted.AtVec(k); v > 0 {
			lambda[i] = v
		}
	}
	return lambda
}

// weighted returns VᵀL (n×ρ), diag(u)VᵀL (n×ρ) and LᵀUL (ρ×ρ).
func (w *weakBarrier) weighted() (vl, uvl, lul *mat.Dense) {
	vl, uvl, lul = &mat.Dense{}, &mat.Dense{}, &mat.Dense{}
	vl.Mul(w.point.v.T(), w.point.l)
	uvl.Apply(func(i, _ int, x float64) float64 {
		_, u := smooth(w.point.b[i], w.mu)
		return u * x
	}, vl)
	lul.Mul(vl.T(), uvl)
	return vl, uvl, lul
}

// derivatives with respect to H at Y = I, in the direction E = e_i e_jᵀ + e_j e_iᵀ
// (e_i e_iᵀ for i = j) and a second such F, with G = LᵀUL, V the eigenvectors
// of B, and λ_i = μ/slack_i:
//
//	gradient −Tr((G + μI) E) + Σ_i λ_i r_iᵀ E r_i
//	Hessian  Tr((2G + μI) E F) + Σ_jk D_jk (VᵀLELᵀV)_jk (VᵀLFLᵀV)_jk
//	         + Σ_i (λ_i²/μ) (r_iᵀ E r_i) (r_iᵀ F r_i)
//
// D: divided differences of u (Daleckii and Krein), all non-negative. At μ = 0
// the terms of the slacks are left out.
func (w *weakBarrier) derivatives() ([]float64, *mat.SymDense) {
	vl, _, lul := w.weighted()
	slackRows := mat.NewDense(len(w.gradient), w.g, nil)
	p := 0
	for i := range w.rank {
		for j := i; j < w.rank; j++ {
			half := halfOnDiagonal(i, j)
			g := -2 * half * lul.At(i, j)
			if i == j {
				g -= w.mu
			}
			if w.mu > 0 {
				for k, s := range w.point.slack {
					e := 2 * half * w.point.r.At(i, k) * w.point.r.At(j, k)
					g += w.mu / s * e
					slackRows.Set(p, k, math.Sqrt(w.mu)/s*e)
				}
			}
			w.gradient[p] = g
			p++
		}
	}
	w.hessian.SymOuterK(1, slackRows)
	w.addDifferences(vl)
	w.addCurvature(lul)
	return w.gradient, w.hessian
}

// halfOnDiagonal is the factor by which e_i e_jᵀ + e_j e_iᵀ gives the direction
// of the unknown (i, j).
func halfOnDiagonal(i, j int) float64 {
	if i == j {
		return 0.5
	}
	return 1
}

// addDifferences adds Σ_jk D_jk (VᵀLELᵀV)_jk (VᵀLFLᵀV)_jk, where vl = VᵀL.
//
// With the products P_((a,b),j) = vl_ja vl_jb, a ρ(ρ+1)/2×n matrix, and
// S = P D Pᵀ, the sum for E = e_i e_jᵀ + e_j e_iᵀ and F = e_k e_lᵀ + e_l e_kᵀ is
// 2(S_(ik),(jl) + S_(il),(jk)). It takes n operations for each entry, where the
// sum as written takes n².
func (w *weakBarrier) addDifferences(vl *mat.Dense) {
	columns := mat.DenseCopyOf(vl.T())
	place := make([]int, w.rank*w.rank) // of (a, b) and (b, a) among the unknowns
	p := 0
	for a := range w.rank {
		x := columns.RawRowView(a)
		for b := a; b < w.rank; b++ {
			floats.MulTo(w.products.RawRowView(p), x, columns.RawRowView(b))
			place[a*w.rank+b], place[b*w.rank+a] = p, p
			p++
		}
	}
	for j := range w.n {
		for k := j; k < w.n; k++ {
			d := dividedDifference(w.point.b[j], w.point.b[k], w.mu)
			w.differences.Set(j, k, d)
			w.differences.Set(k, j, d)
		}
	}
	w.weightedProducts.Mul(w.products, w.differences)
	for from := 0; from < p; from += sumBlock { // S is symmetric: its upper half
		to := min(from+sumBlock, p)
		block := w.sums.Slice(from, to, from, p).(*mat.Dense)
		block.Mul(w.weightedProducts.Slice(from, to, 0, w.n), w.products.Slice(from, p, 0, w.n).T())
	}
	sums, hessian := w.sums.RawMatrix(), w.hessian.RawSymmetric()
	at := func(a, b int) float64 { return sums.Data[min(a, b)*sums.Stride+max(a, b)] }
	p = 0
	for i := range w.rank {
		for j := i; j < w.rank; j++ {
			row := hessian.Data[p*hessian.Stride:]
			toI, toJ := place[i*w.rank:], place[j*w.rank:]
			for r, k, l := p, i, j; r < len(w.gradient); r++ {
				row[r] += 2 * halfOnDiagonal(i, j) * halfOnDiagonal(k, l) * (at(toI[k], toJ[l]) + at(toI[l], toJ[k]))
				if l++; l == w.rank {
					k++
					l = k
				}
			}
			p++
		}
	}
}

// sumBlock is the number of rows of S that are multiplied at once.
const sumBlock = 128

// addCurvature adds Tr((2G + μI) E F), made symmetric in E and F.
func (w *weakBarrier) addCurvature(g *mat.Dense) {
	t := func(i, j int) float64 {
		v := g.At(i, j) + g.At(j, i)
		if i == j {
			v += w.mu
		}
		return v
	}
	p := 0
	for i := range w.rank {
		for j := i; j < w.rank; j++ {
			for r, k, l := p, i, j; r < len(w.gradient); r++ {
				// E F has the entries (i, l) for j = k, and so on.
				var h float64
				if j == k {
					h += t(l, i)
				}
				if i == k {
					h += t(l, j)
				}
				if j == l {
					h += t(k, i)
				}
				if i == l {
					h += t(k, j)
				}
				if i == j {
					h /= 2
				}
				if k == l {
					h /= 2
				}
				if h != 0 {
					w.hessian.SetSym(p, r, w.hessian.At(p, r)+h)
				}
				if l++; l == w.rank {
					k++
					l = k
				}
			}
			p++
		}
	}
}

// dividedDifference is (u(a) − u(b))/(a − b), and u′(a) for a = b, without cancellation; 0 at μ = 0
// for arguments of one sign. For arguments of one sign a·r_b − b·r_a cancels when both are large
// compared with μ; its rational form has positive terms only.
func dividedDifference(a, b, mu float64) float64 {
	ra, rb := math.Hypot(a, 2*mu), math.Hypot(b, 2*mu)
	denominator := 2 * (ra + 2*mu) * (rb + 2*mu)
	if denominator == 0 {
		return 0
	}
	if a*b <= 0 {
		if a == b {
			return mu / (ra * (ra + 2*mu))
		}
		return (a*(rb+2*mu) - b*(ra+2*mu)) / ((a - b) * denominator)
	}
	// a·rb − b·ra = 4μ²(a² − b²)/(a·rb + b·ra)
	return (4*mu*mu*(a+b)/(a*rb+b*ra) + 2*mu) / denominator
}

// isCondition reports whether gonum only warns of a large condition number.
func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}
