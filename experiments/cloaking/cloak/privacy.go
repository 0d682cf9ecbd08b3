package cloak

import (
	"errors"
	"fmt"
	"math"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Factor returns the ratio σ/Δ of the noise; 0 where there is none.
func (b *GaussianBudget) Factor() (float64, error) {
	if b.Noiseless() {
		return 0, nil
	}
	return b.Calibration.Factor(b.Epsilon, b.Delta)
}

// StepFactor is σ/Δ of the noise of one of several steps; 0 where there is none.
func (b *GaussianBudget) StepFactor(s Steps) (float64, error) {
	if b.Noiseless() {
		return 0, nil
	}
	return b.shared(s, b.Calibration.Factor)
}

// ReleaseFactor is σ/Δ of the noise of one of several steps of a release.
func (b *GaussianBudget) ReleaseFactor(s Steps) (float64, error) {
	return b.shared(s, func(epsilon, delta float64) (float64, error) {
		return mechanism.SafeFactor(b.Calibration, epsilon, delta)
	})
}

// shared is σ/Δ of one of T steps, by the σ/Δ of one query with a budget.
//
// By basic composition each step has (ε/T, δ/T). Steps of Gaussian noise compose exactly, also where each is chosen
// after the outcome of those before it: T of them with μ/√T are μ-GDP (Dong, Roth and Su 2022, Corollary 3.3 of
// arXiv:1905.02383), as is one with √T times less noise. So with σ/Δ = f√T each they have the (ε, δ) of one with f.
func (b *GaussianBudget) shared(s Steps, factor func(epsilon, delta float64) (float64, error)) (float64, error) {
	if s.Composition == Gaussian && s.Number > 1 {
		f, err := factor(b.Epsilon, b.Delta)
		return release.Up(f * release.Up(math.Sqrt(float64(s.Number)))), err
	}
	steps := float64(s.Number)
	f, err := factor(b.Epsilon/steps, b.Delta/steps)
	if err != nil && s.Number > 1 {
		return 0, fmt.Errorf("each of %d Newton steps: %w", s.Number, err)
	}
	return f, err
}

// Losses are those of steps with noise of σ/Δ = factor.
func (s Steps) Losses(factor float64) []experiment.Loss {
	return []experiment.Loss{{Law: "gaussian", Size: release.Up(1 / factor), Times: s.Number}}
}

// Source names the calibration of the noise.
func (b *GaussianBudget) Source() string {
	if b.Calibration == mechanism.Analytic {
		return "calibrated by the analytic Gaussian mechanism (Balle and Wang 2018)"
	}
	return "calibrated as in Hall, Rinaldo and Wasserman (2013), proved for epsilon <= 1"
}

// Suspicions is a warning of a δ that is too large for the number of units of that name; nil for none.
func (b *GaussianBudget) Suspicions(n int, units string) []string {
	if suspect := mechanism.SuspectDelta(b.Delta, n, units); suspect != "" {
		return []string{suspect}
	}
	return nil
}

// CheckRank refuses a rank without noise.
func CheckRank(b *GaussianBudget, s *Solver) error {
	if b.Noiseless() && !s.Rank.Is(FullRank) {
		return fmt.Errorf("rank = %s with epsilon = inf: the rank bounds the directions that noise is added to, and "+
			"without noise all are released; use rank=full", s.Rank)
	}
	return nil
}

// CheckNoise refuses privacy parameters that the calibration cannot have, and a
// rank without noise.
func CheckNoise(b *GaussianBudget, s *Solver) error {
	if _, err := b.Factor(); err != nil {
		return err
	}
	return CheckRank(b, s)
}

// Notes explain the guarantee for the chosen algorithm.
func (s *Solver) Notes() []string {
	if s.Algorithm != Gradient || s.CheckGuarantee() != nil {
		return nil
	}
	return []string{"the gradient descent's covariance is scaled by its largest Mahalanobis norm, so that the guarantee " +
		"holds wherever the descent ended"}
}

// Refute takes a guarantee back where the noise does not fit the sensitivity.
func (s *Solver) Refute(p *experiment.Privacy) {
	if err := s.CheckGuarantee(); err != nil {
		p.Refute(err.Error())
	}
}

// CheckGuarantee refuses noise that is multiplied by the square of the largest Mahalanobis
// norm, or by a norm that leaves directions out.
func (s *Solver) CheckGuarantee() error {
	switch {
	case s.Algorithm != Gradient:
		return nil
	case s.Inverse == Pseudo:
		return errors.New("inverse=pseudo-inverse leaves directions out of the Mahalanobis norm that predictions are " +
			"released in, with little noise or none; use inverse=range")
	case s.Scaling == Squared:
		return errors.New("scaling=squared-norm multiplies the noise by the square of the largest Mahalanobis norm, which " +
			"is less than the norm itself where that is below 1; use scaling=norm")
	}
	return nil
}

// Of normalisation=as-published.
const (
	// PrivateNormalisation refutes a guarantee.
	PrivateNormalisation = "the clipping interval and the prior mean are computed from the private heights without " +
		"noise"
	// PublicNormalisation is the advice against it.
	PublicNormalisation = "normalisation=public takes the interval and the prior mean from constants"
)
