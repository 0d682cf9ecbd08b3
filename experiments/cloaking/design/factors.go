package design

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Factors are a cloaking matrix C (P×N) of low rank that is not formed: column j of C is Left times
// column Of[j] of Right. Columns of Right are those of different inputs.
type Factors struct {
	Left  *mat.Dense // P×K
	Right *mat.Dense // K×U
	Of    []int      // N
	// Spent lets [WhitenFactors] overwrite both: Right is as large as the range's B.
	Spent bool
}

// Times returns Cy (P) for y (N). It adds the elements of y that share a column first.
func (f *Factors) Times(y []float64) []float64 {
	p, k := f.Left.Dims()
	_, u := f.Right.Dims()
	sums, inner, out := make([]float64, u), make([]float64, k), make([]float64, p)
	for j, column := range f.Of {
		sums[column] += y[j]
	}
	blas64.Gemv(blas.NoTrans, 1, f.Right.RawMatrix(), vector(sums), 0, vector(inner))
	blas64.Gemv(blas.NoTrans, 1, f.Left.RawMatrix(), vector(inner), 0, vector(out))
	return out
}

// first returns the first column of C of every column of Right, and how many there are.
func (f *Factors) first() (first []int, count []float64) {
	_, u := f.Right.Dims()
	first, count = make([]int, u), make([]float64, u)
	for j := len(f.Of) - 1; j >= 0; j-- {
		first[f.Of[j]] = j
		count[f.Of[j]]++
	}
	return first, count
}

// WhitenFactors is [Whiten] for a matrix that is given by factors. With E the N×U matrix of ones where a
// column of C is one of Right, C = Left·Right·Eᵀ has the singular values of the K×K core R·Tᵀ: R is the triangular
// factor of Left = QR, and T that of (Right·(EᵀE)^½)ᵀ, which is reduced by blocks of rows. The rank is decided on the
// core, whose rounding has K directions, where that of C has min(P, N). It takes 2(P+U)K² operations, 2UKr for B, and
// no memory but Q and the range.
func WhitenFactors(ctx context.Context, e *engine.Engine, f *Factors, rank int, tolerance float64) (*Range, error) {
	p, k := f.Left.Dims()
	if p == 0 || len(f.Of) == 0 {
		return nil, fmt.Errorf("the cloaking matrix is empty (%d×%d)", p, len(f.Of))
	}
	for _, part := range []*mat.Dense{f.Left, f.Right} {
		if err := checkMatrix(part); err != nil {
			return nil, fmt.Errorf("a factor of %d×%d: %w", p, len(f.Of), err)
		}
	}
	first, count := f.first()
	q := f.Left
	if !f.Spent {
		q = mat.DenseCopyOf(q)
	}
	q, left := orthogonal(q)
	right := triangleOfRows(f.Right, count)
	var core mat.Dense
	core.Mul(left, right.T())
	found, err := linalg.LeftSingular(ctx, e, []*mat.Dense{&core})
	if err != nil {
		return nil, err
	}
	if found[0].Err != nil {
		return nil, found[0].Err
	}
	rank, err = chooseRank(found[0].Values, rank, tolerance, p, len(f.Of))
	if err != nil {
		return nil, err
	}
	r := &Range{distinct: first, Scale: found[0].Values[:rank:rank], U: new(mat.Dense)}
	if rank < len(found[0].Values) {
		r.Dropped = found[0].Values[rank]
	}
	inner := found[0].Left.Slice(0, min(p, k), 0, rank)
	r.U.Mul(q, inner)
	var to mat.Dense // diag(Scale)⁻¹ innerᵀ R, r×K
	to.Mul(inner.T(), left)
	for i, s := range r.Scale {
		blas64.Scal(1/s, vector(to.RawRowView(i)))
	}
	r.B = f.spread(f.coordinates(&to))
	return r, ctx.Err()
}

// coordinates is to·Right (r×U), by blocks of columns.
func (f *Factors) coordinates(to *mat.Dense) *mat.Dense {
	r, k := to.Dims()
	_, u := f.Right.Dims()
	b := f.Right.Slice(0, r, 0, u).(*mat.Dense)
	if !f.Spent {
		b = mat.NewDense(r, u, nil)
	}
	var part mat.Dense
	for at := 0; at < u; at += blockColumns {
		end := min(at+blockColumns, u)
		part.Reset()
		part.Mul(to, f.Right.Slice(0, k, at, end))
		b.Slice(0, r, at, end).(*mat.Dense).Copy(&part)
	}
	return b
}

// spread returns the columns of C's coordinates from those of Right (r×U): b itself where all are different.
func (f *Factors) spread(b *mat.Dense) *mat.Dense {
	if _, u := b.Dims(); u == len(f.Of) { // numbered in the order of their first appearance
		return b
	}
	return SelectColumns(b, f.Of)
}

// orthogonal returns Q (P×k) and R (k×K) of a (P×K), k = min(P, K). Q overwrites a.
func orthogonal(a *mat.Dense) (q, r *mat.Dense) {
	p, k := a.Dims()
	least := min(p, k)
	tau := triangulate(a.RawMatrix())
	r = mat.NewDense(least, k, nil)
	for i := range least {
		copy(r.RawRowView(i)[i:], a.RawRowView(i)[i:])
	}
	q = a.Slice(0, p, 0, least).(*mat.Dense)
	linalg.WithWorkspace(func(work []float64, size int) { lapack64.Orgqr(q.RawMatrix(), tau, work, size) })
	return q, r
}

// triangulate overwrites a (m×n) by its triangular factor and reflectors, and returns their scalars.
func triangulate(a blas64.General) []float64 {
	tau := make([]float64, min(a.Rows, a.Cols))
	linalg.WithWorkspace(func(work []float64, size int) { lapack64.Geqrf(a, tau, work, size) })
	return tau
}

// triangleOfRows returns T (K×K, upper), TᵀT = a·diag(count)·aᵀ, for a (K×U). Blocks of columns are reduced one after
// another, each below the triangle of those before it, so that no copy of a is made.
func triangleOfRows(a *mat.Dense, count []float64) *mat.Dense {
	k, u := a.Dims()
	most := max(4*k, 1024)
	stacked := mat.NewDense(k+min(most, u), k, nil)
	for at := 0; at < u; at += most {
		block := min(most, u-at)
		for i := range k {
			row := a.RawRowView(i)[at : at+block]
			for j, v := range row {
				stacked.Set(k+j, i, v*math.Sqrt(count[at+j]))
			}
		}
		part := stacked.Slice(0, k+block, 0, k).(*mat.Dense)
		triangulate(part.RawMatrix()) // reflectors leave the rows of the triangle triangular
	}
	return mat.DenseCopyOf(stacked.Slice(0, k, 0, k))
}
