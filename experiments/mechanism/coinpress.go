package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// CoinPress estimates the mean of numbers privately in several steps, each of
// which narrows the interval to which the next clips (Biswas, Dong, Kamath and
// Ullman, "CoinPress: practical private mean and covariance estimation", NeurIPS
// 2020).
//
// The variant is the one-dimensional form of the steps that the authors publish
// for vectors (their code's multivariate_mean_step, d = 1). From a centre c and a
// radius r, a step clips to c ± min(√(r² + 6r + γ²), r + γ), γ = 3.808 the tail
// bound of one standard normal number at 0.01, adds Gaussian noise of standard
// deviation s to the mean, takes the result as the next c and
// r = γ √(1/n + s²). Values are clipped to the prior interval, [Centre − Radius,
// Centre + Radius], beforehand; each step clips them anew, as the paper has it, where
// that code clips the values that the step before clipped.
//
// With IntervalsCut one thing is added: a step's interval is cut with the prior one,
// so that no noise is spent on numbers that cannot occur. An interval with nothing
// left is replaced by the prior one. With IntervalsPublished it is not: intervals
// reach beyond the prior one, the first already, and so may the mean.
//
// The steps are made for values of variance about 1 around their mean. Others
// are clipped too much or too little; the guarantee does not depend on it.
//
// The protected unit is one value, replaced by any other; the number of values is
// public. The step of budget ρ is ρ-zCDP, as it is Gaussian noise of
// (2ρ)^-1/2 times the sensitivity, the interval's width over n. All steps
// together, with the output of each, are (Σρ)-zCDP and, being Gaussian,
// √(2Σρ)-GDP.
type CoinPress struct {
	Centre, Radius float64 // the prior interval, in the unit of the values; Radius > 0
	Steps          []ZCDP  // the budget of each step, ρ > 0
	Intervals      Intervals
}

// Intervals are the forms of a step's interval.
type Intervals int

// The forms.
const (
	IntervalsCut       Intervals = iota // cut with the prior interval
	IntervalsPublished                  // as the authors of CoinPress publish it
)

// Choices are the names of the forms.
func (Intervals) Choices() []string { return []string{"cut", "as-published"} }

// SplitZCDP splits a budget over steps as Honkela ("Gaussian processes with
// differential privacy", Section 4.1) does for CoinPress: the share last, 0 <
// last < 1, for the last step (his is 3/4 of 12 steps) and the rest evenly for
// those before. One step gets everything.
func SplitZCDP(rho ZCDP, steps int, last float64) ([]ZCDP, error) {
	if err := positive("rho", float64(rho), "the budget of all steps"); err != nil {
		return nil, err
	}
	if steps < 1 {
		return nil, &Error{"steps", float64(steps), "at least 1 is required"}
	}
	if !(last > 0 && last < 1) {
		return nil, &Error{"last", last, "a share strictly between 0 and 1 is required"}
	}
	out := make([]ZCDP, steps)
	for i := range out {
		out[i] = rho * ZCDP((1-last)/float64(max(steps-1, 1)))
	}
	out[steps-1] = rho * ZCDP(last)
	if steps == 1 {
		out[0] = rho
	}
	return out, nil
}

// CoinPressStep is the result of one step. All of it is covered by the guarantee: the
// interval depends on the noisy means of earlier steps alone.
type CoinPressStep struct {
	Low, High float64 // the interval to which values were clipped
	Sigma     float64 // standard deviation of the noise
	Mean      float64 // the noisy mean, which may lie outside the interval
}

// Validate returns an *[Error] for a prior interval or budgets that cannot be
// used.
func (m CoinPress) Validate() error {
	if math.IsNaN(m.Centre) || math.IsInf(m.Centre, 0) {
		return &Error{"centre", m.Centre, "a finite number is required: the middle of the interval in which values lie"}
	}
	if err := positive("radius", m.Radius, "half the width of the interval in which values lie"); err != nil {
		return err
	}
	if low, high := m.Centre-m.Radius, m.Centre+m.Radius; !(high > low) || math.IsInf(low, 0) || math.IsInf(high, 0) ||
		math.IsInf(high-low, 0) {
		return &Error{"radius", m.Radius, "the interval around the centre is empty or infinite in double precision"}
	}
	if len(m.Steps) == 0 {
		return &Error{"steps", 0, "at least 1 is required"}
	}
	for _, rho := range m.Steps {
		if err := positive("rho", float64(rho), "the budget of a step"); err != nil {
			return err
		}
	}
	return nil
}

// Rho returns the budget of all steps, the sum of theirs: each may be chosen after those
// before it (Bun and Steinke 2016, Lemma 1.7).
func (m CoinPress) Rho() (total ZCDP) {
	for _, rho := range m.Steps {
		total += rho
	}
	return total
}

// Mean returns the noisy mean of the last step. Each step takes one NormFloat64
// of rng. It may lie outside the prior interval; cutting it off there is
// post-processing and left to the caller.
//
// It returns the errors of [CoinPress.Validate] and refuses no values and NaN
// (infinite ones are clipped). A refusal depends on the data, so that values from
// private data must be made numbers first.
func (m CoinPress) Mean(values []float64, rng *rand.Rand) (float64, error) {
	steps, err := m.Trace(values, rng)
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Mean, nil
}

// Trace is [CoinPress.Mean] with all steps.
func (m CoinPress) Trace(values []float64, rng *rand.Rand) ([]CoinPressStep, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the private mean of no values does not exist: at least 1 is required")
	}
	for i, v := range values {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("value %d is NaN; the private mean needs numbers", i)
		}
	}
	n := float64(len(values))
	out := make([]CoinPressStep, 0, len(m.Steps))
	centre, radius := m.Centre, m.Radius
	for _, rho := range m.Steps {
		s := CoinPressStep{}
		s.Low, s.High = m.interval(centre, radius)
		// Replacing one value moves the mean of the clipped ones by the width/n.
		s.Sigma = (s.High - s.Low) / n / math.Sqrt(2*float64(rho))
		s.Mean = m.clippedMean(values, s.Low, s.High) + s.Sigma*rng.NormFloat64()
		centre, radius = s.Mean, coinPressTail*math.Sqrt(1/n+s.Sigma*s.Sigma)
		out = append(out, s)
	}
	return out, nil
}

// coinPressTail is √(d + 2√(d log(1/β)) + 2 log(1/β)) at d = 1, β = 0.01, the
// authors' bound of the length of a standard normal vector.
var coinPressTail = func() float64 {
	l := math.Log(1 / 0.01)
	return math.Sqrt(1 + 2*math.Sqrt(l) + 2*l)
}()

// interval is that of a step. The 3 is the authors', "in place of √log(2/β)".
func (m CoinPress) interval(centre, radius float64) (low, high float64) {
	half := min(math.Sqrt(radius*radius+2*3*radius+coinPressTail*coinPressTail), radius+coinPressTail)
	if m.Intervals == IntervalsPublished {
		return centre - half, centre + half
	}
	low, high = max(centre-half, m.Centre-m.Radius), min(centre+half, m.Centre+m.Radius)
	if !(low < high) {
		return m.Centre - m.Radius, m.Centre + m.Radius
	}
	return low, high
}

// clippedMean averages differences from low, so that a wide unit does not cost
// digits. An interval that is cut clips to the prior one by itself.
func (m CoinPress) clippedMean(values []float64, low, high float64) float64 {
	sum := 0.0
	for _, v := range values {
		if m.Intervals == IntervalsPublished {
			v = min(max(v, m.Centre-m.Radius), m.Centre+m.Radius)
		}
		sum += min(max(v, low), high) - low
	}
	return low + sum/float64(len(values))
}

func positive(parameter string, v float64, what string) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return &Error{parameter, v, "a positive, finite number is required: " + what}
	}
	return nil
}
