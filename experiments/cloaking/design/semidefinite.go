package design

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// PseudoInverse is M⁺ of a covariance M = Σ λ_i c_i c_iᵀ on the range of a cloaking matrix,
// as a pseudo-inverse in double precision finds it: of M it drops the directions whose
// eigenvalues are below [PseudoInverseCut] of the largest, although they need noise, too.
type PseudoInverse struct {
	// SquaredNorms returns c_iᵀM⁺c_i for each column; the dropped part of a column does not count.
	SquaredNorms []float64
	// LogDet is log|M| over all directions of the range, −Inf where one has no noise.
	LogDet float64
	// Kept is the number of directions that are not dropped.
	Kept int
}

// PseudoInverseCut is the default cut of NumPy's pinv, relative to the largest eigenvalue.
const PseudoInverseCut = 1e-15

// PseudoInverseOf decomposes the covariance of the weights λ, one per column of the range.
func PseudoInverseOf(r *Range, lambda []float64) (*PseudoInverse, error) {
	k, n := r.B.Dims()
	c := mat.DenseCopyOf(r.B) // C in the orthonormal coordinates of U, r×N
	for i, s := range r.Scale {
		blas64.Scal(s, blas64.Vector{N: n, Inc: 1, Data: c.RawRowView(i)})
	}
	weighted := mat.DenseCopyOf(c)
	for i := range k {
		for j, row := 0, weighted.RawRowView(i); j < n; j++ {
			row[j] *= math.Sqrt(lambda[j])
		}
	}
	var m mat.SymDense
	m.SymOuterK(1, weighted)
	var eigen mat.EigenSym
	if !eigen.Factorize(&m, true) {
		return nil, fmt.Errorf("the eigenvalues of the covariance (%d×%[1]d) were not found", k)
	}
	values := eigen.Values(nil)
	var vectors, coordinates mat.Dense
	eigen.VectorsTo(&vectors)
	coordinates.Mul(vectors.T(), c)
	out := &PseudoInverse{SquaredNorms: make([]float64, n)}
	for i, value := range values {
		out.LogDet += math.Log(max(0, value))
		if value <= PseudoInverseCut*slices.Max(values) {
			continue
		}
		out.Kept++
		for j, x := range coordinates.RawRowView(i) {
			out.SquaredNorms[j] += x * x / value
		}
	}
	return out, nil
}

// FromPseudoInverse is [FromWeights] for weights that may leave directions without noise, with the
// Mahalanobis norms of a pseudo-inverse. It certifies nothing: MaxMahalanobis leaves out the
// directions that the pseudo-inverse drops, and Gap is zero. No release may have it.
func FromPseudoInverse(r *Range, lambda []float64) (*Design, error) {
	inverse, err := PseudoInverseOf(r, lambda)
	if err != nil {
		return nil, err
	}
	k, n := r.B.Dims()
	d := &Design{Lambda: lambda, MaxMahalanobis: math.Sqrt(slices.Max(inverse.SquaredNorms))}
	d.NoiseScale = d.MaxMahalanobis
	rows := mat.NewDense(n, k, nil) // Λ^½Bᵀ, whose triangular factor is the root of BΛBᵀ
	for j, l := range lambda {
		d.SumLambda += l
		for i := range k {
			rows.Set(j, i, math.Sqrt(l)*r.B.At(i, j))
		}
	}
	var qr mat.QR
	qr.Factorize(rows)
	var upper mat.Dense
	qr.RTo(&upper)
	d.root = blas64.Triangular{N: k, Stride: k, Uplo: blas.Lower, Diag: blas.NonUnit, Data: make([]float64, k*k)}
	for i := range k {
		for j := range i + 1 {
			d.root.Data[i*k+j] = upper.At(j, i)
		}
		if diagonal := math.Abs(upper.At(i, i)); diagonal > 0 {
			d.LogDetRange += 2 * math.Log(diagonal)
		}
		d.LogDet += 2 * math.Log(r.Scale[i])
	}
	d.LogDet += d.LogDetRange
	d.setFactor(r)
	return d, nil
}
