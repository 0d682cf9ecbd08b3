package mechanism

import (
	"math"
	"math/rand/v2"
)

// EntryNoise is additive noise that makes a matrix (ε, δ)-differentially
// private for one entry: a Laplace law of scale d/ε, mixed with an atom of
// weight δ at zero (Kumar, Moser and Fischer, "On mitigating the utility-loss
// in differentially private learning: a new perspective by a geometrically
// inspired kernel approach", Result 1, Eq. 74). Its expected magnitude is the
// smallest under the conditions of that result, which suffice for privacy and
// are not necessary.
//
// It protects one entry that changes by at most D, not a row: a row of
// p entries that all change has, by basic composition, (pε, pδ). δ is the
// probability that an entry is released exactly as it is: with δ = 1e-5 that
// happens to about 470 of the 47 million pixels of MNIST.
//
// The noise is drawn in floating point, whose gaps reveal more about the
// protected value than the analysis allows (Mironov 2012). That is enough for
// experiments; a release needs snapping or a discrete law. The draws lie within
// 36.1 D/ε, as the uniform number behind them is a multiple of 2^-53.
type EntryNoise struct {
	Epsilon float64 // ε > 0
	Delta   float64 // 0 ≤ δ < 1; 0 is the Laplace law, which has no atom and gives (ε, 0)
	D       float64 // the largest change of the entry, in its unit
}

// Validate returns an *[Error] for an ε or d that is not positive and finite,
// for a δ outside [0, 1), and where d/ε is not a positive, finite number.
func (m EntryNoise) Validate() error {
	if m.Delta == 0 {
		if err := checkEpsilon(m.Epsilon); err != nil {
			return err
		}
	} else if err := check(m.Epsilon, m.Delta); err != nil {
		return err
	}
	if !(m.D > 0) || math.IsInf(m.D, 1) {
		return &Error{"d", m.D, "a positive, finite number is required: " +
			"the largest change of an entry, in the unit of the data"}
	}
	if s := m.scale(); s == 0 || math.IsInf(s, 1) {
		return &Error{"d", m.D, "d/epsilon is not a positive, finite number in double precision; rescale the data"}
	}
	return nil
}

// scale is that of the Laplace law, in the unit of D.
func (m EntryNoise) scale() float64 { return m.D / m.Epsilon }

// Quantile is the inverse of the distribution function (Eq. 76) for t in
// (0, 1), in the unit of D: 0 for t in [(1−δ)/2, (1+δ)/2]. It is −∞ at 0, +∞
// at 1 and NaN elsewhere.
func (m EntryNoise) Quantile(t float64) float64 {
	if !(t >= 0 && t <= 1) {
		return math.NaN()
	}
	return quantile(t, 1-m.Delta, m.scale())
}

// quantile uses that both branches of Eq. (76) are one function of min(t, 1−t).
func quantile(t, spread, scale float64) float64 {
	magnitude := 0.0
	if tail := 2 * min(t, 1-t); tail < spread {
		magnitude = -scale * math.Log(tail/spread)
	}
	// No branch on the sign, which no processor predicts; + 0 turns −0 into 0.
	return math.Copysign(magnitude, t-0.5) + 0
}

// Add adds independent noise to every value (Algorithm 1, Eq. 77), in place and
// in order. Each takes one Uint64 of rng, so that equal streams give equal
// noise. The parameters must be valid.
func (m EntryNoise) Add(values []float64, rng *rand.Rand) {
	spread, scale := 1-m.Delta, m.scale()
	for i := range values {
		values[i] += quantile(openUniform(rng.Uint64()), spread, scale)
	}
}

// openUniform turns random bits into an odd multiple of 2^-53: uniform on
// (0, 1) without its ends, and such that 1−t is exact and as likely as t.
func openUniform(bits uint64) float64 { return (float64(bits>>12) + 0.5) * 0x1p-52 }
