package release

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// Choice is the exponential mechanism (McSherry and Talwar 2007) on a public list
// of candidates: (ε, 0)-differentially private.
type Choice struct {
	What    string // for those who get the release, such as "configuration"
	Epsilon float64
	// Change bounds how far one protected unit moves any utility, were it computed
	// in real numbers, and Error how far a computed utility may be from that.
	Change, Error float64
}

const (
	// largestExponent is where probabilities stop falling: a candidate that is
	// less likely than the best one by more than exp(−2^20) is as likely as that.
	// The utility is max(u, best − c) then, which moves no further than u.
	largestExponent = 1 << 20
	// exponentError bounds the rounding of an exponent up to largestExponent.
	exponentError = 0x1p-28
)

// Choose draws a candidate i with a probability proportional to
// exp(ε uᵢ/(2Δ)), exactly: by rejection, with exact Bernoulli trials of
// probability exp(−γᵢ) for the float64 γᵢ = ε(max u − uᵢ)/(2Δ) (Canonne, Kamath
// and Steinke 2020, Algorithm 1). Δ is Change and twice Error, and ε is lowered by
// the rounding of γ. Utilities of −Inf exclude a candidate; which ones must
// not depend on private data.
func (s *Source) Choose(c Choice, utilities []float64) (int, error) {
	gamma, sensitivity, err := c.exponents(utilities)
	if err != nil {
		return 0, err
	}
	if s.bits == nil {
		return 0, errors.New("a defect: a replay of noisy numbers makes no choice")
	}
	s.describe(experiment.Noise{Law: lawExponential, Query: c.What, Coordinates: 1, Sensitivity: sensitivity})
	for {
		i := s.bits.below(uint32(len(gamma)))
		if !math.IsInf(gamma[i], 1) && s.bits.exp(gamma[i]) {
			if s.trace != nil {
				*s.trace = append(*s.trace, Draw{Query: slices.Clone(utilities), Output: []float64{float64(i)}})
			}
			return int(i), nil
		}
	}
}

// exponents returns the γᵢ, +Inf for excluded candidates, and Δ.
func (c Choice) exponents(utilities []float64) (gamma []float64, sensitivity float64, err error) {
	if !(c.Epsilon > 4*exponentError) || math.IsInf(c.Epsilon, 1) {
		return nil, 0, fmt.Errorf("epsilon = %g: a finite number above %g is required to choose by", c.Epsilon,
			4*exponentError)
	}
	sensitivity = Up(c.Change + 2*c.Error)
	if !(c.Change > 0) || !(c.Error >= 0) || math.IsInf(sensitivity, 1) {
		return nil, 0, fmt.Errorf("%s: a sensitivity of %g with a rounding error of %g is no positive, finite number",
			c.What, c.Change, c.Error)
	}
	best := math.Inf(-1)
	for i, u := range utilities {
		if math.IsNaN(u) || math.IsInf(u, 1) {
			return nil, 0, fmt.Errorf("%s: utility %d is %v; finite numbers are required, or -Inf for what is excluded",
				c.What, i, u)
		}
		best = max(best, u)
	}
	if math.IsInf(best, -1) {
		return nil, 0, errors.New(c.What + ": there is nothing to choose from")
	}
	if uint64(len(utilities)) > math.MaxUint32 {
		return nil, 0, fmt.Errorf("%s: %d candidates are too many", c.What, len(utilities))
	}
	per := (c.Epsilon/2 - exponentError) / sensitivity
	if math.IsInf(per, 1) {
		return nil, 0, fmt.Errorf("%s: a sensitivity of %g is too small for double precision", c.What, sensitivity)
	}
	gamma = make([]float64, len(utilities))
	for i, u := range utilities {
		gamma[i] = min(per*(best-u), largestExponent)
		if math.IsInf(u, -1) {
			gamma[i] = math.Inf(1)
		}
	}
	return gamma, sensitivity, nil
}

// IntN returns a number from 0 to n−1 that is exactly uniform, 1 ≤ n < 2^32.
func (s *Source) IntN(n int) int { return int(s.bits.below(uint32(n))) }
