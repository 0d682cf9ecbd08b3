package choose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// errorBound is where the paper cuts prediction errors off, in units of d, the
// largest change of one output (its "completely arbitrary bound").
const errorBound = 4

// publishedSensitivity is Eq. (9) in units of d², for the largest squared column norms of the
// folds' cloaking matrices: 9 + the sum of all but the smallest.
//
// The 9 bounds the effect of the changed output as a test value, d² + 2d·4d. The others are meant
// to bound its effect as a training value, but leave out the cross term 2d·eᵀc_j of ‖e + d·c_j‖² −
// ‖e‖², which is of first order: (9) is no upper bound.
func publishedSensitivity(columnNorms []float64) float64 {
	return 1 + 2*errorBound + floats.Sum(columnNorms) - slices.Min(columnNorms)
}

// exactSensitivity returns the largest change of ‖Az‖², in units of d², when one
// z_j changes within an interval of length d around 0, and the others lie
// anywhere in the same interval.
//
// With H = AᵀA, a change of z_j from a to b = a + t changes ‖Az‖² by
//
//	t·(H_jj (a + b) + 2 Σ_{i≠j} H_ji z_i).
//
// Without loss of generality t is positive and so is the change: changing back,
// and changing all signs, only change its sign. The second sum is at most d·R_j,
// R_j = Σ_{i≠j} |H_ji|, reached in a corner of the box, and a + b is at most
// d − t, reached at b = d/2. The maximum of t·(H_jj (d − t) + d·R_j) over t in
// (0, d] lies at t = d (H_jj + R_j)/(2 H_jj), where that is below d:
//
//	d² (H_jj + R_j)²/(4 H_jj)  where R_j < H_jj,
//	d² R_j                     otherwise.
//
// All of these are reached at once, so that the bound is exact.
func exactSensitivity(a *mat.Dense) float64 {
	var h mat.SymDense
	h.SymOuterK(1, a.T())
	worst := 0.0
	for j := range h.SymmetricDim() {
		worst = max(worst, worstChange(&h, j))
	}
	return worst
}

// worstChange is the largest change, over d², that output j can make.
func worstChange(h *mat.SymDense, j int) float64 {
	own, others := h.At(j, j), 0.0
	for i := range h.SymmetricDim() {
		if i != j {
			others += math.Abs(h.At(j, i))
		}
	}
	if others >= own {
		return others
	}
	return (own + others) * (own + others) / (4 * own)
}

// fromMean turns A (M×N), which acts on N outputs less their prior mean, into
// the matrix that acts on the outputs themselves where the prior mean is the
// mean of these and of further ones, all in all n: A(I − 11ᵀ/n), with columns of
// −A1/n for the further ones.
//
// Its rows sum to zero, so that it acts on the outputs less any constant in the
// same way, the middle of their interval for instance.
func fromMean(a *mat.Dense, n int) *mat.Dense {
	rows, own := a.Dims()
	out := mat.NewDense(rows, n, nil)
	for i := range rows {
		src, dst := a.RawRowView(i), out.RawRowView(i)
		share := floats.Sum(src) / float64(n)
		for j := range dst {
			dst[j] = -share
			if j < own {
				dst[j] += src[j]
			}
		}
	}
	return out
}
