package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Inducing is a correlation matrix K (n×n) from below, by m of its inputs: LLᵀ ≼ K ≼ LLᵀ + Rest·I.
//
// L is a partial Cholesky factor with pivots (Harbrecht, Peters and Schneider, "On the low-rank approximation by the
// pivoted Cholesky decomposition", 2012), so that LLᵀ = K_XZ K_ZZ⁻¹ K_ZX for the pivots Z, and K − LLᵀ is a Schur
// complement, positive semi-definite.
type Inducing struct {
	L      *mat.Dense // n×m
	Pivots []int      // m
	// Rest is the trace of K − LLᵀ with Rounding, which bounds its largest eigenvalue.
	Rest float64
	// Rounding bounds the rounding errors of the eigenvalues of K − LLᵀ.
	Rounding float64
}

// candidates is the number of inputs among which pivots are taken in turn; a pivot has at least a half of the largest
// diagonal element that is left.
const candidates = 128

// Induce returns the process from below by at most m of n inputs, fewer where rounding is all that is left. rowsOf
// returns rows of K (k×n), whose diagonal is 1. It takes 4nm² operations.
func Induce(ctx context.Context, n, m int, rowsOf func([]int) (*mat.Dense, error)) (*Inducing, error) {
	if m < 1 || m >= n {
		return nil, fmt.Errorf("%d inducing inputs of %d rows: at least one and fewer than rows are needed", m, n)
	}
	rest := slices.Repeat([]float64{1}, n)
	lower := mat.NewDense(m, n, nil) // Lᵀ
	p := &Inducing{Rounding: 4 * float64(n*(m+8)) * epsilon64}
	order := make([]int, n)
	for len(p.Pivots) < m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
		if !(rest[order[0]] > 4*float64(m+8)*epsilon64) {
			break
		}
		if err := p.block(lower, rest, slices.Clone(order[:min(candidates, n)]), rowsOf); err != nil {
			return nil, err
		}
	}
	p.Rest = floats.Sum(rest) + p.Rounding
	p.L = mat.DenseCopyOf(lower.Slice(0, len(p.Pivots), 0, n).T())
	return p, nil
}

// block takes pivots among inputs, the first of which has the largest rest.
func (p *Inducing) block(lower *mat.Dense, rest []float64, among []int, rowsOf func([]int) (*mat.Dense, error)) error {
	m, n := lower.Dims()
	e, err := rowsOf(among)
	if err != nil {
		return err
	}
	if k := len(p.Pivots); k > 0 {
		at := mat.NewDense(k, len(among), nil)
		for j, input := range among {
			for i := range k {
				at.Set(i, j, lower.At(i, input))
			}
		}
		var known mat.Dense
		known.Mul(at.T(), lower.Slice(0, k, 0, n))
		e.Sub(e, &known)
	}
	for len(p.Pivots) < m {
		best := 0
		for j, input := range among {
			if rest[input] > rest[among[best]] {
				best = j
			}
		}
		pivot := rest[among[best]]
		if !(pivot > 4*float64(m+8)*epsilon64) || pivot < floats.Max(rest)/2 {
			return nil
		}
		row := lower.RawRowView(len(p.Pivots))
		copy(row, e.RawRowView(best))
		floats.Scale(1/math.Sqrt(pivot), row)
		for j, input := range among {
			floats.AddScaled(e.RawRowView(j), -row[input], row)
		}
		for i, v := range row {
			rest[i] = math.Max(0, rest[i]-v*v)
		}
		rest[among[best]] = 0
		p.Pivots = append(p.Pivots, among[best])
	}
	return nil
}

// Strong returns F (n×r) with FFᵀ = (K_XS q⁻¹ K_SX − LLᵀ − cI)⁺ for q = K_SS − Ξ (γ×γ), cross = K_XS (n×γ) and L
// (n×m). LLᵀ is below K_XX and c below the variance of the data's noise: FFᵀ is at least the noise of Eq. (11),
// K_XX + V + FFᵀ ≽ K_XS q⁻¹ K_SX, exactly as [Observations.StrongNoise], and its trace is larger by at most that of
// K_XX + V − LLᵀ − cI.
//
// It is the positive part in the range of [K_XS q^-½ L] = QR, where it is Q(R diag(1, −1) Rᵀ − cI)⁺Qᵀ; elsewhere the
// matrix is −cI. It takes 2n(γ+m)² operations.
func Strong(e *engine.Engine, cross, q, l *mat.Dense, c float64) (*mat.Dense, error) {
	s, err := (&Observations{engine: e, epsilon: epsilon64}).sensitiveRange(cross, q)
	if err != nil {
		return nil, err
	}
	n, m := l.Dims()
	k := len(s.values)
	if k+m > n {
		return nil, fmt.Errorf("%d inducing inputs and %d sensitive places for %d rows: take fewer inducing inputs, or "+
			"none, which is exact", m, k, n)
	}
	both := mat.NewDense(n, k+m, nil)
	w := both.Slice(0, n, 0, k).(*mat.Dense)
	w.Mul(cross, s.u)
	w.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(s.values[j]) }, w)
	both.Slice(0, n, k, k+m).(*mat.Dense).Copy(l)
	qr, tau := both.RawMatrix(), make([]float64, k+m)
	linalg.WithWorkspace(func(work []float64, size int) { lapack64.Geqrf(qr, tau, work, size) })
	r := mat.NewDense(k+m, k+m, nil)
	for i := range k + m {
		copy(r.RawRowView(i)[i:], both.RawRowView(i)[i:])
	}
	var b, below mat.Dense
	b.Mul(r.Slice(0, k+m, 0, k), r.Slice(0, k+m, 0, k).T())
	below.Mul(r.Slice(0, k+m, k, k+m), r.Slice(0, k+m, k, k+m).T())
	b.Sub(&b, &below)
	for i := range k + m {
		b.Set(i, i, b.At(i, i)-c)
	}
	values, vectors, err := spectrum(e, &b)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(values, func(v float64) bool { return v > 0 }) // they ascend
	if first < 0 {
		return nil, nil
	}
	f := mat.NewDense(n, len(values)-first, nil)
	for i := range k + m {
		for j, v := range values[first:] {
			f.Set(i, j, vectors.At(i, first+j)*math.Sqrt(v))
		}
	}
	linalg.WithWorkspace(func(work []float64, size int) {
		lapack64.Ormqr(blas.Left, blas.NoTrans, qr, tau, f.RawMatrix(), work, size)
	})
	return f, nil
}

// LowRank is AAᵀ + cI, for A (n×p) and c > 0.
type LowRank struct {
	a *mat.Dense
	c float64
	// square is AᵀA, and inner the factor of AᵀA + cI, p×p.
	square *mat.SymDense
	inner  mat.Cholesky
}

// NewLowRank takes A, of which a part may be nil, side by side.
func NewLowRank(c float64, parts ...*mat.Dense) (*LowRank, error) {
	var a *mat.Dense
	for _, part := range parts {
		switch {
		case part == nil:
		case a == nil:
			a = part
		default:
			var both mat.Dense
			both.Augment(a, part)
			a = &both
		}
	}
	_, p := a.Dims()
	square := mat.NewSymDense(p, nil)
	blas64.Syrk(blas.Trans, 1, a.RawMatrix(), 0, square.RawSymmetric())
	return (&LowRank{a: a, square: square}).With(c)
}

// With returns the matrix with another c.
func (l *LowRank) With(c float64) (*LowRank, error) {
	out := &LowRank{a: l.a, c: c, square: l.square}
	shifted := mat.NewSymDense(l.square.SymmetricDim(), nil)
	shifted.CopySym(l.square)
	for i := range shifted.SymmetricDim() {
		shifted.SetSym(i, i, shifted.At(i, i)+c)
	}
	if !(c > 0) || !out.inner.Factorize(shifted) {
		return nil, errors.New("the covariance by inducing inputs is singular in floating point: give a larger " +
			"noise_variance")
	}
	return out, nil
}

// SolveExplained returns x = (AAᵀ + cI)⁻¹ b = (b − A(AᵀA + cI)⁻¹Aᵀb)/c, n×k, and the products of the columns of b
// and x.
// The products have errors of about n/c units in the last place.
func (l *LowRank) SolveExplained(b *mat.Dense) (x *mat.Dense, explained []float64, err error) {
	var known, solved mat.Dense
	known.Mul(l.a.T(), b)
	if err := l.inner.SolveTo(&solved, &known); err != nil && !isCondition(err) {
		return nil, nil, err
	}
	x = &mat.Dense{}
	x.Mul(l.a, &solved)
	x.Sub(b, x)
	x.Scale(1/l.c, x)
	return x, linalg.ColumnProducts(b, x), nil
}
