package sparse

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/sparsegp"
)

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
