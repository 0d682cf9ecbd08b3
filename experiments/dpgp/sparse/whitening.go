package sparse

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
)

// Whitening maps the kernel vector k of a row to its features φ = L⁻¹k, with the Cholesky factor L of the covariance
// K_ZZ of the inducing inputs, jitter included. It follows from public numbers.
//
// Sums of φ carry the same model as those of k, A = LA_φ and B = LB_φLᵀ, but their noise is another one. The norm of k
// grows with the overlap of the kernels, that of φ does not: φᵀφ = kᵀ(LLᵀ)⁻¹k ≤ σ_f². For [[σ_f², kᵀ], [k, K]] is a
// covariance, so that kkᵀ ≤ σ_f²K, and K ≤ LLᵀ because the jitter is at least the rounding of the factor, which
// [NewWhitening] checks. Noise of one variance in all directions of φ is small in those of k in which rows hardly
// differ, where noise in k has to be divided by a small eigenvalue of K.
//
// The bound of the sensitivity of substituted rows for kernel vectors, by their norms ‖k‖² ≤ R² and 0 ≤ ⟨k, k'⟩ ≤ R²,
// holds for features with R² = σ_f², although ⟨φ, φ'⟩ may be negative. The residual of the projection, κ(x, x') − ⟨φ,
// φ'⟩, is a covariance, and κ is positive, so that with a = ‖φ‖² and b = ‖φ'‖²
//
//	⟨φ, φ'⟩ ≥ κ(x, x') − √((σ_f²−a)(σ_f²−b)) ≥ −√((σ_f²−a)(σ_f²−b)).
//
// The squared distance is Pa + P'b + c(Wa² + W'b²) + l⟨φ, φ'⟩ − q⟨φ, φ'⟩², with P = Σw²y², W = Σw², c = ratio², q ≥ 0
// and, by Cauchy and Schwarz, |l| ≤ 2√(PP'). A negative product makes it larger than that for a product of 0 only if l
// < 0. Then l⟨φ, φ'⟩ ≤ 2√(P(σ_f²−a)·P'(σ_f²−b)) ≤ P(σ_f²−a) + P'(σ_f²−b), and the square is at most (P+P')σ_f² + c(Wa²
// + W'b²), which is largest at a = b = σ_f², and is there that of a product of 0.
type Whitening struct {
	lower [][]float64 // L, the rows to the diagonal
	norm  float64     // σ_f, the largest norm of φ
	error float64     // bound on the norm of the rounding error of a computed φ
}

// NewWhitening returns the map of a model, and an error where the jitter is too small to prove its norm.
//
// With the unit of roundoff u = 2⁻⁵³ the computed LLᵀ is K_ZZ + jitter·I + E, where the factorisation has a part of at
// most (M+1)u(σ_f²+jitter) in each element of E (Higham 2002, Theorem 10.3, with (|L||Lᵀ|)_ij ≤ σ_f² + jitter) and the
// computed kernel (D+10)uσ_f²; ‖E‖ is at most M times both. Twice that bound allows for terms in u². The eigenvalues of
// LLᵀ are at least jitter − ‖E‖.
//
// The computed φ solves (L+F)φ = k+f with |F| ≤ Mu|L| (Theorem 8.5) and |f_j| ≤ (D+10)uσ_f²: its error is at most
// ‖L⁻¹‖(‖f‖ + ‖F‖‖φ‖).
func NewWhitening(m *Model) (*Whitening, error) {
	const u = 0x1p-53
	number, dims := m.Inducing.Z.Dims()
	size, jitter := float64(number), m.Inducing.Jitter
	off := 2 * size * u * ((size+1)*(m.Variance+jitter) + float64(dims+10)*m.Variance)
	if !(jitter >= 2*off) {
		return nil, fmt.Errorf("jitter = %g: features=whitened takes %.2g or more, by which the norm of a row's features is "+
			"proved", jitter, 2*off)
	}
	k := mat.NewSymDense(number, nil)
	for i := range number {
		for j, v := range m.Vector(m.Inducing.Z.RawRowView(i))[:i+1] {
			k.SetSym(i, j, v)
		}
		k.SetSym(i, i, k.At(i, i)+jitter)
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) {
		return nil, errors.New("the covariance of the inducing inputs is not positive definite: use fewer of them, or a " +
			"larger jitter")
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	w := &Whitening{norm: math.Sqrt(m.Variance)}
	for i := range number {
		row := make([]float64, i+1)
		for j := range row {
			row[j] = lower.At(i, j)
		}
		w.lower = append(w.lower, row)
	}
	kernels := math.Sqrt(size) * float64(dims+10) * m.Variance
	solving := size * math.Sqrt(size*(m.Variance+jitter)) * 2 * w.norm // ‖F‖ is at most Mu times the Frobenius norm of L
	w.error = 2 * u * (kernels + solving) / math.Sqrt(jitter-off)
	return w, nil
}

// Vector returns the features of a row with the kernel vector k, which it overwrites, by forward substitution in a
// fixed order.
func (w *Whitening) Vector(k []float64) []float64 {
	for i, row := range w.lower {
		v := k[i]
		for j, l := range row[:i] {
			v -= l * k[j]
		}
		k[i] = v / row[i]
	}
	return k
}

// Sums returns the sums of features for sums of kernel vectors: L⁻¹A and L⁻¹BL⁻ᵀ.
func (w *Whitening) Sums(s sparsegp.Sums) sparsegp.Sums {
	number := len(s.A)
	half := mat.NewDense(number, number, nil)
	for j := range number {
		half.SetCol(j, w.Vector(mat.Col(nil, j, s.B)))
	}
	out := sparsegp.Sums{A: w.Vector(append([]float64(nil), s.A...)), B: mat.NewDense(number, number, nil)}
	for i := range number {
		out.B.SetRow(i, w.Vector(mat.Row(nil, i, half)))
	}
	symmetrise(out.B)
	return out
}

// symmetrise puts the mean of a square matrix and its transpose in its place, which rounding has apart.
func symmetrise(a *mat.Dense) {
	n, _ := a.Dims()
	for i := range n {
		for j := range i {
			v := (a.At(i, j) + a.At(j, i)) / 2
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
}

// factor is L as a matrix.
func (w *Whitening) factor() *mat.Dense {
	out := mat.NewDense(len(w.lower), len(w.lower), nil)
	for i, row := range w.lower {
		for j, v := range row {
			out.Set(i, j, v)
		}
	}
	return out
}

// floorShare is the share of λ of Eq. (10) that the eigenvalues of the noisy update have at least. With ρ = 0.5 λ is
// 1.1 to 1.9 times the norm that the noise of M directions has typically, √(2M)σ_b/σ²; an eigenvalue of less than half
// of that norm is little but noise.
const floorShare = 0.3

// orthogonal is the distance, in lengthscales, of inducing inputs of which no two have a covariance above 0 in float64.
const orthogonal = 64

// orthonormal are inducing inputs whose covariance is the identity: the features of a whitened model.
func orthonormal(number int) sparsegp.InducingInputs {
	z := mat.NewDense(number, 1, nil)
	for i := range number {
		z.Set(i, 0, orthogonal*float64(i))
	}
	return sparsegp.InducingInputs{Kernel: kernel.EQ(1, 1), Z: z}
}

// infer returns the posterior from noisy sums of features. Its update I + σ⁻²B_φ is made positive definite by raising
// its eigenvalues to [floorShare] of λ, and to 1, which they have at least without noise. Larger ones, the directions
// that rows determine, are left as they are, where adding λ, as Eq. (9) does, would shrink them. It is post-processing
// of noisy sums. With S_φ, the covariance of the features' coefficients, and their mean m_φ, those of the function at
// the inducing inputs are Lm_φ and LS_φLᵀ.
func (w *Whitening) infer(
	ctx context.Context, e *engine.Engine, m *Model, noisy sparsegp.Sums, noise Noise, u Update,
) (*Posterior, error) {
	number := len(noisy.A)
	update := mat.NewSymDense(number, nil)
	for i := range number {
		for j := range i + 1 {
			update.SetSym(i, j, noisy.B.At(i, j)/m.Noise)
		}
		update.SetSym(i, i, update.At(i, i)+1)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(update, true) {
		return nil, errEigenvalues
	}
	floor := max(1, floorShare*noise.Ridge(m, u.Rho, u.Regularisation))
	var vectors, scaled, raised mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = max(v, floor)
	}
	scaled.Mul(&vectors, mat.NewDiagDense(number, values))
	raised.Mul(&scaled, vectors.T())
	for i := range number {
		raised.Set(i, i, raised.At(i, i)-1)
	}
	symmetrise(&raised)
	raised.Scale(m.Noise, &raised)
	p, err := sparsegp.Infer(ctx, e, orthonormal(number), sparsegp.Sums{A: noisy.A, B: &raised}, 1/m.Noise,
		sparsegp.Noise{VarianceA: noise.SigmaA * noise.SigmaA, VarianceB: noise.SigmaB * noise.SigmaB,
			Form: u.Covariance.form()})
	if err != nil {
		return nil, err
	}
	l := w.factor()
	back := func(cov *mat.Dense) *mat.Dense {
		var half, out mat.Dense
		half.Mul(l, cov)
		out.Mul(&half, l.T())
		return &out
	}
	var mean mat.VecDense
	mean.MulVec(l, mat.NewVecDense(number, p.Mean))
	p.Mean, p.Cov, p.Naive = mean.RawVector().Data, back(p.Cov), back(p.Naive)
	if u.Covariance == CovarianceNaive {
		p.Cov = p.Naive
	}
	return &Posterior{Posterior: p, Model: m, Ridge: floor}, nil
}

// filtered returns the posterior from noisy sums of features, in which every direction counts by how well the noisy
// sums determine it. It is post-processing of noisy sums.
//
// The function is φᵀw with w ~ N(0, I), and the noisy sum is Ã = Bw + e with e ~ N(0, σ²B + σ_a²I): the noise of the
// observations has the covariance σ²B in A, that of the mechanism is added. If B were known the mean of w would be, by
// the formulas for jointly Gaussian vectors (a Wiener filter),
//
//	GÃ with G = B(B² + σ²B + σ_a²I)⁻¹ = (B + σ²I + σ_a²B⁻¹)⁻¹.
//
// In the place of B there is the noisy B̃ = B + E_b. An eigenvalue b of it is little but noise below [floorShare] of λ,
// and counts as that in G; where b is far above σ_a nothing is shrunk, and in between the noise in A is, which λ of
// Eq. (9) knows nothing of.
//
// The covariance is that of the error w − GÃ = (I − GB̃)w + GE_bw − Ge, with B̃ without its negative eigenvalues:
//
//	S = (I − GB̃)² + G(σ²B̃ + σ_a²I)G + ½σ_b²G(E|w|²·I + E[wwᵀ])G,
//
// since E[E_b wwᵀ E_b] = ½σ_b²(|w|²I + wwᵀ) for the symmetric noise of B ([Covariance]). The moments of w in the last
// term are those with the mean GÃ and the covariance of the first two. Without noise S is the posterior's covariance.
// With it S is rather too large where few rows are, as B̃ is taken for independent of E_b; a direction in which there
// is only noise has a variance above that of the prior, because G takes something from it. The function at the
// inducing inputs has the mean Lm and the covariance LSLᵀ, m = GÃ.
func (w *Whitening) filtered(m *Model, noisy sparsegp.Sums, noise Noise, u Update) (*Posterior, error) {
	number := len(noisy.A)
	b := mat.NewSymDense(number, nil)
	for i := range number {
		for j := range i + 1 {
			b.SetSym(i, j, noisy.B.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(b, true) {
		return nil, errEigenvalues
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	ridge := noise.Ridge(m, u.Rho, u.Regularisation)
	f := filter{noise: noise, observed: m.Noise, floor: floorShare * m.Noise * ridge}
	var a mat.VecDense
	a.MulVec(vectors.T(), mat.NewVecDense(number, noisy.A))
	mean, cov := f.posterior(eigen.Values(nil), a.RawVector().Data)

	var to mat.Dense // from the directions of the noisy B to the function at the inducing inputs
	to.Mul(w.factor(), &vectors)
	var at mat.VecDense
	at.MulVec(&to, mat.NewVecDense(number, mean))
	var half, all mat.Dense
	half.Mul(&to, cov)
	all.Mul(&half, to.T())
	symmetrise(&all)
	return &Posterior{Posterior: &sparsegp.Posterior{Mean: at.RawVector().Data, Cov: &all}, Model: m,
		Ridge: ridge}, nil
}

// filter is the gain G of [Whitening.filtered] in the directions of the eigenvectors of the noisy B.
type filter struct {
	noise    Noise
	observed float64 // σ²
	floor    float64 // least eigenvalue of B that counts, [floorShare] of λ in the units of B
}

// gain is G for an eigenvalue b.
func (f filter) gain(b float64) float64 {
	b = max(b, f.floor)
	if a := f.noise.SigmaA; a > 0 {
		return 1 / (b + f.observed + a*a/b)
	}
	return 1 / (b + f.observed)
}

// posterior returns the mean (M) and the covariance S (M×M) of w for the eigenvalues b and the sum a, in their
// directions.
func (f filter) posterior(b, a []float64) (mean []float64, cov *mat.Dense) {
	number := len(b)
	mean, cov = make([]float64, number), mat.NewDense(number, number, nil)
	gains, own := make([]float64, number), make([]float64, number)
	for i, v := range b {
		v, g := max(v, 0), f.gain(v)
		rest := 1 - g*v
		gains[i], mean[i] = g, g*a[i]
		own[i] = rest*rest + g*g*(f.observed*v+f.noise.SigmaA*f.noise.SigmaA)
	}
	half := f.noise.SigmaB * f.noise.SigmaB / 2
	square := floats.Dot(mean, mean) + floats.Sum(own) // E|w|²
	for i, g := range gains {
		for j := range i + 1 {
			v := half * g * gains[j] * mean[i] * mean[j]
			if i == j {
				v += own[i] + half*g*g*(square+own[i])
			}
			cov.Set(i, j, v)
			cov.Set(j, i, v)
		}
	}
	return mean, cov
}
