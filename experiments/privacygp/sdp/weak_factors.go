package sdp

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// factors returns L (n×ρ) and R (ρ×γ) with A = L R to rounding, in coordinates in which Y = I uses
// half of a tolerance or of all of them: r_iᵀ r_i ≤ q_i/2.
//
// ρ is the numerical rank of A. Dense sensitive inputs have nearly the same columns: 60 inputs on a
// fifth of the correlation length have rank 13, and the program 91 unknowns in place of 1830. The
// omitted part is at the level of rounding; a certificate is measured with A itself.
//
// Any factorisation A = LR would do; in exact arithmetic the program does not depend on it. The
// singular vectors are taken where A is rank-deficient, its own columns or rows where it is not,
// which leave Y as the paper's Q.
func factors(a *mat.Dense, q []float64) (l, r *mat.Dense, err error) {
	n, g := a.Dims()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil, nil, errors.New("sdp: the singular value decomposition of A did not converge")
	}
	values := svd.Values(nil)
	rank := 0
	for _, v := range values {
		if v > values[0]*epsilon {
			rank++
		}
	}
	switch rank {
	case g: // L = A, R = I, Y = diag(q)/2
		l, r = mat.NewDense(n, g, nil), mat.NewDense(g, g, nil)
		l.Apply(func(_, j int, x float64) float64 { return x / math.Sqrt(q[j]/2) }, a)
		for i, v := range q {
			r.Set(i, i, math.Sqrt(v/2))
		}
		return l, r, nil
	case n: // L = I, R = A
		l, r = mat.NewDense(n, n, nil), mat.DenseCopyOf(a)
		for i := range n {
			l.Set(i, i, 1)
		}
	default: // the singular vectors; one of them where A = 0
		rank = max(rank, 1)
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		l, r = mat.DenseCopyOf(u.Slice(0, n, 0, rank)), mat.DenseCopyOf(v.Slice(0, g, 0, rank).T())
		for j := range rank {
			for i := range n {
				l.Set(i, j, l.At(i, j)*values[j])
			}
		}
	}
	y := math.MaxFloat64 // Y = y·I
	for i, v := range q {
		c := r.ColView(i)
		y = math.Min(y, v/2/math.Max(mat.Dot(c, c), math.SmallestNonzeroFloat64))
	}
	l.Scale(1/math.Sqrt(y), l)
	r.Scale(math.Sqrt(y), r)
	return l, r, nil
}

// epsilon is the spacing of float64 at 1.
const epsilon = 0x1p-52
