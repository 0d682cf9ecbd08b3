package design

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
)

const (
	// DefaultGap is the certificate, in nats, at which [Solve] stops.
	DefaultGap = 1e-8
	// MaxIterations is the cap on the steps of the interior-point method in trials.
	MaxIterations = 100
	// anew is by how much the certificate of the scaled weights in all columns may
	// exceed the gap at which the method stopped: rounding, and columns left out.
	anew = 2
)

// NoCertificateError reports that the interior-point method found no weights with a certificate.
type NoCertificateError struct {
	Rank, Columns, Iterations int
}

func (e *NoCertificateError) Error() string {
	return fmt.Sprintf("no design of rank %d from %d columns has a certificate: after %d steps the covariance is not "+
		"positive definite in double precision; use a smaller rank", e.Rank, e.Columns, e.Iterations)
}

// GapError reports that the interior-point method stopped short of the wanted gap.
type GapError struct {
	Rank, Columns, Iterations int
	Gap, Wanted               float64 // nats
}

func (e *GapError) Error() string {
	return fmt.Sprintf("the design of rank %d from %d columns: the interior-point method stopped after %d steps at a "+
		"certified gap of %.1e nats, and at most %.0e is wanted; use a smaller rank",
		e.Rank, e.Columns, e.Iterations, e.Gap, e.Wanted)
}

// Solve finds the optimal design by a primal–dual interior-point method with
// Mehrotra's predictor and corrector, and stops at a certified gap (nats; 0
// means [DefaultGap]) or after the given number of steps. Columns that are
// exactly equal share one weight, which their first one carries. The Gap of the
// design is computed anew from its weights. Where rounding or the cap on the steps keeps it above twice the target,
// the error is a *[GapError], and a *[NoCertificateError] where there is no
// certificate at all.
//
// The conditions for an optimum are, for all i,
//
//	g_i(λ) + s_i = 1,  λ_i s_i = 0,  λ, s ≥ 0,  g_i = b_iᵀM⁻¹b_i,
//
// and ∂g_i/∂λ_j = −(b_iᵀM⁻¹b_j)² = −H_ij. Relaxing λ_i s_i to τ and eliminating
// the slack leaves the positive definite N×N system
//
//	(H + diag(s/λ)) Δλ = g − 1 + τ/λ.
//
// Columns that provably carry no weight at the optimum leave the problem on
// the way (see screen).
//
// The coordinates B of equal columns can differ by rounding, which small singular
// values magnify. Where that alone keeps the certificate from the target, every
// column gets a weight of its own.
func Solve(ctx context.Context, r *Range, gap float64, most int) (*Design, error) {
	if gap == 0 {
		gap = DefaultGap
	}
	d, err := solveOn(ctx, r, r.distinct, gap, most)
	_, n := r.B.Dims()
	var short *GapError
	if errors.As(err, &short) && len(r.distinct) < n {
		all := learn.AllRows(n)
		return solveOn(ctx, r, all, gap, most)
	}
	return d, err
}

// solveOn is Solve with weights for the given columns alone, in at most the given number of steps.
func solveOn(ctx context.Context, r *Range, columns []int, gap float64, most int) (*Design, error) {
	if len(columns) > FewColumns {
		return generated(ctx, r, columns, gap, most)
	}
	k, n := r.B.Dims()
	best := make([]float64, n)
	it, reached, err := newInterior(r.B, columns).solve(ctx, gap, most, best)
	if err != nil {
		return nil, err
	}
	if math.IsInf(reached, 1) {
		return nil, &NoCertificateError{k, n, it}
	}
	return certified(r, best, gap, it)
}

// solve makes steps until the certificate over the problem's columns reaches the gap, writes the best
// weights to best, one for every column of the range, and returns the number of steps and the
// certificate of these weights, infinite where there are none.
func (p *interior) solve(ctx context.Context, gap float64, most int, best []float64) (it int, reached float64,
	err error) {
	reached = math.Inf(1)
	for ; ; it++ {
		if err := ctx.Err(); err != nil {
			return it, reached, err
		}
		if !p.evaluate() {
			break
		}
		if g := p.gap(); g < reached {
			reached = g
			p.weights(best)
		}
		if reached <= gap || it == most || !p.step() {
			break
		}
	}
	return it, reached, nil
}

// FromInterior is the design of weights that another implementation of the method found, one
// for each of some columns, in a number of steps. Its error is a *[GapError] where they do not
// have twice [DefaultGap].
func FromInterior(r *Range, columns []int, weights []float64, steps int) (*Design, error) {
	_, n := r.B.Dims()
	lambda := make([]float64, n)
	for i, column := range columns {
		lambda[column] = weights[i]
	}
	return certified(r, lambda, DefaultGap, steps)
}

// certified is the design of weights, scaled to Σλ = r as at the optimum, whose certificate is
// computed anew.
func certified(r *Range, lambda []float64, gap float64, steps int) (*Design, error) {
	k, n := r.B.Dims()
	blas64.Scal(float64(k)/sum(lambda), blas64.Vector{N: n, Inc: 1, Data: lambda})
	d, err := FromWeights(r, lambda)
	if err != nil {
		return nil, err
	}
	if !(d.Gap <= anew*gap) {
		return nil, &GapError{k, n, steps, d.Gap, anew * gap}
	}
	d.Iterations = steps
	return d, nil
}

// interior is the state of the method: the columns still in the problem with
// their weights and slacks.
type interior struct {
	column        []int      // index into the original columns
	b             *mat.Dense // r×len(column)
	lambda, slack []float64

	// Set by evaluate.
	whitened *mat.Dense // L⁻¹b
	g        []float64
}

// newInterior is the program on some of the columns of B (r×N).
func newInterior(b *mat.Dense, columns []int) *interior {
	k, _ := b.Dims()
	p := &interior{column: columns}
	p.b = SelectColumns(b, p.column)
	p.lambda = make([]float64, len(p.column))
	p.slack = make([]float64, len(p.column))
	for i := range p.lambda {
		p.lambda[i] = float64(k) / float64(len(p.column))
		p.slack[i] = 1
	}
	return p
}

// weights writes the present weights to lambda, one for every column of the
// range.
func (p *interior) weights(lambda []float64) {
	clear(lambda)
	for i, column := range p.column {
		lambda[column] = p.lambda[i]
	}
}

// SelectColumns returns copies of columns of b, in that order; one may be taken several times.
func SelectColumns(b *mat.Dense, columns []int) *mat.Dense {
	k, _ := b.Dims()
	out := mat.NewDense(k, len(columns), nil)
	for i := range k {
		src, dst := b.RawRowView(i), out.RawRowView(i)
		for j, c := range columns {
			dst[j] = src[c]
		}
	}
	return out
}

// evaluate computes L⁻¹b and g for the present weights, after leaving out the columns that they
// prove to be idle. It reports false where M is not positive definite.
func (p *interior) evaluate() bool {
	chol, ok := choleskyOfDesign(p.b, p.lambda)
	if !ok {
		return false
	}
	p.whitened = mat.DenseCopyOf(p.b)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, chol, p.whitened.RawMatrix())
	p.g = columnNorms(p.whitened)
	if p.screen() {
		return p.evaluate()
	}
	return true
}

func (p *interior) gap() float64 {
	k, _ := p.b.Dims()
	return gapOf(k, maxOf(p.g), sum(p.lambda))
}

// screen leaves out the columns that cannot carry weight at the optimum, and reports whether there
// were any (Harman and Pronzato, "Improvements on removing nonoptimal support points in D-optimum
// design algorithms", Statistics and Probability Letters 77, 2007). With weights of sum one, ψ_i =
// g_i·Σλ and e = max ψ − r, a column of the support has ψ_i ≥ r·(1 + e/2 − √(e(4 + e − 4/r))/2):
// the smallest eigenvalue that the optimal M can have relative to the present one.
func (p *interior) screen() bool {
	k, _ := p.b.Dims()
	r, total := float64(k), sum(p.lambda)
	e := max(0, maxOf(p.g)*total-r)
	bound := r * (1 + e/2 - math.Sqrt(e*(4+e-4/r))/2) * (1 - 1e-6) // 1e-6: rounding of g
	var keep []int
	for i, g := range p.g {
		if g*total >= bound {
			keep = append(keep, i)
		}
	}
	// Few columns less would not pay for the second evaluation.
	if 10*len(keep) > 9*len(p.column) {
		return false
	}
	column, lambda, slack := make([]int, len(keep)), make([]float64, len(keep)), make([]float64, len(keep))
	for i, j := range keep {
		column[i], lambda[i], slack[i] = p.column[j], p.lambda[j], p.slack[j]
	}
	p.b = SelectColumns(p.b, keep)
	p.column, p.lambda, p.slack = column, lambda, slack
	return true
}

// step moves the weights and slacks. It reports false where the linear system
// cannot be solved.
func (p *interior) step() bool {
	n := len(p.lambda)
	// H = (WᵀW)∘², W = L⁻¹b, plus diag(s/λ).
	h := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Lower, Data: make([]float64, n*n)}
	blas64.Syrk(blas.Trans, 1, p.whitened.RawMatrix(), 0, h)
	for i := range n {
		row := h.Data[i*n : i*n+i+1]
		for j, v := range row {
			row[j] = v * v
		}
		row[i] += p.slack[i] / p.lambda[i]
	}
	chol, ok := lapack64.Potrf(h)
	if !ok {
		return false
	}

	// Predictor: τ = 0.
	tau := make([]float64, n)
	dl, ds := p.direction(chol, tau)
	a := min(1, maxStep(p.lambda, dl), maxStep(p.slack, ds))
	var mu, muAfter float64
	for i := range n {
		mu += p.lambda[i] * p.slack[i]
		muAfter += (p.lambda[i] + a*dl[i]) * (p.slack[i] + a*ds[i])
	}
	// Corrector: the second-order term, and centring by Mehrotra's rule.
	ratio := muAfter / mu
	centre := ratio * ratio * ratio * mu / float64(n)
	for i := range tau {
		tau[i] = centre - dl[i]*ds[i]
	}
	dl, ds = p.direction(chol, tau)
	a = 0.995 * min(maxStep(p.lambda, dl), maxStep(p.slack, ds))
	for i := range n {
		p.lambda[i] += a * dl[i]
		p.slack[i] += a * ds[i]
	}
	return true
}

// direction solves for Δλ, and Δs from λΔs + sΔλ = τ − λs.
func (p *interior) direction(chol blas64.Triangular, tau []float64) (dl, ds []float64) {
	n := len(p.lambda)
	dl, ds = make([]float64, n), make([]float64, n)
	for i := range dl {
		dl[i] = p.g[i] - 1 + tau[i]/p.lambda[i]
	}
	lapack64.Potrs(chol, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: dl})
	for i := range ds {
		ds[i] = (tau[i]-p.slack[i]*dl[i])/p.lambda[i] - p.slack[i]
	}
	return dl, ds
}

// maxStep returns the largest a ≤ 1/0.995 with v + a·dv ≥ 0.
func maxStep(v, dv []float64) float64 {
	a := 1 / 0.995
	for i, d := range dv {
		if d < 0 {
			a = min(a, -v[i]/d)
		}
	}
	return a
}

// sum adds in order.
func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// maxOf is the largest element.
func maxOf(v []float64) float64 {
	m := math.Inf(-1)
	for _, x := range v {
		m = max(m, x)
	}
	return m
}
