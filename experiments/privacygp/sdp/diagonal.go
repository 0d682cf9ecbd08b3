package sdp

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// SolveDiagonal solves the problem of one sensitive input with independent noise, problem (7) of
// the paper with Σ = diag(d) (its Example 1):
//
//	min Σ_i d_i  subject to  d ≥ 0,  diag(d) + M − a aᵀ/q ⪰ 0
//
// M: n×n, K_XX + V, positive semi-definite to rounding; it may be singular. a: n numbers K_{X,s}.
// q: K(s,s) − ξ.
//
// One column suffices for the multiplier, so that the dual has n + 1 unknowns: with ζ = √λ z it is
// the concave program
//
//	max 2aᵀζ − ζᵀMζ/λ − qλ  subject to  ζ_i² ≤ λ,
//
// whose multipliers are d/λ. A primal-dual method with a predictor and a corrector follows its
// central path,
//
//	(diag(d) + M) z = √λ a,  λq = zᵀMz + Σ_i d_i,  d_i (1 − z_i²) = μ,
//
// with one factorisation of M + diag(d(1 + z²)/(1 − z²)) a step: M itself is never inverted. It
// ends with the exact solution on the face that the path points to, where that is certified more
// tightly.
//
// The lower bound is the dual value (aᵀz)²/q − zᵀMz of a z with |z_i| ≤ 1. The upper one is Σ_i
// (d_i + v) for a v with which the constraint is proved by a Cholesky factorisation. Both are
// rounded outward.
//
// Errors and progress are as for [SolveWeak].
//
// A step is one Cholesky factorisation and a few solves, n³/3 + O(n²) operations; memory is a few
// n×n matrices. Where rounding stops the path the best certified point is returned with its
// [Solution.Gap].
func SolveDiagonal(ctx context.Context, m *mat.SymDense, a []float64, q float64, progress Progress) (*Solution, error) {
	column := mat.NewDense(len(a), 1, append([]float64(nil), a...))
	if err := checkProblem(m, column, []float64{q}); err != nil {
		return nil, err
	}
	p := &diagonalProblem{n: len(a), m: m, a: column.ColView(0).(*mat.VecDense), q: q, unit: unitOf(m)}
	if floats.Norm(a, math.Inf(1)) == 0 { // nothing is known of f(s)
		return p.certify(make([]float64, p.n), make([]float64, p.n)), nil
	}
	at, err := p.start()
	if err != nil {
		return nil, err
	}
	path := newPath(progress, at.complementarity(), diagonalGap*p.scale(at.d))
	path.step()
	next := at.complementarity() * reduction
	iterations := 0
	for iterations < maxDiagonal {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for ; at.complementarity() < next; next *= reduction {
			path.step()
		}
		if math.Max(at.complementarity(), at.residual) <= diagonalGap*p.scale(at.d) {
			break
		}
		following := p.step(at)
		if following == nil {
			break // rounding has taken over
		}
		at = following
		iterations++
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	best := p.certify(at.d, at.z.RawVector().Data)
	if d, z, ok := p.face(at); ok {
		if s := p.certify(d, z); s.better(best) {
			s.tighten(best)
			best = s
		} else {
			best.tighten(s)
		}
	}
	best.Iterations = iterations
	path.end()
	return best, nil
}

const (
	// diagonalGap ends the path, for the sum of d_i(1 − z_i²) and the residuals
	// of the other two conditions, relative to the trace.
	diagonalGap = 1e-11
	// maxDiagonal bounds the steps; 10 to 60 are usual.
	maxDiagonal = 300
	// spread is the least d_i(1 − z_i²) of a step, relative to their mean.
	spread = 1e-3
	// outweigh is the largest residual of a step, relative to the sum of the
	// d_i(1 − z_i²), so that those do not vanish before it does.
	outweigh = 10
	// shortStep is the length of a step after which the next only centres.
	shortStep = 0.1
)

// diagonalProblem holds the input of [SolveDiagonal].
type diagonalProblem struct {
	n    int
	m    *mat.SymDense // n×n
	a    *mat.VecDense // n
	q    float64
	unit float64 // mean of M's diagonal
}

// scale is the reference of relative gaps: the trace, or the data's mean variance where that is
// larger.
func (p *diagonalProblem) scale(d []float64) float64 { return math.Max(floats.Sum(d), p.unit) }

// diagonalPoint is an iterate: d > 0, |z_i| < 1, λ > 0.
//
// Optimality is r1 = 0, r2 = 0 and product = 0: d is primal feasible, ζ = √λ z and λ are
// dual feasible, and the gap of the pair vanishes. An iterate keeps the strict
// inequalities, so that products are positive; the residuals need not be zero on the
// way.
type diagonalPoint struct {
	d      []float64
	z      *mat.VecDense
	lambda float64

	mz, r1   *mat.VecDense // Mz; (diag(d) + M)z − √λ a
	r2       float64       // λq − zᵀMz − Σd
	product  []float64     // d_i (1 − z_i²)
	residual float64       // |r1|₁ + |r2|
	centring bool          // the next step only centres
}

// at evaluates the conditions at a point.
func (p *diagonalProblem) at(d []float64, z *mat.VecDense, lambda float64) *diagonalPoint {
	x := &diagonalPoint{d: d, z: z, lambda: lambda, mz: &mat.VecDense{}, r1: mat.NewVecDense(p.n, nil),
		product: make([]float64, p.n)}
	x.mz.MulVec(p.m, z)
	tau := math.Sqrt(lambda)
	for i, v := range d {
		zi := z.AtVec(i)
		x.r1.SetVec(i, x.mz.AtVec(i)+v*zi-tau*p.a.AtVec(i))
		// (1 − z)(1 + z), not 1 − z²: near |z| = 1 the square loses half of the digits.
		x.product[i] = v * (1 - zi) * (1 + zi)
	}
	x.r2 = lambda*p.q - mat.Dot(z, x.mz) - floats.Sum(d)
	x.residual = mat.Norm(x.r1, 1) + math.Abs(x.r2)
	return x
}

// complementarity is Σ d_i (1 − z_i²), half of the gap on the central path.
func (x *diagonalPoint) complementarity() float64 { return floats.Sum(x.product) }

// start returns a point without residuals: for d = δ, large enough, the other two
// conditions give z and λ.
//
// From z = √λ(M + δI)⁻¹a = √λ w follow r1 = 0 and, with λ(q − wᵀMw) = nδ, r2 = 0. As δ
// grows w tends to a/δ and |z_i| below one, so that some δ will do; it is doubled until
// one does.
func (p *diagonalProblem) start() (*diagonalPoint, error) {
	most := mat.Norm(p.a, math.Inf(1))
	delta := math.Max(2*float64(p.n)*most*(most/p.q), 1e-3*p.unit)
	for range 100 {
		s := mat.NewSymDense(p.n, nil)
		s.CopySym(p.m)
		for i := range p.n {
			s.SetSym(i, i, s.At(i, i)+delta)
		}
		var chol mat.Cholesky
		if chol.Factorize(s) {
			var w, mw mat.VecDense // w = z/√λ
			if err := chol.SolveVecTo(&w, p.a); err != nil && !isCondition(err) {
				return nil, err
			}
			mw.MulVec(p.m, &w)
			room := p.q - mat.Dot(&w, &mw)
			lambda := float64(p.n) * delta / room
			largest := mat.Norm(&w, math.Inf(1))
			if room > 0 && lambda*largest*largest < 0.5 {
				w.ScaleVec(math.Sqrt(lambda), &w)
				d := make([]float64, p.n)
				floats.AddConst(delta, d)
				return p.at(d, &w, lambda), nil
			}
		}
		delta *= 2
	}
	return nil, errors.New("sdp: no noise variance makes a start feasible; the kernel matrix is too large in scale")
}

// direction is a step of the point: z, log λ, and λ times the multipliers, of which ζ
// moves by √λ(z + zρ/2) and the slacks λ(1 − z²) by λ·slack. Over λ a slack is e +
// t·slack − t²·zeta² at the length t, known for every t without a new factorisation.
type direction struct {
	z, zeta *mat.VecDense
	rho     float64
	d       []float64
	slack   []float64
}

// diagonalNewton is the linear system of a step. In (z, ρ = log λ) the Hessian of
// the Lagrangian with the d_i(1 − z_i²) linearised is
//
//	[2(C + E), −Cz; ., zᵀCz/2 + Σ d(1 − z²)],  C = M + diag(d),
//	E = 2 diag(d z²/(1 − z²)),
//
// and its Schur complement zᵀC(C + E)⁻¹Ez/2 + Σ d(1 − z²), without a difference.
type diagonalNewton struct {
	p      *diagonalProblem
	x      *diagonalPoint
	chol   cholesky      // of C + E
	cz, uc *mat.VecDense // Cz and (C + E)⁻¹Cz/2
	schur  float64
}

// newton factors the system at a point; false where rounding leaves nothing to factor.
func (p *diagonalProblem) newton(x *diagonalPoint) (*diagonalNewton, bool) {
	s := &diagonalNewton{p: p, x: x, cz: mat.NewVecDense(p.n, nil), uc: &mat.VecDense{}}
	lhs := mat.NewSymDense(p.n, nil)
	lhs.CopySym(p.m)
	ez := mat.NewVecDense(p.n, nil)
	for i, d := range x.d {
		z := x.z.AtVec(i)
		e := (1 - z) * (1 + z)
		lhs.SetSym(i, i, lhs.At(i, i)+d*(1+z*z)/e)
		ez.SetVec(i, d*z*z*z/e) // Ez/2
		s.cz.SetVec(i, x.mz.AtVec(i)+d*z)
	}
	// A ridge compensates for rounding that has made M indefinite. It changes the direction, not
	// the zero of the residuals.
	for ridge := epsilon * p.unit * float64(p.n); !s.chol.factorize(lhs); ridge *= 10 {
		if !(ridge < p.unit) {
			return nil, false
		}
		for i := range p.n {
			lhs.SetSym(i, i, lhs.At(i, i)+ridge)
		}
	}
	var u mat.VecDense
	if !s.chol.solve(&u, ez) || !s.chol.solve(s.uc, s.cz) {
		return nil, false
	}
	s.uc.ScaleVec(0.5, s.uc)
	s.schur = mat.Dot(s.cz, &u) + x.complementarity()
	return s, s.schur > 0
}

// towards is the step that changes d_i(1 − z_i²) by change_i, to first order.
func (s *diagonalNewton) towards(change []float64) (*direction, bool) {
	x := s.x
	g := mat.NewVecDense(s.p.n, nil)
	for i, c := range change {
		z := x.z.AtVec(i)
		g.SetVec(i, -x.r1.AtVec(i)-z*c/((1-z)*(1+z)))
	}
	o := &direction{z: &mat.VecDense{}, zeta: &mat.VecDense{}, d: make([]float64, s.p.n), slack: make([]float64, s.p.n)}
	if !s.chol.solve(o.z, g) {
		return nil, false
	}
	o.rho = (floats.Sum(change) - x.r2 - mat.Dot(x.z, x.r1) + mat.Dot(s.cz, o.z)) / s.schur
	o.z.AddScaledVec(o.z, o.rho, s.uc)
	o.zeta.AddScaledVec(o.z, o.rho/2, x.z)
	for i, c := range change {
		z := x.z.AtVec(i)
		e := (1 - z) * (1 + z)
		o.slack[i] = e*o.rho - 2*z*o.z.AtVec(i)
		o.d[i] = (c - x.d[i]*o.slack[i]) / e
	}
	return o, finite(o.z) && !math.IsNaN(o.rho) && !math.IsInf(o.rho, 0)
}

// boundary is how far the step can go until a multiplier or a slack vanishes.
//
// For the slack e + t·b − t²p² of each i the root is taken in the form without
// cancellation that suits the sign of b.
func (o *direction) boundary(x *diagonalPoint) float64 {
	t := math.Inf(1)
	if o.rho < 0 {
		t = -1 / o.rho
	}
	for i, d := range x.d {
		if o.d[i] < 0 {
			t = math.Min(t, -d/o.d[i])
		}
		// The slack over λ is e + t·b − t²p².
		z, p := x.z.AtVec(i), o.zeta.AtVec(i)
		e, b := (1-z)*(1+z), o.slack[i]
		root := math.Hypot(b, 2*math.Abs(p)*math.Sqrt(e))
		switch {
		case b <= 0 && root-b > 0:
			t = math.Min(t, 2*e/(root-b))
		case b > 0 && p != 0:
			t = math.Min(t, (b+root)/(2*p*p))
		}
	}
	return t
}

// move returns the point at length t, nil where it is outside of the domain.
func (p *diagonalProblem) move(x *diagonalPoint, o *direction, t float64) *diagonalPoint {
	growth := 1 + t*o.rho
	if !(growth > 0) {
		return nil
	}
	z := mat.NewVecDense(p.n, nil)
	z.AddScaledVec(x.z, t, o.zeta)
	z.ScaleVec(1/math.Sqrt(growth), z)
	d := make([]float64, p.n)
	floats.AddScaledTo(d, x.d, t, o.d)
	floats.Scale(growth, d)
	for i, v := range d {
		if !(v > 0) || !(math.Abs(z.AtVec(i)) < 1) {
			return nil
		}
	}
	return p.at(d, z, x.lambda*growth)
}

// step returns the next point: a predictor, which determines how much a step can reduce μ
// (Mehrotra), and a corrector; or, where neither can go far, a centring step. It is nil where no
// step makes progress. The predictor aims at μ = 0; the corrector aims at the cube of the share of
// μ that the predictor leaves.
func (p *diagonalProblem) step(x *diagonalPoint) *diagonalPoint {
	system, ok := p.newton(x)
	if !ok {
		return nil
	}
	mu := x.complementarity() / float64(p.n)
	if !x.centring {
		if next, t := p.correct(system, mu); next != nil {
			next.centring = t < shortStep
			return next
		}
	}
	const sigma = 0.5
	o, ok := system.towards(x.changes(sigma*mu, nil))
	if !ok {
		return nil
	}
	next, _ := p.search(x, o, sigma)
	return next
}

// changes returns the changes by which d_i(1 − z_i²) becomes mu, less the second-order terms that
// the step predicted.
func (x *diagonalPoint) changes(mu float64, predicted *direction) []float64 {
	out := make([]float64, len(x.product))
	for i, v := range x.product {
		out[i] = mu - v
		if predicted != nil {
			out[i] -= predicted.slack[i] * predicted.d[i]
		}
	}
	return out
}

// correct is the step of predictor and corrector, and its length.
func (p *diagonalProblem) correct(system *diagonalNewton, mu float64) (*diagonalPoint, float64) {
	x := system.x
	predicted, ok := system.towards(x.changes(0, nil))
	if !ok {
		return nil, 0
	}
	sigma := 0.8
	if next := p.move(x, predicted, math.Min(1, 0.999*predicted.boundary(x))); next != nil {
		reached := next.complementarity() / float64(p.n) / mu
		sigma = math.Max(1e-4, math.Min(sigma, reached*reached*reached))
	}
	o, ok := system.towards(x.changes(sigma*mu, predicted))
	if !ok {
		return nil, 0
	}
	return p.search(x, o, sigma)
}

// search shortens a step until its point is near the central path, and returns it
// with the length; nil where that is too short to matter.
//
// Near means that no product d_i(1 − z_i²) is far below their mean (spread), and that
// the residuals have not outlived the products (outweigh): a point with products at zero
// and residuals that are not is where such a method dies.
func (p *diagonalProblem) search(x *diagonalPoint, o *direction, sigma float64) (*diagonalPoint, float64) {
	rounding := 100 * epsilon * float64(p.n) * p.scale(x.d)
	for t := math.Min(1, 0.99*o.boundary(x)); t > 1e-6; t *= 0.7 {
		next := p.move(x, o, t)
		if next == nil {
			continue
		}
		sum := next.complementarity()
		if floats.Min(next.product) >= spread*sum/float64(p.n) &&
			next.residual <= math.Max(outweigh*sum, rounding) &&
			sum <= x.complementarity()*(1-0.1*t*(1-sigma)) {
			return next, t
		}
	}
	return nil, 0
}

// face solves the optimality conditions for a guess F of the positive
// variances: (diag(d) + M) z = t a, aᵀz = t q, z_i = ±1 in F, d_i = 0 outside.
// For given F and signs they are linear in (z outside F, t, d in F).
//
// The path's limit has this form unless d_i and 1 − z_i² vanish together. It is a dense
// system of order n − |F| + 1, solved once; where the guess is wrong a variance comes
// out negative, or the certificate is worse, and the point of the path stays.
func (p *diagonalProblem) face(x *diagonalPoint) (d, z []float64, ok bool) {
	var in, out []int
	mean := p.scale(x.d) / float64(p.n)
	z = make([]float64, p.n)
	for i, v := range x.d {
		// Their product is μ on the central path: the larger factor decides.
		if zi := x.z.AtVec(i); v > mean*(1-zi)*(1+zi) {
			in = append(in, i)
			z[i] = math.Copysign(1, zi)
		} else {
			out = append(out, i)
		}
	}
	// Unknowns: z outside F, then t.
	k := len(out)
	lhs := mat.NewDense(k+1, k+1, nil)
	rhs := mat.NewVecDense(k+1, nil)
	lhs.Set(k, k, -p.q)
	for r, i := range out {
		for c, j := range out {
			lhs.Set(r, c, p.m.At(i, j))
		}
		lhs.Set(r, k, -p.a.AtVec(i))
		lhs.Set(k, r, p.a.AtVec(i))
		for _, j := range in {
			rhs.SetVec(r, rhs.AtVec(r)-p.m.At(i, j)*z[j])
		}
	}
	for _, j := range in {
		rhs.SetVec(k, rhs.AtVec(k)-p.a.AtVec(j)*z[j])
	}
	var solved mat.VecDense
	if err := solved.SolveVec(lhs, rhs); err != nil && !isCondition(err) || !finite(&solved) {
		return nil, nil, false
	}
	for r, i := range out {
		z[i] = solved.AtVec(r)
	}
	var mz mat.VecDense
	mz.MulVec(p.m, mat.NewVecDense(p.n, z))
	d = make([]float64, p.n)
	for _, i := range in {
		if d[i] = (solved.AtVec(k)*p.a.AtVec(i) - mz.AtVec(i)) / z[i]; d[i] < 0 {
			return nil, nil, false
		}
	}
	return d, z, true
}

// certify returns Σ = diag(d) with its bounds, the lower one from z.
//
// Rounded outward, the bounds hold as numbers: Upper has the error of a sum of n + 1
// positive terms on top.
func (p *diagonalProblem) certify(d, z []float64) *Solution {
	s := &Solution{Sigma: mat.NewSymDense(p.n, nil), Trace: floats.Sum(d), Upper: math.Inf(1), Unit: p.unit}
	for i, v := range d {
		s.Sigma.SetSym(i, i, v)
	}
	s.Lower = p.dualValue(z)
	n := float64(p.n)
	if v, ok := p.shortfall(d); ok {
		s.Violation = v
		s.Upper = (s.Trace + n*v) * (1 + (n+2)*epsilon)
	}
	return s
}

// dualValue is (aᵀz)²/q − zᵀMz for z cut to |z_i| ≤ 1, less a bound on the
// rounding error; 0, the value of z = 0, where that is better. In dense data the
// terms of the sums are far larger than their value: they are summed in twice the
// precision.
func (p *diagonalProblem) dualValue(z []float64) float64 {
	cut := make([]float64, p.n)
	for i, v := range z {
		cut[i] = math.Max(-1, math.Min(1, v))
	}
	rows, terms := make([]float64, p.n), 0.0 // Mz; the rounding error of each is relative to it
	row, size := make([]float64, p.n), 0.0
	for i := range rows {
		for j := range row {
			row[j] = p.m.At(i, j)
		}
		var all float64
		rows[i], all = exactDot(row, cut)
		terms += math.Abs(rows[i] * cut[i])
		size += all * math.Abs(cut[i])
	}
	mz, _ := exactDot(rows, cut)
	az, azAll := exactDot(p.a.RawVector().Data, cut)
	n := float64(p.n) * epsilon
	value := az * az / p.q
	rounding := 4*epsilon*(value+terms) + 4*n*n*(size+azAll*azAll/p.q)
	return math.Max(0, value-mz-rounding)
}

// exactDot is xᵀy to an error of ε|xᵀy| + (nε)²|x|ᵀ|y|, and |x|ᵀ|y| (Ogita, Rump
// and Oishi, "Accurate sum and dot product", 2005).
func exactDot(x, y []float64) (dot, size float64) {
	var rest float64
	for i, v := range x {
		product := float64(v * y[i])
		sum := float64(dot + product)
		part := float64(sum - dot)
		rest += float64(float64(dot-float64(sum-part))+float64(product-part)) + math.FMA(v, y[i], -product)
		dot = sum
		size += math.Abs(product)
	}
	return dot + rest, size
}

// shortfall is a v for which diag(d) + v·I + M − a aᵀ/q is positive semi-definite,
// at most twice the least one or the allowance for rounding. A Cholesky
// factorisation that succeeds shows that the eigenvalues of a matrix S are at
// least −8ε Tr S: its backward error is at most nε Tr S (Rump, "Verification of
// positive definiteness", 2006), and of the order of ε Tr S as rounding errors
// have either sign (Higham and Mary, "A new approach to probabilistic rounding
// error analysis", 2019).
func (p *diagonalProblem) shortfall(d []float64) (float64, bool) {
	s := mat.NewSymDense(p.n, nil)
	trace := 0.0 // with the sizes of all terms of which S is computed
	for i, v := range d {
		ai := p.a.AtVec(i)
		trace += v + p.m.At(i, i) + ai*ai/p.q
		for j := i; j < p.n; j++ {
			s.SetSym(i, j, p.m.At(i, j)-ai*p.a.AtVec(j)/p.q)
		}
		s.SetSym(i, i, s.At(i, i)+v)
	}
	rounding := 8 * epsilon * trace
	diagonal := make([]float64, p.n)
	for i := range diagonal {
		diagonal[i] = s.At(i, i)
	}
	for v := 0.0; v <= trace; v = math.Max(rounding, 2*v) {
		for i := range diagonal {
			s.SetSym(i, i, diagonal[i]+v)
		}
		if new(cholesky).factorize(s) {
			return v + rounding, true
		}
	}
	return 0, false
}
