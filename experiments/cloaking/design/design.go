package design

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Design is a noise covariance M = Σ λ_i c_i c_iᵀ on the range of a cloaking
// matrix, with its certificate.
type Design struct {
	Lambda     []float64 // one weight per column of C
	SumLambda  float64
	Iterations int
	// MaxMahalanobis is the largest √(c_iᵀM⁻¹c_i) over all columns, the Δ of
	// Hall et al. (2013): the noise must be scaled by it.
	MaxMahalanobis float64
	// NoiseScale multiplies the noise where releases are judged: MaxMahalanobis, unless a
	// reproduction of another choice sets it.
	NoiseScale float64
	// Gap bounds log|Δ²M| − min log|M|, in nats. It is valid for any result of the solver.
	Gap float64
	// LogDetRange is log|Σ λ_i b_i b_iᵀ| in the whitened coordinates of the
	// range, and LogDet is log|M| on the range, LogDetRange + 2 Σ log Scale.
	LogDetRange, LogDet float64
	Trace               float64 // of M

	factor *mat.Dense // P×r, M = factor·factorᵀ
	// root is the lower r×r factor of Σ λ_i b_i b_iᵀ.
	root blas64.Triangular
}

// Factor returns F (P×r) with FFᵀ = M: noise from N(0, M) is Fz for standard
// normal z of length r. The caller must not change it.
func (d *Design) Factor() *mat.Dense { return d.factor }

// Coordinates returns draws of the noise in the whitened coordinates of the range (r×draws), scaled
// by s = [Design.NoiseScale]: N(0, s² Σ λ_i b_i b_iᵀ). By + σ·noise, with σ the mechanism's noise
// for sensitivity one, stands for a release where releases are judged; the noise of releases is
// that of package release. Asking for more draws continues the stream.
func (d *Design) Coordinates(stream *rand.Rand, draws int) *mat.Dense {
	z := mat.NewDense(d.root.N, draws, nil)
	for j := range draws {
		for i := range d.root.N {
			z.Set(i, j, stream.NormFloat64())
		}
	}
	blas64.Trmm(blas.Left, blas.NoTrans, d.NoiseScale, d.root, z.RawMatrix())
	return z
}

// Whitened returns Q = L⁻¹B (r×N), L the lower factor of Σ λ_i b_i b_iᵀ: the
// query of a release in coordinates in which its noise is independent, with one
// standard deviation in all. Column j is how far output j moves it.
func (d *Design) Whitened(r *Range) *mat.Dense {
	q := mat.DenseCopyOf(r.B)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, d.root, q.RawMatrix())
	return q
}

// Unwhiten returns Lz (r×1): whitened coordinates of the range from those of
// [Design.Whitened].
func (d *Design) Unwhiten(z []float64) *mat.Dense {
	w := mat.NewDense(d.root.N, 1, slices.Clone(z))
	blas64.Trmm(blas.Left, blas.NoTrans, 1, d.root, w.RawMatrix())
	return w
}

// FromWeights evaluates the weights λ (one per column of the range's B): the
// covariance, its certificate and its factor. It returns an error for weights
// that are negative, not finite, or leave a direction of the range without
// noise.
func FromWeights(r *Range, lambda []float64) (*Design, error) {
	k, n := r.B.Dims()
	if len(lambda) != n {
		return nil, fmt.Errorf("%d weights for %d columns", len(lambda), n)
	}
	d := &Design{Lambda: lambda}
	for i, l := range lambda {
		if !(l >= 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("weight %d is %v; finite numbers from 0 up are required", i, l)
		}
		d.SumLambda += l
	}
	chol, ok := choleskyOfDesign(r.B, lambda)
	if !ok {
		return nil, fmt.Errorf("the weights leave a direction of the rank-%d range without noise: the covariance is not "+
			"positive definite", k)
	}
	worst := 0.0
	for _, g := range squaredNorms(chol, r.B) {
		worst = max(worst, g)
	}
	d.MaxMahalanobis = math.Sqrt(worst)
	d.NoiseScale = d.MaxMahalanobis
	d.Gap = gapOf(k, worst, d.SumLambda)

	for i := range k {
		d.LogDetRange += 2 * math.Log(chol.Data[i*chol.Stride+i])
		d.LogDet += 2 * math.Log(r.Scale[i])
	}
	d.LogDet += d.LogDetRange

	d.root = chol

	d.setFactor(r)
	return d, nil
}

// setFactor sets F = U·diag(Scale)·L and the trace of M, ‖F‖²_F.
func (d *Design) setFactor(r *Range) {
	d.factor = mat.DenseCopyOf(r.U)
	raw := d.factor.RawMatrix()
	for i := range raw.Rows {
		row := raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols]
		for j, s := range r.Scale {
			row[j] *= s
		}
	}
	blas64.Trmm(blas.Right, blas.NoTrans, 1, d.root, raw)
	for i := range raw.Rows {
		for _, v := range raw.Data[i*raw.Stride : i*raw.Stride+raw.Cols] {
			d.Trace += v * v
		}
	}
}

// gapOf is the certificate r·log(max g·Σλ/r). It can come out negative by
// rounding only.
func gapOf(rank int, maxG, sumLambda float64) float64 {
	r := float64(rank)
	return max(0, r*math.Log(maxG*sumLambda/r))
}

// blockColumns bounds how many columns are copied at a time.
const blockColumns = 1 << 14

// choleskyOfDesign returns the lower factor of Σ λ_i b_i b_iᵀ, and whether
// there is one.
func choleskyOfDesign(b *mat.Dense, lambda []float64) (blas64.Triangular, bool) {
	k, n := b.Dims()
	var used []int // columns of weight zero, nearly all of a large design, are left out there
	for j, l := range lambda {
		if l != 0 || n <= FewColumns {
			used = append(used, j)
		}
	}
	m := blas64.Symmetric{N: k, Stride: k, Uplo: blas.Lower, Data: make([]float64, k*k)}
	for at := 0; at < len(used); at += blockColumns {
		block := used[at:min(at+blockColumns, len(used))]
		w, root := SelectColumns(b, block), make([]float64, len(block))
		for j, column := range block {
			root[j] = math.Sqrt(lambda[column])
		}
		for i := range k {
			floats.Mul(w.RawRowView(i), root)
		}
		blas64.Syrk(blas.NoTrans, 1, w.RawMatrix(), float64(min(at, 1)), m)
	}
	return lapack64.Potrf(m)
}

// squaredNorms returns g_i = ‖L⁻¹b_i‖².
func squaredNorms(chol blas64.Triangular, b *mat.Dense) []float64 {
	k, n := b.Dims()
	var norms []float64
	for at := 0; at < n; at += blockColumns {
		g := mat.DenseCopyOf(b.Slice(0, k, at, min(at+blockColumns, n)))
		blas64.Trsm(blas.Left, blas.NoTrans, 1, chol, g.RawMatrix())
		norms = append(norms, columnNorms(g)...)
	}
	return norms
}

// columnNorms returns the squared Euclidean norms of the columns.
func columnNorms(a *mat.Dense) []float64 {
	k, n := a.Dims()
	out := make([]float64, n)
	for i := range k {
		for j, v := range a.RawRowView(i) {
			out[j] += v * v
		}
	}
	return out
}
