package mechanism

import (
	"fmt"
	"math"
	"strconv"

	"privkern/runner/experiment"
)

// Calibration is a way to calibrate Gaussian noise: a setting.
type Calibration int

// The calibrations.
const (
	Hall     Calibration = iota // [HallFactor]
	Analytic                    // [AnalyticGaussian]
)

// Choices are the names of the calibrations.
func (Calibration) Choices() []string { return []string{"hall", "analytic"} }

// String is the name of the calibration.
func (c Calibration) String() string { return experiment.NameOf(c) }

// Factor returns the ratio σ/Δ that the calibration gives for (ε, δ), or an
// *[Error].
func (c Calibration) Factor(epsilon, delta float64) (float64, error) {
	if c == Analytic {
		return AnalyticGaussian(epsilon, delta)
	}
	return HallFactor(epsilon, delta)
}

// The range of ε for which the rounding of a release's noise is known.
const (
	LeastEpsilon   = 1e-8
	LargestEpsilon = 1e6
)

// Rounds reports whether the rounding of a release's noise is known for ε.
func Rounds(epsilon float64) bool { return epsilon >= LeastEpsilon && epsilon <= LargestEpsilon }

// SafeFactor is [Calibration.Factor] made larger by a share that covers its
// rounding errors, so that the noise of a release is not below the one that its
// guarantee needs. The share is
//
//	2^-35 max(1, 1e-4/ε),
//
// 14 times the largest error that was found of [AnalyticGaussian] in either
// direction, and far more than the few roundings of [HallFactor]. It costs noise of
// less than 3e-11 for ε ≥ 1e-4.
//
// Beyond the range of that comparison, ε from 1e-8 to 1e6 and δ from 1e-300 to
// 0.999, it returns an *[Error], as it does where Factor refuses.
func SafeFactor(c Calibration, epsilon, delta float64) (float64, error) {
	factor, err := c.Factor(epsilon, delta)
	if err != nil {
		return 0, err
	}
	if !Rounds(epsilon) {
		return 0, &Error{"epsilon", epsilon, "a release takes 1e-8 to 1e6, for which the rounding of its noise is " +
			"known"}
	}
	if !(delta >= 1e-300 && delta <= 0.999) {
		return 0, &Error{"delta", delta, "a release takes 1e-300 to 0.999, for which the rounding of its noise is " +
			"known"}
	}
	return factor * (1 + 0x1p-35*max(1, 1e-4/epsilon)), nil
}

// Error is a privacy parameter that is refused, with the reason.
type Error struct {
	Parameter string // such as "epsilon", "delta", "sigma" or "rho"
	Value     float64
	Reason    string // the requirement, and a way to meet it
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s = %s: %s", e.Parameter, strconv.FormatFloat(e.Value, 'g', -1, 64), e.Reason)
}

// check refuses budgets that no calibration can use. The comparisons are written so
// that NaN fails them.
func check(epsilon, delta float64) error {
	if err := checkEpsilon(epsilon); err != nil {
		return err
	}
	return properDelta(delta)
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return &Error{"epsilon", epsilon, "a positive, finite number is required"}
	}
	return nil
}

// HallFactor returns σ/Δ = √(2 log(2/δ))/ε, the calibration of Hall, Rinaldo
// and Wasserman, "Differential privacy for functions and functional data",
// JMLR 14, 2013, Proposition 3. It refuses ε > 1 with an *[Error]: the tail
// bound behind the formula is proved for ε ≤ 1. Beyond, it can be too little: at
// (10, 0.01) it gives less than the [AnalyticGaussian] needs.
func HallFactor(epsilon, delta float64) (float64, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	if epsilon > 1 {
		return 0, &Error{"epsilon", epsilon,
			"the calibration of Hall et al. (2013) is proved for epsilon <= 1 only; use the analytic Gaussian mechanism " +
				"(calibration=analytic), which is exact for every epsilon"}
	}
	return math.Sqrt(2*math.Log(2/delta)) / epsilon, nil
}
