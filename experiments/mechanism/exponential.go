package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Exponential is the exponential mechanism (McSherry and Talwar, "Mechanism
// design via differential privacy", FOCS 2007): it chooses candidate i with a
// probability proportional to exp(ε u_i/(2Δ)), which is ε-differentially
// private, δ = 0, where no change of one record changes any utility by more
// than Δ. Which candidates there are must not depend on private data.
//
// Choices are drawn in floating point, which the analysis does not cover:
// probabilities have rounding errors, and a candidate less likely than 2^-53
// may never be chosen. That is enough for experiments; a release needs exact
// arithmetic (Ilvento, "Implementing the exponential mechanism with base-2
// differential privacy", CCS 2020).
type Exponential struct {
	Epsilon     float64 // ε > 0
	Sensitivity float64 // Δ > 0, in the unit of the utilities
}

// Validate returns an *[Error] for an ε or Δ that is not positive and finite.
func (m Exponential) Validate() error {
	if !(m.Epsilon > 0) || math.IsInf(m.Epsilon, 1) {
		return &Error{"epsilon", m.Epsilon, "a positive, finite number is required"}
	}
	if !(m.Sensitivity > 0) || math.IsInf(m.Sensitivity, 1) {
		return &Error{"sensitivity", m.Sensitivity, "a positive, finite number is required: " +
			"the largest change of a utility when one record changes"}
	}
	return nil
}

// Probabilities returns the probability of each candidate. A utility of −Inf
// excludes its candidate: the probability is exactly 0. Others have a relative
// error below 1e-12, for utilities of any magnitude, down to the
// smallest normal float64.
//
// It returns an *[Error] for invalid parameters, and an error for no utilities,
// for a NaN or +Inf among them, and where all are −Inf.
func (m Exponential) Probabilities(utilities []float64) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if len(utilities) == 0 {
		return nil, fmt.Errorf("the exponential mechanism has nothing to choose from: no utilities")
	}
	best := math.Inf(-1)
	for i, u := range utilities {
		if math.IsNaN(u) || math.IsInf(u, 1) {
			return nil, fmt.Errorf("utility %d is %v; finite numbers are required, or -Inf for what is excluded", i, u)
		}
		best = max(best, u)
	}
	if math.IsInf(best, -1) {
		return nil, fmt.Errorf("the exponential mechanism has nothing to choose from: all %d utilities are -Inf",
			len(utilities))
	}
	// Relative to the best one no exponential overflows, and one is 1.
	p := make([]float64, len(utilities))
	for i, u := range utilities {
		p[i] = math.Exp(m.exponent(u, best))
	}
	floats.Scale(1/floats.SumCompensated(p), p)
	return p, nil
}

// exponent returns ε(u − best)/(2Δ) ≤ 0. Mantissas and powers of two are
// combined apart, so that nothing over- or underflows on the way.
func (m Exponential) exponent(u, best float64) float64 {
	if math.IsInf(u, -1) {
		return u
	}
	halved := 1 // the exponent of two in the denominator
	difference := u - best
	if math.IsInf(difference, -1) {
		difference, halved = u/2-best/2, 0
	}
	d, dTwo := math.Frexp(difference)
	e, eTwo := math.Frexp(m.Epsilon)
	s, sTwo := math.Frexp(m.Sensitivity)
	return math.Ldexp(d*e/s, dTwo+eTwo-sTwo-halved)
}

// Choose draws a candidate by its probability. It takes one Uint64 of rng, so
// that equal streams give equal choices, and returns the errors of
// [Exponential.Probabilities].
func (m Exponential) Choose(utilities []float64, rng *rand.Rand) (int, error) {
	p, err := m.Probabilities(utilities)
	if err != nil {
		return 0, err
	}
	return choose(p, openUniform(rng.Uint64())), nil
}

// choose inverts the distribution function at 0 < u < 1. Candidates of
// probability zero are never chosen, also where rounding leaves the sum of the
// others below u.
func choose(p []float64, u float64) int {
	last, below := 0, 0.0
	for i, v := range p {
		if v == 0 {
			continue
		}
		last = i
		if below += v; u < below {
			break
		}
	}
	return last
}
