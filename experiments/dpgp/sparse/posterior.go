package sparse

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
)

// Covariance selects the contribution of the noise to the posterior's covariance.
//
// The mean m = σ⁻²K_ZZ Σ̃ (A + E_a) carries the noise twice. E_a is additive and gives σ_a²σ⁻⁴ K_ZZ
// Σ̃² K_ZZ (Eq. 11). E_b enters through Σ̃, linearised (Eq. 13); with v = Σ̃(A + E_a) the symmetric
// E_b gives
//
//	σ_b²/(2σ⁸) K_ZZ Σ̃ (|v|² I + v vᵀ) Σ̃ K_ZZ.
//
// The print of Eq. (14) treats (i, j) and (j, i) as two draws and amounts to diag(v²) in place of v
// vᵀ; the closed form replaces its double sum.
type Covariance int

// The forms of the covariance.
const (
	CovarianceCorrected Covariance = iota // Eq. (14) with symmetric noise
	CovariancePrinted                     // Eq. (14) as printed
	CovarianceNaive                       // nothing is added
)

// Choices are the names of the forms.
func (Covariance) Choices() []string { return []string{"corrected", "as-published", "naive"} }

// form returns the form of the program, which computes the naive covariance with either.
func (c Covariance) form() sparsegp.Form {
	if c == CovariancePrinted {
		return sparsegp.Printed
	}
	return sparsegp.Exact
}

// Update is how the posterior is made of noisy sums.
// Rho is the probability that Eq. (10) allows the noise to exceed λ.
type Update struct {
	Rho            float64
	Regularisation Regularisation
	Covariance     Covariance
	// Raise makes λ larger where the noise exceeds it; otherwise there is no posterior then.
	Raise bool
	// Filtered weighs the directions of a whitened model by the noise in A, too ([Whitening.filtered]).
	Filtered bool
}

// Posterior is a model that may be published: Z, the kernel, m and S. It depends on the
// data through noisy sums alone.
type Posterior struct {
	*sparsegp.Posterior

	Model *Model
	Ridge float64 // λ
	// Raised reports that λ is larger than that of Eq. (10).
	Raised bool
}

// RaisedText describes a λ that was raised.
const RaisedText = "the noise exceeds lambda of Eq. (10); lambda was raised, by the noisy sums alone, until the " +
	"update was positive definite, and the model is smoother for it: use regularisation=corrected, a smaller rho, " +
	"another ratio, or a larger epsilon"

// Infer returns the posterior from sums with that noise in them (Eq. 9). It is post-processing, an
// error included.
//
// A has length M, B is M×M; O(M³) operations for every N. Where the noise exceeds λ, λ is raised, or, if
// it must not be, an *op.NotPositiveDefiniteError is inside of the error.
func (m *Model) Infer(
	ctx context.Context, e *engine.Engine, noisy sparsegp.Sums, noise Noise, u Update,
) (*Posterior, error) {
	switch {
	case m.Whitened != nil && u.Filtered:
		return m.Whitened.filtered(m, noisy, noise, u)
	case m.Whitened != nil:
		return m.Whitened.infer(ctx, e, m, noisy, noise, u)
	}
	ridge := noise.Ridge(m, u.Rho, u.Regularisation)
	infer := func(ridge float64) (*sparsegp.Posterior, error) {
		return sparsegp.Infer(ctx, e, m.Inducing, noisy, 1/m.Noise, noise.treated(ridge, u))
	}
	p, err := infer(ridge)
	var notPD *op.NotPositiveDefiniteError
	raised := false
	if errors.As(err, &notPD) && noise.SigmaB > 0 && u.Raise {
		raised = true
		if ridge, err = m.raised(ridge, noisy.B); err == nil {
			p, err = infer(ridge)
		}
	}
	switch {
	case errors.As(err, &notPD) && noise.SigmaB > 0:
		return nil, fmt.Errorf("the noise is larger than lambda = %.4g allows for, and the update is not positive "+
			"definite (its budget is spent all the same: a second attempt spends another): use "+
			"regularisation=corrected, a smaller rho, or another ratio: %w", ridge, err)
	case errors.As(err, &notPD):
		return nil, fmt.Errorf("the update is not positive definite: use fewer inducing inputs, or jitter=%g: %w",
			max(1e-8, 100*m.Inducing.Jitter), err)
	case err != nil:
		return nil, err
	}
	if u.Covariance == CovarianceNaive {
		p.Cov = p.Naive
	}
	return &Posterior{Posterior: p, Model: m, Ridge: ridge, Raised: raised}, nil
}

// treated returns the noise with its treatment in a posterior.
func (n Noise) treated(ridge float64, u Update) sparsegp.Noise {
	return sparsegp.Noise{VarianceA: n.SigmaA * n.SigmaA, VarianceB: n.SigmaB * n.SigmaB, Ridge: ridge,
		Form: u.Covariance.form()}
}

// Draw returns the posterior of [Model.Infer] as one of many that are needed for their predictions alone. The model is
// not whitened, λ is that of Eq. (10), and the noise is in the covariance.
func (m *Model) Draw(noisy sparsegp.Sums, noise Noise, u Update, at *sparsegp.Projection) sparsegp.Draw {
	return sparsegp.Draw{Sums: noisy, Precision: 1 / m.Noise, At: at,
		Noise: noise.treated(noise.Ridge(m, u.Rho, u.Regularisation), u)}
}

var errEigenvalues = errors.New("the eigenvalues of the noisy update cannot be computed: bring inputs and outputs to " +
	"a scale nearer one")

// raised returns λ less the least eigenvalue of K_ZZ + σ⁻²B, which is below −λ but for rounding: with
// it the least eigenvalue of the update is λ. It is a function of the noisy B and of public numbers.
func (m *Model) raised(ridge float64, b *mat.Dense) (float64, error) {
	z := m.Inducing.Z
	number, _ := z.Dims()
	update := mat.NewSymDense(number, nil)
	for i := range number {
		for j, k := range m.Vector(z.RawRowView(i)) {
			if i == j {
				k += m.Inducing.Jitter
			}
			if j >= i {
				update.SetSym(i, j, k+b.At(i, j)/m.Noise)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(update, false) {
		return 0, errEigenvalues
	}
	return ridge - min(0, slices.Min(eigen.Values(nil))), nil
}

// Predict returns mean and variance of the function at the rows of x (n×D), with S and
// with any other covariances at the inducing inputs in its place.
//
// The mean is K_xZ K_ZZ⁻¹ m and the variance k(x,x) − K_xZ K_ZZ⁻¹ (K_ZZ − S) K_ZZ⁻¹ K_Zx
// (Eq. 17), without the variance of observations. Variances come in the order S, others.
func (p *Posterior) Predict(
	ctx context.Context, e *engine.Engine, x *mat.Dense, others ...*mat.Dense,
) (mean []float64, variances [][]float64, err error) {
	covs := append([]*mat.Dense{p.Cov}, others...)
	mean, variances, err = sparsegp.Predict(ctx, e, p.Model.Inducing, p.Mean, covs, x)
	if _, ok := errors.AsType[*op.NotPositiveDefiniteError](err); ok {
		err = fmt.Errorf("the covariance of the inducing inputs: %w; use fewer inducing inputs, a shorter "+
			"lengthscale, or jitter=1e-8", err)
	}
	return mean, variances, err
}
